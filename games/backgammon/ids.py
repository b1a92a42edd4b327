"""Positions and matches as the IDs of GNU Backgammon: `4HPwATDgc/ABMA` and `cAkAAAAAAAAE`, with a colon between them.

A position ID is 80 bits in base 64. For the side that is not to move, then for the side to move, each of its places 1 to 25 has a
one for every checker and then a zero. A match ID is 72 bits: see FIELDS. Its player 0 is our first player.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass

import numpy as np

from games.backgammon.board import CHECKERS, counts_of, dice_of, packed, ply_of, turn_of

POSITION_BYTES, POSITION_LETTERS = 10, 14
MATCH_BYTES, MATCH_LETTERS = 9, 12
CENTRED = 3  # owner of the cube: 0, 1, or nobody
PLAYING = 1  # state of the game: 0 not begun, 1 playing, 2 over, 3 resigned, 4 dropped
# name and number of bits, from the lowest on
FIELDS = (("cube", 4), ("owner", 2), ("on_roll", 1), ("crawford", 1), ("state", 3), ("turn", 1), ("doubled", 1), ("resigned", 2),
          ("larger", 3), ("smaller", 3), ("length", 15), ("score0", 15), ("score1", 15), ("jacoby", 1))


@dataclass(frozen=True)
class MatchState:
    """What a match adds to a position. `length` 0 is money; `cube` is the logarithm of its value, `owner` 0, 1 or CENTRED.

    `turn` is the player who must decide, `on_roll` the one who rolls or has rolled.
    """

    score: tuple[int, int] = (0, 0)
    length: int = 0
    cube: int = 0
    owner: int = CENTRED
    crawford: bool = False
    jacoby: bool = False
    on_roll: int = 0
    turn: int = 0
    dice: tuple[int, int] = (0, 0)  # the larger first; (0, 0): not rolled
    doubled: bool = False
    resigned: int = 0
    state: int = PLAYING


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
    """Return the counts (2, 26) of a position ID: of the side that is not to move, and of the side to move.

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
    """Raise ValueError unless the counts (2, 26) of two sides, places 1 to 25, can be on one board."""
    for side in range(2):
        number = int(counts[side, 1:].sum())
        if number > CHECKERS:
            raise ValueError(f"{what} has {number} checkers of one side, expected at most {CHECKERS}")
    for place in range(1, 25):
        if counts[0, place] and counts[1, 25 - place]:
            raise ValueError(f"{what} has checkers of both sides on one point")
    if not counts[:, 1:].any():
        raise ValueError(f"{what} has no checkers")
    if counts[0, 25] and counts[1, 25] and all((counts[side, 1:7] > 1).all() for side in range(2)):
        raise ValueError(f"{what} has both sides on the bar against closed boards, which no game reaches")


def from_position_id(text: str, turn: int = 0, dice: tuple[int, int] = (0, 0), ply: int = 0) -> np.ndarray:
    """Return the position of a position ID with the side `turn` to move; ValueError in one line if it is not one."""
    counts = counts_of_id(text)
    return packed(counts if turn else counts[::-1], bool(turn), dice, ply)


def match_id(match: MatchState) -> str:
    """Return the match ID of a state."""
    numbers = {name: int(getattr(match, name)) for name, _ in FIELDS if hasattr(match, name)}
    numbers |= {"larger": match.dice[0], "smaller": match.dice[1], "score0": match.score[0], "score1": match.score[1]}
    bits, at = 0, 0
    for name, width in FIELDS:
        if not 0 <= numbers[name] < 1 << width:
            raise ValueError(f"{name} {numbers[name]} does not fit into {width} bits of a match ID")
        bits |= numbers[name] << at
        at += width
    return _encoded(bits, MATCH_BYTES)


def from_match_id(text: str) -> MatchState:
    """Return the state of a match ID; ValueError in one line if it is not one."""
    bits, found = _decoded(text, MATCH_LETTERS, "match ID"), {}
    for name, width in FIELDS:
        found[name] = bits & (1 << width) - 1
        bits >>= width
    if bits:
        raise ValueError(f"match ID {text!r} has bits beyond its last field")
    dice = max(found["larger"], found["smaller"]), min(found["larger"], found["smaller"])
    check_dice(dice, f"match ID {text!r}")
    if found["owner"] == 2:
        raise ValueError(f"match ID {text!r} gives the cube to player 2, expected 0, 1 or 3 for nobody")
    if found["state"] > 4:
        raise ValueError(f"match ID {text!r} has state {found['state']} of the game, expected 0 to 4")
    return MatchState((found["score0"], found["score1"]), found["length"], found["cube"], found["owner"], bool(found["crawford"]),
                      bool(found["jacoby"]), found["on_roll"], found["turn"], dice, bool(found["doubled"]), found["resigned"],
                      found["state"])


def check_dice(dice: tuple[int, int], what: str) -> None:
    """Raise ValueError unless both dice are 1 to 6, or none is rolled."""
    if dice != (0, 0) and not all(1 <= die <= 6 for die in dice):
        raise ValueError(f"{what} has the dice {dice[0]} and {dice[1]}, expected 1 to 6, or 0 and 0 before the roll")


def state_of(words: np.ndarray) -> MatchState:
    """Return the state of a money game with the side to move and the dice of a position."""
    turn = turn_of(words)
    return MatchState(on_roll=turn, turn=turn, dice=dice_of(words))


def text_of(words: np.ndarray) -> str:
    """Return a position as text: its position ID, the match ID of a money game, which has the side to move and the dice, and the
    plies played, if any."""
    ply = ply_of(words)
    return f"{position_id(words)}:{match_id(state_of(words))}" + (f" {ply}" if ply else "")
