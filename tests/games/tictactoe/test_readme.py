"""The examples of the tutorial for adding a game."""

import doctest
from pathlib import Path


def test_the_examples_of_the_tutorial_are_true():
    failed, tried = doctest.testfile(
        str(Path(__file__).resolve().parents[3] / "games" / "README.md"), module_relative=False
    )
    assert tried > 5
    assert failed == 0
