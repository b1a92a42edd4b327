"""The common part of `tuner uci`, `tuner usi` and `tuner ubgi`: an engine that plays with the
parameters of one game."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from games.streams import InputError, one_line
from tuner.core.records import MAX_COUNT
from tuner.options.option import TERMS, Arguments, Option, Table, flag, options_in, refuse
from tuner.options.selfplay import OTHERS, SelfplayOptions, SelfplaySettings

if TYPE_CHECKING:
    from games.protocol.server import Watcher

LEARN = Option(
    ("--learn",),
    "learn from each game that is played, by TD-Leaf, and replace PARAMS, or write FILE",
    metavar="FILE",
    nargs="?",
)
RUN = Option(
    ("--run",), "folder of what is learned with --learn (default: FILE-games)", metavar="DIR"
)
LEARNING = "lambda_ learner learning_rate half_life floor batch fixed"  # options of self-play
DEFAULTS = {"batch": 1}
RATES, HALF_LIFE = {"sgd": 2.0, "adam": 0.4}, 1600.0  # of weights, a game at a time
HELP = {
    "learner": "adam (default): steps of about one size; sgd: steps that follow the size of errors,"
    " as in KnightCap",
    "learning_rate": f"adam: centipawns of a typical step (default: {RATES['adam']:g}); sgd: for"
    " an error of 1 of a position whose v changes by its scale a centipawn (default:"
    f" {RATES['sgd']:g}; KnightCap 0.1, EXchess 0.255); of networks: in their weights (default:"
    " adam 0.0003, sgd 0.01)",
    "batch": "games per step (default: 1; KnightCap 10)",
    "half_life": "games until the learning rate is half of the first, which after as many again is"
    f" a third (default: {HALF_LIFE:,.0f}; of networks 200)",
}


def serving_table(default: str, weight: str = "", learns: bool = False) -> Table:
    """Return the options of `serve`; `weight` is an example of a weight, for a protocol in which
    engines have options; `learns`: the engine can learn from its games."""
    settable = flag(
        "--options",
        f"offer every weight as an option of the engine, such as {weight}, in whole centipawns",
    )
    return (
        Option(
            ("params",),
            f"parameter file or network, or a bundled one (default: {default})",
            default=default,
            metavar="PARAMS",
            nargs="?",
        ),
        *([settable] if weight else []),
        *([LEARN, RUN, *_learning_options()] if learns else []),
        TERMS,
    )


def _learning_options() -> Iterator[Option]:
    """Yield the options of self-play that an engine which learns has, with its defaults."""
    for each in options_in(SelfplayOptions, LEARNING):
        choices = RATES if each.name == "learner" else each.choices
        default, about = DEFAULTS.get(each.name, each.default), HELP.get(each.name, each.help)
        yield replace(each, help=about, choices=choices, default=default)


def _learning(arguments: Arguments) -> tuple[Path, Path, SelfplaySettings, Collection[str]]:
    """Return the file that is learned, the folder of the run, its settings, and those typed."""
    from tuner.evaluation.loading import parameter_path
    from tuner.evaluation.networks.files import holds_network
    from tuner.io.files import BUNDLED
    from tuner.io.run_folder import kind_of
    from tuner.play.selfplay.settings import selfplay_settings

    start = parameter_path(arguments.params)
    output = Path(arguments.learn or start)
    if output.resolve().is_relative_to(BUNDLED):
        raise InputError(
            f"--learn: {arguments.params} comes with the package and is never replaced; name a file"
            " to write: --learn learned.yaml"
        )
    folder = Path(arguments.run or output.with_name(f"{output.stem}-games"))
    if arguments.learn and output.exists() and not kind_of(folder):
        raise InputError(f"--learn {output}: exists; choose another file, or name it as PARAMS")
    usual = {"opponents": (OTHERS,), "method": "td-leaf", "games": MAX_COUNT}
    given = arguments.given_for(SelfplayOptions)
    given = {name: given[name] for name in LEARNING.split() if name in given}
    if not holds_network(start):
        learner = given.get("learner", "adam")
        rate = {"learning_rate": RATES[learner], "half_life": HALF_LIFE}
        usual |= {"learner": learner, **rate}
    settings = selfplay_settings(str(start), {**DEFAULTS, **usual, **given}, arguments.terms)
    return output, folder, settings, given


def serve(
    arguments: Arguments,
    game: str,
    protocol: str,
    settable: bool = False,
    remark: str = "info string",
    **more: int,
) -> None:
    """Speak the protocol of this game on standard input and output, until its end; `settable`:
    weights are options of the engine; `remark` begins a line for the user; `more` is passed to the
    `serve` of the protocol."""
    import importlib
    import sys

    from tuner.evaluation.served import ServedEvaluation
    from tuner.version import __version__

    learns = "learn" in arguments.given
    of_learning = {"run", *LEARNING.split()}
    typed = [each.names[0] for each in arguments.typed() if each.name in of_learning]
    refuse((option, not learns, "is for --learn") for option in typed)
    refuse((("--options", learns and settable, "weights that are learned are no options"),))

    def path_of(name: str | None) -> Path:
        from tuner.evaluation.loading import parameter_path
        from tuner.parameters.reader import game_of

        path = parameter_path(name or arguments.params)
        if game_of(path) != game:
            raise InputError(f"{path}: an evaluation of {game_of(path)}, expected {game}")
        return path

    def read(name: str | None):
        from games.record import find
        from tuner.evaluation.own_numbers import named_weights

        return find(game), named_weights(path_of(name), arguments.terms)

    def load(name: str | None):
        from tuner.evaluation.evaluation import load_evaluation
        from tuner.evaluation.own_numbers import require_linear

        if learns and name is not None:
            raise InputError(f"{name}: an engine that learns keeps the evaluation that it learns")
        require_linear(path_of(name), (f"--terms {file}" for file in arguments.terms))
        return load_evaluation(path_of(name), arguments.terms)

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    # loads heavy modules only when they are needed
    server = importlib.import_module(f"games.{game}.engines.{protocol}")
    evaluation = ServedEvaluation(read, load, settable, learns)
    lines = server.lines_of(sys.stdin.buffer)
    name = f"evaltune {__version__}"
    if not learns:
        server.serve(evaluation, lines, write, name, arguments.params, **more)
        return

    from tuner.play.selfplay.engine import learn_while_playing

    def speak(watcher: Watcher) -> None:
        server.serve(evaluation, lines, write, name, arguments.params, watcher, **more)

    def say(text: str) -> None:
        write(f"{remark} {one_line(text)}")

    path_of(None)
    output, folder, settings, given = _learning(arguments)
    learn_while_playing(
        output, folder, settings, evaluation.replace, speak, say, arguments.text, given
    )
