"""Learners: they improve the starting weights of a problem. All have the same signature:

    learn(problem, options, record) -> weights

`record(weights, objective, ...)` is called once per iteration with the objective (mean loss plus
prior)."""

from __future__ import annotations

from tuner.fit.learners.base import Learner
from tuner.fit.learners.equation import newton as newton_of_equation
from tuner.fit.learners.solvers import lbfgs, newton
from tuner.fit.learners.steps import RULES, adam, epochs_by, equation_by

LEARNERS = {
    "newton": Learner(newton, newton_of_equation),
    "lbfgs": Learner(lbfgs),
    "adam": Learner(epochs_by(adam(0.999, 8.0)), equation_by(RULES["adam"]), stepwise=True),
}
