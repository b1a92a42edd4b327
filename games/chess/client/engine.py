"""UCI engines of others as sources of evaluations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from games.chess.client.patterns import PATTERNS
from games.chess.contest.gametext import is_chess960
from games.chess.fen import START, fen
from games.chess.movegen import has_moves, in_check
from games.evaluators import Asked, EvaluationPattern
from games.protocol.client import EngineEvaluator, Speech


def _asked(positions: np.ndarray) -> Asked:
    """Prepare positions (n, 10)."""
    return Asked([fen(words).encode() for words in positions], positions[:, 8] & np.uint64(1) != 0,
                 np.array([in_check(words) for words in positions], np.bool_),
                 np.array([has_moves(words) for words in positions], np.bool_), any(map(is_chess960, positions)))


UCI = Speech("uci", "ucinewgame", "position fen", START, PATTERNS, _asked, variant="UCI_Chess960")


class UciEvaluator(EngineEvaluator):
    """A UCI engine in a process of its own, see `games.protocol.client`."""

    def __init__(self, command: str, values: Mapping[str, object], pattern: EvaluationPattern | None = None) -> None:
        super().__init__(UCI, command, values, pattern)
