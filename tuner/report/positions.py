"""The positions with the largest loss under the learned weights, as pictures or text."""

from __future__ import annotations

from games.record import Game
from tuner.report.charts import own_names


def shown(game: Game | None, positions: list[dict], prefix: str = "m") -> list[dict]:
    """Each position with its picture, or its board as text if the game draws no pictures, or only its text without rules. The
    `prefix` of names in pictures is unique on the page."""
    return [position | _seen(game, position["position"], f"{prefix}{i}") for i, position in enumerate(positions)]


def _seen(game: Game | None, text: str, name: str) -> dict:
    if game is None:
        return {"picture": None, "board": None, "mover": None}
    try:
        words = game.position(text)
    except ValueError:
        return {"picture": None, "board": None, "mover": None}
    mover = None
    if game.contest is not None:
        mover = game.wording.sides[int(game.second_to_move(words))]
    if game.picture is None:
        return {"picture": None, "board": game.draw(words), "mover": mover}
    return {"picture": own_names(game.picture(words), name), "board": None, "mover": mover}
