"""An opponent that gives up, crashes or breaks a rule loses the game, and nothing else happens."""

import sys
from pathlib import Path

import pytest

from games.record import CRASH, Forfeit
from games.search.searcher import Limits
from tests.commands.support import done, tuner
from tests.games.chess.engines.contest import __file__ as contest
from tuner.evaluation.loading import load_engine
from tuner.play.openings import Opening
from tuner.play.selfplay.games import FORFEITED, Plan, play_episode

ENGINES = Path(contest).parent


class Quitter:
    """A player that gives up before the game, or at its first move."""

    def __init__(self, when: str) -> None:
        self._when = when

    def begin(self, seed: str, start) -> None:
        if self._when == "begin":
            raise Forfeit(CRASH)

    def choose(self, line, moves, left):
        raise Forfeit(CRASH)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("when", ["begin", "choose"])
def test_an_opponent_that_gives_up_loses(when, first):
    engine, parameters = load_engine("classic")
    episode = play_episode(
        engine.game,
        engine.searcher(parameters, megabytes=1),
        Plan(Limits(depth=1)),
        0,
        1,
        Opening(engine.game.start()),
        opponent=Quitter(when),
        first=first,
    )
    assert (episode.end, episode.outcome) == (FORFEITED, 1 - 2 * first)
    assert len(episode.moves) == len(episode.ply) == (when == "choose" and first == 0)


def test_games_lost_by_faults_teach_nothing_and_many_stop_the_run(tmp_path):
    fake = f"uci:{sys.executable} {ENGINES / 'fake_engine.py'} uci"
    run = tmp_path / "run"
    words = [
        "selfplay",
        "classic",
        "--games",
        "12",
        "--batch",
        "4",
        "--depth",
        "1",
        "--plies",
        "40",
        "--workers",
        "1",
    ]
    ran = tuner(*words, "--opponent", f"{fake} illegal 2", "--run", run)
    assert ran.status == 2
    assert "4 of 4 games were lost by faults of the opponent, such as illegal moves" in ran.err
    one = done(*words, "--opponent", f"{fake} crash 120", "--run", tmp_path / "other")
    assert "games that the opponent lost by faults, left out: 1\n" in one.out
