"""`tuner network`: learn a network from the values of positions, and compare it with an evaluation
on games that neither was fitted to.

Losses are cross-entropies above the entropy of the values themselves, which no prediction can go
below; their intervals are by resampling games."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from evalterms.framework.encoding import Encoding
from games.record import Game, PositionBatch, ReadOptions, ReadReport
from games.streams import InputError, one_line
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset, whole_games
from tuner.datasets.files import is_dataset
from tuner.datasets.summary import is_labelled
from tuner.datasets.writing import split_games
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.evaluation import quiescence_of
from tuner.evaluation.networks.evaluation import evaluation_of, second_to_move
from tuner.evaluation.networks.files import NetworkFile
from tuner.evaluation.networks.learn import Examples, LearnOptions, learn, logits
from tuner.evaluation.networks.model import inputs_of, random_network
from tuner.evaluation.pieces import piece_values
from tuner.io.terminal import Display
from tuner.learn.build import count_positions
from tuner.learn.held_out import ResampledSums, cross_entropy, entropy, fitted_scale
from tuner.learn.method_table import METHODS
from tuner.learn.methods import resolved
from tuner.learn.reading import read_sources, started
from tuner.learn.searches import Making
from tuner.learn.targets import Read, Start
from tuner.options.tune import TuneSettings
from tuner.parallel import OnThreads
from tuner.results.trained import (
    LARGEST_PHASE,
    NET,
    START,
    Gain,
    ModelLoss,
    NetworkMeasurement,
    PhaseLoss,
)

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
    sources: Sequence[str],
    options: TuneSettings,
    most: int,
    folder: Path,
    display: Display,
    per_game: int,
) -> ValuedSample:
    """Read at most about `most` positions of random games with values, unless the options say
    otherwise `per_game` of each; files go to `folder`."""
    display.begin("starting")
    begun = started(params, sources, options)
    engine, game, parameters = begun
    games_alone = engine is not None and not any(
        source != "-" and is_dataset(source) for source in sources
    )
    if games_alone and options.per_game is None:
        options = replace(options, per_game=per_game)
    options = resolved(replace(options, device="cpu"), game, parameters, sources, engine is None)
    display.begin("reading")
    note: Callable[[str], None] = display.note
    if games_alone and engine is not None:
        total = count_positions(
            engine,
            sources,
            options.reading,
            quiescence_of(engine.game, options.judge),
            note,
            display.reading,
        )
        if total is not None:
            note = _nothing  # notes were shown while the positions were counted
            fewer = with_fewer_games(engine, most / max(total, 1), options.seed)
            begun = begun._replace(engine=fewer)
            if options.depth is not None or options.teacher is not None:
                display.begin("searching", min(total, most))
    threads = OnThreads(options.workers)
    made = Making(begun, options, folder, display.searched, threads)
    targets = METHODS[options.method].make_targets(made)
    read = read_sources(begun, sources, folder, options, targets, note, display, games_alone)
    found = ValuedSample(begun, options, read, _games(read.data, most, options.seed))
    for line in read.lines:
        display.note(line)
    display.note(
        f"{plural(len(found.place), 'position')} of {plural(len(found.games), 'game')}; values:"
        f" {found.values}"
    )
    return found


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


def _nothing(found: object) -> None:
    """Ignore a note or a report."""


MIN_POSITIONS = 200  # positions held out, and learned from
ASIDE = 8  # one opening in this number is set aside
QUARTERS = 4
PHASE_DIGITS = 6


def to_learn(sample: ValuedSample, held_out: float) -> np.ndarray:
    """Return which positions (n,) bool are learned from if this share of the games is held out;
    InputError for too few."""
    learned = np.isin(sample.game, split_games(sample.data, held_out, sample.options.seed)[0])
    if min(learned.sum(), (~learned).sum()) < MIN_POSITIONS:
        raise InputError(
            f"{learned.sum():,} positions to learn from and {(~learned).sum():,} held out: expected"
            f" at least {MIN_POSITIONS:,} of both; give more games, or another --held-out than"
            f" {held_out:g}"
        )
    return learned


def set_aside(cluster: np.ndarray, seed: int) -> np.ndarray:
    """Return which positions (n,) bool are of the openings that are set aside."""
    names = np.unique(cluster)
    chosen = np.random.default_rng([seed, len(names)]).permutation(len(names))[
        : max(1, len(names) // ASIDE)
    ]
    return np.isin(cluster, names[chosen])


def held_losses(
    sample: ValuedSample, held: np.ndarray, logits: dict[str, np.ndarray]
) -> tuple[np.ndarray, dict[str, np.ndarray], ResampledSums]:
    """Return how often each of the held-out positions (n,) counts, the losses (n,) of each model,
    so often, and the sums of all; results have no entropy."""
    q, mass = sample.q[held], sample.mass[held]
    own = np.zeros(len(q)) if sample.options.targets == "results" else entropy(q)
    losses = {name: mass * (cross_entropy(logit, q) - own) for name, logit in logits.items()}
    return mass, losses, ResampledSums(sample.opening[held], losses | {"mass": mass})


def winners(sample: ValuedSample, held: np.ndarray, logits: dict[str, np.ndarray]) -> ResampledSums:
    """Return sums by which the mean of a model is the share of the winners that it predicts, of the
    held-out positions whose value is not a draw."""
    q = sample.q[held]
    mass = sample.mass[held] * (q != 0.5)
    right = {name: mass * ((logit > 0) == (q > 0.5)) for name, logit in logits.items()}
    return ResampledSums(sample.opening[held], right | {"mass": mass})


def gain(before: str, after: str, unit: str, sums: dict) -> np.ndarray:
    """Return how much less one model has than its predecessor, in units of another sum."""
    return (sums[before] - sums[after]) / sums[unit]


def mean(name: str, sums: dict) -> np.ndarray:
    """Return the mean loss of a model."""
    return sums[name] / sums["mass"]


def phases(
    share: np.ndarray, cluster: np.ndarray, losses: dict[str, np.ndarray], mass: np.ndarray
) -> list[PhaseLoss]:
    """Return losses of two models and the gain of the second by quarters of the share (n,) of the
    first stage."""
    quarter = np.minimum((QUARTERS * share).astype(int), QUARTERS - 1)
    before, after = losses
    lines = []
    for number in range(QUARTERS):
        here = quarter == number
        if here.any():
            part = ResampledSums(
                cluster[here],
                {name: loss[here] for name, loss in losses.items()} | {"mass": mass[here]},
            )
            means: dict[str, Any] = {
                name: round(float(loss[here].sum() / mass[here].sum()), PHASE_DIGITS)
                for name, loss in losses.items()
            }
            gained = Gain(
                **vars(part.interval(partial(gain, before, after, "mass"))),
                model=after,
                on=before,
                share=part.interval(partial(gain, before, after, before)),
            )
            lines.append(
                PhaseLoss(
                    from_=number / QUARTERS,
                    to=(number + 1) / QUARTERS,
                    positions=int(here.sum()),
                    **means,
                    gains=[gained],
                )
            )
    return lines


@dataclass(frozen=True)
class Shape:
    """An encoding, widths of the hidden layers, and their activation."""

    encoding: Encoding
    hidden: tuple[int, ...] = (64,)
    activation: str = "relu"


def learned_network(
    sample: ValuedSample,
    start: str,
    shape: Shape,
    held_out: float,
    options: LearnOptions,
    arrays: Any,
    command: str,
    output: str,
    display: Display,
) -> tuple[NetworkFile, NetworkMeasurement]:
    """Learn a network from a sample that was read with the parameters `start`; return it with its
    measurement. The `command` and the `output` are only named."""
    game, parameters = sample.begun.game, sample.begun.parameters
    assert game is not None, "positions were read"
    encoding, begun = shape.encoding, time.process_time()
    display.begin("counting inputs")
    second = second_to_move(game, sample.positions) & encoding.for_mover
    q = np.where(second, 1 - sample.q, sample.q)
    examples = Examples(
        inputs_of(encoding, sample.positions), q, np.zeros(len(q)), sample.mass, sample.game
    )
    aside = to_learn(sample, held_out)
    held = ~aside
    aside[~held] = set_aside(sample.opening[~held], sample.options.seed)
    layers = [*((width, shape.activation) for width in shape.hidden), (1, "sigmoid")]
    first = random_network(encoding.size, layers, options.seed)
    first = first.with_flat(first.flat().astype(np.float32))
    display.begin("learning", options.epochs)
    found = learn(
        first,
        examples.only(~held & ~aside),
        examples.only(aside),
        options,
        arrays,
        lambda line: display.counting(line["epoch"]),
    )
    best = min(found.epochs, key=lambda line: line["aside"])["epoch"]
    usual = LearnOptions.rate
    if best == 0 and options.rate > usual:
        raise InputError(
            f"--learning-rate {options.rate:g}: no epoch predicts better than the random weights"
            f" before learning; try --learning-rate {max(options.rate / 10, usual):g}"
        )
    display.begin("measuring")
    network_logit = logits(found.network, examples.inputs[held], arrays)
    start_logit = _start_logit(sample, held)
    origin = f"{int((~held).sum())} positions; {command}"
    file = NetworkFile(
        game.name, encoding.name, found.network, game.points, origin, parameters.scale
    )
    predicted = {START: start_logit, NET: np.where(second[held], -network_logit, network_logit)}
    of_results = sample.options.targets == "results"
    mass, losses, total = held_losses(sample, held, predicted)
    right = winners(sample, held, predicted)
    return file, NetworkMeasurement(
        command=command,
        output=output,
        start=start,
        values=sample.values,
        targets=sample.options.targets,
        positions=len(held),
        games=len(sample.games),
        held_out_positions=int(held.sum()),
        held_out_games=len(np.unique(sample.game[held])),
        seed=sample.options.seed,
        loss="cross-entropy" if of_results else "excess cross-entropy",
        models=[
            ModelLoss(**vars(total.interval(partial(mean, name))), model=name) for name in losses
        ],
        winners=[
            ModelLoss(**vars(right.interval(partial(mean, name))), model=name) for name in losses
        ],
        gain=total.interval(partial(gain, START, NET, "mass")),
        epochs=[
            {
                key: value if key == "epoch" or value is None else round(value, 8)
                for key, value in line.items()
            }
            for line in found.epochs
        ],
        best_epoch=best,
        first_stage=sample.first_stage,
        phases=(
            phases(sample.share[held], sample.opening[held], losses, mass)
            if sample.first_stage
            else None
        ),
        game=game.name,
        encoding=encoding.name,
        layers=[encoding.size, *shape.hidden, 1],
        activation=shape.activation,
        weights=first.size,
        learned_positions=int((~held & ~aside).sum()),
        aside_positions=int(aside.sum()),
        cpu_seconds=round(time.process_time() - begun, 1),
        pieces=piece_values(evaluation_of(file), sample.positions[held]) or None,
    )


def _start_logit(sample: ValuedSample, held: np.ndarray) -> np.ndarray:
    """Return the logits of the held-out positions by the evaluation to start from, with the scale
    that suits the rest."""
    engine, parameters = sample.begun.engine, sample.begun.parameters
    assert engine is not None, "positions were read"
    evaluation = engine.evaluate_many(sample.positions, parameters, sample.options.workers)
    scale = fitted_scale(evaluation[~held], sample.q[~held], sample.mass[~held])
    return 2 * scale * evaluation[held]
