"""Proof that the engine that plays has the weights written into its sources: over quiet positions
the scores of its searches change where the evaluations of its rows do.

Scores are those of a leaf, evaluations those of the root: with a tempo or threats they change by
different amounts, so only scores that do not change at all show a program that was not built."""

import contextlib
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from games.record import Control, EngineFault, ReadOptions, ReadReport, find
from games.streams import InputError
from games.system import split
from tuner.core.estimates import Estimate, estimate_of
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows.row_engine import RowEngine
from tuner.datasets.rows.values import ExpectedRows
from tuner.evaluation.evaluation import quiescence_of
from tuner.evaluation.loading import bundled_games, load_parameters
from tuner.improve.versions import EVALS, Version
from tuner.io.files import QUIESCENCE
from tuner.learn.build import prepared
from tuner.learn.scores import Unscored, fit_score_scale, later_blended
from tuner.measured.measure import Base, evals_in
from tuner.measured.plan import read_evals_plan
from tuner.objectives.cross_entropy import CROSS_ENTROPY
from tuner.play.players import understood

POSITIONS, EACH, FEWEST = 200, 2, 30  # positions in all, of each game, and at least
DECIDED = 1000.0  # centipawns; scores beyond are of mates and won endings
DEEPEST = 4  # plies; some engines print no exact score at depth 1
MOVED = 3.0  # centipawns by which an evaluation changes, so that rounding does not hide it
FOLLOWS = 0.5  # correlation of scores and evaluations from which on scores follow them
SAME = 0.95  # share of unchanged scores that shows the previous weights
NEAR_ONE = (0.7, 1.3)  # slopes that need no remark


def slope_of(x: np.ndarray, y: np.ndarray) -> Estimate:
    """Return the least squares slope of y (n,) on x (n,) through the origin."""
    squares = float(x @ x)
    value = float(x @ y) / squares
    rest = y - value * x
    return estimate_of(value, float(np.sqrt(rest @ rest / (len(x) - 1) / squares)))


def compare(
    texts: list[str],
    old: np.ndarray,
    new: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
) -> dict:
    """Return what evaluations of the rows of two versions, `old` and `new` (n,), and scores of
    their searches, `before` and `after` (n,), say of n positions, all in centipawns of the first
    player's view: the `slope` of the change of scores, or a `remark` on why there is none or a
    strange one; `stale` if the scores are unchanged."""
    used = np.isfinite(old) & np.isfinite(new) & (np.abs(before) < DECIDED)
    used &= (np.abs(after) < DECIDED) & ((before != 0) | (after != 0))  # 0 may be no score at all
    old, new, before, after = (each[used] for each in (old, new, before, after))
    if len(old) < FEWEST or not old.std() or not before.std():
        return {"remark": f"only {len(old)} positions have scores and evaluations to compare"}
    correlation = float(np.corrcoef(old, before)[0, 1])
    unit = slope_of(old, before).value  # scores may be in units of their own
    if correlation < FOLLOWS:
        furthest = int(np.abs(before - unit * old).argmax())
        return {
            "remark": f"scores do not follow evaluations (correlation {correlation:.2f}), as in"
            f" {np.array(texts)[used][furthest]}: score {before[furthest]:.0f}, evaluation"
            f" {old[furthest]:.0f}"
        }
    moved = np.abs(new - old) >= MOVED
    if moved.sum() < FEWEST:
        return {"remark": "the new weights change too few evaluations for a comparison"}
    slope = slope_of(unit * (new - old)[moved], (after - before)[moved])
    plain: dict[str, Any] = {"slope": slope.plain}
    if (after == before)[moved].mean() >= SAME:
        return plain | {"stale": True}
    if not NEAR_ONE[0] < slope.value < NEAR_ONE[1]:
        plain["remark"] = f"scores change by {slope.text()} of what the rows say"
    return plain


def require_weights(version: Version, before: Version) -> dict:
    """Return what scores of the player and evaluations of the rows say of the weights of a version,
    see `compare`, judged by the previous version. InputError if the player still has the previous
    weights."""
    parameters, named = load_parameters(version.params), understood(version.player)
    game = find(parameters.game)
    if version.programs("plays") == version.programs(version.counts):
        return {"remark": "one program plays and evaluates, and its evaluations are checked"}
    if game.contest.evaluator is None or named.kind != game.contest.evaluating:
        return {"remark": f"engines of {named.kind} print no scores to compare"}
    positions = _quiet_positions(parameters.game, POSITIONS)
    texts = game.texts(positions)
    new, old = (_evaluations(each, texts) for each in (version, before))
    depth, before_scores = _first_scores(before, positions)
    if before_scores is None:
        return {"remark": f"the player prints no exact scores at depths of 1 to {DEEPEST}"}
    compared = compare(texts, old, new, before_scores, _scores(version, positions, depth))
    if compared.pop("stale", False):
        raise InputError(
            f"{version.plan.plays} does not play with the new weights: its scores at depth {depth}"
            " are unchanged where the evaluations of its rows changed; does"
            f" `{version.plan.build}` build everything that depends on"
            f" {', '.join(version.plan.source.files)}? Use `make clean && make`"
        )
    return compared


def bundled_texts(game_name: str, most: int) -> list[str]:
    """Return positions of the bundled games as texts."""
    return find(game_name).texts(_quiet_positions(game_name, most))


def compare_evaluations(
    version: Version, before: Version, rows: Path, lambda_: float | None
) -> dict:
    """Return how the loss of the evaluations of a version compares with what its numbers predict,
    by the dataset `rows` of the positions of the previous one: the losses, and which share of the
    predicted fall is `real`; and which share of the evaluations is `near` their predictions.
    Targets are scores of searches, blended with later ones by `lambda_`, or with None results."""
    data, parameters = open_dataset(rows, check=False), load_parameters(version.params)
    moved = parameters.weights[0] - load_parameters(before.params).weights[0]
    known = np.asarray(data.evaluation, np.float64)
    predicted = known + data.rows(0, data.positions).matrix(data.columns) @ moved
    every = data.texts(np.arange(data.positions))
    real = _evaluated(version, every)
    losses = {
        name: _loss(data, parameters.scale, each, lambda_)
        for name, each in (("before", known), ("predicted", predicted), ("after", real))
    }
    fall = losses["before"] - losses["predicted"]
    share = (losses["before"] - losses["after"]) / fall if fall > 0 else 1.0
    near = float(np.mean(np.abs(real - predicted) <= MOVED))
    return {"losses": losses, "real": round(share, 4), "near": round(near, 4)}


def _loss(data: Dataset, scale: float, evaluations: np.ndarray, lambda_: float | None) -> float:
    """Return the cross-entropy of evaluations (n,), their scale fitted, with the targets of a loop,
    see `compare_evaluations`."""
    targets = np.asarray(data.outcome, np.float64)
    if lambda_ is not None and len(data.score):
        scores = np.asarray(data.score)
        known, games = ~np.isnan(scores), np.repeat(data.game, np.diff(data.first))
        first = np.append(0, np.cumsum(known))[data.first]
        with contextlib.suppress(Unscored):
            unit = fit_score_scale(scores, targets, games).value
            targets = later_blended(scores[known], targets[known], unit, lambda_, first)
            evaluations = evaluations[known]

    def loss(log_scale: float) -> float:
        own = np.exp(log_scale)
        return float(CROSS_ENTROPY.loss(own, evaluations, 0.0, targets).mean())

    bounds = np.log(scale) - 2, np.log(scale) + 2
    return float(minimize_scalar(loss, bounds=bounds, method="bounded").fun)


def _quiet_positions(game_name: str, most: int) -> np.ndarray:
    """Return quiet positions (n, words) of the bundled games with a choice of moves: engines may
    answer a single move without a search."""
    game = find(game_name)
    if (source := bundled_games(game_name)) is None:
        return np.zeros((0, game.words), np.uint64)
    quiescence = quiescence_of(game, QUIESCENCE)  # whose weights the options point to
    options = prepared(ReadOptions(per_game=EACH), quiescence)
    batches = game.files.read(str(source), options, ReadReport(), lambda text: None)
    some = itertools.islice((batch.positions for batch in batches), 1 + most // EACH)
    positions = np.concatenate(list(some))[:most]
    return positions[[len(game.legal_moves(words)) > 1 for words in positions]]


def _evaluated(version: Version, texts: list[str]) -> np.ndarray:
    """Return the evaluations (n,) that the program of a version prints, first player's view."""
    plan = read_evals_plan(version.folder / EVALS)
    evals = replace(evals_in(plan), words=tuple(split(version.rows)))
    return Base(plan.game, evals, texts).evaluations(texts)


def _evaluations(version: Version, texts: list[str]) -> np.ndarray:
    """Return the static evaluations (n,) that the rows of a version have; NaN without a row."""
    if version.plan.measured is not None:
        return _evaluated(version, texts)
    parameters, evaluations = load_parameters(version.params), np.full(len(texts), np.nan)
    with RowEngine(version.rows, ExpectedRows(parameters.layout, len(parameters.stages))) as engine:
        engine.ask(texts)
        engine.no_more()
        for batch, places in engine.rows(texts, lambda answered: None):
            evaluations[places] = batch.evaluation
    return evaluations


def _first_scores(version: Version, positions: np.ndarray) -> tuple[int, np.ndarray | None]:
    """Return the least depth at which the player prints exact scores, and the scores (n,); None
    without any."""
    for depth in range(1, DEEPEST + 1):
        try:
            return depth, _scores(version, positions, depth)
        except EngineFault as problem:
            if "no exact score" not in problem.what:
                raise
    return DEEPEST, None


def _scores(version: Version, positions: np.ndarray, depth: int) -> np.ndarray:
    """Return the scores (n,) of the player's searches of a depth, first player's view."""
    named = understood(version.player)
    evaluator = find(load_parameters(version.params).game).contest.evaluator
    assert evaluator is not None, "games without it have no proof"
    engine, limits = evaluator(named.what, version.plan.options), Control(depth=depth)
    try:
        asked = engine.asked(positions)
        return np.array([found.score for found in engine.searches(asked, limits)])
    finally:
        engine.close()
