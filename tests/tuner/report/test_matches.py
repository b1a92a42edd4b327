"""Reading the folder of a match, which changes nothing in it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support import refusal
from tests.tuner.play.match.support import match_result
from tests.tuner.report.support import learned_from, match_run, tune_run
from tests.tuner.statistics.support import count_games
from tuner.core.store import Store, read_records
from tuner.evaluation.loading import load_parameters
from tuner.findings.matches import read_match
from tuner.parameters.writer import write_parameters
from tuner.report.run import games_learned, read_run
from tuner.report.run_charts import match_charts
from tuner.report.verdict import verdict, verdicts_of
from tuner.statistics.pentanomial import mean_points, summarise
from tuner.statistics.sprt import Sprt, log_likelihood_ratio

PAIRS = [(1, 0), (-1, 1), (1, 1), (0, 0), (-1, -1), (1, 0)] * 8


def test_a_match_is_what_its_games_say(tmp_path):
    folder = match_run(tmp_path / "match", PAIRS, sprt=(0.0, 5.0))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    match = read_match(folder)
    results, test = count_games([outcome for pair in PAIRS for outcome in pair]), Sprt(0.0, 5.0)
    assert match.block == match_result(results, ("learned", "classic"), test).block
    assert match.result["pentanomial"] == list(results.pairs) and match.games == 96
    games, elo, llr = match.course[-1]
    assert elo == summarise(results.pairs).elo and games == 96
    assert llr == pytest.approx(log_likelihood_ratio(test, results.pairs))
    assert (
        dict(match.reasons) == {"White mates": 48, "Draw by 3-fold repetition": 48}
        and match.mean_plies == 90
    )
    assert (
        match.settings.conditions == "depth 4"
        and match.openings == "8 random plies"
        and match.decision is None
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_match_of_backgammon_is_in_points_less_luck(tmp_path):
    random = np.random.default_rng(2)
    luck = random.normal(size=(60, 2))
    points = np.clip(np.rint(1.2 * luck + 0.4), -3, 3).astype(int)
    points[points == 0] = 1
    folder = match_run(
        tmp_path / "match",
        [tuple(pair) for pair in points.tolist()],
        players=("backgammon/classic",) * 2,
        luck=luck.tolist(),
        sprt=(0.0, 0.1),
    )
    match = read_match(folder)
    found = mean_points(points.ravel().astype(float), luck.ravel()).found
    assert match.difference == found and match.luck_subtracted
    assert match.course[-1][:2] == (120, found)
    assert match.points.most == 3 and sum(match.counts.pairs) == 60
    said = verdict(match, None)
    assert (
        f"{found.value:+.3f} ± " in said.detail.replace("\u00a0", " ")
        and "; luck subtracted; 120 games" in said.detail
    )
    assert "points a game" in said.more and "Elo" not in str(said)
    assert "the same dice in both games of a pair" in said.detail
    texts = [chart.title for chart in match_charts(match)]
    assert texts == [
        "Points a game as the match went on",
        "LLR as the match went on",
        "Pairs of games",
    ]
    even = replace(match.points, points=match.points.points - found.value + 0.02)
    more = verdict(replace(match, test=None, points=even), None).more
    assert "an interval that excludes 0 points a game" in more


def test_a_line_with_too_many_points_is_damaged(tmp_path):
    folder = match_run(tmp_path / "match", [(1, 2)])
    assert "run.db: result 0: damaged, outcomes is" in refusal(read_match, folder)


def test_a_match_that_is_still_played_is_read_so_far(tmp_path):
    folder = match_run(tmp_path / "match", PAIRS)
    with Store(folder) as store:
        assert read_match(folder).games == 96
        store.append(read_records(folder)[0] | {"pair": 48})
        assert read_match(folder).games == 98


def test_elo_is_told_of_the_player_that_learned(tmp_path):
    run = tune_run(tmp_path / "run")
    folder = match_run(
        tmp_path / "match", [(1, 1), (1, 0), (0, 0), (-1, 1)] * 5, names=("classic", "mine")
    )
    write_parameters(folder / "b.yaml", learned_from(load_parameters("classic")))
    elo = read_match(folder).result["elo"]
    assert elo["low"] > 0
    (found,) = verdicts_of(read_run(run, [folder]))
    assert found.sentence == "mine is worse than classic" and found.kind == "worse"
    text = f"−{elo['value']:.0f}\u00a0±\u00a0{(elo['high'] - elo['low']) / 2:.0f} Elo"
    assert found.detail == f"{text}; 40 games, depth 4, 8 random plies"


def test_games_learned_from_are_read_from_the_copies(tmp_path):
    match = read_match(match_run(tmp_path / "match", PAIRS, learned_games=4000))
    assert games_learned(match) == (4000.0, None)
