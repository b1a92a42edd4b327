"""Proof that the engine that plays has the weights written into its sources: over quiet positions
its scores at depth 1 change as the evaluations of its rows do."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from games.record import ReadOptions, ReadReport, SearchLimits, find
from games.streams import InputError
from tuner.datasets.rows.row_engine import RowEngine
from tuner.datasets.rows.values import ExpectedRows
from tuner.evaluation.evaluation import quiescence_of
from tuner.evaluation.loading import bundled_games, load_parameters
from tuner.improve.versions import Version
from tuner.io.files import QUIESCENCE
from tuner.learn.build import prepared
from tuner.play.players import understood

POSITIONS, EACH, FEWEST = 200, 2, 50  # positions in all, of each game, and at least
DECIDED = 1000.0  # centipawns; scores beyond are of mates and won endings
SMALLEST = 1.0  # root mean square of the changes of evaluations, below which rounding hides them
LOW, HIGH = 0.7, 1.3  # slopes of a player that has the weights


class Slope(NamedTuple):
    """A slope through the origin with its standard error."""

    value: float
    error: float


def slope_of(x: np.ndarray, y: np.ndarray) -> Slope:
    """Return the least squares slope of y (n,) on x (n,) through the origin."""
    squares = float(x @ x)
    value = float(x @ y) / squares
    rest = y - value * x
    return Slope(value, float(np.sqrt(rest @ rest / (len(x) - 1) / squares)))


def slope_of_change(version: Version, before: Version) -> Slope | None:
    """Return the change of the player's scores per change of the evaluation by its rows. None if
    its protocol has no scores, positions are too few, or evaluations hardly change."""
    parameters, named = load_parameters(version.params), understood(version.player)
    game = find(parameters.game)
    if game.contest.evaluator is None or named.kind != game.contest.evaluating:
        return None
    positions = _quiet_positions(parameters.game)
    texts = game.texts(positions)
    new, old = (_evaluations(each, texts) for each in (version, before))
    scores, before_scores = (_scores(each, positions) for each in (version, before))
    used = np.isfinite(new + old) & (np.abs(scores) < DECIDED) & (np.abs(before_scores) < DECIDED)
    change = (new - old)[used]
    if used.sum() < FEWEST or np.sqrt((change**2).mean()) < SMALLEST:
        return None
    # scores may be in units of their own
    unit = slope_of(old[used], before_scores[used]).value
    return slope_of(unit * change, (scores - before_scores)[used]) if unit > 0 else None


def require_weights(version: Version, before: Version) -> dict[str, float]:
    """InputError if the player of a version does not have the weights of its sources, judged by
    the previous version; return the slope of `slope_of_change`."""
    slope = slope_of_change(version, before)
    if slope is None:
        return {}
    if slope.value + 2 * slope.error < LOW or slope.value - 2 * slope.error > HIGH:
        raise InputError(
            f"{version.plan.plays} does not play with the new weights: its scores at depth 1"
            f" change by {slope.value:.2f} +/- {2 * slope.error:.2f} of what its rows say, expected"
            f" 1; does `{version.plan.build}` build everything that depends on"
            f" {', '.join(version.plan.source.files)}? Use `make clean && make`"
        )
    return {"slope": round(slope.value, 3), "error": round(slope.error, 3)}


def _quiet_positions(game_name: str) -> np.ndarray:
    """Return quiet positions (n, words) of the bundled games with a choice of moves: engines may
    answer a single move without a search."""
    game = find(game_name)
    if (source := bundled_games(game_name)) is None:
        return np.zeros((0, game.words), np.uint64)
    quiescence = quiescence_of(game, QUIESCENCE)  # whose weights the options point to
    options = prepared(ReadOptions(per_game=EACH), quiescence)
    batches = game.files.read(str(source), options, ReadReport(), lambda text: None)
    some = itertools.islice((batch.positions for batch in batches), 1 + POSITIONS // EACH)
    positions = np.concatenate(list(some))[:POSITIONS]
    return positions[[len(game.legal_moves(words)) > 1 for words in positions]]


def _evaluations(version: Version, texts: list[str]) -> np.ndarray:
    """Return the static evaluations (n,) that the rows of a version have; NaN without a row."""
    parameters, found = load_parameters(version.params), np.full(len(texts), np.nan)
    with RowEngine(version.rows, ExpectedRows(parameters.layout, len(parameters.stages))) as engine:
        engine.ask(texts)
        engine.no_more()
        for batch, places in engine.rows(texts, lambda answered: None):
            found[places] = batch.evaluation
    return found


def _scores(version: Version, positions: np.ndarray) -> np.ndarray:
    """Return the scores (n,) of the player's searches of depth 1, first player's view."""
    named = understood(version.player)
    evaluator = find(load_parameters(version.params).game).contest.evaluator
    assert evaluator is not None, "games without it have no proof"
    engine = evaluator(named.what, version.plan.options)
    try:
        asked = engine.asked(positions)
        return np.array([found.score for found in engine.searches(asked, SearchLimits(depth=1))])
    finally:
        engine.close()
