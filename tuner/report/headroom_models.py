"""The models of a measurement of headroom as the user reads them."""

from __future__ import annotations


def linear(found: dict) -> bool:
    """Return whether all terms are linear in their weights."""
    return not found["not_linear"]


def names_of(found: dict) -> dict[str, str]:
    """Return the name of each model."""
    return {"start": found["start"], "fit": "best linear fit" if linear(found) else "best fit of these terms",
            "trees": "trees on the same counts",
            "network": "network on counts and the board" if found.get("board") else "network on the same counts"}


def gain_of(gains: list[dict], model: str) -> dict | None:
    """Return the gain of a model, None if it was not fitted."""
    return next((gain for gain in gains if gain["model"] == model), None)
