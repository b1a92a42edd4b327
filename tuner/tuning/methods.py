"""The methods of `tuner tune`: their defaults, the options that they use, and their targets.

    logistic    results of games
    scores      scores of searches that the games record or that a teacher finds, see `tuner.ingest.recorded`
    rootstrap   the value that a search of each position finds, see `tuner.ingest.search_targets`
    td          temporal differences of the positions, see `tuner.fit.temporal`
    td-leaf     the same for the leaves of searches
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from games.record import Game, ReadOptions
from games.streams import InputError
from tuner.datagen.settings import holds_own_games
from tuner.datasets.format import is_dataset
from tuner.device.choose import device_named, gpu_is_there, why_no_gpu
from tuner.engine.coefficients import STEPS
from tuner.engine.engine import Engine
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.rules import RULES
from tuner.fit.options import DRAWS
from tuner.fit.play_prior import PLAY
from tuner.fit.result import FitResult
from tuner.fit.temporal import LEARNERS as TEMPORAL
from tuner.ingest.build import expand
from tuner.ingest.search_targets import Leaves, Retarget, Searched, retarget_by_search, search_values
from tuner.io.files import QUIESCENCE
from tuner.objectives.table import DRAW_MODELS
from tuner.parallel import Executor, OnThreads
from tuner.parameters.parameters import Parameters
from tuner.tuning.options import TuneOptions

SEARCHED_PER_GAME = 50  # positions: few positions of many games give the most information per search
SEARCH_TRUST = 20.0  # centipawns, prior around the weights that searched: 85 Elo on the bundled games; 60: 48, automatic: 61
SEARCH_DEPTH = 4  # plies
SCORE_TRUST = 5.0  # centipawns, prior around the starting weights: in matches 0 Elo where 10 lost 60, and no worse held-out loss
SCORE_LAMBDA = 0.0  # held-out losses do not tell blends apart
TEACHER_NODES = 5000  # per search
OWN_ROUNDS = 3  # of playing own games, at most
OWN_TRUST = 20.0  # centipawns, prior around the weights whose games recorded the scores
SOME = 50_000  # positions to estimate how far values moved


@dataclass(frozen=True)
class Method:
    """The options that a method of `tuner tune` uses, among those that not all methods use.

    `lambda_` and `rounds` (of searching) are its defaults, None if it does not use them; `searches`: it searches positions;
    `temporal`: it solves TD(lambda) rather than a regression; `targets` are those of --targets; `positions` are those read by
    default.
    """

    learners: tuple[str, ...] = tuple(LEARNERS)
    targets: str | None = None
    searches: bool = False
    temporal: bool = False
    lambda_: float | None = None
    rounds: int | None = None
    positions: str = "auto"


METHODS = {
    "logistic": Method(targets="results"),
    "scores": Method(targets="scores", lambda_=SCORE_LAMBDA),
    "rootstrap": Method(targets="search", searches=True, lambda_=0.0, rounds=1),
    "td": Method(tuple(TEMPORAL), temporal=True, lambda_=0.7),
    # leaves are quiet for any position
    "td-leaf": Method(tuple(TEMPORAL), searches=True, temporal=True, lambda_=0.7, rounds=3, positions="all"),
}
TARGETS = {method.targets: name for name, method in METHODS.items() if method.targets}
PRIORS = {"rootstrap": SEARCH_TRUST, "scores": SCORE_TRUST}  # in place of "auto"


def resolved(options: TuneOptions, game: Game | None, parameters: Parameters, sources: Sequence[str],
             rows: bool = False) -> TuneOptions:
    """Return the options with every default filled in, see `TuneOptions`. InputError for an option that the method does not
    use, and for games that it cannot learn from. `rows`: the sources are rows that another program counted."""
    options = _named_by_targets(options)
    name = options.method
    own_alone = options.own_games is not None and len(sources) == 1  # its games record the scores of their searches
    if name == "auto" and (options.teacher is not None or own_alone and options.loss not in (DRAWS, *DRAW_MODELS)):
        name = "scores"
    elif name == "auto":
        name = "logistic" if rows or game is None else method_for(options, game, parameters, sources)
    method = METHODS[name]
    own_scores = own_alone and name == "scores" and options.teacher is None
    for option, given, why in _unused(options, name, method, sources, rows):
        if given:
            raise InputError(f"{option}: has no use here, {why}; leave it out")
    require_consistent(options, name, method)
    if rows or game is None:
        require_rows_suffice(options, name, method, sources)
    else:
        require_possible(options, name, method, game, sources)
    reading = options.reading
    if reading.positions == "auto":
        reading = replace(reading, positions=method.positions)
    if (name == "rootstrap" or options.teacher) and options.per_game is None and not reading.per_game:
        reading = replace(reading, per_game=SEARCHED_PER_GAME)
    wanted = options.device == "auto" and options.gradient == "analytic"
    no_gpu = why_no_gpu() if wanted else None
    device = options.device if options.device != "auto" else "gpu" if wanted and no_gpu is None else "cpu"
    return replace(
        options, method=name, targets=method.targets, reading=reading, per_game=reading.per_game or None,
        quiescence=options.quiescence or QUIESCENCE,
        depth=(options.depth or SEARCH_DEPTH) if method.searches else None,
        lambda_=method.lambda_ if options.lambda_ is None else options.lambda_, rounds=options.rounds or method.rounds,
        device=device, no_gpu=no_gpu if no_gpu and gpu_is_there() else None, loss=options.loss or "cross-entropy",
        step=STEPS.get(options.gradient) if options.step is None else options.step,
        prior=options.prior if options.prior != "auto" or rows else
        OWN_TRUST if own_scores else PRIORS.get(name, options.prior), own_scores=own_scores,
        own_results=bool(sources) and all(map(holds_own_games, sources)),
        nodes=(options.nodes or TEACHER_NODES) if options.teacher else None,
        own_rounds=(options.own_rounds or OWN_ROUNDS) if options.own_games else None)


def _named_by_targets(options: TuneOptions) -> TuneOptions:
    """Return the options with the method that --targets names. InputError if --method is another one."""
    if options.targets is None:
        return options
    if options.targets not in TARGETS:
        raise InputError(f"--targets {options.targets}: expected one of {', '.join(TARGETS)}")
    method = TARGETS[options.targets]
    if options.method not in ("auto", method):
        raise InputError(f"--targets {options.targets}: has no use with --method {options.method}; leave one of them out")
    return replace(options, method=method)


def _unused(options: TuneOptions, name: str, method: Method, sources: Sequence[str],
            rows: bool) -> Iterator[tuple[str, bool, str]]:
    """Yield the options that this method, learner or kind of games does not use: as written, whether given, and why they are
    not used."""
    said = f"--method {name}" if options.method == name else f"the method here is {name}, which"
    stepwise = options.learner in RULES
    if not method.searches:
        yield f"--depth {options.depth}", options.depth is not None, f"{said} searches nothing"
        yield f"--rounds {options.rounds}", options.rounds is not None, f"{said} searches nothing"
    if method.targets != "scores":
        for option, given in (("--max-difference", options.max_difference), ("--teacher", options.teacher)):
            yield f"{option} {given}", given is not None, f"{said} uses no scores of other programs"
    if options.teacher is None:
        yield f"--nodes {options.nodes}", options.nodes is not None, "there is no --teacher to search them"
    if method.lambda_ is None:
        yield f"--lambda {options.lambda_}", options.lambda_ is not None, f"{said} learns from results alone, which is lambda 1"
    if method.temporal:
        yield f"--loss {options.loss}", options.loss is not None, f"{said} solves an equation instead of minimising a loss"
        yield f"--bootstrap {options.bootstrap}", bool(options.bootstrap), f"{said} is not fitted by regression"
        yield f"--batch {options.batch}", options.batch is not None, f"{said} takes a fixed number of whole games a step"
    if not stepwise:
        yield f"--learning-rate {options.learning_rate}", options.learning_rate is not None, \
            f"--learner {options.learner} has no learning rate"
        yield f"--batch {options.batch}", options.batch is not None, f"--learner {options.learner} takes all positions a step"
    if options.gradient == "analytic":
        yield f"--step {options.step}", options.step is not None, "the gradient is analytic"
    if not rows:
        yield f"--not-linear {options.not_linear}", options.not_linear is not None, "the sources are not rows"
    yield f"--own-rounds {options.own_rounds}", options.own_rounds is not None and options.own_games is None, \
        "there are no --own-games to play"
    if rows or all(source != "-" and is_dataset(source) for source in sources):
        chosen = ("rows hold the positions that were chosen" if rows else
                  "the positions of a dataset were chosen when it was built")
        reading, usual = options.reading, ReadOptions()
        for key in ("positions", "min_elo", "skip_start", "skip_end", "per_game", "duplicates", "strict"):
            yield f"--{key.replace('_', '-')}", getattr(reading, key) != getattr(usual, key), chosen
        yield "--quiescence", options.quiescence is not None, chosen


def method_for(options: TuneOptions, game: Game, parameters: Parameters, sources: Sequence[str]) -> str:
    """Return the default method: rootstrap if there are games and an evaluation to search with, else logistic.

    Labelled positions are few per game, and their labels are verdicts already. Losses that model draws need results.
    """
    files = [source for source in sources if source != "-" and not is_dataset(source)]
    if options.loss in (DRAWS, *DRAW_MODELS):
        return "logistic"
    searchable = game.searchable and parameters.weights.any() and len(files) == len(sources)
    found = expand(files, game.suffixes, game.holds_games) if searchable else []
    return "rootstrap" if searchable and all(game.of_games(file) for file in found) else "logistic"


def require_consistent(options: TuneOptions, name: str, method: Method) -> None:
    """InputError for options that a method cannot use together."""
    said = f"--method {name}"
    if options.loss in (DRAWS, *DRAW_MODELS):
        if name != "logistic":
            raise InputError(f"--loss {options.loss}: needs results, {said} has other targets; use --method logistic")
        if options.gradient != "analytic":
            raise InputError(f"--loss {options.loss}: has only an analytic gradient; leave out --gradient")
        if options.loss == DRAWS and options.held_out == 0:
            raise InputError("--loss draws: chooses a model by held-out games; leave out --held-out 0, or use --loss ordered or "
                             "davidson")
    if options.learner not in method.learners:
        raise InputError(f"--learner {options.learner}: {said} learns with {', '.join(method.learners)}")
    if options.prior == PLAY:
        if name != "logistic":
            raise InputError(f"--prior play: weighs what results teach, {said} has other targets; leave it out")
        if options.gradient != "analytic":
            raise InputError("--prior play: needs coefficients, which finite differences do not use; leave out --gradient")
    if options.bootstrap == 1:
        raise InputError("--bootstrap 1: expected 2 or more fits, such as --bootstrap 200; 0 for none")
    if options.prior == "cv" and method.temporal:
        raise InputError(f"--prior cv: {said} takes a width in centipawns, none or auto")
    if options.device not in ("auto", "cpu"):
        if options.gradient != "analytic":
            raise InputError(f"--device {options.device}: finite differences run on the CPU; leave it out")
        device_named(options.device, options.workers)  # refused before reading, if there is none


def require_rows_suffice(options: TuneOptions, name: str, method: Method, sources: Sequence[str]) -> None:
    """InputError for options that need positions, where there are only rows that another program counted."""
    if method.searches or method.temporal or options.teacher is not None:
        what = f"--teacher {options.teacher}" if options.teacher is not None else f"--method {name}"
        raise InputError(f"{what}: {sources[0]} holds rows, not games that could be searched or followed; learn with --method "
                         "logistic or, from recorded scores, --method scores")
    if options.gradient != "analytic":
        raise InputError(f"--gradient {options.gradient}: {sources[0]} holds rows, not positions whose evaluation could be "
                         "computed with moved weights; leave it out")


def require_possible(options: TuneOptions, name: str, method: Method, game: Game, sources: Sequence[str]) -> None:
    """InputError for options and sources that a method cannot use with games."""
    said = f"--method {name}"
    if game.points > 1 and options.loss in (DRAWS, *DRAW_MODELS):
        raise InputError(f"--loss {options.loss}: models draws, and {game.name} has points from -{game.points} to {game.points} "
                         "in place of them; leave it out")
    if game.points > 1 and options.prior == PLAY:
        raise InputError(f"--prior play: weighs what noise costs in Elo, and strength in {game.name} is points a game; leave it "
                         "out, or name a width")
    if method.searches and not game.searchable:
        why = "has no search" if game.searcher is None else "has positions before the roll, which a search cannot begin with"
        raise InputError(f"{said}: {game.name} {why}; learn with --method logistic or td")
    datasets = [source for source in sources if source != "-" and is_dataset(source)]
    if datasets and options.gradient != "analytic":
        raise InputError(f"{datasets[0]}: a dataset holds counts, not positions whose evaluation could be computed with moved "
                         "weights; name the games, or leave out --gradient")
    if method.targets == "scores" and datasets and (options.teacher is not None or len(datasets) < len(sources)):
        what = f"--teacher {options.teacher}" if options.teacher is not None else f"--method {name}"
        raise InputError(f"{what}: {datasets[0]} is a dataset, whose positions cannot be searched or read again; name games "
                         "alone, or datasets that have scores alone")
    if method.temporal:
        if datasets:
            raise InputError(f"{datasets[0]}: a dataset does not say which positions follow each other; name the games")
        for source in sources:
            if source != "-" and not os.path.isdir(source) and not game.of_games(source):
                raise InputError(f"{source}: labelled positions do not follow each other, as {said} needs; name games")
        if options.reading.per_game or options.reading.duplicates == "positions":
            raise InputError(f"{said}: learns from games as a whole; leave out --per-game and --duplicates positions")


def retarget_of(engine: Engine, parameters: Parameters, options: TuneOptions, searched: Searched,
                executor: Executor | None = None) -> Retarget | None:
    """Return what replaces the outcomes or positions of games, if anything; `searched` is called for each position searched, on
    the executor; None: on the threads that the options name."""
    executor = executor or OnThreads(options.workers)
    if METHODS[options.method].temporal:
        return Leaves(engine, parameters, options.depth or 0, options.lambda_, executor, searched)
    if METHODS[options.method].searches:
        values = search_values(engine, parameters, options.depth, executor, searched)
        return retarget_by_search(engine, values, options.lambda_)
    return None


def value_change(result: FitResult, before: Parameters) -> float:
    """Return the mean change of the value of a position by a fit that started from these parameters, over the first positions."""
    problem, columns = result.problem, before.weights.shape[1]
    games = problem.games[:np.searchsorted(np.cumsum(np.diff(problem.data.first)[problem.games]), SOME) + 1]
    weights = [np.zeros(problem.start.shape) for _ in range(2)]
    for some, parameters in zip(weights, (before, result.parameters), strict=True):
        some[:, :columns] = parameters.weights
    values = [np.tanh(parameters.scale * problem.evaluations(some, problem.on(games).ranges))
              for some, parameters in zip(weights, (before, result.parameters), strict=True)]
    return float(np.abs(values[1] - values[0]).mean())
