"""Engines as players of matches: faults lose the game, and an engine that has ended is started
again for the next one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn, Protocol

import numpy as np

from games.record import (
    CRASH,
    RESIGNS,
    STALL,
    Choice,
    Control,
    EngineFault,
    EngineSilent,
    Forfeit,
    SearchLimits,
)
from games.streams import InputError

STALL_SECONDS = 60.0  # limit of an answer if no time control applies
EXTRA_SECONDS = 5.0  # allowed beyond a time limit


class Engine(Protocol):
    """A running engine that is asked for moves."""

    name: str  # by its own account

    def set(self, values: Mapping[str, object]) -> None:
        """Set options. InputError for unknown ones, and for values out of range."""

    def require(self, start: np.ndarray) -> None:
        """InputError for a position that the engine cannot be given."""

    def require_limits(self, limits: SearchLimits, more: int) -> None:
        """InputError for an engine that does not keep to limits of searches, or searches more than
        `more` plies beyond its depth."""

    def new_game(self, start: np.ndarray) -> None:
        """Begin a game in a position, and wait until the engine is ready for it. EngineFault if it
        does not get ready, InputError for a position that it cannot be given."""

    def think(
        self,
        line: np.ndarray,
        moves: Sequence[int],
        control: Control,
        left: tuple[float, float] | None,
        seconds: float,
    ) -> Choice:
        """Choose a move, see `games.record.Player.choose`. Forfeit for an illegal one, EngineFault
        if none comes within `seconds`."""

    def abort(self) -> None:
        """Kill the engine, from any thread."""

    def close(self) -> None:
        """End the engine."""


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
            limits = SearchLimits(None if control.nodes else control.depth, control.nodes)
            engine.require_limits(limits, more)
        for start in starts:
            engine.require(start)

    def set(self, values: Mapping[str, str]) -> None:
        """See `games.record.Settable`."""
        self._options = {**self._options, **values}  # also for an engine that is started again
        if self._engine is not None:
            self._engine.set(values)

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

    def choose(
        self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None
    ) -> Choice:
        """See `games.record.Player`."""
        if self._engine is None:
            raise Forfeit(CRASH, "ended before")
        control = self._control.drawn(self._dice)
        patience = STALL_SECONDS
        if left is not None:
            patience = left[0] + control.byoyomi + control.margin + EXTRA_SECONDS
        elif control.movetime is not None:
            patience = 2 * control.movetime + control.margin + EXTRA_SECONDS
        try:
            return self._engine.think(line, moves, control, left, patience)
        except EngineFault as problem:
            self._forfeit(problem, f"no move within {patience:g} s")
        except Forfeit as fault:
            if fault.kind != RESIGNS:
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
        self._end()
        if isinstance(problem, EngineSilent):
            raise Forfeit(STALL, silence) from None
        raise Forfeit(CRASH, problem.what) from None

    def _end(self) -> None:
        """Kill the engine."""
        self.abort()
        self._engine = None
