"""Learners: a problem and its starting weights to better weights. All have the same shape:

    learn(problem, options, report) -> weights

`report(weights, loss, gradient)` is called once per iteration with the objective (mean loss plus prior).
"""

from __future__ import annotations

from tuner.fit.learners.first_order import adam, sgd
from tuner.fit.learners.lbfgs import lbfgs
from tuner.fit.learners.newton import newton

LEARNERS = {"newton": newton, "lbfgs": lbfgs, "adam": adam, "sgd": sgd}
