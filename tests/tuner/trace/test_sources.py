"""tracerows.h and tracerows.rs: no code without their switch, names that the compiler checks,
indices that are checked when run."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.commands.support import done
from tests.support import file_with, refusal
from tests.tools import tool
from tests.tuner.trace.support import compiler_of, known_to_rustc
from tuner.parameters.parameters import Layout, Place
from tuner.trace.languages import LANGUAGES

LAYOUT = Layout(
    (
        Place("tempo", "tempo", (), 0),
        Place("mobility", "knight moves", (3,), 1),
        Place("king", "table", (2, 4), 4),
    )
)
STANDARDS = [("gcc", "c99"), ("gcc", "c11"), ("g++", "c++11"), ("g++", "c++20")]
PROGRAM_C = """#define EVALTUNE_IMPLEMENTATION
#include "tracerows.h"
enum side { WHITE, BLACK };
int evaluate(const int *board, enum side us) {
    int i, sum = 0;
    (void)us;
    for (i = 0; i < 64; i++) { sum += board[i]; @MARKS@ }
    return sum;
}
int main(void) {
    static int board[64];
    EVALTUNE_BEGIN();
    EVALTUNE_END("a \\"b\\\\", evaluate(board, BLACK), 24);
    return 0;
}
"""
MARKS_C = (
    "EVALTUNE_ROW(tempo_tempo, 0, us); EVALTUNE_ROWN(mobility_knight_moves, 2, us, 0.5);"
    " EVALTUNE_ROW2(king_table, 1, 2, WHITE); EVALTUNE_ROW2N(king_table, 0, 3, us, 2);"
    " EVALTUNE_ROW(king_table, 7, us != BLACK); EVALTUNE_REST(-sum); EVALTUNE_SCALE(i * 0.5);"
    " EVALTUNE_FACTOR(0.25);"
)
PROGRAM_RUST = """mod tracerows;
#[allow(unused_imports)] use tracerows::row;
#[derive(Clone, Copy, PartialEq)] pub enum Side { White, Black }
#[no_mangle] #[inline(never)]
pub fn evaluate(board: &[i32; 64], us: Side) -> i32 {
    let mut sum = 0;
    for i in 0..64 { sum += board[i]; let _ = us; @MARKS@ }
    sum
}
fn main() {
    tracerows::begin();
    let side = if std::env::args().count() > 5 { Side::White } else { Side::Black };
    tracerows::end("a \\"b\\\\", evaluate(&[0; 64], side), 24);
}
"""
MARKS_RUST = (
    "row!(TEMPO_TEMPO, 0, us); row!(MOBILITY_KNIGHT_MOVES, 2i32, us, 0.5); row!(KING_TABLE, [1, 2],"
    " Side::White); row!(KING_TABLE, [0, 3], us, 2); row!(KING_TABLE, 7u8, us != Side::Black);"
    " tracerows::rest(-sum); tracerows::scale(i as f64 * 0.5);"
    " tracerows::factor(0.25);"
)
PRINTED = (
    '{"fen":"a'
    ' \\"b\\\\","eval":0,"phase":24,"scale":31.5,"factor":0.25,"counts":{"tempo.tempo":-64,'
    '"mobility.knight moves[2]":-32,"king.table[0][3]":-128,"king.table[1][2]":64,'
    '"king.table[1][3]":64}}\n'
)


def compiled(
    language: str,
    folder: Path,
    marks: str,
    trace: bool,
    standard: tuple[str, str] = ("gcc", "c11"),
    *more: str,
    before: str = "",
):
    """Compile a program with warnings as errors; a completed process."""
    folder.mkdir(exist_ok=True)
    if language == "c":
        compiler = tool(standard[0])
        if compiler is None:
            pytest.skip(f"no {standard[0]}; install the Debian package {standard[0]}")
        (folder / "tracerows.h").write_text(LANGUAGES["c"](LAYOUT, "my */ file.yaml"))
        (folder / "main.c").write_text(before + PROGRAM_C.replace("@MARKS@", marks))
        words = [
            compiler,
            "-x",
            "c++" if "++" in standard[1] else "c",
            f"-std={standard[1]}",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            *(["-DEVALTUNE_TRACE"] if trace else []),
            "main.c",
            *(more or ("-o", "main")),
        ]
    else:
        (folder / "tracerows.rs").write_text(LANGUAGES["rust"](LAYOUT, "my file.yaml"))
        (folder / "main.rs").write_text(PROGRAM_RUST.replace("@MARKS@", marks))
        words = [
            compiler_of("rust"),
            "--edition",
            "2021",
            "-O",
            "--deny",
            "warnings",
            *known_to_rustc('feature, values("evaltune_trace")'),
            *(["--cfg", 'feature="evaltune_trace"'] if trace else []),
            "main.rs",
            *(more or ("-o", "main")),
        ]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def printed(folder: Path) -> str:
    return subprocess.run(
        [folder / "main"], capture_output=True, text=True, check=True, timeout=30
    ).stdout


CASES = [("c", standard) for standard in STANDARDS] + [("rust", None)]
MARKS = {"c": MARKS_C, "rust": MARKS_RUST}


@pytest.mark.parametrize(("language", "standard"), CASES, ids=lambda value: str(value))
def test_rows_are_printed_with_trace_and_nothing_without(tmp_path, language, standard):
    for trace, expected in ((True, PRINTED), (False, "")):
        ran = compiled(language, tmp_path, MARKS[language], trace, standard)
        assert ran.returncode == 0, ran.stderr
        assert printed(tmp_path) == expected


@pytest.mark.parametrize(("language", "standard"), CASES, ids=lambda value: str(value))
def test_without_trace_the_marks_are_no_code(tmp_path, language, standard):
    """The assembler text of the evaluation is the same with the marks and without."""
    texts = []
    for marks in ("", MARKS[language]):
        output = ("-S", "-o", "main.s") if language == "c" else ("--emit", "asm", "-o", "main.s")
        ran = compiled(
            language, tmp_path / ("a" if marks else "b"), marks, False, standard, *output
        )
        assert ran.returncode == 0, ran.stderr
        text = (tmp_path / ("a" if marks else "b") / "main.s").read_text()
        (body,) = re.findall(
            r"^(?:evaluate|_Z8evaluate\w+):\n(.*?)^\s*\.size", text, re.MULTILINE | re.DOTALL
        )
        texts.append(re.sub(r"\.L\w+", ".L", body))
    assert texts[0] == texts[1] and "add" in texts[0]


@pytest.mark.parametrize(
    ("options", "prints"),
    [
        (["-DTRACE=0", "-DROW=0"], False),  # names of engines
        (["-DEVALTUNE_TRACE=0"], False),
        (["-DEVALTUNE_TRACE="], True),
        (["-DEVALTUNE_TRACE=1", "-DTRACE=1"], True),
    ],
    ids=str,
)
def test_the_switch_is_its_own_and_0_is_off(tmp_path, options, prints):
    ran = compiled("c", tmp_path, MARKS_C, False, ("gcc", "c99"), *options, "-o", "main")
    assert ran.returncode == 0, ran.stderr
    assert printed(tmp_path) == (PRINTED if prints else "")


def test_the_header_has_prototypes_and_refuses_old_standards(tmp_path):
    warned = ("-Wmissing-prototypes", "-o", "main")
    ran = compiled("c", tmp_path, MARKS_C, True, ("gcc", "c11"), *warned)
    assert re.findall(r"no previous prototype for \W(\w+)", ran.stderr) == ["evaluate"]
    ran = compiled("c", tmp_path, MARKS_C, False, ("gcc", "gnu89"), "-o", "main")
    assert ran.returncode == 0, ran.stderr
    ran = compiled("c", tmp_path, MARKS_C, True, ("gcc", "c89"))
    assert ran.returncode != 0 and "expected C99 or C++11 or later" in ran.stderr


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
def test_a_macro_takes_a_lambda_and_evaluates_nothing_without_tracing(tmp_path, standard, trace):
    mark = "EVALTUNE_ROWN(tempo_tempo, 0, us, [](int k) { return k > 0; }(i++));"
    ran = compiled("c", tmp_path, f"{mark}{' i--;' * trace}", trace, ("g++", standard))
    assert ran.returncode == 0, ran.stderr
    assert ('"tempo.tempo":-63' in printed(tmp_path)) == trace


def test_the_implementation_may_follow_another_header_that_includes_this_one(tmp_path):
    before = '#include "tracerows.h"\n'
    ran = compiled("c", tmp_path, MARKS_C, True, before=before)
    assert ran.returncode == 0, ran.stderr
    assert printed(tmp_path) == PRINTED


@pytest.mark.parametrize("comma", [",", "\\xd9\\xab"])
def test_numbers_have_a_point_whatever_the_locale_says(tmp_path, comma):
    before = f"""#include <stdio.h>
#include <string.h>
static int printed_there(char *text, size_t size, const char *format, double value) {{
    char own[32], *point;
    snprintf(own, sizeof own, format, value);
    point = strchr(own, '.');
    if (!point) return snprintf(text, size, "%s", own);
    *point = 0;
    return snprintf(text, size, "%s{comma}%s", own, point + 1);
}}
#define snprintf printed_there
"""
    ran = compiled("c", tmp_path, MARKS_C, True, ("gcc", "c11"), "-o", "main", before=before)
    assert ran.returncode == 0, ran.stderr
    assert printed(tmp_path) == PRINTED


def test_names_without_latin_letters_are_identifiers_that_compile(tmp_path):
    layout = Layout((Place("角", "銀", (), 0), Place("金", "größe", (3,), 1)))
    path = file_with(
        tmp_path / "names.yaml",
        "game: chess\nscale: 0.00255\nstages: [mg, eg]\nterms: rows\nphases: 24\nweights:\n"
        "  角:\n    銀: {mg: 1, eg: 1}\n  金:\n    größe:\n      mg: [1, 2, 3]\n"
        "      eg: [1, 2, 3]\n",
    )
    header = tmp_path / "weights.h"
    done("export", path, "--format", "c", "-o", header)
    assert "int u89d2_u9280[2] = " in header.read_text()
    (tmp_path / "tracerows.h").write_text(LANGUAGES["c"](layout, "names.yaml"))
    (tmp_path / "a.c").write_text(
        '#include "weights.h"\n#include "weights.h"\n#include "tracerows.h"\n'
        "int f(void) { EVALTUNE_ROW(u89d2_u9280, 0, 0); return u89d2_u9280[0]; }\n"
    )
    compiler = tool("gcc")
    if compiler is None:
        pytest.skip("no gcc; install the Debian package gcc")
    ran = subprocess.run([compiler, "-c", "a.c"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize(
    ("language", "mark", "word"),
    [
        ("c", "EVALTUNE_ROW(tempo_temp, 0, us);", "EVALTUNE_P_tempo_temp"),
        (
            "c",
            "EVALTUNE_ROW2(mobility_knight_moves, 0, 1, us);",
            "EVALTUNE_T_mobility_knight_moves",
        ),
        ("rust", "row!(TEMPO_TEMP, 0, us);", "TEMPO_TEMP"),
    ],
)
def test_a_wrong_name_or_a_list_as_a_table_does_not_compile(tmp_path, language, mark, word, trace):
    ran = compiled(language, tmp_path, mark, trace)
    assert ran.returncode != 0 and word in ran.stderr


@pytest.mark.parametrize(
    ("language", "mark", "said"),
    [
        (
            "c",
            "EVALTUNE_ROW(mobility_knight_moves, 3, us);",
            "main.c:7: tracerows: index 3 of mobility.knight moves, which has 3\n",
        ),
        (
            "c",
            "EVALTUNE_ROW(tempo_tempo, -1, us);",
            "main.c:7: tracerows: index -1 of tempo.tempo, which has 1\n",
        ),
        (
            "c",
            "EVALTUNE_ROW2(king_table, 0, 4, us);",
            "main.c:7: tracerows: index 0, 4 of king.table, which has 2 x 4\n",
        ),
        (
            "rust",
            "row!(MOBILITY_KNIGHT_MOVES, 3, us);",
            "main.rs:7: tracerows: index 3 of mobility.knight moves, which has 3\n",
        ),
        (
            "rust",
            "row!(TEMPO_TEMPO, -1i32, us);",
            "main.rs:7: tracerows: index -1 of tempo.tempo, which has 1\n",
        ),
        (
            "rust",
            "row!(KING_TABLE, [0, 4], us);",
            "main.rs:7: tracerows: index 0, 4 of king.table, which has 2 x 4\n",
        ),
        (
            "rust",
            "row!(TEMPO_TEMPO, [0, 0], us);",
            "main.rs:7: tracerows: index 0, 0 of tempo.tempo, which has 1\n",
        ),
    ],
)
def test_a_wrong_index_aborts_and_names_the_line(tmp_path, language, mark, said):
    ran = compiled(language, tmp_path, mark, True)
    assert ran.returncode == 0, ran.stderr
    stopped = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=30)
    assert stopped.returncode < 0 and stopped.stderr == said


def test_tables_of_three_dimensions_are_refused():
    layout = Layout((Place("king", "table", (2, 4, 8), 0),))
    for text in LANGUAGES.values():
        assert (
            "king.table is a table of 3 dimensions, expected at most 2 for `tuner trace`"
            in refusal(text, layout, "my.yaml")
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_command_writes_the_names_of_a_file(tmp_path, language):
    out = tmp_path / "rows.txt"
    ran = done("trace", "classic", "--language", language, "-o", out)
    assert ran.out.splitlines()[0] == f"wrote {out}: the names of 73 parameters (615 numbers)"
    assert out.read_text() == done("trace", "classic", "--language", language).out
    assert "exported by evaltune" in out.read_text() and "0BSD" in out.read_text()
    done("trace", "classic", "--language", language, "-o", out)  # it replaces its own files
