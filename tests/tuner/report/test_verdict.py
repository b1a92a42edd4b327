"""What is said of matches: which player is better, how many games would tell, and what to do after
one that was lost."""

import json
import re
import shlex
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.tuner.report.support import findings, learned_from, match_run, selfplay_run, tune_run
from tests.tuner.statistics.support import count_games
from tuner.evaluation.loading import load_parameters
from tuner.learn.result import rounds_lines
from tuner.parameters.writer import write_parameters
from tuner.play.match.results import PointResults, elo_difference, point_difference
from tuner.report.match import read_match
from tuner.report.page import render
from tuner.report.run import read_run
from tuner.report.verdict import (
    difference_text,
    match_to_play,
    more_games,
    reasons,
    report_command,
    rounds_verdict,
    verdict,
)
from tuner.statistics.pentanomial import Results, summarise

WON, LOST, DRAWN, SPLIT = (1, 1), (-1, -1), (0, 0), (1, -1)


def said(tmp_path, pairs, side=None, **changes):
    return verdict(read_match(match_run(tmp_path / "match", pairs, **changes)), side)


@pytest.mark.parametrize(
    ("pairs", "kind", "sentence", "more"),
    [
        ([WON, (1, 0), DRAWN, SPLIT] * 20, "better", "learned is better than classic", ""),
        ([LOST, (-1, 0), DRAWN, SPLIT] * 20, "worse", "learned is worse than classic", ""),
        (
            [WON, LOST, (1, 0)] * 3,
            "not decided",
            "Not decided whether learned is better than classic",
            "About ",
        ),
        (
            [WON, LOST] * 5,
            "not decided",
            "Not decided whether learned is better than classic",
            "Both players scored the same",
        ),
        (
            [DRAWN] * 50,
            "not decided",
            "Not decided whether learned is better than classic",
            "Both players scored the same",
        ),
        ([WON] * 6, "better", "learned is better than classic", ""),
        ([LOST] * 6, "worse", "learned is worse than classic", ""),
        (
            [(1, 0)] * 5,
            "not decided",
            "Not decided whether learned is better than classic",
            "All pairs of games had the same result",
        ),
        (
            [WON],
            "not decided",
            "Not decided whether learned is better than classic",
            "All pairs of games had the same result",
        ),
        ([], "not decided", "Not decided: no pair of games has ended yet", ""),
    ],
)
def test_a_match_is_decided_by_its_interval(tmp_path, pairs, kind, sentence, more):
    found = said(tmp_path, pairs)
    assert (
        (found.kind, found.sentence) == (kind, sentence)
        and found.more.startswith(more)
        and bool(found.more) == bool(more)
    )
    assert f"{2 * len(pairs)} games, depth 4, 8 random plies" in found.detail
    elo = summarise(count_games([outcome for pair in pairs for outcome in pair]).pairs).elo
    if np.isfinite(elo.low) and np.isfinite(elo.high):
        assert f"{elo.value:+.0f}".replace("-", "−") in found.detail or round(elo.value) == 0
        assert kind == ("better" if elo.low > 0 else "worse" if elo.high < 0 else "not decided")


def test_a_verdict_of_the_second_player_is_the_other_way_round(tmp_path):
    found = said(tmp_path, [WON, (1, 0), DRAWN, SPLIT] * 20, side=1)
    assert (found.kind, found.sentence) == ("worse", "classic is worse than learned")
    match = match_run(tmp_path / "alike", [WON] * 6)
    assert verdict(read_match(match), 1).kind == "worse"


@pytest.mark.parametrize(
    ("pairs", "test", "side", "kind", "sentence", "rest"),
    [
        ([WON, (1, 0), WON] * 60, (0.0, 5.0), None, "better", "learned is better than classic", ""),
        (
            [LOST, (-1, 0), LOST] * 60,
            (-5.0, 0.0),
            None,
            "worse",
            "learned is worse than classic",
            "",
        ),
        ([WON, (1, 0), WON] * 60, (0.0, 5.0), 1, "worse", "classic is worse than learned", ""),
        (
            [WON, LOST] * 2000,
            (0.0, 60.0),
            None,
            "not decided",
            "learned is not better than classic by +60 normalized Elo",
            "",
        ),
        (
            [WON, LOST] * 5,
            (0.0, 5.0),
            None,
            "not decided",
            "Not decided whether learned is better than classic",
            "The test of",
        ),
    ],
)
def test_a_sequential_test_is_the_judge_of_its_match(
    tmp_path, pairs, test, side, kind, sentence, rest
):
    found = said(tmp_path, pairs, side, sprt=test)
    assert (found.kind, found.sentence) == (kind, sentence)
    if rest:
        assert (
            found.more.startswith("The test of 0 against +5 normalized Elo is at LLR")
            and "tuner match --resume" in found.more
        )
    else:
        assert re.match(
            r"The test accepted H[01]: .* rather than .* normalized Elo for learned\.$", found.more
        )


@pytest.mark.parametrize(
    "pairs", [(3, 3, 13, 6, 5), (10, 20, 40, 22, 12), (1, 0, 0, 0, 2), (100, 200, 500, 201, 101)]
)
def test_so_many_more_games_would_put_zero_outside_the_interval(pairs):
    n = sum(pairs)
    text = more_games(elo_difference(Results(pairs, 0, 0, 0)))
    if text.startswith("More than 100,000"):
        factor = (n + 50_000) / n
        assert summarise([factor * count for count in pairs]).elo.low <= 0
        return
    more = int(re.match(r"About ([\d,]+) more games", text)[1].replace(",", ""))
    enough, unit = (n + more / 2) / n, max(2, 10 ** (len(str(more)) - 2))
    fewer = (n + more / 2 - unit) / n
    assert summarise([enough * count for count in pairs]).elo.low > 0
    assert summarise([max(fewer, 0.01) * count for count in pairs]).elo.low <= 0


def small_run(folder, found=None):
    """A run whose page is quickly drawn."""
    return tune_run(folder, "tictactoe/classic", found or findings())


def lost_match(tmp_path, run):
    """A match that the weights of a run lost."""
    start = read_run(run, []).chosen.start or "tictactoe/classic"
    folder = match_run(
        tmp_path / "match", [LOST, (-1, 0), DRAWN, SPLIT] * 20, players=(start, start)
    )
    write_parameters(folder / "a.yaml", read_run(run, []).learned)
    return folder


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        (
            {"method": "logistic", "prior": "auto"},
            [
                "The results of 5,684 games changed",
                "Learn from searches",
                "or with --prior play instead of auto",
                "a lower loss does not prove strength",
            ],
        ),
        (
            {
                "method": "logistic",
                "prior": 30.0,
                "held_out_results": {"low": 0.001, "high": 0.002},
            },
            [
                "or with --prior play instead of 30 centipawns",
                "also predicts the results of held-out games worse",
            ],
        ),
        (
            {"method": "logistic", "prior": "play"},
            [
                "Learn from searches (--method rootstrap, the default for games).",
                "a lower loss does not prove strength",
            ],
        ),
        (
            {"method": "logistic", "prior": 30.0, "rows": True},
            ["or with a narrower prior: --prior 15 instead of 30 centipawns"],
        ),
        (
            {"method": "rootstrap", "prior": 20.0, "depth": 4, "held_out_results": None},
            ["Searches of depth 4 changed", "--prior 10 instead of 20 centipawns", "--depth 6"],
        ),
        (
            {"method": "td", "prior": "none", "held_out_results": {"low": -0.001, "high": 0.002}},
            ["Temporal differences of 5,684 games", "--prior 20 centipawns instead of none"],
        ),
        ({"method": None}, []),
    ],
)
def test_after_a_lost_match_the_advice_is_about_why(tmp_path, changes, parts):
    found = findings()
    found["result"] |= changes
    folder = small_run(tmp_path / "run", found)
    run = read_run(folder, [lost_match(tmp_path, folder)])
    text, sections = render(run)
    assert "18,900 more games" not in text and "learned is worse than classic" in text
    advice = next((section.data["advice"] for section in sections if section.name == "advice"), [])
    assert advice == reasons(run)
    for part in parts:
        assert part in " ".join(advice)
    moved = int((np.abs(run.comparison.change) >= 0.5).sum())
    assert not parts or f"changed {moved:,} weights" in advice[0]
    if "held_out_results" in changes and not (changes["held_out_results"] or {}).get("low", 0) > 0:
        assert not any("results of held-out games" in line for line in advice)


def test_a_lost_match_of_selfplay_asks_for_more_games(tmp_path):
    folder = selfplay_run(tmp_path / "run")
    run = read_run(folder, [lost_match(tmp_path, folder)])
    (line,) = reasons(run)
    assert "480 games of self-play changed" in line and f"--resume {folder} --games 1920" in line


def test_without_a_match_the_command_to_play_it_is_on_the_page(tmp_path):
    run = read_run(tune_run(tmp_path / "run"), [])
    command = findings()["result"]["match"]
    assert match_to_play(run) == command
    assert shlex.split(report_command(run, command)) == [
        "tuner",
        "report",
        str(run.folder),
        "--match",
        shlex.split(command)[-1],
    ]
    found = findings()
    del found["result"]["match"]
    (tmp_path / "run" / "findings.json").write_text(json.dumps(found))
    assert shlex.split(match_to_play(read_run(tmp_path / "run", []))) == [
        "tuner",
        "match",
        f"{tmp_path}/run/params.yaml",
        "classic",
        "--games",
        "400",
        "--run",
        f"{tmp_path}/run-match",
    ]
    for other in (small_run(tmp_path / "other"), match_run(tmp_path / "m", [WON])):
        run = read_run(other, [])  # the game has no search, and a match needs none
        assert match_to_play(run) is None and "Copy</button>" not in render(run)[0]


def test_a_match_of_other_weights_is_said_to_be_one(tmp_path):
    run, start = small_run(tmp_path / "run"), "tictactoe/classic"
    other = match_run(tmp_path / "other", [LOST] * 9, players=(start, start))
    own = match_run(tmp_path / "own", [WON] * 9, players=(start, start))
    write_parameters(own / "b.yaml", learned_from(load_parameters(start)))
    text, _ = render(read_run(run, [own, other]))
    header = re.sub(r"\s+", " ", text.partition("<nav")[0].partition("<h1")[2])
    assert header.index("classic is worse than learned") < header.index(
        "learned is worse than classic"
    )
    assert header.count("neither player has the weights of this run") == 1


def test_a_fit_that_did_not_converge_says_so(tmp_path):
    found = findings()
    found["result"] |= {"converged": False, "gradient_norm": 0.0123}
    text, _ = render(read_run(small_run(tmp_path / "run", found), []))
    assert "The fit stopped before convergence (gradient norm 0.0123)" in text


def test_too_few_pairs_have_no_forecast():
    """Means in points need three pairs for an error."""
    points = np.array([[1, -2], [2, 1]])
    results = PointResults(
        tuple(np.bincount(points.sum(1) + 6, minlength=13).tolist()),
        Counter(points.ravel().tolist()),
        points,
        None,
    )
    assert more_games(point_difference(results)).startswith(
        "Too few pairs of games were played to estimate"
    )


ROUNDS = [
    {
        "games": 400,
        "score": 0.655,
        "elo": 112.0,
        "error": 31.0,
        "moved": 0.05,
        "held_out": {
            "before": 0.5,
            "after": 0.49,
            "difference": -0.01,
            "low": None,
            "high": None,
            "games": 60,
        },
    },
    {"games": 400, "score": 0.57, "elo": 49.0, "error": 29.0, "moved": 0.03, "held_out": None},
    {"games": 400, "score": 0.55, "elo": 35.0, "error": 28.0, "moved": 0.03, "held_out": None},
]


@pytest.mark.parametrize(
    ("matches", "kept", "kind", "said"),
    [
        (
            ROUNDS,
            3,
            "better",
            (
                "3 rounds of own games, each against the one before: +112 ± 31 Elo, +49 ± 29 Elo,"
                " +35 ± 28 Elo"
            ),
        ),
        (ROUNDS[:2], 1, "better", "A round of own games: +112 ± 31 Elo against classic"),
        (
            [ROUNDS[0] | {"elo": -50.0, "error": 30.0}],
            1,
            "worse",
            "A round of own games: −50 ± 30 Elo against classic",
        ),
        (
            [ROUNDS[0] | {"elo": None, "error": None, "score": 1.0}],
            1,
            "not decided",
            "A round of own games: 100.0 % against classic",
        ),
        (
            ROUNDS[:1] + [ROUNDS[1] | {"error": 60.0}],
            2,
            "not decided",
            "2 rounds of own games, each against the one before",
        ),
    ],
)
def test_rounds_of_own_games_and_their_matches_are_the_story_of_a_run(
    tmp_path, matches, kept, kind, said
):
    found = findings()
    found["result"] |= {"own_games": 6000, "own_rounds": kept, "own_matches": matches}
    run = read_run(tune_run(tmp_path / "run", "classic", found), [])
    verdict = rounds_verdict(run)
    assert verdict.kind == kind and verdict.sentence.replace("\u00a0", " ").startswith(said)
    text, sections = render(run)
    text = text.replace("\u00a0", " ")
    assert (
        said in text
        and "Playing strength not tested yet" not in text
        and "Not played against classic yet" in text
    )
    assert sections[0].name == "rounds" and text.count('<tr><th scope="row">1') >= 1
    assert ("round 2 was undone: +49 ± 29 Elo" in text) == (len(matches) > kept)
    lines = rounds_lines(run.result)
    assert lines[0].startswith("round 1   ") and "against classic" in lines[0]
    assert len([line for line in lines if line.startswith("round ")]) == len(matches)
    assert lines[len(matches) - 1].endswith("; undone") == (len(matches) > kept)


def test_a_match_has_one_interval_on_the_page_and_in_the_command(tmp_path):
    """Half the interval after the value, as fastchess prints it; the ends where it would say
    something else of 0."""
    match = read_match(match_run(tmp_path / "match", [WON, LOST, (1, 0), DRAWN, WON] * 2))
    block = re.search(r"Elo: ([\d.]+) \+/- ([\d.]+)", match.block)
    detail = verdict(match, None).detail.replace("\u00a0", " ")
    assert detail.startswith(f"+{float(block[1]):.0f} ± {float(block[2]):.0f} Elo; 20 games")
    edge = replace(match.difference, value=30.0, low=1.0, high=63.0)
    assert difference_text(edge, edge.interval).replace("\u00a0", " ") == "+30 ± 31 Elo [+1, +63]"
