"""Count the terms of positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from evalterms.framework.compose import Composition, compose
from evalterms.framework.emit import UNIT, pack
from games.record import Game
from games.search.searcher import SMALL_ADVANTAGE, Searcher
from games.streams import InputError
from tuner.datasets.dataset import Rows
from tuner.fit.device.base import Device
from tuner.fit.device.cpu.device import CPU, Cpu, Linearised, changes, linearise, values
from tuner.parallel import in_order
from tuner.parameters.parameters import DEFAULT_GAME as DEFAULT_GAME
from tuner.parameters.parameters import Layout, Parameters, Spans, by_phase, shares_of


class Counter:
    """Counts the terms of positions into buffers that are reused."""

    def __init__(self, composition: Composition) -> None:
        self._count = composition.glue.coefficients
        width = -(-len(composition.form.column) // 64) * 64
        self._rows = np.zeros((8, width), np.int32)
        self._room = 0
        self._index, self._counts = np.empty(0, np.uint16), np.empty(0, np.int8)

    def count(self, positions: np.ndarray) -> Rows:
        """Return the coefficients of positions (n, words); valid until the next call."""
        n = len(positions)
        row, phase = np.zeros(n + 1, np.int64), np.empty(n, np.uint8)
        done = 0
        if self._room == 0:
            self._grow(n)
        while done < n:
            done = self._count(
                positions, done, self._rows, self._index, self._counts, row[1:], phase
            )
            if done < 0:
                raise OverflowError(
                    "a term counts beyond 127 in one position; count in larger units"
                )
            if done < n:
                self._grow(n)
        return Rows(self._index[: row[-1]], self._counts[: row[-1]], row, phase)

    def _grow(self, n: int) -> None:
        old = self._room
        self._room = max(2 * old, 64 * n, 16 * self._rows.shape[1])
        index, counts = np.empty(self._room, np.uint16), np.empty(self._room, np.int8)
        if old:
            index[:old], counts[:old] = self._index, self._counts
        self._index, self._counts = index, counts


class BoundEvaluation(tuple[int, int]):
    """The addresses of a compiled evaluation and of its packed weights, which it keeps alive."""

    weights: np.ndarray


def rows_of(phases: int, spans: Spans) -> tuple[tuple[int, float], ...]:
    """Return, for each step of the phase, which two successive stages have shares, from
    0 on, and the share of the one at the larger phase; nothing for stages without spans."""
    if not spans:
        return ()
    shares = shares_of(np.arange(phases + 1), phases, len(spans), spans)[by_phase(spans)]
    later = np.maximum([np.flatnonzero(share)[-1] for share in shares.T], 1)
    return tuple(
        (row, float(shares[row + 1, step])) for step, row in enumerate((later - 1).tolist())
    )


AT_ONCE = 1 << 14  # positions of a task


@dataclass(frozen=True)
class CompiledTerms:
    """A game with its terms composed into one evaluation."""

    game: Game
    composition: Composition
    layout: Layout
    spans: Spans = ()  # of the stages; without them two share the phase, or one has all

    @cached_property
    def phases(self) -> int:
        """Steps of the phase."""
        return self.composition.glue.STEPS

    def packed(self, parameters: Parameters) -> np.ndarray:
        """Return the weights for the compiled evaluation, (columns or more,) int64. ValueError for
        those of another layout: compiled code does not check it."""
        if parameters.weights.shape[1] != self.layout.size:
            raise ValueError(
                f"weights of {parameters.weights.shape[1]} columns, expected {self.layout.size}"
            )
        order, weights = by_phase(self.spans) or [-1, 0], parameters.weights
        if len(weights) == 1:
            order = [0] * len(order)
        form = self.composition.form
        rows = [form.packed(pack(weights[b], weights[a])) for a, b in pairwise(order)]
        return np.concatenate(rows)

    def evaluation(self, parameters: Parameters) -> BoundEvaluation:
        """Return the compiled evaluation with these parameters."""
        packed = self.packed(parameters)
        bound = BoundEvaluation((self.composition.glue.score.address(), packed.ctypes.data))
        bound.weights = packed
        return bound

    def evaluate(self, positions: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Return the evaluations (n,) of positions (n, words) in centipawns, first player's
        view."""
        out = np.zeros(len(positions), np.int64)
        self.composition.glue.scores(np.ascontiguousarray(positions), self.packed(parameters), out)
        return out / UNIT

    def cpu(self, workers: int = 1) -> Cpu:
        """Return the CPU with some threads, for passes over positions of this engine."""
        return (
            Linearised(workers, composition=self.composition)
            if self.composition.curved
            else Cpu(workers)
        )

    def evaluate_many(
        self, positions: np.ndarray, parameters: Parameters, workers: int = 1, device: Device = CPU
    ) -> np.ndarray:
        """Evaluate any number of positions on `workers` threads, from counts like the passes over
        datasets: exact, whereas `evaluate` rounds weights to 1/256 centipawn. Evaluations that are
        not linear are computed on the CPU."""
        device = self.cpu() if self.composition.curved else device
        table = np.pad(self.table(parameters.weights), ((0, 0), (0, 1)))

        def work(begin: int) -> np.ndarray:
            rows = self.coefficients(positions[begin : begin + AT_ONCE])
            return device.evaluate(rows, table)

        return np.concatenate(
            [np.zeros(0), *in_order(work, range(0, len(positions), AT_ONCE), workers)]
        )

    def values(self, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of positions (n, words) in centipawns, first player's view,
        with weights (stages, columns), in double precision."""
        return values(self.composition, self.coefficients(positions), self.table(weights))

    def changes(
        self,
        positions: np.ndarray,
        index: np.ndarray,
        ends: np.ndarray,
        weights: np.ndarray,
        step: float,
    ) -> np.ndarray:
        """Return the changes (k, stages, 2) of `values` if the weight of column index[k] moves by a
        step in centipawns, up and down. The columns of position i end at ends[i]."""
        rows = self.coefficients(positions)
        return changes(
            self.composition,
            rows,
            self.table(weights),
            self.shares(len(weights)),
            index,
            ends,
            step,
        )

    def shares(self, stages: int) -> np.ndarray:
        """Return the share (stages, phases + 1) of each stage at each phase."""
        return shares_of(np.arange(self.phases + 1), self.phases, stages, self.spans)

    @cached_property
    def rows(self) -> tuple[tuple[int, float], ...]:
        """The stages as `compose` takes them."""
        return rows_of(self.phases, self.spans)

    def table(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights (phases + 1, columns) at each phase."""
        return np.ascontiguousarray(self.shares(len(weights)).T @ weights)

    def searcher(
        self, parameters: Parameters, playing: bool = True, megabytes: int = 16, lean: bool = True
    ) -> Searcher:
        """Return a searcher with these parameters; InputError if the game has no search. See
        `games.search.searcher`.

        `lean`: evaluate without the terms whose weights are all zero; `bind` works only without it.
        """
        if self.game.contest.searcher is None:
            raise InputError(f"{self.game.name} has no search; its games come from elsewhere")
        composition, packed = (
            self._without_zeros(parameters) if lean else (self.composition, self.packed(parameters))
        )
        found = self.game.contest.searcher(
            composition.glue.score.address(),
            packed.ctypes.data,
            playing,
            SMALL_ADVANTAGE / parameters.scale,
            megabytes,
        )
        found.weights = packed  # kept alive by the searcher that reads them
        return found

    def bind(self, searcher: Searcher, parameters: Parameters) -> None:
        """Change the weights of a searcher that is not lean."""
        bound = self.evaluation(parameters)
        searcher.bind(*bound)
        searcher.weights = bound.weights

    def _without_zeros(self, parameters: Parameters) -> tuple[Composition, np.ndarray]:
        """Return the evaluation without the terms whose weights are all zero, equal but faster, and
        its packed weights."""
        packed, terms = self.packed(parameters), self.composition.terms
        rows = packed.reshape(max(len(self.spans) - 1, 1), -1)[:, : self.layout.size]
        parts = np.split(rows, np.cumsum([term.size for term in terms])[:-1], axis=1)
        kept = [k for k, part in enumerate(parts) if part.any() or terms[k].phase] or [0]
        if len(kept) == len(terms):
            return self.composition, packed
        smaller = compose(self.game.name, [terms[k] for k in kept], self.rows)
        left = np.concatenate([parts[k] for k in kept], axis=1)
        return smaller, np.concatenate([smaller.form.packed(row) for row in left])

    def coefficients(self, positions: np.ndarray) -> Rows:
        """Return the sparse coefficients of positions (n, words): the inputs of
        `evalterms.term`."""
        return Counter(self.composition).count(np.ascontiguousarray(positions))


# centipawns, of finite differences; Homan's is forward
STEPS = {
    "forward-difference": 1.0,
    "finite-difference": 0.01,
}


@dataclass(frozen=True)
class CountedPositions:
    """Positions as `rows` with analytic derivatives; `shares` (stages, n) are the shares of the
    stages in each position. Where the evaluation is not linear, it is made linear near the weights
    (see `tuner.fit.device.cpu.device`)."""

    engine: CompiledTerms
    rows: Rows
    shares: np.ndarray

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) in centipawns, first player's view, with weights (stages,
        columns)."""
        return self._near(weights)[1]

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """Return the sum (stages, columns) over the positions of factor * dv/dw / scale, with v =
        tanh(scale * evaluation)."""
        rows, evaluation = self._near(weights)
        factors, of = factors * (1 - np.tanh(scale * evaluation) ** 2), rows.of
        return np.stack(
            [
                np.bincount(rows.index, rows.count * (share * factors)[of], self.engine.layout.size)
                for share in self.shares
            ]
        )

    def _near(self, weights: np.ndarray) -> tuple[Rows, np.ndarray]:
        """Return rows that are linear near the weights, and the evaluations."""
        rows, n = self.rows, len(self.rows.phase)
        if self.engine.composition.curved and n:
            return linearise(
                self.engine.composition, rows, np.array([[0, n]]), self.engine.table(weights)
            )
        of = rows.of
        return rows, sum(
            (
                share * np.bincount(of, rows.count * line[rows.index], n)
                for share, line in zip(self.shares, weights, strict=True)
            ),
            np.zeros(n),
        )


@dataclass(frozen=True)
class MovedPositions:
    """Positions evaluated by the compiled evaluation, with derivatives by finite differences of
    `step` centipawns for the nonzeros of their rows (see `tuner.fit.device.differences`)."""

    engine: CompiledTerms
    positions: np.ndarray
    step: float
    central: bool

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) in centipawns, first player's view, with weights (stages,
        columns)."""
        return self.engine.values(self.positions, weights)

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """Return the sum (stages, columns) over the positions of factor * dv/dw / scale, by
        differences of tanh(scale * e)."""
        rows, size = self.engine.coefficients(self.positions), self.engine.layout.size
        column = self.engine.composition.form.column[rows.index].astype(np.int64)
        of, index = np.divmod(np.unique(rows.of * size + column), size)  # sides counted apart
        ends = np.searchsorted(of, np.arange(len(rows.phase)), side="right")
        changes = self.engine.changes(
            self.positions, index.astype(np.uint16), ends, weights, self.step
        )
        here = self.evaluations(weights)[of]
        sums = []
        for stage in range(len(weights)):
            above, below = (np.tanh(scale * (here + changes[:, stage, side])) for side in range(2))
            slope = (
                (above - below) / (2 * self.step)
                if self.central
                else (above - np.tanh(scale * here)) / self.step
            )
            sums.append(np.bincount(index, factors[of] * slope / scale, size))
        return np.stack(sums)


def counted_positions(
    engine: CompiledTerms, positions: np.ndarray, stages: int
) -> CountedPositions:
    """Return positions (n, words) with analytic derivatives by the weights of a number of
    stages."""
    rows = engine.coefficients(positions)
    return CountedPositions(engine, rows, engine.shares(stages)[:, rows.phase])
