"""Speed of reading: text to moves, positions to coefficients."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from games.record import ReadOptions, ReadReport
from tuner.bench import Workload, bench_of, cpu_seconds, published, row
from tuner.engine.counter import Counter
from tuner.engine.loading import load_engine, quiescence_of
from tuner.io.files import QUIESCENCE


def games_to_moves(work: Workload) -> list[dict]:
    """Measure reading games from text to legal moves."""
    engine, _ = load_engine(work.params)
    bench = bench_of(engine.game.name)
    bench.reading(work.games)  # compiles
    runs = sorted((bench.reading(work.games) for _ in range(5)), key=lambda run: run[1])
    games, seconds, reference = runs[2]
    return [row(f"{work.games.name} -> legal moves", games / seconds, "games/s", bench.TARGETS.get("reading"),
                reference=(bench.REFERENCE, reference))]


def perft(work: Workload) -> list[dict]:
    """Measure move generation, with bulk counting at the last ply."""
    engine, _ = load_engine(work.params)
    bench = bench_of(engine.game.name)
    what, unit = getattr(bench, "COUNTING", ("perft", "nodes"))
    return [row(f"{what}, {name}", nodes / seconds / 1e6, f"M {unit}/s", bench.TARGETS.get("perft"),
                reference=(bench.REFERENCE, reference and reference / 1e6))
            for name, nodes, seconds, reference in bench.counting()]


def positions_to_coefficients(work: Workload) -> list[dict]:
    """Measure counting the terms of positions, and reading those that datasets are made of, quiet ones in most games."""
    engine, _ = load_engine(work.params)
    bench = bench_of(engine.game.name)
    chosen = getattr(bench, "POSITIONS", "quiet")
    evaluation = None
    if chosen == "quiet":
        quiescence = quiescence_of(engine, QUIESCENCE)
        packed = quiescence.engine.packed(quiescence.parameters)  # its address is used below
        evaluation = quiescence.engine.evaluation(packed)

    def read(kind: str, source: Path) -> tuple[list[np.ndarray], ReadReport]:
        report = ReadReport()
        options = ReadOptions(positions=kind, evaluation=evaluation, duplicates="keep")
        return [batch.positions for batch in engine.game.read(str(source), options, report, lambda text: None)], report

    batches, _ = read("all", work.games)
    positions = np.concatenate(batches)[:200_000]
    counter = Counter(engine.composition)
    counter.count(positions)
    seconds = cpu_seconds(lambda: counter.count(positions))
    nonzeros = len(counter.count(positions).index) / len(positions)
    whole = cpu_seconds(lambda: [counter.count(batch) for batch in read(chosen, work.games)[0]], 3)
    examined = sum(len(batch) for batch in batches)
    return [row(f"positions -> {engine.layout.size} coefficients ({nonzeros:.0f} nonzeros)", len(positions) / seconds / 1e6,
                "M positions/s", bench.TARGETS.get("coefficients"), reference=published(bench, "coefficients")),
            row(f"file -> coefficients of {chosen} positions", examined / whole / 1e6, "M positions/s",
                bench.TARGETS.get("file"), reference=published(bench, "file"))]
