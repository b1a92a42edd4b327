"""SFEN: positions as text."""

import re

import numpy as np
from numba.core import types

from games.shogi.rules import entry
from games.shogi.rules.attacks import GOLD, KING, PAWN, PROMOTED
from games.shogi.rules.movegen import moves_of
from games.shogi.rules.moves import CAPTURED_SHIFT, KIND_SHIFT, NOWHERE, PROMOTION, SOURCE_SHIFT
from games.shogi.rules.position import (
    CHECK,
    HELD,
    MAX_MEN,
    SIDE,
    STATE,
    WORDS,
    Position,
    full_key,
    king_is_attacked,
    load,
    store,
    white_to_move,
    words_type,
)
from games.shogi.rules.squares import FILES, RANKS

LETTERS = " PLNSBRGK"
HAND_ORDER = "RBGSNLP"
LARGEST_NUMBER = 0xFFFF
MAX_QUOTED = 40  # letters of a faulty text in a message
START_TEXT = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


@entry(types.int64(words_type))
def _complete(words):
    """Fill in the check and the key; returns 1 if the side that is not to move is in check."""
    p = load(words)
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    state = p.state & ~CHECK
    if king_is_attacked(p, white):
        state |= CHECK
    p = Position(p.black, p.white, p.bit0, p.bit1, p.bit2, p.bit3, p.hands, state, full_key(p))
    store(words, p)
    return np.int64(1) if king_is_attacked(p, 1 - white) else np.int64(0)


def words_of(
    board: dict[int, tuple[int, int]], hands: dict[tuple[int, int], int], white: int, number: int
) -> np.ndarray:
    """Return a position (15,) of men {square: (white, kind)} and hands {(white, kind): number}, by
    the side to move and the move number; ValueError if it cannot be."""
    _require_possible(board, hands)
    sets = [0] * 6
    for square, (owner, kind) in board.items():
        sets[owner] |= 1 << square
        for i in range(4):
            sets[2 + i] |= (kind >> i & 1) << square
    held = sum(number << 32 * owner + 28 - 4 * kind for (owner, kind), number in hands.items())
    values = [word for s in sets for word in (s & (1 << 64) - 1, s >> 64)]
    words = np.array([*values, held, white | number << 16, 0], np.uint64)
    if _complete(words):
        raise ValueError("the side that is not to move is in check")
    return words


def _require_possible(board: dict[int, tuple[int, int]], hands: dict[tuple[int, int], int]) -> None:
    totals = [0] * 9
    for (_, kind), number in hands.items():
        totals[kind] += number
    files = set()
    kings = [0, 0]
    for square, (owner, kind) in board.items():
        plain = kind & 7 if kind > PROMOTED else kind
        totals[plain] += 1
        kings[owner] += kind == KING
        steps = square % RANKS if owner == 0 else RANKS - 1 - square % RANKS  # to the last rank
        if kind < 4 and steps < (1, 1, 2)[kind - 1]:
            raise ValueError(f"the {NAMES[kind]} on {square_name(square)} can never move again")
        if kind == PAWN:
            if (owner, square // RANKS) in files:
                raise ValueError(
                    f"two unpromoted pawns of one side are on file {square // RANKS + 1}"
                )
            files.add((owner, square // RANKS))
    for owner, count in enumerate(kings):
        if count > 1:
            raise ValueError(f"{('Black', 'White')[owner]} has {count} kings")
    if not any(kings):  # mate problems leave out the attacker's
        raise ValueError(
            "there is no king on the board, expected both kings, or one in a mate problem"
        )
    for kind in range(1, 9):
        if totals[kind] > MAX_MEN[kind]:
            raise ValueError(
                f"{totals[kind]} men are {NAMES[kind]}s, expected at most {MAX_MEN[kind]}"
            )


NAMES = (
    "",
    "pawn",
    "lance",
    "knight",
    "silver",
    "bishop",
    "rook",
    "gold",
    "king",
    "promoted pawn",
    "promoted lance",
    "promoted knight",
    "promoted silver",
    "horse",
    "dragon",
)


def square_name(square: int) -> str:
    """Return the name of a square: 7g."""
    return f"{square // RANKS + 1}{'abcdefghi'[square % RANKS]}"


def position(text: str) -> np.ndarray:
    """Parse a SFEN, also after `sfen` and without the move number, or `startpos`; ValueError if it
    is not a position."""
    fields = text.split()
    if fields[:1] == ["startpos"]:
        fields[:1] = START_TEXT.split()[:3]
    if fields[:1] == ["sfen"]:
        del fields[0]
    if len(fields) == 3:
        fields.append("1")
    if len(fields) != 4:
        number = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        raise ValueError(
            f"{number} in {shown(text)}, expected board, side to move, hands and move number"
        )
    if fields[1] not in ("b", "w"):
        raise ValueError(f"side to move {shown(fields[1])}, expected b or w")
    if not (re.fullmatch("[0-9]{1,5}", fields[3], re.ASCII) and int(fields[3]) <= LARGEST_NUMBER):
        raise ValueError(f"move number {shown(fields[3])}, expected 1 to {LARGEST_NUMBER}")
    return words_of(
        _board_of(fields[0]), _hands_of(fields[2]), int(fields[1] == "w"), int(fields[3])
    )


def shown(text: str) -> str:
    """Return a text of a file as messages quote it: printable and short."""
    return repr(text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 3] + "...")


def _board_of(text: str) -> dict[int, tuple[int, int]]:
    rows = text.split("/")
    if len(rows) != RANKS:
        raise ValueError(f"{len(rows)} ranks in {shown(text)}, expected {RANKS}")
    board = {}
    for rank, row in enumerate(rows):
        file = FILES  # from the left
        for mark in re.findall(r"\+?.", row):
            if mark in "123456789":
                file -= int(mark)
                continue
            kind = LETTERS.find(mark[-1].upper())
            if kind < 1 or len(mark) == 2 and kind > 6:
                raise ValueError(
                    f"{mark!r} in rank {shown(row)}, expected one of 1-9, PLNSGBRK, or + before"
                    " PLNSBR"
                )
            file -= 1
            if file >= 0:
                board[RANKS * file + rank] = (
                    int(mark[-1].islower()),
                    kind + PROMOTED * (len(mark) == 2),
                )
        if file != 0:
            raise ValueError(f"rank {shown(row)} has {FILES - file} squares, expected {FILES}")
    return board


def _hands_of(text: str) -> dict[tuple[int, int], int]:
    if text == "-":
        return {}
    if not re.fullmatch(
        "([1-9][0-9]?)?[PLNSGBR](([1-9][0-9]?)?[PLNSGBR])*", text, re.ASCII | re.IGNORECASE
    ):
        raise ValueError(
            f"hands {shown(text)}, expected - or men such as 2Pb, each after its number"
        )
    hands: dict[tuple[int, int], int] = {}
    for number, letter in re.findall("([0-9]*)([A-Za-z])", text):
        man = int(letter.islower()), LETTERS.index(letter.upper())
        if man in hands:
            raise ValueError(f"hands {shown(text)} name {letter} twice")
        hands[man] = int(number or 1)
        if hands[man] > MAX_MEN[man[1]]:
            raise ValueError(
                f"{hands[man]} {NAMES[man[1]]}s in hand, expected at most {MAX_MEN[man[1]]}"
            )
    return hands


def board_of(words: np.ndarray) -> dict[int, tuple[int, int]]:
    """Return the men on the board: {square: (white, kind)}."""
    sets = [int(words[2 * i]) | int(words[2 * i + 1]) << 64 for i in range(6)]
    rest, board = sets[0] | sets[1], {}
    while rest:
        square = (rest & -rest).bit_length() - 1
        board[square] = (
            sets[1] >> square & 1,
            sum((sets[2 + i] >> square & 1) << i for i in range(4)),
        )
        rest &= rest - 1
    return board


def kind_on(words: np.ndarray, square: int) -> int:
    """Return the kind of man on a square, 0 for an empty one."""
    word, place = square >> 6, square & 63
    return sum((int(words[2 * (2 + i) + word]) >> place & 1) << i for i in range(4))


def hand_of(words: np.ndarray, white: int) -> list[int]:
    """Return the number of men of each kind in one hand; kind 0 is unused."""
    word = int(words[12]) >> 32 * white
    return [0, *(word >> 28 - 4 * kind & (31 if kind == PAWN else 15) for kind in range(1, HELD))]


def man_text(white: int, kind: int) -> str:
    """Return a man in SFEN: +p."""
    letter = LETTERS[kind & 7 if kind > PROMOTED else kind]
    return ("+" if kind > PROMOTED else "") + (letter.lower() if white else letter)


def text(words: np.ndarray) -> str:
    """Return a position as SFEN."""
    board = board_of(words)
    rows = []
    for rank in range(RANKS):
        row, free = "", 0
        for file in reversed(range(FILES)):
            man = board.get(RANKS * file + rank)
            if man is None:
                free += 1
                continue
            row += (str(free) if free else "") + man_text(*man)
            free = 0
        rows.append(row + (str(free) if free else ""))
    hands = ""
    for white in (0, 1):
        held = hand_of(words, white)
        for letter in HAND_ORDER:
            number = held[LETTERS.index(letter)]
            if number:
                hands += (str(number) if number > 1 else "") + (letter.lower() if white else letter)
    state = int(words[WORDS - 2])
    return (
        f"{'/'.join(rows)} {'bw'[state & int(SIDE)]} {hands or '-'} {state >> 16 & LARGEST_NUMBER}"
    )


_TARGET = re.compile(r"[-x*]([1-9]{2})[+=]?\Z", re.ASCII)  # of a move in Western notation


def source_of(move: int) -> int:
    """Return the source square of a move; NOWHERE for a drop."""
    return move >> SOURCE_SHIFT & 127


def moved_kind(move: int) -> int:
    """Return the kind of the man that moves."""
    return move >> KIND_SHIFT & 15


def move_name(words: np.ndarray | None, move: int) -> str:
    """Return a move in USI; it does not depend on the position."""
    target = square_name(move & 127)
    if source_of(move) == NOWHERE:
        return f"{LETTERS[moved_kind(move)]}*{target}"
    return f"{square_name(source_of(move))}{target}{'+' if move & PROMOTION else ''}"


def digits(square: int) -> str:
    """Return the name of a square in numbers: 77."""
    return f"{square // RANKS + 1}{square % RANKS + 1}"


def move_text(words: np.ndarray, move: int, moves: list[int] | None = None) -> str:
    """Return a legal move in Western notation with numbers. `=` declines a promotion; the source
    square is given if another man of the kind could move there too."""
    source, target, kind = source_of(move), move & 127, moved_kind(move)
    plain = kind & 7 if kind > PROMOTED else kind
    man = ("+" if kind > PROMOTED else "") + LETTERS[plain]
    if source == NOWHERE:
        return f"{man}*{digits(target)}"
    alike = [
        other
        for other in (moves_of(words) if moves is None else moves)
        if other & 127 == target
        and moved_kind(other) == kind
        and source_of(other) not in (source, NOWHERE)
    ]
    promotion = ""
    if move & PROMOTION:
        promotion = "+"
    elif kind < GOLD and _may_promote(words, source, target):
        promotion = "="
    step = "x" if move >> CAPTURED_SHIFT & 15 else "-"
    return f"{man}{digits(source) if alike else ''}{step}{digits(target)}{promotion}"


def _may_promote(words: np.ndarray, source: int, target: int) -> bool:
    if int(words[STATE]) & 1:
        return max(source % RANKS, target % RANKS) >= 6
    return min(source % RANKS, target % RANKS) <= 2


def move_named(words: np.ndarray, name: str) -> int:
    """Return the legal move of that name, USI or Western; ValueError if there is none."""
    legal = moves_of(words)
    for move in legal:
        if move_name(words, move) == name:
            return move
    target = _TARGET.search(name)
    for move in legal:
        if target and digits(move & 127) == target[1] and move_text(words, move, legal) == name:
            return move
    raise ValueError(f"illegal move {name!r}")


CELL, HAND = 40, 46  # sides of a square; width of a hand
LEFT = HAND + 4
WIDTH, HEIGHT = 2 * LEFT + FILES * CELL, RANKS * CELL + 4
SHAPE = "0,-17 11,-11 14,16 -14,16 -11,-11"  # around the center of a square
SHOWN_IN_HAND = (6, 5, 7, 4, 3, 2, 1)  # kinds from rook to pawn


def _man(x: float, y: float, white: int, kind: int, note: str = "", checked: bool = False) -> str:
    """Return a man with its center at a point; `note` is written next to it."""
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
