"""How fast games are: reading them, their moves, their terms, searches and self-play."""

import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from games.record import Dice, ReadOptions, ReadReport, find
from games.search.searcher import Limits, Searcher
from tests.benchmarks.speed import Row, Workload, cpu_seconds, published, target_of
from tuner.evaluation.engine import CompiledTerms, Counter
from tuner.evaluation.evaluation import quiescence_of
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.io.files import QUIESCENCE
from tuner.io.terminal import Display
from tuner.options.selfplay import SelfplaySettings
from tuner.parallel import OnThreads
from tuner.play.run import new_run
from tuner.play.selfplay.games import PlaysGames, play_whole
from tuner.play.selfplay.weights import WeightsRun


def games_to_moves(work: Workload) -> list[Row]:
    """Measure reading games from text to legal moves."""
    engine, _ = load_engine(work.params)
    bench = work.of_game
    bench.reading(work.games)  # compiles
    runs = sorted((bench.reading(work.games) for _ in range(5)), key=lambda run: run[1])
    games, seconds, reference = runs[2]
    return [
        Row(
            f"{work.games.name} -> legal moves",
            games / seconds,
            "games/s",
            target_of(bench, "reading"),
            reference=(bench.REFERENCE, reference),
        )
    ]


def perft(work: Workload) -> list[Row]:
    """Measure move generation, with bulk counting at the last ply."""
    engine, _ = load_engine(work.params)
    bench = work.of_game
    what, unit = getattr(bench, "COUNTING", ("perft", "nodes"))
    return [
        Row(
            f"{what}, {name}",
            nodes / seconds / 1e6,
            f"M {unit}/s",
            target_of(bench, "perft"),
            reference=(bench.REFERENCE, reference and reference / 1e6),
        )
        for name, nodes, seconds, reference in bench.counting()
    ]


def positions_to_coefficients(work: Workload) -> list[Row]:
    """Measure counting the terms of positions, and reading those that datasets are made of, quiet
    ones in most games."""
    engine, _ = load_engine(work.params)
    bench = work.of_game
    chosen = getattr(bench, "POSITIONS", "quiet")
    evaluation = None
    if chosen == "quiet":
        quiescence = quiescence_of(engine.game, QUIESCENCE)
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
            target_of(bench, "coefficients"),
            reference=published(bench, "coefficients"),
        ),
        Row(
            f"file -> coefficients of {chosen} positions",
            examined / whole / 1e6,
            "M positions/s",
            target_of(bench, "file"),
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
                target_of(rows, "search"),
            )
            for depth in rows.DEPTHS
        ]
    for params in dict.fromkeys((work.params, rows.LIGHT)):
        engine, parameters = load_engine(params)
        positions = [engine.game.position(text) for text in rows.SEARCHED]
        for playing, mode in ((False, "exact"), (True, "playing")):
            searcher = engine.searcher(parameters, playing)
            _nodes_per_second(searcher, positions[:1])
            target = None
            if not playing:
                target = target_of(rows, "light" if params == rows.LIGHT else "exact")
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
                target_of(rows, "selfplay"),
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
            "make bench",
        )
        cpu, own = time.process_time(), time.thread_time()
        new_run(
            WeightsRun(settings, None, Display()), Path(folder) / "run", OnThreads(1), "make bench"
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
            target_of(rows, "learning"),
            at_most=True,
        ),
    ]


def _whole_game(engine: CompiledTerms, searcher: PlaysGames, rng: np.random.Generator) -> int:
    """Play one game in one call, as `tuner selfplay` does; return its length."""
    found = play_whole(
        engine.game, searcher, Dice(1, int(rng.integers(1 << 40))), engine.game.usual.selfplay_plies
    )
    assert found is not None, "nobody stopped it"
    return len(found.moves)


def _game(engine: CompiledTerms, searcher: Searcher, rng: np.random.Generator) -> int:
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
