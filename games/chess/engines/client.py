"""UCI engines of others as sources of evaluations, and how they print them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from games.chess.engines.gametext import is_chess960
from games.chess.files.fen import START, fen
from games.chess.rules.movegen import has_moves, in_check
from games.protocol.client import NUMBER_PATTERN, EngineEvaluator, Speech
from games.record import Asked, EvaluationPattern

# by the names that users may give; the first that matches an engine's answer is its own
PATTERNS = {
    "tuner": EvaluationPattern(rf"^static evaluation {NUMBER_PATTERN} cp \(white side\)"),
    "stockfish": EvaluationPattern(
        rf"^(?:Final|Total) evaluation:?\s+{NUMBER_PATTERN}\s+\(white side\)", 100.0
    ),
    "stockfish-classical": EvaluationPattern(
        rf"^Classical evaluation:?\s+{NUMBER_PATTERN}\s+\(white side\)", 100.0
    ),
}


def _asked(positions: np.ndarray) -> Asked:
    """Prepare positions (n, 10)."""
    return Asked(
        [fen(words).encode() for words in positions],
        positions[:, 8] & np.uint64(1) != 0,
        np.array([in_check(words) for words in positions], np.bool_),
        np.array([has_moves(words) for words in positions], np.bool_),
        any(map(is_chess960, positions)),
    )


UCI = Speech("uci", "ucinewgame", "position fen", START, PATTERNS, _asked, variant="UCI_Chess960")


class UciEvaluator(EngineEvaluator):
    """A UCI engine in a process of its own, see `games.protocol.client`."""

    def __init__(
        self, command: str, values: Mapping[str, object], pattern: EvaluationPattern | None = None
    ) -> None:
        super().__init__(UCI, command, values, pattern)
