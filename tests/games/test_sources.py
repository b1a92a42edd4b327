"""What the sources may import: only back along games, evalterms, tuner; and no other program's chess outside tests."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.games.support import REPOSITORY

LAYERS = ["games", "evalterms", "tuner", "tests"]
# what makes the samples with Stockfish, and what measures us against python-chess
SCRIPTS = {Path("games/samples/make_games.py"), Path("games/chess/bench.py")}
# speak to engines, and draw boards, through python-chess
THROUGH = {*(Path(f"games/chess/contest/{name}.py") for name in ("players", "guarded")), Path("games/chess/picture.py")}
SOURCES = [path.relative_to(REPOSITORY) for layer in LAYERS[:3] for path in sorted((REPOSITORY / layer).rglob("*.py"))]
PACKAGES = {"games": {"numba", "numpy", "llvmlite", "zstandard"}, "evalterms": {"numba", "numpy", "llvmlite"}}


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules that a source imports, at whatever depth."""
    for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_imports_only_look_back(path):
    later = LAYERS[LAYERS.index(path.parts[0]) + 1:]
    assert not [name for name in imported(path) if name.split(".")[0] in later]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_the_core_of_a_layer_knows_no_game(path):
    """What does not lie in a game's own folder finds games by name; a game knows no other."""
    games = [folder.name for folder in (REPOSITORY / "games").iterdir() if (folder / "game.py").is_file()]
    own = path.parts[1] if path.parts[0] != "tuner" else ""
    assert not [name for name in imported(path) for game in games
                if game != own and name.split(".")[:2] in (["games", game], ["evalterms", game])]


@pytest.mark.parametrize("path", [path for path in SOURCES if path not in SCRIPTS | THROUGH], ids=str)
def test_nothing_of_python_chess_is_imported_outside_tests(path):
    assert "chess" not in {name.split(".")[0] for name in imported(path)}


@pytest.mark.parametrize("path", [path for path in SOURCES if path.parts[0] in PACKAGES and path not in SCRIPTS | THROUGH],
                         ids=str)
def test_games_and_terms_need_few_packages(path):
    others = {name.split(".")[0] for name in imported(path)} - set(LAYERS) - set(sys.stdlib_module_names)
    assert others <= PACKAGES[path.parts[0]]
