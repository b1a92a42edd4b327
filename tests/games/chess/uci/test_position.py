"""The games set by `position`, checked by python-chess."""

from __future__ import annotations

import random

import chess
import pytest

from games.chess.fen import position
from games.chess.uci.line import Line
from tests.games.chess.uci.support import check_info
from tests.games.support import random_lines


def test_a_rejected_move_leaves_the_whole_old_line_as_it_was():
    line = Line()
    line.set("8/8/8/8/8/8/k1K5/6R1 w - - 0 1", ["g1g2"])
    before = [words.copy() for words in line.playable()]
    for start, names in (("8/8/8/8/8/8/k1K5/6R1 w - - 0 1", ["g1g2", "a2a9"]), ("junk", [])):
        with pytest.raises(ValueError):
            line.set(start, names)
        assert [list(words) for words in line.playable()] == [list(words) for words in before]


@pytest.mark.parametrize("chess960", [False, True])
def test_lines_that_grow_shrink_and_branch_are_those_of_python_chess(chess960):
    rng, line = random.Random(3), Line()
    for start, moves in random_lines(3, 6, 80, chess960):
        names, board = [], start.copy()
        for move in moves:
            names.append(board.uci(move, chess960=chess960))
            board.push(move)
        for _ in range(4):
            n = rng.randrange(len(moves) + 1)
            line.set(start.fen(), names[:n])
            board = start.copy()
            for move in moves[:n]:
                board.push(move)
            wanted = [board.fen()]
            while board.halfmove_clock and board.move_stack:
                board.pop()
                wanted.append(board.fen())
            assert [list(words) for words in line.playable()] == [list(position(fen)) for fen in reversed(wanted)]


def test_in_chess960_castling_is_written_and_read_as_king_takes_rook(talk):
    fen = "4k3/8/8/8/8/8/7P/5KRQ w G - 0 1"  # f1g1 can mean castling alone
    talk.ask("setoption name UCI_Chess960 value true")
    assert talk.best(f"position fen {fen}", "go depth 3 searchmoves f1g1")[0] == "f1g1"
    step = "rk5r/8/8/8/8/8/8/R4K1R w Hha - 0 1"
    assert talk.best(f"position fen {step}", "go depth 3 searchmoves f1g1")[0] == "f1g1"
    assert talk.best(f"position fen {step}", "go depth 3 searchmoves f1h1")[0] == "f1h1"
    check_info(talk.heard[:-1], chess.Board(step, chess960=True), chess960=True)
    usual = "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert talk.best(f"position {usual}", "go depth 3 searchmoves e1h1")[0] == "e1h1"
    talk.ask("setoption name UCI_Chess960 value false")
    assert talk.best(f"position {usual}", "go depth 3 searchmoves e1h1")[0] == "e1g1"


def test_where_a_king_may_step_or_castle_the_name_means_the_step():
    line, fen = Line(), "1k6/8/8/8/8/8/8/5K1R w K - 0 1"
    for name, king, rook in (("f1g1", chess.G1, chess.H1), ("f1h1", chess.G1, chess.F1)):
        line.set(fen, [name])
        board = chess.Board(fen, chess960=True)
        board.push(chess.Move.from_uci(name))
        assert (board.piece_type_at(king), board.piece_type_at(rook)) == (chess.KING, chess.ROOK)
        assert list(line.playable()[-1]) == list(position(board.fen()))


def test_repetitions_in_the_game_are_known_to_the_search(talk):
    """White is lost but for the third occurrence of the position."""
    start = "fen 7k/8/8/8/8/8/q7/7K b - - 0 1"
    talk.best(f"position {start} moves a2b2 h1g1 b2a2 g1h1 a2b2 h1g1 b2a2", "go depth 5")
    assert "score cp 0" in talk.heard[-2]
