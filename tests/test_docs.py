"""The pages of docs, CONVENTIONS and the README name files and options that exist, and their
examples run."""

import doctest
import re
import shlex
import shutil
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tuner
from evalterms.framework.encoding import encodings_of
from games.chess.files.fen import position
from games.record import available
from tests.evalterms.chess.test_counts import played_boards
from tests.games.support import REPOSITORY
from tests.support import file_with
from tests.tuner.evaluation.networks.support import network
from tuner.cli import COMMANDS, make_parser
from tuner.evaluation.loading import load_engine, parameter_path
from tuner.evaluation.networks.evaluation import network_evaluation
from tuner.evaluation.networks.files import NetworkFile, write_network
from tuner.parameters.reader import KEYS, read_parameters

PAGES = [REPOSITORY / name for name in ("README.md", "CONVENTIONS.md", "CONTRIBUTING.md")] + sorted(
    (REPOSITORY / "docs").glob("*.md")
)
FOLDERS = {path.name for path in REPOSITORY.iterdir() if path.is_dir()} - {".venv", "build"}
EVERY = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix()
)
NETWORKS = REPOSITORY / "docs" / "networks.md"
PYTHON = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")


def blocks(page: Path) -> list[str]:
    """The indented blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        textwrap.dedent(block)
        for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
    ]


@EVERY
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


@EVERY
def test_every_path_in_code_marks_exists(page):
    """A path begins with a folder of the repository, or is one of its files; globs match
    something."""
    named = re.findall(r"`([\w./*-]+)`", page.read_text(encoding="utf-8"))
    paths = [
        name
        for name in named
        if name.partition("/")[0] in FOLDERS and "/" in name or name.endswith((".cfg", ".toml"))
    ]
    # commands are shown with games and parameters that readers have
    assert [
        path
        for path in paths
        if not list(REPOSITORY.glob(path.rstrip("/")))
        and not (REPOSITORY / "params" / f"{path}.yaml").is_file()
        and path != "games/*.pgn.zst"
    ] == []


def test_every_source_that_conventions_name_exists():
    text = (REPOSITORY / "CONVENTIONS.md").read_text(encoding="utf-8")
    known = {path.name for path in REPOSITORY.rglob("*.py") if ".venv" not in path.parts}
    named = re.findall(r"`(?:[\w./]*/)?([\w]+\.py)`", text)
    assert len(named) > 40 and [name for name in named if name not in known] == []


@EVERY
def test_every_module_named_exists(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(
        r"`(?:python -m )?((?:tuner|games|evalterms|tests)(?:\.(?!pgn)[a-z_]+)+)`", text
    )
    places = [
        REPOSITORY.joinpath(*name.split("."))
        for name in named
        if name.removeprefix("tuner.") not in tuner.__all__
    ]
    assert [
        place for place in places if not place.is_dir() and not place.with_suffix(".py").is_file()
    ] == []


@EVERY
def test_every_command_shown_is_understood(page):
    """Lines of blocks, and marks in the text that begin with `tuner COMMAND`."""
    text = page.read_text(encoding="utf-8")
    marked = re.findall(r"`tuner ([^`]+)`", text)
    lines = [
        line
        for block in blocks(page)
        for line in re.findall(r"^(?:\$ )?tuner (.*)", block, re.MULTILINE)
    ]
    parser, commands = make_parser(COMMANDS)
    for line in [*lines, *marked]:
        words = shlex.split(line, comments=True)
        if words[0] == "COMMAND":
            continue
        assert words[0] in COMMANDS, line
        commands[words[0]].require_known_options(words[1:])
        if line in lines:
            parser.parse_args(words)


@pytest.mark.parametrize("name", ["backgammon", "networks"])
def test_a_learned_file_is_made_before_it_is_used(name):
    made = set()
    for block in blocks(REPOSITORY / "docs" / f"{name}.md"):
        for line in re.findall(r"^tuner (.*)", block, re.MULTILINE):
            words = shlex.split(line, comments=True)
            output = words.index("-o") + 1 if "-o" in words else None
            read = [
                word
                for k, word in enumerate(words)
                if word.endswith((".yaml", ".csv")) and k != output
            ]
            assert set(read) <= made | {"labels.csv"}, line
            made.add(words[output] if output else None)


@EVERY
def test_every_option_named_is_one_of_a_command(page):
    named = set(re.findall(r"`(--[a-z][a-z-]+)", page.read_text(encoding="utf-8"))) - {
        "--resolution",  # of other programs
        "--quick",
    }
    _, commands = make_parser(COMMANDS)
    known = {option for command in commands.values() for option in command._option_string_actions}
    assert named - known == set()


@pytest.mark.long
def test_the_page_of_the_python_api_is_true(here, small_pgn):
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
    (example,) = [
        block for block in blocks(REPOSITORY / "docs" / "tune.md") if "game: chess" in block
    ]
    options = example[example.index("fixed:") :]
    path = file_with(tmp_path / "my.yaml", parameter_path("classic", "chess").read_text() + options)
    parameters = read_parameters(path, load_engine("classic")[0].layout, "chess")
    assert (len(parameters.fixed), len(parameters.bounds), len(parameters.prior)) == (1, 1, 1)


def test_the_page_of_formats_lists_every_key_and_every_array():
    from tuner.datasets.files import ARRAYS

    text = (REPOSITORY / "docs" / "files.md").read_text(encoding="utf-8")
    rows = "\n".join(re.findall(r"^\| `.*", text, re.MULTILINE))
    assert [key for key in (*KEYS, *ARRAYS) if f"`{key}`" not in rows] == []


@pytest.fixture(scope="module")
def by_the_page() -> dict:
    """What the Python of the page of networks defines; it needs nothing of this project."""
    (code,) = [block for block in blocks(NETWORKS) if "def value(" in block]
    assert re.findall(r"^ *(?:import|from) (\w+)", code, re.MULTILINE) == ["re", "numpy"]
    names: dict = {"print": lambda *found: printed.extend(found)}
    printed: list[float] = []
    bundled = "params/backgammon/network"
    code = code.replace(bundled, str(REPOSITORY / bundled))
    exec(compile(code, "networks.md", "exec"), names)
    assert printed == pytest.approx([0.055, 5.5], rel=0.01)
    return names


def chess_inputs(board, name: str) -> np.ndarray:
    """The inputs of a board of python-chess, written from the page."""
    kinds = "prnbqk"
    pieces = []
    for square, piece in board.piece_map().items():
        rank, file = square // 8 + 1, square % 8 + 1
        rank = rank if board.turn else 9 - rank
        pieces.append(
            (
                8 * (rank - 1) + file - 1,
                kinds.index(piece.symbol().lower()),
                piece.color == board.turn,
                rank,
                file,
            )
        )
    pieces.sort()
    sizes = {"bitboard768": 768, "mailbox64": 64, "antisymmetric384": 384}
    if name in sizes:
        x = np.zeros(sizes[name])
        for s, k, ours, _, _ in pieces:
            if name == "bitboard768":
                x[(0 if ours else 384) + 64 * k + s] = 1
            elif name == "mailbox64":
                x[s] = (k + 1) / 6 * (1 if ours else -1)
            else:
                x[64 * k + s] = 1 if ours else -1
        return x
    x, both = [], 2 if name in ("pieces192", "compressed100") else 4
    whole = name.startswith("pieces")
    for k, room in enumerate((8, 10, 10, 10, 9, 1) if whole else (8, 4, 4, 4, 4, 1)):
        for side in (True, False):
            found = [
                (rank, file) if both == 2 else (rank, 9 - rank, file, 9 - file)
                for _, kind, ours, rank, file in pieces
                if kind == k and ours == side
            ][:room]
            x += [number / 8 for piece in found for number in piece]
            x += [0] * (both * (room - len(found)))
    return np.array(x)


@pytest.mark.parametrize(
    "encoding",
    [
        "bitboard768",
        "mailbox64",
        "antisymmetric384",
        "pieces384",
        "pieces192",
        "compressed200",
        "compressed100",
    ],
)
def test_the_page_of_networks_suffices_to_evaluate_those_of_chess(tmp_path, by_the_page, encoding):
    some = list(played_boards(40))
    size = len(chess_inputs(some[0], encoding))
    write_network(
        tmp_path / "net.yaml",
        NetworkFile(
            "chess",
            encoding,
            network(size, [(7, "relu"), (5, "tanh"), (1, "sigmoid")]),
            1,
            "",
            0.003,
        ),
    )
    positions = np.array([position(board.fen()) for board in some])
    found = network_evaluation(tmp_path / "net.yaml").values(positions)
    for board, evaluation in zip(some, found, strict=True):
        v = by_the_page["value"](str(tmp_path / "net"), chess_inputs(board, encoding))
        ours = evaluation if board.turn else -evaluation
        assert ours == pytest.approx(np.arctanh(v) / 0.003, rel=1e-4, abs=1e-3)
    assert {board.turn for board in some} == {True, False} and np.ptp(found) > 1


def test_the_page_of_networks_lists_every_encoding():
    rows = re.findall(r"^\| `(\w+)` \|", NETWORKS.read_text(encoding="utf-8"), re.MULTILINE)
    known = {name for game in available() for name in encodings_of(game)}
    assert known and all(rows.count(name) >= 1 for name in known)
