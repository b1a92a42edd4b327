"""External engines as players, through python-chess: UCI and xboard.

All engines share one asyncio loop in a background thread. A failed engine loses the current game and is restarted for the next.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import re
import shlex
import shutil
import threading
from collections.abc import Coroutine, Sequence
from functools import cache
from typing import Any

import chess
import chess.engine
import numpy as np

from games.chess.contest.gametext import is_chess960
from games.chess.contest.guarded import opened
from games.chess.coordinates import move_name, move_named
from games.chess.fen import fen
from games.contest import CRASH, ILLEGAL, RESIGNS, STALL, Choice, Control, Forfeit
from games.protocol.player import RestartedPlayer
from games.streams import InputError

START_SECONDS = 10.0  # limit of the start of an engine
STALL_SECONDS = 60.0  # limit of an answer if no time control applies
EXTRA_SECONDS = 5.0  # allowed beyond a time limit
QUIT_SECONDS = 2.0

for logger in ("chess.engine", "asyncio"):  # they log every line not understood, and the processes that we kill
    logging.getLogger(logger).setLevel(logging.CRITICAL)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="engines", daemon=True).start()
    return loop


def _wait(work: Coroutine, seconds: float) -> Any:
    """Run work in the loop and return its result; TimeoutError after so many seconds."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result(seconds)
    except concurrent.futures.TimeoutError:
        future.cancel()
        raise TimeoutError from None


def external(protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None) -> External:
    """Start an engine as a player; InputError if that fails."""
    player = External(protocol, command, options, control, megabytes)
    player.start()
    return player


class External(RestartedPlayer):
    """An external engine. A Player."""

    def __init__(self, protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None) -> None:
        self._protocol, self._command, self._options = protocol, command, options
        self._control, self._megabytes = control, megabytes
        self._process: asyncio.SubprocessTransport | None = None
        self._engine: Any = None
        self._board: chess.Board | None = chess.Board()
        self._game = object()

    def start(self) -> None:
        """Start the engine and set its options; InputError if that fails."""
        try:
            words = shlex.split(self._command)
        except ValueError as problem:
            raise InputError(f"{self._command}: not a command: {problem}") from None
        path = shutil.which(words[0]) if words else None
        if path is None:
            raise InputError(f"{words[0] if words else repr('')}: no such program, expected the command of a {self._protocol} "
                             "engine")
        try:
            self._process, self._engine = _wait(opened(self._protocol, [path, *words[1:]]), START_SECONDS)
            _wait(self._engine.initialize(), START_SECONDS)
            options = dict(self._options)
            if self._megabytes is not None and "Hash" in self._engine.options:
                options = {"Hash": str(self._megabytes)} | options
            _wait(self._engine.configure(options), START_SECONDS)
            _wait(self._engine.ping(), START_SECONDS)
        except TimeoutError:
            self._kill()
            expected = "uciok" if self._protocol == "uci" else "answer"
            raise InputError(f"{self._command}: no {expected} within {START_SECONDS:g} s; is it a {self._protocol} "
                             "engine?") from None
        except (chess.engine.EngineError, OSError, ValueError) as problem:
            fault = self._kill()
            ended = isinstance(problem, chess.engine.EngineTerminatedError)
            text = f"{fault or 'exited at once'}; is it a {self._protocol} engine?" if ended else str(problem)
            raise InputError(f"{self._command}: {text}") from None

    @property
    def running(self) -> bool:
        return self._engine is not None

    def begin(self, seed: str) -> None:
        super().begin(seed)
        self._board, self._game = None, object()

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        board, words = self._board, line[-1]
        if board is None:
            board = self._board = chess.Board(fen(line[0]), chess960=is_chess960(line[0]))
            if self._protocol == "xboard" and not self._engine.can_set(board):
                raise InputError(f"{self._command}: has no `setboard`, and cannot be given {board.fen()}; choose openings that "
                                 "are games, or --random-plies")
        for i in range(len(board.move_stack), len(moves)):
            board.push(chess.Move.from_uci(move_name(line[i], moves[i], board.chess960)))
        control = self._control
        limit = chess.engine.Limit(time=control.movetime, depth=control.depth, nodes=control.nodes)
        patience = STALL_SECONDS if control.movetime is None else 2 * control.movetime + EXTRA_SECONDS
        if left is not None:
            limit.white_clock, limit.black_clock = left if board.turn else left[::-1]
            limit.white_inc = limit.black_inc = control.increment
            patience = left[0] + EXTRA_SECONDS
        try:
            played = _wait(self._play(board, limit), patience)
        except TimeoutError:
            self._kill()
            raise Forfeit(STALL, f"no move within {patience:g} s") from None
        except chess.engine.EngineTerminatedError:
            raise Forfeit(CRASH, self._kill()) from None
        except (chess.engine.EngineError, ValueError, OSError) as problem:
            self._kill()
            raise Forfeit(ILLEGAL, _move_in(str(problem))) from None
        if played.move is None:
            self._kill()
            raise Forfeit(RESIGNS if played.resigned else ILLEGAL, "" if played.resigned else "no move")
        try:
            move = move_named(words, played.move.uci())
        except ValueError:
            self._kill()
            raise Forfeit(ILLEGAL, played.move.uci()) from None
        return Choice(move, *_thought(played.info))

    async def _play(self, board: chess.Board, limit: chess.engine.Limit) -> chess.engine.PlayResult:
        if self._engine.fault:
            raise chess.engine.EngineTerminatedError(self._engine.fault)
        return await self._engine.play(board, limit, game=self._game, info=chess.engine.INFO_SCORE)

    def abort(self) -> None:
        self._kill()

    def close(self) -> None:
        if self._engine is not None:
            with contextlib.suppress(TimeoutError, chess.engine.EngineError, OSError):
                _wait(self._engine.quit(), QUIT_SECONDS)
        self._kill()

    def _kill(self) -> str:
        """Kill the process and its children; returns the fault for which it was ended before, if any."""
        process, engine, self._process, self._engine = self._process, self._engine, None, None
        if process is None:
            return ""
        fault = engine.fault
        engine.end()
        _loop().call_soon_threadsafe(process.close)
        return fault


def _move_in(message: str) -> str:
    """Extract the move from a message of python-chess, quoted or after `for`."""
    found = re.search(r"'([^']{1,12})'|\bfor (\S{1,12}) ", message)
    return (found[1] or found[2]) if found else message.splitlines()[0][:60]


def _thought(info: dict) -> tuple[float | None, int | None, int]:
    score, depth = info.get("score"), info.get("depth", 0)
    if score is None:
        return None, None, depth
    mate = score.relative.mate()
    if mate is None:
        return float(score.relative.score()), None, depth
    return None, 2 * mate - 1 if mate > 0 else 2 * mate, depth
