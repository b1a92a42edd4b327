"""The options of `tuner tune` and `tuner.tune`, and of what reads positions and their values as it
does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from tuner.core.records import (
    KeysOf,
    Positive,
    PositiveCount,
    Share,
    Unit,
    parse,
)
from tuner.options.option import (
    Gradient,
    Reading,
    Step,
    as_field,
    device,
    gradient,
    held_out,
    option,
    step,
    workers,
)

ENGINE = "take scores from searches of this engine, such as uci:stockfish"
TEACHER_NODES = "nodes per search of the teacher (default: 5000)"


def method_named(text: str) -> str:
    """Return the method of this name, or of the results or searches that --targets named."""
    return {"results": "logistic", "search": "rootstrap"}.get(text, text)


Width = Annotated[
    Annotated[float, Meta(gt=1e-3, lt=1e6)] | Literal["auto", "cv", "play"],
    Meta(description="centipawns from 0.001 to 1e+06, such as 50, or none, auto, cv or play"),
]
Scale = Annotated[
    float, Meta(gt=1e-6, lt=1, description="a number between 1e-06 and 1, such as 0.00255")
]


def prior_width(text: str) -> float | str | None:
    """Parse the width of a prior, or a word: how it is chosen. None: no prior."""
    if text == "none":
        return None
    width: float | str = parse(text, Width, "prior")
    return width


@dataclass(frozen=True, kw_only=True)
class TuneOptions(Reading):
    """The options of learning from games, by their names; None and "auto" mean that the user did
    not choose."""

    method: Annotated[str, KeysOf("tuner.learn.method_table", "METHODS", "auto")] = option(
        "logistic: regression of the results on the positions; scores: towards scores in the files;"
        " rootstrap: towards the scores of searches of the positions; td: temporal differences"
        " between positions; td-leaf: between the leaves of searches; moves: towards the moves of"
        " the games, or choices of --teacher gnubg:0; auto (default): scores with --teacher or with"
        " --own-games alone, rootstrap if there are games and an evaluation to search with, else"
        " logistic",
        read=method_named,
        default="auto",
        former="--targets",
    )
    fixed: str | Sequence[str] = option(
        "do not tune parameters matching this name or glob; may be repeated",
        default=(),
        action="append",
        metavar="NAME",
    )
    only: str | Sequence[str] = option(
        "learn only parameters matching this name or glob; may be repeated",
        default=(),
        action="append",
        metavar="NAME",
    )
    not_linear: str | None = option(
        "for rows: name a part of the evaluation that the counts do not cover, such as 'king"
        " safety'; it is kept unchanged",
        metavar="PART",
        seldom=True,
    )
    teacher: str | None = option(ENGINE + ", in place of those in the files", metavar="ENGINE")
    nodes: PositiveCount | None = option(TEACHER_NODES, metavar="N")
    max_difference: Positive | None = option(
        "skip positions whose score differs by more than CP centipawns from the static evaluation",
        metavar="CP",
        seldom=True,
    )
    depth: PositiveCount | None = option("depth of the searches in plies (default: 4)", metavar="N")
    lambda_: Unit | None = option(
        "from 0 to 1. scores: weight of the blend (default: 0); other methods: weight of later"
        " positions of the game, per ply, so that 0.7 for each move of one's own is"
        " 0.837 (default: rootstrap 0, the search alone; td and td-leaf 0.7)",
        metavar="L",
    )
    blend: Literal["result", "later"] = option(
        "scores: what --lambda blends them with: result (default); later: the scores of later"
        " positions and finally the result, as in TD(lambda) (--lambda is"
        " then 0.7 unless given)",
        default="result",
        seldom=True,
    )
    rounds: PositiveCount | None = option(
        "repeat the searches up to N times with the learned weights, until values hardly change"
        " (default: rootstrap 1, td-leaf 3)",
        metavar="N",
    )
    try_: Positive | None = option(
        "after learning from results, judge steps of several lengths by matches against PARAMS that"
        " take about MINUTES, and write the best one only if it wins the final match",
        metavar="MINUTES",
    )
    own_games: PositiveCount | None = option(
        "play N self-play games and learn from them (in addition to GAMES, if given); repeat with"
        " the new weights as long as they beat the previous ones",
        metavar="N",
    )
    own_rounds: PositiveCount | None = option(
        "at most N such rounds (default: 3)", metavar="N", seldom=True
    )
    loss: Annotated[str, KeysOf("tuner.objectives.table", "OBJECTIVES")] | None = option(
        "cross-entropy (default) or mean squared error of the expected score; or with draws as a"
        " third outcome: ordered (ordered logit)",
    )
    prior: Width | None = option(
        "prior width, the standard deviation of what a weight adds to the evaluation, around its"
        " start: centipawns, or hundredths of a point; none; cv (one width, by cross-validation);"
        " play (for each list and term by empirical Bayes, then a step as far as gained in"
        " matches); or auto"
        " (default: play for results of games, also in rows; for rootstrap and for scores of"
        " --own-games alone 20, for recorded scores 5; otherwise by empirical Bayes)",
        "auto",
        read=prior_width,
        metavar="SD",
    )
    held_out: Share = as_field(
        held_out(
            "share of the games that is held out, by whole openings, to validate the result", 0.1
        )
    )
    untapered: bool = option(
        "learn one weight per parameter, not one per stage",
        default=False,
        action="store_true",
        seldom=True,
    )
    scale: Scale | None = option(
        "keep the scale constant at N (default: the scale of the file for rootstrap, td, td-leaf"
        " and scores of --own-games alone; else fitted to the starting values unless they are all"
        " zero)",
        metavar="N",
        seldom=True,
    )
    intercept: bool = option(
        "fit no intercept (the advantage of the first player)",
        default=True,
        flags="--no-intercept",
        action="store_false",
        seldom=True,
    )
    learner: Annotated[str, KeysOf("tuner.fit.learners", "LEARNERS")] = option(
        "default: newton; newton and lbfgs use all positions at once, adam goes by steps",
        default="newton",
        seldom=True,
    )
    iterations: PositiveCount | None = option(
        "at most N iterations; of adam: epochs", metavar="N", seldom=True
    )
    learning_rate: Positive | None = option(
        "of adam: centipawns per step",
        metavar="N",
        seldom=True,
    )
    batch: PositiveCount | None = option(
        "positions per step of learners that go by steps (default: 16384)",
        metavar="N",
        seldom=True,
    )
    gradient: Gradient = gradient()
    step: Step | None = step()
    workers: PositiveCount | None = workers("threads; the result is the same for any number")
    device: str = as_field(device("auto", "where passes over the data run"))


@dataclass(frozen=True, kw_only=True)
class TuneSettings(TuneOptions):
    """The options with everything that a run depends on, as given or resolved.

    Resolved by `tuner.learn.methods.resolved`, every value is the one that is used, and None marks
    what the method does not use. The `config.yaml` of a run and the learned file are written from
    resolved settings."""

    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    targets: str | None = None  # resolved: what the method learns from
    workers: PositiveCount = 1
    own_results: bool = False  # resolved: all games are those of `tuner games`
    # resolved: scores come from the starting values themselves, on their scale
    own_scores: bool = False
    no_gpu: str | None = None  # why "auto" chose the CPU
    run: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ValueOptions(Reading):
    """The options of values of positions from results, scores or searches."""

    method: Annotated[str, KeysOf("tuner.learn.method_table", "VALUE_METHODS", "auto")] = option(
        "logistic: results of games; scores: those that the files record; rootstrap: our own"
        " searches; auto (default): scores with --teacher, rootstrap if there are games and an"
        " evaluation to search with, else logistic",
        read=method_named,
        default="auto",
        former="--targets",
    )
    depth: PositiveCount | None = option(
        "depth of our own searches in plies (default: 4)", metavar="N"
    )
    lambda_: Unit | None = option(
        "from 0 to 1: weight of the result in the blend with the search or score (default: 0)",
        metavar="L",
    )
    teacher: str | None = option(ENGINE + "; they are kept for later runs", metavar="ENGINE")
    nodes: PositiveCount | None = option(TEACHER_NODES, metavar="N")
    workers: PositiveCount | None = workers()

    def tuning(self, terms: Iterable[str | Path]) -> TuneSettings:
        """Return the settings with which positions and their values are read."""
        from games.system import available_cpus

        shared = {each.name: getattr(self, each.name) for each in fields(self)}
        threads = min(self.workers or available_cpus(), 512)
        return TuneSettings(**{**shared, "workers": threads, "terms": tuple(map(str, terms))})
