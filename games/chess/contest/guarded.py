"""Processes of engines, kept within bounds: how long a line may be, and that nothing survives which an engine has started.

The protocols of python-chess read a line to its end however long it is, cut the first line off what was received again and
again, and wait for whoever holds the output of an engine that has ended.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal

import chess.engine

LONGEST_LINE = 1 << 20  # bytes
LONGEST_START = 1 << 22  # bytes until an engine has told its options
STDOUT = 1
END_SECONDS = 0.2  # from the end of its output to its own

_alive: set[Guarded] = set()


class Guarded(chess.engine.Protocol):
    """Mixed into a protocol of python-chess. `fault` says what an engine was ended for, or why it cannot answer any more."""

    fault = ""

    def __init__(self) -> None:
        super().__init__()
        self._rest = b""
        self._received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        _alive.add(self)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.fault:
            return
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
        if fd == STDOUT:  # as a rule because it ends
            self.loop.call_later(END_SECONDS, self._require_end)

    def _require_end(self) -> None:
        if self.transport.get_returncode() is None:
            self.fault = self.fault or "closed its output"
            if self.command is not None:  # else it may be about to end, as it was told
                self.end()

    def process_exited(self) -> None:
        super().process_exited()
        self._signal_group()  # its children
        _alive.discard(self)

    def end(self, fault: str = "") -> None:
        """End the process and whatever it has started, from any thread."""
        self.fault = self.fault or fault
        if self.transport.get_returncode() is None:
            self._rest = b""
            self._signal_group()

    def _signal_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.transport.get_pid(), signal.SIGKILL)
            else:
                self.transport.kill()


class GuardedUci(Guarded, chess.engine.UciProtocol):
    """UCI."""


class GuardedXBoard(Guarded, chess.engine.XBoardProtocol):
    """xboard."""


PROTOCOLS = {"uci": GuardedUci, "xboard": GuardedXBoard}


async def opened(protocol: str, command: list[str]) -> tuple[asyncio.SubprocessTransport, Guarded]:
    """An engine's process, in a session of its own: an interrupt from the keyboard is for us, not for it."""
    own = {"start_new_session": True} if hasattr(os, "killpg") else {"setpgrp": True}
    return await PROTOCOLS[protocol].popen(command, stderr=asyncio.subprocess.DEVNULL, **own)


@atexit.register
def _end_all() -> None:
    """Nothing survives this process, however it came to its end."""
    for engine in list(_alive):
        engine.end()
