"""The settings of a run of `tuner tune` with every default of its method filled in, and what is
refused."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from games.record import Game, points_of
from games.system import available_cpus
from tuner.core.records import make
from tuner.evaluation.engine import STEPS
from tuner.fit.device.base import Device
from tuner.fit.device.choose import device_named, gpu_is_there, why_no_gpu
from tuner.fit.learners import LEARNERS
from tuner.fit.learners.base import LearnerOptions
from tuner.fit.noise import PLAY
from tuner.fit.setup import FitOptions
from tuner.learn.method_table import METHODS, SEARCH_DEPTH, Method
from tuner.learn.sources import (
    ORDER,
    POSITIONS,
    ROWS,
    STANDARD_INPUT,
    Need,
    Source,
    require_sources,
)
from tuner.learn.targets import Start
from tuner.objectives.table import DRAW_MODELS
from tuner.options.option import Reading, no_use, options_in, refuse, refuse_first
from tuner.options.tune import TuneSettings
from tuner.parameters.parameters import Parameters
from tuner.play.own_games.settings import holds_own_games


def tune_settings(
    given: Mapping[str, Any],
    terms: Iterable[str | Path],
    run: str | Path | None = None,
    what: str = "",
) -> TuneSettings:
    """Return the settings of `tuner tune` for the options that were given. InputError for values
    that they cannot have; `what` asks for them."""
    names = {
        name: (given[name],) if isinstance(given[name], str) else tuple(given[name])
        for name in ("fixed", "only")
        if name in given
    }
    more = {
        "terms": tuple(map(str, terms)),
        "run": None if run is None else Path(run),
        "workers": min(given.get("workers") or available_cpus(), 512),
    }
    return make(TuneSettings, {**given, **names, **more}, what)


def fitting_of(settings: TuneSettings, device: Device | None = None) -> FitOptions:
    """Return the options of the fit, on this device or on the one named; for resolved settings."""
    learning = LearnerOptions(
        iterations=settings.iterations, learning_rate=settings.learning_rate, seed=settings.seed
    )
    if settings.batch is not None:
        learning = replace(learning, batch=settings.batch)
    # targets from our searches are on the scale of the evaluation that searched
    fit_scale = (
        settings.scale is None
        and METHODS[settings.method].targets in ("results", "scores")
        and not settings.own_scores
    )
    return FitOptions(
        settings.loss or "cross-entropy",
        settings.learner,
        learning,
        settings.held_out,
        settings.prior,
        settings.fixed,
        settings.only,
        fit_scale,
        settings.intercept and settings.method != "moves",
        True,
        settings.seed,
        settings.own_results,
        device or device_named(settings.device, settings.workers),
    )


SEARCHED_PER_GAME = 50  # positions, where a teacher searches them
LATER_LAMBDA = 0.7  # blended with later scores
TEACHER_NODES = 5000  # per search
# centipawns, where moves are searched: in matches of shogi (100 to 200 games, 2,000 nodes) 6 gained
# 10 +- 50 Elo, 20 and 30 lost 92 +- 62
PLAYED_TRUST = 6.0
QUIESCENCE = 0  # plies after each move that is compared: captures alone
MOVES_PER_GAME = 3  # compared with alternatives, where the positions after them are searched
OWN_ROUNDS = 3  # of playing own games, at most
OWN_TRUST = 20.0  # centipawns, prior around the weights whose games recorded the scores


def resolved(options: TuneSettings, begun: Start) -> TuneSettings:
    """Return the options with every default filled in, see `TuneSettings`. InputError for an option
    that the method does not use, and for games that it cannot learn from."""
    name, (engine, game, parameters, sources) = options.method, begun
    rows = engine is None  # the sources are rows that another program counted
    # its games record the scores of their searches
    own_alone = options.own_games is not None and len(sources) == 1
    if name == "auto" and (
        options.teacher is not None or own_alone and options.loss not in DRAW_MODELS
    ):
        name = "scores"
    elif name == "auto":
        name = "logistic"
        if game is not None and not rows:
            name = method_for(options, game, parameters, sources)
    method = METHODS[name]
    own_scores = own_alone and name == "scores" and options.teacher is None
    refuse(
        (option, given, f"has no use here, {why}")
        for option, given, why in unused(options, name, method, parameters, sources)
    )
    require_consistent(options, name, method)
    kinds = {source.kind for source in sources}
    require_sources(sources, needs_of(options, name, method, kinds))
    if game is not None and not rows:
        require_game(options, name, method, game)
    played = method.targets == "moves" and options.teacher is None
    searched_moves = played and game is not None and game.searchable
    few = options.per_game
    if few is None:
        few = MOVES_PER_GAME if searched_moves else method.per_game
        if options.teacher:
            few = SEARCHED_PER_GAME
    wanted = (
        options.device == "auto" and options.gradient == "analytic" and method.targets != "moves"
    )
    no_gpu = why_no_gpu() if wanted else None
    device = options.device
    if device == "auto":
        device = "gpu" if wanted and no_gpu is None else "cpu"
    positions: Any = options.positions
    if positions == "auto":
        positions = method.positions
    if played:
        positions = "moves"
    depth = None
    if method.searches:
        depth = options.depth or SEARCH_DEPTH
    elif searched_moves:
        depth = options.depth or QUIESCENCE
    lambda_ = options.lambda_
    if lambda_ is None:
        lambda_ = LATER_LAMBDA if options.blend == "later" else method.lambda_
    prior = options.prior
    data_chosen = rows and name != "scores" or played and game is not None and game.has_dice
    if prior == "auto" and not data_chosen:
        prior = OWN_TRUST if own_scores else PLAYED_TRUST if played else method.prior or prior
    return replace(
        options,
        method=name,
        targets=method.targets,
        per_game=few or None,
        positions=positions,
        quiescence=options.judge,
        depth=depth,
        lambda_=lambda_,
        rounds=options.rounds or method.rounds,
        device=device,
        no_gpu=no_gpu if no_gpu and gpu_is_there() else None,
        loss=options.loss or "cross-entropy",
        step=STEPS.get(options.gradient) if options.step is None else options.step,
        prior=prior,
        own_scores=own_scores,
        own_results=bool(sources) and all(holds_own_games(source.path) for source in sources),
        nodes=(options.nodes or TEACHER_NODES) if options.teacher and name == "scores" else None,
        own_rounds=(options.own_rounds or OWN_ROUNDS) if options.own_games else None,
    )


def unused(
    options: TuneSettings,
    name: str,
    method: Method,
    parameters: Parameters,
    sources: Sequence[Source],
) -> Iterator[tuple[str, object, str]]:
    """Yield the options that this method, learner or kind of games does not use: as written,
    whether given, and why they are not used."""
    rows = any(source.kind == ROWS for source in sources)
    said = f"--method {name}" if options.method == name else f"the method here is {name}, which"
    learner, stepwise = f"--learner {options.learner}", LEARNERS[options.learner].stepwise
    why_no_nodes = f"{options.teacher} has plies in place of nodes"
    if options.teacher is None:
        why_no_nodes = "there is no --teacher to search them"
    asleep = (
        *((option, True, f"{said} {why}") for option, why in method.unused.items()),
        ("nodes", options.teacher is None or method.targets == "moves", why_no_nodes),
        ("learning_rate", not stepwise, f"{learner} has no learning rate"),
        ("batch", not stepwise, f"{learner} takes all positions a step"),
        ("step", options.gradient == "analytic", "the gradient is analytic"),
        ("not_linear", not rows, "the sources are not rows"),
        ("own_rounds", options.own_games is None, "there are no --own-games to play"),
        *(("try_", idle, why) for idle, why in _never_tried(options, name, parameters, rows)),
    )
    known = {each.name: each for each in options_in(TuneSettings)}
    for field, idle, why in asleep:
        value = getattr(options, field)
        said_so = (
            known[field].names[0] if isinstance(value, bool) else f"{known[field].names[0]} {value}"
        )
        yield said_so, idle and value != known[field].default, why
    chosen = (
        "rows hold the positions that were chosen"
        if rows
        else "the positions of a dataset were chosen when it was built"
    )
    if rows or not any(source.files for source in sources):
        for each in options_in(Reading):
            yield (
                each.names[0],
                each.name != "seed" and getattr(options, each.name) != each.default,
                chosen,
            )


def _never_tried(
    options: TuneSettings, name: str, parameters: Parameters, rows: bool
) -> Iterator[tuple[bool, str]]:
    """Yield whether there is a reason not to try steps, and the reason."""
    yield not parameters.weights.any(), "there is no evaluation to start from"
    yield points_of(parameters.game) > 1, "matches of this game are not scored in Elo"
    yield (
        rows,
        "an engine plays with the weights of its rows once it is built: name the games as `results`"
        " in the plan of tuner improve",
    )
    yield (
        name != "logistic" or options.prior not in ("auto", PLAY),
        "only --prior play, for results, goes a part of the way",
    )
    yield options.own_games is not None, "rounds of --own-games are judged by matches already"


def method_for(
    options: TuneSettings, game: Game, parameters: Parameters, sources: Sequence[Source]
) -> str:
    """Return the default method: rootstrap if there are games and an evaluation to search with,
    else logistic.

    Labeled positions are few per game, and their labels are verdicts already. Losses that model
    draws need results."""
    if options.loss in DRAW_MODELS or not (game.searchable and parameters.weights.any()):
        return "logistic"
    of_games = all(
        source.files
        and source.path != STANDARD_INPUT
        and all(map(game.files.of_games, source.files))
        for source in sources
    )
    return "rootstrap" if of_games else "logistic"


def require_consistent(options: TuneSettings, name: str, method: Method) -> None:
    """InputError for options that a method cannot use together."""
    said, loss, drawn = f"--method {name}", f"--loss {options.loss}", options.loss in DRAW_MODELS
    play, differences = options.prior == PLAY, options.gradient != "analytic"
    on_gpu = options.device not in ("auto", "cpu")
    refuse_first(
        (
            (
                drawn and name != "logistic",
                f"{loss}: needs results, {said} has targets of a different kind; use --method"
                " logistic",
            ),
            (drawn and differences, f"{loss}: has only an analytic gradient; leave out --gradient"),
            (
                options.learner not in method.learners,
                f"--learner {options.learner}: {said} learns with {', '.join(method.learners)}",
            ),
            (
                play and name != "logistic",
                no_use(
                    "--prior play",
                    f"weighs what results teach, {said} has targets of a different kind",
                ),
            ),
            (
                play and differences,
                (
                    "--prior play: needs coefficients, which finite differences do not use; leave"
                    " out --gradient"
                ),
            ),
            (
                options.prior == "cv" and method.temporal,
                f"--prior cv: {said} takes a width in centipawns, none or auto",
            ),
            (
                on_gpu and differences,
                no_use(f"--device {options.device}", "finite differences run on the CPU"),
            ),
        )
    )
    if on_gpu:
        device_named(options.device, options.workers)  # refused before reading, if there is none


def needs_of(
    options: TuneSettings, name: str, method: Method, kinds: Collection[str]
) -> Iterator[Need]:
    """Yield what a method and the options with it need of sources of these kinds."""
    said, others = f"--method {name}", "name the games, or learn with --method logistic"
    if method.temporal or method.targets == "moves" and options.teacher is None:
        yield Need(said, ORDER, others)
    elif options.teacher is not None:
        yield Need(f"--teacher {options.teacher}", POSITIONS, "name games, or leave it out")
    elif method.searches:
        yield Need(said, POSITIONS, others)
    elif method.targets == "scores" and len(kinds) > 1:
        yield Need(said, POSITIONS, "name games alone, or datasets that have scores alone")
    if options.gradient != "analytic":
        instead = "name the games, or leave out --gradient"
        yield Need(f"--gradient {options.gradient}", POSITIONS, instead)


def require_game(options: TuneSettings, name: str, method: Method, game: Game) -> None:
    """InputError for options that a method cannot use with a game."""
    said, moves = f"--method {name}", method.targets == "moves"
    no_search = (
        "has positions before the roll, which a search cannot begin with"
        if game.contest.searcher
        else "has no search"
    )
    refuse_first(
        (
            (
                game.in_points and options.loss in DRAW_MODELS,
                no_use(
                    f"--loss {options.loss}",
                    f"models draws, and {game.name} has points from -{game.points} to {game.points}"
                    " in place of them",
                ),
            ),
            (
                game.in_points and options.prior == PLAY,
                no_use(
                    "--prior play",
                    f"weighs what noise costs in Elo, and strength in {game.name} is points a game",
                    "name a width",
                ),
            ),
            (
                moves and game.contest.rater is None and options.teacher is not None,
                f"--teacher {options.teacher}: no program evaluates moves in {game.name};"
                " leave it out, to learn from the moves that were played",
            ),
            *(
                (
                    moves
                    and given is not None
                    and not (options.teacher is None and game.searchable),
                    no_use(option, "the positions after the moves of a roll are not searched"),
                )
                for option, given in (("--depth", options.depth), ("--rounds", options.rounds))
            ),
            (
                moves and options.teacher is None and options.positions != "auto",
                no_use(f"--positions {options.positions}", "moves are those of whole games"),
            ),
            (
                moves and options.run is not None,
                f"--run {options.run}: its report shows how values predict results, which {said}"
                " does not learn; leave it out",
            ),
            (
                moves and options.device not in ("auto", "cpu"),
                no_use(f"--device {options.device}", f"{said} runs on the CPU"),
            ),
            (
                method.searches and not game.searchable,
                f"{said}: {game.name} {no_search}; learn with --method logistic or td",
            ),
            (
                method.temporal and (options.per_game or options.duplicates == "positions"),
                (
                    f"{said}: learns from games as a whole; leave out --per-game and --duplicates"
                    " positions"
                ),
            ),
        )
    )
