"""Learn the weights of a parameter file from games, and write them to a new file."""

from __future__ import annotations

import argparse
from pathlib import Path

from tuner.commands.options import (
    add_device_option,
    add_gradient_options,
    add_read_options,
    add_term_options,
    at_least_one,
    between,
    command_text,
    count,
    gradient_named,
    positive,
    read_options,
    share,
    unit,
)
from tuner.parallel import processors

EXAMPLE = """example:
  tuner tune classic games.pgn.zst -o learned.yaml
  tuner tune my.yaml games/ --held-out 0.2 --fixed 'material.pawn.eg' --learner lbfgs -o learned.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file to start from, or a bundled one: classic, zero, ...")
    parser.add_argument("games", metavar="GAMES", nargs="+",
                        help="files of games or labelled positions (also .gz, .bz2, .zst), folders of them, datasets, or -")
    parser.add_argument("-o", "--output", metavar="OUT", help="parameter file to write")
    parser.add_argument("--dry-run", action="store_true", help="say what these games can teach, and fit nothing")
    group = parser.add_argument_group("learning")
    group.add_argument("--method", choices=("auto", "logistic", "rootstrap", "td", "td-leaf"), default="auto",
                       help="logistic: regression of the results on the positions, TD(1); rootstrap: towards what a search of "
                            "each position finds; td, td-leaf: temporal differences of the positions or of the leaves of "
                            "searches; auto (default): rootstrap, if there are games and an evaluation to search them with")
    group.add_argument("--depth", type=at_least_one, metavar="N", help="plies of those searches (default: 4)")
    group.add_argument("--lambda", dest="trace", type=unit, metavar="L",
                       help="weight of what comes later in the game, per ply (default: rootstrap 0, the search alone; td 0.7)")
    group.add_argument("--rounds", type=at_least_one, metavar="N",
                       help="search again with what was learned, at most so often in all, while that changes much (default: "
                            "rootstrap 1, td-leaf 3)")
    group.add_argument("--workers", type=at_least_one, default=processors(), metavar="N",
                       help="threads that search; changes nothing about the result (default: the processors that there are)")
    add_device_option(group, "auto", "where passes over the data run")
    group.add_argument("--loss", choices=("cross-entropy", "mse", "ordered", "davidson", "draws"),
                       help="cross-entropy (default) or mean squared error of the expected score; with draws as an outcome of "
                            "their own: ordered logit (Rao and Kupper), davidson, or draws: what predicts held-out games best")
    group.add_argument("--learner", choices=("newton", "lbfgs", "adam", "sgd"), default="newton", help="default: newton")
    add_gradient_options(group)
    group.add_argument("--learning-rate", type=positive, metavar="N", help="for adam (centipawns a step) and sgd")
    group.add_argument("--iterations", type=at_least_one, metavar="N", help="at most so many; epochs for adam and sgd")
    group.add_argument("--batch", type=at_least_one, metavar="N",
                       help="positions a step of adam and sgd (default: 16384)")
    group.add_argument("--held-out", type=share, default=0.1, metavar="SHARE",
                       help="share of the games, whole openings, kept to judge the result (default: 0.1)")
    group.add_argument("--prior", type=_prior, default="auto", metavar="SD",
                       help="how far weights may be expected from where they start: a number of centipawns, none, or auto "
                            "(default): found from the games for each list and term, for rootstrap 20; or cv: one width for all, "
                            "by cross-validation over games")
    group.add_argument("--bootstrap", type=count, default=0, metavar="N",
                       help="check the standard errors by N fits to games drawn with replacement")
    group.add_argument("--fixed", action="append", default=[], metavar="NAME", help="hold this name or glob; may be repeated")
    group.add_argument("--only", action="append", default=[], metavar="NAME", help="move nothing but this name or glob")
    group.add_argument("--untapered", action="store_true", help="one number for each parameter instead of one a stage")
    group.add_argument("--scale", type=between(1e-6, 1, "0.00255"), metavar="N",
                       help="hold the scale (default: fitted to the starting values, if they are not all zero)")
    group.add_argument("--no-intercept", action="store_true", help="no term for the advantage that openings give one player")
    add_term_options(parser)
    add_read_options(parser)
    parser.add_argument("--run", metavar="DIR", help="keep the dataset, the history and the settings in this folder")


def _prior(text: str) -> float | str | None:
    return None if text == "none" else text if text in ("auto", "cv") else between(1e-3, 1e6, "50")(text)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.commands.display import TerminalDisplay
    from tuner.tuning import run
    from tuner.tuning.options import TuneOptions

    options = TuneOptions(
            reading=read_options(arguments), quiescence=arguments.quiescence, terms=tuple(arguments.terms), step=arguments.step,
            method=arguments.method, depth=arguments.depth, trace=arguments.trace, workers=min(arguments.workers, 512),
            per_game=arguments.per_game, rounds=arguments.rounds,
            loss=arguments.loss, learner=arguments.learner, gradient=gradient_named(arguments.gradient),
            learning_rate=arguments.learning_rate,
            iterations=arguments.iterations, batch=arguments.batch, held_out=arguments.held_out,
            prior=arguments.prior, fixed=tuple(arguments.fixed), only=tuple(arguments.only), scale=arguments.scale,
            untapered=arguments.untapered, intercept=not arguments.no_intercept, seed=arguments.seed,
            bootstrap=arguments.bootstrap, device=arguments.device, run=Path(arguments.run) if arguments.run else None)
    if arguments.dry_run:
        with TerminalDisplay() as display:
            result = run.dry_run(arguments.params, arguments.games, options, display)
        if not arguments.json:
            from tuner.diagnostics.dry_run import foresee_lines

            print("\n".join(foresee_lines(result)))
        return result
    if arguments.output is None:
        raise InputError("-o OUT is missing: the parameter file to write; or ask for --dry-run")
    with TerminalDisplay() as display:
        result = run.tune(arguments.params, arguments.games, Path(arguments.output), options, command_text(arguments), display)
    if not arguments.json:
        from tuner.tuning.result import result_lines

        print("\n".join(result_lines(result)))
    return result
