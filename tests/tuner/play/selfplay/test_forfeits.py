"""An opponent that gives up, crashes or breaks a rule loses the game, and nothing else happens."""

import pytest

from games.record import CRASH, Forfeit
from games.search.searcher import Limits
from tuner.evaluation.loading import load_engine
from tuner.play.openings import Opening
from tuner.play.selfplay.games import FORFEITED, Plan, play_episode


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
