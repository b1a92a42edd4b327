"""Speed of reading games, move generation and search, compared to cshogi and fairy-stockfish on the
same input."""

import importlib
import importlib.util
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from games.record import Control
from games.shogi.engines.contest import external
from games.shogi.files import reading as files
from games.shogi.files.sfen import position, text
from games.shogi.rules.movegen import perft
from games.shogi.rules.position import START
from games.streams import InputError
from tests.benchmarks.speed import seconds_of_process

LIGHT = "shogi/hand"  # an evaluation of tables only
REFERENCE = "cshogi"
# million nodes a CPU second; `light`: exact, with the light evaluation
TARGETS = {
    "perft": 60.0,
    "exact": 1.5,
    "light": 2.5,
}
REFERENCE_GAMES = 200
MIDDLE = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"
SEARCHED = (
    text(START),
    "lnsgk1snl/1r4gb1/p1pppp2p/6pR1/1p7/2P6/PP1PPPP1P/1BG6/LNS1KGSNL w Pp 12",
    MIDDLE,
    "7lk/9/8S/9/9/9/9/7L1/8K b P 1",
)
PERFT = ((text(START), "start", 5), (MIDDLE, "middle game", 3))
ENGINE, ENGINE_NODES = "fairy-stockfish", 200_000


def _cshogi() -> Any:
    """Return cshogi, None if it is not installed."""
    return importlib.import_module(REFERENCE) if importlib.util.find_spec(REFERENCE) else None


def reading(games: Path) -> tuple[int, float, float | None]:
    """Return the games in a file of games, our CPU seconds for all of them, and the games per CPU
    second of cshogi's parser of CSA, None without it or for another format."""
    form = files.of_file(str(games))
    if form in files.PACKED:
        raise InputError(f"{games}: {form} records; expected games as CSA or KIF")
    started = time.process_time()
    count = sum(not game.fault for game in files.parse(str(games), form))
    ours = time.process_time() - started
    if form != files.CSA or _cshogi() is None:
        return count, ours, None
    lines = files.lines_of(str(games))
    some = [
        "\n".join(lines[begin:end])
        for (begin, end), _ in zip(
            files.games_apart(lines, form), range(REFERENCE_GAMES), strict=False
        )
    ]
    parser = importlib.import_module("cshogi.CSA").Parser
    started = time.process_time()
    for game in some:
        parser.parse_str(game)
    return count, ours, len(some) / (time.process_time() - started)


def counting() -> Iterator[tuple[str, int, float, float | None]]:
    """Yield name, nodes, our CPU seconds, and the nodes per second of perft by cshogi, None without
    it."""
    cshogi = _cshogi()
    for sfen, name, depth in PERFT:
        words = position(sfen)
        perft(words, 1)
        started = time.process_time()
        nodes = perft(words, depth)
        ours = time.process_time() - started
        reference = None
        if cshogi is not None:
            started = time.process_time()
            theirs = _perft(cshogi.Board(sfen), depth)
            reference = theirs / (time.process_time() - started)
        yield f"{name} to depth {depth}", nodes, ours, reference


def _perft(board: Any, depth: int) -> int:
    if depth == 1:
        return len(board.legal_moves)
    nodes = 0
    for move in list(board.legal_moves):
        board.push(move)
        nodes += _perft(board, depth - 1)
        board.pop()
    return nodes


def engines_nodes() -> Iterator[tuple[str, float]]:
    """Yield name and nodes per CPU second of fairy-stockfish, where it is installed, on the same
    positions."""
    path = shutil.which(ENGINE, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
    if path is None:
        return
    engine = external("usi", path, {"Threads": "1"}, Control(nodes=ENGINE_NODES), None)
    try:
        started = seconds_of_process(engine._engine._process._process.pid)
        for sfen in SEARCHED:
            engine.begin("", position(sfen))
            engine.choose(position(sfen)[None], [], None)
        ended = seconds_of_process(engine._engine._process._process.pid)
        if started is not None and ended is not None:
            yield ENGINE, len(SEARCHED) * ENGINE_NODES / (ended - started)
    finally:
        engine.close()
