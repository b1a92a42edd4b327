"""The command line: `tuner COMMAND ...`. Each command is a module of `tuner.commands`, imported
only when it is used."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import errno
import importlib
import io
import json
import logging
import math
import os
import re
import shlex
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tuner.commands.completion import SHELLS, completion_of
from tuner.io.interrupt import INTERRUPTED, ended_after, prompt_interrupts, status_of_interrupt
from tuner.options.parser import Help, Parser, nearest
from tuner.version import __version__

if TYPE_CHECKING:
    from tuner.results.result import Found

# The matrices here are small: the threads of a linear algebra library would wait longer than they
# work.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

GROUPS = {  # each command with its purpose
    "tune": {
        "tune": "tune a parameter file on games",
        "selfplay": "tune by self-play",
        "improve": "make your engine stronger: source in, patch out",
        "optimize": "tune engine options and search constants by games",
        "network": "train a small network on values of positions",
    },
    "play": {
        "games": "play games to learn from",
        "match": "play two files or engines, with Elo or SPRT",
        "tournament": "rate several players",
        "uci": "play in any chess program",
        "xboard": "play in xboard and programs like it",
        "usi": "play in any shogi program",
        "ubgi": "play in any backgammon program",
    },
    "look": {
        "diff": "compare parameter files",
        "eval": "explain the evaluation of a position",
        "report": "write an HTML report of a run",
        "watch": "follow a run in the browser",
        "wdl": "fit win, draw and loss to search scores",
    },
    "convert": {
        "params": "check, complete or create a parameter file",
        "export": "write the weights out, or straight into your engine's source",
        "trace": "generate the header that lets your engine print its feature counts",
        "dataset": "cache feature counts so that repeated fits are fast",
    },
}
SERVERS = ("uci", "xboard", "usi", "ubgi", "watch")  # they have no result to print as JSON
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
EPILOG = """start here:
  tuner tune classic samples -o learned.yaml
  tuner diff classic learned.yaml

`tuner COMMAND --help` explains a command.

completion in bash: eval "$(tuner --print-completion bash)"
"""


class _Grouped(Help):
    """Help that shows the commands in their groups."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=16)

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        titles, lines = {next(iter(group)): title for title, group in GROUPS.items()}, []
        for one in action._get_subactions():
            if one.dest in titles:
                lines.append(f"  {titles[one.dest]}\n")
            self._indent()
            lines.append(super()._format_action(one))
            self._dedent()
        return "".join(lines)


class _PrintCompletion(argparse.Action):
    """Print a shell's script for completion, and end."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        print(completion_of(make_parser(COMMANDS, True)[0], str(values)))
        parser.exit()


def make_parser(
    names: Collection[str | None], everything: bool = False
) -> tuple[Parser, Mapping[str, Parser]]:
    """The parser of the whole command line, and the parsers of its commands; only `names` of them
    have their arguments. Their help shows seldom-used options if `everything`."""
    parser = Parser(
        prog="tuner",
        usage="tuner COMMAND [options]",
        add_help=False,
        formatter_class=_Grouped,
        epilog=EPILOG,
        description="Learn the weights of a hand-written evaluation from games.",
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", prog="tuner", parser_class=Parser
    )
    options = parser.add_argument_group("options")
    options.add_argument("-h", "--help", action="help", help="show this help message and exit")
    options.add_argument("-V", "--version", action="version", version=f"evaltune {__version__}")
    options.add_argument(
        "--print-completion",
        choices=SHELLS,
        metavar="SHELL",
        action=_PrintCompletion,
        help=f"print a script that completes commands, options and files, for {', '.join(SHELLS)}",
    )
    for name, text in COMMANDS.items():
        if name in names:
            module = importlib.import_module(f"tuner.commands.{name}")
            own = commands.add_parser(
                name,
                help=text,
                usage=f"tuner {name} {module.USAGE}",
                description=module.__doc__,
                epilog=module.EXAMPLE,
                formatter_class=Help,
            )
            from tuner.options.option import JSON, OtherCommands, add_to, all_in

            table = module.TABLE if name in SERVERS else (*module.TABLE, JSON)
            if any(each.seldom for each in all_in(module.TABLE)):
                more = "show this help message with all options, and exit"
                own.add_argument("--help-all", action="help", help=more)
            add_to(own, module.TABLE, everything)
            if name not in SERVERS:
                JSON.add_to(own)
            commands_in = OtherCommands(require_command, perform)
            own.set_defaults(perform=module.run, table=table, commands=commands_in)
        else:
            commands.add_parser(name, help=text, add_help=False)
    return parser, commands.choices


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, that of `sys.argv` by default; returns the exit status: 0 success, 1 a failure
    of the program, 2 a usage error, reported in one line."""
    if sys.stdout is None:
        _say("tuner: standard output is closed; use > /dev/null to discard it")
        return 2
    make_usable()
    try:
        with prompt_interrupts():
            try:
                return _perform(list(sys.argv[1:] if arguments is None else arguments))
            finally:
                sys.stdout.flush()
    except KeyboardInterrupt:
        _say("tuner: interrupted; no unfinished file is left")
        if arguments is None:
            # A process of its own ends here, with the exception alive: objects and packages that it
            # left half made may complain as they are deleted, or crash as the interpreter ends.
            atexit._run_exitfuncs()
            os._exit(status_of_interrupt())
        return status_of_interrupt()
    except BrokenPipeError:  # the reader has closed the pipe: no error for the user
        _discard_output()
        return 1
    except OSError as problem:
        text = trouble(problem)
        if text is None:
            raise
        _say(f"tuner: {text}")
        return 2


# disk full, quota, file size limit, device error, read-only, too many open files: problems of the
# system, not of the program
ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE)


def make_usable() -> None:
    """Print characters that the encoding lacks as escapes, and connect closed streams to the null
    device."""
    if os.environ.get("COLUMNS") == "0":  # of terminals without a size, where nothing would fit
        del os.environ["COLUMNS"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                opened = os.open(os.devnull, os.O_RDWR)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
            setattr(
                sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False)
            )
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def trouble(problem: OSError) -> str | None:
    """Return an error message for output that a full disk or a broken device refused; None for
    other errors."""
    if problem.errno not in ROOM:
        return None
    try:
        sys.stdout.flush()
    except OSError:  # it would fail again at exit, with a traceback
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # files are named, standard output is not
    where = os.fsdecode(problem.filename) if problem.filename else "output"
    return f"{where}: cannot be written: {problem.strerror}; make room, or choose another place"


HOME = re.compile(r"^(--[\w-]+=)(~)(?=/|$)")
LONG = re.compile(r"\d{41,}")  # numbers that are not printed whole


def _discard_output() -> None:
    """Send what is still to be printed to the null device: it would fail again when Python
    exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _perform(arguments: list[str]) -> int:
    try:
        parsed = parse(arguments)
    except Exception as problem:
        from games.streams import InputError

        if not isinstance(
            problem, InputError
        ):  # choices are imported: a Numba that is too new is refused
            raise
        _say(f"tuner: {problem}")
        return 2
    if parsed is None:
        return 0
    from games.streams import InputError

    show_warnings()
    try:
        result: Found | None = parsed.perform(parsed)
        if result is None:  # of a server
            return 0
        if parsed.json:
            print(json.dumps(result.result, indent=1, allow_nan=False))
        else:
            from tuner.commands.display import show_found

            show_found(result)
        return status_of_interrupt() if result.status == INTERRUPTED else result.status
    except InputError as problem:
        _say(f"tuner: {problem}")
        return 2
    except MemoryError as problem:
        _say(f"tuner: out of memory: {problem or 'the data do not fit'}")
        return 1
    finally:
        if "games.compile.jit" in sys.modules:
            sys.modules["games.compile.jit"].compilation.finish()


def parse(arguments: Sequence[str]) -> Any:
    """The arguments of a command; None if there are none, so that the help was printed. Errors and
    --help raise SystemExit."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    # shells leave ~ as it is within a word
    arguments = [HOME.sub(lambda m: m[1] + os.path.expanduser(m[2]), word) for word in arguments]
    words = [
        word
        for before, word in zip(["", *arguments], arguments, strict=False)
        if not word.startswith("-") and before != "--print-completion"
    ]
    command = words[0] if words else None
    parser, commands = make_parser([command], "--help-all" in arguments)
    if not arguments:
        parser.print_help()
        return None
    if command in COMMANDS:
        at = arguments.index(command)
        parser.require_known_options(arguments[:at])
        commands[command].require_known_options(arguments[at + 1 :])
        parsed, others = parser.parse_known_args(arguments)
        if others:
            commands[command].error(f"unexpected {shlex.join(others)}")
        from tuner.options.option import Arguments

        return Arguments(parsed, "tuner " + shlex.join(arguments))
    if command is not None:
        parser.error(f"no command {command!r}{nearest(command, list(COMMANDS))}")
    parser.require_known_options(arguments)
    parser.parse_args(arguments)
    parser.error("expected a COMMAND")


def require_command(words: Sequence[str]) -> Any:
    """Return the arguments of a command; InputError if its words are wrong."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return parse(list(words))
    except SystemExit:
        from games.streams import InputError

        raise InputError(said.getvalue().strip()) from None


def perform(words: Sequence[str], seconds: float = math.inf) -> dict:
    """Perform a command within another one, and return its result; if it plays games, what it has
    found after some `seconds`. InputError as the command itself has; KeyboardInterrupt if it was
    interrupted."""
    parsed = require_command(words)
    with ended_after(min(seconds, threading.TIMEOUT_MAX)) as over:
        result: Found = parsed.perform(parsed)
    if result.status == INTERRUPTED and not over.is_set():
        raise KeyboardInterrupt
    return result.result


def _say(text: str) -> None:
    """Print a line on standard error, if it is open."""
    if sys.stderr is not None:
        from games.streams import one_line

        with contextlib.suppress(OSError):
            short = LONG.sub(lambda match: match[0][:40] + "...", one_line(text))
            print(short, file=sys.stderr, flush=True)


class _Notes(logging.Handler):
    """Shows each message as a note."""

    def emit(self, record: logging.LogRecord) -> None:
        from tuner.commands.display import show_note

        show_note(record.getMessage())


def show_warnings() -> None:
    """Show the warnings of library code as notes from now on."""
    log = logging.getLogger("tuner")
    if not any(isinstance(handler, _Notes) for handler in log.handlers):
        log.addHandler(_Notes(logging.WARNING))


if __name__ == "__main__":
    sys.exit(main())
