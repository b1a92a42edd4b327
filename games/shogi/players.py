"""External engines as players, by USI."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from games.contest import ILLEGAL, RESIGNS, Choice, Control, Forfeit
from games.evaluators import EngineFault
from games.process import EngineProcess
from games.protocol.player import ProcessPlayer
from games.shogi.declaration import declares
from games.shogi.gamefile import shown
from games.shogi.movegen import moves_of
from games.shogi.notation import move_name, move_named
from games.shogi.position import STATE
from games.shogi.sfen import text
from games.streams import InputError

START_SECONDS = 10.0  # limit of the first answer
READY_SECONDS = 120.0  # limit of `readyok`: engines load their evaluation before it
STALL_SECONDS = 60.0  # limit of an answer if no time control applies
EXTRA_SECONDS = 5.0  # allowed beyond a time limit
HASH = "USI_Hash"
SCORE = re.compile(rb"info (?!string ).*?\bscore (cp|mate) ([+-]?\d{1,9})\b")
DEPTH = re.compile(rb"\bdepth (\d{1,5})\b")


def external(protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None) -> External:
    """Start an engine as a player; InputError if that fails."""
    if protocol != "usi":
        raise InputError(f"{protocol}:{command}: shogi has no protocol {protocol!r}, expected usi")
    player = External(command, options, control, megabytes)
    player.start()
    return player


class External(ProcessPlayer):
    """An engine in a process of its own. A Player."""

    def __init__(self, command: str, options: dict[str, str], control: Control, megabytes: int | None) -> None:
        super().__init__()
        self._command, self._options, self._control, self._megabytes = command, options, control, megabytes

    def start(self) -> None:
        """Start the engine and set its options; InputError if that fails."""
        process = EngineProcess(self._command, "a usi engine")
        try:
            process.say(b"usi\n")
            known = {found[1].decode("utf-8", "replace") for line in process.until(b"usiok", START_SECONDS)
                     if (found := re.match(rb"option name (.*?) type ", line))}
            wanted = ({HASH: str(self._megabytes)} if self._megabytes is not None else {}) | self._options
            for name in self._options:
                if name not in known | {HASH, "USI_Ponder"}:  # these two may be set although no option names them
                    raise InputError(f"{self._command}: has no option {name!r}")
            process.say("".join(f"setoption name {name} value {value}\n" for name, value in wanted.items()).encode()
                        + b"isready\n")
            process.until(b"readyok", READY_SECONDS)
        except EngineFault as problem:
            process.kill()
            raise InputError(f"{self._command}: {problem}; is it a usi engine?") from None
        except InputError:
            process.kill()
            raise
        self._process = process

    def begin(self, seed: str) -> None:
        super().begin(seed)
        assert self._process is not None, "start() sets it"
        self._process.say(b"usinewgame\n")

    def choose(self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None) -> Choice:
        names = " ".join(move_name(words, move) for words, move in zip(line, moves, strict=False))
        position = f"position sfen {text(line[0])}{' moves ' if names else ''}{names}\n"
        control = self._control
        patience = (left[0] if left else STALL_SECONDS if control.movetime is None else 2 * control.movetime) + EXTRA_SECONDS
        return self._choice(line[-1], self.ask(position + self._go(line[-1], left) + "\n", b"bestmove", patience))

    def _go(self, words: np.ndarray, left: tuple[float, float] | None) -> str:
        control = self._control
        if left is not None:
            black, white = left[::-1] if int(words[STATE]) & 1 else left
            increment = round(1000 * control.increment)
            return f"go btime {round(1000 * black)} wtime {round(1000 * white)} binc {increment} winc {increment}"
        if control.movetime is not None:
            return f"go btime 0 wtime 0 byoyomi {round(1000 * control.movetime)}"
        return f"go depth {control.depth}" if control.depth is not None else f"go nodes {control.nodes}"

    def _choice(self, words: np.ndarray, lines: list[bytes]) -> Choice:
        """Return what the engine chose; `win` is accepted where the rules let it declare."""
        name = (lines[-1].decode("utf-8", "replace").split() + [""])[1]
        if name == "resign":
            raise Forfeit(RESIGNS)
        if name == "win" and declares(words):
            return Choice(moves_of(words)[0])  # the game has ended by the rules before
        try:
            move = move_named(words, name)
        except ValueError:
            self._end()
            raise Forfeit(ILLEGAL, shown(name)) from None
        for line in reversed(lines):
            if found := SCORE.match(line):
                depth = DEPTH.search(line)
                number, plies = int(found[2]), int(depth[1]) if depth else 0
                return Choice(move, float(number), None, plies) if found[1] == b"cp" else Choice(move, None, number, plies)
        return Choice(move)
