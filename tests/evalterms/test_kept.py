"""Functions declared to read only pawns and kings: what they count, their sums in the search's
table, wrong declarations."""

import ctypes
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from evalterms.framework.compose import compose, load_terms, require_known
from evalterms.framework.emit import pack
from evalterms.term import Term
from games.chess.rules.position import BISHOP, KNIGHT, QUEEN, ROOK
from games.search.context import SUMS
from games.search.searcher import Limits
from tests.evalterms.support import engine, linear_columns, scores, some_positions
from tests.support import file_with, refusal
from tuner.evaluation.loading import make_engine

WORDS = 4  # of an entry of the table


def native():
    address = engine("chess").composition.glue.score.address()
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        address
    )


def evaluated(positions: np.ndarray, packed: np.ndarray, table: np.ndarray | None) -> list[int]:
    evaluate, place = native(), None if table is None else table.ctypes.data
    return [evaluate(words.ctypes.data, packed.ctypes.data, place) for words in positions]


def test_evaluations_are_the_same_bits_with_kept_sums_and_without():
    positions = some_positions("chess")[
        -3000:
    ].copy()  # the last ones come from a few games, in order
    packed = pack(*np.random.default_rng(1).normal(0, 200, (2, engine("chess").layout.size)))
    expected = evaluated(positions, packed, None)
    table = np.zeros(WORDS * SUMS, np.uint64)
    for _ in range(2):  # empty at first, then full
        assert evaluated(positions, packed, table) == expected
    used = np.count_nonzero(table.reshape(SUMS, WORDS)[:, 0])
    assert 100 < used <= SUMS
    turned = scores("chess", positions, packed)
    assert np.array_equal(np.abs(turned), np.abs(expected))


def test_sums_are_found_in_the_table_under_their_whole_key():
    words = some_positions("chess")[:1].copy()
    packed = pack(*(np.ones((2, engine("chess").layout.size)) * linear_columns("chess")))
    table = np.zeros(WORDS * SUMS, np.uint64)
    (value,) = evaluated(words, packed, table)
    (place,) = np.flatnonzero(table.reshape(SUMS, WORDS)[:, 0])
    table.view(np.int64)[WORDS * place + 2] += (256 << 32) + 256  # a centipawn more in both stages
    (changed,) = evaluated(words, packed, table)
    assert abs(changed - value) == 256
    for part in range(2):  # an entry of other pawns or kings in the same place
        other = table.copy()
        other[WORDS * place + part] ^= np.uint64(1 << 20)
        assert evaluated(words, packed, other) == [value]


def test_other_weights_never_see_the_sums_of_the_old_ones():
    whole = engine("chess")
    first, second = (
        np.random.default_rng(seed).normal(0, 100, (2, whole.layout.size)) for seed in (2, 3)
    )
    packed, other = pack(*first), pack(*second)
    position = some_positions("chess")[0]
    searcher = whole.game.contest.searcher(
        whole.composition.glue.score.address(), packed.ctypes.data, False, 50.0, 1
    )
    before = searcher.search([position], Limits(depth=2)).value
    searcher.bind(whole.composition.glue.score.address(), other.ctypes.data)
    searcher.clear()
    fresh = whole.game.contest.searcher(
        whole.composition.glue.score.address(), other.ctypes.data, False, 50.0, 1
    )
    assert (
        searcher.search([position], Limits(depth=2)).value
        == fresh.search([position], Limits(depth=2)).value
        != before
    )


def declared() -> list[tuple[Term, object]]:
    return [
        (term, each)
        for term in load_terms("chess")
        for each in term.counting
        if each.reads is not None
    ]


def test_there_are_declared_functions_in_three_terms():
    assert {term.name for term, _ in declared()} == {"king", "pawns", "piece_square"}


def test_the_other_pieces_do_not_change_what_declared_functions_count():
    """A second derivation of the declaration: terms of the declared functions alone, on positions
    with and without the pieces."""
    parts = []
    for term, each in declared():
        part = Term(term.name, list(term.parameters))
        part.counting.append(each)
        parts.append(part)
    composition = compose("chess", parts)
    positions = some_positions("chess")[:1500].copy()
    bare = positions.copy()
    kept = bare[:, 2] | bare[:, 7]
    bare[:, 0] &= kept
    bare[:, 1] &= kept
    for kind in (KNIGHT, BISHOP, ROOK, QUEEN):
        bare[:, 1 + kind] = 0
    size = sum(part.size for part in parts)
    # equal stages: the phase has no effect
    packed = pack(*np.tile(np.random.default_rng(5).normal(0, 100, size), (2, 1)))
    found = [np.zeros(len(positions), np.int64) for _ in range(2)]
    for rows, out in zip((positions, bare), found, strict=True):
        composition.glue.scores(rows, packed, out)
    assert (found[0] == found[1]).all() and np.unique(found[0]).size > 1000


def term_file(folder, body: str, reads: str):
    return file_with(
        folder / "mine.py",
        textwrap.dedent(f"""\
        from evalterms.term import Term
        from games.bits import popcount
        mine = Term("mine")
        NUMBER = mine.parameter("number")
        @mine.counts(reads={reads!r})
        def count_mine(us, them, emit):
            {body}
        """),
    )


@pytest.mark.long
def test_a_file_may_declare_its_functions(tmp_path):
    path = term_file(
        tmp_path, "emit(NUMBER, popcount(us.pawns & them.pawn_attacks))", "pawns and kings"
    )
    whole = make_engine("chess", [path])
    rows = some_positions("chess")[:300]
    found = whole.coefficients(rows).dense(len(whole.composition.form.column))[
        :, whole.layout.size - 1
    ]
    assert found.any()
    text = Path(whole.composition.glue.__file__).read_text(encoding="utf-8")
    kept = re.search(r"def add_up_kept.*?\n\n", text, re.DOTALL)[0]
    assert f"term_{len(whole.composition.terms) - 1}_0(" in kept


@pytest.mark.parametrize(
    ("body", "reads", "expected"),
    [
        (
            "emit(NUMBER, popcount(us.knights))",
            "pawns and kings",
            (
                ":7: term mine: count_mine is declared with reads='pawns and kings', so its sides"
                " have no knights, only pawns, king, pawn_attacks, king_attacks (in "
            ),
        ),
        (
            "emit(NUMBER, popcount(us.pawns))",
            "rooks",
            (
                ": term mine: count_mine is declared with reads='rooks'; expected 'pawns and"
                " kings' or nothing"
            ),
        ),
    ],
)
def test_a_wrong_declaration_is_one_line(tmp_path, body, reads, expected):
    path = term_file(tmp_path, body, reads)
    said = refusal(make_engine, "chess", [path])
    assert said.startswith(f"{path}{expected}")


def test_a_game_without_such_declarations_refuses_them():
    term = Term("mine")
    term.counts(reads="pawns and kings")(lambda us, them, emit: None)
    assert "expected nothing in this game" in refusal(
        require_known, term, compose("tictactoe", load_terms("tictactoe")).glue, error=ValueError
    )
