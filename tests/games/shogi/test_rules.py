"""The rules of shogi: published perft counts, and cshogi as a second implementation."""

import numpy as np
import pytest

from tests.support import refusal

cshogi = pytest.importorskip("cshogi")

from games.shogi.files import sfen  # noqa: E402
from games.shogi.files import sfen as notation  # noqa: E402
from games.shogi.rules import endings, movegen, position  # noqa: E402
from games.shogi.rules import endings as declaration  # noqa: E402
from tests.games.shogi import against_cshogi  # noqa: E402

PERFT = {
    "startpos": (30, 900, 25_470, 719_731, 19_861_490, 547_581_517),
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1": (
        207,
        28_684,
        4_809_015,
        516_925_165,
    ),
    "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1": (593, 105_677, 53_393_368),
    "7k1/9/9/9/l2s5/6snb/9/9/8K b 2G 1": (
        76,
        2_606,
        201_658,
        6_768_869,
    ),  # forced promotion of knights
    "7lk/9/8S/9/9/9/9/7L1/8K b P 1": (85, 639, 10_786, 167_089),  # mate by a dropped pawn
}
SPARSE = [
    "4k4/9/9/9/9/9/9/9/4K4 b RG 1",
    "4k4/9/4G4/9/9/9/9/9/4K3R b - 1",
    "8k/9/9/9/9/9/9/9/K8 w 2r 1",
    "3gkg3/4p4/9/9/9/9/9/4P4/3GKG3 b RBrb 1",
    "lnsgkgsnl/9/9/9/9/9/9/9/LNSGKGSNL b - 1",
]
CAMP = "4K4/+R+B+P+P+P+P+P+P+P/+P8/9/9/9/9/9/4k4"


@pytest.mark.parametrize("text", PERFT)
def test_perft_gives_the_published_counts(text):
    words = sfen.position(text)
    for depth, count in enumerate(PERFT[text], 1):
        if count < 60_000_000:
            assert movegen.perft(words, depth) == count
        if count < 3_000_000:
            assert movegen.perft(words, depth, bulk=False) == count


def test_random_games_have_the_legal_moves_and_texts_that_cshogi_gives():
    ends = against_cshogi.play_games(3_000, seed=1)
    assert ends[endings.MATE] > 0


def test_games_end_as_cshogi_says():
    ends = against_cshogi.end_games(SPARSE, 60, seed=2)
    assert ends[endings.REPETITION] > 5
    assert ends[endings.PERPETUAL_CHECK] > 2
    assert ends[endings.MATE] > 0


def line_of(text: str, moves: str) -> list[np.ndarray]:
    line = [sfen.position(text)]
    for name in moves.split():
        line.append(against_cshogi.after(line[-1], notation.move_named(line[-1], name)))
    return line


def test_the_fourth_occurrence_draws_and_the_third_does_not():
    cycle = "5i5h 5a5b 5h5i 5b5a "
    assert endings.result(line_of("startpos", cycle * 2)) is None
    assert endings.ending(line_of("startpos", cycle * 3)) == (0, endings.REPETITION)
    assert endings.ending(line_of("startpos", "1g1f 1c1d " + cycle * 3)) == (0, endings.REPETITION)


def test_who_gives_perpetual_check_loses():
    start = "7k1/9/9/9/9/9/9/9/4K3R b - 1"
    line = line_of(start, "1i2i 2a1a 2i1i 1a2a " * 3)
    assert endings.ending(line) == (-1, endings.PERPETUAL_CHECK)
    assert endings.ending(line[:-1]) is None
    # every second move of the cycle gives no check
    assert endings.ending(line_of(start, "1i2i " + "2a1a 2i3i 1a2a 3i2i " * 3)) == (
        0,
        endings.REPETITION,
    )


@pytest.mark.parametrize(
    ("text", "wins"),
    [
        (f"{CAMP} b - 1", False),  # 18 points
        (f"{CAMP} b RB 1", True),  # 28
        (f"{CAMP} b R5P 1", True),
        (f"{CAMP} b R4P 1", False),  # 27 are too few for Black
        ("4K4/9/9/9/9/9/8+p/+r+b+p+p+p+p+p+p+p/4k4 w r4p 1", True),  # and enough for White
        ("4K4/9/9/9/9/9/8+p/+r+b+p+p+p+p+p+p+p/4k4 w r3p 1", False),
        ("4K4/+R+B+P+P+P+P+P+P+P/9/9/9/9/9/9/4k4 b RB8P 1", False),  # nine men in the camp
        ("4K4/+R+B+P+P1+P+P+P+P/+P+P7/9/4r4/9/9/9/4k4 b B9P 1", False),
    ],
)  # in check
def test_declaration_by_27_points(text, wins):
    words = sfen.position(text)
    assert bool(declaration.declares(words)) == wins == cshogi.Board(text).is_nyugyoku()


def test_pawn_drops_that_mate_are_illegal_and_those_that_do_not_are_legal():
    mating = sfen.position("7lk/9/8S/9/9/9/9/7L1/8K b P 1")
    assert "P*1b" not in [notation.move_name(mating, move) for move in movegen.moves_of(mating)]
    harmless = sfen.position("8k/9/8S/9/9/9/9/9/8K b P 1")
    assert "P*1b" in [notation.move_name(harmless, move) for move in movegen.moves_of(harmless)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "0 fields in '', expected board, side to move, hands and move number"),
        ("openings", "1 field in 'openings', expected board, side to move, hands and move number"),
        ("9/9/9 b - 1", "3 ranks in '9/9/9', expected 9"),
        ("k8/9/9/9/9/9/9/9/K7 b - 1", "rank 'K7' has 8 squares, expected 9"),
        ("k8/9/9/9/9/9/9/9/K9 b - 1", "rank 'K9' has 10 squares, expected 9"),
        (
            "k7+K/9/9/9/9/9/9/9/9 b - 1",
            "'+K' in rank 'k7+K', expected one of 1-9, PLNSGBRK, or + before PLNSBR",
        ),
        ("k8/9/9/9/9/9/9/9/K8 x - 1", "side to move 'x', expected b or w"),
        (
            "k8/9/9/9/9/9/9/9/K8 b PQ 1",
            "hands 'PQ', expected - or men such as 2Pb, each after its number",
        ),
        ("k8/9/9/9/9/9/9/9/K8 b PP 1", "hands 'PP' name P twice"),
        ("k8/9/9/9/9/9/9/9/K8 b 19P 1", "19 pawns in hand, expected at most 18"),
        ("k8/9/9/9/9/9/9/9/K8 b 18Pp 1", "19 men are pawns, expected at most 18"),
        ("k8/9/9/9/9/9/9/9/K8 b - x", "move number 'x', expected 1 to 65535"),
        ("kP7/9/9/9/9/9/9/9/K8 b - 1", "the pawn on 8a can never move again"),
        ("k8/1N7/9/9/9/9/9/9/K8 b - 1", "the knight on 8b can never move again"),
        ("k8/9/1P7/1P7/9/9/9/9/K8 b - 1", "two unpromoted pawns of one side are on file 8"),
        ("kk7/9/9/9/9/9/9/9/K8 b - 1", "White has 2 kings"),
        (
            "9/9/4P4/9/9/9/9/9/9 b G 1",
            ("there is no king on the board, expected both kings, or one in a mate problem"),
        ),
        ("k8/R8/9/9/9/9/9/9/K8 b - 1", "the side that is not to move is in check"),
    ],
)
def test_what_is_no_position_is_refused_in_one_line(text, fault):
    assert refusal(sfen.position, text, error=ValueError) == fault


@pytest.mark.parametrize("board", ["7lk/9/8S/9/9/9/9/9/9", "9/9/9/9/9/9/8s/9/7LK"])
@pytest.mark.parametrize("side", "bw")
def test_mate_problems_lack_the_king_of_one_side_whoever_moves(board, side):
    text = f"{board} {side} Gg 1"
    for move in against_cshogi.compare(sfen.position(text), cshogi.Board(text)):
        after = against_cshogi.after(sfen.position(text), move)
        against_cshogi.compare(after, cshogi.Board(sfen.text(after)))


def test_the_constant_start_is_the_parsed_one():
    assert np.array_equal(position.START, sfen.position("startpos"))
