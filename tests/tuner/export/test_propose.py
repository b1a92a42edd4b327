"""Parameters proposed from what sources define: a map that is read again, shapes, one number for
both stages, and numbers that C leaves out."""

import json

import numpy as np
import pytest
import yaml

from tests.commands.support import done, refused
from tests.support import refusal
from tests.tuner.export.support import into, parameters
from tuner.evaluation.loading import load_parameters

SOURCE = """#define SIZE 7 * 6
enum { PAWN, KNIGHT, P_MG = 82, P_EG = 94 };
struct Score { int mg, eg; Score(int m, int e) : mg(m), eg(e) {} };
const Score Bishops(20, 45);
const int Tempo = 18;
const int Passed[8] = { 0, S(1, 2), 0, S(3, 4), S(5, 6) };
const int Shield[4] = { 7, 8 };
const int Mobility[2][5] = { { S(1, 2), S(3, 4) }, { S(5, 6), S(7, 8), S(9, 9) } };
const int Flip[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
int knight_table_mg[64] = { @MG@ };
int knight_table_eg[64] = { @EG@ };
const int Later[4] = { 0, 0, 0, 0 };
const int none_mg[2][3] = { { 0, 0, 0 }, { 1, 1, 2 } };
const int none_eg[2][3] = { { 0, 0, 0 }, { 2, 0, 0 } };
int sum = 0, work[8] = { 0 };
void init(void) { e.VALUE[ROOK] = 500; e.VALUE[QUEEN] = 900; e.COUNT = 0; }
""".replace("@MG@", ", ".join(map(str, range(5, 69)))).replace("@EG@", ", ".join(64 * ["-3"]))
NAMES = {
    "bishops.bishops": "Bishops",
    "tempo.tempo": "Tempo",
    "passed.passed": "Passed",
    "shield.shield": "Shield",
    "mobility.mobility_0": "Mobility[0]",
    "mobility.mobility_1": "Mobility[1]",
    "later.later": "Later",
    "none.none_0": {"mg": "none_mg[0]", "eg": "none_eg[0]"},
    "none.none_1": {"mg": "none_mg[1]", "eg": "none_eg[1]"},
    "value.rook": "VALUE[ROOK]",
    "value.queen": "VALUE[QUEEN]",
    "p.p": {"mg": "P_MG", "eg": "P_EG"},
    "knight.table": {"mg": "knight_table_mg", "eg": "knight_table_eg"},
}


@pytest.fixture
def files(tmp_path):
    """A source, and the commands that make a map and parameters of it."""
    source, names, start = tmp_path / "eval.cpp", tmp_path / "names.yaml", tmp_path / "start.yaml"
    source.write_text(SOURCE)
    return source, names, ("params", "--new", "--from", source, "--map", names, "--flip"), start


def test_the_map_has_what_may_be_a_parameter_and_the_parameters_have_its_numbers(files):
    source, names, command, start = files
    done(*command)
    assert yaml.safe_load(names.read_text()) == NAMES
    done(*command, "-o", start)
    p = load_parameters(start)
    shapes = {place.path: place.shape for place in p.layout.places}
    assert shapes == {
        **{name: () for name in NAMES},
        "passed.passed": (8,),
        "shield.shield": (4,),
        "mobility.mobility_0": (2,),
        "mobility.mobility_1": (3,),
        "later.later": (4,),
        "none.none_0": (3,),
        "none.none_1": (3,),
        "knight.table": (8, 8),
    }
    own = {place.path: p.weights[:, place.columns].tolist() for place in p.layout.places}
    assert own["bishops.bishops"] == [[20], [45]] and own["tempo.tempo"] == [[18], [18]]
    assert own["passed.passed"] == [[0, 1, 0, 3, 5, 0, 0, 0], [0, 2, 0, 4, 6, 0, 0, 0]]
    assert own["shield.shield"] == [[7, 8, 0, 0]] * 2 and own["p.p"] == [[82], [94]]
    assert own["knight.table"][0][:8] == list(range(61, 69))  # the row nearest to the owner
    one = {"tempo.tempo", "shield.shield", "later.later", "value.rook", "value.queen"}
    assert set(p.tied) == one
    assert set(p.fixed) == {
        *(f"passed.passed[{i}]" for i in (0, 2, 5, 6, 7)),
        *(f"shield.shield[{i}]" for i in (2, 3)),
    }
    out = done("export", start, "--into", source, "--map", names, "--flip", "--check").out
    assert out.startswith(f"{source}: all ")


def test_lines_that_are_deleted_are_no_parameters(files):
    _, names, command, start = files
    names.write_text("my.pace: Tempo\n")
    done(*command, "-o", start)
    assert [place.path for place in load_parameters(start).layout.places] == ["my.pace"]
    assert "names.yaml: exists and is not" in refused(*command)


def test_one_number_for_both_stages_is_written_once_and_never_two_values(tmp_path):
    p = parameters({"tempo.tempo": ()})
    both = p.with_weights(np.array([[25.0], [25.0]]))
    assert into(tmp_path, "a.h", "int Tempo = 18;\n", both) == "int Tempo = 25;\n"
    assert "learn them as one, with `tied: [tempo.tempo]`" in refusal(
        into, tmp_path, "a.h", "int Tempo = 18;\n", p
    )


def test_a_number_without_a_place_in_the_source_is_refused(files):
    source, names, command, start = files
    done(*command)
    done(*command, "-o", start)
    start.write_text(
        start.read_text()
        .replace("mg: [7, 8, 0, 0]", "mg: [7, 8, 9, 0]", 1)
        .replace("eg: [7, 8, 0, 0]", "eg: [7, 8, 9, 0]", 1)
    )
    assert "shield.shield[2].mg is 9, but Shield" in refused(
        "export", start, "--into", source, "--map", names, "--flip"
    )
    assert source.read_text() == SOURCE


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("int Bonus[7] = { 1, 2, 3 };", (8,)),  # declared with another size
        ("int Bonus[] = { 1, 2, 3 };", (8,)),
        ("int Bonus[8] = { 1, 2, KNIGHT };", (8,)),
    ],
)
def test_other_short_lists_are_refused(tmp_path, text, shape):
    assert "Bonus" in refusal(into, tmp_path, "a.h", text, parameters({"bonus.bonus": shape}))


STAGES = """#define PAWN_VAL 85
#define EG_PAWN_VAL 115
#define KNIGHT_VAL_MG 350
#define KNIGHT_VAL 400
const int ShelterMg[4] = { 0, 5, 10, 15 };
const int PassedEg[4] = { 0, 2, 5, 10 };
const int Rook = 500, RookMg = 1, RookEg = 2;
const int Bishop = 3 * PAWN_VAL + 20;
const int Queens[2] = { 9 * PAWN_VAL, 950 };
const int Hex = 0x1F;
const int Squares[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
enum { LIMIT = 7 };
const int Name = KNIGHT_VAL;
"""


def test_names_of_one_stage_are_in_the_map_and_what_is_left_out_has_its_reason(tmp_path):
    source, names, start = (tmp_path / name for name in ("a.c", "names.yaml", "start.yaml"))
    source.write_text(STAGES)
    command = ("params", "--new", "--from", source, "--map", names)
    found = json.loads(done(*command, "--json").out)
    assert yaml.safe_load(names.read_text()) == {
        "pawn.val": {"mg": "PAWN_VAL", "eg": "EG_PAWN_VAL"},
        "knight.val": {"mg": "KNIGHT_VAL_MG", "eg": "KNIGHT_VAL"},
        "shelter.shelter": {"mg": "ShelterMg", "eg": None},
        "passed.passed": {"mg": None, "eg": "PassedEg"},
        "rook.rook": "Rook",
        "rook.rook_2": {"mg": "RookMg", "eg": "RookEg"},
    }
    assert [text.replace(f"{source}:", "") for text in found["left_out"]] == [
        "Bishop, 8: an expression; give it a number of its own",
        "Queens[0], 9: an expression; give it a number of its own",
        "Hex, 10: a number that cannot be replaced: 0x1F is not decimal; give it a number of its"
        " own",
        "Squares, 11: counts up from 0, as lists of squares do",
        "LIMIT, 12: of an enum",
    ]
    assert names.read_text().count("#   ") == 5
    done(*command, "-o", start)  # what was written is accepted as it is
    p = load_parameters(start)
    own = {place.path: p.weights[:, place.columns].tolist() for place in p.layout.places}
    assert own["pawn.val"] == [[85], [115]] and own["knight.val"] == [[350], [400]]
    assert own["shelter.shelter"] == [[0, 5, 10, 15], [0] * 4]
    assert "passed.passed.mg" in p.fixed and own["rook.rook_2"] == [[1], [2]]
    out = done("export", start, "--into", source, "--map", names, "--check").out
    assert out.startswith(f"{source}: all ")


PAIRS = """enum { OPENING, ENDGAME, PHASES };
typedef struct { int mg, eg; } Score;
const int pawn_value[PHASES] = {[OPENING] = 82, [ENDGAME] = 94};
const int rook_value[PHASES] = {[ENDGAME] = 512, [OPENING] = 477};
static const Score bishop_pair = { .mg = 20, .eg = 50 };
const int piece[2][PHASES] = {[BISHOP] = {[OPENING] = 1, [ENDGAME] = 2}, [ROOK] = {3, 4}};
const int Tempo = 0;
static const Score space = { .mg = 0, .eg = 0 };
#define KNIGHT 0
static int counter = 0;
int f(int x) { counter++; int sum = 0; const int zero = 0; return sum + zero; }
"""


def test_pairs_with_labels_and_constants_of_zero_are_parameters(tmp_path):
    (tmp_path / "a.c").write_text(PAIRS)
    (tmp_path / "b.c").write_text("int f(void) { return 0; }\n")
    names, start = tmp_path / "names.yaml", tmp_path / "start.yaml"
    command = ("params", "--new", "--from", tmp_path / "a.c", "--map", names)
    ran = done(*command, "--from", tmp_path / "b.c")
    assert ran.err == f"{tmp_path / 'b.c'}: no definition with numbers\n"
    assert yaml.safe_load(names.read_text()) == {
        "pawn.value": "pawn_value",
        "rook.value": "rook_value",
        "bishop.pair": "bishop_pair",
        "piece.bishop": "piece[BISHOP]",
        "piece.rook": "piece[ROOK]",
        "tempo.tempo": "Tempo",
        "space.space": "space",
        "knight.knight": "KNIGHT",
    }
    done(*command, "-o", start)  # what was written is accepted as it is
    found = load_parameters(start)
    values = dict(zip(found.layout.labels(), found.weights.T.tolist(), strict=True))
    assert values["pawn.value"] == [82, 94] and values["rook.value"] == [477, 512]
    assert values["bishop.pair"] == [20, 50] and values["piece.bishop"] == [1, 2]
    assert values["piece.rook"] == [3, 4] and values["tempo.tempo"] == values["space.space"] == [
        0,
        0,
    ]


def mapped(folder, name: str, text: str) -> tuple[dict, list[str]]:
    """The map of a source, which is accepted as written, and what it leaves out."""
    source, names, start = folder / name, folder / "names.yaml", folder / "start.yaml"
    source.write_text(text)
    command = ("params", "--new", "--from", source, "--map", names)
    left_out = json.loads(done(*command, "--json").out)["left_out"]
    done(*command, "-o", start)
    out = done("export", start, "--into", source, "--map", names, "--check").out
    assert out.startswith(f"{source}: all ")
    return yaml.safe_load(names.read_text()), [line.replace(f"{source}:", "") for line in left_out]


KINDS = [
    (  # the rows of a table of C are as long as the table says
        "a.c",
        "const int Mob[2][N - 1][4] = { { {}, { 1, 2 } }, { {}, { 3, 4, 5 } } };",
        {"mob.mob_0": "Mob[0]", "mob.mob_1": "Mob[1]"},
        [],
    ),
    ("a.c", "int Own[2][2] = { { 0}, { 5, 0} };", {"own.own": "Own"}, []),
    (  # squares alone in a list, and a 0 in place of a pair
        "A.java",
        "class A { static final int[] OUTPOST = { 0, oe(7, 7), oe(5, 5) }; }",
        {"outpost.outpost": "OUTPOST"},
        [],
    ),
    (
        "a.rs",
        "const PST: [[S; 64]; 2] = [[" + "s!(1, 2), " * 64 + "], [" + "s!(3, 4), " * 64 + "]];",
        {"pst.pst_0": "PST[0]", "pst.pst_1": "PST[1]"},
        [],
    ),
    ("a.h", "int Big = 30000, Small = 5;", {"small.small": "Small"}, ["Big, 1: "]),
    (
        "a.h",
        "namespace A { int Bonus = 5; }\nnamespace B { int Bonus = 7; }",
        {"bonus.bonus": "Bonus@1", "bonus.bonus_2": "Bonus@2"},
        [],
    ),
    (
        "A.cs",
        "class A { int Pawn = 100; void F() { this.Pawn = 2 * x; } }",
        {"pawn.pawn": "Pawn@1"},
        [],
    ),
    (
        "a.go",
        "package a\nconst kingOpening, kingEndGame = 1, 5\nvar knight = Score{ one * 4, 8 }\n",
        {"king.king": {"mg": "kingOpening", "eg": "kingEndGame"}},
        ["knight[0], 3: an expression; give it a number of its own"],
    ),
    (
        "a.go",
        "package a\nvar (\n\tFILE_MG = S(20, 10)\n\tBytes = []uint8{uint8(3), 4}\n)\n",
        {"file.mg": "FILE_MG", "bytes.bytes": "Bytes"},
        [],
    ),
    (
        "a.cpp",
        "void init() { SetVal(P_MID, 90, 50, 150); SetVal(P_END, 110, 50, 150); f(x, 3); }",
        {"p.p": {"mg": "P_MID", "eg": "P_END"}},
        [],
    ),
    (
        "a.c",
        "int Bonus[3] __attribute__((aligned(16))) = {1, 2, 3};\n#if 0\nint Bonus = 5;\n#endif\n",
        {"bonus.bonus": "Bonus"},
        [],
    ),
    (
        "a.rs",
        "#[cfg(test)]\nmod tests { const V: i32 = 5; }\n#[cfg(test)]\n#[allow(x)]\n// of tests\n"
        "const V: i32 = 5;\nconst V: i32 = 6;\n",
        {"v.v": "V"},
        [],
    ),
    (
        "a.c",
        "#define Tempo 1\\\n0\nint Rook = 5;\n",
        {"rook.rook": "Rook"},
        ["Tempo, 1: a number that a backslash divides; give it a number of its own"],
    ),
]


@pytest.mark.parametrize(("name", "text", "wanted", "left_out"), KINDS)
def test_maps_of_these_kinds_are_accepted_as_they_are_written(
    tmp_path, name, text, wanted, left_out
):
    found, others = mapped(tmp_path, name, text)
    assert found == wanted and len(others) == len(left_out)
    assert all(map(str.startswith, others, left_out))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", "struct { int eg, mg; } tempo = {5, 1};"),
        ("a.c", "typedef struct { int eg; int mg; } P;\nP tempo = {5, 1};"),
        ("a.cpp", "struct P { int eg, mg; };\nP tempo{5, 1};"),
        ("a.go", "package a\ntype P struct { Eg, Mg int }\nvar tempo = P{5, 1}\n"),
    ],
)
def test_fields_of_structs_are_in_their_own_order(tmp_path, name, text):
    mapped(tmp_path, name, text)
    assert load_parameters(tmp_path / "start.yaml").weights.tolist() == [[1], [5]]


def test_a_function_with_the_middlegame_first_is_read_so(tmp_path):
    text = "struct P { int eg, mg; P(int m, int e) : eg(e), mg(m) {} };\nP tempo(5, 1), x{5, 1};"
    mapped(tmp_path, "a.cpp", text)
    assert load_parameters(tmp_path / "start.yaml").weights.tolist() == [[5, 5], [1, 1]]


def board(text: str, wide: bool = False) -> str:
    """Eight equal rows of a table; `wide`: with eight columns beyond the board."""
    return ", ".join([text + (", 0" * 8 if wide else "")] * 8)


@pytest.mark.parametrize(
    ("row", "wide", "symmetric"),
    [
        ("1, 2, 3, 4, 4, 3, 2, 1", False, True),
        ("1, 2, 3, 4, 4, 3, 2, 1", True, True),
        ("1, 2, 3, 4, 4, 3, 2, 0", False, False),
        ("5, 5, 5, 5, 5, 5, 5, 5", False, False),
    ],
)
def test_tables_that_are_symmetric_stay_so(tmp_path, row, wide, symmetric):
    size = 128 if wide else 64
    mapped(tmp_path, "a.c", f"int pst[{size}] = {{ {board(row, wide)} }};")
    p = load_parameters(tmp_path / "start.yaml")
    assert p.layout.places[0].shape == (8, size // 8)
    assert p.symmetric == (("pst.pst",) if symmetric else ())
    assert ('symmetric: ["pst.pst"]' in (tmp_path / "start.yaml").read_text()) == symmetric


def test_a_list_of_128_with_numbers_everywhere_is_a_list(tmp_path):
    mapped(tmp_path, "a.c", f"int curve[128] = {{ {', '.join(map(str, range(5, 133)))} }};")
    assert load_parameters(tmp_path / "start.yaml").layout.places[0].shape == (128,)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.go", "package a\ntype P struct { Eg, Mg int }\n\nvar pair = [2]int{3, 4}\n"),
        ("A.cs", "struct P { int eg; int mg; }\nclass A { static int[] pair = {3, 4}; }"),
    ],
)
def test_what_follows_a_struct_is_not_of_its_type(tmp_path, name, text):
    mapped(tmp_path, name, text)
    assert load_parameters(tmp_path / "start.yaml").weights.tolist() == [[3], [4]]


def test_whether_a_table_is_symmetric_is_up_to_its_file(tmp_path):
    source = tmp_path / "a.c"
    mapped(tmp_path, "a.c", f"int pst[64] = {{ {board('1, 2, 3, 4, 4, 3, 2, 1')} }};")
    start = tmp_path / "start.yaml"
    command = ("--from", source, "--map", tmp_path / "names.yaml", "-o")
    done("export", start, *command, tmp_path / "kept.yaml")
    assert load_parameters(tmp_path / "kept.yaml").symmetric == ("pst.pst",)
    start.write_text(start.read_text().replace('symmetric: ["pst.pst"]\n', ""))
    done("export", start, *command, tmp_path / "free.yaml")
    assert load_parameters(tmp_path / "free.yaml").symmetric == ()
    source.write_text(source.read_text().replace("2, 1, 1, 2", "2, 9, 1, 2", 1))
    said = refused("export", tmp_path / "kept.yaml", *command, tmp_path / "b.yaml")
    assert "the right half of pst.pst does not mirror the left one in the sources" in said
