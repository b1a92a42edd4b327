"""Draw a position as SVG: men as pentagons that point to where they go, with the letters of
SFEN."""

from __future__ import annotations

import numpy as np

from games.shogi.files.sfen import LETTERS, board_of, hand_of
from games.shogi.rules.attacks import KING, PROMOTED
from games.shogi.rules.position import CHECK, SIDE, STATE
from games.shogi.rules.squares import FILES, RANKS

CELL, HAND = 40, 46  # sides of a square; width of a hand
LEFT = HAND + 4
WIDTH, HEIGHT = 2 * LEFT + FILES * CELL, RANKS * CELL + 4
SHAPE = "0,-17 11,-11 14,16 -14,16 -11,-11"  # around the centre of a square
SHOWN_IN_HAND = (6, 5, 7, 4, 3, 2, 1)  # kinds from rook to pawn


def _man(x: float, y: float, white: int, kind: int, note: str = "", checked: bool = False) -> str:
    """Return a man with its centre at a point; `note` is written beside it."""
    plain = kind & 7 if kind > PROMOTED else kind
    colour = "#b03030" if kind > PROMOTED else "#222222"
    number = (
        f'<text x="{x + 15:g}" y="{y + 16:g}" font-size="12" text-anchor="middle">{note}</text>'
        if note
        else ""
    )
    return (
        f'<g transform="translate({x:g} {y:g}){" rotate(180)" if white else ""}"><polygon'
        f' points="{SHAPE}" fill="{"#f0b0a0" if checked else "#f6e3b4"}" stroke="#555555"/><text'
        ' y="10" font-size="19" text-anchor="middle"'
        f' fill="{colour}">{LETTERS[plain]}</text></g>{number}'
    )


def picture(words: np.ndarray) -> str:
    """Return an SVG without a fixed size: Black at the bottom, White's hand on the left and Black's
    on the right."""
    state = int(words[STATE])
    mover, check = state & int(SIDE), bool(state & int(CHECK))
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
            ' font-family="sans-serif">'
        ),
        (
            f'<rect x="{LEFT}" y="2" width="{FILES * CELL}" height="{RANKS * CELL}" fill="#eceae4"'
            ' stroke="#555555"/>'
        ),
    ]
    lines = [f"M{LEFT + CELL * i} 2v{RANKS * CELL}" for i in range(1, FILES)]
    lines += [f"M{LEFT} {2 + CELL * i}h{FILES * CELL}" for i in range(1, RANKS)]
    parts.append(f'<path d="{"".join(lines)}" stroke="#999999"/>')
    for square, (white, kind) in sorted(board_of(words).items()):
        x, y = LEFT + CELL * (FILES - 0.5 - square // RANKS), 2 + CELL * (square % RANKS + 0.5)
        parts.append(_man(x, y, white, kind, checked=check and kind == KING and white == mover))
    for white in (0, 1):
        held = hand_of(words, white)
        kinds = [kind for kind in SHOWN_IN_HAND if held[kind]]
        for i, kind in enumerate(kinds):
            x = HAND / 2 - 4 if white else WIDTH - HAND / 2 - 4
            y = 2 + CELL * (i + 0.5) if white else HEIGHT - 2 - CELL * (len(kinds) - i - 0.5)
            parts.append(_man(x, y, white, kind, str(held[kind]) if held[kind] > 1 else ""))
    return "".join([*parts, "</svg>"])
