"""What is compiled together is named by a hash of its sources: a source that is missing from the
list would leave old machine code running."""

import ast
from pathlib import Path

import pytest

from games.backgammon import rules as backgammon
from games.chess import rules as chess
from games.compile import hashset
from games.shogi import rules as shogi
from games.tictactoe import rules as tictactoe
from tests.games.support import REPOSITORY
from tuner import unit as tuner
from tuner.evaluation.networks import compiled as networks

UNITS = {
    "games": hashset,
    "chess": chess,
    "shogi": shogi,
    "backgammon": backgammon,
    "tictactoe": tictactoe,
    "tuner": tuner,
    "networks": networks,
}
# hold no compiled function, and no number that one is compiled with
NOT_COMPILED = {
    "games/streams.py",
    "games/record.py",
    "games/reading.py",
    "games/system.py",
    "games/compile/cache.py",
    *(f"games/chess/files/{name}.py" for name in ("content", "labels")),
    *(f"games/shogi/files/{name}.py" for name in ("csa", "gamefile", "kif")),
    "games/backgammon/files/notation.py",
    "tuner/core/text.py",
    "tuner/parallel.py",
    "tuner/parameters/parameters.py",
    "tuner/datasets/dataset.py",
    "tuner/datasets/rows/values.py",
    "tuner/fit/device/base.py",
    "evalterms/framework/encoding.py",
}
LAYERS = ("games", "evalterms", "tuner")
COMPILERS = ("games.compile.jit", "games.compile.compiler")


def imported(path: Path) -> set[str]:
    """The project's modules that a module imports, as paths."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in LAYERS:
            for alias in node.names:
                package = Path(*node.module.split("."))
                inside, module = package / f"{alias.name}.py", package.with_suffix(".py")
                found.add(
                    next(
                        path
                        for path in (inside, module, package / "__init__.py")
                        if (REPOSITORY / path).is_file()
                    )
                )
    return {path.as_posix() for path in found}


@pytest.mark.parametrize("name", UNITS)
def test_sources_of_a_unit_are_closed_under_imports(name):
    listed = {path.relative_to(REPOSITORY).as_posix() for path in UNITS[name].SOURCES}
    assert all((REPOSITORY / path).is_file() for path in listed)
    assert {
        path for source in listed for path in imported(REPOSITORY / source)
    } - listed <= NOT_COMPILED


def decorates(path: Path) -> bool:
    """Whether a module has functions of a unit, or is a part of the compiler."""
    imports = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    ]
    return any(
        alias.name in ("inner", "entry") or f"{node.module}.{alias.name}".startswith(COMPILERS)
        for node in imports
        for alias in node.names
    )


def test_everything_that_is_compiled_is_listed():
    """Modules that decorate functions import `inner` or `entry` of a unit, or the compiler
    itself."""
    listed = {
        path.relative_to(REPOSITORY).as_posix() for unit in UNITS.values() for path in unit.SOURCES
    }
    users = {
        path.relative_to(REPOSITORY).as_posix()
        for layer in LAYERS
        for path in (REPOSITORY / layer).rglob("*.py")
        if decorates(path)
    }
    # not compiled, or named by the composition that they are compiled into
    others = {path for path in users - listed if not path.startswith("evalterms/")}
    assert others == set(), others


@pytest.mark.parametrize("path", sorted(NOT_COMPILED))
def test_what_is_left_out_holds_nothing_compiled(path):
    assert not decorates(REPOSITORY / path)
