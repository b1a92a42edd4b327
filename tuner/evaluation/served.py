"""The evaluation that an engine plays with, as its server asks for it. Importing it is fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # they take most of a second, in which a chess program waits for the first answer
    import numpy as np

    from games.search.searcher import Searcher
    from tuner.evaluation.engine import Engine
    from tuner.parameters.parameters import Parameters


class ServedEvaluation:
    """One evaluation with its search. `read` returns the parameters of a name, or the usual ones
    for None, and `load` the engine for them, too, which takes longer. With `settable`, every weight
    and every constant of the search can be changed without compiling again."""

    def __init__(
        self,
        read: Callable[[str | None], Parameters],
        load: Callable[[str | None], tuple[Engine, Parameters]],
        settable: bool,
    ) -> None:
        self._read, self._load, self._settable = read, load, settable
        self._engine: Engine | None = None
        self._places: dict[str, tuple[int, int]] = {}
        self._spins: dict[str, tuple[int, int, int]] = {}
        self._parameters: Parameters | None = None
        self._constants: dict[str, int] = {}  # of the search

    def searcher(self, name: str | None) -> Searcher:
        """Return a search with the parameters of this name, whose weights are the current ones from
        now on."""
        self._engine, parameters = self._load(name)
        self._use(parameters)
        searcher = self._engine.searcher(self._current, lean=not self._settable)
        searcher.set_constants(self._constants)
        return searcher

    def spins(self) -> dict[str, tuple[int, int, int]]:
        """Names of all weights, each with its whole number of centipawns, least and greatest, and
        of the constants of the search; nothing unless settable."""
        if self._settable and not self._spins:
            self._use(self._read(None))
        return self._spins

    def set(self, name: str, value: int) -> None:
        """Change a weight, in centipawns, or a constant of the search; a searcher obeys after
        `bind`."""
        if name in self._places:
            self._current.weights[self._places[name]] = value
        else:
            self._constants[name] = value

    def bind(self, searcher: Searcher) -> None:
        """Let a searcher use the current weights; its tables hold scores of others until they are
        cleared."""
        assert self._engine is not None, "the searcher is its own"
        self._engine.bind(searcher, self._current)
        searcher.set_constants(self._constants)

    def value(self, words: np.ndarray) -> float:
        """Return the static evaluation of a position (words,) in centipawns, first player's view,
        in double precision."""
        assert self._engine is not None, "searcher() loads it"
        return float(self._engine.values(words[None], self._current.weights)[0]) + 0.0  # not -0

    @property
    def _current(self) -> Parameters:
        assert self._parameters is not None, "searcher() or spins() reads them"
        return self._parameters

    def _use(self, parameters: Parameters) -> None:
        self._parameters = parameters.with_weights(parameters.weights.copy())
        if self._settable:
            from games.record import find
            from tuner.export.numbers import each_number, rounded, spin_limits, whole

            r = rounded(parameters)
            low, high = spin_limits(r)
            numbers = each_number(r)
            self._places = {name: (s, i) for name, s, i in numbers}
            self._spins = {
                name: (whole(r.weights[s, i]), whole(low[s, i]), whole(high[s, i]))
                for name, s, i in numbers
            }
            constants = find(parameters.game).contest.constants
            self._spins |= {each.name: (each.value, each.low, each.high) for each in constants}
