"""Commands that messages suggest, with the names of parameter files as a user would write them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from tuner.io.files import BUNDLED
from tuner.parameters.layout import Layout
from tuner.parameters.parameters import DEFAULT_GAME


def completing(path: Path, layout: Layout) -> str:
    """The command that writes a file with the parameters that it lacks, under a name that is free."""
    words = ["tuner", "params", shown_name(path)]
    for file, _ in layout.files:
        words += ["--terms", file]
    free, k = f"{path.stem}-full.yaml", 2
    while os.path.lexists(free):
        free, k = f"{path.stem}-full-{k}.yaml", k + 1
    return shlex.join([*words, "--add-missing", "-o", free])


def shown_name(path: Path) -> str:
    """What to call a parameter file on a command line: a bundled one by its name."""
    path = Path(path)
    if not path.is_relative_to(BUNDLED):
        return str(path)
    return path.stem if path.parent.name == DEFAULT_GAME else f"{path.parent.name}/{path.stem}"
