"""The page of `tuner watch` in a browser: it follows the run, leaves alone what the reader does,
and its memory does not grow."""

import json
import random
import subprocess
import sys
import time

import pytest

from tests.games.support import REPOSITORY
from tests.tuner.report.browser import needs_chromium
from tests.tuner.report.devtools import Tab, wait
from tests.tuner.report.support import match_run, tune_run
from tests.tuner.report.test_live import now, write
from tests.tuner.report.watched import COMMAND, UNPACED, Watch
from tuner.io.now import read_now

pytestmark = needs_chromium
chess = pytest.importorskip("chess")
TEXT = "document.getElementById('now').textContent"
FITS = "document.documentElement.scrollWidth <= innerWidth"


def game_of(number: int):
    """A game under way, another one for each number."""
    from tuner.io.now import GameNow

    board, dice = chess.Board(), random.Random(number)
    for _ in range(20):
        moves = list(board.legal_moves)
        if moves:
            board.push(dice.choice(moves))
    return GameNow("chess", ["one", "two"], board.fen(), 20, "Nf3")


def playing(done: int, **more):
    games = [game_of(done), game_of(-done)]
    return now(step="playing", text=f"game {done}", done=done, total=20_000, games=games, **more)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_it_follows_a_run_and_asks_for_nothing_else(tmp_path, width, dark):
    folder = match_run(tmp_path / "match", [(1, 0), (-1, 1), (1, 1)] * 4)
    write(folder, playing(1))
    with Watch(folder, before=UNPACED) as watch, Tab(tmp_path, watch.address, width, dark) as tab:
        wait(lambda: "game 1" in tab.run(TEXT))
        assert tab.run("document.querySelectorAll('#now .picture svg').length") == 2
        assert tab.run(FITS)
        paper = tab.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, paper[4:-1].split(", "))) < 200) == dark
        first = tab.run("document.querySelector('#now .picture').ariaLabel")
        write(folder, playing(2))
        tab.run("look()")
        wait(lambda: "game 2" in tab.run(TEXT))
        assert tab.run("document.querySelector('#now .picture').ariaLabel") != first
        assert tab.run(
            "document.querySelector('#now .picture svg').getBoundingClientRect().width > 100"
        )
        games = "document.querySelector('.tiles .value').textContent"
        assert tab.run(games) == "24"
        line = (folder / "history.jsonl").read_bytes().splitlines(keepends=True)[0]
        with open(folder / "history.jsonl", "ab") as history:
            history.write(line.replace(b'"pair":0', b'"pair":12'))
        wait(lambda: tab.run("look()") is None and tab.run(games) == "26")
        write(folder, now("ended"))
        tab.run("look()")
        wait(lambda: "The run ended" in tab.run(TEXT))
        asked = len(tab.events)
        time.sleep(3)  # longer than from one question to the next
        tab.run("0")
        assert not [each for each in tab.events[asked:] if each["method"].startswith("Network")]
        assert tab.asked() == {watch.address, f"{watch.address}now"} and tab.said() == []
        watch.end()
        tab.run("look()")
        wait(lambda: "does not answer" in tab.run(TEXT))


def test_what_the_reader_did_stays(tmp_path):
    folder = tune_run(tmp_path / "tune")
    write(folder, playing(1))
    with Watch(folder, before=UNPACED) as watch, Tab(tmp_path, watch.address) as tab:
        wait(lambda: tab.run("updates") > 0)
        tab.run(
            """
            document.querySelector("details").open = true;
            const box = document.querySelector("input[data-filters]");
            box.value = "passed";
            box.dispatchEvent(new Event("input", {bubbles: true}));
            document.querySelector("#table-of-numbers thead th:nth-child(3)").click();
            box.focus();
            getSelection().selectAllChildren(document.querySelector("h1"));
            box.focus();
            scrollTo(0, 700); 0"""
        )
        state = """JSON.stringify([document.querySelector("details").open, scrollY,
            document.activeElement.value, String(getSelection()),
            [...document.querySelectorAll("#table-of-numbers tbody tr:not([hidden])")]
                .map(r => r.textContent),
            document.querySelectorAll("#table-of-numbers thead th")[2].ariaSort])"""
        before = tab.run(state)
        assert json.loads(before)[0] is True and json.loads(before)[1] == 700
        assert json.loads(before)[2] == "passed" and json.loads(before)[5] == "ascending"
        report = tab.run("document.body.dataset.report")
        history = folder / "history.jsonl"
        history.write_bytes(history.read_bytes())  # at another time
        write(folder, playing(2))
        wait(
            lambda: tab.run("look()") is None and tab.run("document.body.dataset.report") != report
        )
        assert tab.run(state) == before and tab.said() == []


@pytest.mark.long
def test_a_match_is_followed_from_its_games_to_its_end(tmp_path):
    words = ["match", "classic", "material", "--depth", "4", "--games", "300", "--run", "run"]
    started = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    folder = tmp_path / "run"
    wait(lambda: (found := read_now(folder)) and found.games, 300)
    with Watch(folder) as watch, Tab(tmp_path, watch.address) as tab:
        wait(lambda: "classic" in tab.run(TEXT))  # above a board
        assert started.wait(300) == 0
        wait(lambda: "The run ended" in tab.run(TEXT))
        wait(lambda: tab.run("document.querySelector('.tiles .value').textContent") == "300")
        assert tab.said() == []


@pytest.mark.long
def test_ten_thousand_updates_need_no_memory(tmp_path):
    folder = match_run(tmp_path / "match", [(1, 0), (-1, 1), (1, 1)] * 4)
    line = (folder / "history.jsonl").read_bytes().splitlines(keepends=True)[0]
    write(folder, playing(0))
    with Watch(folder, before=UNPACED) as watch, Tab(tmp_path, watch.address) as tab:
        wait(lambda: tab.run("updates") > 0)
        used = []
        for number in range(1, 10_001):
            write(folder, playing(number))
            if number % 500 == 0:
                with open(folder / "history.jsonl", "ab") as history:
                    history.write(line.replace(b'"pair":0', b'"pair":%d' % (11 + number // 500)))
            tab.run("look()")
            if number % 1000 == 0:
                tab.run("gc()")
                heap = tab.run("performance.memory.usedJSHeapSize") / 1e6
                nodes = tab.call("Memory.getDOMCounters")["nodes"]
                used.append((heap, nodes, watch.memory()))
                tab.events.clear()
        assert tab.run("updates") > 10_000
        first, last = used[1], used[-1]
        assert last[0] < 1.2 * first[0] + 1 and last[1] < 1.2 * first[1], used
        assert last[2] < 1.1 * first[2] + 5, used
