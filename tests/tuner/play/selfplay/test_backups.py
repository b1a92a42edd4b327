"""Errors of the backups against the plain formulas, on games that the search played."""

from dataclasses import replace

import numpy as np
import pytest

from games.search.searcher import Limits
from tests.games.search.plain_search import plain_value
from tuner.evaluation.engine import counted_positions
from tuner.evaluation.loading import load_engine
from tuner.objectives.temporal import differences, errors
from tuner.play.openings import Opening
from tuner.play.selfplay.begin import run_for
from tuner.play.selfplay.games import Plan, play_episode
from tuner.play.selfplay.learner import BACKUPS, WON, BackupInput

DEPTH, SEED = 2, 3
USUAL = Plan(Limits(depth=DEPTH), 6)


@pytest.fixture(scope="module")
def classic():
    return load_engine("classic")


def episodes(
    classic, n: int, plan: Plan = USUAL, harvest: tuple[int, int | None] = (0, None), **more
):
    engine, parameters = classic
    searcher = engine.searcher(parameters, playing=False, megabytes=1, lean=False)
    searcher.harvest(*harvest)
    return [
        play_episode(
            engine.game, searcher, plan, number, SEED, Opening(engine.game.start()), **more
        )
        for number in range(n)
    ]


def input_of(classic, episode, lambda_: float = 0.7, **more) -> BackupInput:
    return BackupInput(episode, classic[1].scale, lambda_, **more)


def test_leaves_evaluate_to_the_score_of_the_search_or_the_game_is_over_there(classic):
    engine, parameters = classic
    ended = []
    for episode in episodes(classic, 12):
        static = engine.evaluate(episode.leaves, parameters)
        unknown = np.isnan(episode.known)
        assert (static[unknown] == episode.scores[unknown]).all()
        for leaf, known in zip(episode.leaves[~unknown], episode.known[~unknown], strict=True):
            result = engine.game.result([leaf])
            # a draw by repetition needs the positions before
            assert result == known or known == 0 and result is None
            ended.append(known)
        certain = np.abs(episode.scores) > WON
        assert (np.abs(episode.known) == 1).tolist() == certain.tolist()
    assert set(ended) > {0.0} and len(ended) > 3


@pytest.mark.parametrize("backup", ["td", "td-leaf"])
@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_td_is_the_scan_over_all_plies(classic, backup, lambda_):
    engine, parameters = classic
    for episode in episodes(classic, 5):
        given = input_of(classic, episode, lambda_)
        positions = BACKUPS[backup].positions(episode)
        values = np.tanh(parameters.scale * engine.evaluate(positions, parameters))
        c = BACKUPS[backup].errors(given, values)
        known = np.isnan(episode.known) if backup == "td-leaf" else np.ones(len(values), bool)
        whole = np.where(known, values, episode.known) if backup == "td-leaf" else values
        wanted = errors(differences(whole, episode.outcome), lambda_)
        assert np.abs(c - wanted)[known].max(initial=0) < 1e-12 and not c[~known].any()
        if lambda_ == 1.0 and episode.outcome is not None:
            assert np.abs(c - (episode.outcome - values))[known].max(initial=0) < 1e-12


def test_a_large_difference_counts_as_the_largest_that_may(classic):
    _, parameters = classic
    for episode in episodes(classic, 3):
        values = np.where(np.arange(len(episode.ply)) % 3, 0.9, -0.9)
        given = input_of(classic, episode, 0.7)._replace(largest=0.15)
        d = np.clip(differences(values, episode.outcome), -0.15, 0.15)
        assert np.abs(BACKUPS["td"].errors(given, values) - errors(d, 0.7)).max() < 1e-12


@pytest.mark.parametrize(
    ("start", "given", "expected"),
    [
        ("material", {"lambda_": 0.7}, ("td-leaf", 1.5, 0.15)),
        ("material", {"lambda_": 0.7, "learning_rate": 3.0}, ("td-leaf", 3.0, 0.15)),
        ("material", {"lambda_": 0.7, "learner": "sgd"}, ("td-leaf", None, None)),
        ("material", {"lambda_": 0.7, "method": "td-leaf"}, ("td-leaf", None, None)),
        ("material", {}, ("rootstrap", None, None)),
        ("chess", {"lambda_": 0.7, "hidden": (4,)}, ("td-leaf", 0.005, None)),
        ("shogi/hand", {"lambda_": 0.7}, ("td-leaf", None, None)),
    ],
)
def test_lambda_alone_asks_for_the_update_that_was_measured(start, given, expected):
    _, found = run_for(start, given)
    assert (found.method, found.learning_rate, found.largest_error) == expected


def test_nothing_is_learned_across_a_random_move(classic):
    _, parameters = classic
    for episode in episodes(classic, 6, Plan(Limits(depth=1), 4, explore=0.2)):
        assert episode.explored.any()
        values = np.linspace(-0.5, 0.5, len(episode.ply)) ** 3
        c = BACKUPS["td"].errors(input_of(classic, episode), values)
        assert (c[episode.explored] == 0).all()
        first = int(np.argmax(episode.explored))
        if first:
            d = np.append(np.diff(values[: first + 1]), 0.0)
            assert np.abs(c[:first] - errors(d, 0.7)[:first]).max() < 1e-12


def test_against_an_opponent_only_own_moves_count_and_blunders_are_left_out(classic):
    from tuner.play.players import RandomPlayer

    engine, parameters = classic
    opponent = RandomPlayer(engine.game)
    for first in (0, 1):
        for episode in episodes(classic, 3, opponent=opponent, first=first):
            assert (
                (np.diff(episode.ply) == 2).all()
                and (episode.ply % 2 == first).all()
                and episode.side == first
            )
            values = np.tanh(parameters.scale * engine.evaluate(episode.positions, parameters))
            own = 1 - 2 * first
            learned = own * BACKUPS["td"].errors(
                input_of(classic, episode, 0.0, blunders="keep"), values
            )
            masked = own * BACKUPS["td"].errors(input_of(classic, episode, 0.0), values)
            assert (masked <= learned).all() and (
                masked[episode.predicted] == learned[episode.predicted]
            ).all()
            assert (masked[~episode.predicted] <= 0).all() and not episode.predicted.all()


def test_predicted_is_the_reply_in_the_principal_variation(classic):
    """An opponent that answers as the search expects is always predicted."""
    engine, parameters = classic

    class Same:
        def __init__(self):
            self.searcher = engine.searcher(parameters, False, 1, lean=False)

        def begin(self, seed, start):
            self.searcher.clear()

        def choose(self, line, moves, left):
            from games.record import Choice

            return Choice(self.expected(line))

        def expected(self, line):
            """The second move of the variation from the position before."""
            return self.searcher.search(line[:-1], Limits(depth=3)).pv[1]

    plan = Plan(Limits(depth=3), 0, plies=30)
    for episode in episodes(classic, 1, plan, opponent=Same()):
        assert (
            episode.predicted[:-1].mean() > 0.8
        )  # tables differ, so that now and then another equal line is found


def test_rootstrap_moves_towards_the_search_and_with_lambda_one_towards_the_result(classic):
    engine, parameters = classic
    backup, noisy = BACKUPS["rootstrap"], 0
    for episode in episodes(classic, 4, harvest=(1, 1)):
        assert (
            episode.tree.positions == episode.positions
        ).all()  # the root of each search is what was kept
        given = input_of(classic, episode, 0.0)
        values = np.tanh(parameters.scale * engine.evaluate(episode.positions, parameters))
        searched = np.where(
            np.isnan(episode.known), np.tanh(parameters.scale * episode.scores), episode.known
        )
        assert np.abs(backup.errors(given, values) - (searched - values)).max() < 1e-12
        if episode.outcome is not None:
            c = backup.errors(given._replace(lambda_=1.0), values)
            assert np.abs(c - (episode.outcome - values)).max() < 1e-12
        gated = backup.errors(given._replace(gated=True), values)
        assert not gated[~episode.tree.quiet].any()
        noisy += (~episode.tree.quiet).sum()
    assert noisy > 10


def test_treestrap_moves_only_values_outside_of_proven_bounds_which_plain_minimax_keeps(classic):
    engine, parameters = classic
    exact = engine.searcher(parameters, playing=False, megabytes=1)
    checked = 0
    for episode in episodes(
        classic, 1, Plan(Limits(depth=DEPTH), 8, plies=14), harvest=(300, None)
    ):
        tree = episode.tree
        values = np.tanh(parameters.scale * engine.evaluate(tree.positions, parameters))
        c = BACKUPS["treestrap"].errors(input_of(classic, episode), values)
        low, high = (
            np.where(np.isinf(b), np.sign(b), np.tanh(parameters.scale * b))
            for b in (tree.low, tree.high)
        )
        inside = (values >= low) & (values <= high)
        assert not c[inside].any()
        assert (np.sign(c[~inside]) == np.where(values < low, 1, -1)[~inside]).all()
        assert (
            np.abs((values + c)[~inside] - np.where(values < low, low, high)[~inside]) < 1e-12
        ).all()
        for i in range(0, len(tree.positions), 9):
            words = tree.positions[i]
            sign = -1 if engine.game.second_to_move(words) else 1
            truths = [sign * plain_value(exact, [words], depth) for depth in (1, 2)]
            assert any(tree.low[i] <= truth <= tree.high[i] for truth in truths)
            checked += 1
    assert checked >= 15


def test_an_unfinished_game_ends_with_its_last_value_unless_it_counts_as_drawn(classic):
    episode = episodes(classic, 1, Plan(Limits(depth=1), 4, plies=20))[0]
    assert episode.outcome is None and len(episode.moves) == 20
    values = np.linspace(0, 0.5, len(episode.ply))
    assert BACKUPS["td"].errors(input_of(classic, episode), values)[-1] == 0
    drawn = replace(episode, outcome=0)
    assert BACKUPS["td"].errors(input_of(classic, drawn), values)[-1] == -values[-1]


def test_sums_over_rows_are_matrix_products_and_the_gradient_of_the_evaluation(classic):
    engine, parameters = classic
    positions = np.concatenate([episode.leaves for episode in episodes(classic, 2)])
    rows = counted_positions(engine, positions, 2)
    factors = np.random.default_rng(1).normal(size=len(positions))
    start, dense = (
        np.zeros_like(parameters.weights),
        engine.coefficients(positions).dense(engine.layout.size),
    )
    assert (
        np.abs(
            rows.slopes(factors, 1.0, start) - np.einsum("sn,n,nc->sc", rows.shares, factors, dense)
        ).max()
        < 1e-9
    )
    assert (
        np.abs(rows.evaluations(parameters.weights) - engine.evaluate(positions, parameters)).max()
        < 0.02
    )
    # finite differences through the evaluation itself, for which nothing has to be linear
    for stage, column in ((0, 0), (1, 3), (0, 40), (1, 400)):
        moved = parameters.weights.copy()
        moved[stage, column] += 0.5
        difference = (rows.evaluations(moved) - rows.evaluations(parameters.weights)) / 0.5
        assert abs(factors @ difference - rows.slopes(factors, 1.0, start)[stage, column]) < 1e-8
