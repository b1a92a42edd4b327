"""External engines of chess: UCI and xboard."""

from collections.abc import Mapping

import numpy as np

from games.chess.engines.gametext import is_chess960
from games.chess.files.fen import START, fen
from games.chess.rules.movegen import has_moves, in_check, move_name, move_named
from games.protocol.client import EngineClient, Speech
from games.protocol.player import EnginePlayer
from games.record import Asked, Control


def external(
    protocol: str, command: str, options: Mapping[str, str], control: Control, megabytes: int | None
) -> EnginePlayer:
    """Start an engine as a player; InputError if that fails."""
    if protocol == "uci":
        return EnginePlayer(
            lambda values: EngineClient(UCI, command, values, megabytes), options, control
        )
    from games.chess.engines.xboard import XboardEngine  # imports python-chess

    return EnginePlayer(
        lambda values: XboardEngine(command, values, control, megabytes), options, control
    )


def _asked(positions: np.ndarray) -> Asked:
    """Prepare positions (n, 10)."""
    return Asked(
        [fen(words).encode() for words in positions],
        positions[:, 8] & np.uint64(1) != 0,
        np.array([in_check(words) for words in positions], np.bool_),
        np.array([has_moves(words) for words in positions], np.bool_),
        any(map(is_chess960, positions)),
    )


UCI = Speech(
    "uci",
    (b"ucinewgame\n", b""),
    "fen",
    START,
    fen,
    move_name,
    lambda words, name: move_named(words, name.lower()),
    _asked,
    clock=" wtime {} btime {}",
    increment=" winc {0} binc {0}",
    movetime=" movetime {}",
    hash="Hash",
    second=lambda words: bool(int(words[8]) & 1),
    of_variant=is_chess960,
    variant="UCI_Chess960",
)


def evaluator(command: str, values: Mapping[str, object]) -> EngineClient:
    """Start a UCI engine as a source of scores; InputError if that fails."""
    return EngineClient(UCI, command, values)
