"""What the sources may import: only what stands above them in one list; and no other program's
chess outside tests."""

import ast
import functools
import sys
from collections.abc import Callable, Collection, Iterable
from graphlib import TopologicalSorter
from pathlib import Path

from tests.games.support import REPOSITORY

# A room imports from those before it. Rooms of one line do not know each other.
ROOMS = [
    ["games"],
    ["evalterms"],
    ["tuner.version", "tuner.core", "tuner.parallel", "tuner.unit"],
    ["tuner.statistics"],
    ["tuner.objectives", "tuner.io"],
    ["tuner.options"],
    ["tuner.results"],
    ["tuner.cluster", "tuner.parameters"],
    ["tuner.datasets", "tuner.export"],
    ["tuner.fit", "tuner.trace"],
    ["tuner.evaluation"],
    ["tuner.play"],
    ["tuner.findings"],
    ["tuner.learn"],
    ["tuner.measured", "tuner.report"],
    ["tuner.network", "tuner.improve", "tuner.optimize"],
    ["tuner.commands"],
    ["tuner.cli"],
    ["tuner.api", "tuner.__main__"],
    ["tests"],
]
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}
LAYERS = ["games", "evalterms", "tuner"]
COMMAND_LINE = {Path("tuner/cli.py"), Path("tuner/__main__.py")}
# speak to engines, read tables of endings and books, and draw boards through python-chess
THROUGH = {
    *(Path(f"games/chess/engines/{name}.py") for name in ("xboard", "endings", "openings")),
    Path("games/chess/files/suite.py"),
    Path("games/chess/game.py"),
}
SOURCES = [
    path.relative_to(REPOSITORY)
    for layer in LAYERS
    for path in sorted((REPOSITORY / layer).rglob("*.py"))
]
PACKAGES = {
    "games": {"numba", "numpy", "llvmlite", "zstandard"},
    "evalterms": {"numba", "numpy", "llvmlite"},
}


def tree_of(path: Path) -> ast.Module:
    return ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))


@functools.cache
def imported(path: Path) -> frozenset[str]:
    """Full names of all modules that a source imports, at whatever depth."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return frozenset(found)


def room_of(module: str) -> str:
    """`tuner.fit` for `tuner.fit.problem`; the package itself is nobody's room."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "tuner" else parts[0]


def offences(
    sources: Iterable[Path], found_in: Callable[[Path], Collection[str]]
) -> dict[str, Collection[str]]:
    """What is wrong with each source that anything is wrong with."""
    return {str(path): found for path in sources if (found := found_in(path))}


def test_imports_only_look_down():
    rooms = {
        path: room_of(".".join(path.with_suffix("").parts))
        for path in SOURCES
        if path != Path("tuner/__init__.py")
    }
    assert {room for room in rooms.values() if room not in FLOOR} == set()  # in no line of ROOMS

    def not_below(path: Path) -> set[str]:
        others = {room_of(name) for name in imported(path)} & FLOOR.keys() - {rooms[path]}
        return {other for other in others if FLOOR[other] >= FLOOR[rooms[path]]}

    assert offences(rooms, not_below) == {}


def test_pages_are_made_of_findings_and_results():
    def of_learning(path: Path) -> set[str]:
        return {room_of(name) for name in imported(path)} & {
            "tuner.fit",
            "tuner.learn",
            "tuner.play",
        }

    pages = [path for path in SOURCES if path.is_relative_to("tuner/report")]
    assert pages
    assert offences(pages, of_learning) == {}


def test_there_is_no_import_circle():
    """Not even one that an import within a function hides."""
    modules = {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES
    }
    needs = {}
    for module, path in modules.items():
        names = set(imported(path))
        # `from package import module` names both: the package is needed for its own names only
        inside = {name for name in names if name in modules}
        needs[module] = {
            name for name in inside if not any(other.startswith(f"{name}.") for other in inside)
        } - {module}
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle


def test_library_code_owns_no_terminal():
    """It is given callbacks, consoles and the text of the command; what runs as a script of its own
    may print."""

    def uses(path: Path) -> list[str]:
        tree = tree_of(path)
        scripts = {
            id(inner)
            for node in tree.body
            if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
            for inner in ast.walk(node)
        }
        return [
            ast.unparse(node)
            for node in ast.walk(tree)
            if id(node) not in scripts
            and (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("print", "input")
                or isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and ast.unparse(node) in ("sys.argv", "sys.stdin", "sys.stdout", "sys.stderr")
            )
        ]

    library = [
        path
        for path in SOURCES
        if path.parts[0] == "tuner" and path not in COMMAND_LINE and path.parts[1] != "commands"
    ]
    assert offences(library, uses) == {}


def test_the_core_of_a_layer_knows_no_game():
    """What does not lie in a game's own folder finds games by name; a game knows no other."""
    games = [
        folder.name for folder in (REPOSITORY / "games").iterdir() if (folder / "game.py").is_file()
    ]

    def others(path: Path) -> list[str]:
        own = path.parts[1] if path.parts[0] != "tuner" else ""
        return [
            name
            for name in imported(path)
            for game in games
            if game != own and name.split(".")[:2] in (["games", game], ["evalterms", game])
        ]

    assert len(games) > 2 and offences(SOURCES, others) == {}


def test_nothing_of_python_chess_is_imported_outside_tests():
    assert [
        str(path)
        for path in SOURCES
        if path not in THROUGH and "chess" in {name.split(".")[0] for name in imported(path)}
    ] == []


def test_games_and_terms_need_few_packages():
    def others(path: Path) -> set[str]:
        return (
            {name.split(".")[0] for name in imported(path)}
            - {*LAYERS, "tests"}
            - set(sys.stdlib_module_names)
            - PACKAGES[path.parts[0]]
        )

    assert (
        offences(
            [path for path in SOURCES if path.parts[0] in PACKAGES and path not in THROUGH],
            others,
        )
        == {}
    )
