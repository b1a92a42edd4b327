"""A match that is killed or interrupted continues with the same games, and with the parameters that
it began with."""

import json
import re
import signal
import sys
import time
from dataclasses import replace

import pytest
import yaml

from tests.commands.match_support import PAIR, PATIENCE, games_of, pairs_in, play, start
from tests.commands.support import done, refused
from tests.games.support import REPOSITORY
from tests.tuner.core.support import change_settings, keep_records, read_records
from tuner.core.store import Store
from tuner.io.run_folder import SETTINGS, read_told

FAKE = REPOSITORY / "tests" / "games" / "chess" / "engines" / "contest" / "fake_engine.py"


@pytest.mark.long
def test_a_match_that_is_killed_leaves_the_games_that_it_played(tmp_path):
    """In the file of --pgn, without a folder, too; a resumed match begins it with those played
    before."""
    folder, games = tmp_path / "run", tmp_path / "a.pgn"
    for resumed in (False, True):
        process = start(
            folder,
            *(("--resume", folder) if resumed else (*PAIR, "--games", 100000, "--run", folder)),
            "--pgn",
            games,
        )
        wanted = pairs_in(folder) + 4
        while pairs_in(folder) < wanted:
            assert process.poll() is None
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        # a pair is stored first
        assert 2 * pairs_in(folder) - 2 <= len(games_of(games)) <= 2 * pairs_in(folder)


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.long)])
def test_a_resumed_match_completes_the_file_of_games_that_it_was_told_of(tmp_path, kills):
    folder, games = tmp_path / "run", tmp_path / "a.pgn"
    total = 8 * kills + 8
    for number in range(kills):
        words = ("--resume", folder) if number else (*PAIR, "--games", total, "--run", folder)
        process = start(folder, *words, *([] if number else ["--pgn", games]))
        wanted = pairs_in(folder) + 2
        while pairs_in(folder) < wanted and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert play("--resume", folder)["pgn"] == str(games)
    kept, found = ((path.read_bytes()) for path in (folder / "games.pgn", games))
    assert sorted(kept.split(b"[Event")) == sorted(found.split(b"[Event"))
    assert len(games_of(games)) == total


def test_an_interrupt_prints_the_result_so_far_and_keeps_the_folder(tmp_path):
    folder = tmp_path / "run"
    process = start(
        folder,
        "classic",
        "pesto",
        "--depth",
        2,
        "--games",
        100000,
        "--run",
        folder,
        "--pgn",
        tmp_path / "a.pgn",
    )
    while pairs_in(folder) < 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    games = int(re.search(r"^Games: (\d+)", out, re.MULTILINE)[1])
    assert games == 2 * pairs_in(folder) >= 6 and f"tuner match --resume {folder}" in out
    assert len(games_of(tmp_path / "a.pgn")) == games


def test_a_match_that_goes_on_with_more_games_is_that_of_so_many(tmp_path):
    words = ("classic", "pesto", "--depth", 1, "--seed", 3)
    whole = play(*words, "--games", 12, "--run", tmp_path / "whole")
    play(*words, "--games", 4, "--run", tmp_path / "run")
    found = play("--resume", tmp_path / "run", "--games", 12)
    same = ("pentanomial", "points", "games", "total_plies")
    assert [found[name] for name in same] == [whole[name] for name in same]
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert config["command"].count("--games 12") == config["command"].count("--games") == 1
    assert "--games 6: expected an even number of 12 or more" in refused(
        "match", "--resume", tmp_path / "run", "--games", 6
    )


def test_a_resumed_match_plays_with_the_parameters_it_began_with(tmp_path):
    mine, folder = tmp_path / "mine.yaml", tmp_path / "run"
    classic = (REPOSITORY / "params/chess/classic.yaml").read_text()
    mine.write_text(classic)
    whole = play(mine, "pesto", "--depth", 1, "--games", 8, "--run", folder)
    keep_records(folder, 2)
    mine.unlink()
    found = play("--resume", folder)
    assert {**found, "pgn": None} == {**whole, "pgn": None} and found["players"] == [
        "mine",
        "pesto",
    ]
    assert yaml.safe_load((folder / "config.yaml").read_text())["match"]["games"] == 8


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("games", 3, "games is 3, expected an even number"),
        ("sprt", [0], "sprt is a list"),
        ("controls", [{}, {}], "controls have no limit"),
        ("controls", [{"ply": 1, "depth": 2}, {"depth": 1}], "controls name ply, expected"),
        ("files", [], "files is a list of 0, expected an object"),
        ("a", None, "a is null, expected a text"),
        ("model", "x", "unknown SPRT model 'x'"),
        ("more", 1, "not the settings of a match of this version"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_settings_that_make_no_sense_are_refused(tmp_path, name, value, said):
    play(
        "random",
        "random",
        "--games",
        2,
        "--plies",
        6,
        "--random-plies",
        0,
        "--run",
        tmp_path / "run",
        "--sprt",
        0,
        5,
    )
    folder = tmp_path / "run"
    change_settings(folder, **{name: value})
    before = {file: file.read_bytes() for file in folder.iterdir()}
    assert said in refused("match", "--resume", folder)
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_a_run_of_another_machine_says_what_it_starts(tmp_path):
    engine = f"uci:{sys.executable} {FAKE} uci fine"
    play(engine, "random", "--games", 2, "--depth", 1, "--plies", 6, "--run", tmp_path / "run")
    assert "it runs" not in done("match", "--resume", tmp_path / "run").err
    told = read_told(tmp_path / "run")
    with Store(tmp_path / "run") as store:
        store.put(SETTINGS, replace(told, place="elsewhere").content)
    ran = done("match", "--resume", tmp_path / "run")
    assert ran.err.startswith(
        f"begun on another machine or by another user; it runs: {engine}\n"
    ), ran.err


def test_a_resumed_match_requires_the_copies_of_its_parameters(tmp_path):
    play(*PAIR, "--games", 2, "--run", tmp_path / "run", "--random-plies", 0)
    (tmp_path / "run" / "b.yaml").unlink()
    assert "b.yaml: is missing, what" in refused("match", "--resume", tmp_path / "run")


def test_a_match_begun_by_another_version_is_resumed_with_a_note(tmp_path):
    play(
        "zero", "random", "--games", 2, "--depth", 1, "--run", tmp_path / "run", "--random-plies", 0
    )
    change_settings(tmp_path / "run", evaluation="other")
    ran = done("match", "--resume", tmp_path / "run")
    assert (
        "the program or the machine is not the one that the match began with" in ran.err
        and "Games: 2," in ran.out
    )


REMEMBERS = """import sys
import chess
board, games = chess.Board(), 0
with open(sys.argv[1], "a") as started:
    started.write("x")
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("id name remembers\\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["ucinewgame"]:
        games += 1
    elif words[:1] == ["position"]:
        at = words.index("moves") if "moves" in words else len(words)
        board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:at]))
        for move in words[at + 1 :]:
            board.push_uci(move)
    elif words[:1] == ["go"]:
        moves = sorted(board.legal_moves, key=str)
        print("info depth 1 score cp 1")
        print("bestmove", moves[(7 * games + len(board.move_stack)) % len(moves)], flush=True)
    elif words[:1] == ["quit"]:
        break
"""


LATER = [pytest.param(kept, marks=pytest.mark.long) for kept in (1, 5, 10, 12)]


@pytest.mark.parametrize("kept", [7, *LATER])
def test_an_engine_that_remembers_games_plays_the_same_after_an_interruption(tmp_path, kept):
    """Ten games in one process, then it is restarted; what was cut short is played again whole."""
    program, starts = tmp_path / "remembers.py", tmp_path / "starts"
    program.write_text(REMEMBERS)
    player = f"uci:{sys.executable} {program} {starts}"
    run = tmp_path / "run"
    small = ("--games", 26, "--depth", 1, "--plies", 12, "--workers", 2, "--restart")
    done("match", player, "random", *small, "--run", run)
    whole = sorted(json.dumps(line) for line in read_records(run))
    assert len(starts.read_text()) == 3 + 3  # for its name, to try it, and ready; three blocks
    keep_records(run, kept)
    done("match", "--resume", run)
    assert sorted(json.dumps(line) for line in read_records(run)) == whole
