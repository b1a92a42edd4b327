"""Make the charts of a run from its history and findings."""

import math
from collections.abc import Sequence

import numpy as np

from tuner.report.charts import (
    Chart,
    Series,
    bar_chart,
    calibration_chart,
    capital,
    line_chart,
    points_chart,
    series_of,
)
from tuner.results.fit import Iteration, Sides
from tuner.results.match import HALVES, MatchResult
from tuner.results.selfplay import NetworkBatch, WeightsBatch


def column(history: Sequence[object], name: str) -> list[float]:
    """A number of each line, NaN where a line has none."""
    return [
        math.nan if (value := getattr(line, name)) is None else float(value) for line in history
    ]


MOST_POINTS = 400  # of a line: more are averaged
SMOOTH = 12  # rolling means cover a 12th of a run
# charts of self-play for diagnosis: key of the history, title, unit, whether it is a share
WATCHED = (
    ("duplicates", "Repeated games", "games per batch", False),
    ("static", "Quiet leaves", "share whose evaluation equals the score", True),
    ("squares", "Squared errors Σd²", "mean of a batch; values from −1 to 1", False),
    ("step", "Step", "mean change per weight and batch, {unit}", False),
    ("drift", "Drift", "mean change per weight since the start, {unit}", False),
)
UNIT_SPAN = 0.5  # of the first value: least height of charts of values above and below the start
LEAST_SPAN = 50.0  # centipawns, for a first value below 100
ROOM = 1.1  # height of a chart in units of its largest value


def learning_curves(history: Sequence[Iteration]) -> list[Chart]:
    """Objective and held-out loss over iterations and over CPU seconds."""
    objective, held = column(history, "objective"), column(history, "held_out")
    charts = []
    for key, title, unit in (
        ("iteration", "Loss by iteration", "iteration"),
        ("cpu_seconds", "Loss by time", "CPU seconds"),
    ):
        x = column(history, key)
        if not np.isfinite(x).any() or not np.isfinite(objective).any():
            continue
        series = [Series("learned", x, objective)]
        if np.isfinite([held[0], held[-1]]).all():  # for large datasets only the first is known
            series.append(Series("second", x, held))
        charts.append(
            line_chart(title, unit, "mean loss per position", series, whole=key == "iteration")
        )
    return charts


def value_charts(values: dict) -> list[Chart]:
    """The single weights of the first term: one chart in centipawns for each stage, one in units of
    the first."""
    rows, charts = values["rows"], []
    for s, stage in enumerate(values["stages"]):
        entries = [row["stages"][s] for row in rows]
        name = f"{values['term']} · {stage}" if len(values["stages"]) > 1 else values["term"]
        charts.append(
            points_chart(
                name,
                values["of_weights"],
                {row["name"]: entry["learned"] for row, entry in zip(rows, entries, strict=True)},
                [entry["initial"] for entry in entries],
            )
        )
    others = {row["name"]: row["ratio"] for row in rows[1:] if math.isfinite(row["ratio"].value)}
    if others:
        mean = ", mean of the stages" if len(values["stages"]) > 1 else ""
        charts.append(
            points_chart(
                f"In units of {values['unit']}",
                f"{values['unit']}s{mean}",
                others,
            )
        )
    return charts


def calibration_charts(calibration: Sides, y_label: str = "actual score") -> list[Chart]:
    """Predicted scores against actual or search scores, before and after learning."""
    charts = []
    for side, title in (
        (calibration.before, "Before learning"),
        (calibration.after, "After learning"),
    ):
        bins = [
            (one.predicted, one.actual)
            for one in side
            if one.predicted is not None and math.isfinite(one.actual.value)
        ]
        if bins:
            charts.append(calibration_chart(title, y_label, *zip(*bins, strict=True)))
    return charts


def phase_chart(phases: Sequence[float | None], stages: Sequence[str] = ()) -> Chart | None:
    """The number of positions of each phase, or of each of two stages if nothing lies between them;
    None with one stage, whose weights are the same in all phases."""
    counts = [0 if n is None else n for n in phases]
    if len(counts) < 2 or len(stages) == 1 or not any(counts):
        return None
    if len(counts) == len(stages) == 2:
        return bar_chart("Positions by stage", "stage", "positions", list(stages), counts[::-1])
    x = list(range(len(counts)))
    return bar_chart("Positions by phase", "phase, 0 in the endgame", "positions", x, counts)


def moves_charts(
    history: Sequence[WeightsBatch],
    start: dict[str, float],
    noise: np.ndarray | None,
    of: str = "centipawns",
) -> list[Chart]:
    """Change of each value of the first term since the start, in the unit `of` weights over games,
    all with the same axes; the line at 0 is the start, the band around it the reach of pure
    noise."""
    games, moved = thinned(np.array(column(history, "games"))), {}
    for name, before in start.items():
        moved[name] = thinned(
            np.array([line.values.get(name, math.nan) for line in history]) - before
        )
    moved = {name: change for name, change in moved.items() if np.isfinite(change).any()}
    if not moved:
        return []
    band = None if noise is None else thinned(noise)
    reached = max(np.nanmax(np.abs(change)) for change in moved.values())
    span = ROOM * max(
        reached,
        LEAST_SPAN,
        UNIT_SPAN * abs(next(iter(start.values()))),
        0.0 if band is None else float(band.max()),
    )
    charts = []
    for name, change in moved.items():
        zero = Series("zero", games, np.zeros(len(games)), None if band is None else -band, band)
        charts.append(
            line_chart(
                name,
                "games",
                f"{of} since the start",
                [zero, Series("line", games, change)],
                limits=(-span, span),
            )
        )
    return charts


def health_charts(history: Sequence[WeightsBatch | NetworkBatch]) -> list[Chart]:
    """Rates of draws and unfinished games, and the length of games."""
    games = thinned(np.array(column(history, "games")))
    shares = [
        (kind, smoothed(column(history, key)))
        for kind, key in (("line", "draws"), ("contrast", "broken_off"))
    ]
    shares = [(kind, share) for kind, share in shares if np.isfinite(share).any()]
    charts = []
    if shares:
        charts.append(
            line_chart(
                "Drawn and unfinished games",
                "games",
                "share of games",
                [Series(kind, games, share) for kind, share in shares],
                percent=True,
                limits=(0.0, 1.0),
            )
        )
    plies = column(history, "plies")
    if np.isfinite(plies).any():
        charts.append(
            watched_chart(games, plies, "Length of games", "plies, mean of a batch", False)
        )
    return charts


def watched_charts(history: Sequence[WeightsBatch], of: str = "centipawns") -> list[Chart]:
    """The other columns of the history of self-play."""
    games = thinned(np.array(column(history, "games")))
    return [
        watched_chart(games, column(history, key), title, unit.format(unit=of), share)
        for key, title, unit, share in WATCHED
        if np.isfinite(column(history, key)).any()
    ]


def watched_chart(
    games: np.ndarray, values: Sequence[float], title: str, unit: str, share: bool
) -> Chart:
    """A thin line of the values and a thick line of their rolling mean; the axis begins at 0."""
    y, smooth = thinned(np.asarray(values, float)), smoothed(values)
    top = 1.0 if share else ROOM * float(np.nanmax(y)) or 1.0
    return line_chart(
        title,
        "games",
        unit,
        [Series("faint", games, y), Series("line", games, smooth)],
        percent=share,
        limits=(0.0, top),
    )


def smoothed(values: Sequence[float]) -> np.ndarray:
    """Rolling means of the thinned values."""
    y = thinned(np.asarray(values, float))
    return rolling_mean(y, len(y) // SMOOTH)


def thinned(values: np.ndarray) -> np.ndarray:
    """At most MOST_POINTS values; longer series are averaged in blocks."""
    if len(values) <= MOST_POINTS:
        return values
    edges = np.linspace(0, len(values), MOST_POINTS + 1).round().astype(int)
    return np.add.reduceat(values, edges[:-1]) / np.diff(edges)


def rolling_mean(values: np.ndarray, width: int) -> np.ndarray:
    """The mean of the values up to `width` // 2 places to either side."""
    half = width // 2
    sums = np.concatenate([[0.0], np.cumsum(values)])
    place = np.arange(len(values))
    low, high = np.maximum(place - half, 0), np.minimum(place + half + 1, len(values))
    return (sums[high] - sums[low]) / (high - low)


def strength_curve(points: Sequence[tuple[float, MatchResult]]) -> Chart | None:
    """Return the differences of matches with their intervals over the games learned from."""
    known = [(games, match) for games, match in points if math.isfinite(match.difference.value)]
    drawn = sorted(known, key=lambda point: point[0])
    games = [games for games, _ in drawn]
    if len(set(games)) < 2:
        return None
    unit = drawn[0][1].unit
    return line_chart(
        f"{capital(unit)} by games learned from",
        "games learned from",
        f"{unit}, with 95 % interval",
        [series_of("learned", games, [match.difference for _, match in drawn])],
        level=0.0,
    )


def match_charts(match: MatchResult) -> list[Chart]:
    """The course of a match: the difference with its interval, LLR between its bounds, and pairs by
    result."""
    charts = []
    usable = [one for one in match.course if math.isfinite(one.difference.half_width)]
    if len(usable) > 1:
        games, differences = [one.games for one in usable], [one.difference for one in usable]
        charts.append(
            line_chart(
                f"{capital(match.unit)} as the match went on",
                "games",
                f"{match.unit}, with 95 % interval",
                [series_of("line", games, differences)],
                level=0.0,
                limits=_late_limits(
                    [one.low for one in differences], [one.high for one in differences]
                ),
            )
        )
        if match.test is not None:
            lower, upper = match.test.bounds
            charts.append(
                line_chart(
                    "LLR as the match went on",
                    "games",
                    "log-likelihood ratio",
                    [
                        Series("initial", games, [lower] * len(games)),
                        Series("initial", games, [upper] * len(games)),
                        Series("line", games, [one.llr for one in usable]),
                    ],
                )
            )
    if sum(match.counts.pairs):
        most = 2 * match.points.most
        points = [str(number) for number in range(-most, most + 1)]
        charts.append(
            bar_chart(
                "Pairs of games",
                "points of a pair, for the player named first",
                "pairs",
                points if match.in_points else list(HALVES),
                list(match.counts.pairs),
            )
        )
    return charts


def _late_limits(low: Sequence[float], high: Sequence[float]) -> tuple[float, float]:
    """Limits of y that ignore the first fifth of the games, whose intervals are wide."""
    late = slice(len(low) // 5, None)
    least, most = min(*low[late], 0.0), max(*high[late], 0.0)
    margin = 0.05 * (most - least)
    return least - margin, most + margin
