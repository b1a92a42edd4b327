"""`tuner games` as people run it: the games depend on the settings alone, whatever happens in
between; and learning from them."""

import io
import re
import signal
import subprocess
import sys
from pathlib import Path

import chess.pgn
import pytest
import zstandard

from games.record import ReadOptions, ReadReport, find
from tests.commands.support import done, refused, tuner
from tests.games.support import REPOSITORY
from tests.tuner.core.support import execute, read_records
from tuner.io.run_folder import kind_of
from tuner.io.terminal import Display
from tuner.options.games import GamesSettings
from tuner.parallel import OnThreads
from tuner.play.own_games.run import OwnGamesRun
from tuner.play.own_games.settings import games_settings
from tuner.play.run import new_run

SETTINGS = GamesSettings(start="classic", games=24, depth=1, plies=120, part=10, play_on=0.5)
FAST = ("--depth", 1, "--plies", 120, "--workers", 1)


def text_of(folder: Path) -> str:
    return b"".join(
        zstandard.decompress(path.read_bytes()) for path in sorted(folder.glob("games-*.pgn.zst"))
    ).decode()


def read(text: str) -> list[chess.pgn.Game]:
    stream = io.StringIO(text)
    return list(iter(lambda: chess.pgn.read_game(stream), None))


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> Path:
    """A folder with 24 games in three files, played on one thread."""
    folder = tmp_path_factory.mktemp("games") / "games"
    new_run(OwnGamesRun(SETTINGS, None, Display()), folder, OnThreads(1), "tuner games")
    return folder


def parts_of(folder: Path) -> dict[int, dict]:
    """The last record of each part."""
    return {record["part"]: record for record in read_records(folder)}


def test_python_chess_reads_the_games_with_their_scores(games):
    assert sorted(path.name for path in games.iterdir()) == [
        "config.yaml",
        *(f"games-0000{n}.pgn.zst" for n in (1, 2, 3)),
        "lock",
        "run.db",
        "start.yaml",
    ]
    found = read(text_of(games))
    assert [game.headers["Round"] for game in found] == [str(number) for number in range(1, 25)]
    for game in found:
        assert (
            not game.errors
            and game.headers["Event"] == "tuner games"
            and game.headers["TimeControl"] == "depth 1"
        )
        comments = [node.comment for node in game.mainline()]
        assert comments[:8] == ["book"] * 8
        assert all(re.match(r"[+-](\d+\.\d\d|M\d+)/\d+$", comment) for comment in comments[8:-1])
        board = game.end().board()
        if game.headers["Termination"] == "normal":
            assert board.outcome(claim_draw=True).result() == game.headers["Result"]
        elif "wins by adjudication" in comments[-1]:
            winner = game.headers["Result"] == "1-0"
            scores = [float(comment.split("/")[0].replace("M", "99")) for comment in comments[-4:]]
            sides = [(len(comments) - 4 + i) % 2 == 0 for i in range(4)]  # White's moves
            assert all(
                score * (1 if white == winner else -1) >= 6
                for score, white in zip(scores, sides, strict=True)
            )
    assert (
        len({" ".join(move.uci() for move in list(game.mainline_moves())[:8]) for game in found})
        == 24
    )  # openings


def test_our_reader_takes_the_scores_and_results(games):
    game, report, scores = find("chess"), ReadReport(), []
    for path in sorted(games.glob("*.zst")):
        for batch in game.files.read(str(path), ReadOptions(positions="all"), report, pytest.fail):
            scores.append((batch.recorded == batch.recorded).mean())  # not NaN
    assert report.games == report.used == 24 and min(scores) > 0.9  # the last position has no score


def test_the_number_of_threads_changes_nothing(games, tmp_path):
    new_run(OwnGamesRun(SETTINGS, None, Display()), tmp_path / "3", OnThreads(3), "tuner games")
    for path in games.glob("*.zst"):
        assert path.read_bytes() == (tmp_path / "3" / path.name).read_bytes()
    assert read_records(games) == read_records(tmp_path / "3")


# one process for all, so that the imports are paid for once; every child is killed before the n-th
# change to a file
KILLED = """
import os, sys
from pathlib import Path
from tests.commands.killed import kill_before
from tests.commands.test_games import SETTINGS
from tuner.play.own_games.run import OwnGamesRun
from tuner.play.run import new_run, resumed_run
from tuner.evaluation.loading import load_engine
from tuner.io.run_folder import kind_of
from tuner.io.terminal import Display
from tuner.parallel import OnThreads

load_engine("classic")
folder = Path(sys.argv[1])
for moment in map(int, sys.argv[2:]):
    child = os.fork()
    if child == 0:
        kill_before(str(folder), moment)
        if kind_of(folder):
            resumed_run(OwnGamesRun, folder, OnThreads(1), None, Display())
        else:
            new_run(OwnGamesRun(SETTINGS, None, Display()), folder, OnThreads(1), "tuner games")
        os._exit(0)
    print(os.waitpid(child, 0)[1], sorted(path.name for path in folder.glob("[gch]*")), flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("moments", [(9, 20, 6), (17, 5, 7)], ids=str)
def test_games_killed_at_any_moment_are_the_same_in_the_end(games, tmp_path, moments):
    folder = tmp_path / "killed"
    ran = subprocess.run(
        [sys.executable, "-c", KILLED, folder, *map(str, moments)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert [line.split()[0] for line in ran.stdout.splitlines()] == [
        str(int(signal.SIGKILL))
    ] * 3, ran.stderr
    assert "games-00001.pgn.zst" in ran.stdout
    if kind_of(folder):
        done("games", "--resume", folder, "--workers", 2)
    else:
        new_run(OwnGamesRun(SETTINGS, None, Display()), folder, OnThreads(2), "tuner games")
    assert text_of(folder) == text_of(games)
    assert parts_of(folder) == parts_of(games)


def test_more_games_begin_with_the_same_ones(tmp_path):
    done("games", "material", "--run", tmp_path / "a", "--games", 3, *FAST)
    first = text_of(tmp_path / "a")
    done("games", "--resume", tmp_path / "a", "--games", 5, "--workers", 1)
    assert text_of(tmp_path / "a").startswith(first) and len(read(text_of(tmp_path / "a"))) == 5
    assert "contains more than 2 games already; choose a larger --games" in refused(
        "games", "--resume", tmp_path / "a", "--games", 2
    )


def test_damaged_files_are_reported_and_their_games_played_again(games, tmp_path):
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(games, folder)
    (folder / "games-00001.pgn.zst").write_bytes(b"rubbish")
    (folder / "games-00003.pgn.zst").unlink()
    ran = done("games", "--resume", folder, "--workers", 1)
    for name in ("games-00001.pgn.zst", "games-00003.pgn.zst"):
        assert f"{name}: is missing or was changed; its games are played again" in ran.err
    assert text_of(folder) == text_of(games) and parts_of(folder) == parts_of(games)
    execute(folder, "UPDATE records SET json = replace(json, '\"plies\":', '\"plys\":')")
    said = refused("games", "--resume", folder)
    assert "run.db: result 0: damaged, its counts are those of another version" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "games: expected PARAMS, the file that plays, and --run DIR, or --resume DIR"),
        ("classic", "expected PARAMS, the file that plays, and --run DIR"),
        (
            "classic --run full",
            "full: contains unrelated files (letter), expected a new or empty folder",
        ),
        ("nowhere --run new", "nowhere: no such file"),
        ("zero --run new", "all weights are 0"),
        ("tictactoe/classic --run new", "tictactoe has no search"),
        ("classic --run new --games 0", "games is 0, expected a whole number of 1 or more"),
        (
            "classic --run new --noise -3",
            "noise is -3, expected a number of centipawns from 0 to 10,000",
        ),
        ("classic --run new --resign 600", "--resign 600: unknown, expected movecount=N, score=N"),
        ("classic --run new --resign score=0", "expected a whole number of 1 or more after score="),
        ("classic --run new --draw 10:4", "--draw 10:4: unknown, expected movenumber=N"),
        (
            "classic --run new --syzygy nowhere",
            "nowhere: no such folder; expected one of Syzygy tables",
        ),
        ("classic --run new --openings nowhere", "nowhere: no such file"),
        (
            "classic --run new --openings x.epd --random-plies 3",
            "--random-plies and --openings: both choose openings",
        ),
        ("--resume nowhere", "nowhere: no such folder, expected that of a run"),
        ("--resume full", "full: contains no run"),
        (
            "classic --resume full",
            (
                "a resumed run keeps its settings; with --resume only --games, --workers, --cluster"
                " and --json"
            ),
        ),
    ],
)
def test_a_mistake_is_one_line(here, arguments, said):
    Path("full").mkdir()
    Path("full/letter").write_text("dear reader")
    text = refused("games", *arguments.split())
    assert not Path("new").exists()
    assert said in text


def test_a_folder_of_games_is_no_run_of_another_command(games, tmp_path):
    assert (
        "contains a run already; continue it with --resume"
        in tuner("games", "classic", "--run", games).err
    )
    assert (
        "contains a run of `tuner games` already"
        in tuner("match", "classic", "material", "--run", games).err
    )


def test_learning_reads_the_folder(games, tmp_path):
    ran = done(
        "tune",
        "classic",
        games,
        "-o",
        tmp_path / "o.yaml",
        "--method",
        "logistic",
        "--only",
        "material.*",
    )
    assert "read 24 games, used 24" in ran.err


def test_settings_that_are_not_given_are_those_of_the_record():
    assert games_settings("classic", {}) == GamesSettings(start="classic")
