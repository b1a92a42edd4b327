"""Shared by the tests of parameter files: a good file, random parameters, and the error about a bad
file."""

from pathlib import Path

import numpy as np

from tests.support import file_with, refusal
from tests.tuner.support import LAYOUT
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters
from tuner.parameters.reader import read_parameters

SIZE = LAYOUT.size
GOOD = """\
game: chess
scale: 0.003
stages: [mg, eg]
fixed: [material.king, "files.*"]
bounds:
  material.man: [50, 150.5]
prior:
  squares.man: {mean: 3, sd: 20}
  files.open.mg: {sd: 7.5}
weights:
  material:
    man: {mg: 100, eg: 110.25}
    king: {mg: 0, eg: -0.5}
  squares:
    man:
      mg:
        - [3, 4]
        - [1, 2]
      eg:
        - [-3, -4]
        - [-1, -2]
  files:
    open:
      mg: [5, 6, 7]
      eg: [8, 9, 1e1]
"""


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


def read(folder: Path, text: str | bytes, **more) -> Parameters:
    path = file_with(folder / "my.yaml", text.encode("utf-8") if isinstance(text, str) else text)
    return read_parameters(path, LAYOUT, "chess", **more)


def refused(folder: Path, text: str | bytes) -> str:
    """The one line of error about a file, without the file's name."""
    said = refusal(read, folder, text)
    name, found = str(folder / "my.yaml"), said
    assert found.startswith(name) and "\n" not in found and found.isprintable()
    return found[len(name) :]


def random_parameters(seed: int) -> Parameters:
    random = np.random.default_rng(seed)
    stages = [("mg", "eg"), ("all",)][seed % 2]
    weights = (
        random.normal(0, 10.0 ** random.integers(0, 4), (len(stages), SIZE))
        .round(2)
        .clip(-LARGEST_WEIGHT, LARGEST_WEIGHT)
    )
    errors = np.where(
        random.random(weights.shape) < 0.2,
        np.nan,
        abs(random.normal(0, 1e5, weights.shape)).round(2),
    )
    learned = {
        "command": "tuner tune 'my: file' # \"x\" -> {é}",
        "version": "0.1.0",
        "seed": 1,
        "loss_after": 0.4512345,
        "held_out_after": None,
        "data": [{"file": "a.pgn", "sha256": "00ab"}],
        "intercept": [1.25, -3.5],
    }
    bounds = (("material.man", (-5.0, 17.5)), ("squares.*", (-1e4, 1e4))) if seed % 3 else ()
    prior = (("files.open", (None, 0.5)), ("squares.man[0][1]", (-2.0, 100.0))) if seed % 4 else ()
    return Parameters(
        "chess",
        LAYOUT,
        stages,
        weights,
        float(f"{random.uniform(1e-4, 0.01):.6g}"),
        ("material.[km]*", "files.open[2]") if seed % 5 else (),
        bounds,
        prior,
        errors if seed % 2 else None,
        learned if seed % 3 else {},
    )
