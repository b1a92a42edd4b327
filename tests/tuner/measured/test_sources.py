"""Numbers in whatever form sources have them: each is measured, in one build where that can be, or
by builds of its own; and the copy evaluates as before."""

import numpy as np
import pytest

from tests.tuner.measured.support import measure, needs, positions
from tuner.measured.plan import EvalsPlan, SourceFiles

MAIN = r"""
#include <stdio.h>
#include <string.h>
int main(int n, char **words) {
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        int own = 0, other = 0, pieces = 0;
        for (char *at = line; *at && *at != ' '; at++)
            own += *at == 'P', other += *at == 'p',
            pieces += *at == 'N' ? 1 : *at == 'n' ? -1 : 0;
        printf("%d\n", (own - other) * (USE) + pieces * 301);
    }
    return 0;
}
"""
# what the source has before `main`, and how the number 82 is used there
C = {
    "a constant": ("const int Pawn = 82;", "Pawn"),
    "a static constant": ("static const int Pawn = 82;", "Pawn"),
    "a macro": ("#define PAWN 82", "PAWN"),
    "a macro in parentheses": ("#define PAWN (82)", "PAWN"),
    "a macro of a macro": ("#define PAWN 82\n#define VALUE (PAWN + 0)", "VALUE"),
    "a macro in a table": ("#define PAWN 82\nstatic const int t[2] = {PAWN, 300};", "t[0]"),
    "an enumerator": ("enum { PAWN_MG = 82, PAWN_EG = 110 };", "PAWN_MG"),
    "a list": ("const int Values[3] = {0, 82, 330};", "Values[1]"),
    "a list of lists": ("const int Values[2][2] = {{0, 82}, {1, 330}};", "Values[0][1]"),
    "a list without inner braces": ("const int Values[2][2] = {0, 82, 1, 330};", "Values[0][1]"),
    "a list with names": ("const int Values[] = {[1] = 82, [0] = 330};", "Values[1]"),
    "a struct": (
        "typedef struct { int mg, eg; } Score;\nconst Score Pawn = {82, 110};",
        "Pawn.mg",
    ),
    "a struct with names": (
        "struct Score { int mg, eg; };\nconst struct Score Pawn = {.eg = 110, .mg = 82};",
        "Pawn.mg",
    ),
    "structs in a list": (
        "typedef struct { int mg, eg; } Score;\nconst Score Values[2] = {{82, 110}, {330, 290}};",
        "Values[0].mg",
    ),
    "packed": (
        "#define S(mg, eg) ((int)((unsigned)(eg) << 16) + (mg))\nconst int Pawn = S(82, 110);",
        "(short)(Pawn & 0xffff)",
    ),
    "of 16 bits": ("const short Values[] = {82, 330};", "Values[0]"),
    "of 8 bits": ("const signed char Values[] = {82, 30};", "Values[0]"),
    "unsigned": ("const unsigned Values[] = {82u, 330u};", "(int)Values[0]"),
    "negative": ("const int Values[] = {-82, - 330, +5};", "-Values[0]"),
    "beside a size": ("enum { N = 2 };\nconst int Values[N] = {82, 330};", "Values[0]"),
    "a size itself": ("#define PAWN 82\nint board[PAWN];", "PAWN"),
    "of a case": (
        "#define PAWN 82\nint kind(int n) { switch (n) { case PAWN: return 1; } return 0; }",
        "PAWN",
    ),
    "in a function": (
        "int value(int k) { static const int t[2] = {82, 330}; return t[k]; }",
        "value(0)",
    ),
    "behind a condition": (
        "#ifdef OTHER\nconst int Pawn = 17;\n#else\nconst int Pawn = 82;\n#endif",
        "Pawn",
    ),
    "a pointer beside it": (
        "const int Pawn = 82;\nconst int *const where = &Pawn;",
        "*where",
    ),
    "in a comment, too": ("/* 82 */ const int Pawn = /* 82 */ 82; // 82", "Pawn"),
    "with line ends of DOS": ("const int Pawn = 82;\r\nconst int Knight = 330;\r", "Pawn"),
    "letters beyond ASCII": ("// la valeur d'un pion, café\nconst int Pawn = 82;", "Pawn"),
}
CPP = {
    "constexpr": ("constexpr int Pawn = 82;", "Pawn"),
    "constexpr of another": ("constexpr int Pawn = 82;\nconstexpr int V = Pawn;", "V"),
    "inline constexpr": ("inline constexpr int Pawn = 82;", "Pawn"),
    "in a class": ("struct V { static constexpr int Pawn = 82; };", "V::Pawn"),
    "a list in a class": ("struct V { static constexpr int T[2] = {82, 3}; };", "V::T[0]"),
    "in a namespace": ("namespace eval { const int Pawn = 82; }", "eval::Pawn"),
    "std::array": ("#include <array>\nconstexpr std::array<int, 2> T = {82, 330};", "T[0]"),
    "a brace": ("constexpr int Pawn{82};", "Pawn"),
    "an argument of a template": (
        "constexpr int Pawn = 82;\ntemplate <int N> int get() { return N; }",
        "get<Pawn>()",
    ),
    "a static_assert": ('constexpr int Pawn = 82;\nstatic_assert(Pawn > 0, "");', "Pawn"),
    "a size of a list": ("constexpr int Pawn = 82;\nint board[Pawn];", "Pawn"),
    "of a case": (
        "const int Pawn = 82;\nint kind(int n) { switch (n) { case Pawn: return 1; } return 0; }",
        "Pawn",
    ),
    "a constexpr function": (
        "constexpr int S(int mg, int eg) { return mg + 65536 * eg; }\nconst int Pawn = S(82, 110);",
        "(short)(Pawn & 0xffff)",
    ),
    "short in braces": ("const short T[] = {82, 330};", "T[0]"),
    "an enum class": ("enum V : int { PawnMg = 82, PawnEg = 110 };", "int(PawnMg)"),
    "a macro for a list": (
        "#define PAWN 82\nconstexpr int T[] = {PAWN, 330};",
        "T[0]",
    ),
    "a separator": ("constexpr int T[] = {82, 1'000};", "T[0]"),
    "a cast": ("constexpr auto Pawn = static_cast<int>(82);", "Pawn"),
}
JAVA_MAIN = """
    public static void main(String[] words) throws java.io.IOException {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String board = line.split(" ")[0];
            int own = 0, pieces = 0;
            for (char c : board.toCharArray()) {
                own += c == 'P' ? 1 : c == 'p' ? -1 : 0;
                pieces += c == 'N' ? 1 : c == 'n' ? -1 : 0;
            }
            System.out.println(own * (USE) + pieces * 301);
        }
    }
}
"""
JAVA = {
    "a constant": ("static final int PAWN = 82;", "PAWN"),
    "of 16 bits": ("static final short PAWN = 82;", "PAWN"),
    "a list of bytes": ("static final byte[] VALUES = {82, 30};", "VALUES[0]"),
    "a list of lists": ("static final int[][] VALUES = {{0, 82}, {330, 3}};", "VALUES[0][1]"),
    "a new list": ("static final int[] VALUES = new int[] {82, 330};", "VALUES[0]"),
    "of a case": (
        "static final int PAWN = 82;"
        " static int kind(int n) { switch (n) { case PAWN: return 1; } return 0; }",
        "PAWN",
    ),
    "a class inside": ("static class V { static final int PAWN = 82; }", "V.PAWN"),
    "a long": ("static final long PAWN = 82L;", "(int) PAWN"),
}
GO_MAIN = """
func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		board := strings.Fields(in.Text())[0]
		count := func(c string) int { return strings.Count(board, c) }
		fmt.Println((count("P")-count("p"))*int(USE) + (count("N")-count("n"))*301)
	}
}
"""
GO_HEAD = 'package main\n\nimport (\n\t"bufio"\n\t"fmt"\n\t"os"\n\t"strings"\n)\n\n'
GO = {
    "a variable": ("var pawn = 82", "pawn"),
    "a variable of 16 bits": ("var pawn int16 = 82", "pawn"),
    "a constant": ("const pawn = 82", "pawn"),
    "constants": ("const (\n\tpawn = 82\n\tknight = 330\n)", "pawn"),
    "a list": ("var values = []int{0, 82}", "values[1]"),
    "a list of 8 bits": ("var values = [2]int8{0, 82}", "values[1]"),
    "a list of a type": ("type score int32\nvar values = [2]score{0, 82}", "values[1]"),
    "structs": (
        "type score struct{ mg, eg int16 }\nvar pawn = score{mg: 82, eg: 110}",
        "pawn.mg",
    ),
    "a map": ('var values = map[string]int{"pawn": 82, "knight": 330}', 'values["pawn"]'),
    "a call": (
        "func s(mg, eg int) int { return eg<<16 + mg }\nvar pawn = s(82, 110)",
        "pawn&0xffff",
    ),
}
SOURCES = {
    "c": ("gcc", "eval.c", "%s" + MAIN, "gcc -w eval.c -o engine", "./engine"),
    "cpp": ("g++", "eval.cpp", "%s" + MAIN, "g++ -w -std=c++17 eval.cpp -o engine", "./engine"),
    "java": (
        *("javac", "Eval.java", "public class Eval {\n%s" + JAVA_MAIN, "javac Eval.java"),
        "java -Xshare:auto -cp ./ Eval",
    ),
    "go": ("go", "eval.go", GO_HEAD + "%s" + GO_MAIN, "go build -o engine eval.go", "./engine"),
}
# compilers of Java and Go take seconds for each
SLOW = [("java", name) for name in list(JAVA)[2:]] + [("go", name) for name in list(GO)[2:]]
CASES = [
    pytest.param(
        *(suffix, *case),
        id=f"{suffix}: {name}",
        marks=[pytest.mark.long] * ((suffix, name) in SLOW),
    )
    for suffix, forms in (("java", JAVA), ("go", GO), ("c", C), ("cpp", CPP))
    for name, case in forms.items()
]


@pytest.mark.parametrize(("suffix", "before", "use"), CASES)
def test_a_number_is_measured_in_any_form(tmp_path, suffix, before, use):
    compiler, source, text, build, evals = SOURCES[suffix]
    needs(compiler)
    engine = tmp_path / "engine"
    engine.mkdir()
    text = text.replace("USE", use).replace("%s", before)
    (engine / source).write_text(text, newline="")
    files = SourceFiles(files=[source], folder=str(engine))
    plan = EvalsPlan(evals=evals, source=files, build=build)
    made = measure(tmp_path / "run", plan)
    sample = made.sample(positions(100))
    values = [abs(site.number.value) for site in made.numbers.sites]
    at = values.index(82)
    found = made.counts(sample, [at], lambda done: None)[at]
    assert found.reason == ""
    counts = np.zeros(100)
    counts[found.places] = found.counts
    sign = -1 if made.numbers.sites[at].number.value < 0 else 1
    expected = [fen.split()[0].count("P") - fen.split()[0].count("p") for fen in sample.texts]
    assert (counts == sign * np.array(expected)).all()


@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_numbers_of_a_header_that_several_sources_include(tmp_path, suffix):
    compiler, source, text, build, evals = SOURCES[suffix]
    needs(compiler)
    engine = tmp_path / "engine"
    engine.mkdir()
    header = "#ifndef EVAL_H\n#define EVAL_H\nstatic const int Values[2] = {82, 330};\n#endif\n"
    (engine / "eval.h").write_text(header)
    include = '#include "eval.h"\n#include "eval.h"\n'
    (engine / source).write_text(text.replace("USE", "value()").replace("%s", "int value();\n"))
    other = f"other.{suffix}"
    (engine / other).write_text(f"{include}int value() {{ return Values[0]; }}\n")
    build = build.replace(source, f"{source} {other}")
    files = SourceFiles(files=["eval.h"], folder=str(engine))
    said: list[str] = []
    plan = EvalsPlan(evals=evals, source=files, build=build)
    made = measure(tmp_path / "run", plan, said.append)
    assert said[-1] == "2 numbers to measure: 2 in one build"
    counts = made.counts(made.sample(positions(100)), range(2), lambda done: None)
    assert [counts[k].reason for k in range(2)] == ["", "changes no evaluation"]


@pytest.mark.parametrize("use", ["82 * 6192 / Large", "82 + (7000 < Large) * 50"])
def test_a_large_divisor_or_threshold_is_no_weight(tmp_path, use):
    _, source, text, build, evals = SOURCES["c"]
    needs("gcc")
    engine = tmp_path / "engine"
    engine.mkdir()
    before = "const int Large = 6192;\nconst int Pawn = 82;"
    text = text.replace("USE", use.replace("82", "Pawn", 1)).replace("%s", before)
    (engine / source).write_text(text)
    files = SourceFiles(files=[source], folder=str(engine))
    made = measure(tmp_path / "run", EvalsPlan(evals=evals, source=files, build=build))
    counts = made.counts(made.sample(positions(100)), range(2), lambda done: None)
    reasons = {made.numbers.sites[k].number.value: counts[k].reason for k in range(2)}
    assert reasons[6192] and not reasons[82]
