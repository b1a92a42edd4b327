"""Passes on the CPU: compiled, on threads, over data that may be larger than memory."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from evalterms.framework.compose import Composition
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.dataset import (
    BLOCK,
    Dataset,
    Rows,
    ahead,
    blocks,
    games_ahead,
    places_of,
    size_of,
)
from tuner.datasets.files import ARRAYS, MANIFEST
from tuner.datasets.reader import open_dataset
from tuner.fit.device.base import Model, Piece
from tuner.fit.device.cpu import kernels
from tuner.fit.device.cpu.sums import (
    GRADIENT_GROUP,
    LARGER,
    MATRIX_GROUP,
    Curvatures,
    TemporalState,
    TermsOf,
    TreeSum,
    add_scores,
    evaluate_piece,
    evaluations,
    half_moments,
    half_shape,
    larger_pieces,
    over_games,
    position_terms,
    second_moments,
    signed_scores,
    sum_of,
    summed,
    watch,
    whole_moments,
)
from tuner.io.files import sha256_of
from tuner.objectives.table import OBJECTIVES
from tuner.parallel import Executor, Job, JobState, in_order, run

SMALLER = BLOCK // 8  # positions of a piece, for matrices of TD: each thread has its own sum


@dataclass(frozen=True)
class Cpu:
    """The CPU with some threads; sums are bit for bit the same for any number of threads."""

    workers: int = 1

    has_products: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"cpu ({self.workers} thread{'s' if self.workers > 1 else ''})"

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """See `Device`."""
        losses, per_phase, table = (
            TreeSum(GRADIENT_GROUP),
            TreeSum(GRADIENT_GROUP),
            model.table(weights),
        )
        work = partial(self.piece_loss_gradient, model, weights, table)
        larger = larger_pieces(model, table.size)
        for loss, part in watch(
            in_order(work, ahead(model.data, ranges, larger=larger), self.workers),
            model,
            ranges,
            larger * BLOCK,
        ):
            losses.add(loss)
            per_phase.add(part)
        return float(losses.total(())), model.by_stage(
            per_phase.total((model.codes, weights.shape[1]))
        )

    def piece_loss_gradient(
        self, model: Model, weights: np.ndarray, table: np.ndarray, some: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of loss () and gradient (codes, width) over the positions of a piece, by
        value of `phase`."""
        piece, part = self.piece(model, weights, some), np.zeros((model.codes, weights.shape[1]))
        loss = kernels.loss_gradient(
            piece.rows,
            table,
            model.data.columns,
            piece.ranges,
            model.objective.block.address(),
            model.scale,
            part,
        )
        return np.array(loss), part

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return second_moments(
            model, weights.shape, self.terms_of(model, weights), ranges, self.workers
        )

    def score_squares(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return self._over_scores(model, weights, lambda scores: (scores**2).sum(axis=0))

    def score_products(self, model: Model, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return self._over_scores(
            model, weights, lambda scores: scores[:, chosen].T @ scores[:, chosen]
        )

    def _over_scores(
        self, model: Model, weights: np.ndarray, function: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Return the sum of a function of the scores (n, d) of some groups of games over all."""
        return over_games(
            model,
            weights.shape,
            self.scores_of(model, weights),
            lambda batches: sum_of(map(function, batches)),
            self.workers,
        )

    def curvatures(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> Curvatures:
        """See `Device`."""
        return Curvatures(
            model,
            (weights.shape[0], weights.shape[1]),
            self.terms_of(model, weights),
            partial(self.piece, model, weights),
            ranges,
            self.workers,
        )

    def signed_scores(self, model: Model, weights: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """See `Device`."""
        shape = (weights.shape[0], weights.shape[1])
        return signed_scores(model, shape, self.scores_of(model, weights), signs, self.workers)

    def evaluations(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return evaluations(model, weights, self.piece, ranges, self.workers)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        n = len(rows.phase)
        out, nothing = np.empty(n), np.zeros(n, np.float32)  # outcomes and weights are not used
        rest = nothing[:0] if rows.rest is None else rows.rest
        whole = rows.bare._replace(outcome=nothing, weight=nothing, rest=rest).read_only
        kernels.evaluations(whole, table, np.array([[0, n]]), out)
        return out

    def equation(
        self, model: Model, weights: np.ndarray, games: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """See `Device`."""
        total, squares = np.zeros(weights.shape), 0.0

        def work(piece: np.ndarray) -> tuple[np.ndarray, float]:
            state, part = self._state(model, weights, piece), np.zeros((1, *weights.shape))
            add_scores(model, lambda _: state.terms, piece, np.zeros(len(piece), np.int64), part)
            return part[0], float(state.c @ state.c)

        for part, some in watch(
            in_order(work, games_ahead(model.data, games), self.workers), model, games
        ):
            total += part
            squares += some
        return total.ravel(), squares

    def equation_matrix(
        self, model: Model, weights: np.ndarray, games: np.ndarray, exact: bool
    ) -> np.ndarray:
        """See `Device`."""
        size, extra = weights.size, model.temporal_data

        def work(some: np.ndarray) -> np.ndarray:
            state, part = self._state(model, weights, some), np.zeros((size, size))
            (rows, games, offset), slopes, c = state.piece, state.slopes, state.c
            base = int(games[0, 0])
            end = base + len(c)
            curvature = (
                np.where(slopes > 0, 2 * model.scale * state.values * slopes * c, 0.0)
                if exact
                else np.zeros(len(c))
            )
            kernels.lambda_gram(
                rows._replace(row=rows.row[base : end + 1], phase=rows.phase[base:end]),
                games - base,
                slopes,
                extra.decay[base + offset : end + offset],
                curvature,
                model.shares,
                part,
            )
            return part

        pieces = games_ahead(model.data, games, SMALLER)
        return summed(work, pieces, self.workers, model, games, SMALLER, (size, size))

    def _state(self, model: Model, weights: np.ndarray, games: np.ndarray) -> TemporalState:
        """Return the state of whole games, which are read together."""
        extra, base, end = model.temporal_data, int(games[0, 0]), int(games[-1, 1])
        values, slopes, c = np.zeros((3, end - base))
        places = places_of(games) - base
        piece = self.piece(model, weights, games)
        known, found = (
            extra.known[base:end][places],
            np.tanh(model.scale * evaluate_piece(model, weights, piece)),
        )
        values[places] = np.where(np.isnan(known), found, known)
        slopes[places] = np.where(np.isnan(known), model.scale * (1 - found**2), 0.0)
        kernels.scan(games - base, values, model.data.outcome[base:end], extra.decay[base:end], c)
        return TemporalState(piece, values, slopes, c)

    def piece(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> Piece:
        """Return positions as rows that are linear in the weights, near these weights. ValueError
        for an evaluation that is not linear: `tuner.fit.device.cpu.device` has one."""
        if model.data.apart:
            raise ValueError(f"{model.data.path}: term {model.data.apart[0]} is not linear")
        return Piece(model.rows, ranges)

    def derivatives(
        self, model: Model, weights: np.ndarray, positions: np.ndarray
    ) -> sparse.csr_array:
        """See `Device`."""
        stages, width = weights.shape
        shares, parts = Dataset.shares(model.data, stages), []
        for some in np.split(positions, np.flatnonzero(np.diff(positions // BLOCK)) + 1):
            rows, ranges, _ = self.piece(model, weights, np.stack([some, some + 1], axis=1))
            here = ranges[:, 0]
            ends = np.stack([rows.row[here], rows.row[here + 1]], axis=1).astype(np.int64)
            of, places = np.repeat(np.arange(len(some)), ends[:, 1] - ends[:, 0]), places_of(ends)
            share, columns = shares[:, rows.phase[here[of]]], rows.index[places].astype(np.int64)
            values = (share * rows.count[places]).ravel()
            flat = (columns + width * np.arange(stages)[:, None]).ravel()
            shape = len(some), weights.size
            parts.append(sparse.csr_array((values, (np.tile(of, stages), flat)), shape=shape))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def terms_of(self, model: Model, weights: np.ndarray) -> TermsOf:
        """Return a function from ranges to the derivatives of the objective."""
        return lambda ranges: position_terms(model, weights, self.piece(model, weights, ranges))

    def scores_of(self, model: Model, weights: np.ndarray) -> TermsOf:
        """Return a function from ranges to terms whose residuals make scores: of the objective, or
        of whole games by TD."""
        if model.temporal is None:
            return self.terms_of(model, weights)
        return lambda games: self._state(model, weights, games).terms


CPU = Cpu()


LOSS_GRADIENT, GAUSS_NEWTON = "loss and gradient", "curvature"


@dataclass(frozen=True)
class RangesSpec:
    """A pass: the path of the dataset and the sha256 of its manifest, which has the hashes of its
    arrays; what is summed, one of the names above; the loss by its name; and the scale of
    values."""

    path: str
    sha256: str
    what: str
    objective: str
    scale: float


class Tables(NamedTuple):
    """Weights as a pass uses them: `weights` (stages, columns + 1 or 2), `table` (codes, columns +
    1 or 2) for each value of `phase`, and the share (stages, codes) of each stage."""

    weights: np.ndarray
    table: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class TabledModel(Model):
    """A model whose tables were computed where the fit runs."""

    tables: Tables = field(kw_only=True)

    @property
    def shares(self) -> np.ndarray:
        return self.tables.shares

    def table(self, weights: np.ndarray) -> np.ndarray:
        return self.tables.table


class RangesTask(NamedTuple):
    """A group of pieces of ranges (m, 2) whose sums are added in order, and the number of the
    group."""

    group: int
    pieces: list[np.ndarray]


class RangesSums(NamedTuple):
    """The sums of a group: one array, or loss and gradient; and its number of positions."""

    group: int
    sums: tuple[np.ndarray, ...]
    positions: int


class RangesReader(JobState):
    """One thread's view of the dataset."""

    def __init__(self, spec: RangesSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.stopped, self.device = spec, stopped, Cpu()
        manifest = Path(spec.path) / MANIFEST
        if not manifest.is_file() or sha256_of(manifest) != spec.sha256:
            raise InputError(
                f"{spec.path}: is not the same dataset on the machine of a worker; put it where"
                " every machine sees it under this name, or leave out --cluster"
            )
        self.data = open_dataset(spec.path, check=False)


def pass_over(reader: RangesReader, task: RangesTask, tables: Tables) -> RangesSums | None:
    """Return the sums of a group; None if it was stopped."""
    spec, device, weights = reader.spec, reader.device, tables.weights
    model = TabledModel(
        reader.data,
        np.zeros(0, np.int64),
        OBJECTIVES[spec.objective],
        spec.scale,
        np.ones(weights.shape, np.bool_),
        tables=tables,
    )
    size = sum(map(size_of, task.pieces))

    def pieces() -> Iterator[np.ndarray]:
        for piece in task.pieces:
            yield from ahead(reader.data, piece, larger=1 if spec.what == LOSS_GRADIENT else LARGER)
            model.release()

    if reader.stopped():
        return None
    if spec.what == LOSS_GRADIENT:
        sums = [
            device.piece_loss_gradient(model, weights, tables.table, piece) for piece in pieces()
        ]
        return RangesSums(
            task.group, (sum_of(loss for loss, _ in sums), sum_of(part for _, part in sums)), size
        )
    terms_of = device.terms_of(model, weights)
    return RangesSums(
        task.group,
        (sum_of(half_moments(model, weights.shape, terms_of(piece)) for piece in pieces()),),
        size,
    )


def ranges_text(task: RangesTask) -> str:
    """Name the positions of a group."""
    return f"the pass over positions {task.pieces[0][0, 0]} to {task.pieces[-1][-1, 1]}"


@dataclass(frozen=True, kw_only=True)
class RangedCpu(Cpu):
    """The CPUs of an executor for the passes over `data` that take most of the time. The rest runs
    on this machine, also passes over the same positions with different weights or outcomes."""

    executor: Executor
    data: Dataset

    @property
    def name(self) -> str:
        return f"cpu ({plural(self.executor.at_once, 'thread')} of separate processes)"

    def loss_gradient(
        self, model: Model, weights: np.ndarray, ranges: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """See `Device`."""
        if not self._shared(model) or larger_pieces(model, model.codes * weights.shape[1]) > 1:
            return super().loss_gradient(model, weights, ranges)
        loss, per_phase = self._sums(
            LOSS_GRADIENT,
            model,
            weights,
            ranges,
            BLOCK,
            GRADIENT_GROUP,
            ((), (model.codes, weights.shape[1])),
        )
        return float(loss), model.by_stage(per_phase)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        if not self._shared(model):
            return super().gauss_newton(model, weights, ranges)
        shape = (weights.shape[0], weights.shape[1])
        (half,) = self._sums(
            GAUSS_NEWTON, model, weights, ranges, LARGER * BLOCK, MATRIX_GROUP, (half_shape(shape),)
        )
        return whole_moments(half, shape)

    def _shared(self, model: Model) -> bool:
        """Return whether the positions of a model are those on disk."""
        return (
            model.temporal is None
            and not model.exact
            and all(getattr(model.data, name) is getattr(self.data, name) for name in ARRAYS)
        )

    def _sums(
        self,
        what: str,
        model: Model,
        weights: np.ndarray,
        ranges: np.ndarray,
        size: int,
        group: int,
        shapes: tuple[tuple[int, ...], ...],
    ) -> list[np.ndarray]:
        """Return sums over ranges, added in the order of the groups."""
        path = model.data.path.resolve()
        spec = RangesSpec(
            str(path), sha256_of(path / MANIFEST), what, model.objective.name, model.scale
        )
        totals = [TreeSum(group) for _ in shapes]
        total, done, wanted = size_of(ranges), 0, 0
        waiting: dict[int, RangesSums] = {}
        model.progress(0, total)
        with self.executor.start(Job(RangesReader, pass_over, spec, ranges_text)) as running:
            shared = running.share(Tables(weights, model.table(weights), model.shares))
            for part in run(running, _groups(ranges, size, group), shared=(shared,)):
                waiting[part.group] = part
                while wanted in waiting:
                    ready = waiting.pop(wanted)
                    wanted += 1
                    for tree, sums in zip(totals, ready.sums, strict=True):
                        tree.add_group(sums)
                    done += ready.positions
                    model.progress(done, total)
        return [tree.total(shape) for tree, shape in zip(totals, shapes, strict=True)]


def _groups(ranges: np.ndarray, size: int, group: int) -> Iterator[RangesTask]:
    pieces = blocks(ranges, size)
    for number in itertools.count():
        some = list(itertools.islice(pieces, group))
        if not some:
            return
        yield RangesTask(number, some)


@dataclass(frozen=True, kw_only=True)
class Linearised(Cpu):
    """Like `Cpu`, for an evaluation with terms that are not linear."""

    composition: Composition

    def piece(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> Piece:
        """See `Cpu`."""
        data, base, end = model.data, int(ranges[0, 0]), int(ranges[-1, 1])
        rows, shares = (
            Rows(data.index, data.count, data.row, data.phase),
            Dataset.shares(data, model.stages),
        )
        found, _ = linearise(
            self.composition,
            rows,
            ranges,
            np.ascontiguousarray(shares.T @ weights[:, : data.columns]),
        )
        # a slope by phase multiplies the evaluation as a whole
        slope = (model.shares.sum(axis=0) / shares.sum(axis=0)).astype(np.float32)
        local = found._replace(
            outcome=data.outcome[base:end],
            weight=data.weight[base:end],
            rest=found.rest * slope[data.phase[base:end]],
        )
        return Piece(local.read_only, ranges - base, base)

    def evaluate(self, rows: Rows, table: np.ndarray) -> np.ndarray:
        """See `Device`."""
        return values(self.composition, rows, table[:, :-1]) + table[rows.phase, -1]


def linearise(
    composition: Composition, rows: Rows, ranges: np.ndarray, table: np.ndarray
) -> tuple[Rows, np.ndarray]:
    """Return wide rows of the positions that ascending ranges span, and their evaluations (n,) in
    centipawns, first player's view; zero between the ranges. `table` (phases + 1, columns) has the
    weights at each phase."""
    base, end = int(ranges[0, 0]), int(ranges[-1, 1])
    room = int(rows.row[end] - rows.row[base])
    linear = kernels.LinearRows(
        np.empty(room, np.uint16),
        np.empty(room, np.float32),
        np.zeros(end - base + 1, np.int64),
        np.zeros(end - base, np.float32),
        np.zeros(end - base),
    )
    n = kernels.linearise(
        rows.read_only,
        np.ascontiguousarray(ranges),
        base,
        table,
        _curve(composition),
        np.full(table.shape[1], -1, np.int64),
        linear,
    )
    phase = rows.phase[base:end].astype(np.uint16)
    return (
        Rows(linear.columns[:n], linear.slopes[:n], linear.ends, phase, rest=linear.rest),
        linear.evaluation,
    )


def _curve(composition: Composition) -> kernels.Curve:
    form = composition.form
    column, sum_of = form.column.view(), form.sum.view()
    column.flags.writeable = sum_of.flags.writeable = False
    sums, factors = np.empty(form.count), np.empty(form.count)
    return kernels.Curve(column, sum_of, composition.combine, sums, factors)


def values(composition: Composition, rows: Rows, table: np.ndarray) -> np.ndarray:
    """Return the evaluations (n,) of positions in centipawns, first player's view; `table` as in
    `linearise`."""
    out = np.empty(len(rows.phase))
    kernels.values(rows.bare, np.ascontiguousarray(table), _curve(composition), out)
    return out


def changes(
    composition: Composition,
    rows: Rows,
    table: np.ndarray,
    shares: np.ndarray,
    chosen: np.ndarray,
    ends: np.ndarray,
    step: float,
) -> np.ndarray:
    """Return the changes (k, stages, 2) of `values` if the weight of column chosen[k] moves by a
    step in centipawns, up and down. The columns of position i end at ends[i]; `shares` (stages,
    phases + 1)."""
    curve, out = _curve(composition), np.empty(2 * len(shares) * len(chosen))
    kernels.changes(
        rows.bare,
        np.ascontiguousarray(table),
        np.ascontiguousarray(shares),
        curve,
        np.empty_like(curve.sums),
        chosen,
        ends,
        step,
        out,
    )
    return out.reshape(len(chosen), len(shares), 2)
