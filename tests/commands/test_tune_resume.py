"""A run of `tune` that is interrupted within its searches goes on with what it has found."""

import itertools
import os

import chess
import numpy as np
import pytest
import yaml

from games.streams import pieces
from tests.commands.support import done, refused, tuner
from tests.games.support import REPOSITORY
from tests.tuner.core.support import put, write_records
from tuner.core.store import Store
from tuner.evaluation.loading import evaluation_spec, load_engine
from tuner.io.run_folder import BEGUN, Told, read_told
from tuner.learn import searches

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
    count, add = {"games": 0, "last": None}, searches.SearchLog.add

    def added(log, key, found):
        add(log, key, found)
        count["games"] += 1
        if count["games"] == count["last"]:
            raise KeyboardInterrupt

    monkeypatch.setattr(searches.SearchLog, "add", added)
    return count


@pytest.mark.parametrize("method", ["rootstrap", pytest.param("td-leaf", marks=pytest.mark.long)])
def test_an_interrupted_run_searches_nothing_twice_and_learns_the_same(
    tmp_path, monkeypatch, games, counted, method
):
    monkeypatch.chdir(tmp_path)
    words = ("tune", "classic", "games.pgn", "--method", method, *METHODS[method])
    words += ("--only", "material.*")
    done(*words, "-o", "whole.yaml", "--run", "whole")
    number = counted["games"]
    assert number > 10 and read_told(tmp_path / "whole", BEGUN) is None
    counted.update(games=0, last=number // 2)
    ran = tuner(*words, "-o", "out.yaml", "--run", "run")
    assert ran.status == 130 and "continue with: tuner tune --resume run" in ran.err
    assert not os.path.exists("out.yaml") and sorted(os.listdir("run")) == ["lock", "run.db"]
    os.makedirs("run/unfinished/merged")  # a kill leaves other files, too
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
    assert weights[0] == weights[1] and read_told(tmp_path / "run", BEGUN) is None
    assert sorted(os.listdir(tmp_path / "run")) == sorted(os.listdir(tmp_path / "whole"))


def test_what_was_searched_is_known(tmp_path):
    dice = np.random.default_rng(1)
    found = [
        searches.GameSearches(
            3, dice.integers(0, 1 << 60, (n, 9)).astype(np.uint64), dice.normal(size=n), np.ones(n)
        )
        for n in (1, 4, 2)
    ]
    for i in (0, 1):
        with Store(tmp_path) as store:
            log = searches.SearchLog(store, b"{}")
            assert log.get(bytes([i]) * 16, 3, 9) is None
            log.add(bytes([i]) * 16, found[i])
    with Store(tmp_path) as store:
        for i in (0, 1):
            known = searches.SearchLog(store, b"").get(bytes([i]) * 16, 3, 9)
            assert all(np.array_equal(a, b) for a, b in zip(known, found[i], strict=True))


def test_searches_of_other_weights_depths_and_positions_have_other_keys(tmp_path):
    engine, classic = load_engine("classic")
    log, positions = (
        searches.SearchLog(None, b""),
        engine.game.position(chess.STARTING_FEN)[None],
    )
    specs = [
        searches.SearchSpec(evaluation_spec(engine, p), True, depth)
        for p in (classic, classic.with_weights(classic.weights + 1))
        for depth in (1, 2)
    ]
    keys = {log.key(spec, some) for spec in specs for some in (positions, positions + 1)}
    assert len(keys) == 8 and log.key(specs[0], positions) in keys


def test_what_cannot_be_resumed_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a resumed command goes, this process with it
    said = refused("tune", "--resume", tmp_path)
    assert "holds no searches of an interrupted run; give its command again" in said
    (tmp_path / "run.db").write_bytes(b"")
    assert "holds no searches" in refused("tune", "--resume", tmp_path)
    (tmp_path / "run.db").unlink()
    write_records(tmp_path, [])
    put(tmp_path, BEGUN, {"section": 3})
    assert "section is 3, expected a text" in refused("tune", "--resume", tmp_path)
    given = {
        "start": "classic",
        "output": str(tmp_path.parent / "y.yaml"),
        "options": {},
        "folder": str(tmp_path),
    }
    for changes, said in (
        ({"sources": "x"}, 'sources is "x", expected a list'),
        ({"options": {"depth": -1}}, "depth is -1"),
        ({"folder": str(tmp_path / "gone")}, "the run began there, put it back"),
        ({"start": "gone"}, "gone: no such file"),
    ):
        put(tmp_path, BEGUN, Told("options", {"sources": [], **given, **changes}, "x").content)
        assert said in refused("tune", "--resume", tmp_path)
    assert "a resumed run keeps its settings" in refused("tune", "--resume", tmp_path, "--depth", 3)
    assert "expected PARAMS and GAMES, or --resume DIR" in refused("tune")
