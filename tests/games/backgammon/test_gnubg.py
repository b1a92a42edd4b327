"""gnubg as a player, and as a judge of the games that we write by its import and its analysis."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from games.backgammon.engines.contest import gnubg_plies, rater
from games.backgammon.files import mat
from games.backgammon.files.ids import fibs_board
from games.backgammon.rules.board import packed, with_dice
from games.record import Control, Dice, find
from games.streams import lines
from tests.commands.match_support import play
from tests.commands.support import done, refused
from tests.games.backgammon.test_files import random_games
from tests.games.support import REPOSITORY
from tests.support import refusal
from tests.tuner.core.support import keep_records

GAME = find("backgammon")
needs_gnubg = pytest.mark.skipif(
    shutil.which("gnubg") is None, reason="no gnubg; install the Debian package gnubg"
)


def gnubg(*commands: str) -> str:
    """What gnubg prints when it is told this; it may not complain."""
    ran = subprocess.run(
        ["gnubg", "-t", "-q", "-r"],
        input="\n".join([*commands, ""]),
        text=True,
        capture_output=True,
        timeout=300,
    )
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said
    assert not re.search("warning|unrecogni[sz]ed|garbage", said, re.IGNORECASE), said[-2000:]
    return said


def test_a_board_is_seen_by_the_side_to_move():
    start = with_dice(GAME.start(), (3, 1))
    points = fibs_board(start).split(":")[6:32]
    assert ":".join(points) == "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    other = start.copy()
    other[4] |= np.uint64(1)
    assert fibs_board(other) == fibs_board(start)  # it is the same for both
    counts = np.zeros((2, 26), np.int64)
    counts[0, [25, 3, 0]], counts[1, [25, 1, 0]] = (2, 4, 9), (1, 6, 8)
    fields = fibs_board(packed(counts, False, (6, 5))).split(":")
    assert (fields[6], fields[9], fields[30], fields[31]) == ("-1", "4", "-6", "2")
    assert fields[32:35] == ["1", "6", "5"] and fields[45:49] == ["9", "8", "2", "1"]


@pytest.mark.parametrize("text", ["", "3", "-1", "00", "zero", "1.5"])
def test_wrong_plies_are_refused_in_one_line(text):
    assert "expected gnubg:PLIES with 0 to 2 plies" in refusal(gnubg_plies, text)


@pytest.mark.long
@needs_gnubg
def test_gnubg_plays_without_a_fault_and_beats_pubeval():
    found = play("gnubg:0", "pubeval", "--games", 60, "--seed", 3)
    assert (
        found["forfeits"] == {}
        and found["players"] == ["gnubg:0", "pubeval"]
        and found["ends"] == {"rules": 60}
    )
    assert found["less_luck"]["high"] > 0.3


@pytest.mark.long
@needs_gnubg
def test_gnubg_beats_random_and_takes_no_options():
    assert play("gnubg:1", "random", "--games", 4)["wins"] == 4
    assert "gnubg:0: has no option 'x'" in refused(
        "match", "gnubg:0", "pubeval", "--games", 2, "--option-a", "x=1"
    )


@needs_gnubg
def test_the_play_that_gnubg_chooses_has_the_highest_of_its_values():
    player, random = rater("gnubg:0"), np.random.default_rng(4)
    words, own = GAME.start(), 0
    try:
        for ply in range(60):
            rolled = GAME.rolled(words, Dice(5, 1))
            moves = GAME.legal_moves(rolled)
            after = np.array([GAME.play(rolled, move) for move in moves])
            view = -1 if GAME.second_to_move(rolled) else 1
            values = view * player.values(after)
            if len(moves) > 1:
                chosen = moves.index(player.think(rolled[None], [], Control(), None, 60.0).move)
                assert values[chosen] == pytest.approx(values.max(), abs=2e-6), ply
                own += 1
            words = after[random.integers(len(after))]
            if GAME.result([words]) is not None:
                break
    finally:
        player.close()
    assert own > 20


@pytest.mark.long
@needs_gnubg
def test_moves_are_learned_from_its_values(tmp_path):
    games = tmp_path / "games.mat"
    text = lines(str(REPOSITORY / "games/samples/pubeval.mat.zst"))
    games.write_bytes(b"\n".join(line for _, line in zip(range(3000), text, strict=False)))
    learn = ("tune", "backgammon/zero", games, "--method", "moves", "-o", tmp_path / "new.yaml")
    said = json.loads(done(*learn, "--teacher", "gnubg:0", "--per-game", 2, "--json").out)
    found = said["choices"]
    assert found["after"]["high"] < found["before"]["low"]
    assert found["held_out"] and found["best_after"] > 0.4 > found["best_before"]
    assert said["method"] == "moves" and said["teacher"] == "gnubg:0" and said["loss"] == "choices"
    again = done(*learn, "--teacher", "gnubg:0", "--per-game", 2, "--json").out
    assert json.loads(again)["choices"] == found
    printed = done(*learn, "--teacher", "gnubg:0", "--per-game", 2)
    assert "points lost a roll" in printed.out + printed.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--teacher", "uci:x"), "uci:x: says no values of moves, expected gnubg:PLIES"),
        (("--teacher", "gnubg:7"), "expected gnubg:PLIES with 0 to 2 plies"),
        (("--teacher", "gnubg:0", "--run", "run"), "--run run: its report"),
        (("--teacher", "gnubg:0", "--loss", "mse"), "--loss mse: has no use here"),
        (("--teacher", "gnubg:0", "--no-intercept"), "--no-intercept: has no use here"),
        (("--teacher", "gnubg:0", "--nodes", 7), "gnubg:0 has plies in place of nodes"),
        (("--teacher", "gnubg:0", "--learner", "adam"), "learns with newton, lbfgs"),
        (("--teacher", "gnubg:0", "--dry-run"), "--dry-run: says what results identify"),
    ],
)
def test_what_moves_cannot_be_learned_with_is_one_line(given, said, tmp_path):
    games = tmp_path / "games.mat"
    text = lines(str(REPOSITORY / "games/samples/pubeval.mat.zst"))
    games.write_bytes(b"\n".join(line for _, line in zip(range(600), text, strict=False)))
    output = () if "--dry-run" in given else ("-o", tmp_path / "new.yaml")
    assert said in refused("tune", "backgammon/zero", games, "--method", "moves", *given, *output)
    assert not (tmp_path / "new.yaml").exists()


def imported(path: Path, folder: Path) -> list:
    """The games of a `.mat` file as gnubg understands them, from what it saves."""
    saved = str(folder / "imported.mat")
    gnubg("set jacoby off", f"import mat {path}", f"export match mat {saved}")
    return [found.game for found in mat.parse(saved, lines(saved))]


def assert_same(ours, theirs) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert (one.line == other.line).all() and one.moves == other.moves
        assert (one.points, one.score, one.end) == (other.points, other.score, other.end)


@pytest.mark.long
@needs_gnubg
def test_gnubg_imports_the_bundled_games_as_they_were_played(tmp_path):
    source = str(REPOSITORY / "games/samples/pubeval.mat.zst")
    text = b"\n".join(lines(source))
    (tmp_path / "games.mat").write_bytes(text)
    fills = rb"(?m)^ *\d+\) \d\d: [^:]{24,} [1-6]{2}: "  # a left half as wide as its column
    assert re.search(fills, text)
    games = [found.game for found in mat.parse(source, lines(source))]
    assert len(games) == 1200
    assert_same(games, imported(tmp_path / "games.mat", tmp_path))


@needs_gnubg
def test_gnubg_imports_random_games_as_they_were_played(tmp_path):
    games = random_games(5, 60, 0)
    for game in games:
        game.length = 0
    (tmp_path / "games.mat").write_text(mat.mat_text(games))
    assert_same(games, imported(tmp_path / "games.mat", tmp_path))


@needs_gnubg
def test_gnubg_imports_games_that_an_engine_played_against_itself(tmp_path):
    done("games", "gnubg:0", "--run", tmp_path / "run", "--games", 12, "--workers", 2)
    packed = str(tmp_path / "run/games-00001.mat.zst")
    (tmp_path / "games.mat").write_bytes(b"\n".join(lines(packed)))
    games = [found.game for found in mat.parse(packed, lines(packed))]
    assert len(games) == 12 and all(game.points for game in games)
    assert_same(games, imported(tmp_path / "games.mat", tmp_path))


@pytest.mark.long
@needs_gnubg
def test_gnubg_charges_its_own_player_with_nothing(tmp_path):
    """One session, in which each player has one column, although pairs swap sides."""
    path, run = tmp_path / "games.mat", tmp_path / "run"
    found = play(
        "gnubg:0",
        "pubeval",
        "--games",
        24,
        "--seed",
        3,
        "--workers",
        2,
        "--run",
        run,
        "--pgn",
        path,
    )
    for written in (path, run / "games.mat"):
        said = gnubg(
            "set jacoby off",
            "set analysis chequerplay evaluation plies 0",
            "set analysis chequerplay evaluation cubeful off",
            "set analysis cubedecision evaluation plies 0",
            f"import mat {written}",
            "analyse session",
            "show statistics session",
        )
        assert re.search(r"^Player +gnubg 0 +pubeval *$", said, re.MULTILINE)
        rates = re.search(r"^Error rate mEMG \(Points\) +(\S+) +\(.*?\) +(\S+)", said, re.MULTILINE)
        own, other = map(float, rates.groups())
        assert abs(own) < 1 and other < -20, (own, other)
        points = float(re.search(r"^Actual result +(\S+)", said, re.MULTILINE)[1])
        assert points == pytest.approx(24 * found["points_a_game"]["value"])
    assert written.read_text().count("point match") == path.read_text().count("point match") == 1


@needs_gnubg
def test_a_resumed_match_goes_on_with_its_session(tmp_path):
    run = tmp_path / "run"
    done("match", "pubeval", "random", "--games", 12, "--run", run, "--workers", 1)
    keep_records(run, 3)
    os.truncate(run / "games.mat", 2 * (run / "games.mat").stat().st_size // 3)
    done("match", "--resume", run, "--workers", 1, "--pgn", tmp_path / "all.mat")
    games = imported(run / "games.mat", tmp_path)
    assert len(games) == 12 and games[11].score[0] > games[5].score[0] > games[0].score[0] == 0
    assert {game.players for game in games} == {("pubeval", "random")}
    assert_same(imported(tmp_path / "all.mat", tmp_path), games)
