"""Openings of matches: games of files, lines of USI moves (`startpos moves 7g7f 3c3d`), SFEN positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from games.contest import Openings
from games.faults import MOST_OF_OPENINGS, Notes
from games.shogi import content, notation, sfen
from games.shogi.gamefile import shown
from games.shogi.movegen import play
from games.shogi.position import WORDS
from games.shogi.reading import games_of
from games.streams import InputError

FIRST_LINES = 1000  # that may say the format of a file whose name does not


def line_of(text: str) -> tuple[list[np.ndarray], list[int]]:
    """Return the positions of `[position] startpos|sfen SFEN [moves ...]` and the moves between them; ValueError for a fault."""
    words = text.split()
    if words[:1] == ["position"]:
        del words[0]
    moves = words.index("moves") if "moves" in words else len(words)
    line, found = [sfen.position(" ".join(words[:moves]))], []
    for name in words[moves + 1:]:
        try:
            found.append(notation.move_named(line[-1], name))
        except ValueError:
            raise ValueError(f"illegal move {shown(name)} at ply {len(found) + 1}") from None
        after = np.empty_like(line[-1])
        play(line[-1], found[-1], after)
        line.append(after)
    return line, found


def _of_lines(source: str, lines: Sequence[str], skip: Callable[[str], None]) -> tuple[list[np.ndarray], list[list[int]]]:
    starts, moves = [], []
    for number, text in enumerate(lines, 1):
        if not text.strip() or text.startswith("#"):
            continue
        try:
            line, found = line_of(text)
        except ValueError as problem:
            skip(f"{source}:{number}: {problem}; line skipped")
            continue
        starts.append(line[0])
        moves.append(found)
    return starts, moves


def openings(source: str, note: Callable[[str], None]) -> Openings:
    """Read openings from a file of games, of SFEN positions or of USI lines; InputError if there is none. Bad games and lines are
    skipped with a note."""
    starts: list[np.ndarray] = []
    moves: list[list[int]] = []
    notes = Notes(source, note, MOST_OF_OPENINGS)
    form = content.by_name(source)
    if form in content.PACKED:
        raise InputError(f"{source}: openings cannot be {form} records; expected games, SFEN positions or lines of USI moves")
    lines = content.lines_of(source)
    form = form or content.of_lines(lines[:FIRST_LINES])
    if form is None:
        starts, moves = _of_lines(source, lines, notes.add)
    else:
        for game in games_of(lines, form):
            if game.fault:
                notes.add(f"{source}:{game.fault.line}: {game.fault.text}; game skipped")
            else:
                starts.append(game.line[0])
                moves.append(game.moves)
    notes.end(f"bad {'lines' if form is None else 'games'} skipped")
    if not starts:
        raise InputError(f"{source}: no openings found, expected games, SFEN positions or lines such as startpos moves 7g7f 3c3d")
    flat = np.array([move for found in moves for move in found], np.uint32)
    return Openings(np.array(starts, np.uint64).reshape(-1, WORDS), flat, np.cumsum([len(found) for found in moves]))
