"""All formats by name. A new one is a module beside this one and a line here."""

from __future__ import annotations

from collections.abc import Callable

from tuner.export.numbers import Rounded
from tuner.export.settings import json_text, spsa_text, uci_text
from tuner.export.source import c_text, rust_text

# from the numbers and the name of their file to text
FORMATS: dict[str, Callable[[Rounded, str], str]] = {
    "c": c_text, "rust": rust_text, "json": json_text, "uci": uci_text, "spsa": spsa_text}
