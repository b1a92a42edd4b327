"""What a page shows of `tuner headroom`: `headroom.json` of a run, which `--add-to` writes; and
pictures of positions."""

from __future__ import annotations

import json
from pathlib import Path

from games.record import Game, Wording
from games.streams import InputError
from tuner.findings.records import Headroom
from tuner.io.files import replace_file
from tuner.io.records import read_json
from tuner.report.charts import Chart, own_names, points_chart
from tuner.report.formatting import known, number, outcomes_of, together


def drawn_positions(game: Game | None, positions: list[dict], prefix: str = "m") -> list[dict]:
    """Each position with its picture, or its board as text if the game draws no pictures, or only
    its text without rules. The `prefix` of names in pictures is unique on the page."""
    return [
        position | _seen(game, position["position"], f"{prefix}{i}")
        for i, position in enumerate(positions)
    ]


def _seen(game: Game | None, text: str, name: str) -> dict:
    if game is None:
        return {"picture": None, "board": None, "mover": None}
    try:
        words = game.position(text)
    except ValueError:
        return {"picture": None, "board": None, "mover": None}
    mover = game.wording.sides[int(game.second_to_move(words))]
    if game.files.picture is None:
        return {"picture": None, "board": game.draw(words), "mover": mover}
    return {"picture": own_names(game.files.picture(words), name), "board": None, "mover": mover}


HEADROOM, PARAMS = "headroom.json", "params.yaml"
LARGEST = 1 << 20  # bytes


def read_headroom(folder: Path) -> dict | None:
    """Return what `tuner headroom --add-to` wrote into a run's folder as plain data, None without
    it."""
    if read_json(folder / HEADROOM, Headroom, LARGEST, "`tuner headroom`") is None:
        return None
    plain: dict = json.loads((folder / HEADROOM).read_text(encoding="utf-8"))
    return plain


def require_tuned(folder: Path) -> None:
    """InputError unless this is the folder of a run that learned a parameter file."""
    if not (folder / PARAMS).is_file():
        raise InputError(
            f"{folder}: holds no learned parameter file ({PARAMS}); expected the folder of `tuner"
            " tune --run`"
        )


def add_headroom(folder: Path, found: dict) -> None:
    """Write a measurement into a run's folder, in place of an earlier one."""
    replace_file(folder / HEADROOM, json.dumps(found, indent=1, allow_nan=False) + "\n")


def linear(found: dict) -> bool:
    """Return whether all terms are linear in their weights."""
    return not found["not_linear"]


def names_of(found: dict) -> dict[str, str]:
    """Return the name of each model."""
    return {
        "start": found["start"],
        "fit": "best linear fit" if linear(found) else "best fit of these terms",
        "trees": "trees on the same counts",
        "network": (
            "network on counts and the board"
            if found.get("board")
            else "network on the same counts"
        ),
    }


def gain_of(gains: list[dict], model: str) -> dict | None:
    """Return the gain of a model, None if it was not fitted."""
    return next((gain for gain in gains if gain["model"] == model), None)


MOST = 10  # inputs in a chart


def headroom_data(found: dict, game: Game | None) -> dict:
    """Return the data of the section; `found` is a `tuner.findings.records.Headroom` as plain
    data."""
    gains = {gain["model"]: gain for gain in found["gains"]}
    names = names_of(found)
    models = [
        {
            "name": names.get(line["model"], line["model"]),
            "loss": with_interval(line),
            "gain": with_interval(gains[line["model"]]) if line["model"] in gains else "",
        }
        for line in found["models"]
    ]
    columns = [line["model"] for line in found["models"] if line["model"] in ("trees", "network")]
    last = (["fit"] + columns)[-1]
    phases = [
        {**line, "others": [line.get(name) for name in columns], "gain": with_interval(gain)}
        for line in found.get("phases") or []
        if (gain := gain_of(line["gains"], last))
    ]
    chart = _chart(found.get("counts") or [])
    return {
        "found": found,
        "models": models,
        "phases": phases,
        "charts": [chart] if chart else [],
        "positions": drawn_positions(game, found.get("disagreements") or [], "h"),
        "columns": columns,
        "last": last,
        "expected": outcomes_of(Wording(), int(found.get("points") or 1))["expected"],
        "staged": any(line.get("stage") for line in phases),
        "side": found.get("side") or "the first player",
    }


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
    return points_chart(
        "What the trees use",
        "rise of the loss if shuffled, thousandths",
        [line["input"] for line in lines],
        values,
        low,
        high,
        "Each input of the trees with the rise of the held-out loss if it is shuffled.",
        level=0.0,
    )
