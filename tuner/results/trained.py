"""The result of `tuner network`: how well a network agrees with values of positions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuner.core.estimates import FEW_GAMES, Estimate, fixed
from tuner.core.records import Amount, Count, Number, Scalar, optional, to_json
from tuner.core.text import plural
from tuner.results.result import Found

START, NET = "start", "network"
LARGEST_PHASE = "the largest phase"


@dataclass(frozen=True)
class ModelLoss:
    """The loss of a model."""

    model: str
    loss: Estimate


@dataclass(frozen=True)
class ModelWinners:
    """The share of the winners that a model predicts."""

    model: str
    share: Estimate


@dataclass(frozen=True)
class Gain:
    """What a model gains on another, also as a `share` of that one's loss."""

    model: str
    on: str
    gain: Estimate
    share: Estimate


@dataclass(frozen=True, kw_only=True)
class PhaseLoss:
    """Losses of the evaluation and the network in some phases, and the gain there."""

    from_: Number
    to: Number
    positions: Amount
    start: Number
    network: Number
    gains: list[Gain]


@dataclass(frozen=True, kw_only=True)
class NetworkMeasurement:
    """How well a network agrees with values of positions, compared with an evaluation: what
    `tuner network` says of the network that it learned."""

    command: str
    output: str
    start: str
    values: str
    targets: str | None
    positions: Count
    games: Count
    held_out_positions: Count
    held_out_games: Count
    seed: Scalar
    loss: str
    models: list[ModelLoss]
    winners: list[ModelWinners]
    gain: Estimate
    epochs: list[dict]
    best_epoch: Count
    first_stage: str | None = optional()
    phases: list[PhaseLoss] | None = optional()
    game: str
    encoding: str
    layers: list[Count]
    activation: str
    weights: Count
    learned_positions: Count
    aside_positions: Count
    cpu_seconds: Number
    pieces: dict[str, Number] | None = optional()


@dataclass(frozen=True, kw_only=True)
class Trained(Found):
    """Networks that were trained, `repeats`, of which the best, `found`, was written beside
    `weights_file`; `match` is the command of a match of it, None where games cannot be played."""

    found: NetworkMeasurement
    repeats: Sequence[NetworkMeasurement]
    weights_file: str
    match: str | None = None

    @property
    def lines(self) -> list[str]:
        """See `Found`."""
        return [
            *lines_of(self.found, self.weights_file),
            *([repeats_line(self.repeats)] if len(self.repeats) > 1 else []),
            *([f"next: {self.match}"] if self.match else []),
        ]

    @property
    def result(self) -> dict[str, Any]:
        """See `Found`."""
        kept, alike = ("models", "winners"), to_json(self.repeats)
        return {**to_json(self.found), "repeats": [{k: one[k] for k in kept} for one in alike]}


def repeats_line(found: Sequence[NetworkMeasurement]) -> str:
    """Return what several networks, which differ by their first weights and the order of positions,
    reach on the held-out positions."""
    losses = np.array([one.models[-1].loss.value for one in found])
    shares = np.array([one.winners[-1].share.value for one in found])
    text = f"{len(found)} networks, mean +/- SD: {found[0].loss} {losses.mean():.4f} +/- "
    text += f"{losses.std(ddof=1):.4f}"
    if found[0].targets == "results":
        text += f", winners {shares.mean():.4f} +/- {shares.std(ddof=1):.4f}"
    return text + "; written is the best for the positions set aside"


FEW = "only {} held-out games: intervals are too narrow"  # by resampling, they hold 74 to 89 %


def lines_of(found: NetworkMeasurement, weights_file: str) -> list[str]:
    """Return a measurement of a learned network as lines of text; `weights_file` was written with
    it."""
    layers = "-".join(map(str, found.layers))
    return [
        f"{found.encoding}, {layers}, {plural(found.weights, 'weight')}, learned from"
        f" {plural(found.learned_positions, 'position')}; best of {found.epochs[-1]['epoch']}"
        f" epochs: {found.best_epoch} (on {found.aside_positions:,} validation positions)",
        *_loss_lines(found),
        *[FEW.format(found.held_out_games)] * (found.held_out_games < FEW_GAMES),
        sentence(found.start, found.gain),
        *_piece_lines(found.pieces or {}),
        f"{found.cpu_seconds:,.0f} CPU seconds after reading",
        f"wrote {found.output} and {weights_file}",
    ]


def _piece_lines(values: dict[str, float]) -> list[str]:
    """Return what pieces are worth to the network, as a line if it is known."""
    text = ", ".join(f"{piece} {value:.0f}" for piece, value in values.items())
    return [f"pieces in centipawns, by taking one away: {text}"] if values else []


def _loss_lines(found: NetworkMeasurement) -> list[str]:
    """Return the losses of the evaluation and the network, of all positions and by phase."""
    names = {START: found.start, NET: "network"}
    width = max(map(len, names.values())) + 2
    lines = [
        f"{found.loss} of {found.held_out_positions:,} held-out positions"
        f" ({plural(found.held_out_games, 'game')}); values: {found.values}"
    ]
    lines += [f"  {names[line.model]:<{width}}{interval_text(line.loss)}" for line in found.models]
    if found.targets == "results":
        lines += ["share of the winners that are predicted:"]
        lines += [
            f"  {names[line.model]:<{width}}{interval_text(line.share)}" for line in found.winners
        ]
    if not found.phases:
        return lines
    lines += [
        f"by the share of {'the first stage, ' * (found.first_stage != LARGEST_PHASE)}"
        f"{found.first_stage}:",
        f"  {'share':<12}{'positions':>10}{'file':>9}{'network':>9}   gain of the network",
    ]
    return lines + [
        f"  {f'{line.from_:.2f}-{line.to:.2f}':<12}{line.positions:>10,}{line.start:>9.4f}"
        f"{line.network:>9.4f}   {interval_text(line.gains[-1].gain)}"
        for line in found.phases
    ]


def interval_text(found: Estimate) -> str:
    """Format a number and its interval, if it has one."""
    value, low, high = (fixed(part, 4) for part in (found.value, found.low, found.high))
    return value if math.isnan(found.low) else f"{value} [{low}, {high}]"


def sentence(start: str, gained: Estimate) -> str:
    """Return what the comparison with the evaluation means."""
    if math.isnan(gained.half_width):
        return (
            f"The held-out games have one opening, so that {start} and the network cannot be"
            " compared."
        )
    if gained.low > 0:
        return (
            f"The network predicts these values better than {start}, by {interval_text(gained)}."
            " Strength also depends on speed, so play a match."
        )
    if gained.high < 0:
        return (
            f"The network predicts these values worse than {start}, by"
            f" {interval_text(gained.turned)}: more"
            " positions would help it, from more games or with a larger --per-game."
        )
    return (
        f"The network and {start} predict these values equally well, within the uncertainty of"
        " these games."
    )
