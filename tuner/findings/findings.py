"""Diagnostics of a fit: losses before and after with intervals clustered by game, calibration,
errors in points, noise, and advice."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from games.record import Wording
from tuner.core.estimates import FEW_GAMES, Estimate, Ratio, estimate_of, reach_of
from tuner.core.records import round_finite
from tuner.core.text import plural
from tuner.datasets.dataset import ahead
from tuner.findings.identifiability import identify
from tuner.fit.covariance import Uncertainty, ratios
from tuner.fit.datafit import Datafit
from tuner.fit.noise import noise_of
from tuner.fit.result import FitResult
from tuner.fit.scale import with_slopes
from tuner.objectives.cross_entropy import CROSS_ENTROPY
from tuner.parameters.parameters import Layout
from tuner.results.fit import (
    Bin,
    Calibrations,
    Change,
    DataSummary,
    Draws,
    Findings,
    NoiseCost,
    Outcomes,
    PointsError,
    Result,
    Sides,
)
from tuner.statistics.intervals import (
    equal_results_interval,
)


def error_in_points(
    result: FitResult, on_results: tuple[Datafit, Datafit | None] | None, most: int
) -> PointsError:
    """Return the root mean square error of the expected points before and after a fit, of held-out
    positions if there are any, and the standard deviation of the targets: the results of
    `on_results`, or else the targets of the fit. `most` are the points of an outcome of 1."""
    learned, held_out = on_results or (result.problem.datafit, result.held_out)
    is_held_out = held_out is not None and held_out.positions > 0
    datafit = held_out if held_out is not None and is_held_out else learned
    positions, before, deviation = _errors(datafit, result.reference)
    after = _errors(datafit, result.weights)[1]
    before, after, deviation = (round(most * each, 4) for each in (before, after, deviation))
    beaten = deviation < before or None
    return PointsError(min(before, deviation), after, deviation, positions, is_held_out, beaten)


def _errors(datafit: Datafit, weights) -> tuple[int, float, float]:
    """Return the number of positions, the root mean square of outcome minus value, and the
    deviation of the outcomes."""
    number, squares, total, total_squares = 0, 0.0, 0.0, 0.0
    for predicted in predictions(datafit, weights, datafit.sampled_games(MAX_POSITIONS)):
        outcome = datafit.data.outcome[predicted.place].astype(float)
        residual = outcome - (2 * predicted.score - 1)
        number += len(outcome)
        squares += float(residual @ residual)
        total += float(outcome.sum())
        total_squares += float(outcome @ outcome)
    n = max(number, 1)
    return number, math.sqrt(squares / n), math.sqrt(max(total_squares / n - (total / n) ** 2, 0.0))


MOST_MOVED = 8  # values that a warning names
CERTAIN = 0.999  # the largest value of a constant
REVERSED = 4.0  # standard errors
BINS = 20
MAX_POSITIONS = 1 << 20  # positions used: some hundred thousand give two digits of an error


class Predictions(NamedTuple):
    """Positions by index (n,), their expected scores for the first player, from 0 to 1, and their
    losses."""

    place: np.ndarray
    score: np.ndarray
    loss: np.ndarray


def predictions(
    datafit: Datafit, weights: np.ndarray, games: np.ndarray, constant: float | None = None
) -> Iterator[Predictions]:
    """Yield the predictions for the positions of some games, a block at a time; `constant` is an
    evaluation in place of that by the weights."""
    part = datafit.on(games)
    for piece in ahead(datafit.data, part.ranges):
        sizes = piece[:, 1] - piece[:, 0]
        place = np.repeat(piece[:, 1] - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        evaluation = (
            datafit.evaluations(weights, piece)
            if constant is None
            else np.full(len(place), constant)
        )
        outcome = datafit.data.outcome[place].astype(float)
        objective, scale = datafit.objective, datafit.scale
        # of a draw, if the loss models draws
        width = weights[:, -1] @ datafit.unscaled[:, datafit.data.phase[place]]
        yield Predictions(
            place,
            objective.expected_score(scale, evaluation, width),
            objective.loss(scale, evaluation, width, outcome),
        )
        datafit.data.release()


def change_of_loss(
    datafit: Datafit, before: np.ndarray, after: np.ndarray, constant: float | None = None
) -> Change:
    """Return the mean losses per position with two sets of weights, and the change between them;
    `constant` is an evaluation in place of that before."""
    games = datafit.sampled_games(MAX_POSITIONS)
    sums, counts = np.zeros((2, len(games))), np.diff(datafit.data.first)[games].astype(float)
    starts = datafit.data.first[games]
    for both in zip(
        predictions(datafit, before, games, constant),
        predictions(datafit, after, games),
        strict=True,
    ):
        for line, part in zip(sums, both, strict=True):
            np.add.at(line, np.searchsorted(starts, part.place, side="right") - 1, part.loss)
    difference = mean_of_clusters(*by_identity(datafit.data.game[games], sums[1] - sums[0], counts))
    old, new = sums.sum(axis=1) / counts.sum()
    return Change(float(old), float(new), difference, len(games), int(counts.sum()))


def by_identity(
    names: np.ndarray, sums: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums and counts of games, added up for games of one identity."""
    _, group = np.unique(names, return_inverse=True)
    return np.bincount(group, sums), np.bincount(group, counts)


def mean_of_clusters(sums: np.ndarray, counts: np.ndarray) -> Estimate:
    """Return the mean over positions from the sums and counts (g,) of games, a ratio of means
    (Cochran 1977, section 6.3)."""
    kept = counts > 0
    sums, counts = sums[kept], counts[kept]
    n, total = len(counts), counts.sum()
    mean = float(sums.sum() / total)
    if n < 2:
        return Estimate(mean)
    error = np.sqrt(((sums - mean * counts) ** 2).sum() * n / (n - 1)) / total
    return estimate_of(mean, float(error), reach_of(n))


def calibration(datafit: Datafit, weights: np.ndarray) -> list[Bin]:
    """Return predicted and actual scores of the first player, in bins of the prediction with about
    equal positions. There is no interval where all games of a bin ended alike, but not by wins
    of one side alone."""
    games = datafit.sampled_games(MAX_POSITIONS)
    predicted = list(predictions(datafit, weights, games))
    place, score = (
        np.concatenate([getattr(part, name) for part in predicted]) for name in ("place", "score")
    )
    actual = 0.5 + 0.5 * datafit.data.outcome[place].astype(float)
    game = datafit.data.game[games][
        np.searchsorted(datafit.data.first[games], place, side="right") - 1
    ]
    edges = np.quantile(score, np.linspace(0, 1, BINS + 1)[1:-1])
    which = np.searchsorted(edges, score)
    lines = []
    for number in range(BINS):
        chosen = which == number
        if chosen.any():
            _, group = np.unique(game[chosen], return_inverse=True)
            mean = mean_of_clusters(
                np.bincount(group, actual[chosen]), np.bincount(group).astype(float)
            )
            n, results = int(group.max()) + 1, actual[chosen]
            same = bool((results == results[0]).all())
            ends = (
                equal_results_interval(float(results[0]), n)
                if same
                else (max(0.0, mean.low), min(1.0, mean.high))
            )
            low, high = ends or (math.nan, math.nan)
            mean = replace(mean, low=low, high=high)
            lines.append(Bin(float(score[chosen].mean()), mean, int(chosen.sum()), n))
    return lines


NOISY = 20.0  # centipawns of sampling noise in evaluations, where its price is unknown
COSTLY = 25.0  # Elo of sampling noise: more than results usually gain


def ratios_of(found: Uncertainty | None, weights: np.ndarray, layout: Layout) -> list[Ratio]:
    """Return the weights of the headline as multiples of the first one, with 95 % intervals."""
    places = layout.headline
    if found is None or len(places) < 2 or weights[:, places[0].first].mean() <= 0:
        return []
    names = {place.first: place.path for place in places}
    return [
        Ratio(names[column], places[0].path, ratio.rounded(4))
        for column, ratio in ratios(found, weights, [place.first for place in places]).items()
    ]


def results_problems(
    result: FitResult, results: np.ndarray | None
) -> tuple[Datafit, Datafit | None] | None:
    """Return the problems on the training and held-out games, with the `results` (n,) of games as
    outcomes and cross-entropy as loss; None if the outcomes of the fit are the results."""
    if results is None:
        return None

    def on_them(datafit: Datafit) -> Datafit:
        return replace(
            datafit, data=replace(datafit.data, outcome=results), objective=CROSS_ENTROPY
        )

    return on_them(result.problem.datafit), None if result.held_out is None else on_them(
        result.held_out
    )


def held_out_change(result: FitResult) -> Change | None:
    """Return the change of the mean loss of held-out positions on the targets of the fit, with an
    interval."""
    return _change(result, result.problem.datafit, result.held_out)


def held_out_results(
    result: FitResult, on_results: tuple[Datafit, Datafit | None] | None
) -> Change | None:
    """Return the same on the results of the games; see `results_problems`."""
    return _change(result, *(on_results or (result.problem.datafit, result.held_out)))


def _change(result: FitResult, learned: Datafit, held_out: Datafit | None) -> Change | None:
    """Return the change of the loss from the starting values, or from the constant that predicts
    the games learned from best, if it predicts the held-out games better."""
    if held_out is None or not held_out.positions:
        return None
    change = change_of_loss(held_out, result.reference, result.weights)
    constant = math.atanh(min(max(_mean_outcome(learned), -CERTAIN), CERTAIN)) / held_out.scale
    from_constant = change_of_loss(held_out, result.reference, result.weights, constant)
    beaten = from_constant.before < change.before
    change = from_constant if beaten else change
    difference = change.difference
    return replace(
        change,
        before=round(change.before, 7),
        after=round(change.after, 7),
        difference=(
            difference if difference.low < difference.high else Estimate(difference.value)
        ).rounded(7),
        constant=beaten or None,
    )


def _mean_outcome(datafit: Datafit) -> float:
    """Return the mean outcome of the positions of a datafit, in [-1, 1]."""
    ranges = datafit.on(datafit.sampled_games(MAX_POSITIONS)).ranges
    outcomes = [datafit.data.outcome[begin:end] for begin, end in ranges]
    return float(np.concatenate(outcomes).mean(dtype=float))


def reversed_results(result: FitResult, on_results: tuple[Datafit, Datafit | None] | None) -> bool:
    """Return whether the starting values predict the opposite of the results: the mean product of
    value and result is below zero by REVERSED errors, clustered by game."""
    datafit, start = on_results[0] if on_results else result.problem.datafit, result.problem.start
    if not start.any():
        return False
    games, mean = datafit.sampled_games(MAX_POSITIONS), _mean_outcome(datafit)
    starts, sums = datafit.data.first[games], np.zeros(len(games))
    for part in predictions(datafit, start, games):
        products = (2 * part.score - 1) * (datafit.data.outcome[part.place] - mean)
        np.add.at(sums, np.searchsorted(starts, part.place, side="right") - 1, products)
    counts = np.diff(datafit.data.first)[games].astype(float)
    estimate = mean_of_clusters(*by_identity(datafit.data.game[games], sums, counts))
    return bool(estimate.value + REVERSED / 2 * (estimate.high - estimate.value) < 0)


def loss_as_given(
    result: FitResult, on_results: tuple[Datafit, Datafit | None] | None, scale: float
) -> float | None:
    """Return the mean loss of held-out positions on the results by the starting values as their
    file has them: with its `scale`, without slopes by phase and intercept. None without held-out
    games, and for models of draws."""
    held_out = on_results[1] if on_results else result.held_out
    if held_out is None or not held_out.positions or held_out.objective.widths:
        return None
    given = replace(with_slopes(held_out, np.ones(held_out.data.phases + 1)), scale=scale)
    start = result.problem.start
    return round(change_of_loss(given, start, start).before, 7)


def draws_of(result: FitResult, stages: tuple[str, ...]) -> Draws | None:
    """Return the widths of a draw by stage in centipawns; None if the loss does not model draws."""
    if result.width is None:
        return None
    errors = (
        result.uncertainty.standard_errors[:, -1]
        if result.uncertainty
        else [math.nan] * len(stages)
    )
    return Draws(
        result.problem.datafit.objective.name,
        round(result.problem.datafit.scale, 8),
        {stage: round(float(width), 2) for stage, width in zip(stages, result.width, strict=True)},
        {stage: round_finite(error, 2) for stage, error in zip(stages, errors, strict=True)},
    )


def findings(
    result: FitResult,
    described: Result,
    summary: dict,
    layout: Layout,
    on_results: tuple[Datafit, Datafit | None] | None,
) -> Findings:
    """Return all diagnostics that do not need the games themselves; `described` is the result of
    `tuner.learn.result.describe`, `summary` that of `tuner.datasets.summary`."""
    own = (result.problem.datafit, result.held_out)
    return Findings(
        result=described,
        calibration=Calibrations(
            results=_calibration(result, on_results or own),
            targets=_calibration(result, own) if on_results else None,
        ),
        identifiability=identify(
            result.problem, result.curvature, result.null_space, layout, result.parameters.stages
        ),
        summary=DataSummary(Outcomes(**summary["games_by_result"]), summary["positions_by_phase"]),
    )


def _calibration(result: FitResult, problems: tuple[Datafit, Datafit | None]) -> Sides:
    """Return the calibration before and after, on held-out games if there are any."""
    learned, held_out = problems
    datafit = held_out if held_out is not None and held_out.positions else learned
    return Sides(
        before=calibration(datafit, result.reference), after=calibration(datafit, result.weights)
    )


def noise_found(result: FitResult, centipawn: float | None) -> NoiseCost | None:
    """Return the effect of sampling noise on evaluations of held-out positions (of training
    positions without held-out ones), in centipawns, and what it costs in Elo if one of them is
    worth `centipawn` of `classic` (see `tuner.fit.errors`); None without errors, and if no weight
    was learned."""
    held_out = (
        result.held_out
        if result.held_out is not None and result.held_out.positions
        else result.problem.datafit
    )
    found = noise_of(result.uncertainty, held_out, result.weights) if result.uncertainty else None
    if found is None or found.evaluations == 0:
        return None
    noise = NoiseCost(round(found.evaluations, 2))
    if not result.convergence.converged:
        centipawn = None  # what is not a best fit has no price
    cost = found.elo(centipawn) if centipawn is not None else None
    if found.differences is not None:
        noise = replace(noise, differences=round(found.differences, 2))
        if cost and centipawn is not None and centipawn != 1:
            noise = replace(noise, of_classic=round(centipawn * found.differences, 2))
    return replace(noise, elo=cost.rounded(1)) if cost else noise


def better_targets(rows: bool, scores: bool, searchable: bool = True, counted: bool = False) -> str:
    """Return better targets than results as text: of `rows` that another program counted,
    of a dataset that was `counted` here or of games, with `scores` of searches or without, whose
    positions are `searchable` or not."""
    if not searchable and not rows:
        return "positions that a stronger player has labeled"
    if scores:
        return "the scores (--method scores)"
    if rows:
        return "scores of searches (`score` in each row, and --method scores)"
    games = " of the games, in place of their dataset" if counted else ""
    return f"searches{games} (--method rootstrap)"


def advice(
    result: FitResult,
    change: Change | None,
    noise: NoiseCost | None,
    method: str,
    better: str,
    words: Wording,
    labelled: bool = False,
    opposite: bool = False,
) -> list[str]:
    """Return the caveats of a fit, as lines of text; `change` is the change of the held-out loss on
    results, `better` names what could be learned from in place of results. `labelled`: the games
    are labeled positions. `opposite`: the results look reversed."""
    lines, games = [], result.games
    of, results = ("positions", "labels") if labelled else ("games", "results")
    if opposite:
        lines.append(
            f"the {results} look reversed: the starting values predict the opposite; check whose"
            f" view the {results} have"
        )
    lines += _large_changes(result, words)
    if not result.convergence.converged:
        lines.append(
            f"the fit did not converge: {result.convergence.remains}; use more --iterations or"
            " another --learner"
        )
    if result.step and not result.share and not _learned(result):
        lines.append(
            "the weights stay at their starting values, because the change that the"
            f" {results} support does not exceed sampling noise; learn from {better}, or from"
            f" more {of}"
        )
    elif result.uncertainty and games:
        if result.uncertainty.covariance.unknown:
            lines.append(
                f"there are no intervals, since {games} {of} are not more than the weights that"
                " they set; use --prior auto"
            )
        elif games < FEW_GAMES:
            lines.append(f"only {games} {of}: intervals are wider (Student's t), and still rough")
    if change and math.isfinite((difference := change.difference).half_width):
        if difference.low <= 0 <= difference.high:
            lines.append(
                f"no significant change on held-out {of}; only a match can tell whether it plays"
                " better"
            )
        elif difference.low > 0:
            worse = "a constant" if change.constant else "the starting values"
            lines.append(
                f"the learned values predict the {results} of held-out {of} worse than {worse}"
            )
    if (
        noise
        and result.convergence.converged
        and noise.evaluations is not None
        and method == "logistic"
        and (noise.evaluations > NOISY if noise.elo is None else noise.elo.value > COSTLY)
    ):
        expected = "" if noise.elo is None else "expect to lose a match: "
        lines.append(
            f"{expected}sampling noise alone moves evaluations by {noise.evaluations:.0f}"
            f" {words.unit} (standard deviation), because the {results} of {games:,} {of} set"
            f" {plural(_learned(result), 'weight')}; learn from"
            f" {'' if labelled else f'{better}, from '}more {of}, or with a narrower --prior"
        )
    return lines


def _large_changes(result: FitResult, words: Wording) -> list[str]:
    """Return a warning for the first value if it was learned not to be positive, and for those of
    the headline that changed by more than half. What the first number of rows is worth is not
    known, so it warns only where it was positive."""
    layout, rows = result.parameters.layout, result.parameters.of_rows
    places = layout.headline if words.ratios else []
    lines, moved = [], []
    for place in places:
        before, after = (
            float(weights[:, place.first].mean()) for weights in (result.reference, result.weights)
        )
        if place is places[0] and after <= 0 and (before > 0 or after < 0 and not rows):
            lines.append(f"{place.path} is {after:.0f}, which is not positive: check the data")
        elif before > 0 and abs(after - before) > before / 2:
            moved.append(f"{layout.short(place)} {before:.0f} -> {after:.0f}")
    if moved:
        more = f" and {len(moved) - MOST_MOVED} more" if len(moved) > MOST_MOVED else ""
        lines.append(
            f"{', '.join(moved[:MOST_MOVED])}{more}: changed by more than half; check the data, or"
            " use a narrower --prior"
        )
    return lines


def _learned(result: FitResult) -> int:
    """Return how many weights of the evaluation were learned."""
    if result.uncertainty is None:
        return 0
    known = (result.uncertainty.standard_errors > 0) & result.problem.free
    return int(known[:, : result.problem.datafit.data.columns].sum())
