"""What the tests of numbers in sources share: small parameter files, and a source with its numbers replaced."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tuner.export.into.plan import plan
from tuner.export.into.write import new_texts
from tuner.export.numbers import rounded
from tuner.parameters.layout import Layout, Place
from tuner.parameters.parameters import Parameters

STAGES = ("mg", "eg")


def parameters(spec: dict[str, tuple[int, ...]], stages: tuple[str, ...] = STAGES, start: int = 1) -> Parameters:
    """Parameters of these shapes; their numbers count up from `start`, the first stage before the second."""
    places, first = [], 0
    for path, shape in spec.items():
        term, _, name = path.partition(".")
        places.append(Place(term, name, shape, first))
        first += places[-1].size
    weights = start + np.arange(len(stages) * first, dtype=float).reshape(len(stages), first)
    return Parameters("chess", Layout(tuple(places)), stages, weights)


def into(folder: Path, name: str, text: str, p: Parameters, names: str | None = None, only: tuple[str, ...] = (),
         **options) -> str:
    """Return a source with the numbers of parameters; `names` is the text of a map, `options` are those of `rounded`."""
    path, map_path = folder / name, None
    path.write_bytes(text.encode("latin-1"))
    if names is not None:
        map_path = folder / "names.yaml"
        map_path.write_text(names)
    r = rounded(p, **options)
    (written,) = new_texts(plan(r, [path], map_path, only), r)
    return written.text
