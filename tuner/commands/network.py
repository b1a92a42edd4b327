"""Train a small network on values of positions: search values, recorded scores, teacher's scores or
results.

PARAMS searches the positions, provides the scale, and is compared with the network on held-out
games. `tuner match`, `eval` and `uci` accept the network file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tuner.core.records import InputError, Positive, PositiveCount, whole
from tuner.options.option import (
    READING,
    TERMS,
    Arguments,
    Option,
    Table,
    Title,
    Widths,
    device,
    held_out,
    options_in,
    output,
    params,
    widths,
)
from tuner.options.selfplay import BOARD, Activation, Inputs
from tuner.options.tune import ValueOptions

if TYPE_CHECKING:
    from tuner.results.trained import Trained

USAGE = "PARAMS GAMES [GAMES ...] -o NET.yaml [options]"
EXAMPLE = """examples:
  tuner network classic games.pgn.zst -o net.yaml
  tuner network classic games.pgn.zst --encoding compressed200 --hidden 32,16 \\
    -o net.yaml
  tuner match net.yaml classic --nodes 10000
"""
PER_GAME = 50  # positions
TABLE: Table = (
    params(),
    Option(
        ("games",),
        "files of games or labeled positions, folders of them, or - for standard input",
        metavar="GAMES",
        nargs="+",
    ),
    output("network to write: its weights go to NET.npz next to it", "NET.yaml", required=True),
    Option(
        ("--write-positions",),
        "write positions and values (0 to 1, first player) as labeled positions `fen,result`",
        metavar="OUT",
    ),
    TERMS,
    Title("network"),
    Option(
        ("--encoding",),
        "its inputs (default: bitboard768 for chess; docs/networks.md lists them)",
        metavar="NAME",
    ),
    Option(
        ("--inputs",),
        "the squares of the board, counts of the terms of the game, or both (default: board)",
        default=BOARD,
        kind=Inputs,
    ),
    Option(
        ("--hidden",),
        "units of each hidden layer, 0 for a single neuron (default: 64)",
        Widths,
        (64,),
        read=widths,
        metavar="N[,N...]",
    ),
    Option(("--activation",), "of hidden layers (default: relu)", kind=Activation, default="relu"),
    Title("learning"),
    Option(
        ("--loss",),
        "cross-entropy of expected scores (default), or their squared error",
        default="cross-entropy",
        choices=("cross-entropy", "mse"),
    ),
    Option(
        ("--repeats",),
        "train N networks from different random weights, and keep the best (default: 1)",
        PositiveCount,
        1,
        metavar="N",
    ),
    Option(
        ("--epochs",),
        "at most N epochs (default: 60); training stops early if validation does not improve",
        PositiveCount,
        metavar="N",
    ),
    Option(
        ("--learning-rate",), "of Adam, at the beginning (default: 0.002)", Positive, metavar="N"
    ),
    Option(
        ("--batch",),
        "positions per step, of whole games (default: 1024)",
        PositiveCount,
        metavar="N",
    ),
    Option(
        ("--sample",),
        "use at most N positions, of randomly chosen games (default: all)",
        whole(1000),
        metavar="N",
    ),
    held_out("share of the games that is held out, by whole openings, to measure on", 0.1),
    Title("values of positions"),
    *options_in(ValueOptions, "method depth lambda_ teacher nodes"),
    *READING,
    Title("machine"),
    *options_in(ValueOptions, "workers"),
    device("auto", "where the network learns"),
)


def run(arguments: Arguments) -> Trained:
    import tempfile
    from dataclasses import replace

    from tuner.commands.display import TerminalDisplay
    from tuner.evaluation.loading import parameter_path, sources_for
    from tuner.evaluation.networks.evaluation import chosen_encoding
    from tuner.evaluation.networks.files import (
        require_network_writable,
        weights_path,
        write_network,
    )
    from tuner.evaluation.networks.learn import LearnOptions
    from tuner.fit.device.choose import arrays_named
    from tuner.io.files import EXPORT, replace_file, require_writable
    from tuner.learn.sample import read_sample
    from tuner.network import Shape, learned_network
    from tuner.parameters.reader import game_of
    from tuner.results.trained import Trained

    output, games = Path(arguments.output), sources_for(arguments.params, arguments.games)
    if arguments.held_out == 0:
        raise InputError(
            "--held-out 0: nothing would be left to measure on; expected a share such as 0.1"
        )
    require_network_writable(
        output,
        (
            arguments.params,
            *arguments.games,
            *arguments.terms,
            arguments.teacher,
            arguments.quiescence,
        ),
    )
    if arguments.write_positions is not None:
        require_writable(Path(arguments.write_positions), EXPORT, (*arguments.games, str(output)))
    _require_positions(games)
    encoding = chosen_encoding(
        game_of(parameter_path(arguments.params)), arguments.encoding, arguments.inputs
    )
    arrays = arrays_named(arguments.device)
    chosen = {
        "epochs": arguments.epochs,
        "rate": arguments.learning_rate,
        "batch": arguments.batch,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    options = LearnOptions(seed=arguments.seed, loss=arguments.loss, **given)
    shape = Shape(encoding, arguments.hidden, arguments.activation)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder, TerminalDisplay() as display:
        settings = ValueOptions(**arguments.given_for(ValueOptions)).tuning(arguments.terms)
        sample = read_sample(
            arguments.params,
            games,
            settings,
            arguments.sample or 1 << 62,
            Path(folder),
            display,
            PER_GAME,
        )
        if arguments.write_positions is not None:
            replace_file(Path(arguments.write_positions), sample.text(arguments.text))
        learned = [
            learned_network(
                sample,
                arguments.params,
                shape,
                arguments.held_out,
                replace(options, seed=options.seed + k),
                arrays,
                arguments.text,
                str(output),
                display,
            )
            for k in range(arguments.repeats)
        ]
    network, found = min(learned, key=lambda one: min(line["aside"] for line in one[1].epochs))
    write_network(output, network)
    game = sample.begun.game
    length = "--nodes 10000" if game and game.contest.deepest is None else "--games 2000"
    plays = game is not None and game.contest.searcher is not None
    return Trained(
        found=found,
        repeats=tuple(one for _, one in learned),
        weights_file=weights_path(output).name,
        match=f"tuner match {shlex.quote(str(output))} {shlex.quote(arguments.params)} {length}"
        if plays
        else None,
    )


def _require_positions(sources: list[str]) -> None:
    """InputError for a dataset among the sources, with the files that it was made from."""
    from tuner.datasets.files import is_dataset
    from tuner.datasets.reader import open_dataset

    for source in sources:
        if source != "-" and is_dataset(source):
            files = [
                str(made["file"])
                for made in open_dataset(source, check=False).manifest["sources"]
                if made.get("file")
            ]
            named = ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
            raise InputError(
                f"{source}: a dataset holds counts of one evaluation, not positions; name the games"
                f" that it was built from{': ' + named if files else ''}"
            )
