"""The methods of `tuner tune`: what each needs and uses. The parser reads them: few imports."""

from __future__ import annotations

from dataclasses import dataclass

from tuner.fit.learners import LEARNERS

SCORE_LAMBDA = 0.0  # held-out losses do not tell blends apart


@dataclass(frozen=True)
class Method:
    """The options that a method of `tuner tune` uses, among those that not all methods use.

    `lambda_` and `rounds` (of searching) are its defaults, None if it does not use them;
    `searches`: it searches positions; `temporal`: it solves TD(lambda) rather than a regression;
    `targets` are what it learns from; `positions` are those read by default."""

    learners: tuple[str, ...] = tuple(LEARNERS)
    targets: str | None = None
    searches: bool = False
    temporal: bool = False
    lambda_: float | None = None
    rounds: int | None = None
    positions: str = "auto"


TEMPORAL = tuple(name for name, learner in LEARNERS.items() if learner.solve)
METHODS = {
    "logistic": Method(targets="results"),
    "scores": Method(targets="scores", lambda_=SCORE_LAMBDA),
    "rootstrap": Method(targets="search", searches=True, lambda_=0.0, rounds=1),
    "moves": Method(("newton", "lbfgs"), targets="moves"),
    "td": Method(TEMPORAL, temporal=True, lambda_=0.7),
    # leaves are quiet for any position
    "td-leaf": Method(
        TEMPORAL, searches=True, temporal=True, lambda_=0.7, rounds=3, positions="all"
    ),
}
VALUE_METHODS = ("logistic", "scores", "rootstrap")  # of positions on their own
