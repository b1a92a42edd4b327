"""What a file of rows contains, for a parameter file that is made from it."""

from __future__ import annotations

from dataclasses import dataclass

from tuner.parameters.layout import Layout
from tuner.parameters.new import STAGES, usual_phases, zeros
from tuner.parameters.parameters import Parameters


@dataclass(frozen=True)
class Found:
    """Names and shapes of what rows count, the largest phase (None: the rows have no phases), and the number of rows."""

    layout: Layout
    phases: int | None
    rows: int

    def parameters(self, game: str, stages: tuple[str, ...] | None = None, phases: int | None = None) -> Parameters:
        """Return parameters of these names with zeros; stages and steps of the phase are those that the rows suggest unless
        they are given."""
        usual = STAGES if self.phases is not None else ("all",)
        return zeros(game, self.layout, stages or usual, phases or usual_phases(self.phases or 0))
