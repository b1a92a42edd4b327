"""The README shows what the commands print, names every command, and is short."""

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands.support import done
from tests.games.support import REPOSITORY
from tuner.cli import COMMANDS
from tuner.evaluation.loading import load_parameters
from tuner.parameters.writer import write_parameters

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^    \$ tuner (\w+) .*\n((?:    .*\n)+)", README, re.MULTILINE)
MOST = 6000  # bytes
ELLIPSIS = "…"


def shape_of(line: str) -> str:
    """A line without its numbers, stars and spacing."""
    return re.sub(r"[+-]?(\d+([.,]\d+)*|inf|nan)", "#", " ".join(line.replace("*", "").split()))


@pytest.fixture(scope="module")
def printed(small_pgn, tmp_path_factory) -> dict[str, str]:
    """What the commands of the README print for fewer games."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("readme"))
        tune = done(
            "tune", "classic", small_pgn, "-o", "learned.yaml", "--depth", 1, "--per-game", 40
        )
        match = done("match", "learned.yaml", "classic", "--depth", 1, "--games", 20)
        # as if of a hundred times as many games: more than 20 changes are supported
        learned = load_parameters("learned.yaml")
        write_parameters(
            Path("learned.yaml"), replace(learned, standard_errors=learned.standard_errors / 10)
        )
        return {
            "tune": tune.err + tune.out,
            "diff": done("diff", "classic", "learned.yaml").out,
            "match": match.out,
        }


def test_the_readme_is_short():
    assert len(README.encode()) <= MOST


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_output_shown_is_that_of_the_commands(command, shown, printed):
    """Line by line, but for the numbers, which are those of all bundled games, and the names of the
    largest changes."""
    shapes = {shape_of(line) for line in printed[command].splitlines()}
    lines = [line for line in textwrap.dedent(shown).splitlines() if line.strip() != ELLIPSIS]
    assert len(lines) > 3
    missing = [line for line in lines if shape_of(line) not in shapes]
    parameters = re.compile(r"[a-z_]+\.[a-z_]+(\[\d\])* (mg|eg) ( +[+-]?[\d.]+){4}")
    assert [
        line for line in missing if not (command == "diff" and parameters.fullmatch(line))
    ] == []


def test_the_three_commands_are_shown():
    assert [command for command, _ in SHOWN] == ["tune", "diff", "match"]


def test_the_readme_names_every_command():
    assert set(re.findall(r"^\| `tuner (\w+)` \|", README, re.MULTILINE)) == set(COMMANDS)


def test_its_picture_is_small_enough_for_a_page():
    (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", README)
    content = Path(REPOSITORY / picture).read_bytes()
    assert content.startswith(b"\x89PNG") and len(content) < 150_000


def test_the_first_commands_are_those_of_make():
    install = README.partition("## Install\n\n")[2]
    assert install.startswith("    make tune\n    make test\n\n")
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^(\w+): .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    commands = dict(targets)
    assert "tuner tune classic samples -o learned.yaml" in commands["tune"]
    assert "tuner diff classic learned.yaml" in commands["tune"]
    assert commands["test"].endswith("\t$(PYTEST)\n")
