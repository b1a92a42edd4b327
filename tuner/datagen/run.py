"""`tuner games`, from settings to a folder of games."""

from __future__ import annotations

import shlex
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from games.record import find
from games.streams import InputError
from tuner.datagen.parts import Parts
from tuner.datagen.play import GameTask, Generated, Recipe, games_job
from tuner.datagen.settings import SECTION, Settings
from tuner.datagen.setup import book_of, recipe_of
from tuner.datagen.totals import counts_lines, progress_text
from tuner.engine.engine import Engine
from tuner.engine.loading import load_engine, load_parameters
from tuner.io.files import CONFIG
from tuner.io.interrupt import interrupts
from tuner.io.progress import Display
from tuner.io.run_folder import begin_folder, read_config, require_fresh, write_config
from tuner.match.openings import Book
from tuner.parallel import Executor, Running, run
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters

START = "start.yaml"
AHEAD = 4  # games submitted for each thread, so that threads do not idle


@dataclass(frozen=True)
class Result:
    """The result of a run: lines of text, plain data, and whether it was interrupted."""

    lines: list[str]
    plain: dict
    interrupted: bool


def new_games(settings: Settings, folder: Path, executor: Executor, command: str, display: Display) -> Result:
    """Play games into a new folder; the `command` is recorded there."""
    require_fresh(folder, SECTION)
    display.begin("starting")
    engine, parameters = load_engine(settings.start, settings.terms)
    return games_of(engine, parameters, settings, folder, executor, command, display)


def games_of(engine: Engine, parameters: Parameters, settings: Settings, folder: Path, executor: Executor, command: str,
             display: Display) -> Result:
    """Play games of these parameters into a new folder."""
    settings = replace(settings, evaluation=engine.composition.name)
    # the file has fewer digits, and resumed games read it
    with tempfile.TemporaryDirectory(prefix="evaltune-") as place:
        write_parameters(Path(place) / START, parameters)
        parameters = load_parameters(Path(place) / START, settings.terms)
    book = book_of(engine.game, settings, display.note)
    recipe = recipe_of(engine, parameters, settings, book)
    with executor.start(games_job(recipe), AHEAD) as playing:  # an error is reported before there is a folder
        begin_folder(folder, SECTION)
        write_parameters(folder / START, parameters)
        write_config(folder, SECTION, settings, command)
        return _play(recipe, book, playing, folder, display)


def resumed_games(folder: Path, executor: Executor, games: int | None, display: Display) -> Result:
    """Play what is left to play in a folder; `games` sets a new total."""
    if not (folder / CONFIG).exists():
        raise InputError(f"{folder}: contains no games to continue (no {CONFIG}); begin with tuner games PARAMS -o "
                         f"{shlex.quote(str(folder))}")
    settings = read_config(folder, SECTION, Settings)
    if games is not None:
        settings = replace(settings, games=games)
    display.begin("starting")
    engine, parameters = load_engine(folder / START, settings.terms)
    if engine.composition.name != settings.evaluation:
        display.note("the program or the machine is not the one that the games began with: they may differ from here on")
    book = book_of(engine.game, settings, display.note)
    recipe = recipe_of(engine, parameters, settings, book)
    with executor.start(games_job(recipe), AHEAD) as playing:
        return _play(recipe, book, playing, folder, display)


def _play(recipe: Recipe, book: Book | None, playing: Running, folder: Path, display: Display) -> Result:
    """Play the parts that are not there."""
    settings = recipe.settings
    parts = Parts(folder, find(recipe.evaluation.engine.game).suffixes[0], settings.games, settings.part, display.note)
    try:
        parts.write_history()
        write_config(folder, SECTION, settings)  # the number of games may have changed
        before = parts.counts["games"][0]
        if before:
            display.note(f"{before:,} games were played before")
        display.note(f"{settings.control}, noise of {settings.noise:g} centipawns, {settings.games:,} games")
        display.begin("playing", settings.games)
        started = time.monotonic()
        with interrupts() as interrupted:
            for done in _finished(parts, book, playing, interrupted):
                display.playing(progress_text(parts.counts, done / max(time.monotonic() - started, 1e-3)), before + done)
            playing.end()
        seconds = time.monotonic() - started
        return _result(recipe, folder, parts, before, seconds)
    finally:
        parts.close()


def _finished(parts: Parts, book: Book | None, playing: Running, interrupted: threading.Event) -> Iterator[int]:
    """Save each part when its last game is finished; yield the number of games finished so far."""
    tasks = (GameTask(number, book.opening(number) if book else None) for part in parts.missing()
             for number in parts.numbers(part))
    found: dict[int, list[Generated]] = {}
    for done, game in enumerate(run(playing, tasks, interrupted), 1):
        part = parts.part_of(game.number)
        found.setdefault(part, []).append(game)
        if len(found[part]) == len(parts.numbers(part)):
            parts.save(part, sorted(found.pop(part), key=lambda game: game.number))
        yield done


def _result(recipe: Recipe, folder: Path, parts: Parts, before: int, seconds: float) -> Result:
    """Return what is said at the end. Speed is that of this process, over the games that it saved."""
    settings, games, interrupted = recipe.settings, parts.counts["games"][0], bool(parts.missing())
    rate = (games - before) / max(seconds, 1e-3)
    speed = f", {rate:.1f} games a second" if games > before else ""
    lines = [f"wrote {games:,} games to {folder}: {parts.bytes / 1e6:,.1f} MB{speed}",
             *counts_lines(parts.counts, settings, find(recipe.evaluation.engine.game).wording.sides)]
    plain = {"command": "games", "folder": str(folder), "interrupted": interrupted, "bytes": parts.bytes,
             **{key: value[0] if len(value) == 1 else value for key, value in parts.counts.items()}}
    if interrupted:
        lines.append(f"interrupted; continue with: tuner games --resume {shlex.quote(str(folder))}")
    else:
        words = ["tuner", "tune", settings.start, str(folder), "-o", "learned.yaml"]
        plain["tune"] = shlex.join([*words, *(word for path in settings.terms for word in ("--terms", path))])
        lines.append(f"learn from them: {plain['tune']}")
    return Result(lines, plain, interrupted)
