"""Find the games and positions of rows that the learned weights predict worst; the rows say what the positions are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tuner.datasets.ranges import together, whole_games
from tuner.diagnostics.misjudged import FEWEST, Worst
from tuner.fit.result import FitResult

LARGEST = 1 << 20  # positions that are compared; of more, every k-th game


def misjudged_rows(result: FitResult, results: np.ndarray | None) -> dict:
    """Return, as plain data, the `games` and `positions` with the largest losses under the learned weights.

    Losses are cross-entropies of the result. `results` (n,) are those of the games if the outcomes of the fit are not. Of each
    game only the worst position counts.
    """
    problem = result.problem
    data, scale = problem.data, result.parameters.scale
    every = np.arange(data.games)
    part = problem.on(every[::max(1, data.positions // LARGEST)])
    outcomes = data.outcome if results is None else results
    names = ", ".join(str(source["file"]) for source in data.manifest["sources"])
    games, positions = Worst(), Worst()
    ranges = whole_games(data, part.games)
    learned = result.weights[:, :data.columns + 1]
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
                games.offer(mean, {"file": names, "number": number, "outcome": float(outcomes[place[low]]),
                                   "positions": int(high - low), "loss": round(mean, 4)})
            worst = int(low + np.argmax(loss[low:high]))
            positions.offer(float(loss[worst]), {
                "place": int(place[worst]), "file": names, "number": number, "outcome": float(outcomes[place[worst]]),
                "predicted": round(float(0.5 + 0.5 * np.tanh(logit[worst] / 2)), 4), "loss": round(float(loss[worst]), 4)})
    found = positions.plain()
    texts = data.texts(np.array([entry["place"] for entry in found], np.int64)) if found else []
    return {"games": games.plain(), "positions": [
        {"position": text, **{key: value for key, value in entry.items() if key != "place"}}
        for entry, text in zip(found, texts, strict=True)]}
