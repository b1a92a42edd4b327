"""Matches of a game with dice: both games of a pair have the same dice, luck has mean zero, results
are in points."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from games.record import Control, Dice, find
from tests.commands.match_support import play
from tests.commands.support import done, refused
from tests.tuner.core.support import keep_records, read_records
from tests.tuner.play.match.support import points_result
from tuner.core.estimates import Estimate
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.networks.files import NetworkFile, write_network
from tuner.evaluation.networks.model import random_network
from tuner.play.game import Course, play_out
from tuner.play.match.pairs import luck_by
from tuner.play.openings import Opening
from tuner.play.players import RandomPlayer, search_player
from tuner.play.rules import by_rules
from tuner.results.match import PointResults, estimates
from tuner.statistics.pentanomial import mean_points

GAME = find("backgammon")
FAST = ("backgammon/zero", "pubeval")


def lines_of(folder) -> list[dict]:
    return sorted(read_records(folder), key=lambda line: line["pair"])


@pytest.fixture(scope="module")
def luck():
    return luck_by(
        GAME,
        search_player("classic", load_evaluation("backgammon/classic"), Control(depth=1), None),
    )


def random_game(number: int, luck, seed: int = 5):
    course = Course(GAME, Opening(GAME.start()), Dice(seed, number), luck and luck.begun())
    ending = play_out(
        course,
        [RandomPlayer(GAME), RandomPlayer(GAME)],
        [by_rules],
        lambda: False,
        [f"{seed}/{number}/{turn}" for turn in (0, 1)],
    )
    return replace(course.played(ending), luck=luck and luck.total)


def test_both_games_of_a_pair_have_the_same_dice(tmp_path):
    """Players that choose alike play the same game twice, with sides swapped."""
    done("match", "pubeval", "pubeval", "--games", 12, "--run", tmp_path / "run")
    for line in lines_of(tmp_path / "run"):
        assert line["outcomes"][0] == -line["outcomes"][1] and line["plies"][0] == line["plies"][1]
        assert line["luck"][0] == -line["luck"][1]


def test_dice_depend_on_seed_pair_and_ply_alone():
    start = GAME.start()
    assert (GAME.chance.roll(start, Dice(1, 2)) == GAME.chance.roll(start, Dice(1, 2))).all()
    firsts = {
        tuple(GAME.chance.roll(start, Dice(seed, game)).tolist())
        for seed in range(6)
        for game in range(20)
    }
    assert len(firsts) > 20  # of 30


@pytest.mark.parametrize(
    "where", [("--workers", 3), pytest.param(("--cluster", "local:2"), marks=pytest.mark.long)]
)
def test_a_match_is_the_same_wherever_it_is_played(tmp_path, where):
    done("match", *FAST, "--games", 12, "--run", tmp_path / "one", "--workers", 1)
    done("match", *FAST, "--games", 12, "--run", tmp_path / "other", *where)
    one, other = (lines_of(tmp_path / name) for name in ("one", "other"))
    assert one == other


def test_a_resumed_match_has_the_same_games(tmp_path):
    whole = play(*FAST, "--games", 12, "--run", tmp_path / "run", "--workers", 1)
    records = read_records(tmp_path / "run")
    keep_records(tmp_path / "run", 3)
    again = play("--resume", tmp_path / "run", "--workers", 1)
    assert read_records(tmp_path / "run") == records and again == whole


def test_luck_has_mean_zero_and_less_luck_is_unbiased(luck):
    """Random players are equal: the mean of their points is 0, with luck and without; the luck of
    single plies has mean 0."""
    games = [random_game(number, luck) for number in range(40)]
    points = np.array([GAME.points_of(game.outcome) for game in games], float)
    given = np.array([game.luck for game in games])
    assert abs(given.mean()) < 4 * given.std() / len(given) ** 0.5
    found = mean_points(points, given, paired=False).found
    plain = mean_points(points, paired=False).found
    assert abs(found.value) < 4 * found.standard_error < 4 * plain.standard_error


def test_the_luck_of_all_rolls_has_mean_zero(luck):
    game = random_game(1, None)
    for ply in range(0, len(game.moves) - 1, 9):
        before = GAME.play(game.line[ply], game.moves[ply])
        positions, chances = GAME.chance.rolls(before)
        given = np.array([luck.of_roll(before, words) for words in positions])
        assert abs(chances @ given) < 1e-9 and given.std() > 0


def test_less_luck_is_unbiased_and_its_interval_covers():
    """Simulated pairs, whose points are a mean, luck with another slope than 1, and noise."""
    random, errors, covered = np.random.default_rng(1), [], 0
    for _ in range(300):
        luck = random.normal(0, 0.8, (60, 2))
        points = 0.25 + 1.3 * luck + random.normal(0, 0.5, (60, 2))
        results = PointResults((0,) * 13, Counter(), points, luck)
        _, estimate, gain = estimates(results)
        errors.append(estimate.value - 0.25)
        covered += abs(errors[-1]) < estimate.half_width
        assert gain > 2
    assert abs(np.mean(errors)) < 4 * np.std(errors) / 300**0.5 and 0.91 < covered / 300 < 0.985


def test_counts_of_a_result_add_up():
    points = np.array([[3, -1], [1, 1], [-2, -2], [1, -3]])
    pairs = np.bincount(points.sum(1) + 6, minlength=13)
    results = PointResults(tuple(pairs.tolist()), Counter(points.ravel().tolist()), points, None)
    text = "\n".join(points_result(results).block)
    assert "Games: 8, Won: 4 (3 by 1, 1 by 3), Lost: 4 (1 by 1, 2 by 2, 1 by 3)" in text
    assert "Pairs by points, -6 to 6: [0, 0, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0]" in text
    assert "Less luck" not in text and "Points a game: -0.250 +/- " in text
    assert estimates(results)[0].value == pytest.approx(points.mean())
    assert Estimate().text(3, "+") == "unknown" and Estimate(0.5).text(3, "+") == "+0.500"


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([], "Points a game: unknown (no pair of games has ended)"),
        ([[1, -1]], "Points a game: 0.000 (no interval: 1 pair, at least 3 are needed)"),
        ([[1, -1], [1, 2]], "Points a game: +0.750 (no interval: 2 pairs, at least 3 are needed)"),
        ([[-2, -2]] * 5, "Points a game: -2.000 (no interval: all 5 pairs have the same points)"),
        (
            [[1, -1], [2, -2], [0, 0]],
            "Points a game: 0.000 (no interval: all 3 pairs have the same points)",
        ),
    ],
)
def test_without_an_interval_a_result_says_why(pairs, said):
    points = np.array(pairs, np.int64).reshape(-1, 2)
    results = PointResults(
        tuple(np.bincount(points.sum(1) + 6, minlength=13).tolist()),
        Counter(points.ravel().tolist()),
        points,
        np.zeros(points.shape),
    )
    text = "\n".join(points_result(results).block)
    assert said in text.splitlines() and "+/-" not in text and "LOS" not in text
    assert estimates(results)[0].plain["low"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--random-plies", 4), "--random-plies 4: games of backgammon differ by their dice"),
        (
            ("--openings", "x.mat"),
            "--openings x.mat: games of backgammon begin with their own dice",
        ),
        (("--resign", "score=300"), "--resign: games of backgammon are played to the end"),
        (("--plies", 50), "--plies: games of backgammon are played to the end"),
        (("--depth", 4), "backgammon supports --depth 1 to 3 only, not depth 4"),
        (("--nodes", 400), "backgammon supports --depth 1 to 3 only, not 400 nodes a move"),
        (("--hash", 16), "--hash: the search of backgammon keeps no table"),
        (
            ("--sprt", 0, 0.1, "--model", "logistic"),
            "--model logistic: matches of backgammon are in points a game",
        ),
        (
            ("--sprt", 0, 3),
            "SPRT from 0 to 3 points a game: expected -2.7 to 2.7, as a game wins 3 at most",
        ),
    ],
)
def test_what_games_with_dice_do_not_have_is_refused(options, said):
    assert said in refused("match", *FAST, "--games", 4, *options)


def test_luck_is_measured_by_any_evaluation(tmp_path):
    """The games are the same, so that only the second line differs; a resumed match takes its own
    copy."""
    network = tmp_path / "net.yaml"
    write_network(
        network,
        NetworkFile(
            "backgammon",
            "perspective196",
            random_network(196, [(4, "relu"), (1, "tanh")], 1),
            3,
            "random",
            0.00333,
        ),
    )
    run = tmp_path / "run"
    by_classic, by_network = (
        play(*FAST, "--games", 12, "--luck", "backgammon/classic"),
        play(*FAST, "--games", 6, "--luck", network, "--run", run),
    )
    assert (
        by_classic["less_luck"]["judge"] == "classic" and by_network["less_luck"]["judge"] == "net"
    )
    network.unlink()
    by_network = json.loads(done("match", "--resume", run, "--games", 12, "--json").out)
    assert (
        by_network["points_a_game"] == by_classic["points_a_game"]
        and by_network["less_luck"]["judge"] == "net"
    )
    assert by_network["less_luck"]["value"] != by_classic["less_luck"]["value"]
    (run / "luck.npz").unlink()
    assert "luck.npz: no such file" in refused("match", "--resume", run)


@pytest.mark.parametrize(
    ("players", "judge", "said"),
    [
        (
            FAST,
            "pubeval",
            "--luck pubeval: has no values of rolls; expected a parameter file or a network",
        ),
        (FAST, "chess/classic", "--luck chess/classic: plays chess, the players backgammon"),
        (
            ("classic", "random"),
            "chess/classic",
            "--luck chess/classic: games of chess have no dice; leave it out",
        ),
    ],
)
def test_what_cannot_measure_luck_is_refused(players, judge, said):
    assert said in refused("match", *players, "--games", 4, "--luck", judge)


def test_games_are_written_and_read_back(tmp_path):
    found = play(*FAST, "--games", 6, "--pgn", tmp_path / "games.mat")
    ran = done(
        "dataset",
        tmp_path / "games.mat",
        "--params",
        "backgammon/zero",
        "-o",
        tmp_path / "games.ds",
    )
    assert "6 games" in ran.out + ran.err and found["games"] == 6
