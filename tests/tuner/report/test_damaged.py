"""Run folders that something has damaged: every part of every file, with a value of every wrong
type, is one line or a page."""

import json
import re

import pytest

from games.streams import InputError
from tests.support import refusal
from tests.tuner.core.support import execute, put, read_records
from tests.tuner.report.support import findings, match_run, selfplay_run, tune_run
from tuner.play.match.journal import PairLine, read_pairs
from tuner.report.page import page_of, render
from tuner.report.run import FINDINGS, LINES, read_findings, read_run

SIGNED = ("objective", "held_out", "values", "outcomes")
WRONG = (True, -7, 10**30, float("nan"), "x", [], [None], [[1]], {}, {"a": None})


def places(data, path=()):
    """Every place of plain data but its root; of a list the first."""
    if path:
        yield path
    if isinstance(data, dict):
        for key in data:
            yield from places(data[key], (*path, key))
    elif data and isinstance(data, list):
        yield from places(data[0], (*path, 0))


def changed(data, path, value):
    copy = json.loads(json.dumps(data))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return copy


def one_line(read) -> bool:
    """Whether it was refused, in one line that is not too long."""
    try:
        read()
    except InputError as problem:
        assert "\n" not in str(problem) and len(str(problem)) < 400
        return True
    return False


@pytest.mark.long
def test_findings_of_a_wrong_type_are_refused_or_shown(tmp_path):
    """Values that pass are drawn: a page of all of them, for each kind of wrong value."""
    folder = tune_run(tmp_path / "run", "tictactoe/classic", findings())
    whole = findings()
    refused = 0
    for value in WRONG:
        passed = whole
        for path in places(whole):
            put(folder, FINDINGS, changed(whole, path, value))
            if one_line(lambda: read_findings(folder)):
                refused += 1
            else:
                try:
                    passed = changed(passed, path, value)
                except (KeyError, IndexError, TypeError):  # a part of what is replaced already
                    continue
        put(folder, FINDINGS, passed)
        one_line(lambda: render(page_of(read_run(folder, []))))
    assert refused > 700


@pytest.mark.parametrize("kind", ["tune", "selfplay", "match"])
def test_histories_of_a_wrong_type_are_refused_by_line(tmp_path, kind):
    folder = {
        "tune": lambda path: tune_run(path, "tictactoe/classic", findings()),
        "selfplay": selfplay_run,
        "match": lambda path: match_run(path, [(1, 0)] * 4),
    }[kind](tmp_path / "run")
    records = [json.dumps(record) for record in read_records(folder)]
    line, shape = json.loads(records[1]), PairLine if kind == "match" else LINES[kind]

    def read(text: str) -> object:
        execute(folder, "UPDATE records SET json = ? WHERE number = 1", text)
        return read_pairs(folder, 1) if kind == "match" else read_run(folder, [])

    for at in places(line):
        if at[0] not in shape.__dataclass_fields__:
            continue
        for value in (*WRONG, None):
            text = json.dumps(changed(line, at, value))
            if not one_line(lambda text=text: read(text)):
                # what may be missing, NaN in a fit, numbers that may be negative, and mappings of
                # any length
                assert (
                    value is None
                    or value != value
                    or value == -7
                    and at[0] in SIGNED
                    or (at == ("values",) and isinstance(value, dict))
                    or value == "x"
                    and at[0] in ("ends", "reasons")
                ), (at, value)
    for text in ("[" * 100_000, "null", "nan", '{"a": 1}', ""):
        assert re.search(r"run\.db: result 1: (damaged|lacks)", refusal(read, text))
