"""FEN: every fault has its sentence, castling is read in both notations, en passant is kept only
where it is legal."""

import random

import chess
import numpy as np
import pytest

from games.chess.files import faults
from games.chess.files.fen import START, fen, fens, position
from games.chess.rules.position import START as START_WORDS
from tests.support import refusal

BAD = {
    faults.FEN_PLACEMENT: [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8 w KQkq - 0 1",
        "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/7/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNRR w KQkq - 0 1",
        "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/0/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "",
        "hello",
        "-",
        "/",
        "é",
    ],
    faults.FEN_SIDE: [
        "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 W - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 - - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 wKQ - 0 1",
        "4k3/8/8/8/8/8/8/4K3 white - - 0 1",
    ],
    faults.FEN_CASTLING: [
        "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
        "4k3/8/8/8/8/8/8/R3K3 w K - 0 1",
        "4k2r/8/8/8/8/8/8/4K3 w q - 0 1",
        "4k3/8/8/8/8/8/4K3/7R w K - 0 1",
        "4k3/8/8/8/8/8/8/4K2R w G - 0 1",
        "4k3/8/8/8/8/8/8/4K2R w Kx - 0 1",
        "4k3/8/8/8/8/8/8/4K2R w K- - 0 1",
    ],
    faults.FEN_EN_PASSANT: [
        "4k3/8/8/3pP3/8/8/8/4K3 w - d3 0 1",
        "4k3/8/8/3pP3/8/8/8/4K3 w - i6 0 1",
        "4k3/8/8/3pP3/8/8/8/4K3 w - d 0 1",
        "4k3/8/8/3pP3/8/8/8/4K3 w - d66 0 1",
        "4k3/8/8/3pP3/8/8/8/4K3 w - -d6 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - 0 1",
        "4k3/8/8/8/3pP3/8/8/4K3 b - e6 0 1",
    ],
    faults.FEN_KINGS: [
        "8/8/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/K3K3 w - - 0 1",
        "8/8/8/8/8/8/8/8 w - - 0 1",
    ],
    faults.FEN_PAWNS: ["4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/p3K3 w - - 0 1"],
    faults.FEN_MATERIAL: [
        "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1",
        "4k3/8/8/8/8/QQQQQ3/QQQQQ3/4K3 w - - 0 1",
        "4k3/nnn5/8/8/8/8/8/4K3 w - - 0 1".replace("nnn5", "nnnn4").replace(
            "8/8/8/8/8", "pppppppp/8/8/8/8"
        ),
    ],
    faults.FEN_CHECK: [
        "4k3/8/8/8/8/8/8/4R1K1 w - - 0 1",
        "4k3/8/8/8/8/8/4p3/3K4 b - - 0 1",
        "8/8/8/8/8/8/3k4/3K4 w - - 0 1",
    ],
    faults.FEN_COUNTS: [
        "4k3/8/8/8/8/8/8/4K3 w - - 3+3 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1 +0+2",
        "4k3/8/8/8/8/8/8/4K3 b - - 3+1",
    ],
    faults.FEN_SHORT: [
        "4k3/8/8/8/8/8/8/4K3",
        "4k3/8/8/8/8/8/8/4K3 w",
        "4k3/8/8/8/8/8/8/4K3 w -",
        "4k3/8/8/8/8/8/8/4K3 b - ",
    ],
}


@pytest.mark.parametrize(
    ("fault", "text"), [(fault, text) for fault, texts in BAD.items() for text in texts]
)
def test_a_bad_fen_is_refused_with_the_sentence_for_its_fault(fault, text):
    assert refusal(position, text, error=ValueError) == f"{faults.SENTENCES[fault]}: {text!r}"


def test_every_fault_of_a_fen_has_an_example_here():
    assert set(BAD) == set(range(faults.FEN_PLACEMENT, faults.FEN_SHORT + 1))


def test_the_start_is_the_position_of_its_fen():
    assert START_WORDS.tolist() == position(START).tolist()


def test_any_text_as_fen_gives_a_position_or_an_error():
    """4,000 mutated FENs: never anything but a position that python-chess calls possible, or
    ValueError."""
    rng, accepted = random.Random(7), 0
    letters = "rnbqkpRNBQKP12345678/ wb-KQkqahAH36 09x\x00\xff"
    for _ in range(4000):
        text = list(
            rng.choice(
                [START, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"]
            )
        )
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text[at : at + rng.randrange(2)] = rng.choice(letters)
        try:
            words = position("".join(text))
        except ValueError as problem:
            assert str(problem).split(":")[0] in faults.SENTENCES.values()
            continue
        accepted += 1
        board = chess.Board(fen(words), chess960=True)
        allowed = chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK
        assert not board.status() & ~allowed, ("".join(text), board.status())
    assert accepted > 100


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "KQkq"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "KQkq"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w QKqk - 0 1", "KQkq"),
        ("4k3/8/8/8/8/8/8/1R2K1RR w G - 0 1", "G"),
        ("4k3/8/8/8/8/8/8/1R2K1RR w K - 0 1", "K"),
        ("4k3/8/8/8/8/8/8/1R2K1RR w HB - 0 1", "KQ"),
        ("rr2k3/8/8/8/8/8/8/4K3 b b - 0 1", "b"),
        ("rr2k3/8/8/8/8/8/8/4K3 b q - 0 1", "q"),
        ("rr2k3/8/8/8/8/8/8/4K3 b a - 0 1", "q"),
    ],
)
def test_castling_is_read_as_x_fen_and_shredder_fen_and_written_as_x_fen(text, written):
    words = position(text)
    board = chess.Board(text, chess960=True)
    assert fen(words).split()[2] == written == board.castling_xfen()
    assert np.array_equal(words, position(fen(words)))
    assert np.array_equal(words, position(board.fen(shredder=True)))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", True),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", True),
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1", False),  # nothing to take with
        ("4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1", False),  # nothing to take
        ("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", False),  # the pawn is pinned on its file
        ("6k1/8/8/K2pP2r/8/8/8/8 w - d6 0 1", False),  # both pawns leave the rank that they shield
        ("7k/8/8/3pP3/8/8/1b6/K7 w - d6 0 1", False),  # in check from elsewhere
        ("3rk3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 1", False),  # a piece stands on the square
    ],
)
def test_en_passant_is_kept_only_where_the_capture_is_legal(text, kept):
    words = position(text)
    assert (fen(words).split()[3] != "-") == kept
    board = chess.Board(text)
    assert (board.has_legal_en_passant() and board.is_valid()) == kept


def test_en_passant_is_dropped_where_the_pawn_cannot_have_made_a_double_step():
    """The square that the pawn came from is occupied: python-chess calls the position invalid."""
    text = "4k3/3n4/8/3pP3/8/8/8/4K3 w - d6 0 1"
    assert chess.Board(text).status() & chess.STATUS_INVALID_EP_SQUARE
    assert fen(position(text)).split()[3] == "-"


@pytest.mark.parametrize(
    ("text", "clock", "number"),
    [
        ("4k3/8/8/8/8/8/8/4K3 w - -", 0, 1),
        ("4k3/8/8/8/8/8/8/4K3 w - - 17", 17, 1),
        ("4k3/8/8/8/8/8/8/4K3 w - - 17 41", 17, 41),
        ("  4k3/8/8/8/8/8/8/4K3   w  -  -  3   4  ", 3, 4),
        ("4k3/8/8/8/8/8/8/4K3 w - - 999 99999", 255, 65535),
    ],
)
def test_clock_and_number_are_optional_and_stay_in_their_range(text, clock, number):
    assert fen(position(text)).split()[4:] == [str(clock), str(number)]


def test_many_positions_are_written_as_python_chess_writes_them():
    texts = [
        "8/8/8/8/8/8/8/K1k5 w - - 99 65535",
        "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 2",
        "4k3/8/8/8/2pP4/8/8/4K3 b - d3 0 2",
    ]
    boards, rng = [chess.Board(text) for text in texts], random.Random(5)
    for number in range(200):
        board = chess.Board.from_chess960_pos(number * 4) if number % 2 else chess.Board()
        for _ in range(rng.randrange(60)):
            if moves := list(board.legal_moves):
                board.push(rng.choice(moves))
        boards.append(board)
    words = np.array([position(board.fen()) for board in boards])
    assert fens(words) == [board.fen() for board in boards] and fens(words[:0]) == []
