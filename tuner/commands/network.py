"""Learn a small network from values of positions: our own searches, recorded scores, an engine's searches, or results.

PARAMS is the evaluation that searches, whose scale the network gets, and with which it is compared on held-out games. The network
sees the board alone; `tuner match` and `tuner eval` take its file as they take a parameter file.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from tuner.commands.headroom import add_value_options, add_workers, value_options
from tuner.commands.options import (
    add_device_option,
    add_read_options,
    add_term_options,
    at_least_one,
    command_text,
    count,
    positive,
    share,
)
from tuner.commands.selfplay_network import ACTIVATIONS, widths

USAGE = "PARAMS GAMES [GAMES ...] -o NET.yaml [options]"
EXAMPLE = """examples:
  tuner network classic games.pgn.zst -o net.yaml
  tuner network classic games.pgn.zst --encoding compressed200 --hidden 32,16 \\
    -o net.yaml
  tuner match net.yaml classic --nodes 10000
"""
PER_GAME = 50  # positions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", help="parameter file, or a bundled one: classic, zero, ...")
    parser.add_argument("games", metavar="GAMES", nargs="+",
                        help="files of games or labelled positions, folders of them, or - for standard input")
    parser.add_argument("-o", "--output", metavar="NET.yaml", required=True,
                        help="network to write: its weights go to NET.npz beside it")
    group = parser.add_argument_group("network")
    group.add_argument("--encoding", metavar="NAME",
                       help="what it sees of a position (default: bitboard768 for chess; docs/networks.md lists them)")
    group.add_argument("--hidden", type=widths, default=(64,), metavar="N[,N...]",
                       help="units of each hidden layer, 0 for a single neuron (default: 64)")
    group.add_argument("--activation", choices=ACTIVATIONS, default="relu", help="of hidden layers (default: relu)")
    group = parser.add_argument_group("learning")
    group.add_argument("--epochs", type=at_least_one, metavar="N",
                       help="at most N (default: 60); it ends sooner if games set aside are predicted no better")
    group.add_argument("--learning-rate", type=positive, metavar="N", help="of Adam, at the beginning (default: 0.002)")
    group.add_argument("--batch", type=at_least_one, metavar="N", help="positions per step, of whole games (default: 1024)")
    group.add_argument("--sample", type=lambda text: count(text, 1000), metavar="N",
                       help="learn from and measure on at most N positions, of games chosen at random (default: all)")
    group.add_argument("--held-out", type=share, default=0.1, metavar="SHARE",
                       help="share of the games that is held out, by whole openings, to measure on (default: 0.1)")
    add_value_options(parser)
    add_term_options(parser)
    add_read_options(parser)
    group = add_workers(parser)
    add_device_option(group, "auto", "where the network learns")


def run(arguments: argparse.Namespace) -> dict:
    import tempfile

    from games.streams import InputError
    from tuner.commands.display import TerminalDisplay, show_result
    from tuner.device.choose import arrays_named
    from tuner.engine.loading import parameter_path, sources_for
    from tuner.headroom import supervised
    from tuner.headroom.sample import sampled
    from tuner.networks.files import require_network_writable, write_network
    from tuner.networks.learn import LearnOptions
    from tuner.parameters.heading import game_of

    output, games = Path(arguments.output), sources_for(arguments.params, arguments.games)
    if arguments.held_out == 0:
        raise InputError("--held-out 0: nothing would be left to measure on; expected a share such as 0.1")
    require_network_writable(output, (arguments.params, *arguments.games, *arguments.terms, arguments.teacher,
                                      arguments.quiescence))
    _require_positions(games)
    supervised.chosen_encoding(game_of(parameter_path(arguments.params)), arguments.encoding)
    arrays = arrays_named(arguments.device)
    options = supervised.with_options(LearnOptions(), arguments.seed, arguments.epochs, arguments.learning_rate, arguments.batch)
    shape = supervised.Shape(arguments.encoding, arguments.hidden, arguments.activation)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder, TerminalDisplay() as display:
        sample = sampled(arguments.params, games, value_options(arguments), arguments.sample or 1 << 62, Path(folder),
                         display, PER_GAME)
        network, found = supervised.learned_network(sample, arguments.params, shape, arguments.held_out, options, arrays,
                                                    command_text(arguments), display)
    write_network(output, network)
    found = {"command": command_text(arguments), "output": str(output), **found}
    if not arguments.json:
        game = sample.begun.game
        show_result([*supervised.lines_of(found, output), *(
            [f"next: tuner match {shlex.quote(str(output))} {shlex.quote(arguments.params)} "
             f"{'--nodes 10000' if game.deepest is None else '--games 2000'}"]
            if game is not None and game.searcher is not None else [])])
    return found


def _require_positions(sources: list[str]) -> None:
    """InputError for a dataset among the sources, with the files that it was made from."""
    from games.streams import InputError
    from tuner.datasets.format import is_dataset
    from tuner.datasets.reader import open_dataset

    for source in sources:
        if source != "-" and is_dataset(source):
            files = [str(made["file"]) for made in open_dataset(source, check=False).manifest["sources"] if made.get("file")]
            named = ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
            raise InputError(f"{source}: a dataset holds counts of one evaluation, not the positions that a network sees; name "
                             f"the games that it was made from{': ' + named if files else ''}")
