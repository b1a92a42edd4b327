"""Passes over ranges of a dataset as work for any process that sees the dataset; sums are the same as on one machine."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.format import ARRAYS, MANIFEST
from tuner.datasets.ranges import BLOCK, ahead, blocks
from tuner.datasets.reader import open_dataset
from tuner.device.cpu.device import Cpu
from tuner.device.cpu.sums import LARGER, half_moments, half_shape, whole_moments
from tuner.device.cpu.tree import GRADIENT_GROUP, MATRIX_GROUP, TreeSum, sum_of
from tuner.device.model import Model
from tuner.io.files import sha256_of
from tuner.objectives.table import OBJECTIVES
from tuner.parallel import Executor, Job, counted, run

LOSS_GRADIENT, GAUSS_NEWTON, SQUARES = "loss and gradient", "curvature", "squares of scores"


@dataclass(frozen=True)
class RangesSpec:
    """A pass: the path of the dataset and the sha256 of its manifest, which has those of its arrays; what is summed, one of the
    names above; the loss by its name; and the scale of values."""

    path: str
    sha256: str
    what: str
    objective: str
    scale: float


class Tables(NamedTuple):
    """Weights as a pass uses them: `weights` (stages, columns + 1 or 2), `table` (codes, columns + 1 or 2) for each value of
    `phase`, and the share (stages, codes) of each stage."""

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
    """A group of pieces of ranges (m, 2) whose sums are added in order, and the number of the group."""

    group: int
    pieces: list[np.ndarray]


class RangesSums(NamedTuple):
    """The sums of a group: one array, or loss and gradient; and its number of positions."""

    group: int
    sums: tuple[np.ndarray, ...]
    positions: int


class RangesReader:
    """One thread's view of the dataset."""

    def __init__(self, spec: RangesSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.stopped, self.device = spec, stopped, Cpu()
        manifest = Path(spec.path) / MANIFEST
        if not manifest.is_file() or sha256_of(manifest) != spec.sha256:
            raise InputError(f"{spec.path}: is not the same dataset on the machine of a worker; put it where every machine sees "
                             "it under this name, or leave out --cluster")
        self.data = open_dataset(spec.path, check=False)

    def ready(self) -> None:
        """The dataset is open."""

    def abort(self) -> None:
        """Pieces are short."""

    def close(self) -> None:
        """Its memory maps end with the dataset."""


def pass_over(reader: RangesReader, task: RangesTask, tables: Tables) -> RangesSums | None:
    """Return the sums of a group; None if it was stopped."""
    spec, device, weights = reader.spec, reader.device, tables.weights
    model = TabledModel(reader.data, np.zeros(0, np.int64), OBJECTIVES[spec.objective], spec.scale,
                        np.ones(weights.shape, np.bool_), tables=tables)
    size = int(sum((piece[:, 1] - piece[:, 0]).sum() for piece in task.pieces))

    def pieces() -> Iterator[np.ndarray]:
        for piece in task.pieces:
            yield from ahead(reader.data, piece, larger=1 if spec.what == LOSS_GRADIENT else LARGER)
            model.release()

    if reader.stopped():
        return None
    if spec.what == LOSS_GRADIENT:
        found = [device.piece_loss_gradient(model, weights, tables.table, piece) for piece in pieces()]
        return RangesSums(task.group, (sum_of(loss for loss, _ in found), sum_of(part for _, part in found)), size)
    terms_of = device.terms_of(model, weights) if spec.what == GAUSS_NEWTON else device.squares_of(model, weights)
    return RangesSums(task.group, (sum_of(half_moments(model, weights.shape, terms_of(piece)) for piece in pieces()),), size)


def ranges_text(task: RangesTask) -> str:
    """Name the positions of a group."""
    return f"the pass over positions {task.pieces[0][0, 0]} to {task.pieces[-1][-1, 1]}"


@dataclass(frozen=True, kw_only=True)
class RangedCpu(Cpu):
    """The CPUs of an executor for the passes over `data` that take most of the time. All others run on this machine, also those
    over the same positions with other weights or outcomes, as of the bootstrap."""

    executor: Executor
    data: Dataset

    @property
    def name(self) -> str:
        return f"cpu ({counted(self.executor.at_once, 'thread')} of other processes)"

    def loss_gradient(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> tuple[float, np.ndarray]:
        """See `Device`."""
        if not self._shared(model):
            return super().loss_gradient(model, weights, ranges)
        loss, per_phase = self._sums(LOSS_GRADIENT, model, weights, ranges, BLOCK, GRADIENT_GROUP,
                                     ((), (model.codes, weights.shape[1])))
        return float(loss), model.by_stage(per_phase)

    def gauss_newton(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        if not self._shared(model):
            return super().gauss_newton(model, weights, ranges)
        return self._moments(GAUSS_NEWTON, model, weights, ranges)

    def position_products(self, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """See `Device`."""
        if not self._shared(model):
            return super().position_products(model, weights, ranges)
        return self._moments(SQUARES, model, weights, ranges)

    def _shared(self, model: Model) -> bool:
        """Return whether the positions of a model are those on disk."""
        return all(getattr(model.data, name) is getattr(self.data, name) for name in ARRAYS)

    def _moments(self, what: str, model: Model, weights: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        shape = (weights.shape[0], weights.shape[1])
        half, = self._sums(what, model, weights, ranges, LARGER * BLOCK, MATRIX_GROUP, (half_shape(shape),))
        return whole_moments(half, shape)

    def _sums(self, what: str, model: Model, weights: np.ndarray, ranges: np.ndarray, size: int, group: int,
              shapes: tuple[tuple[int, ...], ...]) -> list[np.ndarray]:
        """Return sums over ranges, added in the order of the groups."""
        path = model.data.path.resolve()
        spec = RangesSpec(str(path), sha256_of(path / MANIFEST), what, model.objective.name, model.scale)
        totals = [TreeSum(group) for _ in shapes]
        total, done, wanted = int((ranges[:, 1] - ranges[:, 0]).sum()), 0, 0
        waiting: dict[int, RangesSums] = {}
        model.progress(0, total)
        with self.executor.start(Job(RangesReader, pass_over, spec, ranges_text)) as running:
            shared = running.share(Tables(weights, model.table(weights), model.shares))
            for found in run(running, _groups(ranges, size, group), shared=(shared,)):
                waiting[found.group] = found
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
