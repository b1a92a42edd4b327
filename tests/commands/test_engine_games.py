"""`tuner games uci:COMMAND`: games of an engine against itself."""

import json
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
import zstandard

from tests.commands.support import done
from tests.commands.support import tuner as command
from tests.commands.test_games import read, text_of
from tests.games.support import REPOSITORY
from tests.tuner.core.support import read_records

FAKE = REPOSITORY / "tests" / "games" / "chess" / "engines" / "contest" / "fake_engine.py"


def fake(how: str, *ply: int, protocol: str = "uci") -> str:
    return f"{protocol}:{shlex.join([sys.executable, str(FAKE), protocol, how, *map(str, ply)])}"


def test_python_chess_reads_the_games_of_an_engine(tmp_path):
    ran = done("games", fake("steady"), "--run", tmp_path / "a", "--games", 45, "--plies", 16)
    found = read(text_of(tmp_path / "a"))
    assert [game.headers["Round"] for game in found] == [str(number) for number in range(1, 46)]
    for game in found:
        assert not game.errors and game.headers["TimeControl"] == "depth 6"
        comments = [node.comment for node in game.mainline()]
        assert comments[:8] == ["book"] * 8 and comments[8] == "-0.12/3"
    assert len({str(game.mainline_moves()) for game in found}) == 45
    assert "depth 6, varied by 0.1, 45 games" in ran.err and "wrote 45 games" in ran.out


@pytest.mark.long
def test_the_same_games_are_played_again_however_many_threads_play(tmp_path):
    (tmp_path / "book.epd").write_text("4k3/8/8/8/8/8/8/R3K3 w - -\n4k3/8/8/8/8/8/8/Q3K3 w - -\n")
    same = ("--games", 90, "--plies", 4, "--openings", tmp_path / "book.epd", "--nodes", 100)
    ran = done("games", fake("by nodes"), *same, "--run", tmp_path / "a", "--workers", 1, "--json")
    assert json.loads(ran.out)["unfinished"] == 0 < json.loads(ran.out)["repeated"]
    texts = text_of(tmp_path / "a")
    moves = [game.board().fen() + str(game.mainline_moves()) for game in read(texts)]
    assert len(set(moves)) == len(moves) == 90
    done("games", fake("by nodes"), *same, "--run", tmp_path / "b", "--workers", 3)
    assert text_of(tmp_path / "b") == texts
    records = read_records(tmp_path / "a")
    assert read_records(tmp_path / "b") == records
    (tmp_path / "b" / "games-00002.pgn.zst").unlink()
    done("games", "--resume", tmp_path / "b")
    assert read_records(tmp_path / "b")[-1] == records[1]


def test_a_crash_is_no_result(tmp_path):
    ran = done(
        "games", fake("crash", 100), "--run", tmp_path / "a", "--games", 12, "--plies", 50, "--json"
    )
    assert "was not finished: crash: exited with status 3; it is played again" in ran.err
    assert json.loads(ran.out)["unfinished"] > 0 and len(read(text_of(tmp_path / "a"))) == 12
    assert "disconnects" not in text_of(tmp_path / "a")


@pytest.mark.long
def test_games_of_an_engine_that_is_killed_are_the_same_in_the_end(tmp_path):
    """One that remembers what it played before."""
    words = ("games", fake("remembers"), "--games", 200, "--plies", 60, "--workers", 2, "--run")
    done(*words, tmp_path / "whole")
    folder = tmp_path / "killed"
    for number in (1, 3, 4):
        begun = ("games", "--resume", folder) if folder.exists() else (*words, folder)
        ran = subprocess.Popen([sys.executable, "-m", "tuner", *map(str, begun)], cwd=REPOSITORY)
        while not (folder / f"games-0000{number}.pgn.zst").exists():
            assert ran.poll() is None
            time.sleep(0.02)
        ran.send_signal(signal.SIGKILL)
        ran.wait()
    done("games", "--resume", folder, "--workers", 1)
    assert text_of(folder) == text_of(tmp_path / "whole")
    assert read_records(folder) == read_records(tmp_path / "whole")


@pytest.mark.parametrize(("engine", "number"), [("uci:toga2", 20), ("xboard:fairymax", 3)])
@pytest.mark.long
def test_python_chess_agrees_with_games_of_engines_of_others(tmp_path, engine, number):
    name = engine.partition(":")[2]
    if shutil.which(name) is None:
        pytest.skip(f"no {name}; install the Debian package {name}")
    done("games", engine, "--run", tmp_path / "a", "--games", number, "--depth", 3, "--play-on", 1)
    for game in read(text_of(tmp_path / "a")):
        comments = [node.comment for node in game.mainline()][8:-1]
        assert not game.errors and len(comments) > 4
        assert sum("/" in comment for comment in comments) > 0.9 * len(comments)
        if game.headers["Termination"] == "normal":
            outcome = game.end().board().outcome(claim_draw=True)
            assert outcome.result() == game.headers["Result"]


@pytest.mark.long
def test_cshogi_reads_the_games_of_a_usi_engine(tmp_path):
    cshogi = pytest.importorskip("cshogi")
    from cshogi import CSA

    engine = f"usi:{shlex.join([sys.executable, '-m', 'tuner', 'usi'])}"
    done("games", engine, "--run", tmp_path / "a", "--games", 3, "--depth", 2, "--workers", 1)
    packed = (tmp_path / "a" / "games-00001.csa.zst").read_bytes()
    (tmp_path / "a.csa").write_bytes(zstandard.decompress(packed))
    # what follows the last separator is an empty game to it
    games = [game for game in CSA.Parser.parse_file(str(tmp_path / "a.csa")) if game.moves]
    assert len(games) == 3
    for game in games:
        board = cshogi.Board(game.sfen)
        assert len(game.moves) > 20 and len(set(game.scores)) > 5
        for move in game.moves:
            assert board.is_legal(move)
            board.push(move)


@pytest.mark.parametrize(
    ("player", "options", "said"),
    [
        (
            fake("crash", 5),
            "",
            "5 games in a row were not finished, the last because of crash: exited with status"
            " 3; the games before are kept",
        ),
        (fake("ignores"), "--nodes 5000", " searched 64,000 nodes where 5,000 were allowed; try"),
        (
            fake("ignores"),
            "--depth 6",
            " searched 10 plies where 6 were allowed; try --nodes 64000",
        ),
        (
            fake("crash", 1),
            "",
            "`go depth 6`: exited with status 3",
        ),
        (
            fake("steady"),
            "--random-plies 0 --depth 5 --vary 0 --plies 2 --games 2",
            "was played 11 times, and was the same as another one each time; choose more openings,"
            " --random-plies, or a larger --vary",
        ),
        pytest.param(
            fake("flood"),
            "--nodes 100",
            "`go nodes 100`: did not move within 5.02 s",
            marks=pytest.mark.long,
        ),
        pytest.param(
            fake("hang"),
            "--nodes 100",
            "`go nodes 100`: did not move within 5.02 s",
            marks=pytest.mark.long,
        ),
        (fake("endless"), "", "a line of more than 1,048,576 bytes"),
        (
            fake("illegal"),
            "",
            "does not play the initial position with depth 6: illegal move: e2e5",
        ),
        (fake("steady"), "--noise 3", "--noise: python plays, which has --vary"),
        ("uci:", "", "no such program, expected the command of a uci engine"),
        ("uci:no-such-engine", "", "no-such-engine: no such program"),
        ("classic", "--vary 0.2", "--vary: the players are evaluations, which have --noise"),
        ("gnubg:0", "--depth 3", "--depth: engines play backgammon as they are"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, player, options, said):
    ran = command("games", player, "--run", tmp_path / "new", "--games", 50, *options.split())
    assert ran.status == 2 and said in ran.err.splitlines()[-1], ran.err
    assert ran.err.splitlines()[-1].startswith("tuner: ")
