"""Shogi in matches: openings, USI engines as players, USI engines as
sources of evaluations."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from games.process import EngineProcess, ProcessPlayer
from games.protocol.client import EngineEvaluator, Speech
from games.reading import MOST_OF_OPENINGS, Notes
from games.record import (
    ILLEGAL,
    RESIGNS,
    Asked,
    Choice,
    Control,
    EngineFault,
    Forfeit,
    Openings,
)
from games.shogi.files import reading, sfen
from games.shogi.files import sfen as notation
from games.shogi.files.sfen import move_name, move_named, shown, text
from games.shogi.rules.endings import declares, ending
from games.shogi.rules.movegen import has_moves, moves_of, play
from games.shogi.rules.position import CHECK, SIDE, START, STATE, WORDS
from games.streams import InputError

FIRST_LINES = 1000  # that may say the format of a file whose name does not


def line_of(text: str) -> tuple[list[np.ndarray], list[int]]:
    """Return the positions of `[position] startpos|sfen SFEN [moves ...]` and the moves between
    them; ValueError for a fault."""
    words = text.split()
    if words[:1] == ["position"]:
        del words[0]
    moves = words.index("moves") if "moves" in words else len(words)
    line, found = [sfen.position(" ".join(words[:moves]))], []
    for name in words[moves + 1 :]:
        try:
            found.append(notation.move_named(line[-1], name))
        except ValueError:
            raise ValueError(f"illegal move {shown(name)} at ply {len(found) + 1}") from None
        after = np.empty_like(line[-1])
        play(line[-1], found[-1], after)
        line.append(after)
    return line, found


def _of_lines(
    source: str, lines: Sequence[str], skip: Callable[[str], None]
) -> tuple[list[np.ndarray], list[list[int]]]:
    starts, moves = [], []
    for number, words in enumerate(lines, 1):
        if not words.strip() or words.startswith("#"):
            continue
        try:
            line, found = line_of(words)
            if ending(line) is not None:
                raise ValueError(f"{shown(words)}: the opening ends the game")
        except ValueError as problem:
            skip(f"{source}:{number}: {problem}; line skipped")
            continue
        starts.append(line[0])
        moves.append(found)
    return starts, moves


def openings(source: str, note: Callable[[str], None]) -> Openings:
    """Read openings from a file of games, of SFEN positions or of USI lines; InputError if there is
    none. Bad games and lines are skipped with a note."""
    starts: list[np.ndarray] = []
    moves: list[list[int]] = []
    notes = Notes(source, note, MOST_OF_OPENINGS)
    form = reading.by_name(source)
    if form in reading.PACKED:
        raise InputError(
            f"{source}: openings cannot be {form} records; expected games, SFEN positions or lines"
            " of USI moves"
        )
    lines = reading.lines_of(source)
    form = form or reading.of_lines(lines[:FIRST_LINES])
    if form is None:
        starts, moves = _of_lines(source, lines, notes.add)
    else:
        for game in reading.games_of(lines, form):
            if game.fault:
                notes.add(f"{source}:{game.fault.line}: {game.fault}; game skipped")
            elif ending(game.line) is not None:
                notes.add(f"{source}:{game.begin}: the opening ends the game; game skipped")
            else:
                starts.append(game.line[0])
                moves.append(game.moves)
    notes.end(f"bad {'lines' if form is None else 'games'} skipped")
    if not starts:
        raise InputError(
            f"{source}: no openings found, expected games, SFEN positions or lines such as startpos"
            " moves 7g7f 3c3d"
        )
    flat = np.array([move for found in moves for move in found], np.uint32)
    return Openings(
        np.array(starts, np.uint64).reshape(-1, WORDS),
        flat,
        np.cumsum([len(found) for found in moves]),
    )


START_SECONDS = 10.0  # limit of the first answer
READY_SECONDS = 120.0  # limit of `readyok`: engines load their evaluation before it
STALL_SECONDS = 60.0  # limit of an answer if no time control applies
EXTRA_SECONDS = 5.0  # allowed beyond a time limit
HASH = "USI_Hash"
SCORE = re.compile(rb"info (?!string ).*?\bscore (cp|mate) ([+-]?\d{1,9})\b")
DEPTH = re.compile(rb"\bdepth (\d{1,5})\b")


def external(
    protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None
) -> UsiPlayer:
    """Start an engine as a player; InputError if that fails."""
    if protocol != "usi":
        raise InputError(f"{protocol}:{command}: shogi has no protocol {protocol!r}, expected usi")
    player = UsiPlayer(command, options, control, megabytes)
    player.start()
    return player


class UsiPlayer(ProcessPlayer):
    """An engine in a process of its own. A Player."""

    def __init__(
        self, command: str, options: dict[str, str], control: Control, megabytes: int | None
    ) -> None:
        super().__init__()
        self._command, self._options, self._control, self._megabytes = (
            command,
            options,
            control,
            megabytes,
        )
        self._dice = random.Random()

    def start(self) -> None:
        """Start the engine and set its options; InputError if that fails."""
        process = EngineProcess(self._command, "a usi engine")
        try:
            process.say(b"usi\n")
            known = {
                found[1].decode("utf-8", "replace")
                for line in process.until(b"usiok", START_SECONDS)
                if (found := re.match(rb"option name (.*?) type ", line))
            }
            wanted = (
                {HASH: str(self._megabytes)} if self._megabytes is not None else {}
            ) | self._options
            for name in self._options:
                if name not in known | {
                    HASH,
                    "USI_Ponder",
                }:  # these two may be set although no option names them
                    raise InputError(f"{self._command}: has no option {name!r}")
            process.say(
                "".join(
                    f"setoption name {name} value {value}\n" for name, value in wanted.items()
                ).encode()
                + b"isready\n"
            )
            process.until(b"readyok", READY_SECONDS)
        except EngineFault as problem:
            process.kill()
            raise InputError(f"{self._command}: {problem}; is it a usi engine?") from None
        except InputError:
            process.kill()
            raise
        self._process = process

    def set(self, values: Mapping[str, str]) -> None:
        self._options = {**self._options, **values}  # also for an engine that is started again
        if self._process is not None:
            lines = "".join(f"setoption name {name} value {values[name]}\n" for name in values)
            with contextlib.suppress(Forfeit):
                self.ask(lines + "isready\n", b"readyok", READY_SECONDS)

    def begin(self, seed: str) -> None:
        super().begin(seed)
        assert self._process is not None, "start() sets it"
        self._dice = random.Random(seed)
        self._process.say(b"usinewgame\n")

    def choose(
        self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None
    ) -> Choice:
        names = " ".join(move_name(words, move) for words, move in zip(line, moves, strict=False))
        position = f"position sfen {text(line[0])}{' moves ' if names else ''}{names}\n"
        control = self._control
        patience = (
            left[0] + control.byoyomi
            if left
            else STALL_SECONDS
            if control.movetime is None
            else 2 * control.movetime
        ) + EXTRA_SECONDS
        return self._choice(
            line[-1], self.ask(position + self._go(line[-1], left) + "\n", b"bestmove", patience)
        )

    def _go(self, words: np.ndarray, left: tuple[float, float] | None) -> str:
        control = self._control.drawn(self._dice)
        if left is not None:
            black, white = left[::-1] if int(words[STATE]) & 1 else left
            times = f"go btime {round(1000 * black)} wtime {round(1000 * white)}"
            if control.byoyomi:
                return f"{times} byoyomi {round(1000 * control.byoyomi)}"
            increment = round(1000 * control.increment)
            return f"{times} binc {increment} winc {increment}"
        if control.movetime is not None:
            return f"go btime 0 wtime 0 byoyomi {round(1000 * control.movetime)}"
        return (
            f"go depth {control.depth}"
            if control.depth is not None
            else f"go nodes {control.nodes}"
        )

    def _choice(self, words: np.ndarray, lines: list[bytes]) -> Choice:
        """Return the choice of the engine; `win` is accepted where the rules let it declare."""
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
                return (
                    Choice(move, float(number), None, plies)
                    if found[1] == b"cp"
                    else Choice(move, None, number, plies)
                )
        return Choice(move)


def _asked(positions: np.ndarray) -> Asked:
    """Prepare positions (n, 15)."""
    return Asked(
        [text(words).encode() for words in positions],
        positions[:, STATE] & SIDE != 0,
        positions[:, STATE] & CHECK != 0,
        np.array([has_moves(words) for words in positions], np.bool_),
    )


def evaluator(command: str, values: Mapping[str, object]) -> EngineEvaluator:
    """Start a USI engine as a source of scores; InputError if that fails."""
    return EngineEvaluator(USI, command, values)


USI = Speech(
    "usi",
    "usinewgame",
    "position sfen",
    text(START),
    _asked,
    ready_first=True,
    mates_in_plies=True,
    stalemate_loses=True,
)
