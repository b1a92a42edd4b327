"""Positions with values, a sample of those that games have: what a network learns from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport
from games.streams import InputError, one_line
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset, whole_games
from tuner.datasets.summary import is_labelled
from tuner.evaluation.engine import CompiledTerms
from tuner.io.terminal import Display
from tuner.learn.build import count_positions
from tuner.learn.method_table import METHODS
from tuner.learn.methods import resolved
from tuner.learn.reading import read_sources, started
from tuner.learn.searches import Making
from tuner.learn.targets import Read, Start
from tuner.options.tune import TuneSettings
from tuner.parallel import OnThreads
from tuner.results.trained import LARGEST_PHASE

FRACTION = float(1 << 32)


@dataclass(frozen=True)
class ValuedSample:
    """Games of a dataset (g,), ascending, whose positions in order are the sample (n,). `read.data`
    has the values as outcomes; `options` are resolved."""

    begun: Start
    options: TuneSettings
    read: Read
    games: np.ndarray

    @property
    def data(self) -> Dataset:
        return self.read.data

    @cached_property
    def place(self) -> np.ndarray:
        """Indices (n,) of its positions in the dataset."""
        ranges = whole_games(self.data, self.games)
        return np.concatenate(
            [np.zeros(0, np.int64), *(np.arange(low, high) for low, high in ranges.tolist())]
        )

    @cached_property
    def game(self) -> np.ndarray:
        """The index (n,) of the game of each position."""
        return np.repeat(self.games, np.diff(self.data.first)[self.games])

    @property
    def opening(self) -> np.ndarray:
        """The opening (n,) of the game of each position."""
        return self.data.opening[self.game]

    @cached_property
    def q(self) -> np.ndarray:
        """The values (n,), expected scores of the first player from 0 to 1."""
        return (1 + self.data.outcome[self.place].astype(np.float64)) / 2

    @cached_property
    def mass(self) -> np.ndarray:
        """How many times each position (n,) counts."""
        return self.data.weight[self.place].astype(np.float64)

    @cached_property
    def share(self) -> np.ndarray:
        """The share (n,) of the first stage; of the largest phase if stages have phases of their
        own."""
        stages = self.data.staging
        usual = replace(stages, names=stages.names[:2], spans=())
        return usual.shares(self.data.phase_scale[:, 0])[0][self.data.phase[self.place]]

    @property
    def first_stage(self) -> str | None:
        """What `share` is the share of; None with one stage."""
        stages = self.data.staging
        return LARGEST_PHASE if stages.spans else stages.names[0] if len(stages.names) > 1 else None

    @property
    def values(self) -> str:
        """Where its values come from."""
        options = self.options
        if options.targets == "results":
            return "labels of the positions" if is_labelled(self.data) else "results of the games"
        if options.targets == "search":
            return f"our own searches, depth {options.depth}"
        source = (
            f"searches of {options.teacher}, {options.nodes:,} nodes"
            if options.teacher
            else "recorded scores"
        )
        return source + (
            f", blended with the results (lambda {options.lambda_:g})" if options.lambda_ else ""
        )

    @property
    def positions(self) -> np.ndarray:
        """The positions (n, words). InputError if the sources were counts alone."""
        if self.read.positions is None:
            raise InputError(
                "the sources hold counts of one evaluation, not positions; name the games"
            )
        return np.asarray(self.read.positions[self.place])

    def text(self, command: str) -> str:
        """Return the positions with their values as lines of CSV, made by a command."""
        game = self.begun.game
        assert game is not None, "positions were read"
        lines = (
            f"{text},{q:.4g}" for text, q in zip(game.texts(self.positions), self.q, strict=True)
        )
        return "\n".join([f"# exported by evaltune: {one_line(command)}", "fen,result", *lines, ""])


def read_sample(
    params: str,
    paths: Sequence[str],
    options: TuneSettings,
    most: int,
    folder: Path,
    display: Display,
    per_game: int,
) -> ValuedSample:
    """Read at most about `most` positions of random games with values, unless the options say
    otherwise `per_game` of each; files go to `folder`."""
    display.begin("starting")
    begun = started(params, paths, options)
    engine, sources = begun.engine, begun.sources
    games_alone = engine is not None and all(source.files for source in sources)
    if games_alone and options.per_game is None:
        options = replace(options, per_game=per_game)
    options = resolved(replace(options, device="cpu"), begun)
    display.begin("reading")
    note: Callable[[str], None] = display.note
    if games_alone and engine is not None:
        total, note = count_positions(engine, sources, options, display)
        if total is not None:
            fewer = with_fewer_games(engine, most / max(total, 1), options.seed)
            begun = begun._replace(engine=fewer)
            if options.depth is not None or options.teacher is not None:
                display.begin("searching", min(total, most))
    threads = OnThreads(options.workers)
    made = Making(begun, options, folder, display.searched, threads)
    targets = METHODS[options.method].make_targets(made)
    read = read_sources(begun, folder, options, targets, note, display, games_alone)
    sample = ValuedSample(begun, options, read, _games(read.data, most, options.seed))
    for line in read.lines:
        display.note(line)
    display.note(
        f"{plural(len(sample.place), 'position')} of {plural(len(sample.games), 'game')}; values:"
        f" {sample.values}"
    )
    return sample


def with_fewer_games(engine: CompiledTerms, share: float, seed: int) -> CompiledTerms:
    """Return the same engine, whose game reads about this share of the games; which ones depends on
    each game alone."""
    if share >= 1:
        return engine
    game: Game = engine.game

    def read(
        source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]
    ) -> Iterator[PositionBatch]:
        for batch in game.files.read(source, options, report, note):
            sizes = np.diff(batch.first, append=len(batch.positions))
            yield batch.only(np.repeat(_fraction(batch.identities, seed) < share, sizes))

    return replace(engine, game=replace(game, files=replace(game.files, read=read)))


def _fraction(identities: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each identity (g,), as if drawn at random."""
    with np.errstate(over="ignore"):
        mixed = (
            identities ^ np.uint64(seed * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF)
        ) * np.uint64(0xFF51AFD7ED558CCD)
        mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return (mixed >> np.uint64(32)).astype(np.float64) / FRACTION


def _games(data: Dataset, most: int, seed: int) -> np.ndarray:
    """Return random games (g,), ascending, with at most a number of positions, but two games at
    least."""
    order = np.random.default_rng([seed, data.games]).permutation(data.games)
    last = np.searchsorted(np.cumsum(np.diff(data.first)[order]), most, side="right")
    return np.sort(order[: max(int(last), 2)])
