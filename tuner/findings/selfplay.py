"""Diagnostics of self-play: calibration of values of positions with the results of games that were
played for it, and how far weights would move if gradients were nothing but noise."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from games.record import Game, in_points
from games.search.searcher import Limits, Searcher
from tuner.core.estimates import Estimate, estimate_of, reach_of
from tuner.core.records import InputError, convert_fields
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.networks.evaluation import NET, network_evaluation
from tuner.fit.learners.steps import RULES, At, chain, scheduled
from tuner.io.run_folder import read_settings
from tuner.io.terminal import Display
from tuner.options.selfplay import NETWORK_SECTION, SECTION, NetworkSettings, SelfplaySettings
from tuner.play.openings import Opening
from tuner.play.selfplay import network as network_settings
from tuner.play.selfplay.games import Episode, Plan, play_episode
from tuner.play.selfplay.learner import kept_share
from tuner.play.selfplay.settings import MEGABYTES, openings_of, plan_of
from tuner.results.fit import Bin, PlayedCalibration, SquaresChange
from tuner.statistics.intervals import equal_results_interval


@dataclass(frozen=True)
class PlayedValues:
    """Values v (n,) of positions for the first player and the results (n,) of their games, both in
    [-1, 1] (where wins were learned, 1 is a win by any number of points, else by the most); the
    game (n,) of each as an index; and the number of games, with those that were broken off.
    `before` (n,) are the values of the same positions by the evaluation that the run started from,
    None if it has none."""

    value: np.ndarray
    result: np.ndarray
    game: np.ndarray
    games: int
    broken_off: int
    before: np.ndarray | None = None


@dataclass(frozen=True)
class Learned:
    """What a run learned, ready to play as it did in the run: a search whose values are tanh(scale
    * centipawns), the openings by the number of the game, the seed, and the number of games that
    the run played or was to play. `wins`: it learned that every win is one point. `start` evaluates
    positions (n, words) as before the run, in centipawns."""

    game: Game
    searcher: Searcher
    scale: float
    plan: Plan
    opening: Callable[[int], Opening]
    seed: int
    games: int
    wins: bool
    start: Callable[[np.ndarray], np.ndarray] | None = None


def learned_weights(
    path: Path, played: int, initial: np.ndarray, note: Callable[[str], None]
) -> Learned:
    """Return the weights that a run in the folder of the file learned, which played `played` games
    and started from the `initial` ones."""
    settings = read_settings(path.parent, SECTION, SelfplaySettings)
    evaluation = load_evaluation(path, settings.terms)
    return Learned(
        evaluation.game,
        evaluation.searcher(False, MEGABYTES, lean=False),
        evaluation.scale,
        replace(plan_of(settings), explore=0.0),
        openings_of(evaluation.game, settings, note),
        settings.seed,
        max(settings.games, played),
        settings.wins,
        evaluation.with_weights(initial).compiled,
    )


def learned_network(folder: Path, played: int) -> Learned:
    """Return the network of a run in which `played` games were played."""
    settings = read_settings(folder, NETWORK_SECTION, NetworkSettings)
    evaluation = network_evaluation(folder / NET)
    start = Opening(evaluation.game.start(), [])
    return Learned(
        evaluation.game,
        evaluation.searcher(False),
        evaluation.scale,
        Plan(Limits(depth=1), 0, 0.0, network_settings.MAX_PLIES),
        lambda number: start,
        settings.seed,
        max(settings.games, played),
        settings.wins,
    )


def played_values(learned: Learned, number: int, display: Display) -> PlayedValues:
    """Play `number` games of what a run learned, and return their values and results as those that
    it learned from."""
    display.begin("playing", number)
    episodes: list[Episode] = []
    for k in range(learned.games, learned.games + number):
        episode = play_episode(
            learned.game, learned.searcher, learned.plan, k, learned.seed, learned.opening(k)
        )
        assert episode is not None, "nobody stops it"
        episodes.append(episode)
        display.counting(len(episodes))
    values = values_of(episodes, learned.scale, learned.start)
    return of_wins(values, learned.game.points) if learned.wins else values


def of_wins(values: PlayedValues, points: int) -> PlayedValues:
    """Return the same with 1 for a win by any number of points, in place of the most `points`."""
    before = None if values.before is None else np.clip(points * values.before, -1, 1)
    value = np.clip(points * values.value, -1, 1)
    return replace(values, value=value, before=before, result=np.sign(values.result))


def values_of(
    episodes: list[Episode], scale: float, start: Callable[[np.ndarray], np.ndarray] | None = None
) -> PlayedValues:
    """Return values and results of games: values that a search proved, which are results, are left
    out."""
    parts = [
        (episode, np.nan_to_num(episode.known) == 0)
        for episode in episodes
        if episode.outcome is not None
    ]
    sizes = [int(open_.sum()) for _, open_ in parts]
    value = np.concatenate(
        [np.zeros(0), *(np.tanh(scale * episode.scores[open_]) for episode, open_ in parts)]
    )
    leaves = [episode.leaves[open_] for episode, open_ in parts]
    before = np.tanh(scale * start(np.concatenate(leaves))) if start and leaves else None
    return PlayedValues(
        value,
        np.repeat([float(episode.outcome or 0.0) for episode, _ in parts], sizes),
        np.repeat(np.arange(len(parts)), sizes),
        len(parts),
        len(episodes) - len(parts),
        before,
    )


BINS = 20
RESAMPLES = 400
MIN_GAMES = 10  # games with a result


def calibration_of(found: PlayedValues, points: int) -> PlayedCalibration | None:
    """Return bins of about equal numbers of positions and errors; None with fewer than MIN_GAMES
    games. Errors are in points: `points` are the points of a value of 1, and of a game that is just
    won or lost, a win is 1 and a draw 1/2."""
    if found.games < MIN_GAMES or not len(found.value):
        return None
    unit, level = (float(points), 0.0) if in_points(points) else (0.5, 0.5)
    which = _bins(found.value)
    bins, games = int(which.max()) + 1, found.games
    cells = found.game * bins + which
    counts = np.bincount(cells, minlength=games * bins).reshape(games, bins)
    values, results = (
        np.bincount(cells, of, games * bins).reshape(games, bins)
        for of in (found.value, found.result)
    )
    share = counts.sum(0) / counts.sum()
    mean, actual = values.sum(0) / counts.sum(0), results.sum(0) / counts.sum(0)
    errors = np.array(
        [_error(results[:, k] - counts[:, k] * actual[k], counts[:, k]) for k in range(bins)]
    )
    resampled = _resampled(counts, values - results)
    side = np.sign(found.value)
    excess = _mean(
        np.bincount(found.game, side * (found.value - found.result), games),
        np.bincount(found.game, minlength=games),
    )
    present = (counts > 0).sum(0)
    half = [
        reach_of(int(n)) * error if n > 1 else np.nan
        for n, error in zip(present, errors, strict=True)
    ]
    return PlayedCalibration(
        games=games,
        broken_off=found.broken_off,
        positions=len(found.value),
        bins=[
            Bin(
                predicted=(1 + mean[k]) / 2,
                actual=_actual((1 + actual[k]) / 2, half[k], int(present[k]), same),
                positions=int(counts[:, k].sum()),
                games=int(present[k]),
            )
            for k, same in enumerate(_all_equal(found.result, which))
        ],
        error=Estimate(
            float(share @ np.abs(mean - actual)),
            low=float(np.quantile(resampled, 0.025)),
            high=float(np.quantile(resampled, 0.975)),
        ).times(unit),
        by_chance=unit * float(share @ np.nan_to_num(errors)) * math.sqrt(2 / math.pi),
        favoured=level + unit * float(np.abs(found.value).mean()),
        won=level + unit * float((side * found.result).mean()),
        excess=excess.times(unit),
        squares=None if found.before is None else _squares(found, found.before, unit),
    )


def _squares(found: PlayedValues, before: np.ndarray, unit: float) -> SquaresChange:
    """Return the mean squares of results less values before and after the run, and their change."""
    old, new = (unit**2 * (found.result - value) ** 2 for value in (before, found.value))
    change = _mean(
        np.bincount(found.game, new - old, found.games),
        np.bincount(found.game, minlength=found.games),
    )
    return SquaresChange(float(old.mean()), float(new.mean()), change)


def _bins(value: np.ndarray) -> np.ndarray:
    """Return the bin (n,) of each value, numbered without gaps."""
    edges = np.quantile(value, np.linspace(0, 1, BINS + 1)[1:-1])
    return np.unique(np.searchsorted(edges, value), return_inverse=True)[1]


def _all_equal(result: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return whether all results of each bin are the same."""
    least, most = np.full((2, int(which.max()) + 1), [[np.inf], [-np.inf]])
    np.minimum.at(least, which, result)
    np.maximum.at(most, which, result)
    return least == most


def _actual(score: float, half: float, games: int, same: bool) -> Estimate:
    """Return the actual score of a bin; `half` is half of its interval, as a value. Games that all
    ended alike show no variance."""
    ends: tuple[float, float] | None = max(0.0, score - half / 2), min(1.0, score + half / 2)
    if same and not np.isnan(half):
        ends = equal_results_interval(round(score, 9), games)
    low, high = ends if ends and not np.isnan(half) else (math.nan, math.nan)
    return Estimate(float(score), low=float(low), high=float(high))


def _error(sums: np.ndarray, counts: np.ndarray) -> float:
    """Return the standard error of a ratio of sums of games (g,), whose residuals are `sums`."""
    n = int((counts > 0).sum())
    return float(np.sqrt((sums**2).sum() * n / (n - 1)) / counts.sum()) if n > 1 else np.nan


def _mean(sums: np.ndarray, counts: np.ndarray) -> Estimate:
    """Return the mean of a ratio of sums of games (g,)."""
    mean = float(sums.sum() / counts.sum())
    error = _error(sums - mean * counts, counts)
    return estimate_of(mean, error, reach_of(int((counts > 0).sum())))


def _resampled(counts: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return calibration errors of games (g, bins) drawn with replacement, moved so that their mean
    is the error of the games themselves: resampling adds noise, which alone makes errors larger."""
    random, games = np.random.default_rng(1), len(counts)
    drawn = random.multinomial(games, np.full(games, 1 / games), RESAMPLES).astype(float)
    errors = np.abs(drawn @ differences).sum(1) / (drawn @ counts).sum(1)
    own = np.abs(differences.sum(0)).sum() / counts.sum()
    return np.maximum(errors - (errors.mean() - own), 0.0)


WALKS, SEED = 1000, 1
SHARE = 95  # percent of the random walks that stay within the limit
MOST_BATCHES = 50_000
NEEDED = ("learner", "half_life", "floor", "average", "batch")


def noise_band(settings: Mapping[str, Any], batches: int) -> np.ndarray | None:
    """Return (batches,) centipawns within which 95 % of the averaged weights are after each batch
    if gradients are independent noise with mean zero; None for rules that depend on the size of
    gradients, and for settings of another form. Real gradients pull weights back, so this is an
    upper limit."""
    given = {name: settings[name] for name in (*NEEDED, "learning_rate") if name in settings}
    try:
        run = SelfplaySettings(start="", **convert_fields(given, SelfplaySettings))
    except InputError:
        return None
    rule, random = RULES[run.learner], np.random.default_rng(SEED)
    if not given.keys() >= set(NEEDED) or not rule.scale_free or not 0 < batches <= MOST_BATCHES:
        return None
    rate = rule.rate if run.learning_rate is None else run.learning_rate
    change = chain(rule.step, scheduled(rate, run.floor, run.half_life))
    state = {name: np.zeros(WALKS) for name in rule.names}
    weights, average, reached = np.zeros(WALKS), np.zeros(WALKS), np.zeros(batches)
    for batch in range(batches):
        at = At(1, batch + 1, batch * run.batch)
        weights = weights + change(state, random.normal(size=WALKS), at)
        keep = kept_share(run, batch + 1)
        average = keep * average + (1 - keep) * weights
        reached[batch] = np.percentile(np.abs(average), SHARE)
    return reached
