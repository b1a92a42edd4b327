"""The sources that engines include to print rows, by language. A new one is a template, a function
and a line of LANGUAGES."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from games.streams import InputError, one_line
from tuner.export.numbers import c_names, rust_names
from tuner.parameters.parameters import Layout, Place
from tuner.version import __version__

TEMPLATES = Path(__file__).parent / "templates"


def c_header(layout: Layout, name: str) -> str:
    """`tracerows.h` with the names of a layout's parameters; `name` is the name of the file."""
    identifiers = c_names([place.path for place in layout.places])
    return _filled(
        "tracerows.h",
        {
            "HEADING": _heading(name).replace("*/", "* /").replace("/*", "/ *"),
            "ENUM": "\n".join(
                f"    EVALTUNE_P_{name},"
                + f" EVALTUNE_T_{name} = EVALTUNE_P_{name}," * (len(place.shape) == 2)
                for name, place in zip(identifiers, layout.places, strict=True)
            ),
            "COLUMNS": str(layout.size),
            "TABLE": "\n".join(
                f"        {{{_text(place.path)}, {place.first}, {_sizes(place)}}},"
                for place in layout.places
            ),
        },
    )


def rust_module(layout: Layout, name: str) -> str:
    """`tracerows.rs` with the names of a layout's parameters; `name` is the name of the file."""
    identifiers = rust_names([place.path for place in layout.places])
    constants = []
    for identifier, place in zip(identifiers, layout.places, strict=True):
        rows, columns = _sizes(place).split(", ")
        constants.append(
            f"pub const {identifier}: Parameter = Parameter {{ name: {_text(place.path)}, first:"
            f" {place.first}, rows: {rows}, columns: {columns} }};"
        )
    return _filled(
        "tracerows.rs",
        {
            "HEADING": _heading(name),
            "COLUMNS": str(layout.size),
            "COUNT": str(len(identifiers)),
            "NAMES": "\n".join(constants),
            "TABLE": "\n".join(f"    &{identifier}," for identifier in identifiers),
        },
    )


LANGUAGES: dict[str, Callable[[Layout, str], str]] = {"c": c_header, "rust": rust_module}
# languages in which an engine prints its evaluations, and the suffixes of their templates
EVALS = {"c": "c", "c++": "cpp", "rust": "rs", "go": "go", "java": "java", "c#": "cs"}


def evals(language: str) -> str:
    """Return the lines with which an engine prints its evaluations of positions."""
    return _filled(f"evals.{EVALS[language]}", {})


def _filled(template: str, parts: dict[str, str]) -> str:
    """A template of this folder with its @NAMES@ replaced."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], text)


def _heading(name: str) -> str:
    return (
        f"The names are those of {one_line(name)}, exported by evaltune {__version__}; write this"
        " file again when they change."
    )


def _text(path: str) -> str:
    """A name as a string of C and Rust."""
    return json.dumps(path, ensure_ascii=False)


def _sizes(place: Place) -> str:
    """Rows and columns: 0 rows for a list, 0 columns too for one number. InputError for more
    dimensions."""
    if len(place.shape) > 2:
        raise InputError(
            f"{place.path} is a table of {len(place.shape)} dimensions, expected at most 2 for"
            " `tuner trace`; make it several parameters"
        )
    return ", ".join(map(str, ((0, 0) + place.shape)[-2:]))
