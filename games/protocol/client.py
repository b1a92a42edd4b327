"""Engines of UCI or a protocol like it as sources of scores: what they declare and print, and
searches of thousands of positions."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn

import numpy as np

from games.process import SILENT, EngineProcess
from games.record import Asked, EngineFault, EngineOption, Searched, SearchLimits
from games.streams import InputError

OPTION = re.compile(r"option name (.+?) type (spin|check|combo|button|string)(?: (.*))?")
FIELD = re.compile(r"(?:^| )(default|min|max|var) (.*?)(?= (?:default|min|max|var) |$)")


def option_of(line: str) -> EngineOption | None:
    """Parse a line `option name ...`; None for what is not one."""
    match = OPTION.match(line.strip())
    if match is None:
        return None
    fields: dict[str, str] = {}
    choices = []
    for field in FIELD.finditer(match[3] or ""):
        if field[1] == "var":
            choices.append(field[2].strip())
        else:
            fields[field[1]] = field[2].strip()
    low, high = (_whole(fields.get(key)) for key in ("min", "max"))
    if match[2] == "spin" and (
        low is None or high is None or _whole(fields.get("default")) is None
    ):
        return None
    return EngineOption(
        match[1].strip(), match[2], fields.get("default", ""), low, high, tuple(choices)
    )


def _whole(text: str | None) -> int | None:
    with contextlib.suppress(ValueError, TypeError):
        return int(text or "")
    return None


START_SECONDS = 10.0  # limit of the first answer
PATIENCE = 60.0  # seconds of silence


@dataclass(frozen=True)
class Speech:
    """The differences between protocols, and the functions of the game."""

    name: str  # the first command; `ok` behind it ends the answer
    new_game: str
    position: str  # before the text of a position: `position fen`
    start: str  # the text of the initial position
    asked: Callable[[np.ndarray], Asked]  # prepares positions (n, words)
    variant: str = ""  # the option for positions of a variant
    # whether `isready` must precede the first position
    ready_first: bool = False
    mates_in_plies: bool = False  # whether scores count the plies to a mate, not the moves
    stalemate_loses: bool = False


class EngineEvaluator:
    """An engine in a process of its own. An Evaluator.

    `values` are options to set at once. InputError if it does not start."""

    def __init__(self, speech: Speech, command: str, values: Mapping[str, object]) -> None:
        self.command, self.name = command, command
        self._speech = speech
        self._options: dict[str, EngineOption] = {}
        self._unsent = b""  # options to be set before the next position
        self._in_variant = self._aborted = False
        self._process = EngineProcess(command, f"a {speech.name} engine")
        try:
            self._start()
            self.set(values)
            if self._unsent:
                self._send_options()  # an engine that does not survive them is reported here
        except BaseException:
            self._process.kill()
            raise

    @property
    def options(self) -> Mapping[str, EngineOption]:
        return self._options

    def set(self, values: Mapping[str, object]) -> None:
        """Set options before the next position. InputError for unknown options and for values out
        of range."""
        for name, value in values.items():
            option = self._options.get(name) or next(
                (other for other in self._options.values() if other.name.lower() == name.lower()),
                None,
            )
            if option is None:
                raise InputError(f"{self.command}: has no option {name!r}")
            text = _checked(self.command, option, str(value))
            self._unsent += f"setoption name {option.name} value {text}\n".encode()

    def asked(self, positions: np.ndarray) -> Asked:
        """Prepare positions (n, words)."""
        asked = self._speech.asked(positions)
        if asked.variant and self._speech.variant not in self._options:
            raise InputError(
                f"{self.command}: has no option {self._speech.variant}, and some positions are of"
                " Chess960"
            )
        return asked

    def searches(self, asked: Asked, limits: SearchLimits) -> Iterator[Searched]:
        """Search each position afresh; yield the results in order, each as soon as it is there.

        The tables of the engine are cleared before each position, as for a new game: scores then
        depend neither on the positions before nor on the number of engines, so that they can be
        cached by position. A `go` is written when the search before has ended: engines may drop or
        stop a search if another command comes during the search."""
        self._variant(asked)
        go = f"go {limits.text}".encode()
        for i in range(len(asked)):
            yield self._search(asked, i, go)

    def require_limits(self, limits: SearchLimits) -> None:
        """Search the initial position; InputError for an engine that goes on far beyond the limits,
        or fails there."""
        of_nodes, allowed = limits.depth is None, limits.depth or limits.nodes or 0
        most = MORE * allowed + MORE_NODES if of_nodes else allowed + MORE_DEPTH
        nodes, depth, within, go = 0, 0, (0, 0), f"go {limits.text}".encode()
        start = f"{self._speech.position} {self._speech.start}\n".encode()
        self._get_ready()
        unsent, self._unsent = self._unsent, b""
        self._process.say(unsent + self._new_game() + start + go + b"\n")
        for line in self._until_stopped(go, allowed / SLOWEST if of_nodes else PATIENCE):
            depth = max(depth, *map(int, DEPTH.findall(line)), 0)
            nodes = max(nodes, *map(int, NODES.findall(line)), 0)
            done = nodes if of_nodes else depth
            if done <= allowed:
                within = depth, nodes
            if done > most:
                self._process.kill()
                better = f"--depth {within[0] or 1}" if of_nodes else f"--nodes {within[1] or 1}"
                raise InputError(
                    f"{self.command}: searched {done:,} {'nodes' if of_nodes else 'plies'} where"
                    f" {allowed:,} were allowed; try {better}"
                )

    def _until_stopped(self, go: bytes, seconds: float) -> Iterator[bytes]:
        """Yield the lines of the engine until it moves. An engine that takes too long is stopped:
        it may hold back its output."""
        patience = min(LEAST_PATIENCE + seconds, PATIENCE)
        late = f"did not move within {patience:g} s"
        deadline, stopped, line = time.monotonic() + patience, False, b""
        while not line.startswith(b"bestmove"):
            left = deadline - time.monotonic()
            try:
                if left <= 0:
                    raise EngineFault(late)
                line = self._process.until(b"", left)[0]
            except EngineFault as problem:
                if stopped or left > 0 and not SILENT.match(str(problem)):
                    self._fail(go, late if stopped else str(problem), 0, 0)
                stopped, deadline = True, time.monotonic() + LEAST_PATIENCE
                self._process.say(b"stop\n")
                continue
            yield line
        if stopped:
            self._fail(go, late, 0, 0)

    def abort(self) -> None:
        """Kill the engine, from any thread: what waits for it raises EngineFault."""
        self._aborted = True
        self._process.kill()

    def close(self) -> None:
        """End the engine."""
        self._process.quit()

    def _start(self) -> None:
        """Read the name and the options."""
        self._unready = self._speech.ready_first
        self._process.say(f"{self._speech.name}\n".encode())
        try:
            lines = self._process.until(f"{self._speech.name}ok".encode(), START_SECONDS)
        except EngineFault as problem:
            self._process.kill()
            raise InputError(
                f"{self.command}: {problem}; is it a {self._speech.name} engine?"
            ) from None
        for line in lines:
            text = line.decode("utf-8", "replace")
            if text.startswith("id name "):
                self.name = text.removeprefix("id name ").strip()
            elif option := option_of(text):
                self._options[option.name] = option

    def _send_options(self) -> None:
        self._get_ready()
        unsent, self._unsent = self._unsent and self._unsent + self._new_game(), b""
        self._process.say(unsent + b"isready\n")
        self._answer(b"readyok", b"isready", 0, 0)

    def _answer(self, last: bytes, asked: bytes, done: int, total: int) -> list[bytes]:
        """Read lines up to one that begins with `last`, the answer to what was asked."""
        try:
            return self._process.until(last, PATIENCE)
        except EngineFault as problem:
            self._fail(asked, str(problem), done, total)

    def _get_ready(self) -> None:
        """Let the engine read what its options name, if its protocol asks for that."""
        if self._unready:
            self._unready = False
            unsent, self._unsent = self._unsent, b""
            self._process.say(unsent + b"isready\n")
            self._answer(b"readyok", b"isready", 0, 0)

    def _new_game(self) -> bytes:
        return f"{self._speech.new_game}\n".encode()

    def _fail(self, asked: bytes, what: str, done: int, total: int) -> NoReturn:
        self._process.kill()
        raise EngineFault(
            f"{self.command}: `{asked.decode()}`: {'stopped' if self._aborted else what}",
            done,
            total,
        ) from None

    def _variant(self, asked: Asked) -> None:
        if asked.variant and not self._in_variant:
            self._in_variant = True
            self.set({self._speech.variant: "true"})

    def _search(self, asked: Asked, i: int, go: bytes) -> Searched:
        lines: list[bytes] = []
        if asked.playable[i]:
            self._get_ready()
            unsent, self._unsent = self._unsent, b""
            position = b"%b %b\n%b\n" % (self._speech.position.encode(), asked.texts[i], go)
            self._process.say(unsent + self._new_game() + position)
            lines = self._answer(b"bestmove", go, i, len(asked))
        return self._result(asked, i, lines, go)

    def _result(self, asked: Asked, i: int, lines: Sequence[bytes], go: bytes) -> Searched:
        """The result of a search by what the engine said; of a position without legal moves by the
        rules."""
        sign = -1 if asked.second[i] else 1
        if not asked.playable[i]:
            lost = asked.checked[i] or self._speech.stalemate_loses
            return Searched(-sign * np.inf, 0) if lost else Searched(0.0, None)
        last = next(islice(_scored(lines), 1), None)
        if last is None:
            self._fail(
                go,
                f"no score before {lines[-1].decode('utf-8', 'replace')[:40]!a} for"
                f" {asked.texts[i].decode()}",
                i,
                len(asked),
            )
        kind, number = last
        if kind == b"cp":
            return Searched(sign * float(number), None)
        moves = (abs(number) + 1) // 2 if self._speech.mates_in_plies else abs(number)
        return Searched(
            sign * (np.inf if number > 0 else -np.inf), sign * (moves if number > 0 else -moves)
        )


DEPTH, NODES = re.compile(rb"^info .*?\bdepth (\d{1,5})\b"), re.compile(rb"\bnodes (\d{1,15})\b")
MORE_DEPTH, MORE, MORE_NODES = 1, 4, 20_000  # engines look at their limits now and then
LEAST_PATIENCE, SLOWEST = 5.0, 5_000  # seconds, nodes a second
SCORE = re.compile(rb"info (?!string ).*?\bscore (cp|mate) (-?\d{1,9})\b( lowerbound| upperbound)?")
OTHER_LINE = re.compile(rb"\bmultipv (?!1\b)")


def _scored(lines: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    """The scores of the best line from the last on, exact ones before bounds."""
    matches = [
        match
        for line in reversed(lines)
        if (match := SCORE.match(line)) and not OTHER_LINE.search(line)
    ]
    for match in sorted(matches, key=lambda match: match[3] is not None):
        yield match[1], int(match[2])


def _checked(command: str, option: EngineOption, text: str) -> str:
    """The value of an option as the engine reads it; InputError if it is out of range."""
    if "\n" in text or "\r" in text:
        raise InputError(f"{command}: option {option.name!r}: a value of several lines")
    if option.kind == "spin":
        try:
            value = int(text)
        except ValueError:
            raise InputError(
                f"{command}: option {option.name!r} is {text[:40]!r}, expected a whole number"
            ) from None
        assert option.low is not None and option.high is not None
        if not option.low <= value <= option.high:
            raise InputError(
                f"{command}: option {option.name!r} is {value}, expected {option.low} to"
                f" {option.high}"
            )
    if option.kind == "check" and text.lower() not in ("true", "false"):
        raise InputError(
            f"{command}: option {option.name!r} is {text[:40]!r}, expected true or false"
        )
    if option.kind == "check":
        return text.lower()
    if option.kind == "combo" and text not in option.choices:
        raise InputError(
            f"{command}: option {option.name!r} is {text[:40]!r}, expected"
            f" {', '.join(option.choices)}"
        )
    return text
