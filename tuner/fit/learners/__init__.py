"""Learners: they improve the starting weights of a problem. All have the same signature:

    learn(problem, options, record) -> weights

`record(weights, objective, ...)` is called once per iteration with the objective (mean loss plus
penalty; of an equation without a loss, the mean square of the errors)."""

from tuner.fit.learners.base import Learner
from tuner.fit.learners.solvers import lbfgs, newton, newton_of_equation
from tuner.fit.learners.steps import adam_epochs

LEARNERS = {
    "newton": Learner(newton, newton_of_equation),
    "lbfgs": Learner(lbfgs),
    "adam": Learner(adam_epochs, adam_epochs, stepwise=True),
}
