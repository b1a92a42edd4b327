"""Summarise a parameter file in text and as plain data."""

from __future__ import annotations

from tuner.parameters.parameters import Parameters


def summary(parameters: Parameters) -> dict:
    """Return the summary as plain data."""
    terms: dict[str, int] = {}
    for place in parameters.layout.places:
        terms[place.term] = terms.get(place.term, 0) + place.size
    return {"game": parameters.game, "stages": list(parameters.stages), "scale": parameters.scale,
            "parameters": parameters.layout.size, "terms": terms, "fixed": list(parameters.fixed), "phases": parameters.phases}


def line(parameters: Parameters) -> str:
    """Return game, size, stages and scale in a line."""
    rows = f", counted by another program in {parameters.phases} steps of the phase" if parameters.of_rows else ""
    return (f"{parameters.game}, {parameters.layout.size} parameters x {len(parameters.stages)} stages, scale "
            f"{parameters.scale:g}{rows}")


def terms_line(parameters: Parameters) -> str:
    """Return the terms in a line, each with how many numbers it has."""
    return ", ".join(f"{name} {size}" for name, size in summary(parameters)["terms"].items())
