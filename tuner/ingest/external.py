"""External engines as sources of evaluations, several processes of one engine side by side."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from games.evaluators import EvaluationPattern, Evaluator
from games.record import Game
from games.streams import InputError

BOOK = "OwnBook"  # moves of a book have no scores
MEGABYTES = 4  # of the tables of an engine whose searches are short: clearing larger ones takes longer than searching


def command_of(text: str) -> str:
    """Return the command of `uci:COMMAND`; InputError for other texts."""
    protocol, separator, command = text.partition(":")
    if protocol != "uci" or not separator or not command.strip():
        raise InputError(f'{text}: not an engine that evaluates positions, expected "uci:COMMAND"')
    return command


def evaluator_of(game: Game, text: str, values: Mapping[str, object], pattern: EvaluationPattern | None = None) -> Evaluator:
    """Start the engine `uci:COMMAND` with options; InputError if that fails.

    Unless given, `Hash` is small and `OwnBook` false, if the engine has these options.
    """
    make = game.matches.evaluator
    if make is None:
        raise InputError(f"{text}: {game.name} has no uci engines")
    engine = make(command_of(text), values, pattern)
    given = {name.lower() for name in values}
    if BOOK in engine.options and BOOK.lower() not in given:
        engine.set({BOOK: "false"})
    table = engine.options.get("Hash")
    if table is not None and table.low is not None and table.high is not None and "hash" not in given:
        engine.set({"Hash": min(max(MEGABYTES, table.low), table.high)})
    return engine


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
