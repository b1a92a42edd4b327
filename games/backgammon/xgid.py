"""Positions and matches as XGIDs: `XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10`.

The 26 letters are places as the player with capitals sees them: the other's bar, points 1 to 24, its own bar; A is one checker,
O fifteen. Then come the logarithm of the cube, its owner (1 capitals, -1, or 0), who rolls (1 or -1), the dice (00: not rolled,
D: doubled), the scores of capitals and of the other, Crawford in a match, or 1 for Jacoby and 2 for beavers in a money game, the
length of the match, and the logarithm of the highest cube. GNU Backgammon gives the capitals to its player 1, our second player;
so do we.
"""

from __future__ import annotations

import re

import numpy as np

from games.backgammon.board import CHECKERS, counts_of, packed, turn_of
from games.backgammon.ids import CENTRED, MatchState, check_board, check_dice, state_of

PREFIX = "XGID="
HIGHEST_CUBE = 10
FIELDS = 10
LONGEST = (1 << 15) - 1  # length or score of a match, as in match IDs


def xgid(words: np.ndarray, match: MatchState | None = None) -> str:
    """Return the XGID of a position, by default in a money game."""
    match = state_of(words) if match is None else match
    first, second = counts_of(words)
    letters = ["-"] * 26
    for place in range(1, 26):
        if second[place]:
            letters[place] = chr(ord("A") - 1 + int(second[place]))
        if first[place]:
            letters[25 - place] = chr(ord("a") - 1 + int(first[place]))
    owner = {0: -1, 1: 1, CENTRED: 0}[match.owner]
    dice = "D" if match.doubled else f"{match.dice[0]}{match.dice[1]}"
    rules = int(match.crawford) if match.length else int(match.jacoby)
    fields = ["".join(letters), match.cube, owner, 1 if turn_of(words) else -1, dice, match.score[1], match.score[0], rules,
              match.length, HIGHEST_CUBE]
    return PREFIX + ":".join(map(str, fields))


def from_xgid(text: str) -> tuple[np.ndarray, MatchState]:
    """Return the position and the state of the match of an XGID; ValueError in one line if it is not one."""
    fields = text.removeprefix(PREFIX).split(":")
    shown = f"XGID {text.removeprefix(PREFIX)[:60]!r}"
    if len(fields) != FIELDS:
        raise ValueError(f"{shown} has {len(fields)} fields, expected {FIELDS} with colons between them")
    if not re.fullmatch(r"[-A-Oa-o]{26}", fields[0]):
        raise ValueError(f"{shown} does not begin with 26 places, each -, A to O or a to o")
    counts = _counts(fields[0], shown)
    numbers = [_number(field, shown) for k, field in enumerate(fields) if k not in (0, 4)]
    cube, owner, turn, own, other, rules, length, highest = numbers
    for value, name, low, high in ((cube, "cube", 0, 15), (owner, "owner of the cube", -1, 1), (own, "score", 0, LONGEST),
                                   (other, "score", 0, LONGEST), (rules, "rule", 0, 3), (length, "length", 0, LONGEST),
                                   (highest, "highest cube", 0, 15)):
        if not low <= value <= high:
            raise ValueError(f"{shown} has {name} {value}, expected {low} to {high}")
    if turn not in (-1, 1):
        raise ValueError(f"{shown} has turn {turn}, expected 1 or -1")
    if not re.fullmatch(r"[0-6]{2}|[DBR]", fields[4]):
        raise ValueError(f"{shown} has dice {fields[4][:20]!r}, expected two numbers, 00, or D for a double")
    doubled = not fields[4].isdigit()
    dice = (0, 0) if doubled else (max(map(int, fields[4])), min(map(int, fields[4])))
    check_dice(dice, shown)
    side = int(turn == 1)
    match = MatchState((other, own), length, cube, {-1: 0, 1: 1, 0: CENTRED}[owner], bool(length and rules),
                       bool(not length and rules & 1), side, 1 - side if doubled else side, dice, doubled)
    return packed(counts, bool(side), dice), match


def _counts(letters: str, shown: str) -> np.ndarray:
    """Return the counts (2, 26) of 26 letters."""
    counts = np.zeros((2, 26), np.int64)
    for place, letter in enumerate(letters):
        if letter.isupper():
            counts[1, place] = ord(letter) - ord("A") + 1
        elif letter.islower():
            counts[0, 25 - place] = ord(letter) - ord("a") + 1
    if counts[:, 0].any():
        raise ValueError(f"{shown} has checkers on the other side's bar")
    check_board(counts, shown)
    counts[:, 0] = CHECKERS - counts[:, 1:].sum(1)
    return counts


def _number(text: str, shown: str) -> int:
    if not re.fullmatch(r"-?\d{1,6}", text, re.ASCII):
        raise ValueError(f"{shown} has {text[:20]!r} where a number is expected")
    return int(text)
