"""What is compiled together is named by a hash of its sources: a source that is missing from the list would leave old machine
code running."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from games import hashset, jit
from games.backgammon import unit as backgammon
from games.chess import unit as chess
from games.shogi import unit as shogi
from games.tictactoe import unit as tictactoe
from tests.games.support import REPOSITORY
from tuner import unit as tuner
from tuner.networks import unit as networks

UNITS = {"games": hashset, "chess": chess, "shogi": shogi, "backgammon": backgammon, "tictactoe": tictactoe,
         "tuner": tuner, "networks": networks}
# hold no compiled function, and no number that one is compiled with
NOT_COMPILED = {"games/streams.py", "games/record.py", "games/contest.py", "games/cache.py", "games/compile_notice.py",
                "tuner/parallel.py", "tuner/datasets/dataset.py", "tuner/datasets/ranges.py"}
LAYERS = ("games", "evalterms", "tuner")


def imported(path: Path) -> set[str]:
    """The project's modules that a module imports, as paths."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in LAYERS:
            for alias in node.names:
                inside = Path(*node.module.split("."), f"{alias.name}.py")
                found.add(inside if (REPOSITORY / inside).is_file() else Path(*node.module.split(".")).with_suffix(".py"))
    return {path.as_posix() for path in found}


@pytest.mark.parametrize("name", UNITS)
def test_sources_of_a_unit_are_closed_under_imports(name):
    listed = {path.relative_to(REPOSITORY).as_posix() for path in UNITS[name].SOURCES}
    assert all((REPOSITORY / path).is_file() for path in listed)
    assert {path for source in listed for path in imported(REPOSITORY / source)} - listed <= NOT_COMPILED


def test_everything_that_is_compiled_is_listed():
    """Modules that decorate functions import `inner` or `entry` of a unit, or the compiler itself."""
    listed = {path.relative_to(REPOSITORY).as_posix() for unit in UNITS.values() for path in unit.SOURCES}
    compilers = {"games/jit.py", "games/compiler.py", "games/intrinsics.py", "games/backgammon/unit.py", "games/chess/unit.py",
                 "games/shogi/unit.py", "games/tictactoe/unit.py", "tuner/unit.py", "tuner/networks/unit.py"}
    users = {path.relative_to(REPOSITORY).as_posix() for layer in LAYERS for path in (REPOSITORY / layer).rglob("*.py")
             if compilers & imported(path)}
    # not compiled, or named by the composition that they are compiled into
    others = {path for path in users - listed if not path.startswith("evalterms/")}
    assert others == set(), others


@pytest.mark.parametrize("path", sorted(NOT_COMPILED))
def test_what_is_left_out_holds_nothing_compiled(path):
    assert not {"games/jit.py", "games/compiler.py", "games/intrinsics.py"} & imported(REPOSITORY / path)


def test_sources_lie_in_the_project():
    assert jit.ROOT == REPOSITORY
