"""External engines as sources of evaluations, several processes of one engine side by side."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from games.evaluators import EvaluationPattern, Evaluator
from games.record import Game, available, find
from games.streams import InputError
from tuner.cluster.program import program
from tuner.io.files import sha256_of
from tuner.parameters.parameters import DEFAULT_GAME

BOOK = "OwnBook"  # moves of a book have no scores
MEGABYTES = 4  # of the tables of an engine whose searches are short: clearing larger ones takes longer than searching


TABLES = "Hash", "USI_Hash"  # options that set their size


def command_of(text: str, expected: str = "uci") -> str:
    """Return the command of `PROTOCOL:COMMAND`; InputError for other texts and protocols."""
    protocol, separator, command = text.partition(":")
    if protocol != expected or not separator or not command.strip():
        raise InputError(f'{text}: not an engine that evaluates positions, expected "{expected}:COMMAND"')
    return command


def game_evaluated_by(text: str) -> str:
    """Return the name of the game whose positions the engine `PROTOCOL:COMMAND` evaluates; the default game for other texts."""
    protocol = text.partition(":")[0]
    return next((name for name in available() if (matches := find(name).matches).evaluator and matches.evaluating == protocol),
                DEFAULT_GAME)


def evaluator_of(game: Game, text: str, values: Mapping[str, object], pattern: EvaluationPattern | None = None) -> Evaluator:
    """Start the engine `uci:COMMAND`, or that of the game's protocol, with options; InputError if that fails.

    Unless given, its tables are small and `OwnBook` false, if the engine has these options.
    """
    make = game.matches.evaluator
    if make is None:
        raise InputError(f"{text}: {game.name} has no engines that evaluate positions")
    engine = make(command_of(text, game.matches.evaluating), values, pattern)
    given = {name.lower() for name in values}
    if BOOK in engine.options and BOOK.lower() not in given:
        engine.set({BOOK: "false"})
    for name in TABLES:
        table = engine.options.get(name)
        if table is not None and table.low is not None and table.high is not None and name.lower() not in given:
            engine.set({name: min(max(MEGABYTES, table.low), table.high)})
    return engine


def program_files(text: str, values: Mapping[str, object], engine: Evaluator) -> dict[str, str]:
    """Return the sha256 of the program of `PROTOCOL:COMMAND` and of the files that its arguments and
    options name, by their names: a program that was built again is another one. Of our own program
    the sources count, too."""
    words = shlex.split(text.partition(":")[2])
    path = Path(os.path.realpath(shutil.which(words[0]) or words[0]))
    given = [str(value) for value in values.values()]
    defaults = [option.default for option in engine.options.values() if option.default]
    named = [str(path), *words[1:], *(word.partition("=")[2] for word in words[1:]), *given,
             *defaults, *(str(path.parent / name) for name in (*given, *defaults))]
    weights = [str(Path(name).with_suffix(".npz")) for name in named if name.endswith(".yaml")]
    found = {name: sha256_of(name) for name in (*named, *weights) if name and os.path.isfile(name)}
    ours = path.stem == "tuner" or "tuner" in words
    return found | ({"sources": program()["sources"]} if ours else {})


@contextlib.contextmanager
def evaluators(game: Game, text: str, values: Mapping[str, object], workers: int,
               pattern: EvaluationPattern | None = None) -> Iterator[list[Evaluator]]:
    """Yield so many processes of an engine, ended after the block."""
    found: list[Evaluator] = []
    try:
        for _ in range(workers):
            found.append(evaluator_of(game, text, values, pattern))
        yield found
    finally:
        for engine in found:
            engine.close()
