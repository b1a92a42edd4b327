"""The order in which sources name the stages, the types of their numbers, and values that are not
read as they look."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.commands.support import done, refused
from tests.support import file_with, refusal
from tests.tuner.export.support import into, parameters
from tuner.export.into.definitions import definitions_of, numbers_in, numbers_of
from tuner.export.into.propose import proposals
from tuner.export.into.source import SourceText, language_of, text_of
from tuner.export.into.types import limits_at


def source(name: str, text: str) -> SourceText:
    return SourceText(name, text_of(text.encode()), language_of(Path(name)))


# Tempo is 22 in the middlegame and 11 in the endgame
ENDGAME_FIRST = [
    (
        "a.go",
        "package a\ntype Pt struct{ x, y int }\ntype Score struct {\n\teg int\n\tmg int\n"
        "}\nvar Tempo = Score{11, 22}\n",
    ),
    (
        "a.go",
        "package a\ntype Score struct {\n\teg int\n\tmg int\n}\n"
        "type Pt struct{ x, y int }\nvar Tempo = Score{11, 22}\n",
    ),
    (
        "a.go",
        "package a\ntype (\n Score struct { Eg, Mg int32 }\n Z struct {a int}\n)\n"
        "var Tempo = Score{11, 22}\n",
    ),
    (
        "a.go",
        "package a\nfunc S(eg, mg int) Score { return Score{mg: mg, eg: eg} }\n"
        "var Tempo = S(11, 22)\n",
    ),
    ("a.go", "package a\nfunc S(eg int, mg int) int { return mg<<16+eg }\nvar Tempo = S(11, 22)\n"),
    (
        "a.cpp",
        "struct Score { int eg; int mg; int total() const { return mg + eg; } };\n"
        "const Score Tempo = {11, 22};",
    ),
    (
        "a.cpp",
        "struct Score { int eg, mg; Score operator+(const Score& o) const { return "
        "{eg+o.eg, mg+o.mg}; } };\nconst Score Tempo{11, 22};",
    ),
    ("a.cpp", "class Score { public: int eg; int mg; void f(); };\nconst Score Tempo{11, 22};"),
    (
        "a.cpp",
        "struct Score { int eg = 0; int mg = 0; };\nstatic constexpr Score Tempo = Score{11, 22};",
    ),
    (
        "a.cpp",
        "struct Score { int mg, eg; constexpr Score(int eg_, int mg_) : mg(mg_), eg(eg_) "
        "{} };\nconst Score Tempo{11, 22};",
    ),
    (
        "a.cpp",
        "struct Score { int mg, eg; constexpr Score(int eg_, int mg_) : mg(mg_), eg(eg_) "
        "{} };\nconst Score Tempo(11, 22);",
    ),
    (
        "a.cpp",
        "struct Score { int mg, eg; Score(int e, int m) : mg(m), eg(e) {} };\n"
        "const Score Tempo = Score(11, 22);",
    ),
    ("a.c", "#define S(eg, mg) ((int)((unsigned)(eg) << 16) + (mg))\nconst int Tempo = S(11, 22);"),
    ("a.h", "#define S(eg, mg) make_score(mg, eg)\nconstexpr Score Tempo = S(11, 22);"),
    (
        "a.cpp",
        "inline int make(int eg, int mg) { return mg + (eg << 16); }\n"
        "const int Tempo = make(11, 22);",
    ),
    ("a.cpp", "constexpr int make(int endgame, int midgame);\nconst int Tempo = make(11, 22);"),
    (
        "a.cpp",
        "constexpr auto S = [](int eg, int mg) { return mg + (eg << 16); };\n"
        "const int Tempo = S(11, 22);",
    ),
    (
        "a.c",
        "typedef struct { int eg; int mg; } Score; typedef Score Bonus;\n"
        "const Bonus Tempo = {11, 22};",
    ),
    (
        "a.cpp",
        "struct Score { int eg; int mg; }; using Bonus = Score; using B2 = Bonus;\n"
        "const B2 Tempo = {11, 22};",
    ),
    ("a.c", "struct score { short eg; short mg; };\nstruct score Tempo = {11, 22};"),
    (
        "a.c",
        "typedef struct score_s { int endGame; int midGame; }\nScore;\n"
        "const Score Tempo = {11, 22};",
    ),
    (
        "a.rs",
        "const fn s(eg: i32, mg: i32) -> i32 { mg + (eg << 16) }\nconst TEMPO: i32 = s(11, 22);",
    ),
    (
        "a.rs",
        "macro_rules! s { ($eg:expr, $mg:expr) => { S { mg: $mg, eg: $eg } } }\n"
        "const TEMPO: S = s!(11, 22);",
    ),
    (
        "a.java",
        "class A { static int S(int eg, int mg) { return mg + (eg << 16); }\n"
        " static final int Tempo = S(11, 22); }",
    ),
    (
        "a.java",
        "class A { record Score(int eg, int mg) {}\n"
        " static final Score Tempo = new Score(11, 22); }",
    ),
    (
        "a.cs",
        "struct Score { public int Mg, Eg; public Score(int eg, int mg) { Mg = mg; Eg = "
        "eg; } }\nclass A { static readonly Score Tempo = new Score(11, 22); }",
    ),
    (
        "a.cs",
        "record struct Score(int Eg, int Mg);\n"
        "class A { static readonly Score Tempo = new(11, 22); }",
    ),
    (
        "a.cs",
        "class A { static int S(int eg, int mg) => mg + (eg << 16);\n"
        " const int Tempo = S(11, 22); }",
    ),
    (
        "a.cpp",
        "template <typename T> struct Score { T eg; T mg; T sum() { return eg + mg; } };\n"
        "const Score<int> Tempo = {11, 22};",
    ),
    (
        "a.cpp",
        "struct Score { const int eg; const int mg; bool operator==(const Score&) const "
        "= default; };\nconst Score Tempo = {11, 22};",
    ),
    ("a.cpp", "struct alignas(8) Score { int eg; int mg; };\nconst Score Tempo = {11, 22};"),
    (
        "a.cpp",
        "struct Score { static const int N = 2; int eg; int mg; };\nconst Score Tempo = {11, 22};",
    ),
    (
        "a.c",
        "typedef struct Score Score;\nstruct Score { int eg, mg; };\nconst Score Tempo = {11, 22};",
    ),
    ("a.cpp", "namespace x { struct Score { int eg, mg; }; }\nconst x::Score Tempo = {11, 22};"),
    ("a.c", "#define SCORE(eg,mg) {(mg), (eg)}\nconst Score Tempo = SCORE(11, 22);"),
    ("a.c", "#define S( eg , mg ) \\\n ((mg) + ((eg) << 16))\nconst int Tempo = S( 11, 22 );"),
    (
        "a.cpp",
        "struct Score { int eg; /* first */ int mg; // second\n};\nconst Score Tempo = {11, 22};",
    ),
    (
        "a.cpp",
        "struct Score { union { struct { int eg, mg; }; int v[2]; }; };\n"
        "const Score Tempo = {11, 22};",
    ),
    (
        "a.cpp",
        "struct Score { int late, opening; Score& operator+=(int x); };\n"
        "const Score Tempo = {11, 22};",
    ),
    ("a.cpp", "struct Score { int16_t eg : 16; int16_t mg : 16; };\nconst Score Tempo = {11, 22};"),
]


@pytest.mark.parametrize(("name", "text"), ENDGAME_FIRST)
def test_the_endgame_is_first_where_the_source_says_so(name, text):
    read = source(name, text)
    (tempo,) = (d for d in definitions_of([read]) if d.name.lower() == "tempo")
    found = numbers_of(tempo.node, ["mg", "eg"], (), tempo.sizes)
    assert [[number.value for number in row] for row in found] == [[22], [11]]


# the bits of the type of the number 100, or of the number of a _Bool; None: more than any weight
BITS = [
    ("a.c", "typedef int8_t Small; typedef Small Bonus;\nconst Bonus Tempo = 100;", 8),
    (
        "a.cpp",
        "using Small = int8_t; using Bonus = Small; using B3 = Bonus;\nconst B3 Tempo = 100;",
        8,
    ),
    ("a.c", "#define V int8_t\nconst V Tempo = 100;", 8),
    ("a.c", "#define V signed char\nconst V Tempo = 100;", 8),
    ("a.c", "#define W V\n#define V int8_t\nstatic const W Tempo = 100;", 8),
    ("a.c", "struct W { int8_t Tempo; }; const struct W w = { 100 };", 8),
    ("a.c", "typedef struct { int big; int8_t Tempo; } W; const W w = { 3, 100 };", 8),
    ("a.c", "typedef struct { int big; int8_t Tempo; } W; const W w = { .Tempo = 100 };", 8),
    ("a.c", "typedef struct { int8_t small; int Tempo; } W; const W w = { .Tempo = 100 };", None),
    ("a.c", "typedef struct { int8_t small; int Tempo; } W; const W w = { 3, 100 };", None),
    ("a.c", "typedef struct { int8_t a[3]; } W; const W w = { { 1, 2, 100 } };", 8),
    (
        "a.c",
        "typedef struct { int8_t a, b; } P; typedef struct { P p; int q; } W; const W w "
        "= { { 1, 100 }, 5 };",
        8,
    ),
    ("a.c", "typedef struct { int8_t a, b; } P; const P t[2] = { { 1, 100 }, {2, 3} };", 8),
    ("a.cpp", "struct W { int8_t Tempo = 100; };", 8),
    ("a.cpp", "const int Tempo = static_cast<int8_t>(100);", 8),
    ("a.cpp", "const int Tempo = static_cast<std::int8_t>(100);", 8),
    ("a.cpp", "const auto Tempo = int8_t(100);", 8),
    ("a.cpp", "const auto Tempo = int8_t{100};", 8),
    ("a.cpp", "const int Tempo = (int8_t)100;", 8),
    ("a.cpp", "const int Tempo = (int8_t)(100);", 8),
    ("a.cpp", "struct W { int Tempo : 8; }; const W w = {100};", 8),
    ("a.cpp", "struct W { signed Tempo : 8; int x; }; const W w = {.Tempo = 100};", 8),
    ("a.cpp", "struct W { unsigned Tempo : 8; }; const W w = {100};", 8),
    ("a.cpp", "struct W { int Tempo : 8 = 100; };", 8),
    ("a.c", "const _Bool Tempo = 1;", 1),
    ("a.c", "const __INT8_TYPE__ Tempo = 100;", 8),
    ("a.c", "const __UINT8_TYPE__ Tempo = 100;", 8),
    ("a.cpp", "template <typename T> struct B { T v; }; const B<int8_t> Tempo = { 100 };", 8),
    (
        "a.cpp",
        "template <class T> constexpr T S(int v) { return v; } const int Tempo = S<int8_t>(100);",
        8,
    ),
    ("a.cpp", "const std::array<int8_t, 3> Tempo = {1, 2, 100};", 8),
    ("a.cpp", "const std::vector<int8_t> Tempo{1, 2, 100};", 8),
    (
        "a.cpp",
        "template<int N> using T = std::array<int8_t, N>; const T<3> Tempo = {1, 2, 100};",
        8,
    ),
    ("a.go", "package a\ntype Small int8\ntype B Small\nvar Tempo B = 100\n", 8),
    ("a.go", "package a\ntype W struct { A int; Tempo int8 }\nvar w = W{A: 1, Tempo: 100}\n", 8),
    ("a.go", "package a\ntype W struct { A int; Tempo int8 }\nvar w = W{1, 100}\n", 8),
    ("a.rs", "type S = i8; type B = S; const TEMPO: B = 100;", 8),
    ("a.rs", "struct W { a: i32, tempo: i8 } const W0: W = W { a: 1, tempo: 100 };", 8),
    ("a.cs", "using Small = System.SByte; class A { const Small Tempo = 100; }", 8),
    ("a.cs", "class A { const SByte Tempo = 100; const Byte x = 1; }", 8),
    ("a.java", "class A { static final byte Tempo = 100; }", 8),
    ("a.java", "class A { static final Byte[] Tempo = {1, 100}; }", 8),
    ("a.c", "typedef signed char Small, *Ptr; const Small Tempo = 100;", 8),
    ("a.c", "typedef const int8_t Small; Small Tempo = 100;", 8),
    ("a.c", "const int_fast8_t Tempo = 100;", 8),
    ("a.c", "u_int8_t Tempo = 100;", 8),
    ("a.c", "__int8 Tempo = 100;", 8),
    ("a.c", "typedef enum : int8_t { A } E; const int Tempo = 100;", None),
    ("a.c", "int8_t x = 3; const int Tempo = 100;", None),
    ("a.c", "const int Tempo = 100; // int8_t", None),
]


@pytest.mark.parametrize(("name", "text", "bits"), BITS)
def test_the_type_of_a_number_is_found(name, text, bits):
    read = source(name, text)
    found = {
        limits_at(number, read, d.types, (read,))
        for d in definitions_of([read])
        for number in numbers_in(d.node)
        if number.value == (1 if bits == 1 else 100)
    }
    assert found
    for limits in found:
        if bits is None:
            assert limits is None or limits.high >= 2**31 - 1
        else:
            assert limits is not None and limits.high - limits.low + 1 == 2**bits


@pytest.mark.parametrize("suffix", ["u", "U", "ul", "lu", "LU", "llu", "ULL"])
def test_no_negative_number_is_written_with_an_unsigned_suffix(tmp_path, suffix):
    p = parameters({"tempo.tempo": ()}, ("all",)).with_weights(np.array([[-5.0]]))
    assert re.search(
        f"tempo.tempo is -5, but 5{suffix} there is unsigned",
        refusal(into, tmp_path, "a.c", f"const long tempo = 5{suffix};", p),
    )


def proposed(name: str, text: str) -> tuple[dict, list[str]]:
    """Return the references of proposals by their names, and what is left out."""
    read = source(name, text)
    found, left_out = proposals(definitions_of([read]), ("mg", "eg"))
    return {each.name: dict(each.references) for each in found}, left_out


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.c", "const int größe = 5;", {"größe.größe": {None: "größe"}}),
        ("a.rs", "const 歩の価値: i32 = 100;", {"歩の価値.歩の価値": {None: "歩の価値"}}),
        ("a.c", "#if 1\nconst int A = 5;\n#else\nconst int A = 7;\n#endif", {"a.a": {None: "A"}}),
        ("a.c", "static int edge = 0;", {"edge.edge": {None: "edge"}}),
        ("a.cs", "class A { readonly int Edge = 0; }", {"edge.edge": {None: "Edge"}}),
        ("a.c", "static int nodes = 0; void f() { nodes++; }", {}),
        ("a.c", "static int best = 0; void f() { best = 5; }", {}),
    ],
)
def test_these_are_parameters(name, text, wanted):
    assert proposed(name, text) == (wanted, [])


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.c", "#define PAIR 4, 5", "PAIR, a.c:1: an expression"),
        ("a.cpp", "constexpr int A = 5_cp;", "A, a.cpp:1: a number with the operator _cp"),
        ("a.c", "const int A[] = {1,\n2,\nx + 1};", "A[2], a.c:3: an expression"),
        ("a.c", "const int A[2][2] = {{1, 2},\n{3, B}};", "A[1][1], a.c:2: the name B"),
        ("a.c", "const int A[] = {[0] = 1, [0] = 9};", "A[0], a.c:1: A (a.c:1) has 2 items [0]"),
        (
            "a.c",
            "typedef struct { int mg, eg; } S;\nconst S A[2] = {1, 2, 3, 4};",
            "A, a.c:2: structs without braces of their own",
        ),
    ],
)
def test_these_are_left_out_with_the_reason(name, text, reason):
    found, left_out = proposed(name, text)
    assert found == {} and left_out[0].startswith(reason)


def test_lists_without_inner_braces_are_those_of_the_declaration():
    read = source("a.c", "const int A[3][2] = {1, 2, 3, 4, 5, 6}, B[2][2] = {7, 8, 9};")
    a, b = definitions_of([read])
    found = numbers_of(a.node, ["mg", "eg"], (3,), a.sizes)
    assert [[number.value for number in row] for row in found] == [[1, 3, 5], [2, 4, 6]]
    (row,) = numbers_of(b.node, ["all"], (2, 2), b.sizes)
    assert [number and number.value for number in row] == [7, 8, 9, None]


def test_many_definitions_of_one_name_have_short_names():
    text = "".join(
        f"struct K{i} {{ static constexpr int value = {i + 1}; }};\n" for i in range(300)
    )
    found, left_out = proposed("a.cpp", text)
    assert len(found) == 300 and left_out == [] and max(map(len, found)) < 16
    assert found["value.value_300"] == {None: "value@300"}


def test_where_all_is_left_out_the_reasons_are_said(tmp_path):
    path = file_with(tmp_path / "a.c", "const int A = 2 * 50;\nconst int B = A + 3;\n")
    said = refused("params", "--new", "--from", path, "--map", tmp_path / "map.yaml")
    assert f"left out: A, {path}:1: an expression" in said and f"B, {path}:2" in said


def test_letters_beyond_ascii_stay_as_they_are(tmp_path):
    path, names, start = tmp_path / "a.c", tmp_path / "map.yaml", tmp_path / "start.yaml"
    text = "// für größe, 歩\nconst int größe = 5; /* ü */\nconst int 歩 = 7;\n"
    path.write_text(text)
    done("params", "--new", "--from", path, "--map", names)
    done("params", "--new", "--from", path, "--map", names, "-o", start)
    start.write_text(start.read_text().replace("7", "8"))
    done("export", start, "--into", path, "--map", names)
    assert path.read_text() == text.replace("7", "8")
