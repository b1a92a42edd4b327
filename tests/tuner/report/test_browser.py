"""The page in a browser: it asks for nothing, says nothing on the console, fits a phone, sorts and
explains itself."""

import re

import pytest

from tests.tuner.report.browser import needs_chromium, open_page
from tests.tuner.report.support import match_run, selfplay_run, tune_run
from tuner.report.page import page_of, render
from tuner.report.run import read_run

pytestmark = needs_chromium
MEASURE = """
  const wide = [...document.querySelectorAll("body *")].filter(
    e => !e.closest(".scroll, pre, svg") &&
    e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + "." + e.className);
  const figures = [...document.querySelectorAll("svg.chart, .picture svg")];
  return {width: innerWidth, scroll: document.documentElement.scrollWidth, wide,
      figures: figures.length,
          drawn: figures.filter(f => f.getBoundingClientRect().width > 100 &&
              f.getBoundingClientRect().height > 60).length,
          paper: getComputedStyle(document.body).backgroundColor,
              ink: getComputedStyle(document.body).color,
          line: getComputedStyle(document.querySelector("svg.chart [style*='--accent']")).stroke};
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each kind of run."""
    folder = tmp_path_factory.mktemp("pages")
    match = match_run(folder / "match", [(1, 0), (-1, 1), (1, 1), (0, 0)] * 10)
    found = {}
    for run, matches in (
        (tune_run(folder / "tune"), [match]),
        (selfplay_run(folder / "selfplay"), []),
        (match, []),
    ):
        text, _ = render(page_of(read_run(run, matches)))
        found[run.name] = (
            folder / f"{run.name}.html",
            len(re.findall(r'<svg class="chart"|class="picture"', text)),
        )
        found[run.name][0].write_text(text, encoding="utf-8")
    return found


@pytest.mark.long
@pytest.mark.parametrize("kind", ["tune", "selfplay", "match"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_fits_shows_all_figures_and_asks_for_nothing(tmp_path, pages, kind, width):
    page, figures = pages[kind]
    seen = open_page(page, tmp_path, MEASURE, width, dark=width == 390)
    assert seen.console == []
    assert {address.partition(":")[0] for address in seen.asked} <= {"file", "data"}
    assert seen.found["width"] == width >= seen.found["scroll"] and seen.found["wide"] == []
    assert seen.found["figures"] == seen.found["drawn"] == figures > 1
