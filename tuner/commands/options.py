"""Options that several commands share: which games and positions to read, and the terms they are counted with."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Sequence

from tuner.io.files import QUIESCENCE
from tuner.io.text import LARGEST_COUNT


def add_term_options(parser: argparse.ArgumentParser) -> None:
    """Terms of the user's own."""
    parser.add_argument("--terms", metavar="FILE", action="append", default=[],
                        help="a Python file with terms of your own (see evalterms/README.md); may be repeated")


def add_device_option(group: argparse._ActionsContainer, default: str, what: str) -> None:
    """Where passes run."""
    group.add_argument("--device", choices=("auto", "cpu", "gpu"), default=default,
                       help=f"{what}: gpu needs CuPy and a card, auto takes one if there is one (default: {default})")


def add_gradient_options(group: argparse._ActionsContainer) -> None:
    """How derivatives are computed."""
    group.add_argument("--gradient", choices=("analytic", "finite-difference", "forward-difference", "central-difference"),
                       default="analytic",
                       help="analytic (default), or finite differences of the compiled evaluation with moved weights, central "
                            "unless said: slow, and right for terms that are not linear in their numbers")
    group.add_argument("--step", type=between(1e-6, 1e4, "1"), metavar="CP",
                       help="of finite differences, in centipawns (default: 0.01 central, 1 forward)")


def add_read_options(parser: argparse.ArgumentParser) -> None:
    """Which games and positions to take."""
    group = parser.add_argument_group("which games and positions")
    group.add_argument("--positions", choices=("auto", "all", "quiet", "resolve"), default="auto",
                       help="quiet: where quiescence finds nothing; resolve: where quiescence ends; auto (default): the "
                            "game's own choice, for chess quiet positions of games and all labelled positions")
    group.add_argument("--quiescence", metavar="PARAMS",
                       help=f"parameters by which a position is quiet (default: {QUIESCENCE})")
    group.add_argument("--min-elo", type=count, default=0, metavar="N", help="games of which both players have this Elo")
    group.add_argument("--skip-start", type=count, metavar="N",
                       help="leave out the first plies (default: the game's own choice, 8 for chess)")
    group.add_argument("--skip-end", type=count, default=0, metavar="N", help="leave out the last plies")
    group.add_argument("--per-game", type=count, metavar="N", help="at most so many positions a game, at random")
    group.add_argument("--duplicates", choices=("keep", "games", "positions"), default="games",
                       help="leave out repeated games (default), repeated positions too, or nothing")
    group.add_argument("--strict", action="store_true", help="stop at the first bad game instead of skipping it")
    group.add_argument("--seed", type=count, default=1, metavar="N", help="of everything random (default: 1)")


def count(text: str, least: int = 0) -> int:
    """A whole number that is not negative."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= LARGEST_COUNT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} or more" if value < least else
                                         f"{text!r} is more than {LARGEST_COUNT:,}")
    return value


def at_least_one(text: str) -> int:
    """A whole number of 1 or more."""
    return count(text, 1)


def positive(text: str) -> float:
    """A positive number."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def between(low: float, high: float, example: str) -> Callable[[str], float]:
    """The type of an option that is a number strictly between two."""

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
    """The kind of gradient: finite differences are central unless said."""
    return "central-difference" if text == "finite-difference" else text


def unit(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1, such as 0.7")
    return value


def require_nothing_else(arguments: argparse.Namespace, add_arguments: Callable[[argparse.ArgumentParser], None],
                         kept: Sequence[str]) -> None:
    """InputError for options beside --resume that would make another run of the one that goes on; `kept` may be said."""
    from games.streams import InputError

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    usual = vars(parser.parse_args([]))
    allowed = [f"--{name}" for name in kept if name in usual and name != "resume"]
    for name, value in vars(arguments).items():
        if name in usual and name not in kept and value != usual[name]:
            words = next((action.option_strings for action in parser._actions if action.dest == name), [])
            told = words[-1] if words else value
            raise InputError(f"{told}: a run that goes on takes nothing but {', '.join(allowed)} and --json")


def tell(arguments: argparse.Namespace, lines: Sequence[str], plain: dict, interrupted: bool) -> dict:
    """Say what came of a long command, and end with the status of an interrupt if it was interrupted."""
    if not arguments.json:
        print("\n".join(lines))
    if interrupted:
        if arguments.json:
            print(json.dumps(plain, indent=1, allow_nan=False))
        raise SystemExit(130)
    return plain


def command_text(arguments: argparse.Namespace) -> str:
    """The command as the user wrote it, which is kept beside what it makes."""
    return "tuner " + shlex.join(arguments.words)


def share(text: str) -> float:
    """A number from 0 to below 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to below 1, such as 0.1")
    return value


def read_options(arguments: argparse.Namespace):
    """The ReadOptions that the arguments of `add_read_options` ask for."""
    from games.record import ReadOptions

    return ReadOptions(positions=arguments.positions, min_elo=arguments.min_elo, skip_start=arguments.skip_start,
                       skip_end=arguments.skip_end, per_game=arguments.per_game or 0, duplicates=arguments.duplicates,
                       strict=arguments.strict, seed=arguments.seed)
