"""The page about a loop: every version that was judged, its matches, and damage in one line."""

import pytest

from tests.support import refusal
from tests.tuner.core.support import read_records, write_records, write_settings
from tests.tuner.improve.support import BEST, Commands, improve, write_engine
from tuner.io.run_folder import read_told
from tuner.report.improve import improve_page, read_steps
from tuner.report.page import render


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    result = improve(write_engine(folder, against=["uci:cat"]), folder / "run", Commands())
    return folder / "run", result


def test_every_version_is_on_the_page_with_its_matches(loop):
    run, result = loop
    page, sections = render(improve_page(run))
    assert [section.name for section in sections] == [
        *("rounds", "ratings", "changed", "steps", "repeat")
    ]
    judged = [step for step in result.result["steps"] if step["step"].endswith(" verdict")]
    (rounds,) = (section for section in sections if section.name == "rounds")
    assert len(rounds.data["rows"]) == len(judged) >= 2
    taken = {s["found"]["version"] for s in result.result["steps"] if s["step"] == "taken"}
    assert taken and [row["kept"] for row in rounds.data["rows"]] == [
        step["found"]["version"] in taken for step in judged
    ]
    assert all(row["pace"] > 0 for row in rounds.data["rows"] if row["kept"])
    first = rounds.data["rows"][0]["matches"]
    assert any(text.startswith("the previous version:") for text in first)
    assert any(text.startswith("player 1 of the pool:") for text in first)
    (changed,) = (section for section in sections if section.name == "changed")
    assert changed.data["rows"][0]["name"] == "material.knight"
    assert {row["name"] for row in changed.data["rows"]} <= set(BEST)
    kept = result.result["kept"]
    assert f"{kept.capitalize()}: +" in page and "git apply" in page


@pytest.mark.long
def test_the_page_is_there_while_the_loop_runs(loop, tmp_path):
    run, _ = loop
    steps = read_records(run)
    write_settings(tmp_path, "improve", read_told(run).settings)
    for number in range(1, len(steps)):
        write_records(tmp_path, [steps[number - 1]])
        page, sections = render(improve_page(tmp_path))
        assert [section.name for section in sections][-2:] == ["steps", "repeat"]
        assert len(read_steps(tmp_path)) == number


def test_a_damaged_history_is_one_line(loop, tmp_path):
    run, _ = loop
    write_settings(tmp_path, "improve", read_told(run).settings)
    assert "no step of the loop is done yet" in refusal(improve_page, tmp_path)
    write_records(tmp_path, [read_records(run)[0] | {"seconds": "long"}])
    assert 'seconds is "long", expected a number' in refusal(improve_page, tmp_path)


def test_numbers_that_are_no_weights_are_on_the_page_by_their_reasons(loop, tmp_path):
    run, _ = loop
    write_settings(tmp_path, "improve", read_told(run).settings)
    reasons = {f"king.bonus[{k}]": "changes no evaluation" for k in range(8)}
    reasons["phase.steps"] = "does not act in proportion"
    for step in read_records(run):
        if step["step"] == "rows":
            step["found"] |= {"weights": 4, "left_out": reasons}
        write_records(tmp_path, [step])
    page, sections = render(improve_page(tmp_path))
    (left_out,) = (section for section in sections if section.name == "left_out")
    assert [row["numbers"] for row in left_out.data["rows"]] == [8, 1]
    assert "phase.steps" in page and "king.bonus[5]" in page and "king.bonus[6]" not in page
