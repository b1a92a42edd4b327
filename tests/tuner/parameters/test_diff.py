"""What is compared, what counts as a finding, against statsmodels, simulation and by hand, and the
headline of each game."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from games.record import available
from tests.tuner.support import LAYOUT
from tuner.core.estimates import Estimate, Ratio
from tuner.core.records import convert
from tuner.core.text import number
from tuner.evaluation.loading import load_parameters
from tuner.parameters.diff import View, compare, differences, headline, shared_sources, show
from tuner.parameters.parameters import Layout, Parameters, Place
from tuner.parameters.writer import zeros
from tuner.statistics.intervals import error_of_change, weigh

STAGES = ("mg", "eg")
MAN, KING = 0, 1  # columns


def parameters(
    weights: np.ndarray,
    errors: np.ndarray | None = None,
    stages: tuple[str, ...] = STAGES,
    **learned,
) -> Parameters:
    return Parameters("none", LAYOUT, stages, weights, standard_errors=errors, learned=learned)


def drawn(seed: int, stages: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(100, 40, (stages, LAYOUT.size))


def test_the_evidence_of_changes_is_that_of_statsmodels():
    random = np.random.default_rng(1)
    error = random.uniform(0.5, 20, (3, 200))
    change = error * (
        random.normal(0, 1, error.shape) + np.where(random.random(error.shape) < 0.1, 3.5, 0)
    )
    error[random.random(error.shape) < 0.1] = np.nan
    error[random.random(error.shape) < 0.1] = 0
    found = weigh(change, error)
    tested = ~np.isnan(error) & (error != 0)
    assert (found.tested == tested).all()
    p = 2 * norm.sf(np.abs(change[tested]) / error[tested])
    np.testing.assert_allclose(found.p[tested], p, rtol=1e-9)
    assert (
        np.isnan(found.p[~tested]).all()
        and not (found.significant | found.supported)[~tested].any()
    )
    assert (found.supported[tested] == multipletests(p, 0.05, "fdr_bh")[0]).all()
    assert (found.significant[tested] == (np.abs(change[tested]) > 1.96 * error[tested])).all()
    assert 0 < found.supported.sum() < found.significant.sum()


def test_of_six_hundred_changes_at_most_one_in_twenty_that_are_supported_is_false():
    random, shares, alone = np.random.default_rng(2), [], 0
    real = np.arange(600) < 60
    for _ in range(200):
        found = weigh(random.normal(0, 1, 600) + 3.5 * real, np.ones(600))
        shares.append((found.supported & ~real).sum() / max(found.supported.sum(), 1))
        alone += (found.significant & ~real).sum()
    assert 0.03 < np.mean(shares) < 0.055  # 5 % of those without an effect: 0.045
    assert alone / 200 == pytest.approx(27, abs=1.5)  # what the headline number of 5 % means


def test_the_error_of_a_change_is_that_of_a_difference_of_independent_numbers():
    random = np.random.default_rng(3)
    first, second = random.normal(50, 3, 200_000), random.normal(60, 4, 200_000)
    combined = error_of_change(np.array([3.0]), np.array([4.0]), (1,))
    assert combined == pytest.approx(5)
    assert np.std(second - first) == pytest.approx(combined[0], rel=0.01)
    a, b = np.array([3.0, np.nan, 0.0, 0.0]), np.array([0.0, 4.0, np.nan, 0.0])
    assert error_of_change(a, b, (4,)).tolist() == pytest.approx(
        [3, np.nan, np.nan, 0], nan_ok=True
    )
    assert error_of_change(None, b, (4,)).tolist() == pytest.approx(b.tolist(), nan_ok=True)
    assert error_of_change(a, None, (4,)).tolist() == pytest.approx(a.tolist(), nan_ok=True)
    assert np.isnan(error_of_change(None, None, (4,))).all()


def test_changes_of_all_files_are_judged_together():
    """A change that is supported among few is not among many."""
    start = drawn(4)
    errors = np.full(start.shape, 1.0)
    one = start.copy()
    one[0, MAN] += 3.1  # p = 0.0019 < 0.05 / 18
    alone = compare([parameters(start), parameters(one, errors)])
    assert alone.evidence.supported.sum() == alone.evidence.supported[0, 0, MAN] == 1
    many = compare([parameters(start), parameters(one, errors), *[parameters(start, errors)] * 3])
    assert many.change.shape == (4, *start.shape)
    assert many.evidence.significant.sum() == 1 and not many.evidence.supported.any()


def test_what_is_not_identified_or_held_is_told_apart():
    start = drawn(5)
    errors = np.full(start.shape, 2.0)
    errors[0, MAN], errors[0, KING] = np.nan, 0
    found = differences(compare([parameters(start), parameters(start + 50, errors)]))
    assert found["tested"] == start.size - 2
    man, king = (
        next(row for row in found["rows"] if row["parameter"] == f"material.{name}")
        for name in ("man", "king")
    )
    assert (
        man["mg"]["identified"],
        man["mg"]["standard_error"],
        man["mg"]["significant"],
        man["mg"]["interval"],
    ) == (False, None, None, None)
    assert (king["mg"]["identified"], king["mg"]["standard_error"], king["mg"]["significant"]) == (
        True,
        0,
        None,
    )
    assert (man["eg"]["identified"], man["eg"]["significant"], man["eg"]["supported"]) == (
        True,
        True,
        True,
    )
    assert man["eg"]["interval"] == pytest.approx(
        [start[1, MAN] + 50 - 3.92, start[1, MAN] + 50 + 3.92], abs=1e-4
    )
    plain = differences(compare([parameters(start), parameters(start + 50)]))
    assert plain["tested"] == 0 and plain["rows"][0]["mg"]["identified"] is None


def test_a_first_file_of_other_stages_is_taken_by_its_mean():
    start, one = drawn(6), drawn(7, 1)
    found = compare(
        [parameters(start, np.ones_like(start)), parameters(one, np.ones_like(one), ("all",))]
    )
    np.testing.assert_allclose(found.change[0], one - start.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(
        compare([parameters(one, stages=("all",)), parameters(start)]).change[0],
        start - one,
        atol=1e-4,
    )


def test_the_headline_is_in_units_of_the_first_number_and_brings_its_interval():
    weights = drawn(8)
    weights[:, MAN], weights[:, KING] = [80, 120], [300, 320]
    line = {
        "parameter": "material.king",
        "to": "material.man",
        "ratio": {"value": 3.1, "low": 2.9, "high": 3.3},
    }
    values = headline(parameters(weights, ratios=[line]))
    assert values == {
        "unit": "material.man",
        "values": [convert(line, Ratio, "")],
    }
    # what people edit into the file is no reason to fail; an interval round another number is none
    for wrong in (
        [line | {"ratio": {"value": 4.0, "low": 3.9, "high": 4.1}}],
        [line | {"ratio": {"value": 3.1, "low": "much", "high": 3.3}}],
        [line | {"ratio": {"value": 3.1, "low": 2.9, "high": 10**400}}],
        [line | {"to": "files.open"}],
        [line | {"ratio": 3.1}],
        ["material.king"],
        7,
        None,
    ):
        (value,) = headline(parameters(weights, ratios=wrong))["values"]
        assert value.ratio == Estimate(3.1)
    weights[:, MAN] = 0
    assert math.isnan(headline(parameters(weights, ratios=[line]))["values"][0].ratio.value)


def test_files_learned_from_the_same_games_are_recognised():
    def learned(*hashes: str) -> Parameters:
        data = [
            {"file": f"{mark}.pgn", "sha256": mark * (64 if mark != "-" else 1)} for mark in hashes
        ]
        return parameters(drawn(9), data=data)

    assert shared_sources([learned("a", "b"), learned("c", "b")]) == "b.pgn"
    # standard input has no hash
    assert shared_sources([learned("a", "-"), learned("b", "-")]) is None
    assert (
        shared_sources([learned("a", "a"), parameters(drawn(9)), parameters(drawn(9), data="lost")])
        is None
    )


def test_of_few_games_intervals_reach_as_far_as_students():
    """Nine games: 2.306 standard errors (t of 8 degrees) instead of 1.96."""
    p = parameters(drawn(3))
    few, many = (
        replace(p, standard_errors=np.full(p.weights.shape, 10.0), learned={"games": games})
        for games in (9, 900)
    )
    start = replace(p, weights=p.weights - 21.0)
    entries = [
        differences(compare([start, learned]))["rows"][0][p.stages[0]] for learned in (few, many)
    ]
    assert [entry["significant"] for entry in entries] == [False, True]
    widths = [entry["interval"][1] - entry["interval"][0] for entry in entries]
    assert widths == pytest.approx([2 * 23.06, 2 * 19.6], abs=0.01)


def test_the_evidence_is_that_of_the_optimum_and_the_change_that_of_the_numbers():
    """Half of the way: the optimum is 20 from the start, which is beyond 1.96 errors of 8."""
    start = drawn(3)
    learned = replace(
        parameters(start + 10, np.full(start.shape, 8.0)), optimum=start + 20, learned={"games": 99}
    )
    found = compare([parameters(start), learned])
    entry = differences(found)["rows"][0]["mg"]
    assert entry["change"] == pytest.approx(10) and entry["significant"]
    ends = start[0, MAN] + 20 - 1.96 * 8, start[0, MAN] + 20 + 1.96 * 8
    assert entry["interval"] == pytest.approx(ends, abs=1e-3)
    console = Console(width=100, file=io.StringIO())
    show(console, found, View(("start", "learned"), 0.0, False, False))
    text = console.file.getvalue()
    assert any(
        "optimum" not in line and number(start[0, MAN] + 20) in line.split()
        for line in text.splitlines()
    )
    assert "marks are those of the optimum" in " ".join(text.split())


def test_a_change_of_a_table_alone_is_not_denied():
    start = drawn(3)
    moved = start.copy()
    moved[0, LAYOUT.size - 1] += 50
    console = Console(width=100, file=io.StringIO())
    found = compare([parameters(start), parameters(moved, np.ones(start.shape))])
    show(console, found, View(("start", "learned"), 0.0, True, False))
    text = console.file.getvalue()
    assert "the one change that the data support" in text and "support no" not in text


@pytest.mark.parametrize(
    ("name", "number"), [("classic", 5), ("modern", 5), ("material", 5), ("tictactoe/classic", 1)]
)
def test_other_games_show_their_first_term_alone(name, number):
    layout = load_parameters(name).layout
    assert [place.term for place in layout.headline] == [layout.places[0].term] * number


def test_shogi_shows_men_on_the_board_promoted_and_in_hand():
    parameters = load_parameters("shogi/classic")
    places = parameters.layout.headline
    assert [parameters.layout.short(place) for place in places[5:9]] == [
        "bishop",
        "rook",
        "promoted.pawn",
        "promoted.lance",
    ]
    assert (len(places), places[-1].path) == (20, "hand.rook")
    assert {line.parameter: line.ratio.value for line in headline(parameters)["values"]}[
        "hand.rook"
    ] == 11.5


def test_a_term_with_one_weight_or_with_other_names_is_left_out():
    places = [
        Place("material", "pawn", (), 0),
        Place("material", "rook", (), 1),
        Place("pair", "rook", (), 2),
        Place("hand", "pawn", (), 3),
        Place("hand", "rook", (), 4),
        Place("odd", "pawn", (), 5),
        Place("odd", "other", (), 6),
        Place("table", "pawn", (8,), 7),
        Place("table", "rook", (8,), 15),
    ]
    paths = [place.path for place in Layout(tuple(places)).headline]
    assert paths == ["material.pawn", "material.rook", "hand.pawn", "hand.rook"]


@pytest.mark.parametrize(
    ("game", "scale"),
    [("chess", 0.00255), ("shogi", 0.0005), ("backgammon", 0.00333), ("of-an-engine", 0.00255)],
)
def test_new_files_have_the_scale_of_the_bundled_ones_of_their_game(game, scale):
    layout = Layout((Place("material", "pawn", (), 0),))
    assert zeros(game, layout, ("all",)).scale == scale
    if game in available():
        assert load_parameters(f"{game}/classic").scale == scale


def test_a_number_that_is_one_for_all_stages_counts_once():
    start = drawn(6)
    start[1, MAN] = start[0, MAN]
    learned = start.copy()
    learned[:, MAN] += 40
    for errors in (None, np.full(start.shape, 2.0)):
        tied = replace(parameters(learned, errors), tied=("material.man",))
        found = differences(compare([parameters(start), tied]))
        assert found["largest"] == [{"parameter": "material.man", "stage": None, "change": 40.0}]
        if errors is not None:
            assert (found["tested"], found["supported"]) == (start.size - 1, 1)
            row = next(row for row in found["rows"] if row["parameter"] == "material.man")
            assert row["mg"]["supported"] and row["eg"]["supported"]
        start[1, MAN] += 1  # two numbers in the first file are two changes
        found = differences(compare([parameters(start), tied]))
        assert [each["stage"] for each in found["largest"]] == ["mg", "eg"]
        start[1, MAN] -= 1
