"""The settings of a self-play run: every option that changes its result, as in `config.yaml` of its folder."""

from __future__ import annotations

from dataclasses import dataclass

from tuner.engine.coefficients import STEPS
from tuner.fit.learners.rules import RULES
from tuner.io.run_folder import require_among, require_within
from tuner.io.text import LARGEST_COUNT
from tuner.selfplay.backups import BACKUPS

SECTION = "selfplay"
SMALLEST = 1e-300  # of positive numbers


@dataclass(frozen=True)
class Settings:
    """The options of `tuner selfplay` by their names. Exceptions: `opponents` and `terms` collect repeated options, `trace` is
    --lambda (the key in `config.yaml`), `gated` is not --noisy, `blunders` is not --no-blunders, `rule` is --learner, and
    `rate` is --learning-rate, which never falls below `floor` times itself. None marks what the method does not use.
    `evaluation` is a hash of the terms and the program."""

    start: str
    games: int
    depth: int | None = 3
    nodes: int | None = None
    random_plies: int = 4
    openings: str | None = None
    from_ply: tuple[int, int] | None = None  # first and last ply at which games of `openings` are left
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
    wins: bool = False
    rule: str = "adam"
    rate: float | None = None
    largest_step: float | None = None  # centipawns
    decay: float = 200.0
    floor: float = 0.1
    average: float = 0.99
    batch: int = 8
    lag: int = 1
    fixed: tuple[str, ...] = ()
    noise: float = 0.0
    seed: int = 1
    terms: tuple[str, ...] = ()
    measure: str | None = None
    measure_games: int = 1000
    measure_every: int = 1000  # games learned from
    evaluation: str | None = None

    def require_sense(self) -> None:
        """ValueError for numbers and words out of range."""
        for name in ("games", "depth", "nodes", "plies", "batch", "measure_every"):
            require_within(name, getattr(self, name), 1, LARGEST_COUNT)
        for name in ("random_plies", "lag", "seed"):
            require_within(name, getattr(self, name), 0, LARGEST_COUNT)
        for name in ("explore", "trace", "floor", "average"):
            require_within(name, getattr(self, name), 0, 1)
        for name in ("rate", "largest_step", "decay"):
            require_within(name, getattr(self, name), SMALLEST, LARGEST_COUNT)
        require_within("noise", self.noise, 0, 1e4)
        require_within("measure_games", self.measure_games, 6, LARGEST_COUNT)
        if self.measure_games % 2:
            raise ValueError(f"measure_games is {self.measure_games}, expected an even number")
        for ply in self.from_ply or ():
            require_within("from_ply", ply, 0, LARGEST_COUNT)
        if self.from_ply is not None and (self.openings is None or self.from_ply[0] > self.from_ply[1]):
            raise ValueError("from_ply needs openings, and its first ply is not above the last")
        if self.depth is None and self.nodes is None:
            raise ValueError("depth and nodes are both null, expected one of them")
        require_among("method", self.method, BACKUPS)
        require_among("gradient", self.gradient, ("analytic", *STEPS))
        require_within("step", self.step, SMALLEST, 1e4)
        if (self.gradient == "analytic") != (self.step is None):
            raise ValueError(f"step is {self.step} with {self.gradient} gradients")
        require_among("rule", self.rule, RULES)
        require_among("truncated", self.truncated, ("value", "draw"))
        if not self.opponents:
            raise ValueError("opponents is empty, expected one or more")
