"""A user's file of terms, from its ten lines to coefficients, and the messages about its faults."""

import ast
import re
import textwrap
from pathlib import Path

import chess
import numpy as np
import pytest

from evalterms.chess import view
from evalterms.chess.view import Side
from evalterms.framework import check
from evalterms.framework.check import complaints
from evalterms.framework.compose import compose, load_terms
from evalterms.term import Term
from games.bits import ONE, lowest, popcount
from games.chess.files.fen import fen
from games.chess.rules import inner
from games.compile import cache
from tests.evalterms.support import REPOSITORY, engine, some_positions
from tests.support import file_with, refusal
from tuner.evaluation.engine import Counter
from tuner.evaluation.loading import load_engine, make_engine, make_layout
from tuner.parameters.writer import write_parameters

README = (REPOSITORY / "evalterms/README.md").read_text(encoding="utf-8")
EXAMPLE, WITH_HELPER, DECLARED, CURVED, PRODUCT, SCALING = re.findall(
    r"```python\n(.*?)```", README, re.DOTALL
)


def written(folder: Path, text: str, name: str = "my_terms.py") -> Path:
    return file_with(folder / name, text)


def term_file(folder: Path, body: str, head: str = "") -> Path:
    """A file with one term, `mine`, of a list of eight and a number; the body starts on line 9."""
    return written(
        folder,
        head
        + textwrap.dedent("""\
        import numpy as np
        from evalterms.term import Term
        from games.bits import lowest, popcount, without_lowest
        mine = Term("mine")
        LIST = mine.parameter("list", 8)
        NUMBER = mine.parameter("number")
        @mine.counts
        def count_mine(us, them, emit):
        """)
        + textwrap.indent(textwrap.dedent(body), "    "),
    )


def own_columns(path: Path, rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Coefficients (n, own) of a file's terms, and their labels, without those of the bundled
    terms, which take long to compile."""
    bundled = {term.name for term in load_terms("chess")}
    terms = [term for term in load_terms("chess", [path]) if term.name not in bundled]
    composition = compose("chess", terms)
    found = Counter(composition).count(rows).dense(len(composition.form.column))
    labels = make_layout("chess", [path]).labels()
    return found, labels[len(labels) - composition.size :]


def beside_bundled(path: Path, rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The same where they are counted with all bundled terms, whose counts do not change."""
    whole, bundled = make_engine("chess", [path]), engine("chess")
    found = whole.coefficients(rows).dense(len(whole.composition.form.column))
    size, inputs = (
        bundled.layout.size,
        bundled.coefficients(rows).dense(len(bundled.composition.form.column)),
    )
    assert (found[:, :size] == inputs[:, :size]).all()
    columns = np.flatnonzero(whole.composition.form.column >= size)
    return found[:, columns], whole.layout.labels()[size:]


def test_the_example_of_the_readme_counts_what_it_says(tmp_path):
    rows = some_positions("chess")[:400]
    found, labels = beside_bundled(written(tmp_path, EXAMPLE), rows)
    assert labels == [
        "advanced.rook_behind_pawn",
        *(f"advanced.knight[{rank}]" for rank in range(8)),
    ]
    for words, row in zip(rows, found, strict=True):
        board, expected = chess.Board(fen(words)), np.zeros(9)
        for colour, sign in ((chess.WHITE, 1), (chess.BLACK, -1)):
            for knight in board.pieces(chess.KNIGHT, colour):
                expected[1 + (knight // 8 if colour else 7 - knight // 8)] += sign
            for rook in board.pieces(chess.ROOK, colour):
                expected[0] += sign * any(
                    pawn % 8 == rook % 8 and (pawn > rook) == colour
                    for pawn in board.pieces(chess.PAWN, colour)
                )
        assert row.tolist() == expected.tolist()


@pytest.mark.long
def test_the_helper_of_the_readme_compiles(tmp_path):
    rows = some_positions("chess")[:200]
    found, labels = own_columns(written(tmp_path, WITH_HELPER), rows)
    assert labels == ["wings.lonely_bishop"]
    assert found.any()


@pytest.mark.long
def test_the_example_of_a_declaration_counts_what_it_says(tmp_path):
    rows = some_positions("chess")[:200]
    path = written(tmp_path, DECLARED)
    found, labels = own_columns(path, rows)
    assert labels == ["chains.links", "chains.outposts"]
    assert [each.reads for each in make_engine("chess", [path]).composition.terms[-1].counting] == [
        "pawns and kings",
        None,
    ]
    for words, row in zip(rows, found, strict=True):
        board, expected = chess.Board(fen(words)), np.zeros(2)
        for colour, sign in ((chess.WHITE, 1), (chess.BLACK, -1)):
            pawns = board.pieces(chess.PAWN, colour)
            for column, kind in enumerate((chess.PAWN, chess.KNIGHT)):
                expected[column] += sign * sum(
                    bool(board.attackers(colour, square) & pawns)
                    for square in board.pieces(kind, colour)
                )
        assert (row == expected).all()


@pytest.mark.long
def test_the_example_that_is_not_linear_counts_what_both_sides_attack(tmp_path):
    rows = some_positions("chess")[:200]
    path = written(tmp_path, CURVED)
    assert make_engine("chess", [path]).composition.curved[-1] == "danger"
    found, labels = own_columns(path, rows)
    assert labels == ["danger.attacks"]
    for words, row in zip(rows, found, strict=True):
        board, expected = chess.Board(fen(words)), []
        for colour in (chess.BLACK, chess.WHITE):
            attacked = chess.SquareSet()
            for square in chess.SquareSet(board.occupied_co[colour]):
                attacked |= board.attacks(square)
            expected.append(len(attacked & board.attacks(board.king(not colour))))
        assert row.tolist() == expected[::-1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "label"), [(PRODUCT, "storm.attackers"), (SCALING, "drawish.no_pawns")]
)
def test_the_examples_of_products_and_scales_count_for_both_sides(tmp_path, text, label):
    found, labels = own_columns(written(tmp_path, text), some_positions("chess"))
    assert labels[0] == label and found.shape[1] == 2 * len(labels)
    assert found[:, 0].any() and found[:, len(labels)].any()


def test_the_readme_names_every_field_and_helper():
    named = set(re.findall(r"`(\w+)(?:\([\w, ]*\))?`", README))
    sources = [
        ast.parse((REPOSITORY / path).read_text())
        for path in ("games/bits.py", "evalterms/chess/squares.py")
    ]
    helpers = {
        node.name for source in sources for node in source.body if isinstance(node, ast.FunctionDef)
    }
    assert len(helpers) > 12
    assert set(Side._fields) | helpers <= named


def test_parameters_that_a_file_lacks_are_named_and_added_as_zeros(tmp_path):
    path = written(tmp_path, EXAMPLE)
    assert re.search(
        r"lacks advanced.rook_behind_pawn, advanced.knight; .*--add-missing",
        refusal(load_engine, "classic", [path]),
    )
    whole, parameters = load_engine("classic", [path], add_missing=True)
    write_parameters(tmp_path / "mine.yaml", parameters)
    again = load_engine(tmp_path / "mine.yaml", [path])[1]
    rows = some_positions("chess")[:50]
    classic, start = load_engine("classic")
    assert (whole.evaluate(rows, again) == classic.evaluate(rows, start)).all()
    every = engine("chess")
    said = f"{start.layout.size} columns, expected {every.layout.size}"
    assert re.search(said, refusal(every.evaluate, rows, start, error=ValueError))


def test_a_file_serves_another_game(tmp_path):
    path = term_file(tmp_path, "emit(LIST + popcount(us.marks), 1)")
    whole = make_engine("tictactoe", [path])
    found = whole.coefficients(whole.game.position("x.o/.x./... o")[None]).dense(whole.layout.size)
    assert found[0, -9:].tolist() == [0, -1, 1, 0, 0, 0, 0, 0, 0]


def complaint(path: Path) -> str:
    text = refusal(make_engine, "chess", [path])
    assert str(path) in text
    return text.removeprefix(str(path))


START = "(in 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1')"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "emit(NUMBER + 1, 1)",
            f":9: term mine: index 1 is outside mine.number, expected 0 to 0 {START}",
        ),
        (
            "emit(LIST - 1, 1)",
            f":9: term mine: index -1 is outside mine.list, expected 0 to 7 {START}",
        ),
        (
            "emit(popcount(us.pawns) + LIST, 1)",
            f":9: term mine: index 8 is outside mine.list, expected 0 to 7 {START}",
        ),
        ("emit(-1, 1)", f":9: term mine: index -1 is outside mine, expected 0 to 8 {START}"),
        ("emit(9, 1)", f":9: term mine: index 9 is outside mine, expected 0 to 8 {START}"),
        ("emit(NUMBER, 0.5)", f":9: term mine: the count 0.5 is not a whole number {START}"),
        (
            "emit(NUMBER, 8 * popcount(us.pieces))",
            (
                ":9: term mine: count 128 does not fit into eight bits, expected -128 to 127;"
                f" count in larger units {START}"
            ),
        ),
        (
            "x = 0\nemit(NUMBER, 1 // x)",
            f":10: term mine: ZeroDivisionError: integer division or modulo by zero {START}",
        ),
        (
            "emit(NUMBER, popcount(us.pwns))",
            f":9: term mine: AttributeError: 'Side' object has no attribute 'pwns' {START}",
        ),
        (
            "return 5",
            f": term mine: it returns something, expected only calls of emit(index, count) {START}",
        ),
    ],
)
def test_what_fails_in_plain_python_is_one_line_with_file_term_and_position(
    tmp_path, body, expected
):
    assert complaint(term_file(tmp_path, body)) == expected


def test_counts_that_add_up_to_too_much_are_found_in_play(tmp_path):
    text = complaint(
        term_file(tmp_path, "for _ in range(popcount(us.pieces)):\n    emit(NUMBER, 40)\n")
    )
    assert re.match(
        r": term mine: number adds up to -?\d+, expected -128 to 127; count in larger units \(in '",
        text,
    )


def test_an_index_that_is_wrong_in_rare_positions_only_is_found(tmp_path):
    text = complaint(term_file(tmp_path, "if popcount(us.queens) == 2:\n    emit(LIST + 8, 1)\n"))
    assert text.startswith(":10: term mine: index 8 is outside mine.list, expected 0 to 7 (in '")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "emit(NUMBER, popcount(us.pawns & 255))",
            (
                ":9: term mine: mixes a set of squares (uint64) and a plain integer; use"
                " np.uint64(...) or a constant of games.bits"
            ),
        ),
        (
            "emit(NUMBER, (lambda x: x)(8))",
            (
                ":9: term mine: cannot be compiled: a function, lambda or comprehension inside a"
                " term cannot be compiled; write a loop"
            ),
        ),
        (
            "x = 1\nemit(NUMBER, helper(x))",
            (
                ":10: term mine: cannot be compiled: helper is not compiled; a helper function"
                " needs a decorator with its types, such as @inner('uint64(uint64)')"
            ),
        ),
        ("f'{us.pawns:x}'", ":9: term mine: cannot be compiled: "),
        (
            "if popcount(us.queens) > 64:\n    emit(NUMBER, popcount(us.pawns) / 2)",
            ":10: term mine: the emitted count is a float64, expected a whole number",
        ),
    ],
)
def test_what_cannot_be_compiled_is_one_line_with_the_place(tmp_path, monkeypatch, body, expected):
    monkeypatch.setattr(check, "_try_out_apart", lambda game, path: None)  # it runs in plain Python
    path = term_file(tmp_path, body)
    path.write_text(path.read_text() + "\ndef helper(x):\n    return x\n")
    assert complaint(path).startswith(
        expected
    )  # behind it follows what Numba says, which depends on the version of Python


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "from evalterms.term import Term\nx = Term('My term')\n",
            (
                ":2: ValueError: term name 'My term' must consist of lower-case letters, digits and"
                " underscores"
            ),
        ),
        (
            "from evalterms.term import Term\nx = Term('x')\nx.parameter('A')\n",
            (
                ":3: ValueError: parameter name 'A' must consist of lower-case letters, digits and"
                " underscores"
            ),
        ),
        (
            "from evalterms.term import Term\nx = Term('x')\nx.parameter('a')\nx.parameter('a')\n",
            ":4: ValueError: x.a is declared twice",
        ),
        (
            "from evalterms.term import Term\nx = Term('x')\nx.parameter('a', 0)\n",
            ":3: ValueError: x.a has shape (0,), expected lengths of at least one",
        ),
        (
            "from evalterms.term import Term\nx = Term('x')\nx.parameter('a')\n",
            ": term 'x' has no function that counts; decorate one with @x.counts",
        ),
        ("from evalterms.term import Term\n\ndef broken(:\n", ":3: SyntaxError: invalid syntax"),
        (
            "import nothing_of_that_name\n",
            ":1: ModuleNotFoundError: No module named 'nothing_of_that_name'",
        ),
        (
            "import games.chess.attacks\n",
            (
                ":1: ModuleNotFoundError: No module named 'games.chess.attacks'; it is"
                " games.chess.rules.attacks now"
            ),
        ),
        ("raise SystemExit(3)\n", ":1: SystemExit: 3"),
        ("a = 1\n", ': defines no term; start with `my_term = Term("my_term")`'),
        (
            EXAMPLE.replace('"advanced"', '"pawns"'),
            ": two terms are named 'pawns'; rename this one",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, text, expected):
    assert complaint(written(tmp_path, text)) == expected


def test_a_missing_file_is_named(tmp_path):
    assert (
        complaint(tmp_path / "none.py") == ": no such file; --terms takes a Python file with terms"
    )


@pytest.mark.long
def test_a_loop_without_end_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(check, "SECONDS", 2)
    text = complaint(term_file(tmp_path, "while us.king:\n    pass\n"))
    assert text == ": not done after 2 CPU s in plain Python; does a loop never end?"


def test_a_file_is_tried_once_for_each_version(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALTUNE_CACHE", str(tmp_path / "cache"))
    tried = []
    monkeypatch.setattr(check, "_try_out_apart", lambda game, path: tried.append(path.read_text()))
    path = tmp_path / "my_terms.py"
    for text in ("# one\n", "# one\n", "# two\n", "# one\n", "# two\n"):
        check.verify("chess", written(tmp_path, text), [])
    assert tried == ["# one\n", "# two\n"]
    assert path.exists() and cache.cache_home() == tmp_path / "cache"


def test_an_edit_within_the_same_second_is_seen(tmp_path):
    path = term_file(tmp_path, "emit(NUMBER, 1)")
    assert make_layout("chess", [path]).labels()[-1] == "mine.number"
    written(tmp_path, path.read_text().replace('"number"', '"figure"'))
    assert make_layout("chess", [path]).labels()[-1] == "mine.figure"


def signed_mask(us, them, emit):
    emit(0, popcount(us.pawns & 255))


def added(us, them, emit):
    emit(0, popcount(us.pawns + 1))


def with_a_square(us, them, emit):
    emit(0, popcount(us.pawns | lowest(us.king)))


def in_place(us, them, emit):
    squares = us.pawns
    squares |= 1
    emit(0, popcount(squares))


def compared(us, them, emit):
    emit(0, 1 if us.pawns < 1024 else 0)


@inner("uint64(uint64)")
def helper(squares):
    return squares ^ 7


def in_a_helper(us, them, emit):
    emit(0, popcount(helper(us.pawns)))


def half(us, them, emit):
    emit(0, popcount(us.pawns) / 2)


def unclear(us, them, emit):
    emit(0, popcount(us.pwns))


def shifted(us, them, emit):
    emit(0, popcount(us.pawns << 8 & ~us.king | us.pawns >> lowest(us.king)))


def with_nothing(us, them, emit):
    if us.pawns & us.queens == 0 and us.king != 0:
        emit(0, popcount(us.pawns ^ ONE))


def found(function) -> list[tuple[str, str]]:
    term = Term("tried")
    term.parameter("number")
    term.counts(function)
    return list(complaints(term, view))


@pytest.mark.parametrize(
    ("function", "line"),
    [(signed_mask, 1), (added, 1), (with_a_square, 1), (in_place, 2), (compared, 1)],
)
def test_mixing_squares_with_an_integer_is_found_with_its_line(function, line):
    ((place, text),) = found(function)
    assert place == f"{__file__}:{function.__code__.co_firstlineno + line}"
    assert "mixes" in text


def test_mixing_in_a_helper_is_found():
    ((place, _),) = found(in_a_helper)
    assert place == f"{__file__}:{helper.py_func.__code__.co_firstlineno + 2}"


def test_a_count_that_is_no_integer_is_found():
    assert [text for _, text in found(half)] == [
        "the emitted count is a float64, expected a whole number"
    ]


def test_code_without_types_is_one_line_with_its_place():
    assert found(unclear) == [
        (
            f"{__file__}:{unclear.__code__.co_firstlineno + 1}",
            "cannot be compiled: Side has no field pwns",
        )
    ]


@pytest.mark.parametrize("function", [shifted, with_nothing])
def test_shifts_and_comparisons_with_zero_are_no_traps(function):
    assert found(function) == []
