"""Commands on a cluster: the same files as without, whoever is killed meanwhile."""

import io
import json
import re
from pathlib import Path

import pytest
import zstandard

from tests.commands.support import done, refused, tictactoe_file
from tests.conftest import SAMPLES
from tests.tuner.cluster.support import Killer
from tests.tuner.core.support import read_checkpoint, read_records
from tuner.play.selfplay.folder import KEYS

TIMES = re.compile(
    rb'\d+\.\d{3}s|\[Date .*\]|"at":\d+,?|"bytes":\[[\d,]*\],?|"crc":\d+|"cpu_seconds":[\d.e-]+'
)


def matched(folder: Path, *more: object) -> list[bytes]:
    """The pairs of a match of 80 games, sorted, and its games: without times."""
    done(
        "match",
        "classic",
        "material",
        "--games",
        80,
        "--depth",
        2,
        "--plies",
        60,
        "--run",
        folder / "match",
        "--pgn",
        folder / "a.pgn",
        *more,
    )
    return [
        *sorted(json.dumps(record).encode() for record in read_records(folder / "match")),
        TIMES.sub(b"", (folder / "a.pgn").read_bytes()),
    ]


def learned(folder: Path, *more: object) -> list[bytes]:
    """The keys of the games and the weights of a self-play of 64 games."""
    done(
        "selfplay",
        "material",
        "--games",
        64,
        "--depth",
        1,
        "--plies",
        30,
        "--opponent",
        "self",
        "--opponent",
        "past",
        "--run",
        folder / "self",
        *more,
    )
    saved = read_checkpoint(folder / "self")
    return [
        str(read_records(folder / "self", KEYS)).encode(),
        saved["weights"].tobytes(),
        saved["average"].tobytes(),
    ]


def generated(folder: Path, *more: object) -> list[bytes]:
    """The files of 40 games."""
    done(
        "games",
        "classic",
        "--games",
        40,
        "--depth",
        1,
        "--plies",
        80,
        "--run",
        folder / "games",
        *more,
    )
    return [path.read_bytes() for path in sorted((folder / "games").glob("games-*"))]


def bundled_games() -> list[str]:
    """Return some hundred of the bundled games."""
    text = (
        zstandard.ZstdDecompressor()
        .stream_reader(io.BytesIO(Path(SAMPLES).read_bytes()))
        .read(1 << 19)
        .decode()
    )
    return ["[Event " + game for game in text.split("[Event ")[1:-1]]


def read(folder: Path, *more: object) -> list[bytes]:
    """The dataset of 20 files, some games of which are in several."""
    files = folder / "files"
    files.mkdir()
    games = bundled_games()
    for number in range(20):
        (files / f"{number:02}.pgn").write_text(
            "".join(games[9 * number : 9 * number + 11] + games[:2])
        )
    ran = done("dataset", files, "-o", folder / "out", *more)
    assert "duplicates" in ran.err
    return [path.read_bytes() for path in sorted((folder / "out").iterdir())]


def fitted(folder: Path, *more: object) -> list[bytes]:
    """The weights of a Newton fit to a dataset."""
    games = tictactoe_file(folder)
    done("dataset", games, "--params", "tictactoe/classic", "-o", folder / "ds")
    done(
        "tune",
        "tictactoe/classic",
        folder / "ds",
        "-o",
        folder / "a.yaml",
        "--method",
        "logistic",
        "--device",
        "cpu",
        *more,
        "--prior",
        "none",
    )
    return [weights_of(folder / "a.yaml")]


def searched(folder: Path, *more: object) -> list[bytes]:
    """The weights learned from searches of positions."""
    (folder / "some.pgn").write_text("".join(bundled_games()))
    done(
        "tune",
        "classic",
        folder / "some.pgn",
        "-o",
        folder / "b.yaml",
        "--method",
        "rootstrap",
        "--depth",
        2,
        "--per-game",
        9,
        "--only",
        "material.*",
        "--prior",
        "none",
        "--device",
        "cpu",
        *more,
    )
    return [weights_of(folder / "b.yaml")]


def weights_of(path: Path) -> bytes:
    """Return a learned file without what is said of the command and its time."""
    return re.sub(
        r"(?m)^ *(command|cpu_seconds|seconds|data|device):.*(\n    .*)*$", "", path.read_text()
    ).encode()


WORK = {
    function.__name__: function
    for function in (matched, learned, generated, read, fitted, searched)
}


@pytest.fixture(scope="module")
def wanted(tmp_path_factory) -> dict[str, list[bytes]]:
    """What the commands write without a cluster."""
    return {}


@pytest.mark.parametrize("name", WORK)
def test_the_files_are_the_same_though_workers_are_killed(workers, wanted, tmp_path_factory, name):
    alone = WORK[name](tmp_path_factory.mktemp("alone"))
    address = workers.scheduler_address
    assert WORK[name](tmp_path_factory.mktemp("two"), "--cluster", address) == alone
    killer = Killer(workers, 7, longest=0.2)
    killer.start()
    try:
        assert WORK[name](tmp_path_factory.mktemp("killed"), "--cluster", address) == alone
    finally:
        killed = killer.stop()
    assert name in ("fitted", "read") or killed  # those two may be done before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "tune classic games.pgn -o a.yaml --dry-run --cluster local:1",
            "--cluster local:1: has no use with --dry-run",
        ),
        (
            "dataset inspect a.ds --cluster local:1",
            "dataset: --cluster local:1 has no use with inspect",
        ),
        (
            "match classic material --cluster local:none",
            "expected a number of processes from 1 to 512",
        ),
    ],
)
def test_a_mistake_is_one_line(arguments, said):
    pytest.importorskip("distributed")
    assert said in refused(*arguments.split())
