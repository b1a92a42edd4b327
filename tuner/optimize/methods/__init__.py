"""Methods of optimization, by name."""

from collections.abc import Mapping

from tuner.optimize.methods.base import Method
from tuner.optimize.methods.local import Local
from tuner.optimize.methods.spsa import Spsa

METHODS: Mapping[str, type[Method]] = {"local": Local, "spsa": Spsa}
