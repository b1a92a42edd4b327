"""Chess in matches and with external engines: openings, external engines, and played games as PGN. None of it is compiled."""

from collections.abc import Callable, Mapping

import numpy as np

from games.chess.client.patterns import PATTERNS
from games.chess.contest.endings import drawn_ending
from games.chess.contest.gametext import reason, text
from games.chess.contest.openings import read
from games.contest import Contest, Control, Player
from games.evaluators import EvaluationPattern, Evaluator


def external(protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None) -> Player:
    """Start an external engine, see games.chess.contest.players; imports python-chess only when needed."""
    from games.chess.contest import players

    return players.external(protocol, command, options, control, megabytes)


def evaluator(command: str, values: Mapping[str, object], pattern: EvaluationPattern | None = None) -> Evaluator:
    """Start a UCI engine as a source of evaluations, see games.chess.client.engine."""
    from games.chess.client.engine import UciEvaluator

    return UciEvaluator(command, values, pattern)


def open_tables(folder: str) -> Callable[[np.ndarray], int | None]:
    """Open Syzygy tables, see games.chess.contest.tablebase; imports python-chess only when needed."""
    from games.chess.contest import tablebase

    return tablebase.tablebase(folder)


CONTEST = Contest(reason=reason, text=text, openings=read, external=external, protocols=("uci", "xboard"), evaluator=evaluator,
                  patterns=PATTERNS, drawn_ending=drawn_ending, tablebase=open_tables)
