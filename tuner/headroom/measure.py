"""Measure what is left to gain: by better weights of the same terms, by other functions of the same counts, and by a network.

Losses are cross-entropies of the values of held-out positions, whole openings that nothing was fitted to; excess is what is above
the entropy of the values themselves, which no prediction can go below. Results of games have no such entropy: theirs are losses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from games.record import points_of, wording_of
from games.streams import InputError
from tuner.datasets.split import split_games
from tuner.device.choose import device_named
from tuner.fit.options import FitOptions
from tuner.fit.regression import fit
from tuner.headroom.importance import importance
from tuner.headroom.losses import cross_entropy, entropy, fitted_scale
from tuner.headroom.network import OPTIONS, Added, added
from tuner.headroom.resampling import Sums, plain
from tuner.headroom.sample import Sample
from tuner.headroom.sentences import sentences
from tuner.headroom.trees import MISSING, Inputs, available, boosted
from tuner.io.progress import Display

QUARTERS = 4
FEWEST = 200  # positions held out, and learned from
MOST_SHOWN = 12  # positions
DIGITS = 6


@dataclass(frozen=True)
class Predictions:
    """Logits (n,) of the sample's positions by each model; `scales` are those of the parameter file and of the fit. `held` (n,)
    bool marks the positions that were held out; `counts` says how much the trees use each input; the network saw boards of the
    encoding `board`, None: counts alone."""

    logits: dict[str, np.ndarray]
    scales: dict[str, float]
    held: np.ndarray
    counts: list[dict]
    seen: int  # columns that the trees saw
    trees: int
    board: str | None = None


def measured(sample: Sample, start: str, held_out: float, display: Display) -> dict:
    """Return the headroom of the terms of a sample as plain data; `held_out` is the share of the games to measure on."""
    begun = time.process_time()
    whole = described(sample, start, predicted(sample, held_out, display))
    return whole | {"cpu_seconds": round(time.process_time() - begun, 1)}


def described(sample: Sample, start: str, found: Predictions) -> dict:
    """Return losses, gains, phases, inputs, positions and sentences as plain data."""
    held, q, mass = found.held, sample.q[found.held], sample.mass[found.held]
    own = np.zeros(len(q)) if sample.options.targets == "results" else entropy(q)
    losses = {name: mass * (cross_entropy(logit[held], q) - own) for name, logit in found.logits.items()}
    cluster = sample.opening[held]
    total = Sums(cluster, losses | {"mass": mass})
    game, stages = sample.data.manifest["game"], sample.data.manifest["stages"]
    whole: dict = {
        "start": start, "points": points_of(game), "side": wording_of(game).sides[0],
        "values": sample.values, "targets": sample.options.targets,
        "loss": "cross-entropy" if sample.options.targets == "results" else "excess cross-entropy",
        "not_linear": sample.data.apart, "positions": len(held), "games": len(sample.games),
        "held_out_positions": int(held.sum()),
        "held_out_games": len(np.unique(sample.game[held])), "columns": sample.data.columns, "seed": sample.options.seed,
        "entropy": round(float(mass @ own / mass.sum()), DIGITS),
        "models": [{"model": name, **plain(total.interval(partial(mean, name)))} for name in losses],
        "scales": {name: round(scale, 8) for name, scale in found.scales.items()}, "gains": _gains(total, list(losses))}
    if len(stages) > 1:
        whole["first_stage"] = stages[0]
        whole["phases"] = phases(sample.share[held], cluster, losses, mass)
        if sample.data.manifest["phases"] == 1:  # nothing lies between the stages
            whole["phases"] = [line | {"stage": stages[int(line["from"] == 0)]} for line in whole["phases"]]
    whole |= {"board": found.board, "disagreements": disagreements(sample, found)}
    if "trees" in losses:
        whole |= {"columns_of_trees": found.seen, "trees": found.trees, "counts": found.counts,
                  "network_on_trees": plain(total.interval(partial(gain, "trees", "network", "mass")))}
    else:
        whole["missing"] = MISSING
    whole["sentences"] = sentences(whole)
    return whole


def predicted(sample: Sample, held_out: float, display: Display) -> Predictions:
    """Fit every model to the positions that are not held out."""
    options, parameters = sample.options, sample.begun.parameters
    engine = sample.begun.engine
    device = device_named("cpu", options.workers) if engine is None else engine.cpu(options.workers)
    train, _ = split_games(sample.data, held_out, options.seed)
    learned = np.isin(sample.game, train)
    if min(learned.sum(), (~learned).sum()) < FEWEST:
        raise InputError(f"{learned.sum():,} positions to learn from and {(~learned).sum():,} held out: expected at least "
                         f"{FEWEST:,} of both; give more games, or another --held-out than {held_out:g}")
    display.begin("fitting the evaluation")
    fitting = FitOptions(held_out=held_out, intercept=False, errors=False, seed=options.seed, device=device,
                         progress=display.passing)
    result = fit(sample.data, parameters, fitting, games=sample.games)
    problem = replace(result.problem, games=np.arange(sample.data.games))
    everything = np.array([[0, sample.data.positions]], np.int64)
    logits, scales = {}, {}
    for name, weights in (("start", problem.start), ("fit", result.weights)):
        evaluation = problem.evaluations(weights, everything)[sample.place]
        scales[name] = fitted_scale(evaluation[learned], sample.q[learned], sample.mass[learned])
        logits[name] = 2 * scales[name] * evaluation
    if not available():
        network = _network(sample, logits, learned, display)
        return Predictions(logits, scales, ~learned, [], 0, 0, network.board)
    display.begin("fitting trees")
    inputs = Inputs(logits["fit"], sample.share, sample.counts())
    model = boosted(inputs.only(learned), sample.q[learned], sample.mass[learned], sample.opening[learned], options.workers,
                    options.seed, display.counting)
    held = inputs.only(~learned)
    added = np.full(len(learned), np.nan)  # of positions learned from it is not needed
    added[~learned] = model(held)
    logits["trees"] = logits["fit"] + added
    display.begin("shuffling counts")
    counts = importance(model, held, sample.q[~learned], sample.mass[~learned], sample.opening[~learned],
                        sample.data.layout, options.seed, options.workers)
    network = _network(sample, logits, learned, display)
    return Predictions(logits, scales, ~learned, counts, len(model.columns), model.trees, network.board)


def _network(sample: Sample, logits: dict[str, np.ndarray], learned: np.ndarray, display: Display) -> Added:
    """Add the logits of a network."""
    display.begin("learning a network", OPTIONS.epochs)
    found = added(sample, logits["fit"], learned, display.counting)
    logits["network"] = logits["fit"] + found.logit
    return found


def _gains(total: Sums, models: list[str]) -> list[dict]:
    """Return what each model gains on the fit, or on the first where there is none, and its share of that loss."""
    return [{"model": name, "on": before, **plain(total.interval(partial(gain, before, name, "mass"))),
             "share": plain(total.interval(partial(gain, before, name, before)))}
            for before, name in (("fit" if "fit" in models and name != "fit" else models[0], name) for name in models[1:])]


def gain(before: str, after: str, unit: str, sums: dict) -> np.ndarray:
    """Return how much less one model has than the one before, in units of another sum."""
    return (sums[before] - sums[after]) / sums[unit]


def mean(name: str, sums: dict) -> np.ndarray:
    """Return the mean of a sum."""
    return sums[name] / sums["mass"]


def phases(share: np.ndarray, cluster: np.ndarray, losses: dict[str, np.ndarray], mass: np.ndarray) -> list[dict]:
    """Return losses and gains by quarters of the share (n,) of the first stage."""
    quarter = np.minimum((QUARTERS * share).astype(int), QUARTERS - 1)
    lines = []
    for number in range(QUARTERS):
        here = quarter == number
        if here.any():
            part = Sums(cluster[here], {name: loss[here] for name, loss in losses.items()} | {"mass": mass[here]})
            lines.append({"from": number / QUARTERS, "to": (number + 1) / QUARTERS, "positions": int(here.sum()),
                          **{name: round(float(loss[here].sum() / mass[here].sum()), DIGITS) for name, loss in losses.items()},
                          "gains": _gains(part, list(losses))})
    return lines


def disagreements(sample: Sample, found: Predictions) -> list[dict]:
    """Return the held-out positions where the network or the trees differ most from the fit in the expected score, one of each
    game."""
    place = np.flatnonzero(found.held)
    scores = {name: 1 / (1 + np.exp(-logit[place])) for name, logit in found.logits.items()}
    apart = np.max([np.abs(score - scores["fit"]) for name, score in scores.items() if name not in ("start", "fit")], axis=0)
    chosen: list[int] = []
    games: set[int] = set()
    for i in np.argsort(-apart, kind="stable").tolist():
        game = int(sample.game[place[i]])
        if len(chosen) == MOST_SHOWN or apart[i] == 0:
            break
        if game not in games:
            games.add(game)
            chosen.append(i)
    texts = sample.texts(place[chosen]) if chosen else []
    return [{"position": text, "value": round(float(sample.q[place[i]]), 4), "phase": round(float(sample.share[place[i]]), 3),
             **{name: round(float(score[i]), 4) for name, score in scores.items()}}
            for i, text in zip(chosen, texts, strict=True) if text]

