"""Learn the weights of a parameter file from games and write them to a new file."""

from __future__ import annotations

import argparse
from pathlib import Path

from tuner.commands.options import (
    Names,
    add_cluster_option,
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
from tuner.commands.parser import nearest
from tuner.parallel import available_cpus

USAGE = "PARAMS GAMES [GAMES ...] -o OUT [options]"
EXAMPLE = """examples:
  tuner tune classic games.pgn.zst -o learned.yaml
  tuner tune classic games.pgn.zst --dry-run
  tuner tune classic --own-games 6000 -o learned.yaml
  tuner tune my.yaml games/ --method logistic --fixed 'material.pawn.eg' \\
    -o learned.yaml --run run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file to start from, or a bundled one: classic, zero, ...")
    parser.add_argument("games", metavar="GAMES", nargs="*", default=[],
                        help="files of games or labelled positions (also .gz, .bz2, .zst), folders of them, datasets, - for "
                             "standard input, or samples for the bundled games")
    parser.add_argument("-o", "--output", metavar="OUT", help="parameter file to write")
    parser.add_argument("--dry-run", action="store_true", help="report what can be learned from these games, and fit nothing")
    parser.add_argument("--method", choices=Names("tuner.tuning.methods", "METHODS", "auto"), default="auto",
                        help="logistic: regression of the results on the positions; scores: towards scores in the files; "
                             "rootstrap: towards the scores of searches of the positions; td: temporal differences between "
                             "positions; td-leaf: between the leaves of searches; auto (default): scores with --teacher or "
                             "with --own-games alone, rootstrap if there are games and an evaluation to search with, else "
                             "logistic")
    parser.add_argument("--targets", choices=Names("tuner.tuning.methods", "TARGETS"),
                        help="what positions are learned from: results of games (--method logistic), scores of searches that the "
                             "files record (--method scores), or our own search (--method rootstrap)")
    parser.add_argument("--fixed", action="append", default=[], metavar="NAME",
                        help="keep parameters matching this name or glob constant; may be repeated")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="learn only parameters matching this name or glob; may be repeated")
    parser.add_argument("--run", metavar="DIR",
                        help="keep the dataset, the history and the settings in this folder, for `tuner report`")
    parser.add_argument("--not-linear", metavar="PART",
                        help="of rows: a part of the evaluation that no counts express, such as 'king safety': what the rows "
                             "lack is kept as it is, and not tuned")
    add_term_options(parser)
    group = parser.add_argument_group("scores of other programs")
    group.add_argument("--teacher", metavar="ENGINE",
                       help="take scores from searches of this engine, such as uci:stockfish, in place of those in the files")
    group.add_argument("--nodes", type=at_least_one, metavar="N", help="nodes per search of the teacher (default: 5000)")
    group.add_argument("--max-difference", type=positive, metavar="CP",
                       help="leave out positions whose score is more than CP centipawns from the static evaluation of the "
                            "starting values")
    group = parser.add_argument_group("searches and temporal differences")
    group.add_argument("--depth", type=at_least_one, metavar="N", help="depth of the searches in plies (default: 4)")
    group.add_argument("--lambda", dest="lambda_", type=unit, metavar="L",
                       help="from 0 to 1. scores: weight of the result beside the score (default: 0); other methods: weight of "
                            "later positions of the game, per ply, so that 0.7 for each move of one's own is "
                            "0.837 (default: rootstrap 0, the search alone; td and td-leaf 0.7)")
    group.add_argument("--rounds", type=at_least_one, metavar="N",
                       help="search at most N times, each time with the weights learned so far, until values hardly change "
                            "(default: rootstrap 1, td-leaf 3)")
    group = parser.add_argument_group("own games")
    group.add_argument("--own-games", type=at_least_one, metavar="N",
                       help="play N games as `tuner games` does and learn from them too, or from them alone without GAMES; then "
                            "play again with the learned weights, while these win a match against those before")
    group.add_argument("--own-rounds", type=at_least_one, metavar="N", help="at most N such rounds (default: 3)")
    group = parser.add_argument_group("model")
    group.add_argument("--loss", choices=Names("tuner.objectives.table", "OBJECTIVES", "draws"),
                       help="cross-entropy (default) or mean squared error of the expected score; or with draws as a third "
                            "outcome: ordered (ordered logit), davidson, or draws (whichever predicts held-out games best)")
    group.add_argument("--prior", type=_prior, default="auto", metavar="SD",
                       help="prior width, the standard deviation of weights around their starting values: centipawns, or "
                            "hundredths of a point; none; cv (one width, by cross-validation); play (for each list and term by "
                            "empirical Bayes, then as far as pays in matches); or auto (default: play "
                            "for results of games, also in rows; for rootstrap and for scores of "
                            "--own-games alone 20, for other scores of games 5; otherwise by empirical "
                            "Bayes)")
    group.add_argument("--held-out", type=share, default=0.1, metavar="SHARE",
                       help="share of the games that is held out, by whole openings, to validate the result (default: 0.1)")
    group.add_argument("--bootstrap", type=count, default=0, metavar="N",
                       help="check the standard errors by N fits to games resampled with replacement")
    group.add_argument("--untapered", action="store_true", help="learn one number per parameter, not one per stage")
    group.add_argument("--scale", type=between(1e-6, 1, "0.00255"), metavar="N",
                       help="keep the scale constant at N (default: that of the file for rootstrap, td, td-leaf and scores of "
                            "--own-games alone; else fitted to the starting values unless they are all zero)")
    group.add_argument("--no-intercept", action="store_true",
                       help="fit no intercept, which is the advantage that openings give the first player")
    group = parser.add_argument_group("optimizer")
    group.add_argument("--learner", choices=Names("tuner.fit.learners", "LEARNERS"), default="newton", help="default: newton")
    group.add_argument("--iterations", type=at_least_one, metavar="N", help="at most N iterations; adam and sgd: epochs")
    group.add_argument("--learning-rate", type=positive, metavar="N", help="of adam (centipawns per step) and sgd")
    group.add_argument("--batch", type=at_least_one, metavar="N", help="positions per step of adam and sgd (default: 16384)")
    add_gradient_options(group)
    add_read_options(parser)
    group = parser.add_argument_group("machine")
    group.add_argument("--workers", type=at_least_one, default=available_cpus(), metavar="N",
                       help="threads; the result is the same for any number (default: one per CPU)")
    add_cluster_option(group, "play own games, search positions, and pass over a dataset")
    add_device_option(group, "auto", "where passes over the data run")


def _prior(text: str) -> float | str | None:
    words = ("none", "auto", "cv", "play")
    if text.isalpha() and text not in words and (near := nearest(text, words)):
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r}{near}")
    return None if text == "none" else text if text in words else between(1e-3, 1e6, "50")(text)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError
    from tuner.commands.display import TerminalDisplay, show_result
    from tuner.commands.where import executor_of
    from tuner.engine.loading import sources_for
    from tuner.tuning import run
    from tuner.tuning.options import TuneOptions

    options = TuneOptions(
            reading=read_options(arguments), quiescence=arguments.quiescence, terms=tuple(arguments.terms), step=arguments.step,
            method=arguments.method, depth=arguments.depth, lambda_=arguments.lambda_, workers=min(arguments.workers, 512),
            per_game=arguments.per_game, rounds=arguments.rounds, targets=arguments.targets, teacher=arguments.teacher,
            nodes=arguments.nodes, max_difference=arguments.max_difference,
            not_linear=arguments.not_linear, own_games=arguments.own_games, own_rounds=arguments.own_rounds,
            loss=arguments.loss, learner=arguments.learner, gradient=gradient_named(arguments.gradient),
            learning_rate=arguments.learning_rate,
            iterations=arguments.iterations, batch=arguments.batch, held_out=arguments.held_out,
            prior=arguments.prior, fixed=tuple(arguments.fixed), only=tuple(arguments.only), scale=arguments.scale,
            untapered=arguments.untapered, intercept=not arguments.no_intercept, seed=arguments.seed,
            bootstrap=arguments.bootstrap, device=arguments.device, run=Path(arguments.run) if arguments.run else None)
    if not arguments.games and arguments.own_games is None:
        raise InputError("tune: expected GAMES to learn from, or --own-games N; see tuner tune --help")
    games = sources_for(arguments.params, arguments.games)
    if arguments.dry_run and arguments.cluster is not None:
        raise InputError(f"--cluster {arguments.cluster}: has no use with --dry-run, which searches nothing; leave it out")
    if arguments.dry_run:
        with TerminalDisplay() as display:
            result = run.dry_run(arguments.params, games, options, display)
        if not arguments.json:
            from tuner.diagnostics.dry_run import dry_run_lines

            show_result(dry_run_lines(result))
        return result
    if arguments.output is None:
        raise InputError("expected -o OUT, the parameter file to write, or --dry-run")
    with TerminalDisplay() as display, executor_of(arguments.cluster, options.workers, display) as executor:
        result = run.tune(arguments.params, games, Path(arguments.output), options, command_text(arguments), display,
                          executor)
    if not arguments.json:
        from tuner.tuning.result import result_lines

        show_result(result_lines(result))
    return result
