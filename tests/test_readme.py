"""What the README shows works as shown."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tuner.cli import COMMANDS
from tuner.engine.loading import load_engine, parameter_path
from tuner.parameters.reader import read_parameters

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = [textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", README, re.MULTILINE)]


def test_the_python_of_the_readme_runs():
    (code,) = [block for block in BLOCKS if "import load_engine" in block]
    for name, call in (("one", "engine.evaluate("), ("many", "engine.evaluate_many(")):
        assert code.count(call) == 1
        code = code.replace(call, f"{name} = {call}")
    space = {}
    exec(code, space)
    assert space["one"].shape == space["many"].shape == (1,)


def test_what_the_readme_says_a_parameter_file_may_hold_is_accepted(tmp_path):
    (example,) = [block for block in BLOCKS if "game: chess" in block]
    options = example[example.index("fixed:"):]
    path = tmp_path / "my.yaml"
    path.write_text(parameter_path("classic", "chess").read_text() + options)
    parameters = read_parameters(path, load_engine("classic")[0].layout, "chess")
    assert (len(parameters.fixed), len(parameters.bounds), len(parameters.prior)) == (1, 1, 1)


def test_the_readme_names_every_command():
    assert set(re.findall(r"^\| `tuner (\w+)", README, re.MULTILINE)) == set(COMMANDS)
