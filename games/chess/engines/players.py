"""External engines as players, UCI and xboard through python-chess: with limits on the length of
lines, and no process of an engine outlives it.

The protocols of python-chess buffer lines of any length, in quadratic time, and wait for child
processes that hold the output of an engine that has ended.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import os
import random
import re
import threading
from collections.abc import Coroutine, Mapping, Sequence
from functools import cache
from typing import Any

import chess
import chess.engine
import numpy as np

from games.chess.engines.gametext import is_chess960
from games.chess.files.fen import START, fen
from games.chess.rules.movegen import has_moves, in_check, move_name, move_named
from games.process import RestartedPlayer, alive, guard, kill_group, words_of
from games.protocol.client import EngineEvaluator, Speech
from games.record import CRASH, ILLEGAL, RESIGNS, STALL, Asked, Choice, Control, Forfeit
from games.streams import InputError

LONGEST_LINE = 1 << 20  # bytes
LONGEST_START = 1 << 22  # bytes before an engine is ready
STDOUT = 1
END_SECONDS = 0.2  # from the end of the output to the end of the process


class Guarded(chess.engine.Protocol):
    """A mixin for protocols of python-chess. `fault` is the reason why the engine was ended or can
    no longer answer."""

    fault = ""

    def __init__(self) -> None:
        super().__init__()
        self._rest = b""
        self._received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        alive.add(self)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        if self.fault:
            return
        assert isinstance(data, bytes), "pipes are binary"
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            with contextlib.suppress(UnicodeDecodeError):
                self._line_received(line.removesuffix(b"\r").decode("utf-8"))
        self._received += len(data)
        if len(self._rest) > LONGEST_LINE:
            self.kill(f"a line of more than {LONGEST_LINE:,} bytes")
        elif not self.initialized and self._received > LONGEST_START:
            self.kill(f"more than {LONGEST_START:,} bytes before it is ready")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == STDOUT:  # usually because the process ends
            self.loop.call_later(END_SECONDS, self._require_end)

    @property
    def _process(self) -> asyncio.SubprocessTransport:
        assert self.transport is not None, (
            "nothing is received, and nothing ended, before the process is there"
        )
        return self.transport

    def _require_end(self) -> None:
        if self._process.get_returncode() is None:
            self.fault = self.fault or "closed its output"
            if self.command is not None:  # otherwise it may be about to quit, as requested
                self.kill()

    def process_exited(self) -> None:
        super().process_exited()
        kill_group(self._process.get_pid())  # its children
        alive.discard(self)

    def kill(self, fault: str = "") -> None:
        """Kill the process and its children; callable from any thread."""
        self.fault = self.fault or fault
        if self._process.get_returncode() is None:
            self._rest = b""
            kill_group(self._process.get_pid())


class GuardedUci(Guarded, chess.engine.UciProtocol):
    """A guarded UCI engine."""


class _Features(dict[str, "int | str"]):
    """The features of an xboard engine, with `setboard`, which python-chess demands: where an
    engine lacks it, `edit` does the same."""

    def get(self, name: str, otherwise: Any = None) -> Any:
        return 1 if name == "setboard" else super().get(name, otherwise)


class GuardedXBoard(Guarded, chess.engine.XBoardProtocol):
    """A guarded xboard engine."""

    def __init__(self) -> None:
        super().__init__()
        self.features = _Features()

    def can_set(self, board: chess.Board) -> bool:
        """Return whether the engine can be given a position: `edit` says nothing of the right to
        castle, which then goes with king and rook at home, nor of captures en passant."""
        return self._sets_up() or edited(board) is not None

    def _sets_up(self) -> bool:
        return "setboard" in self.features and bool(self.features["setboard"])

    def send_line(self, line: str) -> None:
        if line.startswith("setboard ") and not self._sets_up():
            for each in edited(chess.Board(line.removeprefix("setboard "))) or ():
                super().send_line(each)
        else:
            super().send_line(line)


def edited(board: chess.Board) -> list[str] | None:
    """Return the lines of xboard's edit mode that set a position up after `new`; None if there are
    none."""
    plain = chess.Board(None)
    plain.set_piece_map(board.piece_map())
    plain.castling_rights = chess.BB_CORNERS
    if (
        board.clean_castling_rights() != plain.clean_castling_rights()
        or board.has_legal_en_passant()
    ):
        return None
    men = [
        [
            f"{piece.symbol().upper()}{chess.square_name(square)}"
            for square, piece in board.piece_map().items()
            if piece.color == colour
        ]
        for colour in chess.COLORS
    ]
    # the side to move does not change: after a move of White it is Black
    return [*([] if board.turn else ["a2a3"]), "edit", "#", *men[0], "c", *men[1], "."]


PROTOCOLS = {"uci": GuardedUci, "xboard": GuardedXBoard}


async def opened(protocol: str, command: list[str]) -> tuple[asyncio.SubprocessTransport, Guarded]:
    """Start an engine in a session of its own, so that Ctrl-C does not reach it."""
    guard()
    own = {"start_new_session": True} if hasattr(os, "killpg") else {"setpgrp": True}
    return await PROTOCOLS[protocol].popen(command, stderr=asyncio.subprocess.DEVNULL, **own)


START_SECONDS = 10.0  # limit of the start of an engine
STALL_SECONDS = 60.0  # limit of an answer if no time control applies
EXTRA_SECONDS = 5.0  # allowed beyond a time limit
QUIT_SECONDS = 2.0

for logger in (
    "chess.engine",
    "asyncio",
):  # they log every line not understood, and the processes that we kill
    logging.getLogger(logger).setLevel(logging.CRITICAL)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="engines", daemon=True).start()
    return loop


def _wait(work: Coroutine, seconds: float) -> Any:
    """Run work in the loop and return its result; TimeoutError after `seconds`."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result(seconds)
    except concurrent.futures.TimeoutError:
        future.cancel()
        raise TimeoutError from None


def external(
    protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None
) -> ChessEnginePlayer:
    """Start an engine as a player; InputError if that fails."""
    player = ChessEnginePlayer(protocol, command, options, control, megabytes)
    player.start()
    return player


class ChessEnginePlayer(RestartedPlayer):
    """An external engine. A Player."""

    def __init__(
        self,
        protocol: str,
        command: str,
        options: dict[str, str],
        control: Control,
        megabytes: int | None,
    ) -> None:
        self._protocol, self._command, self._options = protocol, command, options
        self._control, self._megabytes = control, megabytes
        self._process: asyncio.SubprocessTransport | None = None
        self._engine: Any = None
        self._board: chess.Board | None = chess.Board()
        self._game = object()
        self._dice = random.Random()

    def start(self) -> None:
        """Start the engine and set its options; InputError if that fails."""
        words = words_of(self._command, f"a {self._protocol} engine")
        expected = "uciok" if self._protocol == "uci" else "answer"
        try:
            self._process, self._engine = _wait(opened(self._protocol, words), START_SECONDS)
            _wait(self._engine.initialize(), START_SECONDS)
            options = dict(self._options)
            if self._megabytes is not None and "Hash" in self._engine.options:
                options = {"Hash": str(self._megabytes)} | options
            _wait(self._engine.configure(options), START_SECONDS)
            expected = "readyok" if self._protocol == "uci" else "answer"
            _wait(self._engine.ping(), START_SECONDS)
        except TimeoutError:
            self._kill()
            raise InputError(
                f"{self._command}: no {expected} within {START_SECONDS:g} s; is it a"
                f" {self._protocol} engine? If it answers in a terminal, it does not flush:"
                f" try stdbuf -i0 -oL {self._command}"
            ) from None
        except (chess.engine.EngineError, OSError, ValueError) as problem:
            fault = self._kill()
            ended = isinstance(problem, chess.engine.EngineTerminatedError)
            text = (
                f"{fault or 'exited at once'}; is it a {self._protocol} engine?"
                if ended
                else str(problem)
            )
            raise InputError(f"{self._command}: {text}") from None

    @property
    def running(self) -> bool:
        return self._engine is not None

    def set(self, values: Mapping[str, str]) -> None:
        self._options = {**self._options, **values}  # also for an engine that is started again
        if self._engine is None:
            return
        try:
            _wait(self._engine.configure(dict(values)), START_SECONDS)
        except (TimeoutError, chess.engine.EngineError, OSError, ValueError):
            self._kill()

    def begin(self, seed: str) -> None:
        super().begin(seed)
        self._board, self._game, self._dice = None, object(), random.Random(seed)

    def choose(
        self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None
    ) -> Choice:
        board, words = self._board, line[-1]
        if board is None:
            board = self._board = chess.Board(fen(line[0]), chess960=is_chess960(line[0]))
            if self._protocol == "xboard" and not self._engine.can_set(board):
                raise InputError(
                    f"{self._command}: has no `setboard`, and cannot be given {board.fen()}; choose"
                    " openings that are games, or --random-plies"
                )
        for i in range(len(board.move_stack), len(moves)):
            board.push(chess.Move.from_uci(move_name(line[i], moves[i], board.chess960)))
        control = self._control.drawn(self._dice)
        limit = chess.engine.Limit(time=control.movetime, depth=control.depth, nodes=control.nodes)
        patience = (
            STALL_SECONDS if control.movetime is None else 2 * control.movetime + EXTRA_SECONDS
        )
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
            raise Forfeit(
                RESIGNS if played.resigned else ILLEGAL, "" if played.resigned else "no move"
            )
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
        """Kill the process and its children; returns the fault for which it was ended before, if
        any."""
        process, engine, self._process, self._engine = self._process, self._engine, None, None
        if process is None:
            return ""
        fault = engine.fault
        engine.kill()
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
