"""`tuner diff` begins with the largest changes that the data support, and colours signs in a terminal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.commands.support import done, in_terminal
from tests.commands.test_diff import STAGES, evidence, written
from tuner.engine.loading import load_parameters
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters

GREEN, RED = "\x1b[32m", "\x1b[31m"


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("diff") / "learned.yaml", 1)


def first_table(out: str) -> tuple[str, list[list[str]]]:
    """Title and rows of the first table."""
    title, _, *rows = out.split("\n\n")[0].splitlines()
    return title, [row.split() for row in rows]


def supported_ones(before: Parameters, after: Parameters) -> list[tuple[str, str, float]]:
    """All supported changes, by an independent test, the largest first."""
    change = after.weights - before.weights
    places = np.argwhere(evidence(before, after, after.standard_errors)[1])
    labels = before.layout.labels()
    return sorted(((labels[i], STAGES[s], change[s, i]) for s, i in places), key=lambda line: -abs(line[2]))


def test_the_twenty_largest_supported_changes_come_first(learned):
    before, after = load_parameters("classic"), load_parameters(learned)
    supported = supported_ones(before, after)
    title, rows = first_table(done("diff", "classic", learned).out)
    assert title == f"the 20 largest of {len(supported)} changes that the data support"
    assert [(name, stage) for name, stage, *_ in rows] == [line[:2] for line in supported[:20]]
    for (_, _, old, new, change, error), (name, stage, expected) in zip(rows, supported, strict=False):
        s, i = STAGES.index(stage), before.layout.labels().index(name)
        assert [float(text) for text in (old, new, change, error)] == pytest.approx(
            [before.weights[s, i], after.weights[s, i], expected, 1.96 * after.standard_errors[s, i]], abs=0.051)
    found = json.loads(done("diff", "classic", learned, "--json").out)["largest"]
    assert [(line["parameter"], line["stage"]) for line in found] == [line[:2] for line in supported[:20]]
    assert done("diff", "classic", learned, "--format", "markdown").out.startswith(f"### {title}\n\n| ")


def fewer(learned: Path, path: Path, count: int) -> Path:
    """The same file in which only the largest supported changes are left, and no other number moved."""
    before, after = load_parameters("classic"), load_parameters(learned)
    keep = np.zeros(before.weights.shape, bool)
    for name, stage, _ in supported_ones(before, after)[:count]:
        keep[STAGES.index(stage), before.layout.labels().index(name)] = True
    write_parameters(path, replace(after, weights=np.where(keep, after.weights, before.weights)))
    return path


@pytest.mark.parametrize(("count", "title"), [(1, "the one change that the data support"),
                                              (7, "all 7 changes that the data support")])
def test_fewer_supported_changes_are_all_shown(learned, tmp_path, count, title):
    shown, rows = first_table(done("diff", "classic", fewer(learned, tmp_path / "few.yaml", count)).out)
    assert (shown, len(rows)) == (title, count)


def test_one_sentence_is_printed_if_no_change_is_supported(learned, tmp_path):
    tested = int((load_parameters(learned).standard_errors > 0).sum())
    same = fewer(learned, tmp_path / "same.yaml", 0)
    assert done("diff", "classic", same).out.startswith(
        f"the data support none of the {tested:,} changes: each may be due to chance\n\n")
    after = load_parameters(same)
    write_parameters(same, replace(after, standard_errors=np.zeros_like(after.weights)))
    assert done("diff", "classic", same).out.startswith(
        "no change can be tested: every number was kept constant or is not identified\n\n")
    assert done("diff", "classic", "pesto").out.startswith(
        "the files have no standard errors, so their changes cannot be tested\n\n")
    write_parameters(same, replace(after, standard_errors=None))
    assert done("diff", "classic", same).out.startswith(
        "the learned file has no standard errors, so its changes cannot be tested\n\n")


def test_of_several_files_a_change_names_its_file(learned, tmp_path):
    other = written(tmp_path / "other.yaml", 4)
    before, files = load_parameters("classic"), [load_parameters(path) for path in (learned, other)]
    supported = sorted((size for p in files for *_, size in supported_ones(before, p)), key=lambda size: -abs(size))
    _, rows = first_table(done("diff", "classic", learned, other).out)
    assert {row[2] for row in rows} == {"B", "C"} and all(row[1].endswith(",") for row in rows)
    # the test is over the numbers of both files, so it may support a few others
    assert float(rows[0][5]) == pytest.approx(supported[0], abs=0.051)
    assert [abs(float(row[5])) for row in rows] == sorted((abs(float(row[5])) for row in rows), reverse=True)


def test_signs_have_colours_in_a_terminal_alone_and_not_with_no_color(learned):
    shown = in_terminal("diff", "classic", learned, "--all", columns=160)
    signs = re.findall(r"(\x1b\[3[12]m)([+-]\d[\d.]*)", shown.out)
    assert len(signs) > 40 and all(colour == (GREEN if text[0] == "+" else RED) for colour, text in signs)
    plain = done("diff", "classic", learned, "--all").out
    assert "\x1b" not in plain
    assert [line.rstrip() for line in shown.screen.splitlines()] == [line.rstrip() for line in plain.splitlines()]
    colourless = in_terminal("diff", "classic", learned, "--all", columns=160, NO_COLOR="1").out
    assert GREEN not in colourless and RED not in colourless and not re.search(r"\x1b\[[0-9;]*3[0-7]m", colourless)


def test_numbers_that_are_not_centipawns_have_their_unit(tmp_path):
    p = load_parameters("modern")
    write_parameters(tmp_path / "moved.yaml", p.with_weights(p.weights + 7))
    text = done("diff", "modern", tmp_path / "moved.yaml", "--least", 0).out
    assert re.search(r"late_scale\.rook_ending %  +", text) and "king_danger.base %" not in text
    assert re.search(r"space\.tempo  +", text)


@pytest.mark.parametrize("options", [(), ("--format", "markdown")])
def test_the_rest_is_counted_and_shown_with_all(learned, options):
    brief, whole = (done("diff", "classic", learned, *options, *more).out for more in ((), ("--all",)))
    *shown, last = brief.splitlines()
    assert whole.splitlines()[:len(shown)] == shown and 25 < len(shown) < 40
    assert last == f"{len(whole.splitlines()) - len(shown)} more lines: --all"
    assert done("diff", "classic", learned, "--least", 1, *options).out == whole


def test_files_whose_changes_cannot_be_tested_are_shown_whole():
    assert done("diff", "classic", "pesto").out == done("diff", "classic", "pesto", "--all").out


@pytest.mark.long
def test_no_digit_is_cut_in_a_narrow_terminal(tmp_path, monkeypatch):
    """Names are folded; where even that is not enough, the terminal wraps the line."""
    before = load_parameters("classic")
    errors = np.full(before.weights.shape, 123.45)
    for name, move in (("one.yaml", 1122.2), ("two.yaml", -2122.2)):
        moved = before.with_weights(before.weights + move, standard_errors=errors)
        write_parameters(tmp_path / name, moved)
    for files in (("classic", tmp_path / "one.yaml"), (tmp_path / "one.yaml", tmp_path / "two.yaml"),
                  ("classic", tmp_path / "one.yaml", tmp_path / "two.yaml")):
        wide, narrow = (in_terminal("diff", *files, "--all", columns=columns).screen for columns in (200, 60))
        assert "…" not in narrow
        assert sorted(re.findall(r"[+-]?\d{3,}\.\d\*?", narrow)) == sorted(re.findall(r"[+-]?\d{3,}\.\d\*?", wide))
