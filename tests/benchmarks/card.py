"""A card against the processors: `python -m tests.benchmarks.card [POSITIONS]` builds a dataset, checks that both find the same,
and prints a table of times and of the share of the card's copy bandwidth that a pass reaches."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tuner.dataset import Dataset, DatasetWriter, open_dataset
from tuner.device.base import Device
from tuner.device.choose import device_named
from tuner.device.cpu import Processors
from tuner.fit import FitOptions, fit, make_problem
from tuner.layout import Layout, Place
from tuner.options import processors
from tuner.parameters import Parameters

POSITIONS, PARAMETERS, NONZEROS, PLIES, PHASES = 50_000_000, 400, 32, 80, 24
ALIKE = 1e-6


def layout(columns: int) -> Layout:
    return Layout(tuple(Place("single", f"n{i}", (), i) for i in range(columns)))


def random_dataset(folder: Path, positions: int, seed: int = 1, at_once: int = 1 << 18) -> Dataset:
    """Random counts, and results drawn from random weights."""
    random = np.random.default_rng(seed)
    weights = random.normal(0, 60, (2, PARAMETERS))
    games = max(2, positions // PLIES)
    with DatasetWriter(folder) as writer:
        for begin in range(0, games, at_once // PLIES):
            some = min(at_once // PLIES, games - begin)
            n = some * PLIES
            width = PARAMETERS // NONZEROS  # each nonzero has columns of its own
            index = random.integers(0, width, (n, NONZEROS)) + width * np.arange(NONZEROS)
            count = random.integers(-2, 3, (n, NONZEROS))
            phase = np.tile(np.linspace(PHASES, 0, PLIES).round(), some)
            share = phase / PHASES
            evaluation = share * (weights[0][index] * count).sum(axis=1) + (1 - share) * (weights[1][index] * count).sum(axis=1)
            p = 1 / (1 + np.exp(-2 * 0.00255 * evaluation.reshape(some, PLIES).mean(axis=1)))
            outcome = np.where(random.random(some) < p, 1.0, -1.0).repeat(PLIES)
            writer.add_positions(index.ravel(), count.ravel(), np.arange(1, n + 1) * NONZEROS, phase, outcome)
            names = np.arange(begin + 1, begin + some + 1, dtype=np.uint64)
            writer.add_games(np.arange(begin, begin + some) * PLIES, names, names)
        writer.finish({"program": "benchmark", "game": "none", "sources": [], "options": {},
                       "layout": layout(PARAMETERS).describe(), "terms": "none", "phases": PHASES, "stages": ["mg", "eg"]})
    return open_dataset(folder, check=False)


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """The median of some runs, after one."""
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return float(np.median(found))


def copy_bandwidth(size: int = 1 << 30) -> float:
    """Bytes read and written a second by a copy on the card."""
    import cupy

    source, target = cupy.zeros(size, np.uint8), cupy.zeros(size, np.uint8)

    def copy() -> None:
        target[...] = source
        cupy.cuda.runtime.deviceSynchronize()

    return 2 * size / seconds(copy)


def largest_difference(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def main(positions: int = POSITIONS) -> list[tuple[str, str]]:
    """The table; AssertionError if the card finds something else than the processors."""
    card, here = device_named("gpu", 1), Processors(processors())
    lines = [("card", card.name)]
    with tempfile.TemporaryDirectory() as folder:
        data = random_dataset(Path(folder) / "data", positions)
        parameters = Parameters("none", layout(PARAMETERS), ("mg", "eg"), np.zeros((2, PARAMETERS)), 0.00255)
        options = FitOptions(prior=None, fit_scale=False, held_out=0.0)
        part = np.arange(min(data.games, 1_000_000 // PLIES))
        weights = np.random.default_rng(2).normal(0, 40, (2, PARAMETERS + 1))

        def problem(device: Device, games: np.ndarray):
            return make_problem(data, parameters, replace(options, device=device), games, PHASES, 0.00255)

        on_card, wanted = problem(card, part), problem(here, part)
        for name, found, expected in (
                ("gradient", on_card.loss_gradient(weights)[1], wanted.loss_gradient(weights)[1]),
                ("matrix", on_card.gauss_newton(weights), wanted.gauss_newton(weights)),
                ("scores", *(p.device.over_groups(p, weights, np.arange(weights.size), lambda scores: scores.T @ scores)[0]
                             for p in (on_card, wanted)))):
            difference = largest_difference(found, expected)
            assert difference < ALIKE, (name, difference)
            lines.append((f"{name}: relative difference", f"{difference:.1e}"))
        same = [on_card.loss_gradient(weights)[1].tobytes() for _ in range(2)]
        lines.append(("the same bits in two runs", str(same[0] == same[1])))
        whole = problem(card, np.arange(data.games))
        passing = seconds(lambda: whole.loss_gradient(weights))
        moved = 3 * len(data.index) + 17 * data.positions
        bandwidth = copy_bandwidth(min(1 << 30, moved))
        slow = seconds(lambda: wanted.loss_gradient(weights)) * data.positions / wanted.positions
        lines += [("a pass", f"{passing * 1e3:.1f} ms, {data.positions / passing / 1e9:.2f} G positions/s"),
                  ("of the copy bandwidth", f"{moved / passing / bandwidth:.0%} of {bandwidth / 1e9:,.0f} GB/s"),
                  ("the processors' time", f"{slow / passing:.0f} times as long ({here.name})")]
        begin = time.perf_counter()
        result = fit(data, parameters, layout(PARAMETERS), PHASES, replace(options, device=card))
        lines.append((f"Newton fit, {PARAMETERS} x 2, standard errors", f"{time.perf_counter() - begin:.1f} s, "
                      f"{len(result.history) - 1} iterations, {data.positions:,} positions"))
    return lines


if __name__ == "__main__":
    for line in main(int(sys.argv[1]) if len(sys.argv) > 1 else POSITIONS):
        print(f"{line[0]:44}{line[1]}")
