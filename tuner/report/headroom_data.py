"""A measurement of headroom as its template shows it."""

from __future__ import annotations

from games.record import Game, Wording
from tuner.report import positions
from tuner.report.charts import Chart, points_chart
from tuner.report.formatting import known, number, outcomes_of, together
from tuner.report.headroom_models import gain_of, names_of

MOST = 10  # inputs in a chart


def headroom_data(found: dict, game: Game | None) -> dict:
    """Return the data of the section; `found` has passed the schema of `tuner.report.headroom_file`."""
    gains = {gain["model"]: gain for gain in found["gains"]}
    names = names_of(found)
    models = [{"name": names.get(line["model"], line["model"]), "loss": with_interval(line),
               "gain": with_interval(gains[line["model"]]) if line["model"] in gains else ""} for line in found["models"]]
    columns = [line["model"] for line in found["models"] if line["model"] in ("trees", "network")]
    last = (["fit"] + columns)[-1]
    phases = [{**line, "others": [line.get(name) for name in columns], "gain": with_interval(gain)}
              for line in found.get("phases") or [] if (gain := gain_of(line["gains"], last))]
    chart = _chart(found.get("counts") or [])
    return {"found": found, "models": models, "phases": phases, "charts": [chart] if chart else [],
            "positions": positions.shown(game, found.get("disagreements") or [], "h"),
            "columns": columns, "last": last, "expected": outcomes_of(Wording(), int(found.get("points") or 1))["expected"],
            "staged": any(line.get("stage") for line in phases), "side": found.get("side") or "the first player"}


def with_interval(found: dict, digits: int = 4) -> str:
    """A number with its interval, if it has one."""
    text = number(found["value"], digits)
    if known(found.get("low")) and known(found.get("high")):
        text += " " + together(f"[{number(found['low'], digits)}, {number(found['high'], digits)}]")
    return text


def _chart(counts: list[dict]) -> Chart | None:
    lines = [line for line in counts if known(line.get("low")) and known(line.get("high"))][:MOST]
    if not lines:
        return None
    values, low, high = ([1000 * line[key] for line in lines] for key in ("value", "low", "high"))
    return points_chart("What the trees use", "rise of the loss if shuffled, thousandths", [line["input"] for line in lines],
                        values, low, high, "Each input of the trees with the rise of the held-out loss if it is shuffled.",
                        level=0.0)
