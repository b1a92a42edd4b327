"""Games that are played for some seconds, and the time that a command is given."""

import json
import math
import re
import subprocess
import threading

import numpy as np
import pytest

from tests.games.support import REPOSITORY
from tests.support import refusal
from tests.tuner.improve.small import write_small
from tuner.cli import perform
from tuner.core.estimates import any_time_reach
from tuner.improve.budget import FEW, LOOKS, Length, undecided
from tuner.improve.judging import GAIN, RESULTS_GAIN, Gain, final_judgement, is_settled, judged
from tuner.io.interrupt import ended_after, interrupts
from tuner.play.match.tally import require_few_faults
from tuner.statistics.pentanomial import score_of
from tuner.statistics.ratings import CountedMatch, joint_ratings


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
    assert "no game ended in 60 s; give more minutes or a smaller" in refusal(
        played, Length(7, 60.0, LOOKS, decided), lambda now: 100.0
    )


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
    assert f"; {run}: round 1.1 of the games there is the first" in refusal(
        require_few_faults, found["forfeits"], found["games"], "a", run
    )
    games = (run / "games.pgn").read_text().split("[Event ")
    (game,) = (" ".join(each.split()) for each in games if '"1.1"' in each)
    assert re.search(r"> position .* moves .*; > go depth 1", game), game
    require_few_faults(found["forfeits"], found["games"], "b", run)


@pytest.mark.long
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


PAIRS = np.array([0.06, 0.22, 0.44, 0.22, 0.06])  # shares of equal players


def test_the_expected_gain_is_that_of_two_normal_distributions():
    ratings = joint_ratings([CountedMatch("b", "a", [10, 30, 60, 28, 8])])
    found = judged(ratings, "b", "a", Gain(20.0, 10.0))
    value, error = found.rating.value, found.rating.standard_error
    share = 100 / (100 + error**2)
    assert found.expected == pytest.approx(share * value + (1 - share) * 20)
    assert judged(ratings, "b", "a", Gain(20.0, 1e9)).expected == pytest.approx(value)
    assert value < 0 < found.expected, "a short match that is lost decides nothing"


def test_the_interval_of_all_times_is_that_of_its_source():
    """As the source prints it, for a deviation of 1, with its rho for 300 observations."""
    rho2 = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / 300
    for n in (20, 300, 5000):
        half = math.sqrt(
            2 * (n * rho2 + 1) / (n * n * rho2) * math.log(math.sqrt(n * rho2 + 1) / 0.05)
        )
        assert any_time_reach(n) == pytest.approx(half * math.sqrt(n), rel=1e-9)


def final(elo: float, most: int, random) -> tuple[bool, bool, float]:
    """Whether a gain is announced, whether the interval has the true one, and the share played."""
    tilt = math.log(10) / 400 * elo  # pairs whose mean score is close to that of the difference
    for _ in range(30):
        p = PAIRS * np.exp(tilt * np.arange(5) / 2)
        p /= p.sum()
        tilt += 4 * (score_of(elo) - p @ np.arange(5) / 4)
    pairs, played = np.zeros(5, int), 0
    for share in LOOKS:
        games = FEW * max(round(share * most / FEW), 1)
        pairs += random.multinomial(games // 2 - played, p)
        played = games // 2
        if is_settled({"pentanomial": pairs.tolist(), "games": games}, most):
            break
    rating = final_judgement(CountedMatch("a", "b", pairs.tolist())).rating
    return rating.low > 0, rating.low <= elo <= rating.high, 2 * played / most


@pytest.mark.parametrize(("elo", "announced", "share"), [(0, 0.0, 0.5), (40, 1.0, 0.5)])
def test_final_matches_end_early_and_announce_what_is_there(elo, announced, share):
    random = np.random.default_rng(1)
    found = np.array([final(elo, 2000, random) for _ in range(60)])
    assert abs(found[:, 0].mean() - announced) <= 0.025
    assert found[:, 1].mean() >= 0.95 and found[:, 2].mean() <= share


def test_the_page_has_the_gain_that_is_expected():
    page = " ".join((REPOSITORY / "docs" / "improve.md").read_text(encoding="utf-8").split())
    assert f"gained {GAIN.mean:g} ± {GAIN.sd:g} Elo (mean, standard deviation;" in page
    assert f"for `results` {RESULTS_GAIN.mean:g} ± {RESULTS_GAIN.sd:g} is assumed" in page
    assert f"If less than {GAIN.mean / 2:g} Elo are expected, half the step" in page
