"""Games between players: results, pairs and luck."""

import numpy as np
import pytest

from games.backgammon.rules.play import WHOLE_GAMES, choose_at_random, choose_by_pubeval
from tests.tuner.evaluation.networks.support import PERSPECTIVE, TESAURO, network
from tuner.evaluation.networks.players import CompiledPlayer, NetworkPlayer, play_games
from tuner.evaluation.networks.td import TdLearner, TdSettings

RANDOM, PUBEVAL = CompiledPlayer(choose_at_random, 5), CompiledPlayer(choose_by_pubeval)


def test_pubeval_beats_random_by_two_and_a_half_points():
    played = play_games(WHOLE_GAMES, PUBEVAL, RANDOM, 4000, seed=1)
    assert abs(played.points.mean() - 2.496) < 0.05
    assert set(np.unique(played.points)) <= {-3, -2, -1, 1, 2, 3}


def test_random_players_are_equal_and_take_96_plies():
    played = play_games(
        WHOLE_GAMES, RANDOM, CompiledPlayer(choose_at_random, 6), 4000, seed=1, paired=False
    )
    assert abs(played.points.mean()) < 0.1
    assert abs(played.plies / 4000 - 96.6) < 1.5


def test_equal_players_share_every_pair():
    played = play_games(WHOLE_GAMES, PUBEVAL, PUBEVAL, 200, seed=1)
    assert (played.points[::2] == -played.points[1::2]).all()
    assert (played.points[::2] != played.points[2:3]).any()


def test_games_do_not_depend_on_which_are_played_before():
    whole = play_games(WHOLE_GAMES, PUBEVAL, RANDOM, 60, seed=3).points
    parts = [
        play_games(WHOLE_GAMES, PUBEVAL, RANDOM, 20, seed=3, first_game=first).points
        for first in (0, 20, 40)
    ]
    assert (whole == np.concatenate(parts)).all()


def evaluator(encoding=PERSPECTIVE, games=1500) -> NetworkPlayer:
    learner = TdLearner(
        network(encoding.size, [(1, "tanh")]).with_flat(np.zeros(encoding.size + 1)),
        encoding,
        WHOLE_GAMES,
        TdSettings(rate=0.02, points=True),
    )
    learner.play(games)
    return NetworkPlayer(learner.network, encoding, WHOLE_GAMES, 3)


@pytest.mark.long
def test_luck_has_mean_zero_and_explains_points():
    luck, games = evaluator(), 300
    played = play_games(WHOLE_GAMES, PUBEVAL, luck, games, seed=2, paired=False, luck=luck)
    assert abs(played.luck.mean()) < 4 * played.luck.std() / games**0.5
    assert np.corrcoef(played.luck, played.points)[0, 1] > 0.25


def test_luck_is_of_the_dice_not_of_the_player():
    """The same game seen from the other side has the opposite luck."""
    luck = evaluator(TESAURO, 300)
    played = play_games(WHOLE_GAMES, PUBEVAL, PUBEVAL, 20, seed=4, luck=luck)
    again = play_games(WHOLE_GAMES, PUBEVAL, PUBEVAL, 20, seed=4, luck=luck)
    assert (played.luck == again.luck).all()
    assert np.allclose(played.luck[::2], -played.luck[1::2], atol=1e-5)
