"""What the tests of probes share: positions as a reader yields them, and engines to ask."""

import contextlib
from collections.abc import Iterator

import numpy as np

from games.record import EvaluationPattern, PositionBatch, SearchLimits
from tests.games.chess.engines.client.support import CHESS, FAKE, PATTERN
from tuner.learn.teacher import evaluators
from tuner.probe.linearity import Answers, Step, steps_of

PIECES = "PpNnBbRr"


def boards(random: np.random.Generator, n: int) -> np.ndarray:
    """Positions (n, words) with kings far apart and other pieces anywhere, neither side in
    check."""
    found: list[np.ndarray] = []
    while len(found) < n:
        squares = ["."] * 64
        squares[0], squares[63] = "k", "K"
        for square in random.choice(np.arange(8, 56), 12, replace=False):
            squares[square] = PIECES[random.integers(len(PIECES))]
        rows = ["".join(squares[i : i + 8]) for i in range(0, 64, 8)]
        placement = "/".join(rows)
        for k in range(8, 0, -1):
            placement = placement.replace("." * k, str(k))
        with contextlib.suppress(ValueError):
            words = CHESS.position(f"{placement} {'wb'[random.integers(2)]} - - 0 1")
            if CHESS.legal_moves(words) and not _checked(words):
                found.append(words)
    return np.array(found)


def _checked(words: np.ndarray) -> bool:
    from games.chess.rules.movegen import in_check

    return bool(in_check(words))


def batch_of(
    positions: np.ndarray, games: int = 5, outcomes: np.ndarray | None = None
) -> PositionBatch:
    """The positions as a batch of so many games."""
    n = len(positions)
    first = np.arange(games) * n // games
    identities = np.arange(1, games + 1, dtype=np.uint64)
    outcomes = np.zeros(n, np.float32) if outcomes is None else outcomes.astype(np.float32)
    return PositionBatch(
        positions, outcomes, first, identities, identities, np.arange(1, games + 1)
    )


@contextlib.contextmanager
def asking(
    how: str = "",
    names: tuple[str, ...] = ("Alpha", "Beta Weight"),
    limits: SearchLimits | None = None,
    workers: int = 1,
    command: str | None = None,
    pattern: EvaluationPattern | None = PATTERN,
    values: dict[str, int] | None = None,
    delta: int | None = None,
) -> Iterator[tuple[Answers, list[Step], dict]]:
    """Answers of the fake engine, or of another, with the steps of some options and all options."""
    with evaluators(
        CHESS, f"uci:{command or f'{FAKE} {how}'}", {}, workers, pattern if limits is None else None
    ) as engines:
        steps = steps_of(engines[0].options, names, values or {}, delta)
        yield (
            Answers(engines, limits, {step.name: step.value for step in steps}),
            steps,
            dict(engines[0].options),
        )
