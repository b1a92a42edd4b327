"""The evaluation that an engine plays with, as its server asks for it. Importing it is fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # they take most of a second, in which a chess program waits for the first answer
    import numpy as np

    from games.record import Game
    from games.search.searcher import Searcher
    from tuner.evaluation.evaluation import Evaluation
    from tuner.parameters.parameters import Parameters


class ServedEvaluation:
    """One evaluation with its search. `load` returns the evaluation of a name, or the usual one for
    None. With `settable`, every weight of a parameter file and every constant of the search can be
    changed without compiling again; `read`, which takes less time than `load`, returns the game and
    the parameters, None for a network. `learns`: all weights will be replaced."""

    def __init__(
        self,
        read: Callable[[str | None], tuple[Game, Parameters | None]],
        load: Callable[[str | None], Evaluation],
        settable: bool,
        learns: bool = False,
    ) -> None:
        self._read, self._load, self._settable = read, load, settable
        self._changes = settable or learns
        self._evaluation: Evaluation | None = None
        self._places: dict[str, tuple[int, int]] = {}
        self._spins: dict[str, tuple[int, int, int]] = {}
        self._weights: np.ndarray | None = None  # that are changed
        self._constants: dict[str, int] = {}  # of the search

    def searcher(self, name: str | None) -> Searcher:
        """Return a search with the evaluation of this name, whose weights are the current ones from
        now on."""
        self._evaluation = self._load(name)
        if self._settable:
            self._use(name)
        searcher = self._current.searcher(lean=not self._changes)
        searcher.set_constants(self._constants)
        return searcher

    def spins(self) -> dict[str, tuple[int, int, int]]:
        """Names of all weights, each with its whole number of centipawns, least and greatest, and
        of the constants of the search; nothing unless settable."""
        if self._settable and not self._spins:
            self._use(None)
        return self._spins

    def set(self, name: str, value: int) -> None:
        """Change a weight, in centipawns, or a constant of the search; a searcher obeys after
        `bind`."""
        if self._weights is not None and name in self._places:
            self._weights[self._places[name]] = value
        else:
            self._constants[name] = value

    def replace(self, weights: np.ndarray) -> None:
        """Replace all weights; a searcher obeys after `bind`."""
        self._weights = weights

    def bind(self, searcher: Searcher) -> None:
        """Let a searcher use the current weights; its tables hold scores of earlier weights until
        they are cleared."""
        self._current.bind(searcher)
        searcher.set_constants(self._constants)

    def value(self, words: np.ndarray) -> float:
        """Return the static evaluation of a position (words,) in centipawns, first player's view,
        in double precision."""
        return float(self._current.values(words[None])[0]) + 0.0  # not -0

    @property
    def _current(self) -> Evaluation:
        assert self._evaluation is not None, "searcher() loads it"
        if self._weights is None:
            return self._evaluation
        return self._evaluation.with_weights(self._weights)

    def _use(self, name: str | None) -> None:
        from tuner.export.numbers import each_number, rounded, spin_limits, whole

        game, parameters = self._read(name)
        if parameters is not None:
            self._weights = parameters.weights.copy()
            r = rounded(parameters)
            low, high = spin_limits(r)
            numbers = each_number(r)
            self._places = {name: (s, i) for name, s, i in numbers}
            self._spins = {
                name: (whole(r.weights[s, i]), whole(low[s, i]), whole(high[s, i]))
                for name, s, i in numbers
            }
        self._spins |= {
            each.name: (each.value, each.low, each.high) for each in game.contest.constants
        }
