"""The state of a run: what it has, when it is written, how it ends."""

import time

import pytest

from games.record import ReadReport
from games.streams import InputError
from tests.support import refusal
from tuner.core.store import Store
from tuner.io import now as module
from tuner.io.now import NOW, GameNow, NowDisplay, read_now
from tuner.io.terminal import Display

GAME = GameNow("chess", ["a", "b"], "8/8/8/4k3/8/3K4/4P3/8 w - - 0 1", 12, "Ke5")


class Noted(Display):
    """Keeps the names of what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        for name in (each for each in vars(Display) if not each.startswith("_")):
            setattr(self, name, lambda *given, name=name: self.told.append(name))


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.01)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path) as store:
        yield store


def written(folder, wanted):
    """The state once it is as wanted."""
    end = time.monotonic() + 60
    while (found := read_now(folder)) is None or not wanted(found):
        assert time.monotonic() < end
        time.sleep(0.005)
    return found


def test_everything_is_passed_on(store):
    shown = Noted()
    with NowDisplay(store, shown, list) as display:
        display.begin("reading", 3)
        display.note("a note")
        display.reading(ReadReport())
        display.searched()
        display.learning({"iteration": 1, "objective": 0.5})
        display.passing(1, 2)
        display.counting(1)
        display.playing("1 game", 1)
    assert sorted(shown.told) == sorted(each for each in vars(Display) if not each.startswith("_"))


def test_the_step_its_progress_and_the_games_are_written(store):
    with NowDisplay(store, Display(), lambda: [GAME]) as display:
        display.begin("playing", 100)
        display.note("hello")
        display.playing("20 games", 10)
        found = written(store.folder, lambda now: now.games)
        assert (found.state, found.step, found.text) == ("running", "playing", "20 games")
        assert (found.done, found.total, found.note, found.games) == (10, 100, "hello", [GAME])
        assert found.began <= found.written <= time.time()
        display.begin("computing")
        later = written(store.folder, lambda now: now.step == "computing")
        assert later.done is later.total is None and later.text == ""
    assert read_now(store.folder).state == "ended" and read_now(store.folder).games == []


def test_positions_searched_by_threads_are_counted(store):
    with NowDisplay(store, Display(), list) as display:
        display.begin("searching", 10)
        for _ in range(4):
            display.searched()
        assert written(store.folder, lambda now: now.done == 4).total == 10


def test_what_fails_at_once_changes_nothing(store, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 60)
    with pytest.raises(InputError), NowDisplay(store, Display(), list):
        raise InputError("why")
    assert read_now(store.folder) is None


def test_damage_is_an_error_of_one_line(store):
    store.put(NOW, b'{"state": 1}')
    assert "run.db: now: " in refusal(read_now, store.folder)
