"""Engines as players of matches: faults lose the game, and an engine that has ended is started
again for the next one."""

import contextlib
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NoReturn

import numpy as np

from games.process import EngineProcess
from games.record import (
    CRASH,
    RESIGNS,
    STALL,
    Choice,
    Control,
    EngineFault,
    EngineOption,
    EngineSilent,
    Forfeit,
    Left,
)
from games.streams import InputError

LOG = logging.getLogger(__name__)
STALL_SECONDS = 60.0  # limit of an answer if no time control applies
EXTRA_SECONDS = 5.0  # allowed beyond a time limit


@cache
def note_ignored(command: str, line: str) -> None:
    """Log, once, a line that declares no option, although it should."""
    LOG.warning(f"{command}: ignored the line {line[:100]!a}, which declares no valid option")


def whole_of(text: str | None) -> int | None:
    """Read a whole number; None for another text."""
    with contextlib.suppress(ValueError, TypeError):
        return int(text or "")
    return None


def checked(
    command: str, options: Mapping[str, EngineOption], name: str, value: object
) -> tuple[EngineOption, str]:
    """Return an option, whose name may be in another case, and its value as the engine reads it;
    InputError for what the engine has not declared so."""
    same = [each for each in options if each.lower() == name.lower()]
    if not same:
        raise InputError(f"{command}: has no option {name!r}")
    option, text = options[name if name in same else same[0]], str(value)
    number, expected = whole_of(text), ""
    if option.kind == "spin":
        if number is None:
            expected = "a whole number"
        elif not option.low <= number <= option.high:  # type: ignore[operator]
            expected = f"{option.low} to {option.high}"
    elif option.kind == "check":
        text = text.lower()
        expected = "" if text in ("true", "false") else "true or false"
    elif option.kind == "combo":
        choices = [each for each in option.choices if each.lower() == text.lower()]
        expected = "" if choices else ", ".join(option.choices)
        text = text if text in choices or expected else choices[0]
    elif "\n" in text or "\r" in text:
        expected = "one line"
    if expected:
        given = text if option.kind == "spin" and number is not None else repr(str(value)[:40])
        raise InputError(f"{command}: option {option.name!r} is {given}, expected {expected}")
    return option, text


class Engine(ABC):
    """A running engine that is asked for moves, of `command`."""

    _process: EngineProcess

    def __init__(self, command: str) -> None:
        self.command, self.name = command, ""  # by its own account
        self.options: dict[str, EngineOption] = {}

    def set(self, values: Mapping[str, object]) -> None:
        """Set options before the next position. InputError for unknown options and for values out
        of range."""
        settings = [checked(self.command, self.options, *each) for each in values.items()]
        if settings:
            self._process.say(
                "".join(self.setting(*each) for each in settings).encode("utf-8", "surrogateescape")
            )

    def setting(self, option: EngineOption, text: str) -> str:
        """Return the line that sets an option."""
        raise NotImplementedError

    def require(self, start: np.ndarray) -> None:  # noqa: B027
        """InputError for a position that the engine cannot be given."""

    def require_limits(self, limits: Control, more: int) -> None:  # noqa: B027
        """InputError for an engine that does not keep to limits of searches, or searches more than
        `more` plies beyond its depth."""

    def new_game(self, start: np.ndarray) -> None:  # noqa: B027
        """Begin a game in a position, and wait until the engine is ready for it. EngineFault if it
        does not get ready, InputError for a position that it cannot be given."""

    def wait_until_ready(self) -> None:  # noqa: B027
        """Wait until the engine has done what it was told; EngineFault if it does not."""

    @abstractmethod
    def think(
        self,
        line: np.ndarray,
        moves: Sequence[int],
        control: Control,
        left: Left | None,
        seconds: float,
    ) -> Choice:
        """Choose a move, see `games.record.Player.choose`. Forfeit for an illegal one, EngineFault
        if none comes within `seconds`."""

    @property
    def exchange(self) -> str:
        """The lines that passed last between tuner (>) and the engine (<)."""
        return self._process.exchange

    def abort(self) -> None:
        """Kill the engine, from any thread: what waits for it raises EngineFault."""
        self._process.kill()

    def close(self) -> None:
        """End the engine."""
        self._process.quit()


class EnginePlayer:
    """An external engine. A Player.

    `make` starts the engine with options; InputError if that fails."""

    def __init__(
        self,
        make: Callable[[Mapping[str, str]], Engine],
        options: Mapping[str, str],
        control: Control,
    ) -> None:
        self._make, self._options, self._control = make, options, control
        self._dice = random.Random()
        self._engine: Engine | None = make(options)
        self.name = self._engine.name

    def require(self, starts: Iterable[np.ndarray], more: int) -> None:
        """InputError for an engine that does not keep to its limits, see `Engine.require_limits`,
        or cannot be given one of these positions."""
        engine, control = self._engine, self._control
        assert engine is not None, "before its first game"
        if control.depth is not None or control.nodes is not None:
            limits = Control(None if control.nodes else control.depth, control.nodes)
            engine.require_limits(limits, more)
        for start in starts:
            engine.require(start)

    def set(self, values: Mapping[str, str]) -> None:
        """See `games.record.Settable`."""
        self._options = {**self._options, **values}  # also for an engine that is started again
        if self._engine is not None:
            self._engine.set(values)
            try:
                self._engine.wait_until_ready()
            except EngineFault:
                self._end()

    def begin(self, seed: str, start: np.ndarray) -> None:
        """See `games.record.Player`."""
        self._dice = random.Random(seed)
        try:
            self._engine = self._engine or self._make(self._options)
        except InputError as problem:
            raise Forfeit(CRASH, f"does not restart: {problem}") from None
        try:
            self._engine.new_game(start)
        except EngineFault as problem:
            self._forfeit(problem, problem.what)

    def choose(self, line: np.ndarray, moves: Sequence[int], left: Left | None) -> Choice:
        """See `games.record.Player`."""
        assert self._engine is not None, "see begin"
        control = self._control.drawn(self._dice)
        patience = STALL_SECONDS
        if left is not None:
            patience = left.own + control.byoyomi + (control.margin or 0.0) + EXTRA_SECONDS
        elif control.movetime is not None:
            patience = 2 * control.movetime + (control.margin or 0.0) + EXTRA_SECONDS
        try:
            return self._engine.think(line, moves, control, left, patience)
        except EngineFault as problem:
            self._forfeit(problem, f"no move within {patience:g} s")
        except Forfeit as fault:
            if fault.kind != RESIGNS:
                fault.exchange = self._engine.exchange
                self._end()
            raise

    def abort(self) -> None:
        """See `games.record.Player`."""
        if engine := self._engine:
            engine.abort()

    def close(self) -> None:
        """See `games.record.Player`."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _forfeit(self, problem: EngineFault, silence: str) -> NoReturn:
        exchange = self._engine.exchange if self._engine else ""
        self._end()
        if isinstance(problem, EngineSilent):
            raise Forfeit(STALL, silence, exchange) from None
        raise Forfeit(CRASH, problem.what, exchange) from None

    def _end(self) -> None:
        """Kill the engine, and release what belongs to it."""
        self.abort()
        self.close()
