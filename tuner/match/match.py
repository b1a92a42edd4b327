"""`tuner match` from players to a result."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from games.streams import InputError
from tuner.io.files import GAMES, replace_file, require_writable
from tuner.io.interrupt import interrupts
from tuner.io.progress import Display
from tuner.io.run_folder import begin_folder, read_config, require_fresh, write_config
from tuner.match.entrants import NETWORK, PARAMETERS, understood
from tuner.match.journal import Journal
from tuner.match.openings import Book, Generator, Start
from tuner.match.report import Outcome, first_forfeit_text, outcome_of, progress_text
from tuner.match.schedule import MatchSpec, Pair, match_job, pair_tasks
from tuner.match.settings import SECTION, Settings, changed_files, hash_of
from tuner.match.setup import COPIES, LUCK_COPY, Contestants, contestants_of, openings_of, rules_of, test_of
from tuner.match.tally import Tally
from tuner.networks.files import weights_path
from tuner.parallel import Executor, Running, run


@dataclass(frozen=True)
class Ways:
    """How a match is run, which changes nothing about its games."""

    executor: Executor
    pgn: Path | None = None


def new_match(settings: Settings, folder: Path | None, ways: Ways, command: str, display: Display) -> Outcome:
    """Play a match from the beginning. `folder` is kept and its settings name the `command`; None: a temporary one."""
    _require_pgn(ways, folder, settings)
    if folder is not None:
        require_fresh(folder, SECTION)
    with _folder(folder) as place:
        display.begin("starting")
        contestants = contestants_of(settings)
        a, b = contestants.legs[0]
        settings = replace(settings, names=(a.name, b.name),
                           evaluation=contestants.terms)
        openings, keeps = openings_of(settings, contestants, display.note), _keeps_text(contestants, folder is not None, ways)
        with ways.executor.start(match_job(_spec(settings, contestants, keeps))) as playing:
            openings.opening(0)  # an error in them is reported before any game
            if folder is not None:
                begin_folder(place, SECTION)
                place_copies(place, settings)
                write_config(place, SECTION, settings, command)
            return _play(settings, contestants, openings, playing, place, folder is not None, ways, display)


def resumed_match(folder: Path, ways: Ways, display: Display) -> Outcome:
    """Go on with the match in a folder."""
    settings = read_config(folder, SECTION, Settings)
    _require_pgn(ways, folder, settings)
    if changed := changed_files(settings):
        raise InputError(f"{changed[0]}: is not what it was when the match began; put it back, or start another match")
    display.begin("starting")
    contestants = contestants_of(settings, folder)
    if contestants.terms != settings.evaluation:
        display.note("the program or the machine is not the one that the match began with: games may differ from here on")
    openings, keeps = openings_of(settings, contestants, display.note), _keeps_text(contestants, True, ways)
    with ways.executor.start(match_job(_spec(settings, contestants, keeps))) as playing:
        return _play(settings, contestants, openings, playing, folder, True, ways, display)


def _require_pgn(ways: Ways, folder: Path | None, settings: Settings) -> None:
    if ways.pgn is not None:
        require_writable(ways.pgn, GAMES, (settings.a, settings.b, settings.openings, *settings.files), folder)


@contextlib.contextmanager
def _folder(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder
    else:
        with tempfile.TemporaryDirectory(prefix="evaltune-") as name:
            yield Path(name)


def _keeps_text(contestants: Contestants, kept: bool, ways: Ways) -> bool:
    """Whether games are kept as text. InputError if they are wanted, but the game has no text of games."""
    has_text = contestants.game.matches.text is not None
    if ways.pgn is not None and not has_text:
        raise InputError(f"{contestants.game.name} has no text of games to write")
    return has_text and (kept or ways.pgn is not None)


def _spec(settings: Settings, contestants: Contestants, text: bool) -> MatchSpec:
    return MatchSpec(contestants.game.name, rules_of(settings), tuple(contestants.legs), settings.seed, text,
                     time.strftime("%Y.%m.%d"), contestants.luck)


def with_files(settings: Settings) -> Settings:
    """With the sha256 of the files that a match depends on and that are not copied."""
    paths = [*settings.terms, *([settings.openings] if settings.openings else [])]
    return replace(settings, files={os.path.abspath(path): hash_of(path) for path in paths})


def place_copies(folder: Path, settings: Settings) -> None:
    """Copies of the files of the players, and of the evaluation that measures luck."""
    copies = [*zip((settings.a, settings.b), COPIES, strict=True), *([(settings.luck, LUCK_COPY)] if settings.luck else [])]
    for text, copy in copies:
        named = understood(text)
        if named.kind in (PARAMETERS, NETWORK):
            replace_file(folder / copy, Path(named.what).read_bytes())
        if named.kind == NETWORK:
            replace_file(weights_path(folder / copy), weights_path(Path(named.what)).read_bytes())


def tasks_of(legs: int, pairs: int | None, done: Collection[tuple[int, int]],
             stop: Callable[[], bool]) -> Iterator[tuple[int, int]]:
    """What is left to play: (leg, pair number), the pairs of all legs side by side."""
    for pair in itertools.count() if pairs is None else range(pairs):
        for leg in range(legs):
            if stop():
                return
            if (leg, pair) not in done:
                yield leg, pair


def _play(settings: Settings, contestants: Contestants, openings: Book | Generator | Start, playing: Running, folder: Path,
          kept: bool, ways: Ways, display: Display) -> Outcome:
    """Play what is left to play; every pair counts from its line in the journal, those of earlier runs alike."""
    game, legs, test = contestants.game, contestants.legs, test_of(settings, contestants.game)
    pairs = None if settings.games is None else settings.games // 2
    journal = Journal(folder, f"games{game.suffixes[0]}", display.note, len(legs), pairs,
                      game.points, game.matches.session)
    journal.follower = ways.pgn
    tallies = [Tally(test if leg == 0 else None, game.points) for leg in range(len(legs))]
    places: dict[tuple[int, int], tuple[int, list[int]]] = {}
    done: set[tuple[int, int]] = set()
    known: dict[int, list[int]] = {}
    reported: set[str] = set()

    def count(line: dict) -> None:
        tallies[line["leg"]].add(line)
        done.add((line["leg"], line["pair"]))
        if "at" in line:
            places[line["leg"], line["pair"]] = line["at"], line["bytes"]

    def decided() -> bool:
        return tallies[0].decision is not None

    def report_forfeits(pair: Pair) -> None:
        for forfeit in filter(None, pair.forfeits):
            if forfeit not in reported:
                reported.add(forfeit)
                display.note(first_forfeit_text(forfeit, legs[pair.leg]))

    try:
        for line in journal.lines:
            count(line)
            if "opening" in line:
                known[line["pair"]] = line["opening"]
        openings.known(known)
        total = None if pairs is None else pairs * len(legs)
        if done:
            display.note(f"{len(done):,} pairs were played before")
        display.begin("playing", total)
        with interrupts() as interrupted:
            tasks = pair_tasks(tasks_of(len(legs), pairs, frozenset(done), decided), openings.opening)
            try:
                for pair in () if decided() else run(playing, tasks, interrupted):
                    count(journal.append(pair.line(), pair.texts))
                    report_forfeits(pair)
                    display.playing(progress_text(tallies[0], test, game), len(done))
                    if decided():
                        break
            finally:
                playing.end()
        journal.sync()
        if ways.pgn is not None:
            counted = sorted(key for key in places if tallies[key[0]].counts(key[1]))
            journal.copy_games((places[key] for key in counted), ways.pgn)
    finally:
        journal.close()
    return outcome_of(settings, contestants, tallies, test, folder if kept else None, ways.pgn, interrupted.is_set())
