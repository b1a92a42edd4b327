"""Numbers of parameters replaced in sources of six languages: where they are found, and that
nothing else changes."""

import random
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from games.streams import InputError
from tests.support import file_with, refusal
from tests.tuner.export.support import HOSTILE, into, parameters
from tests.tuner.trace.support import ENGINES, NUMBERS
from tuner.evaluation.loading import load_parameters
from tuner.export.into.plan import plan
from tuner.export.into.source import load_parser
from tuner.export.into.write import width_remarks
from tuner.export.numbers import rounded

KNIGHT, TEMPO, TABLE = {"mobility.knight": (3,)}, {"tempo.tempo": ()}, {"piece_square.king": (2, 3)}


# sources with the numbers that they should hold: the numbers of a parameter count up from 1, mg
# first
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", "static const int tempo[2] = {1, 2};"),
        ("a.c", "static const Score tempo = (Score){1, 2};"),
        ("a.cpp", "struct E { int tempo[2] = {1, 2}, other = 7; };"),
        ("a.rs", "lazy_static! { static ref TEMPO: S = s!(1, 2); }"),
        ("a.rs", "tunable! { tempo_mg = 1, 0, 9; tempo_eg: i32 = 2, 0, 9; }"),
        ("a.rs", "fn f() { self.tempo = [1, 2]; }"),
        ("a.go", "package a\nvar tempoMg, tempoEg = 1, 2\n"),
        ("A.cs", "class E { P p = new() { Tempo = new(1, 2), Other = 7 }; }"),
        ("a.h", "#define TEMPO S(1, 2) /* 7 */\n"),
        ("a.cpp", "constexpr Score Tempo{1, 2};"),
        ("a.cpp", "constexpr Score Tempo = make_score(1, 2), Other = S(9, 9);"),
        ("a.cpp", "namespace Tempo { constexpr int MG = 7; constexpr Score tempo = {1, 2}; }"),
        ("a.cpp", "constexpr int TempoMg = 1;\nconstexpr int TempoEg = 2;"),
        ("a.cpp", "enum Value : int { MidgameTempo = 1, EndgameTempo = 2, Rook = 5 };"),
        ("a.cpp", "struct Params { Score tempo = Score(1, 2); };"),
        ("a.cpp", "int Params::tempo[2] = {[EG] = 2, [MG] = 1};"),
        ("a.c", "struct P p = {.tempo = {.eg = 2, .mg = 1}, .x = 7};"),
        ("a.rs", "pub const TEMPO: Score = S(1, 2);"),
        ("a.rs", "pub const TEMPO: (i32, i32) = (1, 2_i32);"),
        ("a.rs", "const P: Params = Params { tempo: Score::new(1, 2), other: 5 };"),
        ("a.rs", "const T: T = T { tempo: [1 as i16, 2] };"),
        ("a.rs", "static TEMPO_MG: i32 = 1;\nstatic TEMPO_EG: i32 = 2;"),
        ("A.java", "class Eval { static final int[] TEMPO = {1, 2}; }"),
        ("A.java", "class Eval { static final int TEMPO_MG = 1, TEMPO_EG = 2; }"),
        ("A.java", "class Eval { private static final Score TEMPO = new Score(1, 2); }"),
        ("A.cs", "class Eval { const int MidgameTempo = 1; const int EndgameTempo = 2; }"),
        ("A.cs", "class Eval { static readonly Score Tempo = new(1, 2); }"),
        ("A.cs", "class Eval { static readonly int[] Tempo = [1, 2]; }"),
        (
            "A.cs",
            (
                "class Eval { public Score Tempo { get; set; } = new(1, 2); int Other() { return"
                " 7; } }"
            ),
        ),
        ("a.cpp", "struct P { P() : x{7}, y(8) { int TempoMg = 9; } Score tempo = S(1, 2); };"),
        ("a.go", "package a\nconst (\n\tTempoMG = 1\n\tTempoEG int = 2\n)\n"),
        ("a.go", "package a\nvar tempo = Score{1, 2}\nvar other = 7\n"),
        ("a.go", "package a\nvar p = Params{Tempo: S(1, 2), Other: 3}\n"),
    ],
)
def test_a_number_with_two_stages_is_found_in_every_form(tmp_path, name, text):
    before = re.sub(r"(?<![\w.\[])([12])(?=\b|_i32)", "40", text)
    assert before != text and into(tmp_path, name, before, parameters(TEMPO)) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", "int mobility_knight[2][3] = {{1, 2, 3}, {4, 5, 6}};"),
        ("a.c", "int mobility_knight[3][2] = {{1, 4}, {2, 5}, {3, 6}};"),
        ("a.c", "int knightMobility[] = {[2] = S(3, 6), [0] = S(1, 4), [1] = S(2, 5)};"),
        ("a.cpp", "std::array<Score, 3> KnightMobility{{S(1, 4), S(2, 5), S(3, 6)}};"),
        ("a.cpp", "int MgKnightMobility[] = {1, 2, 3}; int EgKnightMobility[] = {4, 5, 6};"),
        ("a.rs", "const MOBILITY_KNIGHT: [Score; 3] = [S(1, 4), S(2, 5), S(3, 6)];"),
        ("a.rs", "static KNIGHT_MOBILITY: &[(i32, i32)] = &[(1, 4), (2, 5), (3, 6)];"),
        ("a.rs", "lazy! { KNIGHT_MOBILITY: Vec<S> = vec![s!(1, 4), s!(2, 5), s!(3, 6)]; }"),
        ("A.java", "class E { int[][] knightMobility = new int[][] {{1, 2, 3}, {4, 5, 6}}; }"),
        ("A.cs", "class E { int[,] KnightMobility = new int[3, 2] { {1, 4}, {2, 5}, {3, 6} }; }"),
        ("A.cs", "class E { Score[] KnightMobility = [new(1, 4), new(2, 5), new(3, 6)]; }"),
        ("a.go", "package a\nvar KnightMobility = [2][3]int{{1, 2, 3}, {4, 5, 6}}\n"),
        ("a.go", "package a\nvar KnightMobility = []Score{\n\t{1, 4},\n\t{2, 5},\n\t{3, 6},\n}\n"),
    ],
)
def test_a_list_is_found_with_stages_first_or_last(tmp_path, name, text):
    head, brace, values = re.match(r"(.*?= ?|.*?(?=\{\{S))(.)(.*)", text, re.DOTALL).groups()
    before = head + brace + re.sub(r"(?<!\[)\b\d\b(?!, 2\]|\]\[|\]int|\])", "8", values)
    assert before.count("8") == 6 and into(tmp_path, name, before, parameters(KNIGHT)) == text


def test_a_list_of_two_is_ambiguous_unless_written_as_pairs(tmp_path):
    p = parameters({"pawns.isolated": (2,)})
    assert (
        into(tmp_path, "a.h", "S PawnsIsolated[2] = {S(0, 0), S(0, 0)};", p)
        == "S PawnsIsolated[2] = {S(1, 3), S(2, 4)};"
    )
    assert (
        into(tmp_path, "a.rs", "const ISOLATED_PAWN: [S; 2] = [s!(0, 0), s!(0, 0)];", p)
        == "const ISOLATED_PAWN: [S; 2] = [s!(1, 3), s!(2, 4)];"
    )
    names = "pawns.isolated: {mg: 'PawnsIsolated[*][0]', eg: 'PawnsIsolated[*][1]'}"
    plain = "int PawnsIsolated[2][2] = {{0, 0}, {0, 0}};"
    assert into(tmp_path, "a.h", plain, p, names) == "int PawnsIsolated[2][2] = {{1, 3}, {2, 4}};"
    names = "pawns.isolated: {mg: 'PawnsIsolated[0]', eg: 'PawnsIsolated[1]'}"
    assert into(tmp_path, "a.h", plain, p, names) == "int PawnsIsolated[2][2] = {{1, 2}, {3, 4}};"


STRINGS = {
    "a.c": ['"a \\" // 1"', "'\\''", "'\"'", 'L"x"', 'u8"1"', "'ab'"],
    "a.cpp": ['R"(1 " ) 2)"', 'R"x(1)" )x"', 'u8R"(9)"', "1'000"],
    "a.rs": ['"two\nlines 5"', 'r"\\"', 'r#"1 " 2"#', "b'x'", "'\\u{1F600}'", "'\"'", 'b"7"'],
    "A.cs": ['@"c:\\"', '@"say ""1"""', '$"{x["a"]} {{ 5"', '$@"{a}\\"', '"""raw " 1"""', "'\\''"],
    "A.java": ['"""\n  text "" 5 \\""" more"""', "'\\u0041'", '"5"'],
    "a.go": ["`raw \\ 5\n`", "'\\''", '"5"'],
}
AROUND = {
    "a.c": "const char *s = {}; /* tempo = 5; */ const int tempo = 3; // {}\n",
    "a.cpp": "const auto s = {}; /* tempo = 5; */ const int tempo = 3; // {}\n",
    "a.rs": "const S: &str = {}; /* /* tempo = 5; */ */ const TEMPO: i32 = 3; // {}\n",
    "A.cs": "class E {{ string s = {}; /* tempo = 5; */ const int Tempo = 3; }} // {}\n",
    "A.java": "class E {{ String s = {}; /* tempo = 5; */ static final int TEMPO = 3; }} // {}\n",
    "a.go": "package a\nvar s = {}\nconst Tempo = 3 // {}\n",
}


@pytest.mark.parametrize(
    ("name", "string"), [(name, string) for name, strings in STRINGS.items() for string in strings]
)
def test_what_is_in_strings_and_comments_is_no_number(tmp_path, name, string):
    text = AROUND[name].format(string, string.splitlines()[0])
    found = into(tmp_path, name, text, parameters({"tempo.tempo": ()}, ("all",)))
    assert found == text.replace("empo = 3", "empo = 1").replace("TEMPO = 3", "TEMPO = 1").replace(
        "i32 = 3", "i32 = 1"
    )


def test_a_grammar_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_c_sharp", None)
    load_parser.cache_clear()
    assert re.search(
        r"^sources in C#: tree-sitter-c-sharp is not installed; pip install 'evaltune\[so",
        refusal(into, tmp_path, "A.cs", "", parameters(TEMPO)),
    )


def test_tables_go_by_rows_and_flip(tmp_path):
    p = parameters(TABLE)
    source = (
        "int PieceSquareKing[2][6] = {\n  {  0,  0,  0,  // a\n    10, 10, 10 },\n  {0, 0, 0, 0, 0,"
        " 0}};\n"
    )
    assert (
        into(tmp_path, "a.c", source, p)
        == "int PieceSquareKing[2][6] = {\n  {  1,  2,  3,  // a\n     4,  5,  6 },\n  {7, 8, 9,"
        " 10, 11, 12}};\n"
    )
    assert (
        into(tmp_path, "a.c", source, p, flipped=True)
        == "int PieceSquareKing[2][6] = {\n  {  4,  5,  6,  // a\n     1,  2,  3 },\n  {10, 11, 12,"
        " 7, 8, 9}};\n"
    )


def test_one_stage_needs_no_stage_names(tmp_path):
    p = parameters({"lines.win": (), "lines.open": (2,)}, ("all",))
    assert (
        into(
            tmp_path,
            "a.go",
            "package a\n\nconst LinesWin = -4\n\nvar open_lines = []int{0, 0}\n",
            p,
        )
        == "package a\n\nconst LinesWin = 1\n\nvar open_lines = []int{2, 3}\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int Tempo[2] = {+40, - 3};", "int Tempo[2] = {+10, -250};"),
        ("double Tempo[2] = {0, 0};", "double Tempo[2] = {10, -250};"),
        ("float Tempo[2] = {1.25f, 3.f};", "float Tempo[2] = {10.0f, -250.0f};"),
        ("long Tempo[2] = {40L, (int)3};", "long Tempo[2] = {10L, (int)-250};"),
        ("int Tempo[2] = {1'000, 0};", "int Tempo[2] = {10, -250};"),
    ],
)
def test_the_style_of_a_number_is_kept(tmp_path, before, after):
    p = parameters(TEMPO)
    assert into(tmp_path, "a.cpp", before, p.with_weights(np.array([[10.2], [-250.3]]))) == after


def test_decimals_are_written_to_floats_alone(tmp_path):
    p = parameters(TEMPO).with_weights(np.array([[1234.56], [-0.04]]))
    assert (
        into(tmp_path, "a.rs", "const TEMPO: [f64; 2] = [1_000.0, 3.5];", p, decimals=1)
        == "const TEMPO: [f64; 2] = [1_234.6, 0.0];"
    )
    assert (
        into(tmp_path, "a.c", "double tempo[] = {0, 5};", p, decimals=1)
        == "double tempo[] = {1234.6, 0.0};"
    )
    assert (
        into(tmp_path, "a.rs", "const TEMPO: [f64; 2] = [1.0, 3.5];", p, scale_to=50)
        == "const TEMPO: [f64; 2] = [100.0, 0.0];"
    )


LAYOUTS = [
    (
        "#define TEMPO 15   // a\n#define PAIR  130  // b\n",
        "#define TEMPO 1    // a\n#define PAIR  2    // b\n",
    ),
    ("int tempo = 15;\nint pair = 5;\n", "int tempo = 1;\nint pair = 2;\n"),
    ("int tempo =  15;\nint pair  = 105;\n", "int tempo =   1;\nint pair  =   2;\n"),
]


@pytest.mark.parametrize(("before", "after"), LAYOUTS)
def test_columns_and_comments_stay_in_place(tmp_path, before, after):
    assert (
        into(tmp_path, "a.h", before, parameters({"tempo.tempo": (), "bishops.pair": ()}, ("all",)))
        == after
    )


def test_a_column_becomes_wider_for_all_its_rows(tmp_path):
    p = parameters({"king.table": (2, 2)}, ("all",), start=99)
    assert (
        into(tmp_path, "a.h", "int KingTable[] = {\n   5,  6,  // one\n   7,  8,  // two\n};\n", p)
        == "int KingTable[] = {\n  99, 100,  // one\n 101, 102,  // two\n};\n"
    )
    assert (
        into(tmp_path, "a.h", "int KingTable[] = {\n\t5,6,\n\t7,8,\n};\n", p)
        == "int KingTable[] = {\n\t 99,100,\n\t101,102,\n};\n"
    )


def template(random: np.random.Generator, macros: bool) -> str:
    """A source of C++ or Rust with @i@ for the numbers of 40 parameters, among traps."""
    traps = [
        "// a0 = 5; {",
        '/* int A1 = 7; " */',
        'auto s = "A2 = 9; { \\" 5";',
        "f(3, 4);",
        "auto c = '\"';",
        "x[3] = 12;",
    ]
    if macros:
        traps += ["#ifdef A3 // '", "#endif", "#define F(x) (x + 5)", 'auto r = R"(A4 = 3; ")";']
    lines, opened = [], False
    for i in range(40):
        for _ in range(random.integers(3)):
            trap = str(random.choice(traps))
            if trap.startswith("#endif") and not opened or trap.startswith("#ifdef") and opened:
                continue
            opened = trap.startswith("#ifdef") or opened and not trap.startswith("#endif")
            if not trap.startswith(("x[", "f(")):
                lines.append(trap)
        pad, note = (
            " " * random.integers(4),
            random.choice(["", "  // 5 ", " /* 6 */", "\t// \xe9\xff"]),
        )
        name = random.choice([f"NumbersA{i}", f"numbers_a{i}", f"A{i}_NUMBERS"])
        mark = f"@{i}@"
        if macros:
            form = random.choice(
                [
                    f"constexpr int {name} ={pad}{mark};",
                    f"#define {name} {pad}{mark}",
                    f"int {name}{{{mark}}};",
                    f"static const Value {name} = Value({mark});",
                ]
            )
        else:
            form = random.choice(
                [f"pub const {name}: i32 ={pad}{mark};", f"static {name}: V = V({mark});"]
            )
        lines.append(form + str(note))
    if opened:
        lines.append("#endif")
    return random.choice(["\n", "\r\n"]).join(lines) + str(random.choice(["", "\n"]))


@pytest.mark.parametrize("name", ["a.cpp", "a.rs"])
def test_nothing_but_the_numbers_changes(tmp_path, name):
    """Beside a second derivation: templates into which numbers are put, compared without spaces;
    and written twice."""
    random = np.random.default_rng(2)
    spec = {f"numbers.a{i}": () for i in range(40)}
    for k in range(40):
        text = ("\xef\xbb\xbf" if k % 2 else "") + template(random, name == "a.cpp").replace(
            "auto ", "let " * (name == "a.rs")
        )
        old, new = random.integers(-300, 300, 40), random.integers(-300, 300, 40)
        p = parameters(spec, ("all",)).with_weights(new[None].astype(float))
        before, expected = (
            re.sub("@(\\d+)@", lambda match, v=v: str(v[int(match[1])]), text) for v in (old, new)
        )
        after = into(tmp_path, name, before, p)
        assert re.sub(" ", "", after) == re.sub(" ", "", expected)
        comments = re.compile(r"//[^\r\n]*|/\*.*?\*/")
        assert comments.findall(after) == comments.findall(expected)
        assert (
            after.count("\r\n") == before.count("\r\n") and into(tmp_path, name, after, p) == after
        )


def calls(run) -> int:
    """How many functions a call of `run` calls."""
    found = 0

    def count(frame, event, argument):
        nonlocal found
        found += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_a_source_is_the_work_is_in_proportion_and_the_error_one_line(tmp_path, kind):
    name, make = HOSTILE[kind]
    p = parameters({f"hostile.number{i}": () for i in range(20)})

    def read(size: int) -> None:
        said = refusal(into, tmp_path, name, make(size), p)
        assert said.startswith(str(tmp_path / name))

    few, many = (calls(lambda size=size: read(size)) for size in (3000, 6000))
    assert many <= 2.5 * few + 1000


def test_a_definition_of_many_names_is_read_to_its_end(tmp_path):
    others = "".join(f"a{i} = {i}, b{i}[2] = {{1, 2}}, " for i in range(100))
    assert (
        into(tmp_path, "a.c", f"static const int {others}tempo[2] = {{7, 8}};", parameters(TEMPO))
        == f"static const int {others}tempo[2] = {{1, 2}};"
    )
    assert re.search(
        "a.c:1: tempo.tempo.mg is 300, but the type int8_t of tempo .* ends at 127",
        refusal(
            into,
            tmp_path,
            "a.c",
            f"int8_t {others}tempo[2] = {{7, 8}};",
            parameters(TEMPO, start=300),
        ),
    )


@pytest.mark.parametrize(
    ("name", "text", "low", "high"),
    [
        ("a.cpp", "const char tempo[2] = {1, 5};", -128, 127),
        ("a.cpp", "const signed char tempo[2] = {1, 5};", -128, 127),
        ("a.cpp", "const unsigned char tempo[2] = {1, 5};", 0, 255),
        ("a.cpp", "const unsigned short tempo[2] = {1, 5};", 0, 65535),
        ("a.cpp", "const short tempo[2] = {1, 5};", -32768, 32767),
        ("a.cpp", "const size_t tempo[2] = {1, 5};", 0, None),
        ("a.cpp", "const unsigned long long tempo[2] = {1, 5};", 0, None),
        ("a.cpp", "const std::uint_least8_t tempo[2] = {1, 5};", 0, 255),
        ("a.cpp", "typedef signed char V;\nconst V tempo[2] = {1, 5};", -128, 127),
        ("a.cpp", "using V = std::uint8_t;\nconst V tempo[2] = {1, 5};", 0, 255),
        ("a.cpp", "const int tempo[2] = {(unsigned char)1, (unsigned char)5};", 0, 255),
        ("A.java", "class A { static final byte[] tempo = {1, 5}; }", -128, 127),
        ("A.java", "class A { static final int[] tempo = {(byte) 1, (byte) 5}; }", -128, 127),
        ("a.go", "package a\nvar tempo = []int8{1, 5}\n", -128, 127),
        ("a.go", "package a\nvar tempo = []byte{1, 5}\n", 0, 255),
        ("a.go", "package a\nvar x = []byte{1}\nvar tempo = []int{1, 5}\n", None, None),
        ("a.rs", "pub const tempo: [u64; 2] = [1, 5];", 0, None),
        ("a.rs", "pub const tempo: [i32; 2] = [1u8 as i32, 5u8 as i32];", 0, 255),
        ("a.cs", "class A { static readonly sbyte[] tempo = {1, 5}; }", -128, 127),
        ("a.cs", "class A { static readonly byte[] tempo = {1, 5}; }", 0, 255),
    ],
)
def test_numbers_that_the_innermost_type_cannot_hold_are_refused(tmp_path, name, text, low, high):
    """The second number is one more than the first."""
    for start in (low, high and high - 1):
        if start is not None:
            found = into(tmp_path, name, text, parameters(TEMPO, start=start))
            assert str(start) in found and str(start + 1) in found
    for start, end in ((low is not None and low - 1, low), (high, high)):
        if end is not None:
            assert re.search(
                f" of tempo .* ends at {end}",
                refusal(into, tmp_path, name, text, parameters(TEMPO, start=start)),
            )
    if low is None:
        assert "-300" in into(tmp_path, name, text, parameters(TEMPO, start=-300))


def test_a_negative_number_behind_a_cast_to_a_name_is_one_line(tmp_path):
    text = "typedef int V;\nconst int tempo[2] = {(V) 1, (V) 5};"
    assert "would be read as a difference" in refusal(
        into, tmp_path, "a.c", text, parameters(TEMPO, start=-9)
    )


@pytest.mark.parametrize("between", ["\n", "/* minus */", "// minus\n"])
def test_a_sign_apart_from_its_number_is_an_expression(tmp_path, between):
    assert re.search(
        "a.c:1: tempo.tempo: .* holds an expression, expected numbers",
        refusal(into, tmp_path, "a.c", f"int tempo[2] = {{-{between}8, 5}};", parameters(TEMPO)),
    )


def test_similar_names_are_looked_for_once(tmp_path):
    names = {f"hostile.pawn{i}": () for i in range(20)}
    source = "".join(f"int Pawn{i}x = 5;" for i in range(200))
    assert re.search(
        r"hostile.pawn0: no definition has its name; similar: Pawn0x \(.*19 more",
        refusal(into, tmp_path, "a.h", source, parameters(names)),
    )
    one, all_of_them = (
        calls(lambda p=p: pytest.raises(InputError, into, tmp_path, "a.h", source, p))
        for p in (parameters({"hostile.pawn0": ()}), parameters(names))
    )
    assert all_of_them < 2 * one


def mutated(text: str, dice: random.Random) -> str:
    """A source with some pieces lost, doubled or exchanged."""
    for _ in range(dice.randint(1, 3)):
        begin = dice.randrange(len(text) + 1)
        end = min(len(text), begin + dice.choice((0, 1, 3, 40)))
        new = (
            "",
            text[begin:end] * 2,
            "{",
            "}",
            "(",
            ")",
            ";",
            '"',
            "'",
            "#",
            "\n",
            "=",
            "<",
            "/*",
            "*/",
            "#define S 1",
            "\\",
            "#if 1\n",
            "[",
            "-",
            "1e9",
            chr(dice.randrange(256)),
        )
        text = text[:begin] + dice.choice(new) + text[end:]
    return text


@pytest.mark.parametrize("language", ["c", pytest.param("rust", marks=pytest.mark.long)])
def test_a_mutated_source_is_refused_in_one_line_or_nothing_but_its_numbers_changes(
    tmp_path, language, count=80, seed=1
):
    name, names, flipped = NUMBERS[language]
    whole = (ENGINES / name).read_bytes().decode("latin-1")
    p, dice, written = load_parameters(ENGINES / "mini.yaml"), random.Random(seed), 0
    p = p.with_weights(p.weights + 100)
    for _ in range(count):
        before = mutated(whole, dice)
        try:
            after = into(tmp_path, name, before, p, (ENGINES / names).read_text(), flipped=flipped)
        except InputError as problem:
            assert "\n" not in str(problem) and str(problem).startswith(str(tmp_path))
            continue
        number = r"[\d.]+(e\d+)?|[-+ ]"
        assert re.sub(number, "", after) == re.sub(number, "", before) and after != before
        written += 1
    assert 0 < written < count


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.h", "typedef uint32_t Score;\nconstexpr Score Tempo = E(-3, -8);"),
        ("a.rs", "const TEMPO: u32 = s!(-3, -8);"),
    ],
)
def test_the_type_of_a_declaration_does_not_limit_what_a_call_is_given(tmp_path, name, text):
    p = parameters({"tempo.tempo": ()}, start=-7)
    assert into(tmp_path, name, text, p) == text.replace("-3, -8", "-7, -6")


@pytest.mark.parametrize(
    ("text", "remarked"),
    [
        ("Value Bonus[2] = {1, 2};", True),
        ("int Bonus[2] = {1, 2};", False),
        ("Score Bonus[2] = {S(1, 2), S(3, 4)};", False),
        ("typedef int Value;\nValue Bonus[2] = {1, 2};", False),
        ("Value Bonus[2] = {1, 400};", False),
    ],
)
def test_a_list_of_an_unknown_type_that_leaves_eight_bits_is_named(tmp_path, text, remarked):
    p = parameters({"bonus.bonus": (2,)}, start=0)
    p = p.with_weights(np.array([[1.0, 300.0]] * 2))
    if "S(" not in text:
        p = replace(p, tied=("bonus.bonus",))
    path = file_with(tmp_path / "a.h", text)
    r = rounded(p)
    lines = width_remarks(plan(r, [path]), r)
    assert len(lines) == remarked and all("bonus.bonus[1]" in line for line in lines)
