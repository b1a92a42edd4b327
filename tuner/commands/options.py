"""Options that several commands share, the types of their values, and what commands print at the end."""

from __future__ import annotations

import argparse
import importlib
import json
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence

from tuner.io.files import QUIESCENCE
from tuner.io.text import LARGEST_COUNT


class Names(Collection[str]):
    """Choices that are the keys of a table in another module, which is imported when they are asked for."""

    def __init__(self, module: str, table: str, *more: str) -> None:
        self._module, self._table, self._more = module, table, more

    def __iter__(self) -> Iterator[str]:
        yield from getattr(importlib.import_module(self._module), self._table)
        yield from self._more

    def __contains__(self, name: object) -> bool:
        return any(name == other for other in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def add_term_options(parser: argparse.ArgumentParser) -> None:
    """Add --terms."""
    parser.add_argument("--terms", metavar="FILE", action="append", default=[],
                        help="Python file with terms of your own (see evalterms/README.md); may be repeated")


def add_device_option(group: argparse._ActionsContainer, default: str, what: str) -> None:
    """Add --device; `what` runs there."""
    group.add_argument("--device", choices=Names("tuner.device.choose", "DEVICES", "auto"), default=default,
                       help=f"{what}: cpu, gpu (needs CuPy), or auto: a GPU if one is available (default: {default})")


def add_cluster_option(group: argparse._ActionsContainer, what: str) -> None:
    """Add --cluster; `what` runs there."""
    group.add_argument("--cluster", metavar="ADDRESS|local:N",
                       help=f"{what} on the workers of a Dask scheduler, such as tcp://HOST:8786, or in N processes of this "
                            "machine; needs evaltune[cluster], see docs/cluster.md")


def add_gradient_options(group: argparse._ActionsContainer) -> None:
    """Add --gradient and --step."""
    group.add_argument("--gradient", choices=("analytic", "finite-difference", "forward-difference", "central-difference"),
                       default="analytic", metavar="KIND",
                       help="analytic (default), or forward-difference, central-difference or finite-difference (the same as "
                            "central): differences of the evaluation itself, slow, a check of the analytic ones")
    group.add_argument("--step", type=between(1e-6, 1e4, "1"), metavar="CP",
                       help="step of the differences in centipawns (default: central 0.01, forward 1)")


def add_read_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose games and positions."""
    group = parser.add_argument_group("which games and positions to read")
    group.add_argument("--positions", choices=("auto", "all", "quiet", "resolve"), default="auto",
                       help="quiet: those whose quiescence search changes nothing; resolve: where the quiescence search ends; "
                            "auto (default): the game's choice, for chess quiet positions of games and all labelled positions")
    group.add_argument("--quiescence", metavar="PARAMS",
                       help=f"parameter file of that quiescence search (default: {QUIESCENCE})")
    group.add_argument("--min-elo", type=count, default=0, metavar="N", help="skip games if a player's Elo is below N")
    group.add_argument("--skip-start", type=count, metavar="N",
                       help="skip the first N plies of each game (default: the game's choice, 8 for chess)")
    group.add_argument("--skip-end", type=count, default=0, metavar="N", help="skip the last N plies of each game (default: 0)")
    group.add_argument("--per-game", type=count, metavar="N", help="keep at most N positions of each game, chosen at random")
    group.add_argument("--duplicates", choices=("keep", "games", "positions"), default="games",
                       help="remove repeated games (default), repeated positions too, or keep all")
    group.add_argument("--strict", action="store_true", help="stop at the first bad game instead of skipping it")
    group.add_argument("--seed", type=count, default=1, metavar="N", help="seed of all random choices (default: 1)")


def count(text: str, least: int = 0) -> int:
    """Parse a whole number of `least` or more."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= LARGEST_COUNT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} or more" if value < least else
                                         f"{text!r} is more than {LARGEST_COUNT:,}")
    return value


def at_least_one(text: str) -> int:
    """Parse a whole number of 1 or more."""
    return count(text, 1)


def positive(text: str) -> float:
    """Parse a positive number."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def plies_range(text: str) -> tuple[int, int]:
    """The type of an option FIRST:LAST, two numbers of plies in order."""
    first, separator, last = text.partition(":")
    if not (separator and first.isdecimal() and last.isdecimal() and int(first) <= int(last) <= LARGEST_COUNT):
        raise argparse.ArgumentTypeError(f"{text!r} is not FIRST:LAST, two numbers of plies in order, such as 10:50")
    return int(first), int(last)


def between(low: float, high: float, example: str) -> Callable[[str], float]:
    """Return the type of an option that is a number strictly between two others."""

    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low
        if not low < value < high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number between {low:g} and {high:g}, such as {example}")
        return value

    return number


def gradient_named(text: str) -> str:
    """The kind of gradient: `finite-difference` is short for central."""
    return "central-difference" if text == "finite-difference" else text


def unit(text: str) -> float:
    """Parse a number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1, such as 0.7")
    return value


def given_options(arguments: argparse.Namespace, add_arguments: Callable[[argparse.ArgumentParser], None]) -> dict[str, str]:
    """Return the options that the user typed, each as its longest name by the name of its value."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    words = arguments.words
    found, _ = parser.parse_known_args(words[words.index(arguments.command) + 1:])
    actions = [action for action in parser._actions if hasattr(found, action.dest)]
    return {action.dest: (action.option_strings or [action.dest])[-1] for action in actions}


def require_nothing_else(arguments: argparse.Namespace, add_arguments: Callable[[argparse.ArgumentParser], None],
                         kept: Sequence[str]) -> None:
    """InputError for options beside --resume that would change the run that continues; those in `kept` may be given."""
    from games.streams import InputError

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    usual = vars(parser.parse_args([]))
    allowed = [f"--{name}" for name in kept if name in usual and name != "resume"]
    for name, value in vars(arguments).items():
        if name in usual and name not in kept and value != usual[name]:
            words = next((action.option_strings for action in parser._actions if action.dest == name), [])
            raise InputError(f"{words[-1] if words else value}: a resumed run keeps its settings; with --resume only "
                             f"{', '.join(allowed)} and --json can be given")


def finish(arguments: argparse.Namespace, lines: Sequence[str], plain: dict, interrupted: bool) -> dict:
    """Print the result of a long command, and exit with status 130 if it was interrupted."""
    if not arguments.json:
        print("\n".join(lines))
    if interrupted:
        if arguments.json:
            print(json.dumps(plain, indent=1, allow_nan=False))
        raise SystemExit(130)
    return plain


def command_text(arguments: argparse.Namespace) -> str:
    """Return the command as the user typed it; runs and learned files record it."""
    return "tuner " + shlex.join(arguments.words)


def share(text: str) -> float:
    """Parse a number from 0 to below 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to below 1, such as 0.1")
    return value


def read_options(arguments: argparse.Namespace):
    """Return the ReadOptions for the arguments of `add_read_options`."""
    from games.record import ReadOptions

    return ReadOptions(positions=arguments.positions, min_elo=arguments.min_elo, skip_start=arguments.skip_start,
                       skip_end=arguments.skip_end, per_game=arguments.per_game or 0, duplicates=arguments.duplicates,
                       strict=arguments.strict, seed=arguments.seed)
