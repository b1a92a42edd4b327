"""Positions as one line of text: IDs of GNU Backgammon, XGIDs, and boards of FIBS.

IDs are `4HPwATDgc/ABMA` of a position and `cAkAAAAAAAAE` of a match, with a colon between them. A
position ID is 80 bits in base 64. For the side that is not to move, then for the side to move, each
of its places 1 to 25 has a one for every checker and then a zero. A match ID is 72 bits: see
MatchState. Its player 0 is our first player."""

import base64
import re
from typing import NamedTuple

import numpy as np

from games.backgammon.rules.board import (
    BAR,
    CHECKERS,
    OFF,
    counts_of,
    dice_of,
    packed,
    ply_of,
    turn_of,
)

POSITION_BYTES, POSITION_LETTERS = 10, 14
MATCH_BYTES, MATCH_LETTERS = 9, 12
CENTRED = 3  # owner of the cube: 0, 1, or nobody
PLAYING = 1  # state of the game: 0 not begun, 1 playing, 2 over, 3 resigned, 4 dropped
# of the fields of MatchState, from the lowest on
BITS = (
    4,
    2,
    1,
    1,
    3,
    1,
    1,
    2,
    3,
    3,
    15,
    15,
    15,
    1,
)


class MatchState(NamedTuple):
    """The fields of a match ID; by default of a money game. `cube` is the logarithm of its value;
    `turn` is the player who must decide, `on_roll` the one who rolls or has rolled; the dice are
    the larger one first, both 0 before the roll."""

    cube: int = 0
    owner: int = CENTRED
    on_roll: int = 0
    crawford: int = 0
    state: int = PLAYING
    turn: int = 0
    doubled: int = 0
    resigned: int = 0
    larger: int = 0
    smaller: int = 0
    length: int = 0  # 0: money
    score0: int = 0
    score1: int = 0
    jacoby: int = 0


def _decoded(text: str, letters: int, what: str) -> int:
    """Return the bits of an ID as a number; ValueError if it is not one."""
    if not re.fullmatch(rf"[A-Za-z0-9+/]{{{letters}}}", text):
        raise ValueError(f"{text[:40]!r} is not a {what}, expected {letters} letters of base 64")
    return int.from_bytes(base64.b64decode(text + "=" * (-letters % 4)), "little")


def _encoded(bits: int, size: int) -> str:
    return base64.b64encode(bits.to_bytes(size, "little")).decode().rstrip("=")


def position_id(words: np.ndarray) -> str:
    """Return the position ID of a position; it has neither dice nor the players' names."""
    counts, turn, bits, at = counts_of(words), turn_of(words), 0, 0
    for side in (1 - turn, turn):
        for number in counts[side, 1:].tolist():
            bits |= ((1 << number) - 1) << at
            at += number + 1
    return _encoded(bits, POSITION_BYTES)


def counts_of_id(text: str) -> np.ndarray:
    """Return the counts (2, 26) of a position ID: of the side that is not to move, and of the side
    to move.

    ValueError in one line unless it is one of a legal board.
    """
    bits = _decoded(text, POSITION_LETTERS, "position ID")
    counts = np.zeros((2, 26), np.int64)
    for side in range(2):
        for place in range(1, 26):
            while bits & 1:
                counts[side, place] += 1
                bits >>= 1
            bits >>= 1
    if bits:
        raise ValueError(f"position ID {text!r} has more than 25 places for each side")
    check_board(counts, f"position ID {text!r}")
    counts[:, 0] = CHECKERS - counts[:, 1:].sum(1)
    return counts


def check_board(counts: np.ndarray, what: str) -> None:
    """Raise ValueError unless the counts (2, 26) of two sides, places 1 to 25, can be on one
    board."""
    for side in range(2):
        number = int(counts[side, 1:].sum())
        if number > CHECKERS:
            raise ValueError(
                f"{what} has {number} checkers of one side, expected at most {CHECKERS}"
            )
    for place in range(1, 25):
        if counts[0, place] and counts[1, 25 - place]:
            raise ValueError(f"{what} has checkers of both sides on one point")
    if not counts[:, 1:].any():
        raise ValueError(f"{what} has no checkers")
    if counts[0, 25] and counts[1, 25] and all((counts[side, 1:7] > 1).all() for side in range(2)):
        raise ValueError(
            f"{what} has both sides on the bar against closed boards, which no game reaches"
        )


def from_position_id(
    text: str, turn: int = 0, dice: tuple[int, int] = (0, 0), ply: int = 0
) -> np.ndarray:
    """Return the position of a position ID with the side `turn` to move; ValueError in one line if
    it is not one."""
    counts = counts_of_id(text)
    return packed(counts if turn else counts[::-1], bool(turn), dice, ply)


def match_id(match: MatchState) -> str:
    """Return the match ID of a state."""
    bits, at = 0, 0
    for number, width in zip(match, BITS, strict=True):
        bits |= number << at
        at += width
    return _encoded(bits, MATCH_BYTES)


def from_match_id(text: str) -> MatchState:
    """Return the state of a match ID; ValueError in one line if it is not one."""
    bits, numbers = _decoded(text, MATCH_LETTERS, "match ID"), []
    for width in BITS:
        numbers.append(bits & (1 << width) - 1)
        bits >>= width
    if bits:
        raise ValueError(f"match ID {text!r} has bits beyond its last field")
    state = MatchState(*numbers)
    state = state._replace(
        larger=max(state.larger, state.smaller), smaller=min(state.larger, state.smaller)
    )
    check_dice((state.larger, state.smaller), f"match ID {text!r}")
    if state.owner == 2:
        raise ValueError(
            f"match ID {text!r} gives the cube to player 2, expected 0, 1 or 3 for nobody"
        )
    if state.state > 4:
        raise ValueError(f"match ID {text!r} has state {state.state} of the game, expected 0 to 4")
    return state


def check_dice(dice: tuple[int, int], what: str) -> None:
    """Raise ValueError unless both dice are 1 to 6, or none is rolled."""
    if dice != (0, 0) and not all(1 <= die <= 6 for die in dice):
        raise ValueError(
            f"{what} has the dice {dice[0]} and {dice[1]}, expected 1 to 6, or 0 and 0 before the"
            " roll"
        )


def text_of(words: np.ndarray) -> str:
    """Return a position as text: its position ID, the match ID of a money game, which has the side
    to move and the dice, and the plies played, if any."""
    turn, ply, (larger, smaller) = turn_of(words), ply_of(words), dice_of(words)
    match = match_id(MatchState(on_roll=turn, turn=turn, larger=larger, smaller=smaller))
    return f"{position_id(words)}:{match}" + (f" {ply}" if ply else "")


PREFIX = "XGID="
XGID_FIELDS = 10
MAX_LENGTH = (1 << 15) - 1  # length or score of a match, as in match IDs
# the fields that are numbers, with their bounds
XGID_NUMBERS = (
    ("cube", 0, 15),
    ("owner of the cube", -1, 1),
    ("turn", -1, 1),
    ("score", 0, MAX_LENGTH),
    ("score", 0, MAX_LENGTH),
    ("rule", 0, 3),
    ("length", 0, MAX_LENGTH),
    ("highest cube", 0, 15),
)


def from_xgid(text: str) -> np.ndarray:
    """Return the position of an XGID; ValueError in one line if it is not one."""
    fields = text.removeprefix(PREFIX).split(":")
    shown = f"XGID {text.removeprefix(PREFIX)[:60]!r}"
    if len(fields) != XGID_FIELDS:
        raise ValueError(
            f"{shown} has {len(fields)} fields, expected {XGID_FIELDS} with colons between them"
        )
    if not re.fullmatch(r"[-A-Oa-o]{26}", fields[0]):
        raise ValueError(f"{shown} does not begin with 26 places, each -, A to O or a to o")
    counts = _counts(fields[0], shown)
    numbers = [_number(field, shown) for k, field in enumerate(fields) if k not in (0, 4)]
    for value, (name, low, high) in zip(numbers, XGID_NUMBERS, strict=True):
        if not low <= value <= high:
            raise ValueError(f"{shown} has {name} {value}, expected {low} to {high}")
    turn = numbers[2]
    if turn == 0:
        raise ValueError(f"{shown} has turn {turn}, expected 1 or -1")
    if not re.fullmatch(r"[0-6]{2}|[DBR]", fields[4]):
        raise ValueError(
            f"{shown} has dice {fields[4][:20]!r}, expected two numbers, 00, or D for a double"
        )
    dice = (max(map(int, fields[4])), min(map(int, fields[4]))) if fields[4].isdigit() else (0, 0)
    check_dice(dice, shown)
    return packed(counts, turn == 1, dice)


def _counts(letters: str, shown: str) -> np.ndarray:
    """Return the counts (2, 26) of 26 letters."""
    counts = np.zeros((2, 26), np.int64)
    for place, letter in enumerate(letters):
        if letter.isupper():
            counts[1, place] = ord(letter) - ord("A") + 1
        elif letter.islower():
            counts[0, 25 - place] = ord(letter) - ord("a") + 1
    if counts[:, 0].any():
        raise ValueError(f"{shown} has checkers on the opponent's bar")
    check_board(counts, shown)
    counts[:, 0] = CHECKERS - counts[:, 1:].sum(1)
    return counts


def _number(text: str, shown: str) -> int:
    if not re.fullmatch(r"-?\d{1,6}", text, re.ASCII):
        raise ValueError(f"{shown} has {text[:20]!r} where a number is expected")
    return int(text)


FIBS_FIELDS = 50  # at least, and the rest is about the server
FIBS_NUMBER = re.compile(r"[+-]?\d{1,6}", re.ASCII)


def fibs_board(words: np.ndarray) -> str:
    """Return a position with dice as a line of FIBS, seen by the side to move; money play without a
    cube."""
    counts, turn = counts_of(words), turn_of(words)
    own, other = counts[turn], counts[1 - turn]
    # place p of the opponent is our place 25 - p; the bars are places 25 and 0
    points = own - other[::-1]
    points[0], points[BAR] = -other[BAR], own[BAR]
    numbers = ":".join(map(str, points.tolist()))
    larger, smaller = dice_of(words)
    return (
        f"board:me:other:9999:0:0:{numbers}:1:{larger}:{smaller}:0:0:1:1:1:0:1:-1:0:25:{own[OFF]}:{other[OFF]}:"
        f"{own[BAR]}:{other[BAR]}:0:0:0:0"
    )


def from_fibs(text: str) -> np.ndarray:
    """Return the position of a line of FIBS, with the dice of the side to move, which is the first
    player here; ValueError in one line if it is not one."""
    fields = text.strip().split(":")
    if fields[0] != "board" or len(fields) < FIBS_FIELDS:
        raise ValueError(
            f"{text[:20]!r} is not a board of FIBS, expected board: and {FIBS_FIELDS - 1} fields"
        )
    if wrong := [field for field in fields[6:FIBS_FIELDS] if not FIBS_NUMBER.fullmatch(field)]:
        raise ValueError(f"{wrong[0][:20]!r} in a board of FIBS, expected a number")
    numbers = [0] * 6 + [int(field) for field in fields[6:FIBS_FIELDS]]
    points, turn, colour, direction = np.array(numbers[6:32]), numbers[32], numbers[41], numbers[42]
    if turn not in (-1, 1) or colour not in (-1, 1) or direction not in (-1, 1):
        raise ValueError(
            f"turn {turn}, color {colour}, direction {direction} in a board of FIBS, expected 1"
            " or -1"
        )
    dice = (numbers[33], numbers[34]) if turn == colour else (numbers[35], numbers[36])
    # ours positive, moving towards 0
    points = points * colour if direction < 0 else points[::-1] * colour
    counts = np.zeros((2, 26), np.int64)
    counts[0], counts[1] = np.maximum(points, 0), np.maximum(-points[::-1], 0)
    counts[:, OFF] = 0
    if (counts.sum(1) > CHECKERS).any():
        raise ValueError(
            f"a board of FIBS with {counts.sum(1).max()} checkers of a side, expected {CHECKERS} at"
            " most"
        )
    counts[:, OFF] = CHECKERS - counts.sum(1)
    if turn != colour:
        counts = counts[::-1]
    if not all(0 <= die <= 6 for die in dice) or (0 in dice and dice != (0, 0)):
        raise ValueError(
            f"dice {dice[0]} and {dice[1]} in a board of FIBS, expected two of 1 to 6, or two zeros"
        )
    return packed(counts, False, dice)
