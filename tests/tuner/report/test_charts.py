"""Charts: well-formed, described, in the page's colors, and true to the numbers that they draw."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.tuner.play.match.support import match_result
from tests.tuner.report.support import BAD_NAME, BINS, findings, match_run, selfplay_run
from tuner.core.estimates import Estimate, estimate_of
from tuner.core.records import convert
from tuner.findings.matches import read_match
from tuner.report.charts import COLOURS, Series, bar_chart, line_chart, own_names, points_chart
from tuner.report.run import read_run
from tuner.report.run_charts import (
    calibration_charts,
    health_charts,
    match_charts,
    moves_charts,
    phase_chart,
    strength_curve,
    value_charts,
    watched_charts,
)
from tuner.results.fit import Sides
from tuner.statistics.pentanomial import Results

START = {"pawn": 100.0, "knight": 400.0, "bishop": 400.0, "rook": 600.0, "queen": 1200.0}
SVG = "{http://www.w3.org/2000/svg}"


def tree(svg: str) -> ElementTree.Element:
    """A chart as XML; the page leaves the names of its namespaces out."""
    return ElementTree.fromstring(
        svg.replace(
            "<svg ",
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ',
            1,
        )
    )


def points(svg: str, colour: str) -> np.ndarray:
    """(n, 2) the longest line of a color."""
    paths = [
        path.get("d")
        for path in tree(svg).iter(SVG + "path")
        if f"stroke: var(--{colour})" in path.get("style", "") and "fill: none" in path.get("style")
    ]
    found = [np.array(re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", path), float) for path in paths]
    return max(found, key=len)


def all_charts(folder) -> list:
    match = match_run(folder / "match", [(1, 0), (-1, 1), (1, 1), (0, 0)] * 10, sprt=(0.0, 5.0))
    level = match_result(Results((1, 2, 3, 2, 1), 6, 6, 6))
    won = match_result(Results((0, 0, 0, 1, 5), 11, 0, 1))
    history = read_run(selfplay_run(folder / "selfplay"), []).history
    return [
        *moves_charts(history, START, np.linspace(1, 30, 60)),
        *health_charts(history),
        *watched_charts(history),
        *match_charts(read_match(match)),
        *calibration_charts(convert({"before": BINS, "after": BINS}, Sides, "bins")),
        phase_chart(findings()["summary"]["phases"]),
        strength_curve([(100.0, level), (900.0, won)]),
        bar_chart(BAD_NAME, BAD_NAME, BAD_NAME, [BAD_NAME], [1]),
        points_chart(
            BAD_NAME,
            "centipawns",
            {BAD_NAME: estimate_of(1.0, 1.0), "b": estimate_of(2.0, 1.0)},
            [1, 1],
        ),
    ]


def test_every_chart_is_described_and_wears_the_colours_of_the_page(tmp_path):
    charts = all_charts(tmp_path)
    assert len(charts) == 5 + 2 + 5 + 3 + 2 + 1 + 1 + 2
    names = set()
    for i, chart in enumerate(charts):
        root = tree(own_names(chart.svg, f"c{i}"))
        title, description = root[0], root[1]
        assert (title.tag, description.tag, root.get("role")) == (
            SVG + "title",
            SVG + "desc",
            "img",
        )
        assert title.text == chart.title and len(description.text) > 5
        texts = [text.text for text in root.iter(SVG + "text")]
        assert chart.title in texts and len(texts) > 5  # what it is, its axes and their numbers
        assert all(text.strip() for text in texts)
        colours = set(re.findall(r"(?:fill|stroke|color): ([^;\"]+)", chart.svg))
        assert colours <= {"none", *(f"var(--{name})" for name in COLOURS)}
        assert (
            "http" not in chart.svg.replace("http://www.w3.org/", "")
            and "font-family" not in chart.svg
        )
        own = {element.get("id") for element in root.iter() if element.get("id")}
        assert not own & names
        names |= own
        used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', own_names(chart.svg, f"c{i}")))
        assert used <= own


def test_one_stage_has_no_chart_of_phases_and_no_mean_of_stages():
    phases = [0, 0, 900, 0]
    assert phase_chart(phases, ("all",)) is None and phase_chart(phases, ("mg", "eg")) is not None
    entry = {"initial": 100.0, "learned": Estimate(110.0)}
    for stages, label in ((["all"], "pawns"), (["mg", "eg"], "pawns, mean of the stages")):
        rows = [
            {
                "name": name,
                "stages": [entry] * len(stages),
                "ratio": ratio,
            }
            for name, ratio in (("pawn", Estimate()), ("lance", Estimate(3.1)))
        ]
        values = {
            "rows": rows,
            "stages": stages,
            "term": "material",
            "of_weights": "centipawns",
            "unit": "pawn",
        }
        texts = [text.text for text in tree(value_charts(values)[-1].svg).iter(SVG + "text")]
        assert label in texts and ("pawns" in texts) == (label == "pawns")


def test_a_line_is_where_its_numbers_are():
    x, y = np.array([0.0, 1, 2, 3, 7]), np.array([0.46261, 0.45639, 0.4537, 0.45371, 0.4411])
    chart = line_chart("Loss", "iteration", "mean loss", [Series("learned", x, y)])
    drawn = points(chart.svg, "accent")
    for numbers, places in ((x, drawn[:, 0]), (y, -drawn[:, 1])):
        slope, offset = np.polyfit(numbers, places, 1)
        assert slope > 0 and places == pytest.approx(slope * numbers + offset, abs=0.02)
    ticks = [
        (float(text.text), -float(text.get("y")))
        for text in tree(chart.svg).iter(SVG + "text")
        if re.fullmatch(r"0\.\d+", text.text)
    ]
    # no two ticks say the same
    assert len(ticks) > 2 and len({value for value, _ in ticks}) == len(ticks)
    for value, place in ticks:
        assert slope * value + offset == pytest.approx(
            place, abs=6
        )  # a text stands a little below its line
