"""The page in a browser: it asks for nothing, says nothing on the console, fits a phone, sorts and
explains itself."""

import re

import pytest

from tests.tuner.report.browser import needs_chromium, open_page
from tests.tuner.report.support import match_run, selfplay_run, tune_run
from tuner.report.page import render
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
        text, _ = render(read_run(run, matches))
        found[run.name] = (
            folder / f"{run.name}.html",
            len(re.findall(r'<svg class="chart"|class="picture"', text)),
        )
        found[run.name][0].write_text(text, encoding="utf-8")
    return found


@pytest.mark.parametrize("kind", ["tune", "selfplay", "match"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_fits_shows_all_figures_and_asks_for_nothing(tmp_path, pages, kind, width):
    page, figures = pages[kind]
    seen = open_page(page, tmp_path, MEASURE, width, dark=width == 390)
    assert seen.console == []
    assert {address.partition(":")[0] for address in seen.asked} <= {"file", "data"}
    assert seen.found["width"] == width >= seen.found["scroll"] and seen.found["wide"] == []
    assert seen.found["figures"] == seen.found["drawn"] == figures > 1


def test_light_and_dark_have_colours_of_their_own(tmp_path, pages):
    light, dark = (
        open_page(pages["tune"][0], tmp_path, MEASURE, dark=dark).found for dark in (False, True)
    )
    for part in ("paper", "ink", "line"):
        assert light[part] != dark[part]
    assert brightness(light["paper"]) > 0.9 > 0.2 > brightness(dark["paper"])
    assert brightness(light["ink"]) < 0.2 < 0.8 < brightness(dark["ink"])


def brightness(colour: str) -> float:
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / (3 * 255)


def test_the_table_sorts_and_filters(tmp_path, pages):
    seen = open_page(
        pages["tune"][0],
        tmp_path,
        """
      const table = document.getElementById("table-of-numbers"),
          heads = [...table.tHead.rows[0].cells];
      const column = name => heads.findIndex(h => h.textContent.startsWith(name));
      const values = i => [...table.tBodies[0].rows].map(row =>
        row.cells[i].dataset.value ?? row.cells[i].textContent);
      const sorts = () => heads.map(h => h.getAttribute("aria-sort"));
      const out = {heads: heads.map(h => h.textContent), first: values(column("change")),
          before: sorts(), keyboard:
                   heads.every(h => h.querySelector("button").tabIndex === 0)};
      const press = name => heads[column(name)].querySelector("button").click();
      press("change"); out.up = values(column("change")); out.upSort = sorts();
      press("change"); out.down = values(column("change")); out.downSort = sorts();
      press("±"); out.errors = values(column("±"));
      press("parameter"); out.names = values(0);
      const box = document.getElementById("filter");
      box.value = " Passed"; box.dispatchEvent(new Event("input"));
      out.shown = [...table.tBodies[0].rows].filter(r => r.offsetHeight > 0)
        .map(r => r.cells[0].textContent);
      out.told = document.getElementById("filtered").textContent;
      return out;""",
    ).found
    first = [float(value) for value in seen["first"]]
    assert first != sorted(first)
    assert [float(value) for value in seen["up"]] == sorted(first)
    assert [float(value) for value in seen["down"]] == sorted(first, reverse=True)
    change = seen["heads"].index("change")
    assert set(seen["before"]) == {"none"}
    for sort, name in ((seen["upSort"], "ascending"), (seen["downSort"], "descending")):
        assert sort == ["none"] * change + [name] + ["none"] * (len(sort) - change - 1)
    known = [float(value) for value in seen["errors"] if value]
    assert (
        known == sorted(known)
        and seen["errors"][len(known) :] == [""] * (len(first) - len(known))
        and len(known) < len(first)
    )
    terms = [name.partition(".")[0] for name in seen["names"]]
    assert terms == sorted(terms) and seen["keyboard"]
    queen = [name for name in seen["names"] if name.startswith("mobility.queen")]
    assert queen == [
        f"mobility.queen[{i}]" for i in range(28) for _ in ("mg", "eg")
    ]  # 10 behind 9, not behind 1
    passed = [name for name in seen["names"] if "passed" in name]
    assert seen["shown"] == passed and seen["told"] == f"{len(passed)} of {len(first)}" and passed


def test_a_number_of_a_board_says_all_of_itself(tmp_path, pages):
    seen = open_page(
        pages["tune"][0],
        tmp_path,
        """
      const board = document.querySelectorAll("table.board")[2],
          bubble = document.getElementById("bubble"), out = [];
      const told = () => out.push(bubble.hidden ? null : bubble.textContent);
      told();
      board.rows[1].cells[2].dispatchEvent(new MouseEvent("click", {bubbles: true})); told();
      const key = name => board.dispatchEvent(new KeyboardEvent("keydown", {key: name,
          bubbles: true}));
      key("ArrowDown"); told(); key("ArrowRight"); told(); key("Escape"); told();
      return {out, focus: board.tabIndex};""",
    ).found
    hidden, clicked, below, beside, gone = seen["out"]
    assert hidden is gone is None and seen["focus"] == 0
    for said, label in ((clicked, "[6][2]"), (below, "[5][2]"), (beside, "[5][3]")):
        assert re.fullmatch(
            rf"piece_square\.pawn{re.escape(label)}: .* → .*, (.*±.*|.*not identified|.*, held"
            r" constant)",
            said,
        )


def test_names_from_files_run_nothing(tmp_path, pages):
    seen = open_page(
        pages["tune"][0],
        tmp_path,
        """
      return {scripts: document.scripts.length,
              text: document.body.textContent.includes(
                "<scr" + "ipt>alert(1)</scr" + "ipt>.pgn")};""",
    )
    assert seen.found == {"scripts": 2, "text": True}  # ours, and the probe


def test_a_request_and_an_error_would_be_noticed(tmp_path, pages):
    page = tmp_path / "leaky.html"
    text = re.sub(
        r'<meta http-equiv="Content-Security-Policy"[^>]*>',
        "",
        pages["match"][0].read_text(encoding="utf-8"),
    )
    page.write_text(
        text.replace(
            "</main>", '<img src="http://example.invalid/x.png"></main><script>nothing()</script>'
        )
    )
    seen = open_page(page, tmp_path, "return {};")
    assert "http://example.invalid/x.png" in seen.asked and any(
        "nothing is not defined" in line for line in seen.console
    )
