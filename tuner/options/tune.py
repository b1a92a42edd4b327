"""The options of `tuner tune` and `tuner.tune`, and of what reads positions and their values as it
does."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from tuner.options.kinds import POSITIVE, POSITIVE_COUNT, UNIT, KeysOf, between
from tuner.options.option import as_field, option, require_sense
from tuner.options.parser import nearest
from tuner.options.shared import Reading, device, gradient, held_out, step, workers

ENGINE = "take scores from searches of this engine, such as uci:stockfish"
TEACHER_NODES = "nodes per search of the teacher (default: 5000)"


def method_named(text: str) -> str:
    """Return the method of this name, or of the results or searches that --targets named."""
    return {"results": "logistic", "search": "rootstrap"}.get(text, text)


class Prior:
    """The width of a prior, in centipawns, or a word: how it is chosen. None: no prior."""

    words = ("auto", "cv", "play")
    width = between(1e-3, 1e6, "50")

    def __call__(self, text: str) -> float | str | None:
        """Parse a word of the command line."""
        known = ("none", *self.words)
        if text.isalpha() and text not in known and (near := nearest(text, known)):
            raise argparse.ArgumentTypeError(f"invalid choice: {text!r}{near}")
        return None if text == "none" else text if text in known else self.width(text)

    def require(self, name: str, value: float | str) -> None:
        """ValueError for another word."""
        if isinstance(value, str) and value not in self.words:
            raise ValueError(
                f"{name} is {value!r}, expected centipawns, None,"
                f" {', '.join(map(repr, self.words[:-1]))} or {self.words[-1]!r}"
            )


@dataclass(frozen=True, kw_only=True)
class TuneOptions(Reading):
    """The options of learning from games, by their names; None and "auto" mean that the user did
    not choose."""

    method: str = option(
        "logistic: regression of the results on the positions; scores: towards scores in the files;"
        " rootstrap: towards the scores of searches of the positions; td: temporal differences"
        " between positions; td-leaf: between the leaves of searches; moves: towards the moves of"
        " the games, or choices of --teacher gnubg:0; auto (default): scores with --teacher or with"
        " --own-games alone, rootstrap if there are games and an evaluation to search with, else"
        " logistic",
        kind=method_named,
        default="auto",
        choices=KeysOf("tuner.learn.method_table", "METHODS", "auto"),
        former="--targets",
    )
    fixed: str | Iterable[str] = option(
        "do not tune parameters matching this name or glob; may be repeated",
        default=(),
        action="append",
        metavar="NAME",
    )
    only: str | Iterable[str] = option(
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
    nodes: int | None = option(TEACHER_NODES, POSITIVE_COUNT, metavar="N")
    max_difference: float | None = option(
        "skip positions whose score differs by more than CP centipawns from the static evaluation",
        POSITIVE,
        metavar="CP",
        seldom=True,
    )
    depth: int | None = option(
        "depth of the searches in plies (default: 4)", POSITIVE_COUNT, metavar="N"
    )
    lambda_: float | None = option(
        "from 0 to 1. scores: weight of the blend (default: 0); other methods: weight of later"
        " positions of the game, per ply, so that 0.7 for each move of one's own is"
        " 0.837 (default: rootstrap 0, the search alone; td and td-leaf 0.7)",
        UNIT,
        metavar="L",
    )
    blend: str = option(
        "scores: what --lambda blends them with: result (default); later: the scores of later"
        " positions and finally the result, as in TD(lambda) (--lambda is"
        " then 0.7 unless given)",
        default="result",
        choices=("result", "later"),
        seldom=True,
    )
    rounds: int | None = option(
        "repeat the searches up to N times with the learned weights, until values hardly change"
        " (default: rootstrap 1, td-leaf 3)",
        POSITIVE_COUNT,
        metavar="N",
    )
    own_games: int | None = option(
        "play N self-play games and learn from them (in addition to GAMES, if given); repeat with"
        " the new weights as long as they beat the previous ones",
        POSITIVE_COUNT,
        metavar="N",
    )
    own_rounds: int | None = option(
        "at most N such rounds (default: 3)", POSITIVE_COUNT, metavar="N", seldom=True
    )
    loss: str | None = option(
        "cross-entropy (default) or mean squared error of the expected score; or with draws as a"
        " third outcome: ordered (ordered logit)",
        choices=KeysOf("tuner.objectives.table", "OBJECTIVES"),
    )
    prior: float | str | None = option(
        "prior width, the standard deviation of what a weight adds to the evaluation, around its"
        " start: centipawns, or hundredths of a point; none; cv (one width, by cross-validation);"
        " play (for each list and term by empirical Bayes, then the step that gains most in"
        " matches); or auto"
        " (default: play for results of games, also in rows; for rootstrap and for scores of"
        " --own-games alone 20, for recorded scores 5; otherwise by empirical Bayes)",
        Prior(),
        "auto",
        metavar="SD",
    )
    held_out: float = as_field(
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
    scale: float | None = option(
        "keep the scale constant at N (default: the scale of the file for rootstrap, td, td-leaf"
        " and"
        " scores of --own-games alone; else fitted to the starting values unless they are all"
        " zero)",
        between(1e-6, 1, "0.00255"),
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
    learner: str = option(
        "default: newton",
        default="newton",
        choices=KeysOf("tuner.fit.learners", "LEARNERS"),
        seldom=True,
    )
    iterations: int | None = option(
        "at most N iterations; adam and sgd: epochs", POSITIVE_COUNT, metavar="N", seldom=True
    )
    learning_rate: float | None = option(
        "of adam (centipawns per step) and sgd", POSITIVE, metavar="N", seldom=True
    )
    batch: int | None = option(
        "positions per step of adam and sgd (default: 16384)",
        POSITIVE_COUNT,
        metavar="N",
        seldom=True,
    )
    gradient: str = gradient()
    step: float | None = step()
    workers: int | None = workers("threads; the result is the same for any number")
    device: str = as_field(device("auto", "where passes over the data run"))


@dataclass(frozen=True, kw_only=True)
class TuneSettings(TuneOptions):
    """The options with everything that a run depends on, as given or resolved.

    Resolved by `tuner.learn.methods.resolved`, every value is the one that is used, and None marks
    what the method does not use. The `config.yaml` of a run, what `ORDER` names, and the learned
    file are written from resolved settings."""

    ORDER: ClassVar = (
        "reading quiescence terms method targets depth per_game lambda_ blend rounds max_difference"
        " teacher nodes own_games own_rounds own_results own_scores not_linear workers device"
        " no_gpu loss learner gradient step learning_rate iterations batch held_out prior fixed"
        " only scale untapered intercept seed run"
    )
    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    targets: str | None = None  # resolved: what the method learns from
    workers: int = 1
    own_results: bool = False  # resolved: all games are those of `tuner games`
    # resolved: scores come from the starting values themselves, on their scale
    own_scores: bool = False
    no_gpu: str | None = None  # why "auto" chose the CPU
    run: Path | None = None

    def require_sense(self) -> None:
        """ValueError for values that the options cannot have."""
        require_sense(self)

    @property
    def plain(self) -> dict[str, Any]:
        """The settings as plain data for `config.yaml`."""
        values = {name: getattr(self, name) for name in self.ORDER.split()}
        values["reading"] = {
            name: value for name, value in asdict(self.reading).items() if name != "evaluation"
        }
        return {
            "trace" if name == "lambda_" else name: (  # the key that readers of runs know
                str(value)
                if isinstance(value, Path)
                else list(value)
                if isinstance(value, tuple)
                else value
            )
            for name, value in values.items()
        }


@dataclass(frozen=True, kw_only=True)
class ValueOptions(Reading):
    """The options of values of positions from results, scores or searches."""

    method: str = option(
        "logistic: results of games; scores: those that the files record; rootstrap: our own"
        " searches; auto (default): scores with --teacher, rootstrap if there are games and an"
        " evaluation to search with, else logistic",
        kind=method_named,
        default="auto",
        choices=KeysOf("tuner.learn.method_table", "VALUE_METHODS", "auto"),
        former="--targets",
    )
    depth: int | None = option(
        "depth of our own searches in plies (default: 4)", POSITIVE_COUNT, metavar="N"
    )
    lambda_: float | None = option(
        "from 0 to 1: weight of the result in the blend with the search or score (default: 0)",
        UNIT,
        metavar="L",
    )
    teacher: str | None = option(ENGINE + "; they are kept for later runs", metavar="ENGINE")
    nodes: int | None = option(TEACHER_NODES, POSITIVE_COUNT, metavar="N")
    workers: int | None = workers()

    def tuning(self, terms: Iterable[str | Path]) -> TuneSettings:
        """Return the settings with which positions and their values are read."""
        from tuner.parallel import available_cpus

        shared = {each.name: getattr(self, each.name) for each in fields(self)}
        threads = min(self.workers or available_cpus(), 512)
        return TuneSettings(**{**shared, "workers": threads, "terms": tuple(map(str, terms))})
