"""Runs of self-play that differ by their seed alone: what they have in common, and what is
chance."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from games.record import ReadOptions, ReadReport
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.loading import bundled_games, load_parameters
from tuner.evaluation.networks.evaluation import network_evaluation
from tuner.evaluation.networks.files import holds_network
from tuner.evaluation.pieces import piece_values
from tuner.options.selfplay import SelfplaySettings
from tuner.play.selfplay.folder import START, read_history
from tuner.play.selfplay.learner import new_learner
from tuner.results.selfplay import RepeatedRuns, SelfPlay, Spread

LAST = 0.1  # of the batches of a run, whose squared errors are its loss
SAMPLE = 2000  # bundled positions in which pieces are taken away
SOME = ReadOptions(positions="all", per_game=2)


def repeats_of(runs: Sequence[SelfPlay], terms: Sequence[str]) -> RepeatedRuns:
    """Return what two or more finished runs of different seeds have learned, the mean and the
    standard deviation of each number; of networks, whose weights are not comparable, of what they
    think pieces are worth."""
    folders = [Path(str(run.run)) for run in runs]
    losses = spreads_of({"loss": _loss(folder)} for folder in folders)["loss"]
    paths = [Path(str(run.output)) for run in runs]
    found = RepeatedRuns(runs=[*map(str, folders)], games=runs[0].games, loss=losses)
    if holds_network(paths[0]):
        return replace(found, pieces=spreads_of(map(_pieces, paths)))
    learned = [load_parameters(path, terms) for path in paths]
    begun = [_begun(run, folder, terms) for run, folder in zip(runs, folders, strict=True)]
    weights = np.array([each.weights for each in learned])
    first = learned[0]
    names = [f"{label} {stage}" for stage in first.stages for label in first.layout.labels()]
    headline = {place.path for place in first.layout.headline}
    changes = weights - np.array(begun)  # which differ with --noise
    free = changes.any(axis=0)
    return replace(
        found,
        weights=spreads_of(dict(zip(names, row.ravel(), strict=True)) for row in weights),
        headline=[name for name in names if name.rpartition(" ")[0] in headline],
        moved=_root_mean_square(changes.mean(axis=0)[free]),
        apart=_root_mean_square(changes.std(axis=0, ddof=1)[free]),
    )


def _begun(run: SelfPlay, folder: Path, terms: Sequence[str]) -> np.ndarray:
    """Return the weights (stages, columns) that a run began with, its noise included."""
    assert isinstance(run.settings, SelfplaySettings), "networks are left out"
    return new_learner(load_evaluation(folder / START, terms), run.settings).weights


def spreads_of(found: Iterable[Mapping[str, float]]) -> dict[str, Spread]:
    """Return the mean and the standard deviation of each number of several runs."""
    rows = list(found)
    return {
        name: Spread(float(np.mean(values)), float(np.std(values, ddof=1)))
        for name in rows[0]
        for values in ([row[name] for row in rows],)
    }


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean())) if values.size else 0.0


def _loss(folder: Path) -> float:
    """Return the mean squared error of the values of the last games of a run."""
    squares = [line["squares"] for line in read_history(folder)]
    return float(np.mean(squares[-max(1, int(LAST * len(squares))) :]))


def _pieces(path: Path) -> dict[str, float]:
    """Return what a network thinks pieces are worth."""
    evaluation = network_evaluation(path)
    source = bundled_games(evaluation.game.name)
    if source is None:
        return {}
    batches = evaluation.game.files.read(str(source), SOME, ReadReport(), lambda text: None)
    some = [batch.positions for batch in itertools.islice(batches, 1 + SAMPLE // 500)]
    return piece_values(evaluation, np.concatenate(some)[:SAMPLE])
