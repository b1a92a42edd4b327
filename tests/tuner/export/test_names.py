"""Which definition is whose: names, maps and markers, and one line of error where that is open."""

import pytest

from tests.support import refusal
from tests.tuner.export.support import into, parameters

SPEC = {"mobility.knight": (2,), "tempo.tempo": (), "material.pawn": ()}
ONE = ("all",)
COMPLETE = "int mobility_knight[2] = {0, 0}; int tempo = 0; int materialPawn = 0;\n"


def refused(
    tmp_path,
    text: str,
    names: str | None = None,
    only: tuple[str, ...] = (),
    name: str = "a.h",
    stages: tuple[str, ...] = ONE,
) -> str:
    """The error, with the folder left out."""
    said = refusal(into, tmp_path, name, text, parameters(SPEC, stages), names, only)
    said = said.replace(f"{tmp_path}/", "")
    assert (tmp_path / name).read_bytes() == text.encode()
    return said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "int tempo = 0; int materialPawn = 0;",
            (
                "a.h: mobility.knight: no definition has its name; write `mobility.knight: NAME` in"
                " a file for --map, or null for NAME"
            ),
        ),
        (
            "int knightMob[2] = {1, 2};",
            (
                "mobility.knight: no definition has its name; similar: knightMob (a.h:1) (2 more: "
                "tempo.tempo, material.pawn); write"
            ),
        ),
        (
            COMPLETE + "#if X\nconst int TEMPO = 5;\n#endif",
            "tempo.tempo: 2 definitions have its name: tempo (a.h:1), TEMPO (a.h:3);",
        ),
        (
            COMPLETE.replace("tempo = 0", "tempo = 2 * 10"),
            "tempo.tempo: tempo (a.h:1) holds an expression, expected numbers",
        ),
        (
            COMPLETE.replace("{0, 0}", "{0, 2 << 3}"),
            "a.h:1: mobility.knight: mobility_knight (a.h:1) holds an expression, expected",
        ),
        (
            COMPLETE.replace("tempo = 0", "tempo = 0x1F"),
            "holds a number that cannot be replaced: 0x1F is not decimal, expected",
        ),
        (
            COMPLETE.replace("tempo = 0", "tempo = 017"),
            "holds a number that cannot be replaced: 017 is octal, expected numbers",
        ),
        (
            COMPLETE.replace("{0, 0}", "{0, 0, 0}"),
            "mobility_knight (a.h:1) has 3 numbers, expected 2",
        ),
        (COMPLETE.replace("{0, 0}", "{{0, 0}, {0}}"), "has lists of different lengths: 2 and 1"),
        (
            COMPLETE.replace("{0, 0}", "{[A] = 0, [B] = 0}"),
            "has items with names (A, B), so their order is open; name",
        ),
        (
            COMPLETE.replace("{0, 0}", "{0,\n#ifdef X\n0}"),
            "a list with a preprocessor line, expected numbers",
        ),
        (COMPLETE.replace("{0, 0}", "{}"), "is an empty list"),
    ],
)
def test_what_is_not_found_is_refused(tmp_path, text, said):
    assert said in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            "uint8_t tempo = 0;",
            {"start": -9},
            "a.h:1: tempo.tempo is -7.0, but the type uint8_t of tempo (a.h:1) ends at 0",
        ),
        (
            "int8_t tempo = 0;",
            {"start": 200},
            "a.h:1: tempo.tempo is 202.0, but the type int8_t of tempo (a.h:1) ends at 127",
        ),
        ("int tempo = 0u;", {"start": -9}, "a.h:1: tempo.tempo is -7.0, but 0u there is unsigned"),
        (
            "int tempo = 0;",
            {"start": 0.5},
            "a.h:1: tempo.tempo is the whole number 0 there, expected a float for --decimals 1",
        ),
    ],
)
def test_a_number_that_its_type_cannot_hold_is_refused(tmp_path, text, options, said):
    assert (
        refusal(
            into,
            tmp_path,
            "a.h",
            text,
            parameters(SPEC, ONE, **options),
            only=("tempo",),
            decimals=1,
        ).replace(f"{tmp_path}/", "")
        == said
    )


def test_two_stages_are_all_there_or_refused(tmp_path):
    assert "only the stage of TempoMg (a.h:1) has a definition, eg lacks one" in refused(
        tmp_path, "int TempoMg = 1;", only=("tempo",), stages=("mg", "eg")
    )
    assert "tempo.tempo.mg is 3 and tempo.tempo.eg 7, but Tempo (a.h:1) has one number" in refused(
        tmp_path, "int Tempo = 1;", only=("tempo",), stages=("mg", "eg")
    )
    assert (
        "3 definitions have its name: Tempo (a.h:1), TempoMg (a.h:1), TempoEg (a.h:1)"
        in refused(
            tmp_path,
            "S Tempo = S(1, 2); int TempoMg = 1, TempoEg = 2;",
            only=("tempo",),
            stages=("mg", "eg"),
        )
    )


def test_a_piece_that_is_an_index_is_not_taken_for_its_value(tmp_path):
    """Nor are assignments in functions, and a function's own constant only if there is no other."""
    assert "material.pawn: no definition has its name" in refused(
        tmp_path, "enum { PAWN = 0, KNIGHT = 1 };", only=("material",)
    )
    assert "no definition" in refused(
        tmp_path, "const int PAWN = 0; int f() { return v[PAWN]; }", only=("material",)
    )
    assert "no definition" in refused(
        tmp_path, "int f() { int pawn = 0; pawn = 3; return pawn; }", only=("material",)
    )
    source = "const int pawn = 0;"
    assert (
        into(tmp_path, "a.h", source, parameters(SPEC, ONE), only=("material",))
        == "const int pawn = 4;"
    )
    within = "int f() { static const int MaterialPawn = 0; return MaterialPawn; }"
    assert "MaterialPawn = 4" in into(
        tmp_path, "a.h", within, parameters(SPEC, ONE), only=("material",)
    )
    both = within + "\nnamespace material { int pawn = 0; }\n"
    assert into(tmp_path, "a.h", both, parameters(SPEC, ONE), only=("material",)) == both.replace(
        "pawn = 0", "pawn = 4"
    )


def test_branches_of_the_preprocessor_do_not_confuse_the_scopes(tmp_path):
    source = (
        "#if A\nint f() {\n#else\nint f(int) {\n#endif\n  return 5;\n}\nint materialPawn = 0;\n"
    )
    assert into(
        tmp_path, "a.cpp", source, parameters(SPEC, ONE), only=("material",)
    ) == source.replace("= 0", "= 4")


SOURCE = (
    "int Values[] = {[PAWN] = 0, [KNIGHT] = 7};\nP p = {.mob = {.n = {0, 0}}};\nint T = 7;\nint T ="
    " 0;\n"
)
NAMES = "material.pawn: Values[PAWN]\nmobility.knight: p.mob.n\ntempo.tempo: T@2\n"


def test_a_map_names_definitions_and_their_parts(tmp_path):
    expected = (
        SOURCE.replace("PAWN] = 0", "PAWN] = 4")
        .replace("{0, 0}", "{1, 2}")
        .replace("T = 0", "T = 3")
    )
    assert into(tmp_path, "a.c", SOURCE, parameters(SPEC, ONE), NAMES) == expected
    null = "'m*.*': null\ntempo.tempo: T@1\n"
    assert into(tmp_path, "a.c", SOURCE, parameters(SPEC, ONE), null) == SOURCE.replace(
        "T = 7", "T = 3"
    )
    only = into(tmp_path, "a.c", SOURCE, parameters(SPEC, ONE), NAMES, ("material.*",))
    assert only == SOURCE.replace("PAWN] = 0", "PAWN] = 4")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("- a", "names.yaml:1: expected a mapping such as `mobility.knight: KnightMobility`"),
        ("x.y: T", "names.yaml:1: 'x.y' names no parameter;"),
        (
            "tempo.tempo: T",
            "names.yaml:1: T has 2 definitions: T (a.c:3), T (a.c:4); write T@1 for the first",
        ),
        ("tempo.tempo: T@3", "names.yaml:1: T@3: T has 2 definitions"),
        (
            "tempo.tempo: 2 * T",
            (
                "names.yaml:1: 2 * T is not the name of a definition, expected for example Bonus,"
                " Bonus[2]"
            ),
        ),
        ("tempo.tempo: U", "names.yaml:1: U is defined nowhere in the source"),
        (
            "tempo.tempo: Values[ROOK]",
            "names.yaml:1: Values (a.c:1) has no item [ROOK], its items are PAWN, KNIGHT",
        ),
        ("tempo.tempo: T@1[0]", "names.yaml:1: T (a.c:3) has no item [0]: it is one number"),
        ("tempo.tempo: p.mob.n[2]", "names.yaml:1: p (a.c:2) has no item [2], it has 2"),
        (
            "tempo.tempo: p.mob.n[KNIGHT]",
            "p (a.c:2) has no item [KNIGHT], it has 2, without names: write its index, from 0",
        ),
        ("'*': T@1", "names.yaml:1: '*' matches 3 parameters; a glob may only be null"),
        ("tempo.tempo: {mg: T@1}", "names.yaml:1: tempo.tempo has mg, expected the stages all"),
        ("'*': null", "names.yaml: leaves no parameter to be written to a.c"),
        (
            NAMES.replace("T@2", "p.mob.n[1]"),
            "a.c:2: both mobility.knight[1] and tempo.tempo would be written to this number of",
        ),
        (
            NAMES.replace("p.mob.n", "Values[PAWN]"),
            "mobility.knight: Values[PAWN] (a.c:1) has one number, expected 2",
        ),
    ],
)
def test_a_map_that_does_not_fit_is_refused(tmp_path, names, said):
    assert said in refused(tmp_path, SOURCE, names, name="a.c")


def test_markers_are_beside_numbers(tmp_path):
    source = (
        'TUNE("t", /* evaltune: tempo.tempo */ 7, 0, 100);\n'
        "int a[][2] = {\n  {7, 7},  // evaltune: mobility.knight\n  {8, 8},\n};\n"
        "// evaltune: material.pawn\nint piece = 9;\n"
    )
    expected = source.replace("*/ 7", "*/ 3").replace("{7, 7}", "{1, 2}").replace("= 9", "= 4")
    assert into(tmp_path, "a.h", source, parameters(SPEC, ONE)) == expected
    stages = (
        "int x = 9;  // evaltune: tempo.tempo.mg\nint y = f(\n  9 // evaltune: tempo.tempo.eg\n);\n"
    )
    expected = stages.replace("x = 9", "x = 3").replace("  9 //", "  7 //")
    assert into(tmp_path, "a.h", stages, parameters(SPEC), only=("tempo",)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "int x = 7; // evaltune: tempo.temp",
            (
                "a.h:1: the marker names tempo.temp, which is no parameter; expected for example "
                "`evaltune: mobility.knight`"
            ),
        ),
        (
            "int x = 7; // evaltune: tempo.tempo\nint y = 7; // evaltune: tempo.tempo",
            "a.h:2: a second marker for tempo.tempo;",
        ),
        ("// evaltune: tempo.tempo\n", "a.h:1: nothing follows this marker"),
        (
            "// evaltune: tempo.tempo\nf();\ng();\nint x = 3;\n",
            "a.h:1: no numbers follow this marker",
        ),
        (
            "int x[] = {\n 7,\n // evaltune: tempo.tempo\n};\n",
            "a.h:3: no numbers follow this marker",
        ),
        (
            "int x[2] = {7, 7}; // evaltune: tempo.tempo",
            "a.h:1: tempo.tempo: a.h:1 has 2 numbers, expected 1",
        ),
    ],
)
def test_a_marker_without_its_numbers_is_refused(tmp_path, text, said):
    assert said in refused(tmp_path, text, only=("tempo",))


def test_a_marker_in_a_macro_is_beside_its_number(tmp_path):
    source = "#define SET F(3, /* evaltune: tempo.tempo */ 7, 9)\nint other = 8;\n"
    found = into(tmp_path, "a.h", source, parameters(SPEC, ONE), only=("tempo",))
    assert found == source.replace("*/ 7", "*/ 3")


def test_only_names_parameters(tmp_path):
    assert (
        refused(tmp_path, COMPLETE, only=("x.*",))
        == "--only x.*: names no parameter; expected a term, or a name or glob such as"
        " mobility.knight"
    )
