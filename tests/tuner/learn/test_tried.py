"""`tuner tune --try`: which steps are played, for how long, and which one is written."""

from dataclasses import replace

import numpy as np
import pytest

from tests.commands.support import done, refused
from tests.tuner.support import SCALE, random_sample
from tuner import tune
from tuner.core.estimates import estimate_of
from tuner.evaluation.loading import load_parameters
from tuner.fit.fit import fit
from tuner.fit.result import at_share
from tuner.fit.setup import FitOptions
from tuner.io.terminal import Display
from tuner.learn import own_games
from tuner.learn.own_games import MIN_FINAL, MIN_GAMES, shares_to_try, try_steps
from tuner.learn.rounds import Fitted
from tuner.learn.targets import Start
from tuner.options.tune import TuneSettings
from tuner.parallel import OnThreads
from tuner.parameters.parameters import Parameters
from tuner.results.fit import Result, RoundMatch, Tried, result_lines, tried_lines


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A start, and what results teach it."""
    sample, truth = random_sample(
        tmp_path_factory.mktemp("tried") / "data", seed=1, games=500, columns=8
    )
    start = Parameters("none", sample.layout, ("mg", "eg"), 0.5 * truth[:, :-1], SCALE)
    return start, fit(sample.data, start, FitOptions(prior="play", held_out=0.0))


def test_shares_are_apart():
    assert shares_to_try(0.1) == [0.1, 0.25, 0.5, 1.0]
    assert shares_to_try(0.3) == [0.3, 0.5, 1.0]
    assert shares_to_try(0.5) == [0.5, 0.25, 1.0]


def test_a_step_of_another_length(learned):
    start, result = learned
    far = at_share(result, start, 1.0)
    np.testing.assert_allclose(far.parameters.weights, result.parameters.optimum, atol=1e-9)
    np.testing.assert_array_equal(far.intercept, result.intercept)
    back = at_share(far, start, result.share)
    np.testing.assert_allclose(back.weights, result.weights, atol=1e-9)
    np.testing.assert_allclose(
        back.uncertainty.noise.matrix, result.uncertainty.noise.matrix, rtol=1e-9
    )
    assert back.step.change == pytest.approx(result.step.change)


def play(monkeypatch, learned, score_of, error, seconds=0.01):
    """Try steps with matches that score by the change of the weights; return the step, what was
    found, and the matches: shares, games and seeds."""
    start, result = learned
    asked, clock = [], [0.0]
    whole = np.linalg.norm(result.parameters.optimum - start.weights)

    def played(before, after, games, seed, *more):
        share = round(float(np.linalg.norm(after.weights - before.weights) / whole), 2)
        asked.append((share, games, seed))
        clock[0] += games * seconds
        elo = score_of(share)
        return RoundMatch(games, 1 / (1 + 10 ** (-elo / 400)), estimate_of(elo, error, 1.0))

    monkeypatch.setattr(own_games, "played", played)
    monkeypatch.setattr(own_games.time, "monotonic", lambda: clock[0])
    settings = TuneSettings(try_=10.0)
    begun = Start(None, None, start)
    fitted = Fitted(None, {}, result, settings)
    after, steps = try_steps(begun, fitted, OnThreads(1), "", Display())
    found = after.result, steps
    return (*found, asked)


def test_the_best_of_the_steps_plays_half_of_the_time(monkeypatch, learned):
    best, found, asked = play(monkeypatch, learned, lambda share: 20 - 90 * abs(share - 0.3), 5.0)
    shares = sorted({share for share, *_ in asked})
    nearest = min(shares, key=lambda share: abs(share - 0.3))
    assert best.share == pytest.approx(nearest, abs=0.01) and found.kept
    assert found.final.share == pytest.approx(best.share, abs=1e-4) and len(found.ladder) >= 4
    games = [games for _, games, _ in asked]
    # of 60,000 games in 10 minutes
    assert 0.45 < games[-1] / 60_000 < 0.6 and 55_000 < sum(games) < 61_000
    final = asked[-1][2]
    assert all(seed != final for *_, seed in asked[:-1])  # other openings


def test_a_step_that_is_not_better_is_not_written(monkeypatch, learned):
    best, found, _ = play(monkeypatch, learned, lambda share: 5 - share, 8.0)
    assert not found.kept
    assert best.share == pytest.approx(min(match.share for match in found.ladder), abs=1e-4)
    assert "the gain is not significant" in tried_lines(found)[0]


def test_slow_games_still_have_their_least_numbers(monkeypatch, learned):
    *_, asked = play(monkeypatch, learned, lambda share: 1.0, 8.0, seconds=100.0)
    assert {games for _, games, _ in asked[:-1]} == {MIN_GAMES} and asked[-1][1] == MIN_FINAL


def test_results_that_teach_nothing_are_not_played(monkeypatch, learned):
    start, result = learned
    still = replace(result, step=result.step._replace(share=0.0))
    begun, settings = Start(None, None, start), TuneSettings(try_=1.0)
    fitted = Fitted(None, {}, still, settings)
    assert try_steps(begun, fitted, OnThreads(1), "", Display())[1] == Tried()
    assert "no step was tried" in tried_lines(Tried())[0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--method", "rootstrap"), "only --prior play, for results, goes a part of the way"),
        (("--method", "logistic", "--prior", 5), "only --prior play"),
        (("--method", "logistic", "--own-games", 10), "are judged by matches already"),
        (("--method", "logistic", "--dry-run"), "has no use with --dry-run"),
    ],
)
def test_what_cannot_be_tried_is_refused(small_pgn, tmp_path, words, why):
    said = refused("tune", "classic", small_pgn, "--try", 1, *words, "-o", tmp_path / "out.yaml")
    assert "--try 1" in said and why in said


def test_zeros_have_no_step(small_pgn, tmp_path):
    words = ("--method", "logistic", "--try", 1, "-o", tmp_path / "out.yaml")
    assert "no evaluation to start from" in refused("tune", "zero", small_pgn, *words)


@pytest.mark.long
def test_a_young_evaluation_is_judged_better(tmp_path):
    """`material` on the bundled games: the best step wins its match, is written and shown."""
    out, run, page = tmp_path / "out.yaml", tmp_path / "run", tmp_path / "page.html"
    words = ("--method", "logistic", "--per-game", 5, "--try", 0.2, "-o", out, "--run", run)
    said = done("tune", "material", "samples", *words).out
    assert "against the start; it is written" in said and "final match" in said
    assert (load_parameters(str(out)).weights != load_parameters("material").weights).any()
    done("report", run, "-o", page)
    shown = page.read_text()
    assert "of the way to what predicts results best" in shown
    assert "tuner match" not in shown.partition("<main")[2].partition("<section")[0]


@pytest.mark.long
def test_a_step_that_does_not_win_leaves_no_file(small_pgn, tmp_path, monkeypatch):
    """Matches that are all drawn: no file, no command that names it, the numbers of the start."""
    lost = RoundMatch(100, 0.5, estimate_of(0.0, 10.0))
    monkeypatch.setattr(own_games, "played", lambda *given: lost)
    out = tmp_path / "out.yaml"
    ran = done("tune", "classic", small_pgn, "--method", "logistic", "--try", 1, "-o", out)
    assert not out.exists() and str(out) not in ran.out
    assert ran.out.splitlines()[0].startswith("nothing written: ")
    found = tune("classic", str(small_pgn), method="logistic", try_=1.0)
    assert found.fit.nothing_written and found.result["tried"]["final"]["elo"]["value"] == 0.0
    assert (found.evaluation.parameters.weights == load_parameters("classic").weights).all()


def test_the_first_line_says_that_nothing_moved_and_the_last_lines_what_is_known():
    fit_of = Result(
        output="out.yaml",
        method="logistic",
        learner="newton",
        prior="play",
        compare="tuner diff",
        loss_before=0.5,
        loss_after=0.4,
    )
    moved, still = (
        result_lines(replace(fit_of, play={"share": share, "change": 80 * share}))
        for share in (0.1, 0.0)
    )
    assert moved[0].startswith("wrote out.yaml: ")
    assert still[0].startswith("no weight moved, wrote out.yaml: ")
    assert not any("not known" in line for line in still)
    assert moved[-2:] == [
        "whether it plays better is not known: no match was played",
        "see what changed: tuner diff",
    ]
    tried_one = Tried([], RoundMatch(200, 0.55, estimate_of(35.0, 20.0, 1.0), share=0.114), True)
    said = result_lines(replace(fit_of, tried=tried_one))
    assert said[-2] == (
        "final match: 11 % of the way, which won the ladder, scored 55.0 % of 200 games at depth 4"
        " (+35 +/- 20 Elo) against the start; it is written"
    )
    assert not any("not known" in line for line in said)
