"""Learners: they improve the starting weights of a problem. All have the same signature:

    learn(problem, options, record) -> weights

`record(weights, objective, ...)` is called once per iteration with the objective (mean loss plus prior).
"""

from __future__ import annotations

from tuner.fit.learners.first_order import adam, sgd
from tuner.fit.learners.lbfgs import lbfgs
from tuner.fit.learners.newton import newton

LEARNERS = {"newton": newton, "lbfgs": lbfgs, "adam": adam, "sgd": sgd}
