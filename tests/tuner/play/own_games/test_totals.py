"""The sentences about generated games are true for the counts, and say only what there is to
say."""

import numpy as np
import pytest

from games.record import DRAW_RULE, PLIES, RESIGN_RULE, RULES, find
from tests.support import refusal
from tests.tuner.evaluation.networks.support import network
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile
from tuner.options.games import GamesSettings
from tuner.play.own_games.parts import counts_of, sum_of
from tuner.play.own_games.play import Checked, Generated, copy_of, spread_of
from tuner.results.own_games import counts_lines

SIDES = "White", "Black"


def game(
    outcome: int = 1,
    own: int = 1,
    end: str = RULES,
    checked: Checked | None = None,
    plies: int = 80,
) -> Generated:
    return Generated(0, "", plies, outcome, own, end, checked)


def test_counts_are_sums_over_games_and_parts():
    first = counts_of([game(), game(-1, 1, RESIGN_RULE, Checked(RESIGN_RULE, -1, 0))])
    second = counts_of([game(0, 0, PLIES, plies=20)])
    both = sum_of([first, second])
    assert both == counts_of(
        [game(), game(-1, 1, RESIGN_RULE, Checked(RESIGN_RULE, -1, 0)), game(0, 0, PLIES, plies=20)]
    )
    assert (
        both["outcomes"] == [1, 1, 1]
        and both["own"] == [2, 1, 0]
        and both["plies"] == [180]
        and both["games"] == [3]
    )
    assert both["checked_resign"] == [0, 1, 0] and both["end_rules"] == both["end_resign"] == both[
        "end_plies"
    ] == [1]


def test_adjudication_is_reported_as_it_turned_out():
    games = (
        [game(1, 1, RESIGN_RULE, Checked(RESIGN_RULE, 1, 1))] * 17
        + [game(1, 1, RESIGN_RULE, Checked(RESIGN_RULE, 1, 0))] * 2
        + [
            game(1, -1, RESIGN_RULE, Checked(RESIGN_RULE, 1, -1)),
            game(0, 0, DRAW_RULE, Checked(DRAW_RULE, 0, 0)),
            game(0, 0, DRAW_RULE, Checked(DRAW_RULE, 0, -1)),
            game(-1, 0, RULES),
        ]
    )
    text = "\n".join(counts_lines(counts_of(games), GamesSettings(start="classic"), SIDES))
    assert "20 won by White, 1 by Black, 2 drawn, 80 plies a game" in text
    assert "by the rules of the game 4.3%, resigned 87.0%, drawn by scores 8.7%" in text
    assert (
        "17 of 20 resignations that were played on ended so (64.0% to 94.8% with 95 % confidence),"
        " 2 drawn and 1 won by the opponent instead; searches of depth 3 can also fail to win won"
        " games" in text
    )
    assert (
        "1 of 2 draws by scores that were played on ended so (9.5% to 90.5% with 95 % confidence),"
        " 1 won instead" in text
    )
    assert "drawn endings" not in text


def test_nothing_is_said_of_rules_that_were_not_checked():
    lines = counts_lines(
        counts_of([game(end=RESIGN_RULE)] * 3), GamesSettings(start="classic", noise=0.0), SIDES
    )
    assert len(lines) == 2 and "against its copies" not in "".join(lines)
    assert counts_lines(counts_of([]), GamesSettings(start="classic"), SIDES) == []
    resigned = counts_of([game(1, 1, RESIGN_RULE, Checked(RESIGN_RULE, 1, 1))] * 4)
    (right,) = [
        line
        for line in counts_lines(resigned, GamesSettings(start="classic"), SIDES)
        if "adjudication" in line
    ]
    assert right.endswith(
        "4 of 4 resignations that were played on ended so (51.0% to 100.0% with 95 % confidence)"
    )


@pytest.fixture(scope="module")
def positions():
    game, found = find("chess"), []
    dice = np.random.default_rng(1)
    for _ in range(4):
        words = game.start()
        for _ in range(70):
            legal = game.legal_moves(words)
            if not legal:
                break
            words = game.play(words, legal[dice.integers(len(legal))])
            found.append(words)
    return np.array(found[::4])


@pytest.mark.parametrize("name", ["pesto", "material"])
def test_evaluations_move_by_the_noise(name, positions):
    """A sum of independent noise of spread s has variance s^2 times the sum of squares of the
    tapered counts."""
    evaluation = load_evaluation(name)
    engine, parameters = evaluation
    spread = spread_of(evaluation, positions, 10.0, 1)
    moved = (parameters.weights != 0).any(axis=0)
    unit = np.zeros_like(parameters.weights)
    squares = np.zeros(len(positions))
    zero = parameters.with_weights(unit)
    base = engine.evaluate_many(positions, zero)
    for stage in range(len(unit)):
        for column in np.flatnonzero(moved):
            one = unit.copy()
            one[stage, column] = 1
            squares += (engine.evaluate_many(positions, parameters.with_weights(one)) - base) ** 2
    assert spread == pytest.approx(10 / np.sqrt(squares.mean()), rel=0.15)  # 16 draws measure it
    changes = [
        copy_of(evaluation, spread, 1, number).values(positions)
        - engine.evaluate_many(positions, parameters)
        for number in range(30)
    ]
    assert np.sqrt(np.mean(np.square(changes))) == pytest.approx(10, rel=0.15)


def test_evaluations_of_a_network_move_by_the_noise(positions):
    """It moves them nearly in proportion."""
    made = network(768, [(16, "relu"), (1, "sigmoid")])
    found = evaluation_of(NetworkFile("chess", "bitboard768", made, 1, "a test", 0.00255))
    spread = spread_of(found, positions, 10.0, 1)
    changes = [
        copy_of(found, spread, 1, number).values(positions) - found.values(positions)
        for number in range(30)
    ]
    assert np.sqrt(np.mean(np.square(changes))) == pytest.approx(10, rel=0.2)


def test_a_copy_depends_on_its_number_and_the_seed():
    parameters = load_evaluation("material")
    one, same, other, seeded = (
        copy_of(parameters, 3.0, seed, number).weights
        for seed, number in ((1, 5), (1, 5), (1, 6), (2, 5))
    )
    assert (one == same).all() and (one != other).any() and (one != seeded).any()
    still = (parameters.weights == 0).all(axis=0)
    assert (
        still.any()
        and (one[:, still] == 0).all()
        and (one[:, ~still] != parameters.weights[:, ~still]).all()
    )
    assert (copy_of(parameters, 0.0, 1, 5).weights == parameters.weights).all()


def test_weights_that_are_all_zero_are_refused(positions):
    assert "all weights are 0" in refusal(spread_of, load_evaluation("zero"), positions, 10.0, 1)
