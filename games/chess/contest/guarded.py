"""Guarded engine processes: limits on the length of lines, and no process of an engine outlives it.

The protocols of python-chess buffer lines of any length, in quadratic time, and wait for child processes that hold the output of
an engine that has ended.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
from typing import Any

import chess.engine

LONGEST_LINE = 1 << 20  # bytes
LONGEST_START = 1 << 22  # bytes before an engine is ready
STDOUT = 1
END_SECONDS = 0.2  # from the end of the output to the end of the process

_alive: set[Guarded] = set()


class Guarded(chess.engine.Protocol):
    """A mixin for protocols of python-chess. `fault` is the reason why the engine was ended or can no longer answer."""

    fault = ""

    def __init__(self) -> None:
        super().__init__()
        self._rest = b""
        self._received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        _alive.add(self)

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
            self.end(f"a line of more than {LONGEST_LINE:,} bytes")
        elif not self.initialized and self._received > LONGEST_START:
            self.end(f"more than {LONGEST_START:,} bytes before it is ready")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == STDOUT:  # usually because the process ends
            self.loop.call_later(END_SECONDS, self._require_end)

    @property
    def _process(self) -> asyncio.SubprocessTransport:
        assert self.transport is not None, "nothing is received, and nothing ended, before the process is there"
        return self.transport

    def _require_end(self) -> None:
        if self._process.get_returncode() is None:
            self.fault = self.fault or "closed its output"
            if self.command is not None:  # otherwise it may be about to quit, as requested
                self.end()

    def process_exited(self) -> None:
        super().process_exited()
        self._signal_group()  # its children
        _alive.discard(self)

    def end(self, fault: str = "") -> None:
        """Kill the process and its children; callable from any thread."""
        self.fault = self.fault or fault
        if self._process.get_returncode() is None:
            self._rest = b""
            self._signal_group()

    def _signal_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.get_pid(), signal.SIGKILL)
            else:
                self._process.kill()


class GuardedUci(Guarded, chess.engine.UciProtocol):
    """A guarded UCI engine."""


class _Features(dict[str, "int | str"]):
    """The features of an xboard engine, with `setboard`, which python-chess demands: where an engine
    lacks it, `edit` does the same."""

    def get(self, name: str, otherwise: Any = None) -> Any:
        return 1 if name == "setboard" else super().get(name, otherwise)


class GuardedXBoard(Guarded, chess.engine.XBoardProtocol):
    """A guarded xboard engine."""

    def __init__(self) -> None:
        super().__init__()
        self.features = _Features()

    def can_set(self, board: chess.Board) -> bool:
        """Return whether the engine can be given a position: `edit` says nothing of the right to castle,
        which then goes with king and rook at home, nor of captures en passant."""
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
    """Return the lines of xboard's edit mode that set a position up after `new`; None if there are none."""
    plain = chess.Board(None)
    plain.set_piece_map(board.piece_map())
    plain.castling_rights = chess.BB_CORNERS
    if board.clean_castling_rights() != plain.clean_castling_rights() or board.has_legal_en_passant():
        return None
    men = [[f"{piece.symbol().upper()}{chess.square_name(square)}" for square, piece in board.piece_map().items()
            if piece.color == colour] for colour in chess.COLORS]
    # the side to move is that of before: after a move of White it is Black
    return [*([] if board.turn else ["a2a3"]), "edit", "#", *men[0], "c", *men[1], "."]


PROTOCOLS = {"uci": GuardedUci, "xboard": GuardedXBoard}


async def opened(protocol: str, command: list[str]) -> tuple[asyncio.SubprocessTransport, Guarded]:
    """Start an engine in a session of its own, so that Ctrl-C does not reach it."""
    own = {"start_new_session": True} if hasattr(os, "killpg") else {"setpgrp": True}
    return await PROTOCOLS[protocol].popen(command, stderr=asyncio.subprocess.DEVNULL, **own)


@atexit.register
def _end_all() -> None:
    """Kill all engines when this process exits."""
    for engine in list(_alive):
        engine.end()
