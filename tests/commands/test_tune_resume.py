"""A run of `tune` that is interrupted within its searches goes on with what it has found."""

import itertools
import json
import os

import chess
import numpy as np
import pytest
import yaml

from games.streams import pieces
from tests.commands.support import done, refused, tuner
from tests.games.support import REPOSITORY
from tuner.evaluation.loading import evaluation_spec, load_engine
from tuner.learn import targets

SAMPLE = REPOSITORY / "games" / "samples" / "stockfish400.pgn.zst"

METHODS = {
    "rootstrap": ("--depth", 1, "--rounds", 1),
    "td-leaf": ("--depth", 1),
}


@pytest.fixture
def games(tmp_path):
    """The first games of the bundled ones."""
    path = tmp_path / "games.pgn"
    text = b"".join(itertools.islice(pieces(SAMPLE), 1))[: 1 << 15]
    path.write_bytes(text[: text.rindex(b"\n[Event ") + 1])
    return path


@pytest.fixture
def counted(monkeypatch):
    """Counts the games that are searched, and interrupts after so many, if that is set."""
    count, add = {"games": 0, "last": None}, targets.SearchLog.add

    def added(log, key, found):
        add(log, key, found)
        count["games"] += 1
        if count["games"] == count["last"]:
            raise KeyboardInterrupt

    monkeypatch.setattr(targets.SearchLog, "add", added)
    return count


@pytest.mark.parametrize("method", ["rootstrap", pytest.param("td-leaf", marks=pytest.mark.long)])
def test_an_interrupted_run_searches_nothing_twice_and_learns_the_same(
    tmp_path, monkeypatch, games, counted, method
):
    monkeypatch.chdir(tmp_path)
    words = ("tune", "classic", "games.pgn", "--method", method, *METHODS[method])
    done(*words, "-o", "whole.yaml", "--run", "whole")
    number = counted["games"]
    assert number > 10 and not os.path.exists("whole/searches")
    counted.update(games=0, last=number // 2)
    ran = tuner(*words, "-o", "out.yaml", "--run", "run")
    assert ran.status == 130 and "continue with: tuner tune --resume run" in ran.err
    assert not os.path.exists("out.yaml") and sorted(os.listdir("run")) == ["lock", "searches"]
    os.makedirs("run/unfinished/merged")  # a kill leaves other files, too
    (tmp_path / "run" / "unfinished" / "made-by-tuner").touch()
    other = ("tune", "classic", "games.pgn", "--method", "logistic", "-o", "b.yaml", "--run", "run")
    assert "searches of another command" in refused(*other)
    monkeypatch.chdir("/")
    counted.update(games=0, last=None)
    done("tune", "--resume", tmp_path / "run")
    assert counted["games"] == number - number // 2
    weights = [
        yaml.safe_load((tmp_path / f"{name}.yaml").read_text())["weights"]
        for name in ("whole", "out")
    ]
    assert weights[0] == weights[1] and not (tmp_path / "run" / "searches").exists()


def test_a_torn_or_damaged_record_is_searched_again(tmp_path):
    path, dice = tmp_path / "searches", np.random.default_rng(1)
    found = [
        targets.GameSearches(
            3, dice.integers(0, 1 << 60, (n, 9)).astype(np.uint64), dice.normal(size=n), np.ones(n)
        )
        for n in (1, 4, 2)
    ]
    for i, each in enumerate(found):
        targets.SearchLog(path, "tuner tune").add(bytes([i]) * 16, each)
    whole = path.read_bytes()
    for damage, kept in (
        (whole[:-3], 2),
        (whole + b"abc", 3),
        (whole[:300] + b"x" + whole[301:], 1),
    ):
        path.write_bytes(damage)
        log = targets.SearchLog(path, "tuner tune")
        for i, each in enumerate(found):
            known = log.get(bytes([i]) * 16, 3, 9)
            assert (known is not None) == (i < kept)
            if known:
                assert all(np.array_equal(a, b) for a, b in zip(known, each, strict=True))


def test_searches_of_other_weights_depths_and_positions_have_other_keys(tmp_path):
    engine, classic = load_engine("classic")
    log, positions = (
        targets.SearchLog(tmp_path / "searches", ""),
        engine.game.position(chess.STARTING_FEN)[None],
    )
    specs = [
        targets.SearchSpec(evaluation_spec(engine, p), True, depth)
        for p in (classic, classic.with_weights(classic.weights + 1))
        for depth in (1, 2)
    ]
    keys = {log.key(spec, some) for spec in specs for some in (positions, positions + 1)}
    assert len(keys) == 8 and log.key(specs[0], positions) in keys


def test_what_cannot_be_resumed_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a resumed command goes, this process with it
    said = refused("tune", "--resume", tmp_path)
    assert "holds no searches of an interrupted run; give its command again" in said
    lines = [b"", b"[]\n", b"\xff\n", b'{"command": "tuner tune --depth"}\n']
    for line in lines:
        (tmp_path / "searches").write_bytes(line)
        assert "holds no searches" in refused("tune", "--resume", tmp_path)
    head = {"command": "tuner tune classic x -o y.yaml", "folder": str(tmp_path / "gone")}
    (tmp_path / "searches").write_text(json.dumps(head) + "\n")
    assert "the run began there, put it back" in refused("tune", "--resume", tmp_path)
    head["folder"] = str(tmp_path)
    commands = ("tuner rm -rf", "tuner", "tune --depht 3", "tuner tune 'a", "tuner tune a\0b -o c")
    for command in (*commands, f"tuner tune --resume {tmp_path}"):
        (tmp_path / "searches").write_text(json.dumps(head | {"command": command}) + "\n")
        refused("tune", "--resume", tmp_path)
    for command in ("--terms evil.py", "--teacher uci:evil", "--cluster tcp://evil:1"):
        text = f"tuner tune classic x -o y.yaml {command}"
        (tmp_path / "searches").write_text(json.dumps(head | {"command": text}) + "\n")
        assert "its command runs other code" in refused("tune", "--resume", tmp_path)
    assert "a resumed run keeps its settings" in refused("tune", "--resume", tmp_path, "--depth", 3)
    assert "expected PARAMS and GAMES, or --resume DIR" in refused("tune")
