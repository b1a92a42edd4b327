"""The pages of docs, CONVENTIONS and the README name files and options that exist, and their examples run."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import textwrap
from pathlib import Path

import pytest

import tuner
from tests.games.support import REPOSITORY
from tuner.cli import COMMANDS, make_parser
from tuner.engine.loading import load_engine, parameter_path
from tuner.parameters.reader import KEYS, read_parameters

PAGES = [REPOSITORY / name for name in ("README.md", "CONVENTIONS.md", "CONTRIBUTING.md")] + sorted(
    (REPOSITORY / "docs").glob("*.md"))
FOLDERS = {path.name for path in REPOSITORY.iterdir() if path.is_dir()} - {".venv", "build"}
EVERY = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
PYTHON = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")


def blocks(page: Path) -> list[str]:
    """The indented blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)]


@EVERY
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


@EVERY
def test_every_path_in_code_marks_exists(page):
    """A path begins with a folder of the repository, or is one of its files; globs match something."""
    named = re.findall(r"`([\w./*-]+)`", page.read_text(encoding="utf-8"))
    paths = [name for name in named if name.partition("/")[0] in FOLDERS and "/" in name or name.endswith((".cfg", ".toml"))]
    # commands are shown with games and parameters that readers have
    assert [path for path in paths if not list(REPOSITORY.glob(path.rstrip("/")))
            and not (REPOSITORY / "params" / f"{path}.yaml").is_file() and path != "games/*.pgn.zst"] == []


@EVERY
def test_every_module_named_exists(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(?:python -m )?((?:tuner|games|evalterms|tests)(?:\.(?!pgn)[a-z_]+)+)`", text)
    places = [REPOSITORY.joinpath(*name.split(".")) for name in named if name.removeprefix("tuner.") not in tuner.__all__]
    assert [place for place in places if not place.is_dir() and not place.with_suffix(".py").is_file()] == []


@EVERY
def test_every_command_shown_is_understood(page):
    """Lines of blocks, and marks in the text that begin with `tuner COMMAND`."""
    text = page.read_text(encoding="utf-8")
    marked = re.findall(r"`tuner ([^`]+)`", text)
    lines = [line for block in blocks(page) for line in re.findall(r"^(?:\$ )?tuner (.*)", block, re.MULTILINE)]
    parser, commands = make_parser(COMMANDS)
    for line in [*lines, *marked]:
        words = shlex.split(line, comments=True)
        if words[0] == "COMMAND":
            continue
        assert words[0] in COMMANDS, line
        commands[words[0]].require_known_options(words[1:])
        if line in lines:
            parser.parse_args(words)


@EVERY
def test_every_option_named_is_one_of_a_command(page):
    named = set(re.findall(r"`(--[a-z][a-z-]+)", page.read_text(encoding="utf-8"))) - {"--resolution"}
    _, commands = make_parser(COMMANDS)
    known = {option for command in commands.values() for option in command._option_string_actions}
    assert named - known == set()


def test_the_page_of_the_python_api_is_true(tmp_path, monkeypatch, small_pgn):
    monkeypatch.chdir(tmp_path)
    shutil.copy(small_pgn, "games.pgn")
    failed, tried = doctest.testfile(str(REPOSITORY / "docs" / "python.md"), module_relative=False)
    assert tried > 20 and failed == 0


def test_the_page_of_the_python_api_shows_every_public_name():
    shown = " ".join(re.findall(r"^## .*", PYTHON, re.MULTILINE))
    assert [name for name in tuner.__all__ if f"`{name}`" not in shown] == []
    code = "\n".join(re.findall(r"^    >>> (.*)", PYTHON, re.MULTILINE))
    functions = [name for name in tuner.__all__ if name[0].islower()]
    assert [name for name in functions if f"tuner.{name}(" not in code] == []


def test_a_parameter_file_may_have_what_the_page_shows(tmp_path):
    (example,) = [block for block in blocks(REPOSITORY / "docs" / "your-own-evaluation.md") if "game: chess" in block]
    options = example[example.index("fixed:"):]
    path = tmp_path / "my.yaml"
    path.write_text(parameter_path("classic", "chess").read_text() + options)
    parameters = read_parameters(path, load_engine("classic")[0].layout, "chess")
    assert (len(parameters.fixed), len(parameters.bounds), len(parameters.prior)) == (1, 1, 1)


def test_the_page_of_formats_lists_every_key_and_every_array():
    from tuner.datasets.format import ARRAYS

    text = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = "\n".join(re.findall(r"^\| `.*", text, re.MULTILINE))
    assert [key for key in (*KEYS, *ARRAYS) if f"`{key}`" not in rows] == []
