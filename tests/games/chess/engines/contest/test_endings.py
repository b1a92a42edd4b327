"""Drawn endings against python-chess's counts of pieces; results of tables against python-chess and
our own search."""

import itertools
import random
import re
import subprocess
import sys
from collections.abc import Iterator

import chess
import chess.syzygy
import pytest

from games.chess.engines.endings import drawn_ending
from games.record import find
from games.search.searcher import Limits
from tests.games.support import REPOSITORY
from tests.support import refusal
from tuner.evaluation.loading import load_engine

GAME = find("chess")
# KQvK, KRvK, KPvK, as python-chess has them for its own tests
TABLES = REPOSITORY / "tests" / "games" / "data" / "syzygy"
MINORS = (chess.KNIGHT, chess.BISHOP)


def boards(pieces: str, number: int, seed: int = 1) -> Iterator[chess.Board]:
    """Legal positions at random with these pieces, White's in upper case."""
    dice = random.Random(f"{pieces} {seed}")
    while number:
        board = chess.Board(None)
        for square, symbol in zip(dice.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        board.turn = dice.random() < 0.5
        if board.is_valid():
            number -= 1
            yield board


def test_drawn_endings_are_bare_minors():
    """By counts of python-chess, over all sets of up to two pieces a side."""
    kinds = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN]
    sets = [kept for n in range(3) for kept in itertools.combinations_with_replacement(kinds, n)]
    found = 0
    for white, black in itertools.product(sets, sets):
        text = (
            "K"
            + "".join(chess.piece_symbol(kind).upper() for kind in white)
            + "k"
            + "".join(map(chess.piece_symbol, black))
        )
        board = next(boards(text, 1))
        few = all(len(side) <= 1 and set(side) <= set(MINORS) for side in (white, black))
        knights = sorted((white, black)) == [(), (chess.KNIGHT, chess.KNIGHT)]
        assert drawn_ending(GAME.position(board.fen())) == (few or knights), board.fen()
        found += few or knights
    assert found == 9 + 2


def test_what_cannot_be_mated_is_over_by_the_rules_already():
    for text in ("Kk", "KNk", "Kkb", "KBkb", "KNkn", "KNNk"):
        for board in boards(text, 10):
            over = board.is_insufficient_material()
            assert drawn_ending(GAME.position(board.fen()))
            if over:
                assert GAME.result(GAME.position(board.fen())[None]) == 0


@pytest.mark.parametrize(
    ("pieces", "results"),
    [("KQk", {0, 1}), ("kqK", {-1, 0}), ("KRk", {0, 1}), ("KPk", {0, 1}), ("Kkp", {-1, 0})],
)
def test_tables_give_the_result_for_white(pieces, results):
    result, found = GAME.contest.tablebase(str(TABLES)), set()
    with chess.syzygy.open_tablebase(str(TABLES)) as tables:
        for board in boards(pieces, 300):
            wdl = tables.probe_wdl(board)
            wanted = 0 if abs(wdl) < 2 else (1 if (wdl > 0) == board.turn else -1)
            assert result(GAME.position(board.fen())) == wanted, board.fen()
            found.add(wanted)
    assert found == results


def test_forced_wins_of_a_search_are_wins_in_tables():
    engine, parameters = load_engine("classic")
    searcher, result, wins = (
        engine.searcher(parameters, False, 1),
        GAME.contest.tablebase(str(TABLES)),
        0,
    )
    for board in itertools.chain(boards("KQk", 40), boards("kqK", 40)):
        words = GAME.position(board.fen())
        if GAME.result(words[None]) is not None:
            continue
        searcher.clear()
        found = searcher.search([words], Limits(depth=5))
        if found.win_in is not None:
            wins += 1
            assert result(words) == (1 if (found.win_in > 0) == board.turn else -1), board.fen()
    assert wins > 3


def test_tables_answer_only_where_they_are_exact():
    result = GAME.contest.tablebase(str(TABLES))
    won = "8/8/4k3/8/8/8/1Q6/4K3 w - - 0 1"
    assert result(GAME.position(won)) == 1
    others = ("8/8/4k3/8/8/8/1Q5n/4K3 w - - 0 1", "8/8/4k3/8/8/8/1N6/4K3 w - - 0 1")
    for fen in (won.replace("0 1", "3 1"), chess.STARTING_FEN, *others):
        assert result(GAME.position(fen)) is None


def test_folders_without_tables_are_refused(tmp_path):
    for folder, said in (
        (tmp_path / "none", "no such folder"),
        (tmp_path, "contains no Syzygy tables"),
    ):
        assert re.search(said, refusal(GAME.contest.tablebase, str(folder)))
    (tmp_path / "KQvK.rtbw").write_bytes(b"rubbish")
    assert "KQvK.rtbw: cannot be read for 8/8" in refusal(
        GAME.contest.tablebase(str(tmp_path)), GAME.position("8/8/4k3/8/8/8/1Q6/4K3 w - - 0 1")
    )


FORGED = """
from games.chess.engines import endings
from games.chess.files.fen import position
endings.PROBE_SECONDS = 0.5
endings.tablebase({folder!r})(position("8/8/4k3/8/8/8/1Q6/4K3 w - - 0 1"))
"""


@pytest.mark.long
def test_a_forged_table_that_never_ends_is_named(tmp_path):
    """A rook in place of the queen in a table's list of pieces: python-chess looks for it on the
    board without end, here in a process of its own."""
    forged = bytearray((TABLES / "KQvK.rtbw").read_bytes())
    (queens,) = (i for i in range(5, 9) if forged[i] == 0x55)
    forged[queens] = 0x44
    (tmp_path / "KQvK.rtbw").write_bytes(forged)
    ran = subprocess.run(
        [sys.executable, "-c", FORGED.format(folder=str(tmp_path))],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=100,
    )
    line = ran.stderr.splitlines()[-1]
    assert "KQvK.rtbw: cannot be read for 8/8/4k3" in line and "(no result after 0.5 s)" in line
