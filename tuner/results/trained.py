"""The result of `tuner network`: how well a network agrees with values of positions."""

from __future__ import annotations

from dataclasses import dataclass, field

from tuner.core.records import Amount, Count, Number, Scalar, optional
from tuner.results.result import Interval


@dataclass(frozen=True)
class ModelLoss(Interval):
    """The loss of a model."""

    model: str = field(kw_only=True)


@dataclass(frozen=True)
class Gain(ModelLoss):
    """What a model gains on another, also as a share of that one's loss."""

    on: str = field(kw_only=True)
    share: Interval | None = optional()


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
    winners: list[ModelLoss]
    gain: Interval
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
