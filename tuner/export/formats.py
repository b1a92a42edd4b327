"""All formats by name. A new one is a module beside this one and a line here."""

from __future__ import annotations

from collections.abc import Callable

from games.streams import InputError
from tuner.export.numbers import Rounded, rounded
from tuner.export.settings import json_text, spsa_text, uci_text
from tuner.export.source import c_text, rust_text
from tuner.parameters.parameters import Parameters

# from the numbers and the name of their file to text
FORMATS: dict[str, Callable[[Rounded, str], str]] = {
    "c": c_text, "rust": rust_text, "json": json_text, "uci": uci_text, "spsa": spsa_text}
NUMBERED = ("uci", "spsa")  # formats that name every number


def exported(parameters: Parameters, name: str, form: str, scale_to: float | None = None, decimals: int = 0,
             flip: bool = False) -> tuple[str, Rounded]:
    """Return the text of a format, and the numbers that it has. InputError for options that the format has no use for."""
    if form in NUMBERED and flip:
        raise InputError(f"--flip: --format {form} names every number, so there is no order of rows; leave it out")
    if form == "uci" and decimals:
        raise InputError(f"--decimals {decimals}: UCI options are whole numbers; use --scale-to N for finer steps")
    r = rounded(parameters, scale_to, decimals, flip)
    return FORMATS[form](r, name), r
