"""Progress of self-play: piece values, and the rates of draws and unfinished games."""

from __future__ import annotations

import numpy as np

from games.record import Game
from tuner.parameters.layout import Layout
from tuner.selfplay.learner import Learner
from tuner.selfplay.play import BROKEN_OFF, DRAWN, Episode


def headline(layout: Layout, weights: np.ndarray) -> dict[str, float]:
    """Return the weights of the headline parameters, averaged over the stages, in centipawns."""
    return {layout.short(place): float(weights[:, place.columns].mean()) for place in layout.headline}


def batch_line(layout: Layout, learner: Learner, episodes: list[Episode], duplicates: int, watched: dict,
               games: int, cpu_seconds: float) -> dict:
    """Return a batch's line of the history. `games` includes earlier batches; `draws` and `broken_off` are shares of its games,
    `plies` is the mean length, `squares` the mean square of the errors, `step` and `drift` are the mean changes of a weight by
    this batch and since the start, `static` is the share of leaves whose static evaluation is the score."""
    n = len(episodes)
    return {"batch": learner.batches, "games": games, "cpu_seconds": round(cpu_seconds, 3),
            "draws": sum(episode.end == DRAWN for episode in episodes) / n,
            "broken_off": sum(episode.end == BROKEN_OFF for episode in episodes) / n,
            "plies": sum(len(episode.moves) for episode in episodes) / n, "duplicates": duplicates,
            **{key: float(f"{value:.6g}") for key, value in watched.items()},
            "values": {name: round(value, 2) for name, value in headline(layout, learner.average).items()}}


def progress_text(line: dict, game: Game) -> str:
    """Return a batch as a progress line: piece values, those of the first term, in units of the first, and the state of the
    games; of a game that wins several points, the state of the games alone."""
    if game.points > 1:
        return (f"{line['games']:,} games  unfinished {line['broken_off']:.0%}  {line['plies']:.0f} plies  "
                f"mean squared error {line['squares']:.4f}")
    unit = next(iter(line["values"].values()), 0.0) or 1.0
    values = " ".join(f"{name} {value / unit:.2f}" for name, value in list(line["values"].items())[1:] if "." not in name)
    return (f"{line['games']:,} games  {values}  draws {line['draws']:.0%}  unfinished {line['broken_off']:.0%}  "
            f"{line['plies']:.0f} plies  mean squared error {line['squares']:.4f}")


def table_of(layout: Layout, learner: Learner, game: Game) -> str:
    """Return the headline parameters before and after, in units of the first; of a game that wins several points, as weights."""
    before, now = (headline(layout, weights) for weights in (learner.parameters.weights, learner.average))
    if game.points > 1:
        values = "  ".join(f"{name} {value:.1f} ({before[name]:.1f})" for name, value in now.items())
        return f"some weights, starting values in brackets: {values}"
    units = [next(iter(values.values()), 0.0) or 1.0 for values in (before, now)]
    values = "  ".join(f"{name} {value / units[1]:.2f} ({before[name] / units[0]:.2f})" for name, value in now.items())
    return f"values in units of the first, starting values in brackets: {values}"
