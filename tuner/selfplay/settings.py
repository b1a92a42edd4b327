"""Everything that learning from self-play is told and that changes its result: what `config.yaml` of its folder holds."""

from __future__ import annotations

from dataclasses import dataclass

SECTION = "selfplay"


@dataclass(frozen=True)
class Settings:
    """The options of `tuner selfplay` by their names, but that `opponents` and `terms` are all of their kind, `trace` is
    --lambda, `gated` is not --noisy, `blunders` not --no-blunders, `rule` is --learner, and `rate` --learning-rate, of
    which at least `floor` stays. None is what the method does not use. `evaluation` is a hash of the terms and the program."""

    start: str
    games: int
    depth: int | None = 3
    nodes: int | None = None
    random_plies: int = 4
    openings: str | None = None
    balanced: bool = False
    explore: float = 0.0
    plies: int = 160
    opponents: tuple[str, ...] = ("self",)
    method: str = "rootstrap"
    trace: float | None = 0.7
    gradient: str = "analytic"  # or "forward-difference", "central-difference"
    step: float | None = None  # centipawns, of finite differences
    gated: bool = True
    blunders: bool = True
    truncated: str = "value"
    rule: str = "adam"
    rate: float | None = None
    decay: float = 200.0
    floor: float = 0.1
    average: float = 0.99
    batch: int = 8
    lag: int = 1
    fixed: tuple[str, ...] = ()
    noise: float = 0.0
    seed: int = 1
    terms: tuple[str, ...] = ()
    evaluation: str | None = None
