"""Evaluations of positions by an engine whose options are moved, several processes side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from games.evaluators import Asked, Evaluator, SearchLimits
from games.streams import InputError
from tuner.parallel import Threads

Settings = Mapping[str, int]  # values of options by their names


class Evaluations(NamedTuple):
    """Evaluations (settings, n) in centipawns of the first player's view, NaN where there is none: in check, or a mate.

    `same` (settings, n): whether the search had the PV of the first settings, so that both evaluated the same leaf; always for
    static evaluations.
    """

    values: np.ndarray
    same: np.ndarray

    @property
    def comparable(self) -> np.ndarray:
        """The evaluations, NaN where the PV is another."""
        return np.where(self.same, self.values, np.nan)


class Answers:
    """Asks engines, all of one program, for evaluations: static ones, or by searches with `limits`.

    `base` are the values of all options that are ever moved; `progress` is given the number of positions of each pass when it
    ends. `fresh`: start the engine again for each settings, for engines that keep tables of evaluations by earlier values.
    """

    def __init__(self, engines: Sequence[Evaluator], limits: SearchLimits | None, base: Settings,
                 progress: Callable[[int], None] = lambda positions: None) -> None:
        self._engines, self.limits, self._progress = [_Moved(engine, limits) for engine in engines], limits, progress
        self.base, self.fresh = dict(base), False

    @property
    def engines(self) -> int:
        """How many processes there are."""
        return len(self._engines)

    def asked(self, positions: np.ndarray) -> Asked:
        """Prepare positions (n, words)."""
        return self._engines[0].engine.asked(positions)

    def __call__(self, asked: Asked, moved: Sequence[Settings]) -> Evaluations:
        """Evaluate all positions with `base`, changed by each of these settings in turn."""
        passes = [{**self.base, **settings} for settings in moved]
        values = np.empty((len(passes), len(asked)))
        lines: list[list[tuple[str, ...]]] = [[] for _ in passes]

        def work(engine: _Moved, number: int) -> int:
            values[number], lines[number] = engine.evaluate(asked, passes[number], self.fresh)
            self._progress(len(asked))
            return number + 1

        def end(engine: _Moved) -> None:
            if threads.pending:  # a fault or an interrupt
                engine.engine.abort()

        with Threads(work, self._engines, abort=end) as threads:
            for number in range(len(passes)):
                threads.submit(number)
            for _ in threads.completed():
                pass
        same = np.ones(values.shape, np.bool_) if self.limits is None else np.array(
            [[a == b for a, b in zip(line, lines[0], strict=True)] for line in lines], np.bool_).reshape(values.shape)
        return Evaluations(values, same)


class _Moved:
    """An engine and the values of its options, so that only those that change are sent."""

    def __init__(self, engine: Evaluator, limits: SearchLimits | None) -> None:
        self.engine, self._limits = engine, limits
        self._values: dict[str, int] = {}

    def evaluate(self, asked: Asked, settings: Settings, fresh: bool) -> tuple[np.ndarray, list[tuple[str, ...]]]:
        """Return evaluations (n,) with these settings, and the PVs of searches."""
        if fresh:
            self.engine.restart()
        self.engine.set({name: value for name, value in settings.items() if self._values.get(name) != value})
        self._values.update(settings)
        if self._limits is None:
            return self.engine.evaluations(asked), []
        found = list(self.engine.searches(asked, self._limits))
        return np.array([one.score if one.mate is None else np.nan for one in found]), [one.pv for one in found]


def way_of(engine: Evaluator, limits: SearchLimits | None, text: str) -> str:
    """Say how an engine evaluates; InputError if it has no static evaluation and no search is wanted."""
    if limits is not None:
        return f"scores of searches to {limits.text}, while their PV stays the same"
    if not engine.evaluates():
        raise InputError(f"{text}: has no command `eval` whose answer is known; give --eval-pattern, or --depth 1 to use scores "
                         "of searches")
    return "static evaluations"
