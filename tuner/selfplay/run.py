"""`tuner selfplay`, from settings to a learned file."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from games.contest import PLIES, RULES, PlayedGame
from games.record import Game
from games.streams import InputError
from tuner.engine.loading import load_engine, parameter_path
from tuner.io.files import BUNDLED, LEARNED, replace_file, require_writable
from tuner.io.interrupt import interrupts
from tuner.io.progress import Display
from tuner.io.run_folder import begin_folder, begin_numbered, read_config, require_fresh, write_config
from tuner.match.defaults import usual_of as usual_match
from tuner.match.openings import Opening
from tuner.parallel import Executor, Running
from tuner.parameters.writer import write_parameters
from tuner.selfplay.folder import START, Folder
from tuner.selfplay.learner import Learner, new_learner
from tuner.selfplay.measure import Measurement, player_of_terms
from tuner.selfplay.play import BROKEN_OFF, FORFEITED, Episode
from tuner.selfplay.settings import SECTION, Settings
from tuner.selfplay.setup import openings_of, require_playable, require_suitable, spec_of_games
from tuner.selfplay.watch import batch_line, progress_text, table_of
from tuner.selfplay.workers import Workers, selfplay_job

KEYS, PARAMS = "games.keys", "params.yaml"  # of the folder of a run
WRITE_SECONDS = 5.0  # between two versions of params.yaml


@dataclass(frozen=True)
class Result:
    """The result of a run: lines of text, plain data, and whether it was interrupted."""

    lines: list[str]
    plain: dict
    interrupted: bool


def new_run(settings: Settings, folder: Path | None, executor: Executor, output: Path | None, command: str,
            display: Display) -> Result:
    """Start a run in a new folder (None: selfplay-1, or the next free number), with games played by the executor; the `command`
    is recorded there."""
    if folder is not None:
        require_fresh(folder, SECTION)
    _require_output(output, folder, settings)
    display.begin("starting")
    engine, parameters = load_engine(settings.start, settings.terms)
    require_playable(engine.game)
    require_suitable(engine.game, settings)
    settings = replace(settings, evaluation=engine.composition.name)
    learner = new_learner(engine, parameters, settings)
    if not learner.free.any():
        raise InputError("every parameter is fixed, by --fixed or `fixed` in the file: nothing to learn; free some")
    opening = openings_of(engine, settings, display.note)
    opening(0)
    measurement = _measurement(learner)
    with executor.start(selfplay_job(spec_of_games(learner))) as playing:
        folder = begin_folder(folder, SECTION) if folder else begin_numbered(SECTION, SECTION)
        start = parameter_path(settings.start)
        if start.is_relative_to(BUNDLED):  # without the comments, which are about the bundled numbers
            write_parameters(folder / START, parameters)
        else:
            replace_file(folder / START, start.read_bytes())
        write_config(folder, SECTION, settings, command)
        return _run(learner, opening, measurement, playing, folder, output, display)


def resumed_run(folder: Path, executor: Executor, output: Path | None, games: int | None, display: Display) -> Result:
    """Continue the run in a folder; `games` sets a new total."""
    settings = read_config(folder, SECTION, Settings)
    _require_output(output, folder, settings)
    display.begin("starting")
    engine, parameters = load_engine(folder / START, settings.terms)
    if games is not None:
        settings = replace(settings, games=games)
    if engine.composition.name != settings.evaluation:
        display.note("the program or the machine is not the one that the run began with: games may differ from here on")
    require_playable(engine.game)
    learner, opening = new_learner(engine, parameters, settings), openings_of(engine, settings, display.note)
    measurement = _measurement(learner)
    with executor.start(selfplay_job(spec_of_games(learner))) as playing:
        return _run(learner, opening, measurement, playing, folder, output, display)


def method_text(settings: Settings) -> str:
    """Return the method in a few words."""
    decay = "" if settings.trace is None else f", lambda {settings.trace:g}"
    gradient = "" if settings.gradient == "analytic" else f", {settings.gradient} of {settings.step:g} centipawns"
    return f"{settings.method}{decay}{gradient}"


def _require_output(output: Path | None, folder: Path | None, settings: Settings) -> None:
    if output is not None:
        require_writable(output, LEARNED, (settings.start, settings.openings, *settings.opponents, *settings.terms), folder)


def _measurement(learner: Learner) -> Measurement | None:
    settings, engine = learner.settings, learner.engine
    if settings.measure is None:
        return None
    found = Measurement(engine.game, settings.measure, settings.measure_games, settings.measure_every, settings.seed,
                        settings.terms)
    try:
        player_of_terms(engine, learner.parameters)
    except ValueError as problem:
        raise InputError(f"--measure {settings.measure}: {problem}; leave it out") from None
    return found


def _run(learner: Learner, opening: Callable[[int], Opening], measurement: Measurement | None, playing: Running, path: Path,
         output: Path | None, display: Display) -> Result:
    settings, engine = learner.settings, learner.engine
    folder = Folder(path, PARAMS, (f"games{engine.game.suffixes[0]}", KEYS), display.note)
    started, written = time.process_time(), time.monotonic()
    try:
        if folder.restore(learner):
            write_config(path, SECTION, settings)  # the number of games may have changed
        else:
            folder.checkpoint(learner)
        known = set(np.fromfile(path / KEYS, np.uint64).tolist())
        before = folder.history()
        spent, games = (before[-1]["cpu_seconds"], before[-1]["games"]) if before else (0.0, 0)
        if games:
            display.note(f"{games:,} games were played before")
        limit = f"depth {settings.depth}" if settings.depth is not None else f"{settings.nodes:,} nodes"
        display.note(f"{method_text(settings)}, {limit}, {settings.games:,} games, in {path}")
        display.begin("playing", settings.games)
        date = time.strftime("%Y.%m.%d")
        interrupted = False
        with interrupts() as asked:
            workers = Workers(learner, opening, playing, games)
            for episodes in workers.batches(asked):
                played = learner.kept[workers.version(learner.batches)]
                new, keys = _without_duplicates(episodes, known)
                watched = learner.learn(new, played)
                earlier, games = games, games + len(episodes)
                found = None
                if measurement and measurement.due(earlier, games, settings.games):
                    found = measurement.of(player_of_terms(engine, learner.parameters.with_weights(learner.average)))
                seconds = time.process_time() - started - (measurement.seconds if measurement else 0.0)
                line = batch_line(engine.layout, learner, episodes, len(episodes) - len(new), watched, games, spent + seconds)
                line |= {"measured": found.plain} if found else {}
                folder.append(learner, line, _texts(engine.game, episodes, date).encode("utf-8", "replace"),
                              np.array(keys, np.uint64).tobytes())
                known.update(keys)
                if found:
                    display.note(f"after {games:,} games: {found.text}")
                display.playing(progress_text(line, engine.game), line["games"])
                if time.monotonic() - written > WRITE_SECONDS:
                    _write(path / PARAMS, learner, line)
                    written = time.monotonic()
            playing.end()
            interrupted = asked.is_set()
        history = folder.history()
        last = history[-1] if history else {"games": 0, "cpu_seconds": 0.0}
        _write(path / PARAMS, learner, last)
        if output is not None:
            _write(output, learner, last)
    finally:
        folder.close()
    plain = {"command": "selfplay", "folder": str(path), "output": str(output) if output else str(path / PARAMS),
             "interrupted": interrupted, **last}
    lines = [f"learned from {last['games']:,} games in {last['cpu_seconds']:.1f} CPU s: {plain['output']}",
             table_of(engine.layout, learner, engine.game)]
    if interrupted:
        lines.append(f"interrupted; continue with: tuner selfplay --resume {shlex.quote(str(path))}")
    else:
        words = ["tuner", "match", plain["output"], settings.start, "--depth",
                 str(usual_match(engine.game).depth), "--games", "400"]
        plain["match"] = shlex.join([*words, *(word for path in settings.terms for word in ("--terms", path))])
        lines.append(f"see whether it is better: {plain['match']}")
    return Result(lines, plain, interrupted)


def _without_duplicates(episodes: list[Episode], seen: set[int]) -> tuple[list[Episode], list[int]]:
    """Return the episodes whose moves were not played before, and the keys of all."""
    new, keys = [], []
    for episode in episodes:
        key = key_of(episode)
        if key not in seen and key not in keys:
            new.append(episode)
        keys.append(key)
    return new, keys


def key_of(episode: Episode) -> int:
    """Return a hash of a game's first position and moves."""
    moves = np.array(episode.moves, np.uint64)
    if not (moves >> np.uint64(32)).any():
        moves = moves.astype(np.uint32)
    digest = hashlib.blake2b(episode.line[0].tobytes() + moves.tobytes(), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def _texts(game: Game, episodes: list[Episode], date: str) -> str:
    """Return the games as text for a file of games; empty if the game has no such format, or dice: such games are many and short,
    and the seed of the run gives them again."""
    if game.contest.text is None or game.roll is not None:
        return ""
    return "".join(game.contest.text(_played(episode, date)) for episode in episodes)


def _played(episode: Episode, date: str) -> PlayedGame:
    names = ("learner", "learner") if episode.side is None else ("learner", "opponent")[::1 - 2 * episode.side]
    end = {BROKEN_OFF: PLIES, FORFEITED: "crash"}.get(episode.end, RULES)
    loser = None if not episode.outcome else int(episode.outcome > 0)
    return PlayedGame(episode.line, episode.moves, episode.opening, [], [], episode.outcome, end, loser, players=names,
                      round=str(episode.number + 1), date=date, event="tuner selfplay")


def _write(path: Path, learner: Learner, line: dict) -> None:
    """Write the weights that play as a parameter file."""
    settings = learner.settings
    learned = {"command": "selfplay", "start": Path(settings.start).name, "method": settings.method,
               **({"lambda": settings.trace} if settings.trace is not None else {}),
               **({"wins": True} if settings.wins else {}),
               **({"gradient": settings.gradient, "step": settings.step} if settings.gradient != "analytic" else {}),
               "seed": settings.seed, "games": line["games"], "cpu_seconds": round(line["cpu_seconds"], 1)}
    write_parameters(path, learner.parameters.with_weights(learner.average, learned=learned, standard_errors=None))
