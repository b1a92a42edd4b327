"""Methods of optimization, by name."""

from collections.abc import Mapping

from tuner.optimize.methods.base import GameMethod
from tuner.optimize.methods.local import Local
from tuner.optimize.methods.spsa import Spsa

METHODS: Mapping[str, type[GameMethod]] = {"local": Local, "spsa": Spsa}
