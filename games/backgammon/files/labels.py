"""Read labeled positions as CSV: `position_id,win,win_g,win_bg,lose_g,lose_bg`.

The numbers are probabilities for the side that rolls, which becomes the first player: to win, to
win a gammon or more, to win a backgammon, to lose a gammon or more, to lose a backgammon. They are
cumulative, like gnubg's: win_g <= win."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from games.backgammon.files.ids import from_position_id
from games.backgammon.rules.board import OFF, counts_of
from games.backgammon.rules.play import points
from games.reading import FileFault
from games.streams import InputError

HEADER = ("position_id", "win", "win_g", "win_bg", "lose_g", "lose_bg")
CHANCE = "an impossible probability"
TOLERANCE = 2e-3  # of files whose numbers have three decimals
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def points_of(chances: np.ndarray) -> np.ndarray:
    """Return the expected points (n,) of the side that rolls from its probabilities (n, 5)."""
    win, win_g, win_bg, lose_g, lose_bg = chances.T
    return 2 * win - 1 + win_g + win_bg - lose_g - lose_bg


def parse_line(text: str) -> tuple[np.ndarray, list[float]]:
    """Return the position and the probabilities of a line; Fault if it is not one."""
    fields = [field.strip().strip('"') for field in text.split(",")]
    if len(fields) != len(HEADER):
        raise FileFault(
            f"{len(fields)} fields, expected {len(HEADER)}: {','.join(HEADER)}",
            "a line with too few or many fields",
        )
    chances = []
    for name, field in zip(HEADER[1:], fields[1:], strict=True):
        if not NUMBER.fullmatch(field) or not -TOLERANCE <= float(field) <= 1 + TOLERANCE:
            raise FileFault(f"{name} is {field[:20]!r}, expected a probability from 0 to 1", CHANCE)
        chances.append(min(max(float(field), 0.0), 1.0))
    win, win_g, win_bg, lose_g, lose_bg = chances
    for name, part, whole_name, whole in (
        ("win_g", win_g, "win", win),
        ("win_bg", win_bg, "win_g", win_g),
        ("lose_g", lose_g, "1 - win", 1 - win),
        ("lose_bg", lose_bg, "lose_g", lose_g),
    ):
        if part > whole + TOLERANCE:
            raise FileFault(
                f"{name} is {part:g}, more than {whole_name}, {whole:g}, of which it is a part",
                CHANCE,
            )
    try:
        words = from_position_id(fields[0])
    except ValueError as problem:
        raise FileFault(str(problem), "an impossible position ID") from None
    own, other = counts_of(words)[:, OFF]
    for name, gammons, off in (("win_g", win_g, other), ("lose_g", lose_g, own)):
        if off and gammons > TOLERANCE:
            raise FileFault(
                f"{name} is {gammons:g}, but the loser has borne off {off} of the checkers; is the"
                " position ID that of the side that rolls?",
                CHANCE,
            )
    if points(words):
        raise FileFault(
            f"position ID {fields[0]!r} has a side without checkers: the game is over",
            "a position after the end",
        )
    return words, chances


def parse(
    source: str, text_lines: Iterator[bytes]
) -> Iterator[tuple[int, np.ndarray, list[float]] | tuple[int, FileFault]]:
    """Yield the number of each line of a file, with its position and probabilities or its fault.
    InputError for a file without the header."""
    header = False
    for number, line in enumerate(text_lines, 1):
        text = line.decode("utf-8-sig", "replace").strip()
        if not text or text.startswith("#"):
            continue
        if not header:
            if tuple(field.strip().strip('"') for field in text.split(",")) != HEADER:
                raise InputError(
                    f"{source}:{number}: the header is {text[:60]!r}, expected {','.join(HEADER)}"
                )
            header = True
            continue
        try:
            yield number, *parse_line(text)
        except FileFault as problem:
            yield number, problem
    if not header:
        raise InputError(f"{source}: empty, expected the header {','.join(HEADER)}")
