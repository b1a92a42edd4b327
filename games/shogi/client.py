"""USI engines of others as sources of evaluations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from games.evaluators import Asked, EvaluationPattern
from games.protocol.client import EngineEvaluator, Speech
from games.protocol.declared import NUMBER
from games.shogi.movegen import has_moves
from games.shogi.position import CHECK, SIDE, START, STATE
from games.shogi.sfen import text

PATTERNS = {
    "tuner": EvaluationPattern(rf"^static evaluation {NUMBER} cp \(black side\)"),
    # its White is the player who moves first
    "fairy-stockfish": EvaluationPattern(rf"^(?:Final|Total) evaluation:?\s+{NUMBER}\s+\(white side\)", 100.0),
}


def _asked(positions: np.ndarray) -> Asked:
    """Prepare positions (n, 15)."""
    return Asked([text(words).encode() for words in positions], positions[:, STATE] & SIDE != 0,
                 positions[:, STATE] & CHECK != 0, np.array([has_moves(words) for words in positions], np.bool_))


def evaluator(command: str, values: Mapping[str, object], pattern: EvaluationPattern | None = None) -> EngineEvaluator:
    """Start a USI engine as a source of evaluations; InputError if that fails."""
    return EngineEvaluator(USI, command, values, pattern)


USI = Speech("usi", "usinewgame", "position sfen", text(START), PATTERNS, _asked, ready_first=True, mates_in_plies=True,
             stalemate_loses=True)
