"""Pictures of positions: all pieces on their squares."""

import re
from xml.etree import ElementTree

import chess
import pytest

from games.chess.game import GAME

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
