"""The counts of the terms of chess against python-chess."""

from collections import Counter
from itertools import pairwise

import chess
import numpy as np
import pytest

from evalterms.chess.encodings import COMPRESSED, ENCODINGS, ROOM
from evalterms.framework.emit import pack
from evalterms.framework.encoding import encoding_named, encodings_of
from games.chess.files.fen import fen, position
from tests.evalterms.chess.brute_force import counts
from tests.evalterms.support import engine, sample_positions, some_positions
from tests.support import refusal
from tests.tuner.evaluation.networks.support import counts_of_positions

APART = engine("chess").composition.curved
NAMES = engine("chess").layout.labels()
LABELS = NAMES + [f"Black's {label}" for label in NAMES if label.split(".")[0] in APART]
# what random and real play rarely show
CRAFTED = (
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4k3/P6p/1P4p1/2P2p2/3Pp3/8/8/4K3 b - - 0 1",
    "3Q4/8/8/8/3Q4/8/k6K/3Q4 w - - 0 1",
    "k7/8/1NB5/PPPP4/pppp4/5nb1/8/7K b - - 0 1",
    "2kr4/ppp4R/8/8/8/8/PPP4r/2KR4 w - - 0 1",
    "7k/3PPP2/3pPp2/8/8/2PpP3/2ppp3/7K w - - 0 1",
    "7k/8/8/3Q4/8/8/8/K7 b - - 0 1",
    "rnbqkb1r/pp1p1pPp/8/2p1pP2/1P1P4/3P3P/P1P5/RNBQKBNR w KQkq e6 0 1",
    "r1b4r/1P1P1P1P/k5q1/8/8/1Q5K/p1p1p1p1/R1B4R w - - 0 1",
    "4k3/8/8/1N6/8/8/8/4K3 w - - 0 1",
    "8/5k2/4p3/3b4/8/2B1P3/4K3/8 w - - 0 1",
    "3rr1k1/5ppp/8/4N3/8/8/5PPP/3R2K1 w - - 0 1",
    "6k1/5ppp/8/8/8/6P1/r4P1P/3R2K1 w - - 0 1",
)


def both(board: chess.Board) -> dict[str, int]:
    """White's counts less Black's, without the zeros; of terms that are not linear both."""
    ours, theirs = counts(board, chess.WHITE), counts(board, chess.BLACK)
    found = Counter(ours)
    for label, count in theirs.items():
        found[other_side(label)] += count if apart(label) else -count
    return {label: int(count) for label, count in found.items() if count}


def apart(label: str) -> bool:
    """Whether the counts of both sides are kept."""
    return label.removeprefix("Black's ").split(".")[0] in APART


def other_side(label: str) -> str:
    return (
        label
        if not apart(label)
        else label[8:]
        if label.startswith("Black's ")
        else f"Black's {label}"
    )


def counted(rows: np.ndarray) -> list[dict[str, int]]:
    """The same, counted by the terms."""
    found = engine("chess").coefficients(rows)
    return [
        {LABELS[i]: int(n) for i, n in zip(found.index[a:b], found.count[a:b], strict=True)}
        for a, b in pairwise(found.row)
    ]


def boards(number: int, seed: int) -> np.ndarray:
    """Real and random positions (n, 10)."""
    rows = some_positions("chess")
    return rows[np.random.default_rng(seed).permutation(len(rows))[:number]]


def test_every_count_agrees_with_brute_force():
    rows = np.concatenate(
        [[position(text) for text in CRAFTED], boards(250, 1), some_positions("chess")[-250::5]]
    )
    for words, found in zip(rows, counted(rows), strict=True):
        assert found == both(chess.Board(fen(words))), fen(words)


def test_brute_force_knows_every_parameter():
    names = set()
    for text in (chess.STARTING_FEN, *CRAFTED):
        names |= {
            label.split("[")[0]
            for colour in chess.COLORS
            for label in counts(chess.Board(text), colour)
        }
    assert names == {place.path for place in engine("chess").layout.places}


def test_turning_the_board_round_negates_every_count_and_the_evaluation():
    rows = boards(400, 2)
    turned = np.array([position(chess.Board(fen(words)).mirror().fen()) for words in rows])
    assert counted(turned) == [
        {other_side(label): n if apart(label) else -n for label, n in found.items()}
        for found in counted(rows)
    ]
    glue, size = engine("chess").composition.glue, engine("chess").layout.size
    packed = pack(*np.random.default_rng(5).normal(0, 60, (2, size)))
    one, other = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    glue.scores(rows, packed, one)
    glue.scores(turned, packed, other)
    assert np.abs(one + other).max() <= 2  # rounded down, 1/256 centipawn, then scaled


def test_phase_is_that_of_pesto():
    worth = {chess.KNIGHT: 1, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 4}
    rows = np.concatenate([boards(300, 3), [position("qqqqkqqq/8/8/8/8/8/8/QQQ1K1QQ w - - 0 1")]])
    expected = [
        min(
            24,
            sum(
                worth.get(piece.piece_type, 0)
                for piece in chess.Board(fen(words)).piece_map().values()
            ),
        )
        for words in rows
    ]
    assert engine("chess").coefficients(rows).phase.tolist() == expected


# numbers that never apply, and why; everything else is seen in play
NEVER = {
    "no pawn stands on the first or the last rank": [
        *(f"piece_square.pawn[{row}][{file}]" for row in (0, 7) for file in range(8)),
        *(
            f"pawns.{name}[{row}]"
            for row in (0, 7)
            for name in (
                "defended",
                "phalanx",
                "blocked",
                "candidate",
                "passed",
                "passed_blocked",
                "passed_defended",
                "passed_safe_step",
            )
        ),
        *(f"king.{name}{beside}[7]" for name in ("shelter", "storm") for beside in ("", "_beside")),
    ],
    "no pawn stands on the first rank to defend one on the second": [
        "pawns.defended[1]",
        "pawns.passed_defended[1]",
    ],
    "no pawn stands on the last rank to stop or guard one on the seventh": [
        "pawns.blocked[6]",
        "pawns.candidate[6]",
    ],
    "a pawn on the fourth rank blocks one on the fifth, which is the enemy's fourth": [
        "pawns.blocked[3]"
    ],
}


@pytest.mark.long
def test_every_number_applies_somewhere_but_those_that_cannot():
    found = engine("chess").coefficients(sample_positions("chess"))
    seen = {LABELS[i] for i in np.unique(found.index)}
    assert set(LABELS) - seen == {label for labels in NEVER.values() for label in labels}


WIDTHS = {
    "bitboard768": 768,
    "mailbox64": 64,
    "antisymmetric384": 384,
    "pieces384": 384,
    "pieces192": 192,
    "compressed200": 200,
    "compressed100": 100,
}
ORDER = [chess.PAWN, chess.ROOK, chess.KNIGHT, chess.BISHOP, chess.QUEEN, chess.KING]


def played_boards(n: int) -> list[chess.Board]:
    """Positions of random games, and one with nine queens and many rooks."""
    random, found = (
        np.random.default_rng(3),
        [chess.Board("QQQQQQQ1/8/rrrrr3/8/8/8/P6k/K7 b - - 0 1")],
    )
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
    squares = [
        (k, ours, square)
        for k, kind in enumerate(ORDER)
        for ours in (True, False)
        for square in sorted(seen.pieces(kind, ours))
    ]
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
                ranks, files = (
                    [of(square) + 1 for square in listed]
                    for of in (chess.square_rank, chess.square_file)
                )
                rows = [
                    (r, f) if name.endswith(("192", "100")) else (r, 9 - r, f, 9 - f)
                    for r, f in zip(ranks, files, strict=True)
                ]
                width = 2 if name.endswith(("192", "100")) else 4
                parts.append(np.array(rows + [(0,) * width] * (most - len(rows))))
        found = np.concatenate(parts)
    return found.ravel()


@pytest.mark.parametrize("name", WIDTHS)
def test_counts_are_those_of_the_board(name):
    encoding = ENCODINGS[name]
    assert encoding.size == WIDTHS[name] and encoding.for_mover
    some = played_boards(150)
    counts = counts_of_positions(encoding, np.array([position(board.fen()) for board in some]))
    for board, row in zip(some, counts, strict=True):
        assert row.tolist() == expected(name, board).tolist(), board.fen()


@pytest.mark.parametrize("name", WIDTHS)
def test_colours_can_be_exchanged(name):
    some = played_boards(50)
    white, black = (
        counts_of_positions(ENCODINGS[name], np.array([position(board.fen()) for board in each]))
        for each in (some, [board.mirror() for board in some])
    )
    assert (white == black).all()


def test_they_are_found_by_game_and_name():
    assert list(encodings_of("chess")) == list(WIDTHS)
    assert encodings_of("nowhere") == {}
    assert "chess has no encoding 'board'; available: bitboard768, mailbox64" in refusal(
        encoding_named, "chess", "board", error=ValueError
    )
    assert "nowhere has no encodings for networks" in refusal(
        encoding_named, "nowhere", "board", error=ValueError
    )
