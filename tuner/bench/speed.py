"""How fast the parts are: passes and fits, networks, reading, searches, self-play, cold starts."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from evalterms.framework.encoding import Encoding, encodings_of
from games.record import Dice, Game, ReadOptions, ReadReport, find, scale_of
from games.search.searcher import Limits, Searcher
from tuner.bench import NothingToMeasure, Row, Workload, bench_of, cpu_seconds, published
from tuner.datasets.dataset import Dataset
from tuner.datasets.files import is_dataset
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import DatasetWriter
from tuner.evaluation.engine import Counter, Engine
from tuner.evaluation.loading import load_engine, load_parameters, quiescence_of
from tuner.evaluation.networks.compiled import scores
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile
from tuner.evaluation.networks.model import Network, compiled_outputs, counts_of, random_network
from tuner.evaluation.networks.td import TdLearner, TdSettings
from tuner.fit.learners.base import LearnerOptions
from tuner.fit.regression import fit
from tuner.fit.setup import FitOptions, make_problem
from tuner.io.files import QUIESCENCE
from tuner.io.terminal import Display
from tuner.learn.build import build, checked
from tuner.options.selfplay import SelfplaySettings
from tuner.parallel import OnThreads
from tuner.parameters.layout import Layout
from tuner.parameters.parameters import Parameters
from tuner.play.run import new_run
from tuner.play.selfplay.games import PlaysGames, play_whole
from tuner.play.selfplay.weights import WeightsRun

SMALL_FIT = 300  # columns
NEAR = 1e-5  # of the optimum, relative


def whole_data(work: Workload) -> Dataset:
    """Return the dataset to measure with; build it if games are given."""
    engine, _ = load_engine(work.params)
    if is_dataset(work.games):
        return checked(open_dataset(work.games), engine)
    made = work.folder / "whole"
    if is_dataset(made):
        return open_dataset(made)
    return build(
        engine,
        [str(work.games)],
        made,
        ReadOptions(),
        quiescence_of(engine, QUIESCENCE),
        lambda text: None,
    )[0]


def without_terms(data: Dataset, dropped: set[str], target: Path) -> Dataset:
    """Copy a dataset without the columns of some terms."""
    layout = data.layout
    keep = np.zeros(layout.size, np.bool_)
    for place in layout.places:
        keep[place.columns] = place.term not in dropped
    new = np.cumsum(keep) - 1
    with DatasetWriter(target) as writer:
        for begin in range(0, data.positions, 1 << 16):
            end = min(begin + (1 << 16), data.positions)
            rows = data.rows(begin, end)
            chosen = keep[rows.index]
            row = np.concatenate([[0], np.cumsum(chosen)])[rows.row - rows.row[0]]
            writer.add_positions(
                rows._replace(index=new[rows.index[chosen]], count=rows.count[chosen], row=row)
            )
        writer.add_games(data.first[:-1], data.game, data.opening)
        writer.finish(
            {
                **data.manifest,
                "layout": [
                    [place.path, list(place.shape)]
                    for place in layout.places
                    if place.term not in dropped
                ],
            }
        )
    return open_dataset(target)


def largest_terms(layout: Layout, most: int) -> set[str]:
    """Return the largest terms, so many that at most `most` columns remain without them."""
    sizes: dict[str, int] = {}
    for place in layout.places:
        sizes[place.term] = sizes.get(place.term, 0) + place.size
    dropped: set[str] = set()
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if sum(size for term, size in sizes.items() if term not in dropped) <= most:
            break
        dropped.add(name)
    return dropped


def _zero(data: Dataset) -> Parameters:
    layout = data.layout
    stages = tuple(data.manifest["stages"])
    return Parameters(
        data.manifest["game"], layout, stages, np.zeros((len(stages), layout.size)), _scale(data)
    )


def _scale(data: Dataset) -> float:
    return scale_of(data.manifest["game"])


def passes(work: Workload) -> list[Row]:
    """Measure loss and gradient in one pass, against the same with a sparse matrix of SciPy."""
    from scipy.sparse import csr_matrix

    whole, rows, target_of = whole_data(work), [], work.of_game.TARGETS
    sizes, scale = whole.layout, _scale(whole)
    for data in (
        whole,
        without_terms(whole, largest_terms(sizes, sizes.size - 1), work.folder / "narrower"),
    ):
        problem = make_problem(data, _zero(data), FitOptions(), np.arange(data.games), scale)
        weights = np.random.default_rng(1).normal(0, 10, problem.start.shape)
        problem.loss_gradient(weights)
        seconds = cpu_seconds(partial(problem.loss_gradient, weights))
        some = min(100_000, data.positions)
        matrix = csr_matrix(
            (
                data.count[: data.row[some]].astype(np.float64),
                data.index[: data.row[some]].astype(np.int32),
                data.row[: some + 1],
            ),
            shape=(some, data.columns),
        )
        share = (data.phase[:some] / data.manifest["phases"])[:, None]
        shares = np.concatenate([share, 1 - share], axis=1)[:, : problem.stages]
        target = (1 + data.outcome[:some].astype(np.float64)) / 2

        def scipy_pass(matrix=matrix, shares=shares, target=target, w=weights) -> np.ndarray:
            p = 1 / (1 + np.exp(-2 * scale * ((matrix @ w[:, :-1].T) * shares).sum(axis=1)))
            _ = -(target * np.log(p) + (1 - target) * np.log1p(-p)).mean()
            return matrix.T @ ((p - target)[:, None] * shares)

        theirs = some / cpu_seconds(scipy_pass)
        nonzeros = len(data.index) / data.positions
        rows.append(
            Row(
                f"fused pass, {nonzeros:.1f} nonzeros, {problem.stages} stages",
                data.positions / seconds / 1e6,
                "M positions/s",
                target_of.get("pass") if nonzeros < 40 else None,
                reference=("NumPy + SciPy", theirs / 1e6),
            )
        )
    return rows


def fits(work: Workload) -> list[Row]:
    """Measure fits from zero with standard errors, each in its own process, and their memory."""
    whole, rows, bench = whole_data(work), [], work.of_game
    layout, stages = whole.layout, len(whole.manifest["stages"])
    measured, left_out = [(whole, None)], largest_terms(layout, SMALL_FIT // stages)
    if left_out:
        measured.insert(
            0, (without_terms(whole, left_out, work.folder / "small"), bench.TARGETS.get("fit"))
        )
    for data, target in measured:
        done = subprocess.run(
            [sys.executable, "-m", "tuner.bench.speed", str(data.path)],
            stdout=subprocess.PIPE,
            check=True,
        )
        found = json.loads(done.stdout)
        what = f"{data.positions:,} positions, {data.columns} x {stages}"
        rows.append(
            Row(
                f"fit from zero, {what}, {found['error']:.0e} from the optimum",
                found["cpu_seconds"],
                "CPU s",
                target,
                True,
                published(bench, "fit"),
            )
        )
        rows.append(
            Row(
                f"  the same with the automatic prior, {what}",
                found["prior_cpu_seconds"],
                "CPU s",
                None,
                True,
            )
        )
        rows.append(
            Row(
                f"  memory above the imports, {what}",
                found["megabytes"],
                "MB",
                bench.TARGETS.get("memory"),
                True,
                published(bench, "memory"),
            )
        )
    return rows


def peak_megabytes() -> float:
    """Return the peak memory of this process in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would include the process that started it
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measure(path: str) -> dict:
    """Return CPU seconds and memory of a fit, and its relative distance from the optimum."""
    data = open_dataset(path)
    parameters = _zero(data)
    games = np.arange(min(50, data.games))
    tiny = make_problem(data, parameters, FitOptions(), games, _scale(data))
    tiny.gauss_newton(tiny.start)  # compiles and loads what a fit needs
    tiny.device.score_products(tiny.model, tiny.start, np.arange(tiny.start.size))
    before = peak_megabytes()
    options = FitOptions(held_out=0.0, prior=None, learning=LearnerOptions(tolerance=NEAR / 4))
    started = time.process_time()
    result = fit(data, parameters, options)
    seconds = time.process_time() - started
    memory = peak_megabytes() - before
    started = time.process_time()
    fit(data, parameters, FitOptions())
    with_prior = time.process_time() - started
    best = fit(
        data,
        parameters,
        FitOptions(
            held_out=0.0, prior=None, errors=False, learning=LearnerOptions(tolerance=1e-12)
        ),
    )
    return {
        "cpu_seconds": seconds,
        "megabytes": memory,
        "prior_cpu_seconds": with_prior,
        "error": result.loss_after / best.loss_after - 1,
    }


HIDDEN = 64  # units, where the game names no other number
POSITIONS, FROM_COUNTS = 50_000, 5_000
WARM = 2_000  # games before those that are timed: the first games of a random network are long
TIMED = 2_000  # games
SPREAD = 0.01  # of the random weights of a linear network


def networks(work: Workload) -> list[Row]:
    """Measure a network of random weights on the usual encoding of a game: evaluations of positions
    and of counts a second, and games of TD(0) a second, where compiled code plays the game, also
    without hidden units."""
    game = find(load_parameters(work.params).game)
    bench, encodings = bench_of(game.name), encodings_of(game.name)
    if not encodings:
        raise NothingToMeasure(
            f"network: {game.name} has no encodings for networks; choose --params of another game"
        )
    encoding, hidden = next(iter(encodings.values())), getattr(bench, "HIDDEN", HIDDEN)
    layers = {"network": [(hidden, "sigmoid"), (1, "sigmoid")], "linear": [(1, "sigmoid")]}
    shaped = {"network": f"{encoding.name}, {hidden} hidden", "linear": f"{encoding.name}, linear"}
    positions, target = _positions(game, work), bench.TARGETS.get("networks")
    counts = counts_of(encoding, positions[:FROM_COUNTS]).toarray()
    lines = [
        Row(
            f"networks from counts, {shaped['network']}",
            _forward(random_network(encoding.size, layers["network"], 1), encoding, counts) / 1e6,
            "M/s",
            target,
        )
    ]
    for other in (one for one in encodings.values() if one.for_mover):
        network = random_network(other.size, layers["network"], 1)
        evaluated = _evaluated(
            NetworkFile(game.name, other.name, network, 1, "random", game.scale), positions
        )
        lines.append(
            Row(
                f"networks as evaluations, {other.name}, {hidden} hidden",
                evaluated / 1e6,
                "M positions/s",
                target,
            )
        )
        break
    whole = getattr(bench, "WHOLE_GAMES", None)
    if whole is None:
        return lines
    for kind, name in shaped.items():
        spread = SPREAD if kind == "linear" else None
        learner = TdLearner(
            random_network(encoding.size, layers[kind], 1, spread),
            encoding,
            whole,
            TdSettings(rate=0.1),
        )
        learner.play(WARM)
        before, started = learner.plies, time.thread_time()
        learner.play(TIMED)
        speed = TIMED / (time.thread_time() - started)
        lines.append(
            Row(
                f"self-play with TD(0), {name}, {(learner.plies - before) / TIMED:.0f} plies a"
                " game",
                speed,
                "games/s",
                bench.TARGETS.get(f"td {kind}"),
            )
        )
    return lines


def _positions(game: Game, work: Workload) -> np.ndarray:
    """Return positions of the games to measure with, at most POSITIONS."""
    found: list[np.ndarray] = []
    options = ReadOptions(positions="all", duplicates="keep")
    for batch in game.files.read(str(work.games), options, ReadReport(), lambda text: None):
        found.append(batch.positions)
        if sum(map(len, found)) >= POSITIONS:
            break
    return np.concatenate(found)[:POSITIONS]


def _forward(network: Network, encoding: Encoding, counts: np.ndarray) -> float:
    """Return the outputs a CPU second for counts (n, inputs)."""
    compiled_outputs(network, encoding.units, counts)
    return len(counts) / cpu_seconds(lambda: compiled_outputs(network, encoding.units, counts))


def _evaluated(file: NetworkFile, positions: np.ndarray) -> float:
    """Return the evaluations of positions (n, words) a CPU second, as a search asks for them."""
    memory, out, flat = (
        evaluation_of(file).memory(),
        np.zeros(len(positions), np.int64),
        positions.ravel(),
    )
    scores(flat, positions.shape[1], memory.data, out)
    return len(positions) / cpu_seconds(lambda: scores(flat, positions.shape[1], memory.data, out))


def games_to_moves(work: Workload) -> list[Row]:
    """Measure reading games from text to legal moves."""
    engine, _ = load_engine(work.params)
    bench = bench_of(engine.game.name)
    bench.reading(work.games)  # compiles
    runs = sorted((bench.reading(work.games) for _ in range(5)), key=lambda run: run[1])
    games, seconds, reference = runs[2]
    return [
        Row(
            f"{work.games.name} -> legal moves",
            games / seconds,
            "games/s",
            bench.TARGETS.get("reading"),
            reference=(bench.REFERENCE, reference),
        )
    ]


def perft(work: Workload) -> list[Row]:
    """Measure move generation, with bulk counting at the last ply."""
    engine, _ = load_engine(work.params)
    bench = bench_of(engine.game.name)
    what, unit = getattr(bench, "COUNTING", ("perft", "nodes"))
    return [
        Row(
            f"{what}, {name}",
            nodes / seconds / 1e6,
            f"M {unit}/s",
            bench.TARGETS.get("perft"),
            reference=(bench.REFERENCE, reference and reference / 1e6),
        )
        for name, nodes, seconds, reference in bench.counting()
    ]


def positions_to_coefficients(work: Workload) -> list[Row]:
    """Measure counting the terms of positions, and reading those that datasets are made of, quiet
    ones in most games."""
    engine, _ = load_engine(work.params)
    bench = bench_of(engine.game.name)
    chosen = getattr(bench, "POSITIONS", "quiet")
    evaluation = None
    if chosen == "quiet":
        quiescence = quiescence_of(engine, QUIESCENCE)
        evaluation = quiescence.engine.evaluation(quiescence.parameters)

    def read(kind: str, source: Path) -> tuple[list[np.ndarray], ReadReport]:
        report = ReadReport()
        options = ReadOptions(positions=kind, evaluation=evaluation, duplicates="keep")
        return [
            batch.positions
            for batch in engine.game.files.read(str(source), options, report, lambda text: None)
        ], report

    batches, _ = read("all", work.games)
    positions = np.concatenate(batches)[:200_000]
    counter = Counter(engine.composition)
    counter.count(positions)
    seconds = cpu_seconds(lambda: counter.count(positions))
    nonzeros = len(counter.count(positions).index) / len(positions)
    whole = cpu_seconds(lambda: [counter.count(batch) for batch in read(chosen, work.games)[0]], 3)
    examined = sum(len(batch) for batch in batches)
    return [
        Row(
            f"positions -> {engine.layout.size} coefficients ({nonzeros:.0f} nonzeros)",
            len(positions) / seconds / 1e6,
            "M positions/s",
            bench.TARGETS.get("coefficients"),
            reference=published(bench, "coefficients"),
        ),
        Row(
            f"file -> coefficients of {chosen} positions",
            examined / whole / 1e6,
            "M positions/s",
            bench.TARGETS.get("file"),
            reference=published(bench, "file"),
        ),
    ]


NODES = 1_000_000  # per position
SELF_PLAY_DEPTH, RANDOM_PLIES, LONGEST, GAMES = 4, 8, 160, 15
LEARNING_GAMES = 160


def _nodes_per_second(searcher: Searcher, positions: list[np.ndarray]) -> float:
    nodes, started = 0, time.thread_time()
    for words in positions:
        searcher.clear()
        nodes += searcher.search([words], Limits(nodes=NODES)).nodes
    return nodes / (time.thread_time() - started)


def searches(work: Workload) -> list[Row]:
    """Measure nodes per CPU second in both modes, and those of other engines; or moves decided on,
    in games whose search is limited by its depth alone."""
    lines, rows = [], work.of_game
    if hasattr(rows, "searching"):
        engine, parameters = load_engine(work.params)
        searcher = engine.searcher(parameters, True)
        rows.searching(searcher, rows.DEPTHS[0])
        return [
            Row(
                f"search, depth {depth}, {work.params}",
                rows.searching(searcher, depth),
                rows.SEARCH_UNIT,
                rows.TARGETS.get("search"),
            )
            for depth in rows.DEPTHS
        ]
    for params in dict.fromkeys((work.params, rows.LIGHT)):
        engine, parameters = load_engine(params)
        positions = [engine.game.position(text) for text in rows.SEARCHED]
        for playing, mode in ((False, "exact"), (True, "playing")):
            searcher = engine.searcher(parameters, playing)
            _nodes_per_second(searcher, positions[:1])
            target = (
                rows.TARGETS.get("light" if params == rows.LIGHT else "exact")
                if mode == "exact"
                else None
            )
            lines.append(
                Row(
                    f"search, {mode}, {params}",
                    _nodes_per_second(searcher, positions) / 1e6,
                    "M nodes/s",
                    target,
                )
            )
    for name, speed in rows.engines_nodes():
        lines.append(Row(f"  {name}, for comparison", speed / 1e6, "M nodes/s"))
    return lines


def self_play(work: Workload) -> list[Row]:
    """Measure games per CPU second of an exact search against itself; of a search that plays whole
    games, one ply deep."""
    lines, rows = [], work.of_game
    for params in dict.fromkeys((work.params, rows.LIGHT)):
        engine, parameters = load_engine(params)
        searcher = engine.searcher(parameters, playing=False, megabytes=4)
        rng, games = np.random.default_rng(1), getattr(rows, "GAMES", GAMES)
        play = (
            partial(_whole_game, engine, searcher, rng)
            if isinstance(searcher, PlaysGames)
            else partial(_game, engine, searcher, rng)
        )
        play()
        started, plies = time.process_time(), sum(play() for _ in range(games))
        how = "depth 1" if isinstance(searcher, PlaysGames) else f"depth {SELF_PLAY_DEPTH}, exact"
        lines.append(
            Row(
                f"self-play, {how}, {params}, {plies / games:.0f} plies a game",
                games / (time.process_time() - started),
                "games/s",
                rows.TARGETS.get("selfplay"),
            )
        )
    return lines


def learning(work: Workload) -> list[Row]:
    """Measure games per CPU second with learning, and the CPU time of learning relative to
    playing."""
    rows = work.of_game
    usual, games = (
        find(load_parameters(work.params).game).usual,
        getattr(rows, "LEARNING_GAMES", LEARNING_GAMES),
    )
    settings = SelfplaySettings(
        start=work.params,
        games=games,
        depth=usual.selfplay_depth,
        random_plies=usual.selfplay_random_plies,
        plies=usual.selfplay_plies,
        method=usual.method,
    )
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        new_run(
            WeightsRun(replace(settings, games=1), None, Display()),
            Path(folder) / "first",
            OnThreads(1),
            "tuner bench",
        )
        cpu, own = time.process_time(), time.thread_time()
        new_run(
            WeightsRun(settings, None, Display()), Path(folder) / "run", OnThreads(1), "tuner bench"
        )
        cpu, own = (
            time.process_time() - cpu,
            time.thread_time() - own,
        )  # this thread learns and writes, another plays
    return [
        Row(
            f"self-play with learning, depth {usual.selfplay_depth}, {work.params}",
            games / cpu,
            "games/s",
        ),
        Row(
            "  learning and writing, relative to playing",
            100 * own / (cpu - own),
            "% more",
            rows.TARGETS.get("learning"),
            at_most=True,
        ),
    ]


def _whole_game(engine: Engine, searcher: PlaysGames, rng: np.random.Generator) -> int:
    """Play one game in one call, as `tuner selfplay` does; return its length."""
    found = play_whole(
        engine.game, searcher, Dice(1, int(rng.integers(1 << 40))), engine.game.usual.selfplay_plies
    )
    assert found is not None, "nobody stopped it"
    return len(found.moves)


def _game(engine: Engine, searcher: Searcher, rng: np.random.Generator) -> int:
    """Play one game from a random opening; return its length."""
    game = engine.game
    searcher.clear()
    line = [game.start()]
    while game.result(line) is None and len(line) <= LONGEST:
        if len(line) <= RANDOM_PLIES:
            move = int(rng.choice(game.legal_moves(line[-1])))
        else:
            move = searcher.search(line, Limits(depth=SELF_PLAY_DEPTH)).pv[0]
        line.append(game.play(line[-1], move))
    return len(line) - 1


def _cpu_seconds_of(arguments: list[str], cache: str | None = None) -> float:
    environment = {**os.environ, **({"EVALTUNE_CACHE": cache} if cache else {})}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "tuner", *arguments],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starts(work: Workload) -> list[Row]:
    """Measure compiling everything that a dataset and an evaluation need, a warm start, and `tuner
    --help`."""
    with tempfile.TemporaryDirectory() as folder:
        whole = ["tune", work.params, str(work.games), "-o", str(Path(folder) / "learned.yaml")]
        command = [*whole, "--method", "logistic"]  # searching takes far longer than compiling it
        cold = _cpu_seconds_of(command, folder)
        warm = min(_cpu_seconds_of(command, folder) for _ in range(2))
        searched = _cpu_seconds_of(whole) if load_engine(work.params)[0].game.searchable else None
    show = ["params", work.params]
    _cpu_seconds_of(show)
    return [
        Row(
            "compiling `tuner tune --method logistic`, empty cache", cold - warm, "CPU s", 8.0, True
        ),
        Row("  the same with a warm cache, bundled games", warm, "CPU s", None, True),
        *(
            [
                Row(
                    "`tuner tune` on the bundled games, with its searches",
                    searched,
                    "CPU s",
                    None,
                    True,
                )
            ]
            if searched
            else []
        ),
        Row(
            "warm start (`tuner params`)",
            min(_cpu_seconds_of(show) for _ in range(3)),
            "CPU s",
            0.6,
            True,
        ),
        Row("tuner --help", min(_cpu_seconds_of(["--help"]) for _ in range(3)), "CPU s", 0.3, True),
    ]


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
