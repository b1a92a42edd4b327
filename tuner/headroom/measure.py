"""Measure what is left to gain: by better weights of the same terms, by other functions of the same
counts, and by a network.

Losses are cross-entropies of the values of held-out positions, whole openings that nothing was
fitted to; excess is what is above the entropy of the values themselves, which no prediction can go
below. Results of games have no such entropy: theirs are losses."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from games.record import in_points, points_of, wording_of
from games.streams import InputError
from tuner.datasets.writing import split_games
from tuner.findings.records import (
    Disagreement,
    Gain,
    Headroom,
    InputUse,
    Interval,
    ModelLoss,
    NetworkMeasurement,
    PhaseLoss,
    gain_of,
)
from tuner.fit.device.choose import device_named
from tuner.fit.regression import fit
from tuner.fit.setup import FitOptions
from tuner.headroom.losses import ResampledSums, cross_entropy, entropy, fitted_scale
from tuner.headroom.network import OPTIONS, NetworkLogits, learn_on_top
from tuner.headroom.sample import LARGEST, ValuedSample
from tuner.headroom.trees import MISSING, Inputs, available, boost, importance
from tuner.io.terminal import Display

QUARTERS = 4
FEWEST = 200  # positions held out, and learned from
MOST_SHOWN = 12  # positions
DIGITS = 6


@dataclass(frozen=True)
class ModelLogits:
    """Logits (n,) of the sample's positions by each model; `scales` are those of the parameter file
    and of the fit. `held` (n,) bool marks the positions that were held out; `counts` says how much
    the trees use each input; the network saw boards of the encoding `board`, None: counts alone."""

    logits: dict[str, np.ndarray]
    scales: dict[str, float]
    held: np.ndarray
    counts: list[InputUse]
    seen: int  # columns that the trees saw
    trees: int
    board: str | None = None


def measure_sample(sample: ValuedSample, start: str, held_out: float, display: Display) -> Headroom:
    """Return the headroom of the terms of a sample; `held_out` is the share of the games to measure
    on."""
    begun = time.process_time()
    whole = describe(sample, start, predict(sample, held_out, display))
    return replace(whole, cpu_seconds=round(time.process_time() - begun, 1))


def describe(sample: ValuedSample, start: str, found: ModelLogits) -> Headroom:
    """Return losses, gains, phases, inputs, positions and sentences."""
    held = found.held
    own, mass, losses, total = held_losses(
        sample, held, {name: logit[held] for name, logit in found.logits.items()}
    )
    game, first_stage = sample.data.manifest["game"], sample.first_stage
    trees = "trees" in losses
    whole = Headroom(
        start=start,
        points=points_of(game),
        side=wording_of(game).sides[0],
        values=sample.values,
        targets=sample.options.targets,
        loss=loss_name(sample),
        not_linear=sample.data.apart,
        positions=len(held),
        games=len(sample.games),
        held_out_positions=int(held.sum()),
        held_out_games=len(np.unique(sample.game[held])),
        columns=sample.data.columns,
        seed=sample.options.seed,
        entropy=round(float(mass @ own / mass.sum()), DIGITS),
        models=model_losses(total, losses),
        scales={name: round(scale, 8) for name, scale in found.scales.items()},
        gains=_gains(total, list(losses)),
        first_stage=first_stage,
        phases=_phases_or_stages(sample, held, losses, mass) if first_stage else None,
        board=found.board,
        disagreements=disagreements(sample, found),
        columns_of_trees=found.seen if trees else None,
        trees=found.trees if trees else None,
        counts=found.counts if trees else None,
        network_on_trees=(
            total.interval(partial(gain, "trees", "network", "mass")) if trees else None
        ),
        missing=None if trees else MISSING,
        sentences=[],
    )
    return replace(whole, sentences=sentences(whole))


def loss_name(sample: ValuedSample) -> str:
    """Return what the loss of a sample is called."""
    return "cross-entropy" if sample.options.targets == "results" else "excess cross-entropy"


def model_losses(total: ResampledSums, models: Iterable[str]) -> list[ModelLoss]:
    """Return the mean loss of each model."""
    return [ModelLoss(**vars(total.interval(partial(mean, name))), model=name) for name in models]


def _phases_or_stages(
    sample: ValuedSample, held: np.ndarray, losses: dict[str, np.ndarray], mass: np.ndarray
) -> list[PhaseLoss]:
    """Return the losses of phases; of stages, with their names, where nothing lies between them."""
    lines = phases(sample.share[held], sample.opening[held], losses, mass)
    if sample.data.manifest["phases"] > 1:
        return lines
    stages = sample.data.staging.downward
    return [replace(line, stage=stages[int(line.from_ == 0)]) for line in lines]


class HeldLosses(NamedTuple):
    """Of the held-out positions (n,): the loss that is subtracted, their own entropy; how often
    each counts; the losses of each model, so often; and the sums of all."""

    own: np.ndarray
    mass: np.ndarray
    losses: dict[str, np.ndarray]
    total: ResampledSums


def held_losses(
    sample: ValuedSample, held: np.ndarray, logits: dict[str, np.ndarray]
) -> HeldLosses:
    """Return the losses of predictions of the held-out positions; results have no entropy."""
    q, mass = sample.q[held], sample.mass[held]
    own = np.zeros(len(q)) if sample.options.targets == "results" else entropy(q)
    losses = {name: mass * (cross_entropy(logit, q) - own) for name, logit in logits.items()}
    return HeldLosses(
        own, mass, losses, ResampledSums(sample.opening[held], losses | {"mass": mass})
    )


def to_learn(sample: ValuedSample, held_out: float) -> np.ndarray:
    """Return which positions (n,) bool are learned from if this share of the games is held out;
    InputError for too few."""
    learned = np.isin(sample.game, split_games(sample.data, held_out, sample.options.seed)[0])
    if min(learned.sum(), (~learned).sum()) < FEWEST:
        raise InputError(
            f"{learned.sum():,} positions to learn from and {(~learned).sum():,} held out: expected"
            f" at least {FEWEST:,} of both; give more games, or another --held-out than"
            f" {held_out:g}"
        )
    return learned


def predict(sample: ValuedSample, held_out: float, display: Display) -> ModelLogits:
    """Fit every model to the positions that are not held out."""
    options, parameters = sample.options, sample.begun.parameters
    engine = sample.begun.engine
    device = device_named("cpu", options.workers) if engine is None else engine.cpu(options.workers)
    learned = to_learn(sample, held_out)
    display.begin("fitting the evaluation")
    fitting = FitOptions(
        held_out=held_out,
        intercept=False,
        errors=False,
        seed=options.seed,
        device=device,
        progress=display.passing,
    )
    result = fit(sample.data, parameters, fitting, games=sample.games)
    problem = replace(result.problem, games=np.arange(sample.data.games))
    everything = np.array([[0, sample.data.positions]], np.int64)
    logits, scales = {}, {}
    for name, weights in (("start", problem.start), ("fit", result.weights)):
        evaluation = problem.evaluations(weights, everything)[sample.place]
        scales[name] = fitted_scale(evaluation[learned], sample.q[learned], sample.mass[learned])
        logits[name] = 2 * scales[name] * evaluation
    if not available():
        network = _network_gain(sample, logits, learned, display)
        return ModelLogits(logits, scales, ~learned, [], 0, 0, network.board)
    display.begin("fitting trees")
    inputs = Inputs(logits["fit"], sample.share, sample.counts())
    model = boost(
        inputs.only(learned),
        sample.q[learned],
        sample.mass[learned],
        sample.opening[learned],
        options.workers,
        options.seed,
        display.counting,
    )
    held = inputs.only(~learned)
    added = np.full(len(learned), np.nan)  # of positions learned from it is not needed
    added[~learned] = model(held)
    logits["trees"] = logits["fit"] + added
    display.begin("shuffling counts")
    counts = importance(
        model,
        held,
        sample.q[~learned],
        sample.mass[~learned],
        sample.opening[~learned],
        sample.data.layout,
        options.seed,
        options.workers,
    )
    network = _network_gain(sample, logits, learned, display)
    return ModelLogits(
        logits, scales, ~learned, counts, len(model.columns), model.trees, network.board
    )


def _network_gain(
    sample: ValuedSample, logits: dict[str, np.ndarray], learned: np.ndarray, display: Display
) -> NetworkLogits:
    """Add the logits of a network."""
    display.begin("learning a network", OPTIONS.epochs)
    found = learn_on_top(sample, logits["fit"], learned, display.counting)
    logits["network"] = logits["fit"] + found.logit
    return found


def _gains(total: ResampledSums, models: list[str]) -> list[Gain]:
    """Return what each model gains on the fit, or on the first where there is none, and its share
    of that loss."""
    return [
        Gain(
            **vars(total.interval(partial(gain, before, name, "mass"))),
            model=name,
            on=before,
            share=total.interval(partial(gain, before, name, before)),
        )
        for before, name in (
            ("fit" if "fit" in models and name != "fit" else models[0], name) for name in models[1:]
        )
    ]


def gain(before: str, after: str, unit: str, sums: dict) -> np.ndarray:
    """Return how much less one model has than the one before, in units of another sum."""
    return (sums[before] - sums[after]) / sums[unit]


def mean(name: str, sums: dict) -> np.ndarray:
    """Return the mean of a sum."""
    return sums[name] / sums["mass"]


def phases(
    share: np.ndarray, cluster: np.ndarray, losses: dict[str, np.ndarray], mass: np.ndarray
) -> list[PhaseLoss]:
    """Return losses and gains by quarters of the share (n,) of the first stage."""
    quarter = np.minimum((QUARTERS * share).astype(int), QUARTERS - 1)
    lines = []
    for number in range(QUARTERS):
        here = quarter == number
        if here.any():
            part = ResampledSums(
                cluster[here],
                {name: loss[here] for name, loss in losses.items()} | {"mass": mass[here]},
            )
            means: dict[str, Any] = {
                name: round(float(loss[here].sum() / mass[here].sum()), DIGITS)
                for name, loss in losses.items()
            }
            lines.append(
                PhaseLoss(
                    from_=number / QUARTERS,
                    to=(number + 1) / QUARTERS,
                    positions=int(here.sum()),
                    **means,
                    gains=_gains(part, list(losses)),
                )
            )
    return lines


def disagreements(sample: ValuedSample, found: ModelLogits) -> list[Disagreement]:
    """Return the held-out positions where the network or the trees differ most from the fit in the
    expected score, one of each game."""
    place = np.flatnonzero(found.held)
    scores = {name: 1 / (1 + np.exp(-logit[place])) for name, logit in found.logits.items()}
    apart = np.max(
        [
            np.abs(score - scores["fit"])
            for name, score in scores.items()
            if name not in ("start", "fit")
        ],
        axis=0,
    )
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
    return [
        Disagreement(
            position=text,
            value=round(float(sample.q[place[i]]), 4),
            phase=round(float(sample.share[place[i]]), 3),
            **{name: round(float(score[i]), 4) for name, score in scores.items()},
        )
        for i, text in zip(chosen, texts, strict=True)
        if text
    ]


SOME = 3  # names in a sentence


def sentences(found: Headroom) -> list[str]:
    """Return what the numbers of a measurement mean."""
    gains = {gain.model: gain for gain in found.gains}
    lines = [_fit(found, gains["fit"])]
    if "trees" in gains:
        lines.append(_trees(found, gains["trees"]))
    lines.append(_network(found, gains["network"]))
    if found.targets != "results":
        left = min(
            line.value
            for line in found.models
            if line.model in ("trees", "network") and line.value is not None
        )
        lines.append(
            f"What none of them closes, {left:.4f}, needs counts that these terms lack, or a"
            " search; or more positions to learn from."
        )
    return lines


def interval_text(found: Interval, digits: int = 4, factor: float = 1.0) -> str:
    """Format a number and its interval, if it has one."""
    value, low, high = (
        None if part is None else f"{round(factor * part, digits) + 0.0:.{digits}f}"
        for part in (found.value, found.low, found.high)
    )
    return str(value) if low is None else f"{value} [{low}, {high}]"


def _fit(found: Headroom, gain: Gain) -> str:
    if gain.certain:
        return (
            f"Better weights of the same terms gain {_amount(found, gain, found.start)}: `tuner"
            " tune` learns weights from such values."
        )
    return (
        f"The best {'linear ' if found.linear else ''}fit of these terms is not better than"
        f" {found.start} beyond chance: more positions would let it learn weights more closely,"
        " if there is something to learn."
    )


def _trees(found: Headroom, gain: Gain) -> str:
    functions = (
        "Functions of the same counts that are not linear"
        if found.linear
        else "Other functions of the same counts"
    )
    if not gain.certain:
        return (
            f"{functions} gain nothing beyond chance here: more positions would find "
            "smaller gains; otherwise the next step is terms that count something new."
        )
    text = (
        f"{functions} gain another"
        f" {_amount(found, gain, 'the linear fit' if found.linear else 'the fit')}"
    )
    most = _most(found.phases or [])
    if most:
        text += (
            f"; here most per position in the stage {most.stage}"
            if most.stage is not None
            else (
                f"; here most per position where the share of {found.first_stage} is"
                f" {most.from_:g} to {most.to:g}"
            )
        )
    names = [use.input for use in found.counts or [] if "." in use.input and use.certain][:SOME]
    if names:
        text += f"; consider terms that combine what the trees use most: {', '.join(names)}"
    return text + " (docs/headroom.md)."


def _network(found: Headroom, gain: Gain) -> str:
    """What the network gains on the fit and, beside trees, what it found that they did not."""
    sees = "the same counts and the board" if found.board else "the same counts"
    if not gain.certain:
        return f"A small network that sees {sees} gains nothing on the fit beyond chance."
    text = f"A small network that sees {sees} gains {interval_text(gain)} on the fit"
    more = found.network_on_trees
    if more is None or more.low is None:
        return text + "."
    if more.certain:
        source = "; it may have found in the board what no term counts." if found.board else "."
        return f"{text}, {interval_text(more)} more than the trees{source}"
    if more.high is not None and more.high < 0:
        return f"{text}, less than the trees."
    return f"{text}, as much as the trees, as far as these games can tell."


def _amount(found: Headroom, gain: Gain, before: str) -> str:
    """A gain; for targets whose own entropy is known also its share of the distance to them."""
    text = interval_text(gain)
    if found.targets == "results" or gain.share is None or gain.share.value is None:
        return text
    return (
        f"{text}, {interval_text(gain.share, 0, 100)} % of the distance from {before} to these"
        " values"
    )


def _most(phases: list[PhaseLoss]) -> PhaseLoss | None:
    """Return the phases in which trees gain most a position, if that is certain there."""
    known = [
        (gain.value, gain, line)
        for line in phases
        if (gain := gain_of(line.gains, "trees")) and gain.value is not None
    ]
    if len(known) < 2:
        return None
    _, gain, line = max(known, key=lambda each: each[0])
    return line if gain.certain else None


SHOWN = 10  # inputs of the trees
POSITIONS = 5


def lines_of(found: Headroom) -> list[str]:
    """Return the tables and sentences of a measurement."""
    lines = loss_lines(found, found.names, found.gains)
    if found.counts:
        lines.append("what the trees use: rise of the loss if it is shuffled")
        wide = max(len(use.input) for use in found.counts[:SHOWN]) + 2
        lines += [f"  {use.input:<{wide}}{interval_text(use, 5)}" for use in found.counts[:SHOWN]]
    if found.disagreements:
        shown = models_in(found.disagreements[0], ("value", *MODELS))
        what = "expected points" if in_points(found.points) else "expected score"
        lines.append(
            f"where the others differ most from the fit ({what} of {found.side}: "
            f"{', '.join('file' if name == 'start' else name for name in shown)}):"
        )
        lines += [
            "  "
            + "  ".join(_expected(getattr(line, name), found.points) for name in shown)
            + f"  {line.position}"
            for line in found.disagreements[:POSITIONS]
        ]
    if found.missing:
        lines.append(found.missing)
    lines += found.sentences
    lines.append(f"{found.cpu_seconds:,.0f} CPU seconds after reading")
    return lines


MODELS = ("start", "fit", "trees", "network")


def models_in(line: PhaseLoss | Disagreement, names: Iterable[str] = MODELS) -> list[str]:
    """Return those of the models that a line has a number of."""
    return [name for name in names if getattr(line, name) is not None]


def loss_lines(
    found: Headroom | NetworkMeasurement, names: dict[str, str], gains: Sequence[Gain] = ()
) -> list[str]:
    """Return the losses of models with these names, and gains, of all positions and by phase."""
    width = max(map(len, names.values())) + 2
    gained = {gain.model: f"   gain {interval_text(gain)}" for gain in gains}
    lines = [
        f"{found.loss} of {found.held_out_positions:,} held-out positions"
        f" ({found.held_out_games:,} games); values: {found.values}"
    ]
    lines += [
        f"  {names[line.model]:<{width}}{interval_text(line)}{gained.get(line.model, '')}"
        for line in found.models
    ]
    if not found.phases:
        return lines
    short, staged = models_in(found.phases[0]), found.phases[0].stage is not None
    lines.append(
        "by stage:"
        if staged
        else f"by the share of {'the first stage, ' * (found.first_stage != LARGEST)}"
        f"{found.first_stage}:"
    )
    lines.append(
        f"  {'stage' if staged else 'share':<12}{'positions':>10}"
        + "".join(f"{'file' if name == 'start' else name:>9}" for name in short)
        + f"   gain of the {short[-1]}"
    )
    for line in found.phases:
        share = line.stage if staged else f"{line.from_:.2f}-{line.to:.2f}"
        lines.append(
            f"  {share:<12}{line.positions:>10,}"
            + "".join(f"{getattr(line, name):>9.4f}" for name in short)
            + f"   {interval_text(line.gains[-1])}"
        )
    return lines


def _expected(score: float, points: int) -> str:
    """Format an expected score from 0 to 1; as points if a game is won by more or fewer."""
    return f"{points * (2 * score - 1):+.2f}" if in_points(points) else f"{score:.2f}"
