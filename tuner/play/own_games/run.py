"""`tuner games`, from settings to a folder of games: files of whole parts, and a line about each in
`history.jsonl`.

A part counts when its line is there and its file has the checksum that the line names. Both are
replaced as a whole, the file first, so that a kill at any moment loses only the parts under way;
they are played again, to the same games.
"""

from __future__ import annotations

import shlex
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from games.record import PLIES, RULES, Game
from games.search.searcher import Limits, Searcher
from games.streams import InputError
from tuner.evaluation.engine import Engine
from tuner.evaluation.loading import evaluation_spec, load_engine, load_parameters
from tuner.io.files import HISTORY, plain_text, replace_file, sha256_of
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import locked, write_config
from tuner.io.terminal import Display
from tuner.options.games import SECTION, GamesSettings
from tuner.parallel import Job, Running, run
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters
from tuner.play.adjudication import BY_SCORES, DRAW, ENDING, ENDS, RESIGN, TABLES
from tuner.play.game import Course, by_rules
from tuner.play.journal import is_count, json_line, json_object
from tuner.play.openings import Book, Opening
from tuner.play.own_games.play import (
    MEGABYTES,
    GameTask,
    Generated,
    Recipe,
    games_job,
    random_opening,
    spread_of,
)
from tuner.play.run import Result, Run
from tuner.statistics.intervals import wilson_interval

LEVEL = 10  # of the compression
SAME, DRAWN, REVERSED = 0, 1, 2  # how games that were played on ended, beside their verdicts
COUNTS = {
    "games": 1,
    "plies": 1,
    "outcomes": 3,
    "own": 3,
    **{f"end_{end.replace(' ', '_')}": 1 for end in ENDS},
    **{f"checked_{rule}": 3 for rule in BY_SCORES},
}  # keys of a line, and how many whole numbers each has
Counts = dict[str, list[int]]


def counts_of(games: list[Generated]) -> Counts:
    """Count games: `outcomes` are wins, draws and losses of the first player, `own` those of the
    evaluation itself; `end_...` how they ended; `checked_...` how games that were played on ended:
    as the rule said, drawn instead, won by the other side."""
    counts = {key: [0] * size for key, size in COUNTS.items()}
    for game in games:
        counts["games"][0] += 1
        counts["plies"][0] += game.plies
        counts["outcomes"][_kind(game.outcome)] += 1
        counts["own"][_kind(game.own)] += 1
        counts[f"end_{game.end.replace(' ', '_')}"][0] += 1
        if game.checked:
            rule, outcome, end = game.checked
            counts[f"checked_{rule}"][
                SAME if end == outcome else DRAWN if end == 0 else REVERSED
            ] += 1
    return counts


def _kind(outcome: float) -> int:
    """Return 0 for a win, 1 for a draw, 2 for a loss."""
    return 1 - (outcome > 0) + (outcome < 0)


def sum_of(lines: Iterable[Mapping[str, Any]]) -> Counts:
    """Return the sums of the counts of lines."""
    counts = {key: [0] * size for key, size in COUNTS.items()}
    for line in lines:
        counts = {
            key: [a + b for a, b in zip(total, line[key], strict=True)]
            for key, total in counts.items()
        }
    return counts


class Parts:
    """The parts of a folder, which one process at a time may use. `games` is their number in all,
    `size` that of a part."""

    def __init__(
        self, folder: Path, suffix: str, games: int, size: int, note: Callable[[str], None]
    ) -> None:
        self.folder, self._suffix, self._games, self._size = folder, suffix, games, size
        self._lock = locked(folder)
        try:
            self._lines = self._read(note)
        except BaseException:
            self._lock.close()
            raise
        self.counts = sum_of(self._lines.values())  # over all parts that are there

    @property
    def count(self) -> int:
        """The number of parts."""
        return -(-self._games // self._size)

    def numbers(self, part: int) -> range:
        """Return the numbers of the games of a part."""
        return range(part * self._size, min(self._games, (part + 1) * self._size))

    def part_of(self, number: int) -> int:
        """Return the part of a game."""
        return number // self._size

    def missing(self) -> list[int]:
        """Return the parts that are yet to be played."""
        return [part for part in range(self.count) if part not in self._lines]

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(self.path(part).stat().st_size for part in self._lines)

    def path(self, part: int) -> Path:
        """Return the path of the file of a part."""
        return self.folder / f"games-{part + 1:05d}{self._suffix}.zst"

    def save(self, part: int, games: list[Generated]) -> None:
        """Write a part, and then the line that makes it count."""
        text = plain_text("".join(game.text for game in games)).encode()
        replace_file(self.path(part), zstandard.ZstdCompressor(level=LEVEL).compress(text))
        counts = counts_of(games)
        self._lines[part] = {
            "part": part,
            "file": self.path(part).name,
            "sha256": sha256_of(self.path(part)),
            **counts,
        }
        self.counts = sum_of([self.counts, counts])
        self.write_history()

    def write_history(self) -> None:
        """Write the lines of all parts that are there."""
        replace_file(
            self.folder / HISTORY,
            b"".join(json_line(self._lines[part]) for part in sorted(self._lines)),
        )

    def close(self) -> None:
        self._lock.close()

    def _read(self, note: Callable[[str], None]) -> dict[int, dict]:
        """Return the lines of the parts that are there and whole."""
        path = self.folder / HISTORY
        try:
            raw = path.read_bytes().splitlines() if path.exists() else []
        except OSError as problem:
            raise InputError(f"{path}: cannot be read: {problem.strerror}") from None
        found: dict[int, dict] = {}
        for number, text in enumerate(raw, 1):
            line = _line_of(text)
            if line is None:
                note(
                    f"{path}:{number}: damaged, expected the line of a part; its games are played"
                    " again"
                )
                continue
            part, file = line["part"], self.path(line["part"])
            if line["games"][0] > len(self.numbers(part)):
                raise InputError(
                    f"{self.folder}: contains more than {self._games:,} games already; choose a"
                    " larger --games"
                )
            if line["games"][0] < len(self.numbers(part)):
                continue  # the last part of fewer games
            if not file.is_file() or sha256_of(file) != line["sha256"]:
                note(f"{file}: is missing or was changed; its games are played again")
                continue
            found[part] = line
        return found


def _line_of(text: bytes) -> dict | None:
    """Decode a line of the history; None if it is not one."""
    try:
        line = json_object(text)
    except ValueError:
        return None
    if line.keys() != {"part", "file", "sha256", *COUNTS} or not is_count(line["part"]):
        return None
    good = all(
        isinstance(line[key], list) and len(line[key]) == size and all(map(is_count, line[key]))
        for key, size in COUNTS.items()
    )
    return line if good else None


ENDED = {
    RULES: "by the rules of the game",
    RESIGN: "resigned",
    DRAW: "drawn by scores",
    ENDING: "drawn endings",
    TABLES: "by tables",
    PLIES: "drawn at the greatest length",
}


def counts_lines(counts: Counts, settings: GamesSettings, sides: tuple[str, str]) -> list[str]:
    """Return the results of games between these sides, how they ended, and a sentence about each
    rule that some games were played on to check."""
    games = counts["games"][0]
    if not games:
        return []
    wins, draws, losses = counts["outcomes"]
    ends = ((end, counts[f"end_{end.replace(' ', '_')}"][0]) for end in ENDS)
    lines = [
        (
            f"  results        {wins:,} won by {sides[0]}, {losses:,} by {sides[1]}, {draws:,}"
            f" drawn, {counts['plies'][0] / games:.0f} plies a game"
        ),
        "  ended          "
        + ", ".join(f"{ENDED[end]} {number / games:.1%}" for end, number in ends if number),
    ]
    won, level, _ = counts["own"]
    if settings.noise:
        lines.append(
            f"  noise          the evaluation scored {(won + level / 2) / games:.1%} against its"
            " copies"
        )
    lines += [
        _checked(rule, counts[f"checked_{rule}"], settings)
        for rule in BY_SCORES
        if sum(counts[f"checked_{rule}"])
    ]
    return lines


def _checked(rule: str, found: list[int], settings: GamesSettings) -> str:
    """Return a sentence about the games that were played on after this rule had ended them."""
    played = sum(found)
    low, high = wilson_interval(found[SAME], played)
    what = {RESIGN: "resignations", DRAW: "draws by scores", ENDING: "drawn endings"}[rule]
    others = [
        f"{found[DRAWN]:,} drawn" if found[DRAWN] else "",
        (
            f"{found[REVERSED]:,} won by the other side"
            if found[REVERSED] and rule == RESIGN
            else f"{found[REVERSED]:,} won"
            if found[REVERSED]
            else ""
        ),
    ]
    rest = ", " + " and ".join(filter(None, others)) + " instead" if found[SAME] < played else ""
    shallow = (
        f"; searches of {settings.control} also fail to win what is won"
        if rule == RESIGN and found[DRAWN]
        else ""
    )
    return (
        f"  adjudication   {found[SAME]:,} of {played:,} {what} that were played on ended so "
        f"({low:.1%} to {high:.1%} with 95 % confidence){rest}{shallow}"
    )


def progress_text(counts: Counts, rate: float) -> str:
    """Return the games so far as a progress line; `rate` is the number of games a second of this
    process."""
    games = counts["games"][0]
    draws = (
        f", {counts['outcomes'][1] / games:.0%} drawn, {counts['plies'][0] / games:.0f} plies a"
        " game"
        if games
        else ""
    )
    return f"{games:,} games saved, {rate:.1f} games a second{draws}"


SAMPLE_GAMES, SAMPLE_PLIES = 16, 100  # whose positions measure what noise does to evaluations


def recipe_of(
    engine: Engine, parameters: Parameters, settings: GamesSettings, book: Book | None
) -> Recipe:
    """Return how games are played. InputError for an evaluation that has no search, and for a game
    with dice or without files of games."""
    game = engine.game
    if game.has_dice:
        raise InputError(
            f"games of {game.name} differ by their dice, not by noise in evaluations; `tuner match"
            f" {settings.start} {settings.start} --pgn OUT` plays games to learn from"
        )
    judge = engine.searcher(parameters, megabytes=MEGABYTES)  # refuses a game without a search
    if game.files.game_text is None:
        raise InputError(
            f"{game.name} has no files of games to write; its games come from elsewhere"
        )
    positions = sample_of(
        game,
        judge,
        (
            book.opening(number) if book else random_opening(game, settings, number, judge)
            for number in range(SAMPLE_GAMES)
        ),
    )
    spread = spread_of(engine, parameters, positions, settings.noise, settings.seed)
    return Recipe(
        evaluation=evaluation_spec(engine, parameters),
        settings=settings,
        spread=spread,
        name=Path(settings.start).stem,
    )


def book_of(game: Game, settings: GamesSettings, note: Callable[[str], None]) -> Book | None:
    """Return the openings of the file that the settings name; None without one."""
    if settings.openings is None:
        return None
    if game.files.openings is None:
        raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
    return Book(game.files.openings(settings.openings, note), "random", settings.seed)


def sample_of(game: Game, searcher: Searcher, openings: Iterable[Opening]) -> np.ndarray:
    """Return positions (n, words) of games that searches of depth 1 play from some openings."""
    positions: list[np.ndarray] = []
    for number, opening in enumerate(openings):
        course = Course(game, opening)
        searcher.clear()
        searcher.choose_by(number + 1)
        while by_rules(course) is None and len(course.line) < SAMPLE_PLIES:
            best = searcher.search(course.line, Limits(depth=1)).move
            assert best is not None, "the game is not over"
            course.add(best)
        positions += [*course.line[course.book :]]
    return np.array(positions)


START = "start.yaml"
AHEAD = 4  # games submitted for each thread, so that threads do not idle


def _finished(
    parts: Parts, book: Book | None, playing: Running, interrupted: threading.Event
) -> Iterator[int]:
    """Save each part when its last game is finished; yield the number of games finished so far."""
    tasks = (
        GameTask(number, book.opening(number) if book else None)
        for part in parts.missing()
        for number in parts.numbers(part)
    )
    found: dict[int, list[Generated]] = {}
    for done, game in enumerate(run(playing, tasks, interrupted), 1):
        part = parts.part_of(game.number)
        found.setdefault(part, []).append(game)
        if len(found[part]) == len(parts.numbers(part)):
            parts.save(part, sorted(found.pop(part), key=lambda game: game.number))
        yield done


class OwnGamesRun(Run):
    """Games of an evaluation against its copies. `start` is the evaluation that plays, if it is not
    that of the settings."""

    command = section = SECTION
    kind, what, ahead = GamesSettings, "games", AHEAD

    def __init__(
        self,
        settings: GamesSettings,
        output: Path | None,
        display: Display,
        start: tuple[Engine, Parameters] | None = None,
    ) -> None:
        super().__init__(settings, output, display)
        self.start = start

    def require_output(self, folder: Path | None) -> None:
        """See `Run`. The folder is all that is written."""

    def load(self, folder: Path | None) -> str:
        """See `Run`. InputError for an evaluation that has no search, and for a game with dice or
        without files of games."""
        settings = self.settings
        engine, parameters = self.start or load_engine(
            folder / START if folder else settings.start, settings.terms
        )
        if folder is None:  # the file has fewer digits, and resumed games read it
            with tempfile.TemporaryDirectory(prefix="evaltune-") as place:
                write_parameters(Path(place) / START, parameters)
                parameters = load_parameters(Path(place) / START, settings.terms)
        self.game, self._parameters = engine.game, parameters
        self._book = book_of(engine.game, settings, self.display.note)
        self._recipe = recipe_of(engine, parameters, settings, self._book)
        return engine.composition.name

    def job(self) -> Job:
        """See `Run`."""
        return games_job(self._recipe)

    def place(self, folder: Path) -> None:
        """See `Run`."""
        write_parameters(folder / START, self._parameters)

    def play(self, folder: Path, playing: Running | None) -> Result:
        """See `Run`. Only parts that are not there are played."""
        assert playing is not None, "its games are work"
        settings, display = self.settings, self.display
        parts = Parts(
            folder, self.game.files.suffixes[0], settings.games, settings.part, display.note
        )
        try:
            parts.write_history()
            write_config(folder, SECTION, settings)  # the number of games may have changed
            before = parts.counts["games"][0]
            self.note_games(before)
            display.note(
                f"{settings.control}, noise of {settings.noise:g} centipawns, {settings.games:,}"
                " games"
            )
            display.begin("playing", settings.games)
            started = time.monotonic()
            with interrupts() as interrupted:
                for done in _finished(parts, self._book, playing, interrupted):
                    display.playing(
                        progress_text(parts.counts, done / max(time.monotonic() - started, 1e-3)),
                        before + done,
                    )
                playing.end()
            return self._result(folder, parts, before, time.monotonic() - started)
        finally:
            parts.close()

    def _result(self, folder: Path, parts: Parts, before: int, seconds: float) -> Result:
        """Return what is said at the end. Speed is that of this process, over the games that it
        saved."""
        settings, games, interrupted = (
            self.settings,
            parts.counts["games"][0],
            bool(parts.missing()),
        )
        speed = (
            f", {(games - before) / max(seconds, 1e-3):.1f} games a second"
            if games > before
            else ""
        )
        lines = [
            f"wrote {games:,} games to {folder}: {parts.bytes / 1e6:,.1f} MB{speed}",
            *counts_lines(parts.counts, settings, self.game.wording.sides),
        ]
        plain = {
            "command": "games",
            "folder": str(folder),
            "interrupted": interrupted,
            "bytes": parts.bytes,
            **{key: value[0] if len(value) == 1 else value for key, value in parts.counts.items()},
        }
        if interrupted:
            lines.append(self.advice(folder))
        else:
            words = ["tuner", "tune", settings.start, str(folder), "-o", "learned.yaml"]
            plain["tune"] = shlex.join(
                [*words, *(word for path in settings.terms for word in ("--terms", path))]
            )
            lines.append(f"learn from them: {plain['tune']}")
        return Result(lines, plain, interrupted)
