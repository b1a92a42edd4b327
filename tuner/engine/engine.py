"""An engine: a game bound to terms, and through them to parameters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from evalterms.compose import Composition, compose, load_terms
from evalterms.emit import UNIT, interleaved, pack
from games.record import Game, find
from games.search.searcher import Searcher
from games.streams import InputError
from tuner.device.base import Device
from tuner.device.cpu.device import CPU
from tuner.io.files import BUNDLED as BUNDLED
from tuner.parallel import in_order
from tuner.parameters.layout import Layout, layout_of, shares_of
from tuner.parameters.parameters import DEFAULT_GAME as DEFAULT_GAME
from tuner.parameters.parameters import Parameters
from tuner.parameters.reader import game_of, read_parameters

SAMPLES = BUNDLED.parent / "games" / "samples" / "stockfish400.pgn.zst"
AT_ONCE = 1 << 14  # positions
SMALL_ADVANTAGE = 0.2  # in v = tanh(scale * centipawns): about 78 centipawns


@dataclass(frozen=True)
class Engine:
    """A game with its terms composed into one evaluation."""

    game: Game
    composition: Composition
    layout: Layout

    @cached_property
    def phases(self) -> int:
        """Steps of the phase: a position of phase f has the first stage with weight f / phases."""
        return self.composition.glue.PHASES

    def packed(self, parameters: Parameters) -> np.ndarray:
        """(columns,) int64 weights for the compiled evaluation."""
        return pack(parameters.weights[0], parameters.weights[-1])

    def evaluation(self, packed: np.ndarray) -> tuple[int, int]:
        """Addresses of the compiled evaluation and of packed weights, which the caller keeps alive."""
        return self.composition.glue.score.address(), packed.ctypes.data

    def evaluate(self, positions: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Evaluations (n,) in centipawns, first player's view, of positions (n, words)."""
        out = np.zeros(len(positions), np.int64)
        self.composition.glue.scores(np.ascontiguousarray(positions), self.packed(parameters), out)
        return out / UNIT

    def evaluate_many(self, positions: np.ndarray, parameters: Parameters, workers: int = 1, device: Device = CPU) -> np.ndarray:
        """As `evaluate`, by dot products of coefficients and weights, as the passes over datasets do it: exact, where `evaluate`
        rounds each weight to steps of 1/256 centipawn. Any number of positions, counted by as many threads. Terms that are not
        linear have no coefficients: with them it is the compiled evaluation in double precision, on the CPU."""
        if self.composition.curved:
            parts = in_order(lambda begin: self.values(positions[begin:begin + AT_ONCE], parameters.weights),
                             range(0, len(positions), AT_ONCE), workers)
            return np.concatenate([np.zeros(0), *parts])
        columns = self.layout.size
        table = np.zeros((self.phases + 1, columns + 1))
        table[:, :columns] = shares_of(np.arange(self.phases + 1), self.phases, len(parameters.weights)).T @ parameters.weights

        def work(begin: int) -> np.ndarray:
            rows = self.coefficients(positions[begin:begin + AT_ONCE])
            return device.evaluate(rows.index, rows.count, np.concatenate([[0], rows.ends]), rows.phase, table)

        return np.concatenate([np.zeros(0), *in_order(work, range(0, len(positions), AT_ONCE), workers)])

    def values(self, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Evaluations (n,) in centipawns, first player's view, of positions (n, words) with weights (stages, columns), by the
        compiled evaluation in double precision."""
        out = np.zeros(len(positions))
        self.composition.glue.values(np.ascontiguousarray(positions), interleaved(weights), len(self.composition.terms), out)
        return out

    def changes(self, positions: np.ndarray, index: np.ndarray, ends: np.ndarray, weights: np.ndarray, step: float) -> np.ndarray:
        """(k, stages, 2) how much `values` change where the weight of column index[k], of the position whose columns end at
        `ends`, moves by a step in centipawns: up and down."""
        out = np.empty(2 * len(weights) * len(index))
        self.composition.glue.moved(np.ascontiguousarray(positions), ends, index, self.composition.term_of, len(weights),
                                    interleaved(weights), step, out)
        return out.reshape(len(index), len(weights), 2)

    def searcher(self, parameters: Parameters, playing: bool = True, megabytes: int = 16, lean: bool = True) -> Searcher:
        """A search with these parameters; InputError if the game has none. See games.search.searcher.

        `lean`: evaluate without the terms whose weights are all zero; otherwise `bind` can change all weights.
        """
        if self.game.searcher is None:
            raise InputError(f"{self.game.name} has no search; its games come from elsewhere")
        composition, packed = self._without_zeros(parameters) if lean else (self.composition, self.packed(parameters))
        found = self.game.searcher(composition.glue.score.address(), packed.ctypes.data, playing,
                                   SMALL_ADVANTAGE / parameters.scale, megabytes)
        found.weights = packed  # alive as long as the search that reads them
        return found

    def bind(self, searcher: Searcher, parameters: Parameters) -> None:
        """Let a search that is not lean go on with other weights."""
        searcher.weights = self.packed(parameters)
        searcher.bind(*self.evaluation(searcher.weights))

    def _without_zeros(self, parameters: Parameters) -> tuple[Composition, np.ndarray]:
        """An evaluation of those terms alone that have weights, which is the same but faster; and its packed weights."""
        packed, terms = self.packed(parameters), self.composition.terms
        parts = np.split(packed, np.cumsum([term.size for term in terms])[:-1])
        kept = [k for k, part in enumerate(parts) if part.any()] or [0]
        if len(kept) == len(terms):
            return self.composition, packed
        return compose(self.game.name, [terms[k] for k in kept]), np.concatenate([parts[k] for k in kept])

    def coefficients(self, positions: np.ndarray) -> CoefficientRows:
        """The sparse coefficients of positions (n, words)."""
        return Counter(self).count(np.ascontiguousarray(positions))


@dataclass(frozen=True)
class CoefficientRows:
    """Nonzeros of n positions: `index` uint16 and `count` int8; position i's end at ends[i]; `phase` (n,) uint8."""

    index: np.ndarray
    count: np.ndarray
    ends: np.ndarray
    phase: np.ndarray

    def dense(self, columns: int) -> np.ndarray:
        """(n, columns) float64."""
        result = np.zeros((len(self.ends), columns))
        rows = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))
        result[rows, self.index] = self.count
        return result


class Counter:
    """Counts the terms of positions, in room that is used again."""

    def __init__(self, engine: Engine) -> None:
        self._count = engine.composition.glue.coefficients
        width = -(-engine.layout.size // 64) * 64
        self._rows = np.zeros((8, width), np.int32)
        self._room = 0

    def count(self, positions: np.ndarray) -> CoefficientRows:
        """The coefficients of positions (n, words); valid until the next call."""
        n = len(positions)
        ends, phase = np.empty(n, np.int64), np.empty(n, np.uint8)
        done = 0
        if self._room == 0:
            self._grow(n)
        while done < n:
            done = self._count(positions, done, self._rows, self._index, self._counts, ends, phase)
            if done < 0:
                raise OverflowError("a term counts beyond 127 in one position; count in larger units")
            if done < n:
                self._grow(n)
        used = int(ends[-1]) if n else 0
        return CoefficientRows(self._index[:used], self._counts[:used], ends, phase)

    def _grow(self, n: int) -> None:
        old = self._room
        self._room = max(2 * old, 64 * n, 16 * self._rows.shape[1])
        index, counts = np.empty(self._room, np.uint16), np.empty(self._room, np.int8)
        if old:
            index[:old], counts[:old] = self._index, self._counts
        self._index, self._counts = index, counts


def _loaded(game: str, terms: Sequence[str | Path]) -> tuple:
    find(game)  # an unknown game is told before anything else
    try:
        return load_terms(game, [Path(path) for path in terms])
    except ValueError as problem:
        raise InputError(str(problem)) from None


def make_layout(game: str, terms: Sequence[str | Path] = ()) -> Layout:
    """The parameters of a game's own terms and those of the user's files; InputError if one is wrong."""
    return layout_of(_loaded(game, terms), terms)


def make_engine(game: str, terms: Sequence[str | Path] = ()) -> Engine:
    """The engine of a game with its own terms and those of the user's files; InputError if one is wrong."""
    loaded = _loaded(game, terms)
    return Engine(find(game), compose(game, loaded), layout_of(loaded, terms))


def parameter_path(name: str | Path, game: str = DEFAULT_GAME) -> Path:
    """A parameter file: a path, or the name of a bundled file: `classic`, or `tictactoe/classic` for another game. A file of
    such a name comes first, a folder does not."""
    path = Path(name)
    bundled = BUNDLED / f"{path}.yaml" if len(path.parts) == 2 else BUNDLED / game / f"{path}.yaml"
    if os.path.isfile(path) or path.suffix:
        return path
    if os.path.isfile(bundled) and bundled.is_relative_to(BUNDLED):
        return bundled
    if os.path.lexists(path):
        return path
    folder = path.parent if len(path.parts) == 2 and (BUNDLED / path.parent).is_dir() else Path(game)
    names = ", ".join(sorted(file.stem for file in (BUNDLED / folder).glob("*.yaml")))
    raise InputError(f"{name}: no such file; bundled parameter files: {names}")


def load_parameters(path: str | Path, terms: Sequence[str | Path] = (), add_missing: bool = False) -> Parameters:
    """The parameters of a file, without compiling anything."""
    path = parameter_path(path)
    game = game_of(path)
    return read_parameters(path, make_layout(game, terms), game, add_missing)


def load_engine(path: str | Path, terms: Sequence[str | Path] = (), add_missing: bool = False) -> tuple[Engine, Parameters]:
    """The parameters of a file and the engine that they are for."""
    path = parameter_path(path)
    engine = make_engine(game_of(path), terms)
    return engine, read_parameters(path, engine.layout, engine.game.name, add_missing)


def quiescence_of(engine: Engine, name: str) -> Parameters:
    """The parameters by which a position is quiet; those of a bundled file serve with terms of the user's too."""
    return read_parameters(parameter_path(name, engine.game.name), engine.layout, engine.game.name, add_missing=True)
