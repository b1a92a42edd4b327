"""Suggest commands, with the names of parameter files as a user would type them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from tuner.io.files import BUNDLED
from tuner.parameters.layout import Layout
from tuner.parameters.parameters import DEFAULT_GAME


def completing(path: Path, layout: Layout) -> str:
    """The command that adds the missing parameters of a file and writes it under an unused name."""
    words = ["tuner", "params", shown_name(path)]
    for file, _ in layout.files:
        words += ["--terms", file]
    free, k = f"{path.stem}-full.yaml", 2
    while os.path.lexists(free):
        free, k = f"{path.stem}-full-{k}.yaml", k + 1
    return shlex.join([*words, "--add-missing", "-o", free])


def shown_name(path: Path) -> str:
    """The name of a parameter file on a command line: its path, or the short name of a bundled one."""
    path = Path(path)
    if not path.is_relative_to(BUNDLED):
        return str(path)
    return path.stem if path.parent.name == DEFAULT_GAME else f"{path.parent.name}/{path.stem}"
