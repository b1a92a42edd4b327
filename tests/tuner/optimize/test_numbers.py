"""Files of numbers to optimize: lines of OpenBench, JSON of weather-factory, and what is wrong with
others; and how whole numbers are rounded."""

import re

import numpy as np
import pytest

from tests.support import file_with, refusal
from tuner.optimize.numbers import Number, read_numbers, rounded_apart

LINES = """Lmr_Base, int, 77, 1, 200, 12, 0.002
  Razor ,float,0.5,-1,2.5,0.25,0.01

# a comment
Depth, int, -3, -8, 8, 1, 1
"""
JSON = '{"A b": {"value": 5, "min_value": 1, "max_value": 9, "step": 1}, "C": {"value": 0.5, '
JSON += '"min_value": 0, "max_value": 1, "step": 0.1}}'


def read(tmp_path, text):
    path = file_with(tmp_path / "numbers.txt", text if isinstance(text, bytes) else text.encode())
    return read_numbers(path)


def test_lines_of_openbench_are_read(tmp_path):
    assert read(tmp_path, LINES) == (
        Number("Lmr_Base", True, 77, 1, 200, 12, 0.002),
        Number("Razor", False, 0.5, -1, 2.5, 0.25, 0.01),
        Number("Depth", True, -3, -8, 8, 1, 1),
    )


def test_json_of_weather_factory_is_read(tmp_path):
    assert read(tmp_path, JSON) == (
        Number("A b", True, 5, 1, 9, 1, 0.002),
        Number("C", False, 0.5, 0, 1, 0.1, 0.002),
    )


def test_what_is_written_is_read_as_it_was(tmp_path):
    numbers = read(tmp_path, LINES)
    text = "".join(number.line(number.value) + "\n" for number in numbers)
    assert read(tmp_path, text) == numbers


def line(name="A", kind="int", value=5, low=1, high=9, step=1, rate=0.002):
    return f"{name}, {kind}, {value}, {low}, {high}, {step}, {rate}\n"


def json_of(**fields):
    import json

    usual = {"value": 5, "min_value": 1, "max_value": 9, "step": 1}
    return json.dumps({"A": {k: v for k, v in {**usual, **fields}.items() if v is not None}})


BAD = {
    "empty": ("", "has 0 numbers, expected 1 to 1,000"),
    "blank lines": ("\n \n# no number\n", "has 0 numbers"),
    "too many": ("".join(line(f"N{i}") for i in range(1001)), "has 1,001 numbers"),
    "not UTF-8": (b"\xff\xfe, int", "byte 0: not UTF-8"),
    "a zero byte in a number": (line(value="5\0"), ":1: value is '5"),
    "one word": ("nonsense\n", ":1: 1 fields between commas, expected 7"),
    "six fields": ("A, int, 5, 1, 9, 1\n", ":1: 6 fields"),
    "eight fields": (line().strip() + ", 3\n", ":1: 8 fields"),
    "the second line": (line() + "B, int\n", ":2: 2 fields"),
    "semicolons": (line().replace(",", ";"), ":1: 1 fields"),
    "a type": (line(kind="double"), ":1: 'double', expected int or float"),
    "no type": (line(kind=""), ":1: '', expected int or float"),
    "a type in capitals": (line(kind="INT"), ":1: 'INT', expected int or float"),
    "no name": (line(name=""), ":1: the name is empty"),
    "twice": (line() + line(), ":2: A is there twice"),
    "a text as value": (line(value="five"), ":1: value is 'five', expected a number"),
    "no value": (line(value=""), ":1: value is '', expected a number"),
    "a hex value": (line(value="0x5"), ":1: value is '0x5', expected a number"),
    "a text as min": (line(low="low"), ":1: low is 'low', expected a number"),
    "a text as max": (line(high="1o"), ":1: high is '1o', expected a number"),
    "a text as c_end": (line(step="-"), ":1: step is '-', expected a number"),
    "a text as r_end": (line(rate="?"), ":1: rate is '?', expected a number"),
    "nan": (line(value="nan"), ":1: A: expected numbers of at most 1e9"),
    "inf": (line(high="inf"), ":1: A: expected numbers of at most 1e9"),
    "huge": (line(high="1e300"), ":1: A: expected numbers of at most 1e9"),
    "huge digits": (line(high="9" * 400), ":1: A: expected numbers of at most 1e9"),
    "an int with a fraction": (line(value=5.5), ":1: A is an int, but value, min or max is no"),
    "an int with a fraction in min": (line(low=0.5), ":1: A is an int, but value, min or max"),
    "an int with a fraction in max": (line(high=9.5), ":1: A is an int, but value, min or max"),
    "min over max": (line(low=9, high=1), ":1: A: min is 9 and max is 1"),
    "min is max": (line(low=5, high=5), ":1: A: min is 5 and max is 5"),
    "below min": (line(value=0), ":1: A: value is 0, expected a number from 1 to 9"),
    "above max": (line(value=10), ":1: A: value is 10, expected a number from 1 to 9"),
    "no step": (line(step=0), ":1: A: step (c_end) is 0"),
    "a step back": (line(step=-1), ":1: A: step (c_end) is -1"),
    "a step over the range": (line(step=9), ":1: A: step (c_end) is 9"),
    "a step of nothing": (line(step=1e-9), ":1: A: step (c_end) is 1e-09"),
    "no rate": (line(rate=0), ":1: A: rate (r_end) is 0"),
    "a rate back": (line(rate=-0.1), ":1: A: rate (r_end) is -0.1"),
    "a rate over 1": (line(rate=2), ":1: A: rate (r_end) is 2"),
    "control characters": (line(name="A\x1b[2J", value=99), r":1: A\x1b[2J: value is 99"),
    "JSON cut off": ('{"A": ', ":1: not JSON: Expecting value"),
    "JSON and more": (json_of() + "]", ":1: not JSON: Extra data"),
    "JSON cut off later": ('{\n"A": {\n', ":3: not JSON"),
    "JSON without numbers": ("{}", "has 0 numbers"),
    "JSON nested deeply": ("{" + '"a":{' * 100_000, "nested too deeply"),
    "JSON twice": (json_of()[:-1] + ", " + json_of()[1:], ": A is there twice"),
    "a key twice": ('{"A": {"value": 5, "value": 6}}', ": value is there twice"),
    "JSON of a number": ('{"A": 5}', ": A: it is 5, expected an object"),
    "JSON of a list": ('{"A": [5, 1, 9, 1]}', ": A: it is a list of 4, expected an object"),
    "JSON without a step": (json_of(step=None), ": A: lacks 'step'"),
    "JSON with a text": (json_of(value="5"), ': A: value is "5", expected a number'),
    "JSON with true": (json_of(value=True), ": A: value is true, expected a number"),
    "JSON with null": ('{"A": null}', ": A: it is null, expected an object"),
    "JSON with NaN": (json_of(value=float("nan")), ": A: value is NaN, expected a number"),
    "JSON with huge digits": (json_of(max_value=10**400), ": A: max_value is 1000000000"),
    "JSON below min": (json_of(value=0), ": A: A: value is 0, expected a number from 1 to 9"),
    "JSON without a name": (json_of().replace('"A"', '""'), "the name is empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_in_one_line(tmp_path, case):
    text, expected = BAD[case]
    said = refusal(read, tmp_path, text)
    assert said.startswith(str(tmp_path / "numbers.txt")) and expected in said
    assert said.isprintable()


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        assert re.search("none.txt|folder|directory", refusal(read_numbers, path))


WHOLE = (Number("A", True, 5, 1, 9, 1), Number("B", True, 50, 0, 100, 5))


def test_whole_numbers_are_what_was_proposed_on_average():
    a, b = np.array([5.3, 40.25]), np.array([4.1, 61.9])
    draws = np.random.default_rng(1)
    sides = np.array([rounded_apart(WHOLE, a, b, draws) for _ in range(20_000)])
    assert (sides % 1 == 0).all()
    np.testing.assert_allclose(sides.mean(axis=0), [a, b], atol=0.015)


def test_sides_that_are_equal_after_rounding_are_rounded_again():
    a, b = np.array([5.3, 40.0]), np.array([5.1, 40.0])
    draws = np.random.default_rng(1)
    for _ in range(200):
        first, second = rounded_apart(WHOLE, a, b, draws)
        assert (first, second) == ((6.0, 40.0), (5.0, 40.0))


def test_equal_proposals_are_played_as_they_are():
    a = np.array([5.0, 40.0])
    assert rounded_apart(WHOLE, a, a, np.random.default_rng(1)) == ((5.0, 40.0), (5.0, 40.0))


def test_values_keep_the_digits_that_a_step_needs():
    number = Number("A", False, 0.5, 0, 1, 0.01)
    assert number.text(0.123456) == "0.1235" and number.rounded(0.123456) == 0.1235
    assert Number("B", False, 500, 0, 1000, 100).text(123.456) == "123"
    assert WHOLE[0].text(-0.2) == "0"
