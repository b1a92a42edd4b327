"""A teacher: scores of positions by an engine, each searched once, whatever is interrupted or
damaged."""

import contextlib
import os
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from games.record import Control, EngineFault, PositionBatch
from tests.games.chess.engines.client.fake import OPTIONS, evaluation
from tests.games.chess.engines.client.support import (
    CHESS,
    FAKE,
    FENS,
    MATED,
    STALEMATE,
    installed,
    positions,
)
from tests.support import refusal
from tuner.cluster.worker import program
from tuner.learn.teacher import ScoreCache, Teacher, cache_path, keys_of, program_files
from tuner.parallel import OnThreads

PIECES = "PpNnBbRr"


def boards(random: np.random.Generator, n: int) -> np.ndarray:
    """Positions (n, words) with kings far apart and other pieces anywhere, neither side in
    check."""
    found: list[np.ndarray] = []
    while len(found) < n:
        squares = ["."] * 64
        squares[0], squares[63] = "k", "K"
        for square in random.choice(np.arange(8, 56), 12, replace=False):
            squares[square] = PIECES[random.integers(len(PIECES))]
        rows = ["".join(squares[i : i + 8]) for i in range(0, 64, 8)]
        placement = "/".join(rows)
        for k in range(8, 0, -1):
            placement = placement.replace("." * k, str(k))
        with contextlib.suppress(ValueError):
            words = CHESS.position(f"{placement} {'wb'[random.integers(2)]} - - 0 1")
            if CHESS.legal_moves(words) and not _checked(words):
                found.append(words)
    return np.array(found)


def _checked(words: np.ndarray) -> bool:
    from games.chess.rules.movegen import in_check

    return bool(in_check(words))


def batch_of(
    positions: np.ndarray, games: int = 5, outcomes: np.ndarray | None = None
) -> PositionBatch:
    """The positions as a batch of so many games."""
    n = len(positions)
    first = np.arange(games) * n // games
    identities = np.arange(1, games + 1, dtype=np.uint64)
    outcomes = np.zeros(n, np.float32) if outcomes is None else outcomes.astype(np.float32)
    return PositionBatch(
        positions, outcomes, first, identities, identities, np.arange(1, games + 1)
    )


DEPTH = Control(depth=1)
BOARDS = boards(np.random.default_rng(2), 100)
ABOUT = {"engine": "Fake 1", "limits": "depth 1"}
USUAL = {name: value for name, (value, *_) in OPTIONS.items()}
WANTED = [round(evaluation(CHESS.text(words).split()[0], USUAL)) for words in BOARDS]


def teacher(folder, how: str = "", workers: int = 1, limits: Control = DEPTH, **options) -> Teacher:
    return Teacher(CHESS, f"uci:{FAKE} {how}", limits, OnThreads(workers), options, folder)


@pytest.mark.parametrize("workers", [1, 3])
def test_scores_are_the_engine_s_and_are_searched_once(tmp_path, workers):
    twice = np.concatenate([BOARDS, BOARDS[:10]])
    with teacher(tmp_path, workers=workers) as it:
        assert it.scores(batch_of(twice)).tolist() == WANTED + WANTED[:10] and it.new == 100
        assert it.scores(batch_of(BOARDS[::-1])).tolist() == WANTED[::-1] and it.new == 100
        assert it.scores(batch_of(BOARDS[:0], 0)).shape == (0,)
    with teacher(tmp_path) as again:
        assert again.scores(batch_of(BOARDS)).tolist() == WANTED
        assert (again.new, again.old) == (0, 100)


def test_mates_are_infinite_and_a_stalemate_is_level(tmp_path):
    ends = batch_of(positions(FENS[1], FENS[2], MATED, STALEMATE), 1)
    for _ in range(2):  # searched, then kept
        with teacher(tmp_path, "mate") as it:
            assert it.scores(ends).tolist() == [np.inf, np.inf, np.inf, 0.0]


def test_other_options_and_limits_have_scores_of_their_own(tmp_path):
    with teacher(tmp_path) as it:
        it.scores(batch_of(BOARDS))
    with teacher(tmp_path, Alpha=50) as other:
        assert other.scores(batch_of(BOARDS[:3])).tolist() == [
            round(evaluation(CHESS.text(words).split()[0], {**USUAL, "Alpha": 50}))
            for words in BOARDS[:3]
        ]
        assert (other.new, other.old) == (3, 0)
    with teacher(tmp_path, limits=Control(nodes=5)) as other:
        other.scores(batch_of(BOARDS[:3]))
        assert (other.new, other.old) == (3, 0)


def test_a_program_that_was_built_again_is_asked_again(tmp_path):
    """Every engine under development keeps its name: the scores of its former builds are not its
    own."""
    program, weights = tmp_path / "engine.py", tmp_path / "weights.bin"
    program.write_text(Path(shlex.split(FAKE)[-1]).read_text())
    weights.write_bytes(b"1")

    def asked(*words: str, **options) -> int:
        with Teacher(
            CHESS,
            shlex.join([f"uci:{sys.executable}", "-S", str(program), *words]).replace(
                "'uci:", "uci:"
            ),
            DEPTH,
            OnThreads(1),
            options,
            tmp_path / "scores",
        ) as it:
            assert it.scores(batch_of(BOARDS)).tolist() == WANTED and it.new + it.old == 100
            assert f"{it.new} searched, {it.old} found in {it.cache.path}" in it.text
            return it.new

    assert asked() == 100 and asked() == 0
    program.write_text(program.read_text() + "# built again\n")
    assert asked() == 100 and asked() == 0
    assert asked(str(weights)) == 100 and asked(str(weights)) == 0
    weights.write_bytes(b"2")
    assert asked(str(weights)) == 100


def test_of_our_own_program_the_sources_count(tmp_path):
    engine = SimpleNamespace(options={})
    found = program_files(f"uci:{sys.executable} -m tuner uci classic", {}, engine)
    assert found["sources"] == program()["sources"] and os.path.realpath(sys.executable) in found
    (tmp_path / "net.yaml").write_text("a")
    (tmp_path / "net.npz").write_text("b")
    found = program_files("uci:tuner uci", {"EvalFile": str(tmp_path / "net.yaml")}, engine)
    assert {str(tmp_path / "net.yaml"), str(tmp_path / "net.npz"), "sources"} <= set(found)
    assert "sources" not in program_files(f"uci:{sys.executable} engine.py", {}, engine)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_searched_before_a_crash_is_kept(tmp_path, workers, monkeypatch):
    counted = []
    with Teacher(
        CHESS,
        f"uci:{FAKE} crash 40",
        DEPTH,
        OnThreads(workers),
        None,
        tmp_path,
        lambda: counted.append(1),
    ) as it:
        assert re.search(
            r"`go depth 1`: exited with status 3; \d+ of 100 positions were done",
            refusal(it.scores, batch_of(BOARDS), error=EngineFault),
        )
        done = it.new
    assert 39 <= done < 100 and len(counted) == done
    monkeypatch.setenv("FAKE_MENDED", "1")
    with teacher(tmp_path, "crash 40") as it:
        assert (
            it.scores(batch_of(BOARDS)).tolist() == WANTED
            and it.new == 100 - done
            and it.old == done
        )


def test_processes_share_the_scores_of_an_engine(tmp_path):
    with teacher(tmp_path) as one, teacher(tmp_path) as other:
        assert one.scores(batch_of(BOARDS)).tolist() == WANTED and one.new == 100
        assert other.scores(batch_of(BOARDS)).tolist() == WANTED
        assert (other.new, other.old) == (0, 100)


def test_scores_of_another_engine_are_refused(tmp_path):
    path = cache_path(ABOUT, tmp_path)
    assert path.name.startswith("fake-1-") and len(set(keys_of(BOARDS))) == 100
    for _ in range(2):
        cache = ScoreCache(path, ABOUT)
        cache.add(-7, -12.5)
        cache.add(8, -np.inf)
        assert [cache.get(key) for key in (-7, 8, 9)] == [-12.5, -np.inf, None]
        cache.close()
    assert "not scores of this engine with these options" in refusal(
        ScoreCache, path, {**ABOUT, "limits": "depth 2"}
    )
    assert "cannot be used: unable to open database file" in refusal(ScoreCache, tmp_path, ABOUT)


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("stockfish", 'not an engine that evaluates positions, expected "uci:COMMAND"'),
        ("uci:", 'expected "uci:COMMAND"'),
        ("xboard:gnuchess", "not an engine"),
        ("uci:no-such-engine", "no-such-engine: no such program"),
    ],
)
def test_a_wrong_engine_is_refused(tmp_path, engine, said):
    assert re.search(said, refusal(Teacher, CHESS, engine, DEPTH, folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_stockfish_scores_the_same_with_one_process_and_with_two(tmp_path):
    command = f"uci:{installed('stockfish')}"
    found = []
    for workers in (1, 2):
        with Teacher(
            CHESS,
            command,
            Control(nodes=200),
            OnThreads(workers),
            folder=tmp_path / str(workers),
        ) as it:
            found.append(it.scores(batch_of(BOARDS[:40])))
    assert (found[0] == found[1]).all() and np.std(found[0][np.isfinite(found[0])]) > 50
