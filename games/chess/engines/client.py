"""UCI engines of others as sources of scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from games.chess.engines.gametext import is_chess960
from games.chess.files.fen import START, fen
from games.chess.rules.movegen import has_moves, in_check
from games.protocol.client import EngineEvaluator, Speech
from games.record import Asked


def _asked(positions: np.ndarray) -> Asked:
    """Prepare positions (n, 10)."""
    return Asked(
        [fen(words).encode() for words in positions],
        positions[:, 8] & np.uint64(1) != 0,
        np.array([in_check(words) for words in positions], np.bool_),
        np.array([has_moves(words) for words in positions], np.bool_),
        any(map(is_chess960, positions)),
    )


UCI = Speech("uci", "ucinewgame", "position fen", START, _asked, variant="UCI_Chess960")


class UciEvaluator(EngineEvaluator):
    """A UCI engine in a process of its own, see `games.protocol.client`."""

    def __init__(self, command: str, values: Mapping[str, object]) -> None:
        super().__init__(UCI, command, values)
