"""The models of a measurement of headroom as the user reads them."""

from __future__ import annotations


def linear(found: dict) -> bool:
    """Return whether all terms are linear in their weights."""
    return not found["not_linear"]


def names_of(found: dict) -> dict[str, str]:
    """Return the name of each model."""
    return {"start": found["start"], "fit": "best linear fit" if linear(found) else "best fit of these terms",
            "trees": "trees on the same counts"}
