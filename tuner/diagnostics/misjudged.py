"""Find the games and positions that the learned evaluation predicts worst, and losses by file, by reading the games again.

Wrong labels show up here: games whose result contradicts every position, more often in one file than in others.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import PositionBatch, ReadOptions, ReadReport
from tuner.engine.engine import Engine
from tuner.engine.loading import Evaluator
from tuner.ingest.build import batches, prepared
from tuner.parameters.parameters import Parameters

MOST = 12  # games, and positions, reported
FEWEST = 8  # positions of a game, to be reported as a whole


class File(NamedTuple):
    """A file's games and positions, and the mean loss of a position before and after learning."""

    file: str
    games: int
    positions: int
    loss_before: float
    loss_after: float


class Worst:
    """The entries with the largest losses offered; among equal ones the first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, dict]] = []
        self._count = itertools.count()

    def offer(self, loss: float, plain: dict) -> None:
        entry = (float(loss), -next(self._count), plain)
        if len(self._heap) < MOST:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def plain(self) -> list[dict]:
        """Return the entries, largest loss first."""
        return [plain for _, _, plain in sorted(self._heap, key=lambda entry: -entry[0])]


def misjudged(engine: Engine, sources: Sequence[str], options: ReadOptions, quiescence: Evaluator | None,
              before: Parameters, after: Parameters, progress: Callable[[ReadReport], None] = lambda report: None) -> dict:
    """Return, as plain data, the `games` and `positions` with the largest losses under `after`, and the losses by `files`.

    Losses are cross-entropies of the result, with the scale of each parameter set. Of each game only the worst position counts.
    """
    report, (options, packed) = ReadReport(), prepared(options, quiescence)
    games, positions = Worst(), Worst()
    files = []
    for source, read in batches(engine.game, sources, options, report, lambda text: None):
        total, name = np.zeros(4), Path(source).name
        for batch in read:
            if len(batch.positions) == 0:
                continue
            _, old = _predictions(engine, before, batch)
            score, new = _predictions(engine, after, batch)
            ends = np.append(batch.first[1:], len(new))
            kept = np.flatnonzero(ends > batch.first)
            sums = np.add.reduceat(new, batch.first[kept])
            counts = (ends - batch.first)[kept]
            total += len(kept), len(new), old.sum(), new.sum()
            for at in np.argsort(-(sums / counts))[:MOST]:
                g = kept[at]
                if counts[at] >= FEWEST:
                    games.offer(sums[at] / counts[at], {
                        "file": name, "number": int(batch.numbers[g]), "outcome": float(batch.outcomes[batch.first[g]]),
                        "positions": int(counts[at]), "loss": round(float(sums[at] / counts[at]), 4)})
            bounds = zip(batch.first[kept], ends[kept], strict=True)
            worst = np.array([begin + np.argmax(new[begin:end]) for begin, end in bounds])
            for at in np.argsort(-new[worst])[:MOST]:
                i, g = worst[at], kept[at]
                positions.offer(new[i], {
                    "position": engine.game.text(batch.positions[i]), "file": name, "number": int(batch.numbers[g]),
                    "outcome": float(batch.outcomes[i]), "predicted": round(float(score[i]), 4), "loss": round(float(new[i]), 4)})
            progress(report)
        n = max(total[1], 1)
        files.append(File(name, int(total[0]), int(total[1]), round(total[2] / n, 5), round(total[3] / n, 5))._asdict())
    del packed
    return {"games": games.plain(), "positions": positions.plain(), "files": files}


def _predictions(engine: Engine, parameters: Parameters, batch: PositionBatch) -> tuple[np.ndarray, np.ndarray]:
    """Return expected scores of the first player, from 0 to 1, and losses."""
    logit = 2 * parameters.scale * engine.evaluate(batch.positions, parameters)
    q = 0.5 + 0.5 * batch.outcomes.astype(float)
    return 0.5 + 0.5 * np.tanh(logit / 2), np.logaddexp(0, logit) - q * logit
