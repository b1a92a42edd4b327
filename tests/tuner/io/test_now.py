"""The file that says what a run does now: what it has, when it is written, how it ends."""

import shutil
import time

import pytest

from games.record import ReadReport
from games.streams import InputError
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


def written(folder, wanted):
    """What is in the file once it is as wanted."""
    end = time.monotonic() + 60
    while (found := read_now(folder)) is None or not wanted(found):
        assert time.monotonic() < end
        time.sleep(0.005)
    return found


def test_everything_is_passed_on(tmp_path):
    shown = Noted()
    with NowDisplay(tmp_path, shown, list) as display:
        display.begin("reading", 3)
        display.note("a note")
        display.reading(ReadReport())
        display.searched()
        display.learning({"iteration": 1, "objective": 0.5})
        display.passing(1, 2)
        display.counting(1)
        display.playing("1 game", 1)
    assert sorted(shown.told) == sorted(each for each in vars(Display) if not each.startswith("_"))


def test_the_step_its_progress_and_the_games_are_written(tmp_path):
    with NowDisplay(tmp_path, Display(), lambda: [GAME]) as display:
        display.begin("playing", 100)
        display.note("hello")
        display.playing("20 games", 10)
        found = written(tmp_path, lambda now: now.games)
        assert (found.state, found.step, found.text) == ("running", "playing", "20 games")
        assert (found.done, found.total, found.note, found.games) == (10, 100, "hello", [GAME])
        assert found.began <= found.written <= time.time()
        display.begin("computing")
        later = written(tmp_path, lambda now: now.step == "computing")
        assert later.done is later.total is None and later.text == ""
    assert read_now(tmp_path).state == "ended" and read_now(tmp_path).games == []


def test_positions_searched_by_threads_are_counted(tmp_path):
    with NowDisplay(tmp_path, Display(), list) as display:
        display.begin("searching", 10)
        for _ in range(4):
            display.searched()
        assert written(tmp_path, lambda now: now.done == 4).total == 10


def test_what_fails_at_once_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 60)
    with pytest.raises(InputError), NowDisplay(tmp_path, Display(), list):
        raise InputError("why")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_was_removed_stays_so(tmp_path):
    folder, shown = tmp_path / "run", Noted()
    folder.mkdir()
    with NowDisplay(folder, shown, list):
        written(folder, lambda now: True)
        end = time.monotonic() + 60
        while "note" not in shown.told:
            shutil.rmtree(folder, ignore_errors=True)
            assert time.monotonic() < end
    assert not folder.exists()


def test_damage_is_an_error_of_one_line(tmp_path):
    (tmp_path / NOW).write_text('{"state": 1}')
    with pytest.raises(InputError, match="now.json: "):
        read_now(tmp_path)
