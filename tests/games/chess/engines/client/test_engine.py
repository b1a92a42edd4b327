"""External engines as sources of scores: what they say is understood, and whatever goes wrong
is one line."""

import os
import re
import signal
import threading
import time

import numpy as np
import pytest

from games import process
from games.chess.engines.players import evaluator
from games.protocol import client
from games.protocol.client import option_of
from games.record import Control, EngineFault, EngineOption
from tests.games.chess.engines.client.fake import OPTIONS, evaluation
from tests.games.chess.engines.client.support import (
    FAKE,
    FENS,
    MATED,
    STALEMATE,
    installed,
    positions,
)
from tests.support import refusal

DEPTH = Control(depth=1)


@pytest.fixture
def start(monkeypatch):
    """A function that starts an engine, ended after the test."""
    started = []

    def begin(
        how: str = "",
        at: int = 0,
        command: str | None = None,
        **values,
    ):
        started.append(evaluator(command or f"{FAKE} {how} {at}", values))
        return started[-1]

    monkeypatch.setattr(process, "QUIT_SECONDS", 0.2)
    monkeypatch.setattr(process, "MOST_WITHOUT_ANSWER", 1 << 20)
    monkeypatch.setattr(process, "LONGEST_LINE", 1 << 18)
    yield begin
    for engine in started:
        engine.close()


def known(values=None) -> list[float]:
    """What the fake engine should say of FENS."""
    usual = {name: value for name, (value, *_) in OPTIONS.items()} | (values or {})
    return [evaluation(text.split()[0], usual) for text in FENS]


def test_its_name_and_options_are_read(start):
    engine = start()
    assert engine.name == "Fake 1"
    spins = [option for option in engine.options.values() if option.kind == "spin"]
    assert {
        option.name: (int(option.default), option.low, option.high) for option in spins
    } == OPTIONS
    assert (
        engine.options["Style"].choices == ("Solid", "Very Risky")
        and engine.options["OwnBook"].kind == "check"
    )


def test_scores_of_searches_are_the_last_exact_ones_of_the_best_line(start):
    engine = start()
    found = list(engine.searches(engine.asked(positions(*FENS, MATED, STALEMATE)), DEPTH))
    assert [one.score for one in found[:5]] == [round(value) for value in known()]
    assert all(one.mate is None for one in found[:5])
    assert (found[5].score, found[5].mate) == (np.inf, 0) and (found[6].score, found[6].mate) == (
        0.0,
        None,
    )


def test_mates_are_infinite_and_of_the_first_player_s_view(start):
    engine = start("mate")
    white, black = engine.searches(engine.asked(positions(FENS[1], FENS[2])), DEPTH)
    assert (white.score, white.mate) == (np.inf, 3)
    assert (black.score, black.mate) == (np.inf, 2)  # Black to move is mated in 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("crash", "`go depth 1`: exited with status 3; 2 of 5 positions were done"),
        ("silent", "`go depth 1`: no `bestmove` within 1 s; 2 of 5"),
        ("flood", "`go depth 1`: no `bestmove` within 1 s; 2 of 5"),
        ("bare", "`go depth 1`: no exact score before 'bestmove e2e4' for "),
        ("skip", "`go depth 1`: no `bestmove` within 1 s; 2 of 5"),
    ],
)
def test_a_fault_of_a_search_comes_behind_the_results_before_it(start, monkeypatch, how, said):
    monkeypatch.setattr(client, "PATIENCE", 1.0 if how in ("silent", "skip", "flood") else 60.0)
    engine = start(how, 3)
    found = []
    with pytest.raises(EngineFault) as fault:
        found.extend(one.score for one in engine.searches(engine.asked(positions(*FENS)), DEPTH))
        pytest.fail("no fault")
    assert said in str(fault.value) and "\n" not in str(fault.value)
    assert found == [round(value) for value in known()[:2]]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-engine", "no-such-engine: no such program, expected the command of a uci engine"),
        ("", "'': no such program"),
        ("'a", "'a: not a command: No closing quotation"),
        ("/bin/false", "/bin/false: exited with status 1; is it a uci engine?"),
        (f"{FAKE} mute", "no `uciok` within 0.5 s"),
        (
            "sh -c 'echo no net.bin >&2; exit 2'",
            "exited with status 2, and complained: no net.bin; is it a uci engine?",
        ),
    ],
)
def test_an_engine_that_does_not_start_is_one_line(monkeypatch, command, said):
    monkeypatch.setattr(client, "START_SECONDS", 0.5 if "mute" in command else 60.0)
    assert said in refusal(evaluator, command, {})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("Gamma", 1, "has no option 'Gamma'"),
        ("Alpha", 500, "option 'Alpha' is 500, expected 0 to 400"),
        ("Alpha", "1.5", "option 'Alpha' is '1.5', expected a whole number"),
        ("OwnBook", 1, "option 'OwnBook' is '1', expected true or false"),
        ("Style", "Wild", "option 'Style' is 'Wild', expected Solid, Very Risky"),
        ("Alpha", "1\nquit", "expected a whole number"),
    ],
)
def test_wrong_options_are_refused(start, name, value, said):
    assert re.search(said, refusal(start().set, {name: value}))


def test_chess960_needs_the_option(start):
    assert "has no option UCI_Chess960, and some positions are of Chess960" in refusal(
        start().asked, positions("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1")
    )


def test_an_abort_from_another_thread_ends_the_wait(start):
    engine = start("silent", 1)
    asked = engine.asked(positions(*FENS))
    timer = threading.Timer(0.3, engine.abort)
    timer.start()
    began = time.monotonic()
    assert "stopped; 0 of 5" in refusal(list, engine.searches(asked, DEPTH), error=EngineFault)
    assert time.monotonic() - began < 30


def test_the_children_of_an_engine_that_ended_are_killed(start, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_CHILDREN", str(tmp_path / "children"))
    engine = start("orphan", 1)
    monkeypatch.setattr(client, "PATIENCE", 1.0)
    assert refusal(list, engine.searches(engine.asked(positions(*FENS)), DEPTH), error=EngineFault)
    pid = int((tmp_path / "children").read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        if open(f"/proc/{pid}/stat").read().split(")")[1].split()[0] == "Z":
            break
        time.sleep(0.05)
    else:
        os.kill(pid, signal.SIGKILL)
        pytest.fail("the child is alive")


def test_no_engine_is_left_behind(start):
    engine = start()
    engine.close()
    assert engine._process not in process.alive


def test_stockfish_searches(start):
    engine = start(command=installed("stockfish"), Hash=1)
    searched = list(engine.searches(engine.asked(positions(*FENS, MATED)), Control(nodes=500)))
    again = list(engine.searches(engine.asked(positions(*FENS, MATED)[::-1]), Control(nodes=500)))
    assert searched == again[::-1]  # the order of the positions changes nothing
    assert searched[1].score > 100 and searched[2].score < -100


def test_toga_searches(start):
    engine = start(command=installed("toga2"), OwnBook="false")
    assert engine.options["King Safety"].high == 400
    scores = [one.score for one in engine.searches(engine.asked(positions(*FENS)), DEPTH)]
    assert scores[1] > 100 and scores[2] < -100


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (
            "option name Hash type spin default 16 min 1 max 33554432",
            EngineOption("Hash", "spin", "16", 1, 33554432),
        ),
        (
            "option name Piece Square Activity type spin default -5 min -10 max 400\r",
            EngineOption("Piece Square Activity", "spin", "-5", -10, 400),
        ),
        (
            "option name Order type spin min 0 max 9 default 3",
            EngineOption("Order", "spin", "3", 0, 9),
        ),
        ("option name Clear Hash type button", EngineOption("Clear Hash", "button")),
        ("option name Ponder type check default false", EngineOption("Ponder", "check", "false")),
        (
            "option name Style type combo default Very Risky var Solid var Very Risky",
            EngineOption("Style", "combo", "Very Risky", None, None, ("Solid", "Very Risky")),
        ),
        (
            "option name Path type string default /usr/share/my books/",
            EngineOption("Path", "string", "/usr/share/my books/"),
        ),
        ("option name Empty type string default", EngineOption("Empty", "string")),
        ("option name Broken type spin default x min 0 max 9", None),
        ("option name Broken type spin default 3", None),
        ("option name Odd type float default 3", None),
        ("info string option name", None),
    ],
)
def test_options_are_read_as_declared(line, option):
    assert option_of(line) == option
