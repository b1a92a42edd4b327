"""The methods of `tuner tune`: what each learns from, which options it uses, and its texts.

A new method is an entry of METHODS, and a function that makes its targets. The parser and the
report read the table: few imports."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tuner.fit.learners import LEARNERS

if TYPE_CHECKING:
    from tuner.learn.searches import Making
    from tuner.learn.targets import Targets
    from tuner.options.tune import TuneSettings

    Line = Callable[[TuneSettings, bool, bool, bool], str]

SEARCH_DEPTH = 4  # plies
TEMPORAL = tuple(name for name, learner in LEARNERS.items() if learner.solve)


@dataclass(frozen=True)
class Method:
    """A method of `tuner tune`.

    `targets` are what it learns from: results, recorded scores, values of its own searches, or
    moves; None: differences between positions. `searches`: it searches positions; `temporal`: it
    solves TD(lambda) rather than a regression, of whole games. `unused` are options that it does
    not use, with reasons.

    The defaults: `lambda_` and `rounds` (of searching), None if it does not use them; `per_game`,
    positions of a game that are learned from, None for all; `prior`, its width; `positions`, those
    that are read.

    `line` says what it learns from, of resolved options, whether the sources are rows, whether they
    have scores, and whether they are labeled positions. `made_by`: the module and class of its
    targets, see `tuner.learn.targets`."""

    line: Line
    learners: tuple[str, ...] = tuple(LEARNERS)
    targets: str | None = None
    searches: bool = False
    temporal: bool = False
    unused: Mapping[str, str] = field(default_factory=dict)
    lambda_: float | None = None
    rounds: int | None = None
    per_game: int | None = None
    prior: float | None = None
    positions: str = "auto"
    made_by: tuple[str, str] = ("tuner.learn.targets", "Targets")

    def make_targets(self, making: Making) -> Targets:
        """Return the targets; their module is imported here, as the parser reads this table."""
        module, name = self.made_by
        targets: Targets = getattr(importlib.import_module(module), name)(making)
        return targets


def _results_line(options: TuneSettings, rows: bool, scores: bool, labelled: bool) -> str:
    also = "; --method scores learns from the scores" if rows and scores else ""
    what = "labels of the positions" if labelled else "results"
    return f"logistic: learns from the {what} alone{also}"


def _scores_line(options: TuneSettings, rows: bool, scores: bool, labelled: bool) -> str:
    source = "the scores in these files"
    if options.teacher:
        source = f"searches of {options.teacher}, {options.nodes:,} nodes"
    if options.lambda_:
        later = "later scores of their games and at last the results"
        source += f", blended with {later if options.blend == 'later' else 'the results'}"
    others = "--method rootstrap learns from our own searches, --method logistic"
    if rows:
        others = "--method logistic learns"
    return (
        f"scores, lambda {options.lambda_:g}: learns from {source}; {others} from the results alone"
    )


def _search_line(options: TuneSettings, rows: bool, scores: bool, labelled: bool) -> str:
    return (
        f"rootstrap, lambda {options.lambda_:g}: learns from searches of the positions, depth"
        f" {options.depth}; --method logistic learns from the results alone"
    )


def _moves_line(options: TuneSettings, rows: bool, scores: bool, labelled: bool) -> str:
    from tuner.learn.moves import TEMPERATURE

    if options.teacher is not None:
        return (
            f"moves: learns which of the moves of a roll {options.teacher} values most, one roll of"
            f" each position; a move behind by far more than {TEMPERATURE:g} points counts little"
        )
    how = f"of depth {options.depth}" if options.depth else "of captures"
    leaves = f" at the leaves of searches {how}" if options.depth is not None else ""
    return f"moves: learns which of the moves{leaves} was played in the games"


def _temporal_line(options: TuneSettings, rows: bool, scores: bool, labelled: bool) -> str:
    searched = f", at the leaves of searches of depth {options.depth}" if options.depth else ""
    return (
        f"{options.method}, lambda {options.lambda_:g}: learns from temporal differences{searched}"
    )


NO_SEARCH = dict.fromkeys(("depth", "rounds"), "searches nothing")
NO_BLEND = dict.fromkeys(("max_difference", "blend"), "uses no recorded scores")
NO_SCORES = {**NO_BLEND, "teacher": NO_BLEND["blend"]}
NO_LAMBDA = {"lambda_": "learns from results alone, which is lambda 1"}
EQUATION = {
    "loss": "solves an equation instead of minimizing a loss",
    "batch": "takes a fixed number of whole games a step",
}
CHOICES = dict.fromkeys(
    ("loss", "gradient", "intercept", "own_games"), "learns from choices, not from results"
)
METHODS = {
    "logistic": Method(
        _results_line,
        targets="results",
        unused={**NO_SEARCH, **NO_SCORES, **NO_LAMBDA},
    ),
    "scores": Method(
        _scores_line,
        targets="scores",
        unused=NO_SEARCH,
        lambda_=0.0,  # held-out losses do not tell blends apart
        # in matches 0 Elo where 10 lost 60, and no worse held-out loss
        prior=5.0,
        made_by=("tuner.learn.scores", "Scores"),
    ),
    "rootstrap": Method(
        _search_line,
        targets="search",
        searches=True,
        unused=NO_SCORES,
        lambda_=0.0,
        rounds=1,
        # few positions of many games give the most information per search; 25 are as strong on the
        # bundled games (0 +- 9 Elo, 4,000 games), but lose 12 +- 12 where there are 600 games
        per_game=50,
        # around the weights that searched: 85 Elo on the bundled games; 60: 48, automatic: 61
        prior=20.0,
        made_by=("tuner.learn.searches", "SearchTargets"),
    ),
    "moves": Method(
        _moves_line,
        learners=("newton", "lbfgs"),
        targets="moves",
        unused={**NO_BLEND, **NO_LAMBDA, **CHOICES},
        prior=20.0,  # hundredths of a point, around the starting weights
        made_by=("tuner.learn.moves", "Moves"),
    ),
    "td": Method(
        _temporal_line,
        learners=TEMPORAL,
        temporal=True,
        unused={**NO_SEARCH, **NO_SCORES, **EQUATION},
        lambda_=0.7,
        made_by=("tuner.learn.searches", "Leaves"),
    ),
    "td-leaf": Method(
        _temporal_line,
        learners=TEMPORAL,
        searches=True,
        temporal=True,
        unused={**NO_SCORES, **EQUATION},
        lambda_=0.7,
        rounds=3,
        positions="all",  # leaves are quiet for any position
        made_by=("tuner.learn.searches", "Leaves"),
    ),
}
VALUE_METHODS = ("logistic", "scores", "rootstrap")  # of positions on their own
