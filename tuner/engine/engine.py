"""An engine: a game with its terms, compiled into one evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalterms.compose import Composition, compose
from evalterms.emit import UNIT, pack
from games.record import Game
from games.search.searcher import SMALL_ADVANTAGE, Searcher
from games.streams import InputError
from tuner.datasets.rows import Rows
from tuner.device.base import Device
from tuner.device.cpu.device import CPU, Cpu
from tuner.device.cpu.linearised import Linearised, changes, values
from tuner.engine.counter import Counter
from tuner.parallel import in_order
from tuner.parameters.layout import Layout, shares_of
from tuner.parameters.parameters import DEFAULT_GAME as DEFAULT_GAME
from tuner.parameters.parameters import Parameters

AT_ONCE = 1 << 14  # positions of a task


@dataclass(frozen=True)
class Engine:
    """A game with its terms composed into one evaluation."""

    game: Game
    composition: Composition
    layout: Layout

    @cached_property
    def phases(self) -> int:
        """Steps of the phase: a position of phase f has the share f / phases of the first stage."""
        return self.composition.glue.PHASES

    def packed(self, parameters: Parameters) -> np.ndarray:
        """Return the weights for the compiled evaluation, (columns or more,) int64. ValueError for those of another layout:
        compiled code does not check it."""
        if parameters.weights.shape[1] != self.layout.size:
            raise ValueError(f"weights of {parameters.weights.shape[1]} columns, expected {self.layout.size}")
        return self.composition.form.packed(pack(parameters.weights[0], parameters.weights[-1]))

    def evaluation(self, packed: np.ndarray) -> tuple[int, int]:
        """Return the addresses of the compiled evaluation and of packed weights, which the caller keeps alive."""
        return self.composition.glue.score.address(), packed.ctypes.data

    def evaluate(self, positions: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Return the evaluations (n,) of positions (n, words) in centipawns, first player's view."""
        out = np.zeros(len(positions), np.int64)
        self.composition.glue.scores(np.ascontiguousarray(positions), self.packed(parameters), out)
        return out / UNIT

    def cpu(self, workers: int = 1) -> Cpu:
        """Return the CPU with some threads, for passes over positions of this engine."""
        return Linearised(workers, composition=self.composition) if self.composition.curved else Cpu(workers)

    def evaluate_many(self, positions: np.ndarray, parameters: Parameters, workers: int = 1, device: Device = CPU) -> np.ndarray:
        """Evaluate any number of positions on `workers` threads, from counts like the passes over datasets: exact, whereas
        `evaluate` rounds weights to 1/256 centipawn. Evaluations that are not linear are computed on the CPU."""
        device = self.cpu() if self.composition.curved else device
        table = np.pad(self.table(parameters.weights), ((0, 0), (0, 1)))

        def work(begin: int) -> np.ndarray:
            rows = self.coefficients(positions[begin:begin + AT_ONCE])
            return device.evaluate(rows, table)

        return np.concatenate([np.zeros(0), *in_order(work, range(0, len(positions), AT_ONCE), workers)])

    def values(self, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of positions (n, words) in centipawns, first player's view, with weights (stages,
        columns), in double precision."""
        return values(self.composition, self.coefficients(positions), self.table(weights))

    def changes(self, positions: np.ndarray, index: np.ndarray, ends: np.ndarray, weights: np.ndarray, step: float) -> np.ndarray:
        """Return the changes (k, stages, 2) of `values` if the weight of column index[k] moves by a step in centipawns, up and
        down. The columns of position i end at ends[i]."""
        rows = self.coefficients(positions)
        return changes(self.composition, rows, self.table(weights), self._shares(len(weights)), index, ends, step)

    def _shares(self, stages: int) -> np.ndarray:
        """Return the share (stages, phases + 1) of each stage at each phase."""
        return shares_of(np.arange(self.phases + 1), self.phases, stages)

    def table(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights (phases + 1, columns) at each phase."""
        return np.ascontiguousarray(self._shares(len(weights)).T @ weights)

    def searcher(self, parameters: Parameters, playing: bool = True, megabytes: int = 16, lean: bool = True) -> Searcher:
        """Return a searcher with these parameters; InputError if the game has no search. See `games.search.searcher`.

        `lean`: evaluate without the terms whose weights are all zero; `bind` works only without it.
        """
        if self.game.searcher is None:
            raise InputError(f"{self.game.name} has no search; its games come from elsewhere")
        composition, packed = self._without_zeros(parameters) if lean else (self.composition, self.packed(parameters))
        found = self.game.searcher(composition.glue.score.address(), packed.ctypes.data, playing,
                                   SMALL_ADVANTAGE / parameters.scale, megabytes)
        found.weights = packed  # kept alive by the searcher that reads them
        return found

    def bind(self, searcher: Searcher, parameters: Parameters) -> None:
        """Change the weights of a searcher that is not lean."""
        searcher.weights = self.packed(parameters)
        searcher.bind(*self.evaluation(searcher.weights))

    def _without_zeros(self, parameters: Parameters) -> tuple[Composition, np.ndarray]:
        """Return the evaluation without the terms whose weights are all zero, equal but faster, and its packed weights."""
        packed, terms = self.packed(parameters), self.composition.terms
        parts = np.split(packed[:self.layout.size], np.cumsum([term.size for term in terms])[:-1])
        kept = [k for k, part in enumerate(parts) if part.any()] or [0]
        if len(kept) == len(terms):
            return self.composition, packed
        found = compose(self.game.name, [terms[k] for k in kept])
        return found, found.form.packed(np.concatenate([parts[k] for k in kept]))

    def coefficients(self, positions: np.ndarray) -> Rows:
        """Return the sparse coefficients of positions (n, words): the inputs of `evalterms.form`."""
        return Counter(self.composition).count(np.ascontiguousarray(positions))
