"""Moves and positions as text: `24/18 13/11*`, `bar/22`, `6/off(2)`; position ID, match ID or
XGID."""

import re
from collections import Counter

import numpy as np

from games.backgammon.files.ids import (
    PREFIX,
    MatchState,
    from_match_id,
    from_position_id,
    from_xgid,
)
from games.backgammon.rules.board import (
    BAR,
    CHECKERS,
    OFF,
    counts_of,
    dice_of,
    side_words,
    turn_of,
    with_dice,
)
from games.backgammon.rules.play import (
    STEPS,
    afterstates,
    dice_before,
    dice_of_move,
    move_of,
    steps_of,
)

STEP = re.compile(r"(bar|\d{1,2})((?:/(?:off|\d{1,2})\*?)+)(?:\(([1-4])\))?", re.ASCII)
PASS = "pass"
PASSES = ("", "cannot move", "can't move", "no move", PASS)
PLACES = {"bar": BAR, "off": OFF}


def position(text: str) -> np.ndarray:
    """Parse a position: `positionID`, `positionID:matchID`, or either and the plies played after a
    blank, or an XGID.

    A position ID alone is from the view of the first player before the roll. ValueError in one line
    if the text is none of them."""
    text = text.strip()
    if text.startswith(PREFIX) or text.count(":") > 1:
        return from_xgid(text)
    ids, blank, plies = text.partition(" ")
    if blank and not re.fullmatch(r"\d{1,9}", plies, re.ASCII):
        raise ValueError(f"{plies[:20]!r} after the IDs is not a number of plies")
    board, colon, match = ids.partition(":")
    state = from_match_id(match) if colon else MatchState()
    return from_position_id(board, state.on_roll, (state.larger, state.smaller), int(plies or 0))


def steps_text(words: np.ndarray, move: int) -> str:
    """Return the steps of a move of a position in the usual notation, highest places first; a pass
    is `cannot move`.

    Steps of one checker are joined unless it hits on the way.
    """
    counts, turn = counts_of(words), turn_of(words)
    other = counts[1 - turn]
    blots = {25 - place for place in range(1, 25) if other[place] == 1}
    paths: list[list[tuple[int, bool]]] = []
    for place, die in sorted(steps_of(move), reverse=True):
        to = max(place - die, OFF)
        hit = to in blots
        blots.discard(to)
        for path in paths:
            if path[-1][0] == place and not path[-1][1]:
                path.append((to, hit))
                break
        else:
            paths.append([(place, False), (to, hit)])
    texts = Counter(
        f"{_name(path[0][0], 'bar')}/{_name(path[-1][0], 'off')}{'*' * path[-1][1]}"
        for path in paths
    )
    return (
        " ".join(text + (f"({number})" if number > 1 else "") for text, number in texts.items())
        or "cannot move"
    )


def _name(place: int, special: str) -> str:
    return special if place in (BAR, OFF) else str(place)


def parse_move(
    words: np.ndarray, text: str, moves: tuple[np.ndarray, np.ndarray] | None = None
) -> int:
    """Return the index of the afterstate that a move leads to; ValueError in one line if it is not
    legal.

    `moves` are the `afterstates` of the position, if they are known.

    A step may name its stops or not, and mark hits or not. If legal moves differ only in what they
    hit on the way, the marks decide, and without any the stops."""
    after, steps = afterstates(words) if moves is None else moves
    text = text.replace(",", " ").strip()  # gnubg takes commas between steps
    if text.lower() in PASSES:
        if len(after) == 1 and not steps[0]:
            return 0
        raise ValueError(f"no move is given, but {_rolled(words)} can be played")
    turn = turn_of(words)
    wanted, hits, stops = counts_of(words)[turn], set(), set()
    for token in text.split():
        match = STEP.fullmatch(token.lower())
        if match is None:
            raise ValueError(f"{token[:20]!r} is not a step such as 13/7, bar/22* or 6/off(2)")
        places = [match[1], *match[2][1:].split("/")]
        numbers = [_place(name.rstrip("*")) for name in places]
        if any(a <= b for a, b in zip(numbers, numbers[1:], strict=False)):
            raise ValueError(f"{token[:20]!r} does not move towards point 1")
        hits |= {number for name, number in zip(places, numbers, strict=True) if name.endswith("*")}
        stops |= set(numbers[1:])
        repeated = int(match[3] or 1)
        wanted[numbers[0]] -= repeated
        wanted[numbers[-1]] += repeated
    found_moves: list[int] = []
    if ((wanted >= 0) & (wanted <= CHECKERS)).all():
        low, high = side_words(wanted.tolist())
        own = after[:, 2 * turn : 2 * turn + 2].tolist()
        found_moves = [k for k, each in enumerate(own) if each[0] == low and each[1] == high]
    if not found_moves:
        raise ValueError(f"{text[:40]!r} is not a legal move of {_rolled(words)}")
    if len(found_moves) == 1:
        return found_moves[0]
    other = counts_of(words)[1 - turn]
    expected = hits or {stop for stop in stops if stop != OFF and other[25 - stop] == 1}
    return min(
        found_moves, key=lambda k: len(_hit(other, counts_of(after[k])[1 - turn]) ^ expected)
    )


def _hit(before: np.ndarray, after: np.ndarray) -> set[int]:
    """Return the points, as the side that moved numbers them, where the opponent (26,) was hit."""
    return {25 - place for place in range(1, 25) if after[place] < before[place]}


def _rolled(words: np.ndarray) -> str:
    larger, smaller = dice_of(words)
    return f"{larger}{smaller}"


def _place(name: str) -> int:
    number = PLACES.get(name)
    if number is None:
        number = int(name)
        if number > BAR:
            raise ValueError(f"{name} is not a point, expected 1 to 24, bar or off")
    return number


def move_text(words: np.ndarray, move: int) -> str:
    """Return the name of a move: the dice, and the steps without blanks, `31:8/5,6/5`."""
    larger, smaller = dice_of_move(move)
    return (
        f"{larger}{smaller}:{steps_text(words, move).replace(' ', ',') if move & STEPS else PASS}"
    )


def move_named(words: np.ndarray, name: str) -> int:
    """Return the legal move of that name, with its dice or, after the roll, without them;
    ValueError if there is none."""
    rolled, colon, steps = name.partition(":")
    if not colon:
        dice, steps = dice_of(words), rolled
        if dice == (0, 0) or steps in PASSES and steps != PASS:
            raise ValueError(f"{name[:20]!r} is not a move with its dice, such as 31:8/5,6/5")
    else:
        dice = next(
            (
                dice
                for dice in dice_before(words)
                if rolled in (f"{dice[0]}{dice[1]}", f"{dice[1]}{dice[0]}")
            ),
            (0, 0),
        )
        if dice == (0, 0):
            raise ValueError(f"{rolled[:20]!r} are not the dice of this position")
    with_roll = with_dice(words, dice)
    after = afterstates(with_roll)
    return move_of(dice, after[1][parse_move(with_roll, steps, after)])
