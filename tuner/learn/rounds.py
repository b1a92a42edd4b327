"""Read and fit: once, or in rounds of searches with the weights learned so far; with the width of
the prior that predicts held-out games best, where --prior cv asks for it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import points_of
from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.summary import is_labelled
from tuner.datasets.writing import split_games
from tuner.fit.fit import fit
from tuner.fit.noise import PLAY
from tuner.fit.result import FitResult
from tuner.fit.setup import FitOptions
from tuner.io.terminal import Display
from tuner.learn.build import count_positions
from tuner.learn.method_table import METHODS
from tuner.learn.methods import fitting_of, resolved
from tuner.learn.reading import device_of, read_sources, report_reading, why_here
from tuner.learn.searches import Making, SearchLog
from tuner.learn.targets import Read, Start
from tuner.options.tune import TuneSettings
from tuner.parallel import Executor
from tuner.parameters.parameters import Parameters

# mean change of values above which leaves and search values are computed again, and own games
# played again
FAR = 0.02
SOME = 50_000  # positions to estimate how far values moved


class Fitted(NamedTuple):
    """The result of all rounds: the last dataset and fit, a summary of the first dataset, and the
    options, with the width of the prior if the data chose it."""

    read: Read
    summary: dict
    result: FitResult
    options: TuneSettings

    @property
    def results(self) -> np.ndarray | None:
        """The results (n,) of the games, if the outcomes of the fit are not these; None for moves,
        which have targets of choices."""
        return None if self.options.method == "moves" else self.read.results


def fitted_in_rounds(
    begun: Start,
    folder: Path,
    given: TuneSettings,
    executor: Executor,
    display: Display,
    log: SearchLog | None = None,
) -> Fitted:
    """Read and fit; with searches, repeat with the learned weights while values change much."""
    engine, _, parameters, sources = begun
    options = resolved(given, begun)
    method = METHODS[options.method]
    searching, searches = parameters, options.depth is not None or options.teacher is not None
    display.begin("reading")
    total: int | None = None
    note: Callable[[str], None] = display.note
    if engine and searches:
        total, note = count_positions(engine, sources, options, display)
    for left in range((options.rounds or 1) - 1, -1, -1):
        first = searching is parameters
        note = note if first else (lambda text: None)
        if searches:
            display.begin("searching" if first else "searching again", total)
        made = Making(
            begun._replace(parameters=searching), options, folder, display.searched, executor, log
        )
        targets = method.make_targets(made)
        read = read_sources(begun, folder, options, targets, note, display)
        if given.device == "auto":
            options = without_gpu(options, read)
        device = device_of(begun, read, options, executor)
        if first:
            scored, labelled = len(read.data.score) > 0, is_labelled(read.data)
            how = method.line(options, engine is None, scored, labelled)
            summary = report_reading(read, device, options, display, how)
            if executor.remote and (why := why_here(begun, read, options)):
                display.note(f"passes over the positions run on this machine: {why}")
        fitting = replace(
            fitting_of(options, device),
            datafit=targets.datafit(read.data, parameters),
            progress=display.passing,
            centipawn=read.centipawn,
        )
        if first:
            options = _with_prior(read.data, parameters, options, fitting, display)
            fitting = replace(fitting, prior=options.prior)
        display.begin("learning", options.iterations)
        start = searching if targets.around_searcher else parameters
        result = targets.fit(read.data, start, fitting, display)
        moved = value_change(result, searching) if left else 0.0
        if moved <= FAR:
            break
        display.note(
            f"values of positions moved by {moved:.3f} on average: searching again with the learned"
            " weights"
        )
        searching = result.parameters
    return Fitted(read, summary, result, options)


def without_gpu(options: TuneSettings, read: Read) -> TuneSettings:
    """Return the options with the CPU in place of a GPU that was chosen by itself, for positions
    that GPUs have no passes for."""
    if options.device != "gpu" or not (read.data.wide or read.data.apart):
        return options
    why = (
        f"term {read.data.apart[0]} is not linear in its weights"
        if read.data.apart
        else (
            "the counts of these rows are not whole numbers from -128 to 127, or there are more"
            " than 256 pairs of phase and scale"
        )
    )
    return replace(options, device="cpu", no_gpu=why)


def _with_prior(
    data: Dataset, start: Parameters, options: TuneSettings, fitting: FitOptions, display: Display
) -> TuneSettings:
    """Return the options; the width that cross-validation chooses replaces --prior cv, and play
    replaces auto where it can be used: for results of games that are won or drawn, and an
    evaluation to start from."""
    if options.prior == "auto" and options.method == "logistic" and options.gradient == "analytic":
        usable = start.weights.any() and points_of(start.game) == 1
        return replace(options, prior=PLAY) if usable else options
    if options.prior != "cv":
        return options
    width, losses = choose_prior(data, start, fitting, display.begin)
    display.note(
        "mean held-out loss by width of the prior: "
        + ", ".join(f"{width:g}: {loss:.5f}" for width, loss in losses.items())
        + f"; chosen: {width:g} {start.wording.unit}"
    )
    return replace(options, prior=width)


def value_change(result: FitResult, before: Parameters) -> float:
    """Return the mean change of the value of a position by a fit that started from these
    parameters, over the first positions."""
    datafit, columns = result.problem.datafit, before.weights.shape[1]
    games = datafit.games[
        : np.searchsorted(np.cumsum(np.diff(datafit.data.first)[datafit.games]), SOME) + 1
    ]
    weights = [np.zeros(result.weights.shape) for _ in range(2)]
    for some, parameters in zip(weights, (before, result.parameters), strict=True):
        some[:, :columns] = parameters.weights
    values = [
        np.tanh(parameters.scale * datafit.evaluations(some, datafit.on(games).ranges))
        for some, parameters in zip(weights, (before, result.parameters), strict=True)
    ]
    return float(np.abs(values[1] - values[0]).mean())


WIDTHS = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)  # centipawns, of priors
SPLITS, SHARE = 4, 0.2  # of cross-validation


def choose_prior(
    data: Dataset,
    parameters: Parameters,
    options: FitOptions,
    watch: Callable[[str], None] = lambda text: None,
) -> tuple[float, dict[float, float]]:
    """Return the width of the prior in centipawns that predicts held-out games best, and the mean
    held-out loss of each width.

    Games are split several times, by whole openings; the games that `options` hold out are not
    used."""
    inside, _ = split_games(data, options.held_out, options.seed)
    losses: dict[float, float] = {}
    for width in WIDTHS:
        watch(f"prior of {width:g} {parameters.wording.unit}")
        tried = []
        for number in range(SPLITS):
            trial = replace(
                options,
                prior=width,
                held_out=SHARE,
                seed=options.seed * 1000 + number + 1,
                errors=False,
            )
            result = fit(data, parameters, trial, games=inside)
            if result.held_out is None:
                raise InputError(
                    f"--prior cv: {len(inside)} games are too few to split; name a width, such as"
                    " --prior 50"
                )
            tried.append(result.held_out_after)
        losses[width] = float(np.mean(tried))
    return min(losses, key=lambda width: losses[width]), losses
