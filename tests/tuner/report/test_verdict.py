"""What is said of matches: which player is better, and how many games would tell."""

import re
import shlex

import numpy as np
import pytest

from tests.tuner.core.support import put
from tests.tuner.report.support import findings, match_run, tune_run
from tests.tuner.statistics.support import count_games
from tuner.findings.matches import read_match
from tuner.report.page import page_of, render
from tuner.report.run import read_run
from tuner.report.verdict import (
    match_to_play,
    report_command,
    verdict,
)
from tuner.results.fit import FINDINGS
from tuner.statistics.pentanomial import summarise

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
            "",
        ),
        (
            [DRAWN] * 50,
            "not decided",
            "Not decided whether learned is better than classic",
            "",
        ),
        ([WON] * 6, "better", "learned is better than classic", ""),
        ([LOST] * 6, "worse", "learned is worse than classic", ""),
        (
            [(1, 0)] * 5,
            "not decided",
            "Not decided whether learned is better than classic",
            "",
        ),
        (
            [WON],
            "not decided",
            "Not decided whether learned is better than classic",
            "",
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


def small_run(folder, found=None):
    """A run whose page is quickly drawn."""
    return tune_run(folder, "tictactoe/classic", found or findings())


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
    put(tmp_path / "run", FINDINGS, found)
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
        assert match_to_play(run) is None and "Copy</button>" not in render(page_of(run))[0]
