"""How strong what a run learned became: charts of points a game or of Elo by the games that were learned from."""

from __future__ import annotations

from tuner.report import run_charts
from tuner.report.charts import Chart, Series, line_chart
from tuner.report.formatting import capital, signed, whole
from tuner.report.run import Run


def strength(run: Run) -> dict | None:
    """Return the charts of a section with a note; None if nothing was measured twice."""
    charts, notes = [], []
    for chart, note in (_measured(run.history), _matches(run)):
        if chart is not None:
            charts.append(chart)
            notes.append(note)
    return {"charts": charts, "note": " ".join(notes)} if charts else None


def measured_lines(history: list[dict]) -> list[dict]:
    """Return what was measured during a run, against the opponent of the last time, each with the `learned` games before."""
    found = [line["measured"] | {"learned": line["games"]} for line in history if line.get("measured")]
    return [line for line in found if line["opponent"] == found[-1]["opponent"]]


def points_text(measured: dict) -> str:
    """Return points a game with their interval."""
    return f"{signed(measured['points'], 3) or '0'} ± {measured['error']:.3f}"


def _measured(history: list[dict]) -> tuple[Chart | None, str]:
    """Return the chart of the measurements during the run, and what it shows."""
    lines = measured_lines(history)
    if len(lines) < 2:
        return None, ""
    opponent, numbers = lines[-1]["opponent"], {line["games"] for line in lines}
    low, high = ([line["points"] + sign * line["error"] for line in lines] for sign in (-1, 1))
    said = ", ".join(f"{whole(line['learned'])} games {points_text(line)}" for line in lines)
    chart = line_chart(f"Points a game against {opponent}", "games learned from", "points a game, with 95 % interval", [
        Series("learned", [line["learned"] for line in lines], [line["points"] for line in lines], low, high)], said + ".",
        level=0.0)
    games = whole(numbers.pop()) if len(numbers) == 1 else f"{whole(min(numbers))} to {whole(max(numbers))}"
    return chart, (f"Points a game against {opponent}, measured during the run, one roll deep: {games} games each time, in pairs "
                   "with the same dice, which are the same each time and not those of the games learned from.")


def _matches(run: Run) -> tuple[Chart | None, str]:
    """Return the chart of matches with weights after some games, and what it shows."""
    points = [(next((games for games in match.learned if games is not None), None), match.difference)
              for match in run.matches if match.learned[0] is not None]
    chart = run_charts.strength_curve(points)
    return chart, (f"{capital(points[0][1].unit)} of the first player of each match, over the games that its weights were "
                   "learned from.") if chart is not None else ""
