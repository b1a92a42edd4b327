"""All losses by name. A new loss is a module in this folder and a line here."""

from tuner.objectives.base import Objective
from tuner.objectives.cross_entropy import CROSS_ENTROPY
from tuner.objectives.ordered import ORDERED
from tuner.objectives.squared_error import SQUARED_ERROR

OBJECTIVES: dict[str, Objective] = {
    objective.name: objective for objective in (CROSS_ENTROPY, SQUARED_ERROR, ORDERED)
}
# losses that model draws
DRAW_MODELS = [name for name, objective in OBJECTIVES.items() if objective.widths]
