"""The page as text: whole, safe, and as rich as the folder that it is about."""

import re
from html.parser import HTMLParser

import pytest

from tests.tuner.core.support import put
from tests.tuner.report.support import NASTY, findings, match_run, selfplay_run, tune_run
from tuner.report.page import page_of, render
from tuner.report.run import read_run
from tuner.results.fit import FINDINGS

VOID = {"meta", "link", "input", "br", "img"}


class Checked(HTMLParser):
    """Names, addresses and text of a page, whose tags have to match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.text, self.sources = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        for name in ("href", "xlink:href", "src", "data", "action"):
            if name in given:
                self.links.append(given[name])
        assert not [name for name in given if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """A run with every finding and two matches, and its page."""
    folder = tmp_path_factory.mktemp("rich")
    match = match_run(
        folder / "match", [(1, 0), (-1, 1), (1, 1), (0, 0)] * 10, names=(NASTY, "classic")
    )
    run = read_run(tune_run(folder / "run"), [match, match])
    text, sections = render(page_of(run))
    return run, text, sections, Checked(text)


@pytest.mark.long
def test_everything_found_has_a_place_on_the_page(rich):
    run, text, sections, page = rich
    assert [section.name for section in sections] == [
        "advice",
        "values",
        "match-1",
        "match-2",
        "learning",
        "tables",
        "lists",
        "numbers",
        "calibration",
        "agreement",
        "identifiability",
        "draws",
        "data",
        "repeat",
    ]
    said = re.sub(r"[ \n]+", " ", "".join(page.text))
    for part in (
        "Held-out loss on results",
        "0.4482",
        "from 0.4519: −0.0037 [−0.0049,\u00a0−0.0025], 586 games",
        "0.4517",
        "400,563",
        "2.80 to 3.03",
        "Ptnml(0-2): [0, 0, 20, 10, 10]",
        "1,206",
        "240.5",
        "1.2 × 10⁶",
        "a <b>sum</b>",
        "piece_square.pawn[0][1] mg",
        "−0.97",
        "0.800 ± 0.098",
        "2,000 won by White, 31.7 %",
        "ab" * 32,
        "seed: 7",
        f"tuner tune classic '{NASTY}' -o out.yaml",
    ):
        assert part in said, part
    assert (
        sum(tag == "table" and given.get("class") == "board" for tag, given in page.tags)
        == 6 * 2 * 3
    )
    assert (
        sum(given.get("class") == "chart" for _, given in page.tags)
        == 3 + 2 * 2 + 2 + 19 * 2 + 2 * 2 + 1
    )


def test_the_page_needs_nothing_but_itself(rich):
    _, text, _, page = rich
    assert len(page.ids) == len(set(page.ids))
    local = {f"#{name}" for name in page.ids}
    assert {link for link in page.links if link != "data:,"} <= local
    assert (
        re.findall(r"@import|@font-face|\bfetch\(|XMLHttpRequest|https?://(?!www\.w3\.org/)", text)
        == []
    )
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= local
    assert len(text.encode()) < 3e6
    described = [given["aria-labelledby"] for _, given in page.tags if "aria-labelledby" in given]
    assert described and set(described) <= set(page.ids)


def test_names_from_files_are_text(rich):
    _, text, _, page = rich
    assert (
        "<script>alert" not in text and text.count("&lt;script&gt;alert(1)&lt;/script&gt;.pgn") > 5
    )
    assert [tag for tag, _ in page.tags].count("script") == 1


@pytest.mark.parametrize("kept", [0, 1])
def test_findings_that_are_missing_leave_the_rest(tmp_path, kept):
    whole = findings()
    found = {key: value for i, (key, value) in enumerate(whole.items()) if i % 2 == kept}
    found["result"] = {
        key: value for i, (key, value) in enumerate(whole["result"].items()) if i % 2 == kept
    }
    folder = tune_run(tmp_path / "run")
    put(folder, FINDINGS, found)
    text, sections = render(page_of(read_run(folder, [])))
    Checked(text)
    names = {section.name for section in sections}
    for name in ("calibration", "identifiability", "draws", "advice"):
        assert (name in names) == (name in found or name in found["result"])
    assert {"values", "learning", "tables", "lists", "numbers", "repeat"} <= names


@pytest.mark.long
@pytest.mark.parametrize(("start", "stages"), [("material", True), ("shogi/hand", False)])
def test_the_mean_of_the_stages_is_named_where_there_are_some(tmp_path, start, stages):
    text, _ = render(page_of(read_run(selfplay_run(tmp_path / "run", start=start), [])))
    assert "Change of each value" in text and ("mean of the stages" in text) == stages


def test_a_bin_without_an_interval_has_a_dash(tmp_path):
    found = findings()
    for line in found["calibration"]["results"]["after"]:
        line["actual"].update(low=None, high=None)
    text, _ = render(page_of(read_run(tune_run(tmp_path / "run", found=found), [])))
    Checked(text)
    assert "<td>–</td><td>1,001</td>" in text and "– to –" not in text
