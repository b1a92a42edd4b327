"""Backgammon in matches: players of its own, external programs that read boards of FIBS (gnubg,
UBGI engines), why a game ended, and games as text."""

import os
import re
import shlex
import shutil
import socket
import tempfile
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from games.backgammon.files.ids import fibs_board
from games.backgammon.files.mat import PLAYED, RESIGNED, UNFINISHED, GameRecord, mat_text
from games.backgammon.files.notation import parse_move
from games.backgammon.rules.board import swapped, turn_of
from games.backgammon.rules.play import (
    HIGHEST_POINTS,
    STEPS,
    afterstates,
    legal_moves,
    pubeval_move,
)
from games.process import EngineProcess
from games.protocol.player import Engine, EnginePlayer
from games.record import (
    FAULTS,
    ILLEGAL,
    RULES,
    Choice,
    Control,
    EngineFault,
    EngineSilent,
    Forfeit,
    Left,
    PlayedGame,
    Player,
    Rater,
)
from games.streams import InputError, one_line
from games.system import SOCKET_FILES

PLACES = "/usr/games"  # where Debian puts games, which may not be on the PATH
SETTINGS = """set jacoby off
set automatic roll off
set evaluation chequerplay evaluation plies {plies}
set evaluation chequerplay evaluation cubeful off
set evaluation chequerplay evaluation noise 0
set evaluation cubedecision evaluation plies 0
external {socket}
"""
MAX_GNUBG_PLIES = 2  # plies as gnubg counts them: 0 is one roll deep
START_SECONDS, PATIENCE = 60.0, 120.0
UBGI_START_SECONDS = 120.0
BETWEEN = re.compile(r"[\s/-]+")  # places in an answer of a UBGI engine
LONGEST_REPLY = 4096


def gnubg_plies(text: str) -> int:
    """Return the plies that `gnubg:PLIES` names; InputError if they are not 0 to
    MAX_GNUBG_PLIES."""
    if not text.isdecimal() or len(text) > 1 or int(text) > MAX_GNUBG_PLIES:
        raise InputError(
            f"gnubg{text and ':'}{text}: expected gnubg:PLIES with 0 to {MAX_GNUBG_PLIES} plies, "
            "where 0 is one roll deep"
        )
    return int(text)


class BoardEngine(Engine):
    """A program that is given boards of FIBS and answers with moves."""

    def think(
        self,
        line: np.ndarray,
        moves: Sequence[int],
        control: Control,
        left: Left | None,
        seconds: float,
    ) -> Choice:
        """See `games.protocol.player.Engine`."""
        words = np.ascontiguousarray(line[-1])
        legal = legal_moves(words)
        if len(legal) == 1:
            return Choice(legal[0])  # also a pass, which programs do not name
        reply = self.answer(fibs_board(words) + "\n", seconds)
        try:
            return Choice(legal[parse_move(words, self.steps(reply))])
        except ValueError:
            raise Forfeit(ILLEGAL, reply[:40]) from None

    @abstractmethod
    def answer(self, board: str, seconds: float) -> str:
        """Return the line that the program answers to a board; EngineFault if there is none."""

    def steps(self, reply: str) -> str:
        """Return a reply as steps between blanks."""
        return reply


class UbgiEngine(BoardEngine):
    """A UBGI engine in a process of its own; InputError if it does not start."""

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self._process = EngineProcess(command, "a ubgi engine")
        self._process.say(b"ubgi\n")
        try:
            lines = self._process.until(b"readyok", UBGI_START_SECONDS)
        except EngineFault as problem:
            self.abort()
            raise self._process.no_engine(problem) from None
        names = (line[len(b"id name ") :] for line in lines if line.startswith(b"id name "))
        self.name = one_line(next(names, b"").decode("utf-8", "replace").strip())

    def answer(self, board: str, seconds: float) -> str:
        self._process.forget()
        self._process.say(board.encode())
        return self._process.until(b"", seconds)[0].decode("ascii", "replace").strip()

    def steps(self, reply: str) -> str:
        places = BETWEEN.split(reply)
        return " ".join(f"{a}/{b}" for a, b in zip(places[::2], places[1::2], strict=True))


class GnubgEngine(BoardEngine):
    """GNU Backgammon at a number of plies; InputError if it does not start. Also a Rater."""

    def __init__(self, plies: int) -> None:
        super().__init__(f"gnubg:{plies}")
        self._plies = plies
        path = shutil.which(
            "gnubg", path=os.pathsep.join((os.environ.get("PATH", os.defpath), PLACES))
        )
        if path is None:
            raise InputError(
                "gnubg: no such program; install the package gnubg, or put it on the PATH"
            )
        if not SOCKET_FILES:
            raise InputError("gnubg: plays through a socket in a file, which this system lacks")
        self._folder = tempfile.TemporaryDirectory(prefix="evaltune-gnubg-")
        place = Path(self._folder.name)
        (place / "settings").write_text(SETTINGS.format(plies=plies, socket=place / "socket"))
        self._process = EngineProcess(
            f"{shlex.quote(path)} -t -q -r -c {shlex.quote(str(place / 'settings'))}", "gnubg"
        )
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._socket.connect(str(place / "socket"))
                break
            except OSError:
                if time.monotonic() > deadline:
                    self.close()
                    raise InputError(
                        f"gnubg: opened no external socket within {START_SECONDS:g} s; is it GNU "
                        "Backgammon?"
                    ) from None
                time.sleep(0.05)

    def answer(self, board: str, seconds: float) -> str:
        reply = b""
        self._socket.settimeout(seconds)
        try:
            self._socket.sendall(board.encode())
            while not reply.endswith(b"\n") and len(reply) < LONGEST_REPLY:
                piece = self._socket.recv(LONGEST_REPLY)
                if not piece:
                    raise EngineFault("closed its socket")
                reply += piece
        except TimeoutError:
            raise EngineSilent(f"printed nothing within {seconds:g} s") from None
        except OSError as problem:
            raise EngineFault(str(problem)) from None
        return reply.decode("ascii", "replace").strip()

    def values(self, positions: np.ndarray) -> np.ndarray:
        """Return the expected points (n,) without a cube of positions before the roll, a
        backgammon as 1, first player's view. InputError if the program fails. A Rater."""
        evaluations = np.empty(len(positions))
        for i, words in enumerate(positions):
            question = f"evaluation fibsboard {fibs_board(words)} PLIES {self._plies}"
            try:
                reply = self.answer(question + "\n", PATIENCE)
            except EngineFault as problem:
                raise InputError(f"gnubg: {problem}") from None
            try:
                win, gammon, backgammon, lost, lost_more, _ = map(float, reply.split())
            except ValueError:
                raise InputError(
                    f"gnubg: answered {reply[:40]!r} to {question[:20]!r}, expected six numbers;"
                    " use gnubg 1.07 or later"
                ) from None
            points = 2 * win - 1 + gammon + backgammon - lost - lost_more
            evaluations[i] = (-points if turn_of(words) else points) / HIGHEST_POINTS
        return evaluations

    def close(self) -> None:
        """End the program, which reads no command while it listens to its socket."""
        self._process.kill()
        self._socket.close()
        self._folder.cleanup()


SIDES = "X", "O"
KINDS = {1: "a single game", 2: "a gammon", 3: "a backgammon"}


class PubevalPlayer:
    """Gerald Tesauro's pubeval: the afterstate with its highest score."""

    def begin(self, seed: str, start: np.ndarray) -> None:
        """Nothing is random."""

    def choose(self, line: np.ndarray, moves: Sequence[int], left: Left | None) -> Choice:
        words = np.ascontiguousarray(line[-1])
        after, _ = afterstates(words)
        return Choice(legal_moves(words)[pubeval_move(words, after)])

    def abort(self) -> None:
        """A move takes microseconds."""

    def close(self) -> None:
        """There is nothing to release."""


def reason(game: PlayedGame) -> str:
    """Return the reason for the end of a game as a short sentence."""
    if game.outcome is None:
        return f"Unfinished after {len(game.moves)} plies"
    if game.end == RULES:
        return f"{SIDES[game.outcome < 0]} wins {KINDS[abs(round(game.outcome * HIGHEST_POINTS))]}"
    if game.loser is None:
        return game.end
    why = (
        f"{SIDES[game.loser]} loses by {game.end}"
        if game.end in FAULTS
        else f"{SIDES[game.loser]} {game.end}"
    )
    return f"{why}: {game.detail}" if game.detail else why


def text(game: PlayedGame) -> str:
    """Return a game as a session of one game in .mat format; `named_first` has the left column."""
    first = game.named_first
    record = GameRecord(players=(_named(game.players[first]), _named(game.players[1 - first])))
    for words, move in zip(swapped(game.line) if first else game.line, game.moves, strict=False):
        record.rolled.append(np.asarray(words))
        record.moves.append(move & STEPS)
    if game.outcome is None:
        record.end = UNFINISHED
    else:
        record.points = round(game.outcome * HIGHEST_POINTS) * (-1 if first else 1)
        record.end = PLAYED if game.end == RULES else RESIGNED
    return mat_text([record])


def _named(name: str) -> str:
    return "".join(c if c.isprintable() and c != ":" else " " for c in name)[:30]


def rater(text: str) -> Rater:
    """Start gnubg as `gnubg:PLIES`; InputError for another program, or if that fails."""
    protocol, _, plies = text.partition(":")
    if protocol != "gnubg":
        raise InputError(
            f"{text}: says no values of moves, expected gnubg:PLIES, such as --teacher gnubg:0"
        )
    return GnubgEngine(gnubg_plies(plies))


def external(
    protocol: str, command: str, options: Mapping[str, str], control: Control, megabytes: int | None
) -> Player:
    """Start gnubg or a UBGI engine; InputError if that fails."""
    if options:
        raise InputError(
            f"{protocol}:{command}: has no option {next(iter(options))!r}; leave it out"
        )
    plies = gnubg_plies(command) if protocol == "gnubg" else None
    return EnginePlayer(
        lambda values: UbgiEngine(command) if plies is None else GnubgEngine(plies), {}, control
    )
