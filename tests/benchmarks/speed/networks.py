"""How fast networks are: evaluations of positions and of counts, and games that teach them."""

import time

import numpy as np

from evalterms.framework.encoding import Encoding, encodings_of
from games.record import Game, ReadOptions, ReadReport, find
from tests.benchmarks.speed import NothingToMeasure, Row, Workload, bench_of, cpu_seconds, target_of
from tuner.evaluation.loading import load_parameters
from tuner.evaluation.networks.compiled import scores
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile
from tuner.evaluation.networks.model import Network, compiled_outputs, counts_of, random_network
from tuner.evaluation.networks.td import TdLearner, TdSettings

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
    positions, target = _positions(game, work), target_of(bench, "networks")
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
                target_of(bench, f"td {kind}"),
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
