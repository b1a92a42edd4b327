"""Summarize a dataset: games, positions, results, phases, and how often each parameter applies."""

import numpy as np
from numba.core import types

from games.record import in_points, points_of, wording_of
from games.system import available_cpus
from tuner.core.text import listed, plural
from tuner.datasets.dataset import BLOCK, Dataset, ahead
from tuner.datasets.files import KINDS, matrix_type, order_type, ranges_type, row_type
from tuner.parallel import in_order
from tuner.parameters.parameters import Layout
from tuner.unit import entry

uses_type = types.Array(types.int64, 2, "C")


@entry(
    *(
        types.void(
            index,
            count,
            row_type,
            phase,
            ranges_type,
            index,
            order_type,
            uses_type,
            matrix_type,
        )
        for index, count, phase in KINDS
    )
)
def column_use(index, count, row, phase, ranges, column, latest, positions, total):
    """Add, per phase and column, the number of positions that the column applies to and the sum of
    absolute counts. `column` is the column of each index; `latest` is memory to work in, -1 for
    each column."""
    for r in range(len(ranges)):
        for position in range(ranges[r, 0], ranges[r, 1]):
            applies, sums = positions[phase[position]], total[phase[position]]
            for k in range(np.uint64(row[position]), np.uint64(row[position + 1])):
                at = column[index[k]]
                if latest[at] != position:
                    applies[at] += 1
                latest[at] = position
                sums[at] += abs(np.float64(count[k]))


def use_of(data: Dataset, ranges: np.ndarray, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each value of `phase` and column (codes, columns), the positions that it applies
    to and the sum of absolute counts."""
    shape = (data.codes, data.columns)

    def work(piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        positions, total = np.zeros(shape, np.int64), np.zeros(shape)
        column_use(
            data.index,
            data.count,
            data.row,
            data.phase,
            piece,
            data.column,
            np.full(data.columns, -1),
            positions,
            total,
        )
        return positions, total

    positions, total = np.zeros(shape, np.int64), np.zeros(shape)
    for some, counts in in_order(work, ahead(data, ranges), workers):
        positions += some
        total += counts
        data.release()
    return positions, total


BINS = 4  # of the phase
RARE = 100  # positions, below which a parameter can hardly be learned


OUTCOMES = ("win", "draw", "loss", "other")  # of an outcome; the rest are fractional labels


def summarise(data: Dataset, layout: Layout) -> dict:
    """Return the summary as plain data; results are shares of wins, draws and losses of the first
    player. For a game that is won by more or fewer points, `points` has the number of games for
    each outcome in points, and the mean."""
    phases, most = data.manifest["phases"], points_of(data.manifest["game"])
    steps = data.phase_scale[:, 0].astype(np.int64)
    edges = np.unique(np.linspace(0, phases + 1, BINS + 1).round().astype(int))
    by_phase = np.zeros((phases + 1, len(OUTCOMES)), np.int64)
    for begin in range(0, data.positions, BLOCK):
        data.prefetch(begin, min(begin + BLOCK, data.positions), ("outcome", "phase"))
        outcome, code = data.outcome[begin : begin + BLOCK], data.phase[begin : begin + BLOCK]
        by_phase += np.bincount(
            steps[code] * len(OUTCOMES) + _kind(outcome, most),
            minlength=len(OUTCOMES) * (phases + 1),
        ).reshape(-1, len(OUTCOMES))
        data.release()
    of_games = data.outcome[data.first[:-1][np.diff(data.first) > 0]]
    by_game = np.bincount(_kind(of_games, most), minlength=len(OUTCOMES))
    positions = by_phase.sum(axis=1)
    phase_sum = int(positions @ np.arange(phases + 1))
    use = use_of(data, np.array([[0, data.positions]]), available_cpus())[0].sum(axis=0)
    labels = layout.labels()
    never = {place.path: int((use[place.columns] == 0).sum()) for place in layout.places}
    return {
        "games": data.games,
        "positions": data.positions,
        "nonzeros_per_position": len(data.index) / data.positions,
        "results_by_game": _shares(by_game),
        "results_by_position": _shares(by_phase.sum(axis=0)),
        "results_by_phase": [
            {
                "phase": [int(low), int(high - 1)],
                "positions": int(by_phase[low:high].sum()),
                "results": _shares(by_phase[low:high].sum(axis=0)),
            }
            for low, high in zip(edges[:-1], edges[1:], strict=True)
        ][::-1],
        "games_by_result": {
            kind: int(n) for kind, n in zip(OUTCOMES, by_game, strict=True) if n or kind != "other"
        },
        "positions_by_phase": positions.tolist(),
        "average_phase": phase_sum / data.positions,
        "phases": phases,
        "stages": list(data.staging.downward),
        "openings": len(np.unique(data.opening)),
        "duplicate_games": data.games - len(np.unique(data.game)),
        "parameters": layout.size,
        "never_apply": {path: n for path, n in never.items() if n},
        "rarely_apply": {labels[i]: int(use[i]) for i in np.flatnonzero((use > 0) & (use < RARE))},
        "use": {label: int(n) for label, n in zip(labels, use, strict=True)},
        **(
            {
                "points": (
                    _points(of_games, most) | {"side": wording_of(data.manifest["game"]).sides[0]}
                )
            }
            if in_points(most)
            else {}
        ),
    }


def is_labelled(data: Dataset) -> bool:
    """Return whether most games have a fractional label in place of a result: their positions were
    labeled one by one."""
    of_games = data.outcome[data.first[:-1][np.diff(data.first) > 0]]
    return bool(
        2 * np.count_nonzero(_whole(of_games, points_of(data.manifest["game"]))) < len(of_games)
    )


def _kind(outcome: np.ndarray, most: int) -> np.ndarray:
    """Return the indices (n,) in OUTCOMES of outcomes, which are whole points up to `most` if
    they are no labels."""
    return np.where(_whole(outcome, most), 1 - np.sign(outcome), OUTCOMES.index("other")).astype(
        np.int64
    )


def _whole(outcome: np.ndarray, most: int) -> np.ndarray:
    """Return which outcomes (n,) are whole points, as those of games are."""
    return np.isin(outcome, np.arange(-most, most + 1, dtype=np.float32) / np.float32(most))


def _points(outcome: np.ndarray, most: int) -> dict:
    """Return, as plain data, how many games have each outcome in points, how many have fractional
    labels, and the mean."""
    whole = _whole(outcome, most)
    points, counts = np.unique(np.rint(outcome[whole] * most).astype(int), return_counts=True)
    spread = float(outcome.std(dtype=np.float64) * most) if len(outcome) else 0.0
    return {
        "games": {
            f"{int(each):+d}": int(n) for each, n in zip(points[::-1], counts[::-1], strict=True)
        },
        "labels": int((~whole).sum()),
        "mean": round(float(outcome.mean(dtype=np.float64) * most), 4),
        "deviation": round(spread, 4),
    }


def _shares(counts: np.ndarray) -> list[float]:
    """Return the shares of wins, draws and losses; the remainder to 1 are fractional labels."""
    total = max(1, int(counts.sum()))
    return [round(int(n) / total, 5) for n in counts[: OUTCOMES.index("other")]]


def summary_lines(summary: dict) -> list[str]:
    """Return the summary as lines of text."""

    def shares(parts: list[float]) -> str:
        between = 1 - sum(parts)
        return (
            " / ".join(f"{100 * part:.1f}" for part in parts)
            + " %"
            + (f" (fractional labels: {100 * between:.1f} %)" if between > 1e-4 else "")
        )

    never, rare = summary["never_apply"], summary["rarely_apply"]
    labelled = (
        summary.get("points", {}).get("labels", 0) * 2 > summary["games"] == summary["positions"]
    )
    names = [path if n == 1 else f"{path} ({n})" for path, n in never.items()]
    lines = (
        []
        if labelled
        else [
            f"games          {summary['games']:,} ({plural(summary['openings'], 'opening')}"
            + (
                f", {plural(summary['duplicate_games'], 'duplicate')}"
                if summary["duplicate_games"]
                else ""
            )
            + ")"
        ]
    )
    lines += [
        f"positions      {summary['positions']:,} ("
        + ("labelled" if labelled else f"{summary['positions'] / summary['games']:.1f} a game")
        + f", {summary['nonzeros_per_position']:.1f} nonzeros each)",
        *(
            [points_line(summary["points"], summary["games"])]
            if "points" in summary
            else [
                f"win/draw/loss  {shares(summary['results_by_game'])} of games, "
                f"{shares(summary['results_by_position'])} of positions"
            ]
        ),
        *_phase_lines(summary),
        f"parameters     {summary['parameters']:,}, "
        + (f"{sum(never.values())} never used: {listed(names, 6)}" if never else "all used"),
    ]
    if rare:
        lines.append(
            f"               {len(rare)} apply to fewer than {RARE} positions:"
            f" {listed(list(rare), 6)}"
        )
    return lines


def stage_of(summary: dict, phase: list[int]) -> str:
    """Return the name of some phases, first and last: the name of a stage if nothing lies between
    the stages."""
    stages = summary["stages"]
    if len(stages) == 2 and summary["phases"] == 1:
        return stages[1 - phase[0]]
    return f"{phase[0]}-{phase[1]}" if phase[0] != phase[1] else str(phase[0])


def _phase_lines(summary: dict) -> list[str]:
    """Return the mean phase, or shares of stages if nothing lies between them, as a line of text;
    none with one stage."""
    if len(summary["stages"]) == 1:
        return []
    if summary["phases"] > 1:
        return [f"phase          {summary['average_phase']:.1f} of {summary['phases']} on average"]
    shares = [
        f"{stage_of(summary, part['phase'])} {100 * part['positions'] / summary['positions']:.1f} %"
        for part in summary["results_by_phase"]
    ]
    return [f"stages         {', '.join(shares)} of positions"]


def points_line(points: dict, games: int) -> str:
    """Return the outcomes in points as a line of text."""
    parts = [
        f"{each} {100 * n / max(games, 1):.1f} %"
        for each, n in points["games"].items()
        if not points["labels"]
    ]
    what = ", ".join(parts) or "expected points of labels"
    return (
        f"points         {what}; for {points['side']}, on average {points['mean']:+.3f} "
        f"(standard deviation {points['deviation']:.2f})"
    )
