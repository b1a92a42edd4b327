"""What a page shows of `tuner headroom`: `headroom.json` of a run, which `--add-to` writes; and
pictures of positions."""

from __future__ import annotations

import json
from pathlib import Path

from games.record import Game, Wording
from games.streams import InputError
from tuner.findings.records import Headroom, InputUse, Interval, gain_of
from tuner.io.files import replace_file
from tuner.io.records import read_json, to_json
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


def read_headroom(folder: Path) -> Headroom | None:
    """Return what `tuner headroom --add-to` wrote into a run's folder, None without it."""
    return read_json(folder / HEADROOM, Headroom, LARGEST, "`tuner headroom`")


def require_tuned(folder: Path) -> None:
    """InputError unless this is the folder of a run that learned a parameter file."""
    if not (folder / PARAMS).is_file():
        raise InputError(
            f"{folder}: holds no learned parameter file ({PARAMS}); expected the folder of `tuner"
            " tune --run`"
        )


def add_headroom(folder: Path, found: Headroom) -> None:
    """Write a measurement into a run's folder, in place of an earlier one."""
    text = json.dumps(to_json(found), indent=1, allow_nan=False)
    replace_file(folder / HEADROOM, text + "\n")


MOST = 10  # inputs in a chart


def headroom_data(found: Headroom, game: Game | None) -> dict:
    """Return the data of the section."""
    gains = {gain.model: gain for gain in found.gains}
    models = [
        {
            "name": found.names.get(line.model, line.model),
            "loss": with_interval(line),
            "gain": with_interval(gains[line.model]) if line.model in gains else "",
        }
        for line in found.models
    ]
    columns = [line.model for line in found.models if line.model in ("trees", "network")]
    last = (["fit"] + columns)[-1]
    phases = [
        {
            "losses": line,
            "others": [getattr(line, name) for name in columns],
            "gain": with_interval(gain),
        }
        for line in found.phases or []
        if (gain := gain_of(line.gains, last))
    ]
    chart = _chart(found.counts or [])
    return {
        "found": found,
        "models": models,
        "phases": phases,
        "charts": [chart] if chart else [],
        "positions": drawn_positions(game, [vars(line) for line in found.disagreements], "h"),
        "columns": columns,
        "last": last,
        "expected": outcomes_of(Wording(), found.points)["expected"],
        "staged": any(line.stage for line in found.phases or []),
        "side": found.side,
    }


def with_interval(found: Interval, digits: int = 4) -> str:
    """A number with its interval, if it has one."""
    text = number(found.value, digits)
    if known(found.low) and known(found.high):
        text += " " + together(f"[{number(found.low, digits)}, {number(found.high, digits)}]")
    return text


def _chart(counts: list[InputUse]) -> Chart | None:
    bars = [
        (1000 * use.value, 1000 * use.low, 1000 * use.high, use.input)
        for use in counts
        if known(use.value) and known(use.low) and known(use.high)
    ][:MOST]
    if not bars:
        return None
    values, low, high, names = (list(column) for column in zip(*bars, strict=True))
    return points_chart(
        "What the trees use",
        "rise of the loss if shuffled, thousandths",
        names,
        values,
        low,
        high,
        "Each input of the trees with the rise of the held-out loss if it is shuffled.",
        level=0.0,
    )
