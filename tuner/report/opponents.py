"""The sections on the games of a run of self-play against others: points and ratings by games and
by opponents, and the mistakes that these made."""

import math
import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from games.record import Game
from tuner.core.estimates import Estimate, estimate_of, reach_of
from tuner.report.charts import Chart, own_names, points_chart, signed
from tuner.results.selfplay import Batch, Mistake, PlayedAgainst
from tuner.statistics.intervals import equal_results_interval
from tuner.statistics.ratings import LOGISTIC, PairsBetween, ratings_of

UNKNOWN = "unknown"
MOST_SHOWN = 9  # opponents by name, and mistakes with a diagram
PARTS, FEWEST = 8, 12  # parts of a run at most, and games of a part


def games_of(history: Sequence[Batch]) -> list[PlayedAgainst]:
    """Return the games of a run in their order; a result that was told later counts in place of
    none."""
    latest = {game.game: game for line in history for game in line.played}
    return [latest[number] for number in sorted(latest)]


def score_of(games: Sequence[PlayedAgainst]) -> Estimate:
    """Return the mean of the points of games, with the interval that their spread gives; of games
    that were all won or lost, that of a proportion."""
    points = np.array([game.points for game in games], float)
    value = float(points.mean())
    if not points.std():
        low, high = equal_results_interval(value, len(points)) or (math.nan, math.nan)
        return Estimate(value, low=low, high=high)
    error = float(points.std(ddof=1)) / math.sqrt(len(points))
    estimate = estimate_of(value, error, reach_of(len(points)))
    return replace(estimate, low=max(estimate.low, 0.0), high=min(estimate.high, 1.0))


def rating_of(games: Sequence[PlayedAgainst]) -> Estimate | None:
    """Return the rating of the learner by games against opponents whose rating is known; None
    without such games, or if all were won or lost."""
    results = defaultdict[float, list[float]](list)
    for game in games:
        if game.rating is not None and game.points is not None:
            results[game.rating].append(game.points)
    played = [PairsBetween(0, i, np.array(each)) for i, each in enumerate(results.values(), 1)]
    given = dict(enumerate(results, 1))
    points = [point for each in results.values() for point in each]
    if not points or len(set(points)) == 1 and points[0] in (0.0, 1.0):
        return None
    return ratings_of(1 + len(given), played, LOGISTIC, given).rating(0)


def opponents_data(history: Sequence[Batch], folder: Path) -> dict | None:
    """Return what is shown of the points and the rating of the learner by games, and by opponents;
    None without games that have a result. The `command` finds the results of those that have
    none."""
    played = games_of(history)
    games = [game for game in played if game.points is not None]
    if not games:
        return None
    by_name = defaultdict[str, list[PlayedAgainst]](list)
    for game in games:
        by_name[game.opponent or UNKNOWN].append(game)
    most = sorted(by_name, key=lambda name: -len(by_name[name]))
    named = [(name, by_name[name]) for name in most[:MOST_SHOWN]]
    rest = [game for name in most[MOST_SHOWN:] for game in by_name[name]]
    named += [(f"{len(most) - MOST_SHOWN} more", rest)] if rest else []
    rows = [(name, _ratings_text(each), len(each), score_of(each)) for name, each in named]
    if len(named) > 1:
        rows.append(("all", "", len(games), score_of(games)))
    return {
        "rows": rows,
        "rating": rating_of(games),
        "charts": _charts(games),
        "games": len(played),
        "known": len(games),
        "command": f"tuner selfplay --resume {shlex.quote(str(folder))} --results games.pgn",
    }


def _ratings_text(games: Sequence[PlayedAgainst]) -> str:
    """Return the ratings of the opponents of games."""
    known = {game.rating for game in games if game.rating is not None}
    ends = dict.fromkeys((min(known), max(known))) if known else ()
    return " to ".join(f"{rating:.0f}" for rating in ends)


def _charts(games: Sequence[PlayedAgainst]) -> list[Chart]:
    """Draw the points by games, and the rating where that of opponents is known."""
    count = min(PARTS, len(games) // FEWEST)
    if count < 2:
        return []
    parts = [games[k * len(games) // count : (k + 1) * len(games) // count] for k in range(count)]
    names = [f"games {part[0].game + 1:,} to {part[-1].game + 1:,}" for part in parts]
    charts = [("Score", "points a game", [score_of(part) for part in parts])]
    ratings = [rating_of(part) for part in parts]
    if all(ratings):
        charts.append(
            ("Rating", "Elo, by that of the opponents", [each for each in ratings if each])
        )
    return [
        points_chart(
            title,
            label,
            dict(zip(names, estimates, strict=True)),
        )
        for title, label, estimates in charts
    ]


def mistakes_in(history: Sequence[Batch]) -> list[Mistake]:
    """Return the mistakes of opponents, the largest first."""
    mistakes = [mistake for line in history for mistake in line.mistakes]
    return sorted(mistakes, key=lambda mistake: -mistake.gain)


def _score_text(score: float | None) -> str:
    """Return a score of a search as text."""
    return "a forced win" if score is None else signed(score, 0) or "0"


def mistakes_data(history: Sequence[Batch], game: Game | None, ignored: bool) -> dict | None:
    """Return what is shown of the largest mistakes of opponents, each with a diagram; None without
    any. `ignored`: nothing was learned from them."""
    mistakes = mistakes_in(history)
    if not mistakes or game is None:
        return None
    draw = game.files.picture
    shown = [
        {
            "mistake": mistake,
            "mover": game.wording.sides[int(game.second_to_move(words))],
            "scores": [_score_text(score) for score in (mistake.before, mistake.after)],
            "picture": own_names(draw(words), f"m{k}") if draw else None,
            "board": None if draw else game.draw(words),
        }
        for k, mistake in enumerate(mistakes[:MOST_SHOWN])
        for words in (game.position(mistake.position),)
    ]
    unit = game.wording.unit
    return {"shown": shown, "number": len(mistakes), "unit": unit, "ignored": ignored}
