"""A position as lines of text, and as a picture (SVG). The first player is X and moves to the lower
right."""

import numpy as np

from games.backgammon.rules.board import BAR, OFF, counts_of, dice_of, turn_of

NAMES = "X", "O"
ROWS = 5  # checkers of a point that are shown one by one; more are a number
UPPER, LOWER = (*range(13, 19), *range(19, 25)), (*range(12, 6, -1), *range(6, 0, -1))


def draw(words: np.ndarray) -> str:
    """Return the board as the first player sees it: points 13 to 24 above, 12 to 1 below."""
    counts = counts_of(words)

    def column(place: int) -> tuple[str, int]:
        if counts[0, place]:
            return NAMES[0], int(counts[0, place])
        return NAMES[1], int(counts[1, 25 - place])

    def cell(place: int, row: int) -> str:
        name, number = column(place)
        if row == ROWS - 1 and number > ROWS:
            return f"{number:2d} "
        return f" {name} " if number > row else " . "

    def line(places: tuple[int, ...], row: int) -> str:
        cells = [cell(place, row) for place in places]
        return "|" + "".join(cells[:6]) + "|   |" + "".join(cells[6:]) + "|"

    def numbers(places: tuple[int, ...]) -> str:
        cells = [f"{place:2d} " for place in places]
        return "+" + "".join(cells[:6]) + "+---+" + "".join(cells[6:]) + "+"

    rows = [
        numbers(UPPER),
        *(line(UPPER, row) for row in range(ROWS)),
        "|" + " " * 18 + "|BAR|" + " " * 18 + "|",
        *(line(LOWER, row) for row in reversed(range(ROWS))),
        numbers(LOWER),
    ]
    sides = [
        f"{name}: bar {counts[side, BAR]}, off {counts[side, OFF]},"
        f" {int(counts[side] @ np.arange(26))} pips"
        for side, name in enumerate(NAMES)
    ]
    larger, smaller = dice_of(words)
    to_play = f"to play {larger}{smaller}" if larger else "to roll"
    return "\n".join([*rows, *sides, f"{NAMES[turn_of(words)]} {to_play}"])


WIDTH, HEIGHT, RADIUS = 400, 260, 12
EDGE, STEP, MIDDLE = 10, 26, 24  # of the board, a point, the bar
NUMBER_SIZE, LEGEND_SIZE = 8, 10  # of text
COLOURS = "#f4efe6", "#3b3b3b"  # of the first player and of the second


def picture(words: np.ndarray) -> str:
    """Return the board as SVG, as the first player sees it, who is X and has the light checkers;
    points are numbered for X."""
    counts, parts = counts_of(words), []
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#c9b08a"/>')
    bar_x = EDGE + 6 * STEP + MIDDLE / 2
    parts.append(
        f'<rect x="{EDGE + 6 * STEP}" y="{EDGE}" width="{MIDDLE}" height="{HEIGHT - 2 * EDGE}"'
        ' fill="#8a6d46"/>'
    )
    for place in range(1, 25):
        x, top = _column(place), place > 12
        base, tip = (EDGE, EDGE + 100) if top else (HEIGHT - EDGE, HEIGHT - EDGE - 100)
        shade = "#a9814f" if place % 2 else "#e3cfa8"
        parts.append(f'<path d="M{x - 12},{base} L{x + 12},{base} L{x},{tip} Z" fill="{shade}"/>')
        parts.append(_text(x, EDGE - 2 if top else HEIGHT - 2, NUMBER_SIZE, str(place), "middle"))
        for side, number in ((0, counts[0, place]), (1, counts[1, 25 - place])):
            parts += _stack(x, base, 1 if top else -1, side, int(number))
    for side in range(2):
        parts += _stack(bar_x, HEIGHT / 2, 1 if side else -1, side, int(counts[side, BAR]))
        parts += _stack(
            WIDTH - EDGE - RADIUS,
            EDGE if side else HEIGHT - EDGE,
            1 if side else -1,
            side,
            int(counts[side, OFF]),
        )
    larger, smaller = dice_of(words)
    side = turn_of(words)
    rolled = f"to play {larger} {smaller}" if larger else "to roll"
    parts.append(
        f'<circle cx="{bar_x - 150}" cy="{HEIGHT / 2}" r="8" fill="{COLOURS[side]}" stroke="#000"/>'
    )
    parts.append(_text(bar_x - 136, HEIGHT / 2 + 5, 15, f"{NAMES[side]} {rolled}"))
    pips = [int(counts[player] @ np.arange(26)) for player in range(2)]
    parts.append(
        _text(
            bar_x + 24,
            HEIGHT / 2 + 4,
            LEGEND_SIZE,
            f"X light, {pips[0]} pips; O dark, {pips[1]} pips",
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}">'
        f"{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, size: int, text: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"'
        f' font-family="sans-serif">{text}</text>'
    )


def _column(place: int) -> float:
    """Return the middle of a point."""
    k = place - 13 if place > 12 else 12 - place
    return EDGE + STEP * (k + 0.5) + (MIDDLE if k > 5 else 0)


def _stack(x: float, base: float, way: int, side: int, number: int) -> list[str]:
    """Return the checkers of a place from its base on; beyond five with a number."""
    circles = [
        f'<circle cx="{x:g}" cy="{base + way * (RADIUS + 2 * RADIUS * 0.8 * k):g}"'
        f' r="{RADIUS * 0.8:g}" fill="{COLOURS[side]}" stroke="#000"/>'
        for k in range(min(number, ROWS))
    ]
    if number > ROWS:
        y = base + way * (RADIUS + 2 * RADIUS * 0.8 * (ROWS - 1)) + 4
        circles.append(
            f'<text x="{x:g}" y="{y:g}" font-size="11" text-anchor="middle"'
            f' font-family="sans-serif" fill="{COLOURS[1 - side]}">{number}</text>'
        )
    return circles
