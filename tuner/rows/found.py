"""What a file of rows contains, for a parameter file that is made from it."""

from __future__ import annotations

from dataclasses import dataclass

from tuner.parameters.layout import Layout


@dataclass(frozen=True)
class Found:
    """Names and shapes of what rows count, the largest phase (None: the rows have no phases), and the number of rows."""

    layout: Layout
    phases: int | None
    rows: int
