"""The sentences of a measurement are true for its numbers, whatever these are."""

import pytest

from games.record import find
from tuner.findings.records import Headroom, Interval
from tuner.headroom.measure import interval_text, lines_of, sentences
from tuner.io.records import record
from tuner.report.headroom import headroom_data


def interval(value: float, half: float) -> dict:
    return {"value": value, "low": value - half, "high": value + half}


def found(
    linear: dict, trees: dict | None, targets: str = "scores", network: dict | None = None, **more
) -> Headroom:
    gains = [{"model": "fit", "on": "start", **linear, "share": interval(0.18, 0.02)}]
    models = [
        {"model": "start", **interval(0.05, 0.001)},
        {"model": "fit", **interval(0.04, 0.001)},
    ]
    if trees:
        gains.append({"model": "trees", "on": "fit", **trees, "share": interval(0.15, 0.01)})
        models.append({"model": "trees", **interval(0.0348, 0.001)})
    gains.append(
        {
            "model": "network",
            "on": "fit",
            **(network or interval(0.001, 0.002)),
            "share": interval(0.1, 0.01),
        }
    )
    models.append({"model": "network", **interval(0.0362, 0.001)})
    plain = {
        "start": "classic",
        "values": "labels of the positions",
        "targets": targets,
        "loss": "cross-entropy",
        "not_linear": [],
        "positions": 400,
        "held_out_positions": 80,
        "held_out_games": 80,
        "gains": gains,
        "models": models,
        "counts": [],
        "first_stage": "mg",
        "sentences": [],
        "cpu_seconds": 1,
    }
    return record(Headroom, plain | more, "headroom.json")


def test_certain_gains_are_named_with_their_share_and_the_next_step():
    counts = [
        {"input": "the phase", **interval(0.01, 0.001)},
        {"input": "king.zone", **interval(0.005, 0.001)},
        {"input": "material.queen", **interval(0.002, 0.003)},
    ]
    first, second, _, last = sentences(
        found(interval(0.007, 0.001), interval(0.006, 0.001), counts=counts)
    )
    assert (
        first
        == "Better weights of the same terms gain 0.0070 [0.0060, 0.0080], 18 [16, 20] % of the"
        " distance from classic to these values: `tuner tune` learns weights from such values."
    )
    assert (
        second
        == "Functions of the same counts that are not linear gain another 0.0060 [0.0050, 0.0070],"
        " 15 [14, 16] % of the distance from the linear fit to these values; consider terms that"
        " combine what the trees use most: king.zone (docs/headroom.md)."
    )
    assert last.startswith(
        "What none of them closes, 0.0348, needs counts that these terms lack, or a search"
    )


def test_sentences_do_not_call_linear_what_is_not():
    lines = sentences(
        found(interval(0.001, 0.002), interval(0.006, 0.001), not_linear=["king_danger"])
    )
    assert lines[0].startswith(
        "The best fit of these terms is not better than classic beyond chance"
    )
    assert (
        lines[1].startswith("Other functions of the same counts gain another 0.0060")
        and "from the fit to these" in lines[1]
    )
    assert "linear" not in " ".join(lines)


def test_gains_within_chance_are_not_claimed():
    first, second, *_ = sentences(found(interval(0.001, 0.002), interval(0.001, 0.002)))
    assert first.startswith(
        "The best linear fit of these terms is not better than classic beyond chance"
    )
    assert second.startswith(
        "Functions of the same counts that are not linear gain nothing beyond chance here"
    )
    unknown = {"value": 0.1, "low": None, "high": None}
    assert "beyond chance" in sentences(found(unknown, unknown))[0]


def test_results_have_no_distance_and_nothing_remains_to_be_closed():
    lines = sentences(found(interval(0.007, 0.001), interval(0.006, 0.001), "results"))
    assert len(lines) == 3 and "%" not in "".join(lines)


def test_the_phase_is_named_only_where_the_gain_is_certain():
    def phases(half: float) -> list[dict]:
        return [
            {
                "from": low,
                "to": low + 0.25,
                "positions": 40,
                "gains": [
                    {"model": "fit", "on": "start", **interval(0.01, 0.001)},
                    {"model": "trees", "on": "fit", **interval(value, half)},
                ],
            }
            for low, value in ((0.0, 0.004), (0.25, 0.008), (0.75, 0.001))
        ]

    certain = sentences(
        found(interval(0.007, 0.001), interval(0.006, 0.001), phases=phases(0.002))
    )[1]
    assert "; here most per position where the share of mg is 0.25 to 0.5" in certain
    assert (
        "share of mg"
        not in sentences(
            found(interval(0.007, 0.001), interval(0.006, 0.001), phases=phases(0.02))
        )[1]
    )


def test_the_network_is_compared_with_the_fit_and_with_the_trees():
    def said(network: dict, more: dict | None, board: str | None = "board") -> str:
        whole = found(
            interval(0.007, 0.001),
            interval(0.006, 0.001) if more else None,
            network=network,
            network_on_trees=more,
            board=board,
        )
        return next(
            line
            for line in sentences(whole)
            if line.startswith("A small network that sees the same counts")
        )

    gain = interval(0.008, 0.001)
    sees = "A small network that sees the same counts and the board gains"
    assert said(interval(0.001, 0.002), None) == f"{sees} nothing on the fit beyond chance."
    assert said(gain, None) == f"{sees} 0.0080 [0.0070, 0.0090] on the fit."
    assert (
        said(gain, interval(0.002, 0.001))
        == f"{sees} 0.0080 [0.0070, 0.0090] on the fit, 0.0020 [0.0010, 0.0030] more than the"
        " trees; it may have found in the board what no term counts."
    )
    assert said(gain, interval(0.002, 0.001), None).endswith(
        "same counts gains 0.0080 [0.0070, 0.0090] on the fit, 0.0020 "
        "[0.0010, 0.0030] more than the trees."
    )
    assert said(gain, interval(-0.002, 0.001)).endswith("on the fit, less than the trees.")
    assert said(gain, interval(-0.002, 0.003)).endswith(
        "on the fit, as much as the trees, as far as these games can tell."
    )
    assert "more than" not in said(gain, {"value": 0.1, "low": None, "high": None})


def test_an_interval_that_is_not_known_is_left_out():
    assert interval_text(Interval(0.12345)) == "0.1235"  # half to even is not at stake
    assert interval_text(Interval(0.5, 0.4, 0.6), 0, 100) == "50 [40, 60]"


POSITION = {
    "position": "4HPwATDgc/ABMA",
    "value": 0.75,
    "phase": 1.0,
    "start": 0.5,
    "fit": 0.4,
    "network": 0.7,
}


def measured(staged: bool = False, **more) -> Headroom:
    gains = [
        {"model": "fit", "on": "start", **interval(0.01, 0.001)},
        {"model": "network", "on": "fit", **interval(0.004, 0.1)},
    ]
    phases = [
        {
            "from": low,
            "to": low + 0.25,
            "positions": 40,
            "start": 0.6,
            "fit": 0.5,
            "network": 0.4,
            "gains": gains,
            "stage": stage if staged else None,
        }
        for low, stage in ((0.0, "race"), (0.75, "contact"))
    ]
    return found(
        interval(0.007, 0.001),
        None,
        phases=phases,
        disagreements=[POSITION],
        **more,
    )


@pytest.mark.parametrize(
    ("points", "side", "line"),
    [
        (3, "X", "  +1.50  +0.00  -0.60  +1.20  4HPwATDgc/ABMA"),
        (1, "the first player", "  0.75  0.50  0.40  0.70  4HPwATDgc/ABMA"),
    ],
)
def test_positions_are_valued_in_points_or_in_scores(points, side, line):
    lines = lines_of(measured(points=points, side=side))
    assert line in lines
    unit = "points" if points > 1 else "score"
    assert (
        f"where the others differ most from the fit (expected {unit} of {side}: value, file, fit,"
        " network):" in lines
    )
    data = headroom_data(measured(points=points, side=side), find("backgammon"))
    assert (
        data["expected"](0.75) == ("+1.50 points" if points > 1 else "75 %")
        and data["side"] == side
    )


def test_stages_without_phases_between_them_are_named():
    plain = measured()
    assert (
        any(line.startswith("  0.00-0.25 ") for line in lines_of(plain))
        and not headroom_data(plain, None)["staged"]
    )
    staged = measured(staged=True)
    lines = lines_of(staged)
    assert (
        "by stage:" in lines
        and any(line.startswith("  race ") for line in lines)
        and headroom_data(staged, None)["staged"]
    )


def test_no_number_is_minus_zero():
    assert interval_text(Interval(-1e-6, -1e-5, 1e-5)) == "0.0000 [0.0000, 0.0000]"
