"""Games that are played for some seconds, and the time that a command is given."""

import json
import math
import re
import subprocess
import threading

import pytest

from games.streams import InputError
from tests.tuner.improve.small import write_small
from tuner.cli import perform
from tuner.improve.budget import LOOKS, Length, undecided
from tuner.improve.judging import is_settled
from tuner.io.interrupt import ended_after, interrupts
from tuner.play.match.tally import require_few_faults


def played(length: Length, pace, before: int = 0):
    """The totals that are asked for, and what is found, where a game takes `pace` seconds."""
    now, asked, done = [0.0], [], [before]

    def run(games: int, seconds: float) -> dict:
        each = pace(now[0])
        fit = min(games - done[0], int(seconds / each)) if math.isfinite(seconds) else games
        asked.append(games)
        now[0] += fit * each
        done[0] += fit
        return {"games": done[0]}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuner.improve.budget.time.monotonic", lambda: now[0])
        return asked, length.play(run, pace(0.0), before)["games"], now[0]


def test_games_take_the_seconds_that_they_have():
    asked, games, seconds = played(Length(7, 100.0), lambda now: 0.1)
    assert len(asked) == 2 and asked == sorted(asked) and 990 <= games <= 1000
    assert seconds <= 100
    # a load that begins later
    asked, games, seconds = played(Length(7, 100.0), lambda now: 0.1 if now < 50 else 0.4)
    assert 95 <= seconds <= 100
    # twenty games would take longer than there is time
    assert played(Length(7, 100.0), lambda now: 30.0)[1:] == (3, 90.0)


def test_numbers_of_games_are_played_as_they_are():
    assert played(Length(70, math.inf), lambda now: 1.0)[0] == [70]
    asked = played(Length(700, math.inf, LOOKS), lambda now: 1.0)[0]
    assert asked[-1] == 700 and len(asked) == len(LOOKS) and asked == sorted(asked)
    # games of an earlier part of the run are not asked for again
    assert played(Length(700, math.inf, LOOKS), lambda now: 1.0, before=500)[0] == [560, 640, 700]
    # few games are looked at once, and a number that is no multiple of these ends with the rest
    assert played(Length(30, math.inf, LOOKS), lambda now: 1.0)[0] == [20, 30]
    assert played(Length(410, math.inf, LOOKS), lambda now: 1.0, before=410)[0] == [410]


@pytest.mark.parametrize("decided", [undecided, is_settled])
def test_without_any_game_there_is_one_line(decided):
    with pytest.raises(InputError, match="no game ended in 60 s; give more minutes or a smaller"):
        played(Length(7, 60.0, LOOKS, decided), lambda now: 100.0)


def test_time_that_is_over_ends_what_is_polled_now_and_later():
    with ended_after(0.05) as over:
        with interrupts() as early:
            assert early.wait(10) and over.is_set()
        with interrupts() as late:
            assert late.is_set()
    with interrupts() as after:
        assert not after.is_set()


def test_games_that_are_lost_by_faults_are_named_with_what_passed_before(tmp_path):
    write_small(tmp_path)
    subprocess.run(["sh", "build.sh"], cwd=tmp_path / "engine", check=True)
    engine, run = f"uci:{tmp_path}/engine/myengine play", tmp_path / "run"
    words = ["match", f"{engine} crash:10", engine, "--depth", "1", "--games", "4"]
    found = perform([*words, "--run", str(run)])
    with pytest.raises(InputError) as problem:
        require_few_faults(found["forfeits"], found["games"], "a", run)
    assert f"; {run}: round 1.1 of the games there is the first" in str(problem.value)
    games = (run / "games.pgn").read_text().split("[Event ")
    (game,) = (" ".join(each.split()) for each in games if '"1.1"' in each)
    assert re.search(r"> position .* moves .*; > go depth 1", game), game
    require_few_faults(found["forfeits"], found["games"], "b", run)


def test_a_match_ends_after_its_seconds_and_goes_on_later(tmp_path):
    run = str(tmp_path / "run")
    words = ["match", "classic", "zero", "--depth", "2", "--run", run, "--games", "100000"]
    seconds = 2.0
    found = perform(words, seconds)
    while not found["games"]:  # on a slow machine, or one that compiles first
        seconds *= 4
        found = perform(["match", "--resume", run], seconds)
    assert found["games"] < 100000 and found["interrupted"]
    before = found["games"]
    assert perform(["match", "--resume", run], 1.0)["games"] >= before
    assert threading.active_count() < 20
    assert json.dumps(found)
