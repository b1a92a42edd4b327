"""Learn a network from the values of positions, and compare it with an evaluation on games that
neither was fitted to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evalterms.framework.encoding import Encoding
from tuner.evaluation.networks.evaluation import second_to_move
from tuner.evaluation.networks.files import NetworkFile, weights_path
from tuner.evaluation.networks.learn import Examples, LearnOptions, learn, logits
from tuner.evaluation.networks.model import inputs_of, random_network
from tuner.findings.records import Interval, ModelLoss, NetworkMeasurement
from tuner.io.terminal import Display
from tuner.network.losses import (
    fitted_scale,
    gain,
    held_losses,
    mean,
    phases,
    set_aside,
    to_learn,
    winners,
)
from tuner.network.sample import LARGEST, ValuedSample

START, NET = "start", "network"
DIGITS = 6


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
        best_epoch=min(found.epochs, key=lambda line: line["aside"])["epoch"],
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
    )


def _start_logit(sample: ValuedSample, held: np.ndarray) -> np.ndarray:
    """Return the logits of the held-out positions by the evaluation to start from, with the scale
    that suits the others."""
    engine, parameters = sample.begun.engine, sample.begun.parameters
    assert engine is not None, "positions were read"
    evaluation = engine.evaluate_many(sample.positions, parameters, sample.options.workers)
    scale = fitted_scale(evaluation[~held], sample.q[~held], sample.mass[~held])
    return 2 * scale * evaluation[held]


def repeats_line(found: Sequence[NetworkMeasurement]) -> str:
    """Return what several networks, which differ by their first weights and the order of positions,
    reach on the held-out positions."""
    losses, shares = (
        np.array([each[-1].value for each in lines], float)
        for lines in ([one.models for one in found], [one.winners for one in found])
    )
    text = f"{len(found)} networks, mean ± SD: {found[0].loss} {losses.mean():.4f} ± "
    text += f"{losses.std(ddof=1):.4f}"
    if found[0].targets == "results":
        text += f", winners {shares.mean():.4f} ± {shares.std(ddof=1):.4f}"
    return text + "; written is the best for the positions set aside"


def lines_of(found: NetworkMeasurement) -> list[str]:
    """Return a measurement of a learned network as lines of text."""
    layers = "-".join(map(str, found.layers))
    output = Path(found.output)
    return [
        f"{found.encoding}, {layers}, {found.weights:,} weights, learned from"
        f" {found.learned_positions:,} positions; of {found.epochs[-1]['epoch']} epochs"
        f" number {found.best_epoch} predicts {found.aside_positions:,} other positions best",
        *_loss_lines(found),
        sentence(found.start, found.gain),
        f"{found.cpu_seconds:,.0f} CPU seconds after reading",
        f"wrote {output} and {weights_path(output).name}",
    ]


def _loss_lines(found: NetworkMeasurement) -> list[str]:
    """Return the losses of the evaluation and the network, of all positions and by phase."""
    names = {START: found.start, NET: "network"}
    width = max(map(len, names.values())) + 2
    lines = [
        f"{found.loss} of {found.held_out_positions:,} held-out positions"
        f" ({found.held_out_games:,} games); values: {found.values}"
    ]
    lines += [f"  {names[line.model]:<{width}}{interval_text(line)}" for line in found.models]
    if found.targets == "results":
        lines += ["share of the winners that are predicted:"]
        lines += [f"  {names[line.model]:<{width}}{interval_text(line)}" for line in found.winners]
    if not found.phases:
        return lines
    lines += [
        f"by the share of {'the first stage, ' * (found.first_stage != LARGEST)}"
        f"{found.first_stage}:",
        f"  {'share':<12}{'positions':>10}{'file':>9}{'network':>9}   gain of the network",
    ]
    return lines + [
        f"  {f'{line.from_:.2f}-{line.to:.2f}':<12}{line.positions:>10,}{line.start:>9.4f}"
        f"{line.network:>9.4f}   {interval_text(line.gains[-1])}"
        for line in found.phases
    ]


def interval_text(found: Interval) -> str:
    """Format a number and its interval, if it has one."""
    value, low, high = (
        None if part is None else f"{round(part, 4) + 0.0:.4f}"
        for part in (found.value, found.low, found.high)
    )
    return str(value) if low is None else f"{value} [{low}, {high}]"


def sentence(start: str, gained: Interval) -> str:
    """Return what the comparison with the evaluation means."""
    if gained.low is None or gained.high is None or gained.value is None:
        return (
            f"The held-out games have one opening, so that {start} and the network cannot be"
            " compared."
        )
    if gained.low > 0:
        return (
            f"The network predicts these values better than {start}, by {interval_text(gained)}."
            " That is not strength: it has another speed, too, so play the match."
        )
    if gained.high < 0:
        lost = Interval(-gained.value, -gained.high, -gained.low)
        return (
            f"The network predicts these values worse than {start}, by {interval_text(lost)}: more"
            " positions would help it, from more games or with a larger --per-game."
        )
    return (
        f"The network and {start} predict these values equally well, as far as these games can"
        " tell."
    )
