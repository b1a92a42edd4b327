"""The run of self-play that learns a parameter file or a network: of weights, or of a network of a
game with dice. Runs of several seeds, what they have in common, and what is chance."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from games.record import ReadOptions, ReadReport, available, find
from tuner.core.records import InputError
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.loading import bundled_games, load_parameters, parameter_path
from tuner.evaluation.networks.evaluation import network_evaluation, usual_of_new
from tuner.evaluation.networks.files import holds_network
from tuner.evaluation.pieces import piece_values
from tuner.io.run_folder import read_settings
from tuner.io.terminal import Display
from tuner.options.option import options_in, refuse
from tuner.options.selfplay import NetworkOptions, SelfplayOptions, SelfplaySettings
from tuner.parameters.reader import game_of
from tuner.play.selfplay import network
from tuner.play.selfplay.folder import START, read_history, require_begun_with
from tuner.play.selfplay.learner import new_learner
from tuner.play.selfplay.presets import NETWORKS, WEIGHTS, WITH_DICE, with_preset
from tuner.play.selfplay.run import LearningRun
from tuner.play.selfplay.settings import selfplay_settings
from tuner.play.selfplay.weights import WeightsRun
from tuner.results.selfplay import RepeatedRuns, SelfPlay, Spread

# of settings, the file to write besides, and a display
MakeRun = Callable[[Any, Path | None, Display], LearningRun]


@dataclass(frozen=True, kw_only=True)
class AnyOptions(NetworkOptions, SelfplayOptions):
    """The options of both kinds of runs."""


def run_for(
    params: str, given: Mapping[str, Any], terms: Sequence[str] = (), cluster: str | None = None
) -> tuple[MakeRun, Any]:
    """Return what makes the run that learns `params`, and its settings, from the options that were
    given. InputError for options that have no use there."""
    line = None
    if (name := given.get("as_")) is not None:
        own = {key: value for key, value in given.items() if key != "as_"}
        given, line = with_preset(name, own, params, *_kind_of(params))
    start: Any = network.start_of(params, _of(NetworkOptions, given), terms)
    if not start.online:
        weights = _of(SelfplayOptions, given)
        usual = usual_of_new(weights) if network.describes_new(given) else {}
        settings = selfplay_settings(params, {**usual, **weights}, terms)
        return _noting(partial(WeightsRun, start=start), line), settings
    known = {each.name for each in options_in(NetworkOptions)}
    refuse(
        (
            each.names[-1],
            each.name in given and each.name not in known,
            "has no meaning for networks of games with dice, which learn one roll deep",
        )
        for each in options_in(SelfplayOptions)
    )
    require_one_thread(given.get("workers"), cluster)
    found, file = network.network_settings(params, _of(NetworkOptions, given), start.spec())
    return _noting(partial(network.NetworkRun, start=file), line), found


def resumable_kind(folder: Path, settings: Any) -> type[LearningRun]:
    """Return the kind of the run in a folder; InputError if it was begun with other settings, or if
    the file that it started from has other weights by now. The number of games, or of threads, may
    differ."""
    kind = WeightsRun if isinstance(settings, SelfplaySettings) else network.NetworkRun
    known = read_settings(folder, kind.section, kind.kind)
    free = {"games", "measure_every", "workers", kind.program}
    require_begun_with(folder, known, settings, sorted(set(kind.kind.recorded()) - free))
    if settings.start not in available():  # the name of a game: a network of its own
        terms = getattr(settings, "terms", ())
        files = (folder / START, parameter_path(settings.start))
        begun, now = (load_evaluation(path, terms).weights for path in files)
        if not np.array_equal(begun, now):
            raise InputError(
                f"{folder}: was begun with other weights than {settings.start} has now; expected"
                " the same, or another folder with --run"
            )
    return kind


def _kind_of(params: str) -> tuple[str, bool]:
    """Return what learns, see `presets.Preset`, and whether it is a new network."""
    if params in available():
        return WITH_DICE if find(params).has_dice else NETWORKS, True
    path = parameter_path(params)
    if not holds_network(path):
        return WEIGHTS, False
    return WITH_DICE if find(game_of(path)).has_dice else NETWORKS, False


def _noting(make: MakeRun, line: str | None) -> MakeRun:
    """Return what makes a run and, if there is one, notes a line about it."""

    def noted(settings: Any, output: Path | None, display: Display) -> LearningRun:
        if line is not None:
            display.note(line)
        return make(settings, output, display)

    return noted


def require_one_thread(workers: int | None, cluster: str | None) -> None:
    """InputError for more than one thread, or a cluster, to learn a network with dice."""
    one = "a network learns after every ply, in one thread"
    refuse(
        (
            (f"--workers {workers}", (workers or 1) > 1, one),
            (f"--cluster {cluster}", cluster, one),
        )
    )


def _of(record: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options that a record has."""
    names = [each.name for each in options_in(record)]
    return {name: given[name] for name in names if name in given}


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
    repeats = RepeatedRuns(runs=[*map(str, folders)], games=runs[0].games, loss=losses)
    if holds_network(paths[0]):
        return replace(repeats, pieces=spreads_of(map(_pieces, paths)))
    learned = [load_parameters(path, terms) for path in paths]
    begun = [_begun(run, folder, terms) for run, folder in zip(runs, folders, strict=True)]
    weights = np.array([each.weights for each in learned])
    first = learned[0]
    names = [f"{label} {stage}" for stage in first.stages for label in first.layout.labels()]
    headline = {place.path for place in first.layout.headline}
    changes = weights - np.array(begun)  # which differ with --noise
    free = changes.any(axis=0)
    return replace(
        repeats,
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
