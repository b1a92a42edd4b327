"""Standard algebraic notation: written as python-chess writes it, and read back as the move it
was."""

import re
from xml.etree import ElementTree

import chess
import pytest

from games.chess.files.fen import position
from games.chess.files.san import san
from games.chess.game import GAME, moves_of
from tests.games.support import games_of_bytes, packed, random_boards, random_lines

CROWDED = [
    "2k5/8/8/8/8/1Q3Q2/8/1Q1Q3K w - - 0 1",
    "k7/P1P5/8/8/2N1N3/8/2N1N3/7K w - - 0 1",
    "1r1r4/P1P3k1/8/8/8/8/8/K7 w - - 0 1",
    "8/6k1/8/8/8/8/R6R/R2K3R w - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "7k/5Q2/8/6N1/8/8/8/K5R1 w - - 0 1",
    "4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1",  # a pinned knight needs no telling apart
]


def pgn(start: str, text: str) -> bytes:
    return f'[Event "?"]\n[FEN "{start}"]\n\n{text} *\n\n'.encode()


@pytest.mark.parametrize("chess960", [False, True])
def test_moves_are_written_as_python_chess_writes_them(chess960):
    for board in random_boards(8, 12, 100, chess960):
        words = position(board.fen())
        assert {m: san(words, m) for m in moves_of(words)} == {
            packed(board, m): board.san(m) for m in board.legal_moves
        }


@pytest.mark.parametrize("start", CROWDED)
def test_ambiguous_promoting_castling_and_mating_moves_are_written_as_python_chess_writes_them(
    start,
):
    board, words = chess.Board(start, chess960=True), position(start)
    assert {m: san(words, m) for m in moves_of(words)} == {
        packed(board, m): board.san(m) for m in board.legal_moves
    }


@pytest.mark.parametrize("start", CROWDED)
def test_every_move_that_is_written_reads_back_as_itself(start, tmp_path):
    words = position(start)
    moves = moves_of(words)
    games = games_of_bytes(b"".join(pgn(start, san(words, move)) for move in moves), tmp_path)
    assert [(game.reason, game.moves) for game in games] == [(None, [move]) for move in moves]


@pytest.mark.parametrize("chess960", [False, True])
def test_random_games_read_back_move_for_move(chess960, tmp_path):
    text, wanted = b"", []
    for start, line in random_lines(9, 60, 150, chess960):
        board, tokens, moves = start.copy(), [], []
        for move in line:
            tokens.append(
                san(position(board.fen()), packed(board, move))
                if len(wanted) < 5
                else board.san(move)
            )
            moves.append(packed(board, move))
            board.push(move)
        text += pgn(start.fen(), " ".join(tokens))
        wanted.append(moves)
    games = games_of_bytes(text, tmp_path)
    assert [game.reason for game in games] == [None] * len(wanted)
    assert [game.moves for game in games] == wanted


@pytest.mark.parametrize("chess960", [False, True])
def test_long_algebraic_and_coordinates_are_read_as_well(chess960, tmp_path):
    for style in ("uci", "lan"):
        text, wanted = b"", []
        for start, line in random_lines(10, 20, 100, chess960):
            board, tokens, moves = start.copy(), [], []
            for move in line:
                tokens.append(move.uci() if style == "uci" else board.lan(move))
                moves.append(packed(board, move))
                board.push(move)
            text += pgn(start.fen(), " ".join(tokens))
            wanted.append(moves)
        games = games_of_bytes(text, tmp_path)
        assert [(game.reason, game.moves) for game in games] == [(None, moves) for moves in wanted]


OPEN = "r3k2r/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize("token", ["e1g1", "e1h1", "O-O", "0-0", "o-o", "O-O+", "Ke1g1"])
def test_castling_has_many_spellings_or_is_refused(token, tmp_path):
    (game,) = games_of_bytes(pgn(OPEN, token), tmp_path)
    castling = packed(chess.Board(OPEN, chess960=True), chess.Move(chess.E1, chess.H1))
    if token == "Ke1g1":
        assert game.reason == "illegal move 'Ke1g1' at ply 1"
    else:
        assert (game.reason, game.moves) == (None, [castling])


@pytest.mark.parametrize("token", ["e8g8", "e8h8", "e8c8", "e8a8"])
def test_coordinates_of_the_other_side_s_king_do_not_castle(token, tmp_path):
    (game,) = games_of_bytes(pgn(OPEN, token), tmp_path)
    assert game.reason == f"illegal move {token!r} at ply 1"


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("e5", "illegal move 'e5' at ply 1"),
        ("exd3", "illegal move 'exd3' at ply 1"),
        ("Nf3", "illegal move 'Nf3' at ply 1"),
        ("Ke3", "illegal move 'Ke3' at ply 1"),
        ("Rxe1", "illegal move 'Rxe1' at ply 1"),
        ("d3=Q", "illegal move 'd3=Q' at ply 1"),
        ("Ra8=Q", "illegal move 'Ra8=Q' at ply 1"),
        ("Ri1", "'Ri1' at ply 1 is not a move"),
        ("Zf3", "'Zf3' at ply 1 is not a move"),
        ("d", "'d' at ply 1 is not a move"),
        ("d33", "'d33' at ply 1 is not a move"),
        ("--", "null move '--' at ply 1"),
        ("0000", "null move '0000' at ply 1"),
    ],
)
def test_what_is_no_legal_move_is_reported(token, reason, tmp_path):
    (game,) = games_of_bytes(pgn(OPEN, token), tmp_path)
    assert game.reason == reason


SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


@pytest.mark.parametrize(
    "text",
    [
        chess.STARTING_FEN,
        "8/8/8/4k3/8/3K4/4P3/8 b - - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "4k3/8/8/8/7b/8/8/4K3 w - - 0 1",
        "1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1",
    ],
)
def test_a_picture_shows_every_piece_on_its_square(text):
    root = ElementTree.fromstring(GAME.files.picture(GAME.position(text)))
    size = float(root.get("viewBox").split()[2]) / 8
    seen = {}
    for use in root.iter(SVG + "use"):
        x, y = map(float, re.findall(r"[\d.]+", use.get("transform")))
        seen[chess.square(round(x / size), 7 - round(y / size))] = (
            use.get(LINK) or use.get("href")
        ).lstrip("#")
    board = chess.Board(text, chess960=True)
    assert seen == {
        square: f"{chess.COLOR_NAMES[piece.color]}-{chess.piece_name(piece.piece_type)}"
        for square, piece in board.piece_map().items()
    }
    squares = [
        rectangle for rectangle in root.iter(SVG + "rect") if "square" in rectangle.get("class", "")
    ]
    assert len(squares) == 64
    marked = [element for element in root.iter() if "check" in element.get("class", "").split()]
    assert bool(marked) == board.is_check()
