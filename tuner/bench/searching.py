"""Speed of search and self-play: nodes or decisions, and games, per second."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from games.record import Dice, find
from games.search.searcher import Limits, Searcher
from tuner.bench import Workload, row
from tuner.engine.engine import Engine
from tuner.engine.loading import load_engine, load_parameters
from tuner.io.progress import Display
from tuner.parallel import OnThreads
from tuner.selfplay.run import new_run
from tuner.selfplay.settings import Settings
from tuner.selfplay.setup import usual_of
from tuner.selfplay.whole_games import PlaysGames, play_whole

NODES = 1_000_000  # per position
SELF_PLAY_DEPTH, RANDOM_PLIES, LONGEST, GAMES = 4, 8, 160, 15
LEARNING_GAMES = 160


def _nodes_per_second(searcher: Searcher, positions: list[np.ndarray]) -> float:
    nodes, started = 0, time.thread_time()
    for words in positions:
        searcher.clear()
        nodes += searcher.search([words], Limits(nodes=NODES)).nodes
    return nodes / (time.thread_time() - started)


def searches(work: Workload) -> list[dict]:
    """Measure nodes per CPU second in both modes, and those of other engines; or moves decided on, in
    games whose search is limited by its depth alone."""
    lines, rows = [], work.of_game
    if hasattr(rows, "searching"):
        engine, parameters = load_engine(work.params)
        searcher = engine.searcher(parameters, True)
        rows.searching(searcher, rows.DEPTHS[0])
        return [row(f"search, depth {depth}, {work.params}", rows.searching(searcher, depth), rows.SEARCH_UNIT,
                    rows.TARGETS.get("search")) for depth in rows.DEPTHS]
    for params in dict.fromkeys((work.params, rows.LIGHT)):
        engine, parameters = load_engine(params)
        positions = [engine.game.position(text) for text in rows.SEARCHED]
        for playing, mode in ((False, "exact"), (True, "playing")):
            searcher = engine.searcher(parameters, playing)
            _nodes_per_second(searcher, positions[:1])
            target = rows.TARGETS.get("light" if params == rows.LIGHT else "exact") if mode == "exact" else None
            lines.append(row(f"search, {mode}, {params}", _nodes_per_second(searcher, positions) / 1e6, "M nodes/s", target))
    for name, speed in rows.engines_nodes():
        lines.append(row(f"  {name}, for comparison", speed / 1e6, "M nodes/s"))
    return lines


def self_play(work: Workload) -> list[dict]:
    """Measure games per CPU second of an exact search against itself; of a search that plays whole games, one ply deep."""
    lines, rows = [], work.of_game
    for params in dict.fromkeys((work.params, rows.LIGHT)):
        engine, parameters = load_engine(params)
        searcher = engine.searcher(parameters, playing=False, megabytes=4)
        rng, games = np.random.default_rng(1), getattr(rows, "GAMES", GAMES)
        play = partial(_whole_game if isinstance(searcher, PlaysGames) else _game, engine, searcher, rng)
        play()
        started, plies = time.process_time(), sum(play() for _ in range(games))
        how = "depth 1" if isinstance(searcher, PlaysGames) else f"depth {SELF_PLAY_DEPTH}, exact"
        lines.append(row(f"self-play, {how}, {params}, {plies / games:.0f} plies a game",
                         games / (time.process_time() - started), "games/s", rows.TARGETS.get("selfplay")))
    return lines


def learning(work: Workload) -> list[dict]:
    """Measure games per CPU second with learning, and the CPU time of learning relative to playing."""
    rows = work.of_game
    usual, games = usual_of(find(load_parameters(work.params).game)), getattr(rows, "LEARNING_GAMES", LEARNING_GAMES)
    settings = Settings(work.params, games, usual.depth, random_plies=usual.random_plies, plies=usual.plies, method=usual.method)
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        new_run(replace(settings, games=1), Path(folder) / "first", OnThreads(1), None, "tuner bench", Display())
        cpu, own = time.process_time(), time.thread_time()
        new_run(settings, Path(folder) / "run", OnThreads(1), None, "tuner bench", Display())
        cpu, own = time.process_time() - cpu, time.thread_time() - own  # this thread learns and writes, another plays
    return [row(f"self-play with learning, depth {usual.depth}, {work.params}", games / cpu, "games/s"),
            row("  learning and writing, relative to playing", 100 * own / (cpu - own), "% more", rows.TARGETS.get("learning"),
                at_most=True)]


def _whole_game(engine: Engine, searcher: PlaysGames, rng: np.random.Generator) -> int:
    """Play one game in one call, as `tuner selfplay` does; return its length."""
    found = play_whole(engine.game, searcher, Dice(1, int(rng.integers(1 << 40))), usual_of(engine.game).plies)
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
            move = searcher.search(line, Limits(depth=SELF_PLAY_DEPTH)).move
        line.append(game.play(line[-1], move))
    return len(line) - 1
