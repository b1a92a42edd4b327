"""The command line: `tuner COMMAND ...`. Each command is a module of `tuner.commands`, imported when it is asked for."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Sequence

from tuner import __version__
from tuner.commands.standard_streams import make_usable, trouble
from tuner.io.interrupt import prompt_interrupts
from tuner.io.text import one_line

# The matrices here are small: threads of a linear algebra library would spend more time waiting than working.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

COMMANDS = {
    "tune": "learn the weights of a parameter file from games",
    "dataset": "turn games into a dataset; inspect, merge and split datasets",
    "selfplay": "learn from games that the search plays with itself",
    "match": "play two players against each other and say which is better",
    "report": "make a page of a run: what was learned, how sure that is, how to repeat it",
    "diff": "compare parameter files",
    "export": "write a parameter file as source text for engines, or as their options",
    "eval": "explain the evaluation of a position",
    "params": "check a parameter file, or add the parameters it lacks",
    "uci": "play under any chess program",
    "bench": "measure the speed of the parts",
}


class Parser(argparse.ArgumentParser):
    """argparse, with errors of one line."""

    def error(self, message: str) -> None:
        self.exit(2, one_line(f"{self.prog}: {message}; see {self.prog} --help") + "\n")


def make_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser of the whole command line; only the arguments of `command` are filled in."""
    parser = Parser(prog="tuner", description="Learn the numbers of a hand-written evaluation from games.",
                    epilog="example: tuner tune classic games.pgn.zst -o learned.yaml && tuner diff classic learned.yaml")
    parser.add_argument("--version", action="version", version=f"evaltune {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, text in COMMANDS.items():
        if name == command:
            module = importlib.import_module(f"tuner.commands.{name}")
            own = commands.add_parser(name, help=text, description=module.__doc__, epilog=module.EXAMPLE,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
            module.add_arguments(own)
            own.add_argument("--json", action="store_true", help="print one JSON object on standard output")
            own.set_defaults(perform=module.run)
        else:
            commands.add_parser(name, help=text, add_help=False)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 done, 1 our fault, 2 the user's mistake, told in one line."""
    if sys.stdout is None:
        _say("tuner: standard output is closed; say > /dev/null to throw it away")
        return 2
    make_usable()
    try:
        with prompt_interrupts():
            try:
                return _perform(list(sys.argv[1:] if arguments is None else arguments))
            finally:
                sys.stdout.flush()
    except KeyboardInterrupt:
        _say("tuner: interrupted; nothing was written under its final name")
        return 130
    except BrokenPipeError:  # nobody reads any more, and nobody has to be told
        _throw_output_away()
        return 1
    except OSError as problem:
        text = trouble(problem)
        if text is None:
            raise
        _say(f"tuner: {text}")
        return 2


def _throw_output_away() -> None:
    """What is still to be printed would fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _perform(arguments: list[str]) -> int:
    command = next((word for word in arguments if word in COMMANDS), None)
    parsed = make_parser(command).parse_args(arguments)
    parsed.words = arguments
    from games.streams import InputError
    from tuner.commands.display import show_warnings

    show_warnings()
    try:
        result = parsed.perform(parsed)
        if parsed.json:
            print(json.dumps(result, indent=1, allow_nan=False))
    except InputError as problem:
        _say(f"tuner: {problem}")
        return 2
    except MemoryError as problem:
        _say(f"tuner: out of memory: {problem or 'no room for what was asked for'}")
        return 1
    finally:
        if "games.jit" in sys.modules:
            sys.modules["games.jit"].compilation.finish()
    return 0


def _say(text: str) -> None:
    """A line on standard error, if there is one that takes it."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(one_line(text), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
