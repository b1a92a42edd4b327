"""Hui's boards against python-chess, with colours exchanged, and on boards with too many pieces."""

import chess
import numpy as np
import pytest

from evalterms.chess.encodings import COMPRESSED, ENCODINGS, ROOM
from evalterms.encoding import encoding_named, encodings_of
from games.chess.fen import position
from tests.tuner.networks.support import counts_of_positions

WIDTHS = {"bitboard768": 768, "mailbox64": 64, "antisymmetric384": 384, "pieces384": 384, "pieces192": 192, "compressed200": 200,
          "compressed100": 100}
ORDER = [chess.PAWN, chess.ROOK, chess.KNIGHT, chess.BISHOP, chess.QUEEN, chess.KING]


def boards(n: int) -> list[chess.Board]:
    """Positions of random games, and one with nine queens and many rooks."""
    random, found = np.random.default_rng(3), [chess.Board("QQQQQQQ1/8/rrrrr3/8/8/8/P6k/K7 b - - 0 1")]
    while len(found) < n:
        board = chess.Board()
        while not board.is_game_over() and len(found) < n:
            moves = list(board.legal_moves)
            board.push(moves[random.integers(len(moves))])
            found.append(board.copy(stack=False))
    return found


def expected(name: str, board: chess.Board) -> np.ndarray:
    """The counts, from the board as the side to move sees it."""
    seen = board if board.turn else board.mirror()
    squares = [(k, ours, square) for k, kind in enumerate(ORDER) for ours in (True, False)
               for square in sorted(seen.pieces(kind, ours))]
    if name == "mailbox64":
        found = np.zeros(64)
        for k, ours, square in squares:
            found[square] = (k + 1) * (1 if ours else -1)
    elif name == "bitboard768":
        found = np.zeros((2, 6, 64))
        for k, ours, square in squares:
            found[0 if ours else 1, k, square] = 1
    elif name == "antisymmetric384":
        found = np.zeros((6, 64))
        for k, ours, square in squares:
            found[k, square] = 1 if ours else -1
    else:
        room = ROOM if name.startswith("pieces") else COMPRESSED
        parts = []
        for k, most in enumerate(room):
            for ours in (True, False):
                listed = [square for j, own, square in squares if (j, own) == (k, ours)][:most]
                ranks, files = ([of(square) + 1 for square in listed] for of in (chess.square_rank, chess.square_file))
                rows = [(r, f) if name.endswith(("192", "100")) else (r, 9 - r, f, 9 - f)
                        for r, f in zip(ranks, files, strict=True)]
                width = 2 if name.endswith(("192", "100")) else 4
                parts.append(np.array(rows + [(0,) * width] * (most - len(rows))))
        found = np.concatenate(parts)
    return found.ravel()


@pytest.mark.parametrize("name", WIDTHS)
def test_counts_are_those_of_the_board(name):
    encoding = ENCODINGS[name]
    assert encoding.size == WIDTHS[name] and encoding.for_mover
    some = boards(150)
    counts = counts_of_positions(encoding, np.array([position(board.fen()) for board in some]))
    for board, row in zip(some, counts, strict=True):
        assert row.tolist() == expected(name, board).tolist(), board.fen()


@pytest.mark.parametrize("name", WIDTHS)
def test_colours_can_be_exchanged(name):
    some = boards(50)
    white, black = (counts_of_positions(ENCODINGS[name], np.array([position(board.fen()) for board in each]))
                    for each in (some, [board.mirror() for board in some]))
    assert (white == black).all()


def test_they_are_found_by_game_and_name():
    assert list(encodings_of("chess")) == list(WIDTHS)
    assert encodings_of("shogi") == {} == encodings_of("nowhere")
    with pytest.raises(ValueError, match="chess has no encoding 'board'; available: bitboard768, mailbox64"):
        encoding_named("chess", "board")
    with pytest.raises(ValueError, match="shogi has no encodings for networks"):
        encoding_named("shogi", "board")
