"""The sentences of a measurement are true for its numbers, whatever these are."""

from __future__ import annotations

from tuner.headroom.sentences import interval_text, sentences


def interval(value: float, half: float) -> dict:
    return {"value": value, "low": value - half, "high": value + half}


def found(linear: dict, trees: dict | None, targets: str = "scores", network: dict | None = None, **more) -> dict:
    gains = [{"model": "fit", "on": "start", **linear, "share": interval(0.18, 0.02)}]
    models = [{"model": "start", **interval(0.05, 0.001)}, {"model": "fit", **interval(0.04, 0.001)}]
    if trees:
        gains.append({"model": "trees", "on": "fit", **trees, "share": interval(0.15, 0.01)})
        models.append({"model": "trees", **interval(0.0348, 0.001)})
    gains.append({"model": "network", "on": "fit", **(network or interval(0.001, 0.002)), "share": interval(0.1, 0.01)})
    models.append({"model": "network", **interval(0.0362, 0.001)})
    return {"start": "classic", "targets": targets, "not_linear": [],
            "gains": gains, "models": models, "counts": [], "first_stage": "mg", **more}


def test_certain_gains_are_named_with_their_share_and_the_next_step():
    counts = [{"input": "the phase", **interval(0.01, 0.001)}, {"input": "king.zone", **interval(0.005, 0.001)},
              {"input": "material.queen", **interval(0.002, 0.003)}]
    first, second, _, last = sentences(found(interval(0.007, 0.001), interval(0.006, 0.001), counts=counts))
    assert first == ("Better weights of the same terms gain 0.0070 [0.0060, 0.0080], 18 [16, 20] % of the distance from classic "
                     "to these values: `tuner tune` learns weights from such values.")
    assert second == ("Functions of the same counts that are not linear gain another 0.0060 [0.0050, 0.0070], 15 [14, 16] % of "
                      "the distance from the linear fit to these values; consider terms that combine what the trees use most: "
                      "king.zone (docs/headroom.md).")
    assert last.startswith("What none of them closes, 0.0348, needs counts that these terms lack, or a search")


def test_sentences_do_not_call_linear_what_is_not():
    lines = sentences(found(interval(0.001, 0.002), interval(0.006, 0.001), not_linear=["king_danger"]))
    assert lines[0].startswith("The best fit of these terms is not better than classic beyond chance")
    assert lines[1].startswith("Other functions of the same counts gain another 0.0060") and "from the fit to these" in lines[1]
    assert "linear" not in " ".join(lines)


def test_gains_within_chance_are_not_claimed():
    first, second, *_ = sentences(found(interval(0.001, 0.002), interval(0.001, 0.002)))
    assert first.startswith("The best linear fit of these terms is not better than classic beyond chance")
    assert second.startswith("Functions of the same counts that are not linear gain nothing beyond chance here")
    unknown = {"value": 0.1, "low": None, "high": None}
    assert "beyond chance" in sentences(found(unknown, unknown))[0]


def test_results_have_no_distance_and_nothing_remains_to_be_closed():
    lines = sentences(found(interval(0.007, 0.001), interval(0.006, 0.001), "results"))
    assert len(lines) == 3 and "%" not in "".join(lines)


def test_the_phase_is_named_only_where_the_gain_is_certain():
    def phases(half: float) -> list[dict]:
        return [{"from": low, "to": low + 0.25, "gains": [{"model": "fit", **interval(0.01, 0.001)}, {
            "model": "trees", **interval(value, half)}]} for low, value in ((0.0, 0.004), (0.25, 0.008), (0.75, 0.001))]

    certain = sentences(found(interval(0.007, 0.001), interval(0.006, 0.001), phases=phases(0.002)))[1]
    assert "; here most per position where the share of mg is 0.25 to 0.5" in certain
    assert "share of mg" not in sentences(found(interval(0.007, 0.001), interval(0.006, 0.001), phases=phases(0.02)))[1]


def test_the_network_is_compared_with_the_fit_and_with_the_trees():
    def said(network: dict, more: dict | None, board: str | None = "board") -> str:
        whole = found(interval(0.007, 0.001), interval(0.006, 0.001) if more else None, network=network, network_on_trees=more,
                      board=board)
        return next(line for line in sentences(whole) if line.startswith("A small network that sees the same counts"))

    gain = interval(0.008, 0.001)
    sees = "A small network that sees the same counts and the board gains"
    assert said(interval(0.001, 0.002), None) == f"{sees} nothing on the fit beyond chance."
    assert said(gain, None) == f"{sees} 0.0080 [0.0070, 0.0090] on the fit."
    assert said(gain, interval(0.002, 0.001)) == (
        f"{sees} 0.0080 [0.0070, 0.0090] on the fit, 0.0020 [0.0010, 0.0030] more than the trees; it may have found in the board "
        "what no term counts.")
    assert said(gain, interval(0.002, 0.001), None).endswith("same counts gains 0.0080 [0.0070, 0.0090] on the fit, 0.0020 "
                                                             "[0.0010, 0.0030] more than the trees.")
    assert said(gain, interval(-0.002, 0.001)).endswith("on the fit, less than the trees.")
    assert said(gain, interval(-0.002, 0.003)).endswith("on the fit, as much as the trees, as far as these games can tell.")
    assert "more than" not in said(gain, {"value": 0.1, "low": None, "high": None})


def test_an_interval_that_is_not_known_is_left_out():
    assert interval_text({"value": 0.12345, "low": None, "high": None}) == "0.1235"  # half to even is not at stake
    assert interval_text(interval(0.5, 0.1), 0, 100) == "50 [40, 60]"
