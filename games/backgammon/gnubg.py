"""GNU Backgammon as a player: a process of its own, asked over its external socket. Cubeless money play without the Jacoby rule.

`external SOCKET` lets gnubg answer boards in the form of FIBS with its move: `8/5 6/5`, where 25 is the bar and 0 is off.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from games.backgammon.fibs import fibs_board
from games.backgammon.moves import legal_moves
from games.backgammon.notation import parse_move
from games.contest import CRASH, ILLEGAL, STALL, Choice, Forfeit
from games.evaluators import EngineFault
from games.process import EngineProcess
from games.protocol.player import ProcessPlayer
from games.streams import InputError

PLACES = "/usr/games"  # where Debian puts games, which may not be on the PATH
SETTINGS = """set jacoby off
set automatic roll off
set evaluation chequerplay evaluation plies {plies}
set evaluation chequerplay evaluation cubeful off
set evaluation chequerplay evaluation noise 0
set evaluation cubedecision evaluation plies 0
external {socket}
"""
DEEPEST = 2  # plies as gnubg counts them: 0 is one roll deep
START_SECONDS, PATIENCE = 60.0, 120.0
LONGEST_REPLY = 4096


def gnubg_plies(text: str) -> int:
    """Return the plies that `gnubg:PLIES` names; InputError if they are not 0 to DEEPEST."""
    if not text.isdecimal() or len(text) > 1 or int(text) > DEEPEST:
        raise InputError(f"gnubg{text and ':'}{text}: expected gnubg:PLIES with 0 to {DEEPEST} plies, "
                         "where 0 is one roll deep")
    return int(text)


class GnubgPlayer(ProcessPlayer):
    """GNU Backgammon at so many plies. A Player."""

    def __init__(self, plies: int) -> None:
        super().__init__()
        self._plies = plies
        self._socket: socket.socket | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self) -> None:
        """Start the program; InputError if that fails."""
        path = shutil.which("gnubg", path=os.pathsep.join((os.environ.get("PATH", os.defpath), PLACES)))
        if path is None:
            raise InputError("gnubg: no such program; install the package gnubg, or put it on the PATH")
        self._folder = tempfile.TemporaryDirectory(prefix="evaltune-gnubg-")
        place = Path(self._folder.name)
        (place / "settings").write_text(SETTINGS.format(plies=self._plies, socket=place / "socket"))
        self._process = EngineProcess(f"{shlex.quote(path)} -t -q -r -c {shlex.quote(str(place / 'settings'))}", "gnubg")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._socket.connect(str(place / "socket"))
                break
            except OSError:
                if time.monotonic() > deadline:
                    self._end()
                    raise InputError(f"gnubg: opened no external socket within {START_SECONDS:g} s; is it GNU "
                                     "Backgammon?") from None
                time.sleep(0.05)
        self._socket.settimeout(PATIENCE)

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        words = np.ascontiguousarray(line[-1])
        legal = legal_moves(words)
        if len(legal) == 1:
            return Choice(legal[0])  # also a pass, which gnubg does not name
        reply = self._ask(fibs_board(words))
        try:
            return Choice(legal[parse_move(words, reply)])
        except ValueError:
            self._end()
            raise Forfeit(ILLEGAL, reply[:40]) from None

    def _ask(self, text: str) -> str:
        if self._socket is None:
            raise Forfeit(CRASH, "ended before")
        reply = b""
        try:
            self._socket.sendall(text.encode() + b"\n")
            while not reply.endswith(b"\n") and len(reply) < LONGEST_REPLY:
                piece = self._socket.recv(LONGEST_REPLY)
                if not piece:
                    raise EngineFault("closed its socket")
                reply += piece
        except TimeoutError:
            self._end()
            raise Forfeit(STALL, f"no move within {PATIENCE:g} s") from None
        except (OSError, EngineFault) as problem:
            self._end()
            raise Forfeit(CRASH, str(problem)) from None
        return reply.decode("ascii", "replace").strip()

    def close(self) -> None:
        self._end()  # it reads no command while it listens to its socket

    def _end(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
        super()._end()
        if self._folder is not None:
            self._folder.cleanup()
        self._socket = self._folder = None
