"""Types of values: what each accepts, and one sentence for what it does not, wherever the value
comes from."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pytest

import tuner
from games.streams import InputError
from tests.commands.support import done, refused
from tests.commands.support import tuner as run
from tests.support import refusal
from tests.tuner.core.support import change_settings
from tests.tuner.improve.support import write_engine
from tuner.core import records
from tuner.core.records import Settings, convert, convert_fields, make, parse, to_json
from tuner.improve.plan import read_plan

NONE = "games is 0, expected a whole number of 1 or more"


def test_the_same_sentence_wherever_a_value_comes_from(tmp_path):
    done("games", "classic", "--games", 2, "--depth", 1, "--run", tmp_path / "run")
    change_settings(tmp_path / "run", games=0)
    plan = write_engine(tmp_path / "engine", games=0, match={})
    said = refusal(read_plan, plan)
    assert said.startswith(f"{plan}:") and said.endswith(NONE)
    said = refusal(tuner.play_games, "classic", tmp_path / "new", games=0)
    assert said == f"play_games: {NONE}"
    assert refused("games", "classic", "--run", tmp_path / "new", "--games", 0) == (
        f"tuner games: {NONE}; see tuner games --help"
    )
    assert refused("games", "--resume", tmp_path / "run") == (
        f"tuner: {tmp_path / 'run' / 'run.db'}: settings: {NONE}; if another version of tuner began"
        " this run, start another with --run"
    )
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("kind", "accepted", "rejected"),
    [
        (records.Count, [0, 7, 10**15], [-1, 1.0, True, "1", None, 10**15 + 1]),
        (records.PositiveCount, [1], [0, -1]),
        (records.Positive, [1, 0.5, 1e300], [0, -1, math.nan, math.inf, "1"]),
        (records.Unit, [0, 1, 0.5], [-0.1, 1.1, math.nan]),
        (records.Share, [0, 0.99], [1, -0.1]),
        (records.Number, [-3, 2.5, 10**15], [math.nan, math.inf, 1e16, True, "3", [3]]),
        (records.Amount, [0, 2.5], [-1, math.nan]),
        (records.Scalar, [3, 2.5, "three"], [None, [3], math.nan]),
        (records.whole(2, 5), [2, 5], [1, 6]),
        (records.between(0, 1, "0.5"), [0.5], [0, 1, math.nan]),
        (Literal["a", "b"], ["a"], ["c", "", 1, "\udce4"]),
    ],
    ids=lambda value: str(value)[:20],
)
def test_types_accept_their_values_alone(kind, accepted, rejected):
    for value in accepted:
        assert convert(value, kind, "there") == value
    for value in rejected:
        with pytest.raises(InputError, match="^there: n is .*, expected ") as problem:
            convert(value, kind, "there", "n")
        assert "\n" not in str(problem.value)


def test_whole_numbers_stay_whole():
    assert [type(convert(value, records.Number, "")) for value in (3, 3.0)] == [int, float]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", records.Count, 3),
        ("3", records.Positive, 3.0),
        ("1e3", records.Positive, 1000.0),
        ("3", str, "3"),
        ("x", records.Number | str, "x"),
    ],
)
def test_words_of_the_command_line_are_values(text, kind, value):
    assert parse(text, kind, "n") == value


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("x", records.Count, 'n is "x", expected a whole number of 0 or more'),
        ("1.5", records.Count, "n is 1.5, expected a whole number of 0 or more"),
        ("9" * 30, records.Count, f"n is {'9' * 30}, expected at most 1,000,000,000,000,000"),
        ("nan", records.Positive, "n is NaN, expected a positive number"),
        ("2", records.Unit, "n is 2, expected a number from 0 to 1, such as 0.7"),
    ],
)
def test_words_that_are_no_value_are_named(text, kind, said):
    assert refusal(parse, text, kind, "n") == said


@dataclass(frozen=True)
class Inner:
    number: records.Number
    texts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outer:
    inner: Inner | None = None
    by_name: dict[str, Inner] = field(default_factory=dict)
    pair: tuple[records.Count, records.Count] | None = None
    several: Annotated[list[int], records.Meta(max_length=2, description="at most two")] = field(
        default_factory=list
    )
    said: str | None = records.optional()


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ([], "there: it is a list of 0, expected an object"),
        ({"inner": {}}, "there: inner lacks 'number'"),
        ({"inner": 3}, "there: inner is 3, expected an object"),
        ({"inner": {"number": 1, "texts": ["a", 2]}}, "inner.texts[1] is 2, expected a text"),
        ({"by_name": {"x": {"number": "a"}}}, 'by_name.x.number is "a", expected a number'),
        ({"by_name": {"x\ny": 3}}, "by_name.x\\ny is 3, expected an object"),
        ({"pair": [1]}, "pair is a list of 1, expected a list of 2 items"),
        ({"pair": [1, -1]}, "pair[1] is -1, expected a whole number of 0 or more"),
        ({"several": [1, 2, 3]}, "several is a list of 3, expected at most two"),
        ({"several": [1, None]}, "several[1] is null, expected a whole number"),
        ({"said": "x" * 100, "inner": "y" * 100}, 'inner is "' + "y" * 39 + ", expected an object"),
    ],
)
def test_the_place_of_a_fault_is_named(plain, said):
    assert said in refusal(convert, plain, Outer, "there")


def test_records_are_written_as_they_are_read():
    outer = Outer(Inner(2, ["a"]), {"x": Inner(1.5)}, (1, 2))
    plain = to_json(outer)
    assert "said" not in plain and convert(plain, Outer, "") == outer
    assert convert({**plain, "unknown": 1}, Outer, "") == outer


@dataclass(frozen=True, kw_only=True)
class Chosen(Settings):
    depth: records.Count | None = 3
    path: str | Path | None = None
    games: records.PositiveCount = None  # known once the run begins
    method: Annotated[str, records.KeysOf("tests.tuner.core.test_records", "TABLE", "auto")] = "one"

    def faults(self):
        if self.depth is None and self.path is None:
            yield "depth and path are both null, expected one of them"


TABLE = {"one": 1, "two": 2}


def test_settings_are_made_of_values_that_go_together():
    assert make(Chosen, {"path": Path("x"), "depth": None}).path == Path("x")
    assert make(Chosen, {"games": None}).games is None
    assert make(Chosen, {"method": "auto"}).plain == {"depth": 3, "method": "auto"}
    assert make(Chosen, {"depth": None, "path": "x"}).plain["depth"] is None
    for given, said in (
        ({"games": 0}, NONE),
        ({"method": "three"}, 'method is "three", expected one of one, two, auto'),
        ({"depth": None}, "depth and path are both null, expected one of them"),
        ({"path": 3}, "path is 3, expected a text"),
    ):
        assert refusal(make, Chosen, given, "there") == f"there: {said}"
    assert convert_fields({"path": "a\udce4"}, Chosen) == {"path": "a\udce4"}


def test_names_that_are_no_utf_8_are_names(tmp_path):
    name = tmp_path / "na\udce4me.yaml"
    ran = run("match", name, "classic", "--option-a", "a\udce4=b", "--name-a", "\udce4")
    assert ran.status == 2 and "no such file" in ran.err and ran.err.count("\n") == 1
