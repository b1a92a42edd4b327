"""Find the games and positions that the learned evaluation predicts worst, and losses by file, by
reading the games again.

Wrong labels show up here: games whose result contradicts every position, more often in one file
than in others."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from games.record import PositionBatch, ReadOptions, ReadReport
from tuner.datasets.dataset import together, whole_games
from tuner.datasets.files import is_dataset
from tuner.evaluation.engine import Engine
from tuner.evaluation.loading import FileEvaluator, quiescence_of
from tuner.findings.records import FileLoss, Misjudged, WorstGame, WorstPosition
from tuner.fit.result import FitResult
from tuner.io.records import to_json
from tuner.io.terminal import Display
from tuner.learn.build import batches, prepared
from tuner.learn.reading import Read
from tuner.learn.start import Start
from tuner.options.tune import TuneSettings
from tuner.parameters.parameters import Parameters

MOST = 12  # games, and positions, reported
FEWEST = 8  # positions of a game, to be reported as a whole


T = TypeVar("T")


class Worst(Generic[T]):
    """The entries with the largest losses offered; among equal ones the first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, T]] = []
        self._count = itertools.count()

    def offer(self, loss: float, one: T) -> None:
        entry = (float(loss), -next(self._count), one)
        if len(self._heap) < MOST:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def ordered(self) -> list[T]:
        """Return the entries, largest loss first."""
        return [one for _, _, one in sorted(self._heap, key=lambda entry: -entry[0])]


def misjudged(
    engine: Engine,
    sources: Sequence[str],
    options: ReadOptions,
    quiescence: FileEvaluator | None,
    before: Parameters,
    after: Parameters,
    progress: Callable[[ReadReport], None] = lambda report: None,
) -> tuple[Misjudged, list[FileLoss]]:
    """Return the games and positions with the largest losses under `after`, and the losses by file.

    Losses are cross-entropies of the result, with the scale of each parameter set. Of each game
    only the worst position counts."""
    report, options = ReadReport(), prepared(options, quiescence)
    games, positions = Worst[WorstGame](), Worst[WorstPosition]()
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
                    games.offer(
                        sums[at] / counts[at],
                        WorstGame(
                            file=name,
                            number=int(batch.numbers[g]),
                            outcome=float(batch.outcomes[batch.first[g]]),
                            positions=int(counts[at]),
                            loss=round(float(sums[at] / counts[at]), 4),
                        ),
                    )
            bounds = zip(batch.first[kept], ends[kept], strict=True)
            worst = np.array([begin + np.argmax(new[begin:end]) for begin, end in bounds])
            for at in np.argsort(-new[worst])[:MOST]:
                i, g = worst[at], kept[at]
                positions.offer(
                    new[i],
                    WorstPosition(
                        position=engine.game.text(batch.positions[i]),
                        file=name,
                        number=int(batch.numbers[g]),
                        outcome=float(batch.outcomes[i]),
                        predicted=round(float(score[i]), 4),
                        loss=round(float(new[i]), 4),
                    ),
                )
            progress(report)
        n = max(total[1], 1)
        files.append(
            FileLoss(
                name, int(total[0]), int(total[1]), round(total[2] / n, 5), round(total[3] / n, 5)
            )
        )
    return Misjudged(games.ordered(), positions.ordered()), files


def _predictions(
    engine: Engine, parameters: Parameters, batch: PositionBatch
) -> tuple[np.ndarray, np.ndarray]:
    """Return expected scores of the first player, from 0 to 1, and losses."""
    logit = 2 * parameters.scale * engine.evaluate(batch.positions, parameters)
    q = 0.5 + 0.5 * batch.outcomes.astype(float)
    return 0.5 + 0.5 * np.tanh(logit / 2), np.logaddexp(0, logit) - q * logit


LARGEST = 1 << 20  # positions that are compared; of more, every k-th game


def misjudged_rows(result: FitResult, results: np.ndarray | None) -> Misjudged:
    """Return the games and positions with the largest losses under the learned weights.

    Losses are cross-entropies of the result. `results` (n,) are those of the games if the outcomes
    of the fit are not. Of each game only the worst position counts."""
    problem = result.problem
    data, scale = problem.data, result.parameters.scale
    every = np.arange(data.games)
    part = problem.on(every[:: max(1, data.positions // LARGEST)])
    outcomes = data.outcome if results is None else results
    names = ", ".join(str(source["file"]) for source in data.manifest["sources"])
    games, positions = Worst[WorstGame](), Worst[tuple[int, WorstPosition]]()
    ranges = whole_games(data, part.games)
    learned = result.weights[:, : data.columns + 1]
    for some in together(ranges):
        piece = np.ascontiguousarray(ranges[some])
        logit = 2 * scale * replace(part, games=part.games[some]).evaluations(learned, piece)
        place = np.concatenate([np.arange(low, high) for low, high in piece.tolist()])
        q = 0.5 + 0.5 * outcomes[place].astype(float)
        loss = np.logaddexp(0, logit) - q * logit
        ends = np.cumsum(piece[:, 1] - piece[:, 0])
        for g, (low, high) in enumerate(zip(ends - (piece[:, 1] - piece[:, 0]), ends, strict=True)):
            if low == high:
                continue
            number, mean = int(part.games[some][g]) + 1, float(loss[low:high].mean())
            if high - low >= FEWEST:
                games.offer(
                    mean,
                    WorstGame(
                        file=names,
                        number=number,
                        outcome=float(outcomes[place[low]]),
                        positions=int(high - low),
                        loss=round(mean, 4),
                    ),
                )
            worst = int(low + np.argmax(loss[low:high]))
            positions.offer(
                float(loss[worst]),
                (
                    int(place[worst]),
                    WorstPosition(
                        position="",  # read at the end, of those that are reported
                        file=names,
                        number=number,
                        outcome=float(outcomes[place[worst]]),
                        predicted=round(float(0.5 + 0.5 * np.tanh(logit[worst] / 2)), 4),
                        loss=round(float(loss[worst]), 4),
                    ),
                ),
            )
    found = positions.ordered()
    texts = data.texts(np.array([at for at, _ in found], np.int64)) if found else []
    return Misjudged(
        games.ordered(),
        [replace(entry, position=text) for (_, entry), text in zip(found, texts, strict=True)],
    )


def misjudged_of(
    begun: Start,
    result: FitResult,
    summary: dict,
    sources: Sequence[str],
    options: TuneSettings,
    read: Read,
    display: Display,
) -> dict:
    """Return the misjudged games and positions, if the games can be read again or the rows have
    texts."""
    start = begun.parameters
    if begun.engine is None:
        if not len(read.data.text):
            return {}
        return {"misjudged": to_json(misjudged_rows(result, read.results))}
    if any(source == "-" or is_dataset(source) for source in sources):
        return {}
    found, files = misjudged(
        begun.engine,
        sources,
        options.reading,
        quiescence_of(begun.engine, options.judge),
        start.with_weights(start.weights, scale=result.parameters.scale),
        result.parameters,
        display.reading,
    )
    return {"summary": {**summary, "files": to_json(files)}, "misjudged": to_json(found)}
