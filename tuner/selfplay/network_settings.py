"""The settings of a self-play run that learns a network: every option that changes its result, as in `config.yaml`."""

from __future__ import annotations

from dataclasses import dataclass

from tuner.io.run_folder import require_within
from tuner.io.text import LARGEST_COUNT
from tuner.selfplay.settings import SMALLEST

SECTION = "network"
LONGEST = 2000  # plies of a game: an untrained network needs some hundred
RATES = {True: 0.3, False: 1.0}  # the learning rate, of networks that learn from wins only and from points,
SINGLE_RATE = 0.1  # and of a single neuron, which larger ones spoil
DECAY, FLOOR = 20_000.0, 0.1  # games within which it halves, and the share below which it does not fall
BATCHES, SMALLEST_BATCH, LARGEST_BATCH = 200, 50, 1000  # about so many lines of the history, each of so many games


@dataclass(frozen=True)
class NetworkSettings:
    """The options of `tuner selfplay` by their names. Exceptions: `start` is PARAMS, a network file or the name of a game, whose
    new network has the encoding, the `hidden` layers and their `activation`; `trace` is --lambda, `rate` is --learning-rate,
    which halves within `decay` games and never falls below `floor` times itself. `batch` is how many games a line of the history
    is about: it changes nothing that is learned. `program` is a hash of the compiled code."""

    start: str
    games: int
    encoding: str | None
    hidden: tuple[int, ...]
    activation: str | None
    wins: bool
    trace: float
    rate: float
    decay: float
    floor: float
    batch: int
    seed: int
    measure: str | None
    measure_games: int
    measure_every: int
    program: str

    def require_sense(self) -> None:
        """ValueError for numbers out of range."""
        for name in ("games", "batch", "measure_every"):
            require_within(name, getattr(self, name), 1, LARGEST_COUNT)
        require_within("measure_games", self.measure_games, 6, LARGEST_COUNT)
        require_within("seed", self.seed, 0, LARGEST_COUNT)
        for name in ("trace", "floor"):
            require_within(name, getattr(self, name), 0, 1)
        for name in ("rate", "decay"):
            require_within(name, getattr(self, name), SMALLEST, LARGEST_COUNT)
        if self.measure_games % 2:
            raise ValueError(f"measure_games is {self.measure_games}, expected an even number")
