"""Read files of backgammon into batches of positions: matches as `.mat`, or labeled
positions, by the name of a file or its first lines.

Learning takes play without the cube: the outcome of a game is the points that it is won by, 1, 2
for a gammon or 3 for a backgammon, divided by 3, whatever the cube shows and whatever the score of
the match. A game that ends with a dropped double has no such outcome: it was not played to its end,
nor did the sides agree on its points.

The numbers of labeled positions (CSV, see HEADER) are probabilities for the side that rolls, which
becomes the first player: to win, to win a gammon or more, and so on. They are cumulative, like
gnubg's: win_g <= win."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from games.backgammon.files import mat
from games.backgammon.files.ids import from_position_id
from games.backgammon.files.mat import DROPPED, FoundGame, GameRecord
from games.backgammon.rules.board import OFF, STATE, WORDS, counts_of, swapped, turn_of
from games.backgammon.rules.play import HIGHEST_POINTS, points
from games.reading import (
    Faults,
    FileFault,
    FileGame,
    Policy,
    counted,
    format_by_name,
    hash_of,
    refuse_foreign,
    start_of,
)
from games.record import PositionBatch, ReadOptions, ReadReport
from games.streams import UTF8_MARK, InputError, beginning, lines, pieces

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


MAT, LABELS = "mat", "labels"
SUFFIXES = {".mat": MAT, ".csv": LABELS}
START = 1 << 12  # bytes at the start of a file that are examined
_MATCH = re.compile(rb"\s*(\d{1,5} point match\b|Game 1\s*$)", re.IGNORECASE | re.MULTILINE)
_LABELS = re.compile(rb"\s*\"?" + HEADER[0].encode() + rb"\"?\s*,")


def of_start(start: bytes) -> str | None:
    """Return the content of a file that begins with these bytes, or None."""
    start = start.removeprefix(UTF8_MARK)
    lines = [
        line
        for line in start.splitlines()
        if line.strip() and not line.lstrip().startswith((b"#", b";"))
    ]
    if lines and _LABELS.match(lines[0]):
        return LABELS
    return MAT if _MATCH.search(start) else None


def opened(source: str) -> tuple[str, Iterator[bytes]]:
    """Return the content of a file and its bytes; by its first bytes, otherwise by its name;
    InputError if neither says it."""
    refuse_foreign(source)
    stream = pieces(source)
    start = beginning(stream, START)
    form = of_start(start) or format_by_name(source, SUFFIXES)
    if form is None:
        raise InputError(
            f"{source}: neither the name nor the first lines say the format; expected matches"
            " (.mat) or labeled positions (.csv with the header"
            f" {','.join(HEADER)})"
        )
    return form, chain([start], stream)


def of_file(name: str) -> str | None:
    """Return the content of a file, None if unknown; of a pipe or folder by its name
    alone."""
    return of_start(start_of(name, START)) or format_by_name(name, SUFFIXES)


OPENING_PLIES = 2  # with their dice: more than 300 rolls, and as many openings as one can hold out
WITHOUT_OUTCOME = "ended by a dropped double, so without points of play: the rest is a selection"
POSITIONS = ("auto", "all", "moves")
AT_ONCE = 1 << 14  # labeled positions


def read(
    source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]
) -> Iterator[PositionBatch]:
    """Yield the positions of a file before each roll. InputError if it cannot be read, and
    for the first fault under `strict`. Default: all positions of games but the last, in which the
    game is over; all labeled positions."""
    if options.positions not in POSITIONS:
        raise InputError(
            f"--positions {options.positions}: backgammon has no quiescence search, so no quiet"
            f" positions; choose {' or '.join(POSITIONS[:2])}"
        )
    form, stream = opened(str(source))
    stream = counted(stream, report)
    faults = Faults(str(source), "line" if form == LABELS else "game", options.strict, report, note)
    policy = Policy("backgammon", options, report, faults, _key)
    if form == LABELS:
        yield from _labelled(str(source), lines(source, stream), policy)
        return
    games = mat.parse(str(source), lines(source, stream))
    dice = options.positions == "moves"
    yield from policy.batches(_file_game(found, report, dice) for found in games)


def _key(words: np.ndarray) -> bytes:
    """Return the key of a position, independent of its ply."""
    return words[:STATE].tobytes() + bytes([turn_of(words)])


def hashed(game: GameRecord, plies: int | None = None) -> np.uint64:
    """Return a hash of the first plies of a game: dice and moves."""
    rolled = np.array(game.rolled[:plies], np.uint64).tobytes()
    return hash_of(rolled + np.array(game.moves[:plies], np.uint64).tobytes())


def _from_either_side(game: GameRecord) -> np.uint64:
    """Return a hash of a game that is the same if the sides are swapped."""
    if game.rolled and turn_of(game.rolled[0]):
        return hashed(replace(game, rolled=list(swapped(np.array(game.rolled)))))
    return hashed(game)


def _file_game(found: FoundGame, report: ReadReport, dice: bool) -> FileGame:
    place, game, fault = found
    if fault is not None:
        return FileGame(place, fault)
    if game.end == DROPPED:
        report.faults[WITHOUT_OUTCOME] = report.faults.get(WITHOUT_OUTCOME, 0) + 1
    if game.end == DROPPED or game.value is None:
        return FileGame(place)
    return FileGame(
        place,
        None,
        np.array([*game.rolled, game.line[-1]]) if dice else game.line,
        game.value / HIGHEST_POINTS,
        hashed(game),
        hashed(game, OPENING_PLIES),
        _from_either_side(game),
        over=points(game.line[-1]) != 0,
    )


def _labelled(source: str, text_lines: Iterator[bytes], policy: Policy) -> Iterator[PositionBatch]:
    """Yield labeled positions; each is a game of its own, and equal boards are held out together.

    The side that rolls is the first player in about half of them, by a hash of the board, and the
    second in the rest: otherwise the roll could not be separated from an advantage of the first
    player."""
    items, before = parse(source, text_lines), 0
    while some := list(islice(items, AT_ONCE)):
        for line, fault in (item for item in some if len(item) == 2):
            policy.faults.add(line, fault, fault.kind)
        good = [item for item in some if len(item) == 3]
        positions = np.array([words for _, words, _ in good], np.uint64).reshape(-1, WORDS)
        chances = np.array([found for *_, found in good]).reshape(-1, len(HEADER) - 1)
        policy.report.games += len(some)
        repeated = policy.report.duplicate_games
        chosen = policy.lone(positions)
        policy.report.duplicate_positions += policy.report.duplicate_games - repeated
        taken, outcomes = (
            positions[chosen],
            (points_of(chances[chosen]) / HIGHEST_POINTS).astype(np.float32),
        )
        identities = np.array([hash_of(words[:STATE].tobytes()) for words in taken], np.uint64)
        other = identities & np.uint64(1) != 0
        taken[other] = swapped(taken[other])
        outcomes[other] *= -1
        yield from policy.lone_batch(taken, outcomes, identities, before + 1 + chosen)
        before += len(positions)
    policy.faults.end()
