"""`tuner match`: pairs and colors, the same games whatever the concurrency, faults, SPRT, and the
ladder."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from games.system import CPUS, bind_thread
from tests.commands.match_support import PAIR, comparable, games_of, play
from tests.commands.support import done, refused, tuner
from tests.games.support import REPOSITORY
from tests.support import file_with
from tests.tuner.core.support import keep_records

FAKE = f"{sys.executable} {REPOSITORY / 'tests/games/chess/engines/contest/fake_engine.py'}"


def test_pairs_share_an_opening_with_colours_swapped_and_count_for_a(tmp_path):
    found = play(*PAIR, "--games", 12, "--pgn", tmp_path / "a.pgn", "--random-plies", 6)
    games = games_of(tmp_path / "a.pgn")
    assert [game.headers["Round"] for game in games] == [
        f"{pair}.{side}" for pair in range(1, 7) for side in (1, 2)
    ]
    points = 0.0
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.headers["White"], first.headers["Black"]) == ("classic", "pesto")
        assert (second.headers["White"], second.headers["Black"]) == ("pesto", "classic")
        assert list(first.mainline_moves())[:6] == list(second.mainline_moves())[:6]
        assert [node.comment for node in first.mainline()][:7].count("book") == 6
        for game, white in ((first, 1), (second, 0)):
            points += {"1-0": white, "0-1": 1 - white, "1/2-1/2": 0.5}[game.headers["Result"]]
            assert re.fullmatch(r"[+-](M\d+|\d+\.\d\d)/1 \d+\.\d{3}s, \D.*", game.end().comment)
    openings = {tuple(list(game.mainline_moves())[:6]) for game in games}
    assert len(openings) == 6 and found["points"] == points and found["games"] == 12
    assert sum(found["pentanomial"]) == 6 and found["total_plies"] == sum(
        int(game.headers["PlyCount"]) for game in games
    )


@pytest.mark.long
@pytest.mark.parametrize("limit", [("--depth", 2), ("--nodes", 300)])
def test_games_do_not_depend_on_concurrency(tmp_path, limit):
    for threads in (1, 3):
        play(
            "classic",
            "pesto",
            *limit,
            "--games",
            16,
            "--workers",
            threads,
            "--pgn",
            tmp_path / f"{threads}.pgn",
        )
    assert comparable(tmp_path / "1.pgn") == comparable(tmp_path / "3.pgn")


def test_a_player_against_itself_wins_as_often_as_it_loses(tmp_path):
    found = play("classic", "classic", "--depth", 1, "--games", 8, "--pgn", tmp_path / "a.pgn")
    assert found["pentanomial"] == [0, 0, 4, 0, 0] and found["players"] == [
        "classic",
        "classic (2)",
    ]


def test_the_result_block_is_that_of_fastchess():
    lines = done("match", *PAIR, "--games", 4).out.splitlines()
    assert lines[0] == "Results of classic vs pesto (depth 1, 8 random plies):"
    assert [line.split(":")[0] for line in lines[1:5]] == ["Elo", "LOS", "Games", "Ptnml(0-2)"]


def test_a_test_stops_at_the_same_pair_whatever_the_concurrency(tmp_path):
    found = [
        play(
            "classic",
            "random",
            "--depth",
            1,
            "--sprt",
            0,
            100,
            "--workers",
            threads,
            "--pgn",
            tmp_path / "a.pgn",
            "--model",
            "logistic",
        )
        for threads in (1, 3)
    ]
    for result in found:
        assert result["sprt"]["decision"] == "H1" and result["sprt"]["llr"] >= 2.94
        result.pop("pgn")
    assert found[0] == found[1] and found[0]["games"] < 200
    assert len(games_of(tmp_path / "a.pgn")) == found[0]["games"]
    assert play("random", "random", "--plies", 20, "--sprt", 0, 100, "--games", 6)["games"] == 6


def test_the_ladder_includes_players_that_have_learned_nothing():
    ran = done("match", "classic", "random", "--plies", 40, "--depth", 1, "--games", 20)
    rows = re.findall(
        r"^  (\w+) +(\d+) of 20 +[\d.]+ %  \[[\d.]+, [\d.]+\]$", ran.out, re.MULTILINE
    )
    assert [name for name, _ in rows] == ["classic", "material", "zero"]
    wins = [int(wins) for _, wins in rows]
    assert wins[0] > wins[1] >= wins[2] and "initial position" in ran.out
    turned = play("random", "zero", "--plies", 40, "--depth", 1, "--games", 20)["ladder"]
    assert [row["player"] for row in turned["rows"]] == ["zero", "material"] and turned[
        "opponent"
    ] == "random"
    assert turned["rows"][0]["wins"] <= turned["rows"][1]["wins"]


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        ("crash", "crash", "disconnects: exited with status 3"),
        ("illegal", "illegal move", "makes an illegal move: e2e5"),
        ("garbage", None, ""),
    ],
)
def test_an_engine_that_fails_loses_the_game_and_the_match_continues(tmp_path, how, kind, said):
    ran = done(
        "match",
        "zero",
        f"uci:{FAKE} uci {how} 3",
        "--games",
        4,
        "--plies",
        30,
        "--pgn",
        tmp_path / "a.pgn",
        "--random-plies",
        2,
        "--workers",
        2,
        "--depth",
        1,
    )
    games = games_of(tmp_path / "a.pgn")
    assert len(games) == 4
    if kind is None:
        assert (
            all(game.headers["Termination"] in ("normal", "adjudication") for game in games)
            and "Forfeits" not in ran.out
        )
    else:
        assert f"Forfeits: fake lost 4 by {kind}" in ran.out
        assert ran.err.count(f"fake lost a game by {kind}; the match continues") == 1
        for game in games:
            side = "White" if game.headers["Result"] == "0-1" else "Black"
            assert game.headers[side] != "zero"
            # and what passed between them before
            assert re.search(rf"{side} {said}; .*> go depth 1", game.end().comment)


def test_engines_have_the_names_that_they_give_themselves_or_those_of_options(tmp_path):
    words = ("--games", 2, "--plies", 20, "--random-plies", 2, "--depth", 1)
    wrapped = f"uci:env {FAKE} uci crash 900"
    for names, wanted in ((), ("zero", "fake")), (("--name-b", "Later"), ("zero", "Later")):
        found = play("zero", wrapped, *words, *names, "--pgn", tmp_path / "a.pgn")
        assert tuple(found["players"]) == wanted
        assert {game.headers["White"] for game in games_of(tmp_path / "a.pgn")} == set(wanted)
    same = (wrapped, f"uci:env -u NONE {FAKE} uci crash 900")
    assert len(set(play(*same, *words)["players"])) == 2
    said = refused("match", *same, *words, "--name-a", "x", "--name-b", "x")
    assert "both players have the name x; give another --name-b" in said


def test_players_of_another_game_can_play_too(tmp_path):
    found = play(
        "tictactoe/random",
        "tictactoe/random",
        "--games",
        40,
        "--random-plies",
        1,
        "--run",
        tmp_path / "run",
    )
    assert found["games"] == 40 and (tmp_path / "run" / "games.ttt").read_text().count("\n") == 40
    assert (
        "used 4"
        in done(
            "dataset",
            tmp_path / "run" / "games.ttt",
            "-o",
            tmp_path / "a.ds",
            "--params",
            "tictactoe/zero",
            "--duplicates",
            "keep",
        ).err
    )


def test_a_json_result_is_one_object_even_when_all_is_infinite():
    found = json.loads(done("match", "classic", "random", "--depth", 1, "--games", 2, "--json").out)
    assert found["elo"]["value"] is None and found["points"] == 2.0
    assert io.StringIO(json.dumps(found, allow_nan=False))


def test_time_that_runs_out_against_a_bare_king_is_a_draw_and_no_fault(tmp_path):
    openings = file_with(tmp_path / "bare.epd", "4k3/8/8/8/8/8/4P3/4K3 w - -\n")
    options = ("--games", 2, "--tc", "0.0001+0", "--openings", openings, "--pgn", tmp_path / "pgn")
    found = play("material", "zero", *options)
    assert (found["draws"], found["forfeits"]) == (2, {})
    said = (tmp_path / "pgn").read_text()
    assert said.count("{Draw: White runs out of time against a bare king}") == 2


def test_the_log_has_every_line_between_the_programs(tmp_path):
    log = tmp_path / "log.txt"
    done(
        "match",
        f"uci:{FAKE} uci good",
        "random",
        "--games",
        2,
        "--depth",
        1,
        "--plies",
        8,
        "--log",
        log,
    )
    heading, *lines = log.read_text().splitlines()
    assert heading.startswith("# seconds, the engine")
    seconds, ways = [], []
    for line in lines:
        match = re.fullmatch(r"(\d+\.\d{3}) .*fake_engine.py uci good \(\d+\) ([<>]) (.*)", line)
        assert match, line
        seconds.append(float(match[1]))
        ways.append((match[2], match[3]))
    assert seconds == sorted(seconds) and ways[0] == (">", "uci") and (">", "quit") in ways
    assert sum(text.startswith("go depth 1") for way, text in ways if way == ">") > 6
    assert any(way == "<" and text.startswith("bestmove") for way, text in ways)
    done("match", "random", "random", "--games", 2, "--plies", 8, "--depth", 1, "--log", log)
    assert log.read_text() == heading + "\n"  # it is replaced
    said = refused("match", "random", "random", "--games", 2, "--log", "x", "--pgn", "x")
    assert "--log x: is the file of --pgn" in said and not os.path.exists("x")


def test_engines_come_from_a_settings_file(tmp_path):
    path, log = tmp_path / "engines.json", tmp_path / "log.txt"
    path.write_text(
        json.dumps(
            [
                {
                    "name": "Fake 2",
                    "command": f"{FAKE} uci good",
                    "workingDirectory": str(tmp_path),
                    "protocol": "uci",
                    "options": [{"name": "Hash", "value": 8}],
                    "ponder": False,
                }
            ]
        )
    )
    small = ("--games", 2, "--depth", 1, "--plies", 8)
    found = play(f"{path}:Fake 2", "random", *small, "--log", log)
    assert found["players"] == ["Fake 2", "random"]
    assert "setoption name Hash value 8" in log.read_text()
    ran = json.loads(done("tournament", f"{path}:Fake 2", "random", *small, "--json").out)
    assert {player["name"] for player in ran["players"]} == {"Fake 2", "random"}
    said = refused("match", f"{path}:Fake 3", "random")
    assert "has Fake 2, not 'Fake 3'" in said
    path.write_text('[{"name": "x"}]')
    assert "engine 1" in refused("match", f"{path}:x", "random")


@pytest.mark.skipif(not CPUS, reason="no sched_getaffinity on this system")
def test_each_game_has_a_core_of_its_own(tmp_path):
    seen = []

    def work(number):
        before = os.sched_getaffinity(0)
        bind_thread(number)
        child = [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"]
        seen.append((os.sched_getaffinity(0), eval_set(subprocess.check_output(child))))
        assert before == set(CPUS)

    for number in range(len(CPUS) + 1):
        thread = threading.Thread(target=work, args=[number])
        thread.start()
        thread.join()
    assert seen == [({cpu}, {cpu}) for cpu in [*CPUS, CPUS[0]]]
    assert os.sched_getaffinity(0) == set(CPUS)
    play("material", "zero", "--games", 4, "--depth", 1, "--plies", 8, "--affinity")
    assert os.sched_getaffinity(0) == set(CPUS)


def eval_set(text: bytes) -> set[int]:
    """Read a set of numbers as Python prints it."""
    return set(map(int, re.findall(rb"\d+", text)))


def test_a_time_control_of_some_moves_reaches_the_engine(tmp_path):
    log = tmp_path / "log.txt"
    options = "--random-plies 0 --max-moves 8 --workers 1 --games 2 --tc 3/20+0.1 --log"
    done("match", f"uci:{FAKE} uci good", f"uci:{FAKE} uci good", *options.split(), log)
    going = [int(n) for n in re.findall(r"> go .*movestogo (\d+)", log.read_text())]
    assert going[:8:2] == going[1:8:2] == [3, 2, 1, 3]
    for wrong in ("0.5/10", "3/0", "0/10", "x/10"):
        assert "expected a time control" in refused("match", "random", "random", "--tc", wrong)
    said = refused("match", "shogi/zero", "shogi/zero", "--tc", "40/10")
    assert "--tc: the protocol of shogi has no time for a number of moves" in said


PLAYER = (
    f"uci:{shlex.quote(sys.executable)}"
    f" {REPOSITORY / 'tests/games/chess/engines/contest/fake_engine.py'} uci fine"
)


@pytest.mark.long
def test_a_match_sets_what_a_file_says_and_resumes_with_it(here):
    Path("a.txt").write_text("Hash, int, 3, 1, 64, 4, 0.002\n")
    Path("b.txt").write_text("Style=Risky\nHash=5\n")
    command = (PLAYER, PLAYER, "--games", 2, "--plies", 6, "--random-plies", 0, "--depth", 1)
    wanted = play(
        *command, "--with", "a.txt", "--with-b", "b.txt", "--option-b", "Hash=7", "--run", "run"
    )
    settings = yaml.safe_load(Path("run/config.yaml").read_text())["match"]
    assert settings["option_a"] == ["Hash=3"] and settings["option_b"] == [
        "Style=Risky",
        "Hash=5",
        "Hash=7",
    ]
    Path("a.txt").unlink()
    keep_records(Path("run"), 0)
    assert play("--resume", "run")["games"] == wanted["games"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "classic pesto --with a.txt",
            "--with a.txt: classic is not a uci engine, whose options a file could set",
        ),
        ("classic '{player}' --with-b nowhere.txt", "nowhere.txt: no such file"),
        ("'{player}' classic --with a.txt", "a.txt:1: python has no option 'Alpha'"),
        ("'{player}' classic --with high.txt", "high.txt:1: 'Hash' is 99, python accepts 1 to 64"),
        ("'{player}' classic --with empty.txt", "empty.txt: sets no option"),
        ("'uci:no-such-engine' classic --with a.txt", "no-such-engine: no such program"),
    ],
)
def test_a_file_that_cannot_be_set_is_one_line(here, arguments, said):
    for name, text in (("a.txt", "Alpha=1\n"), ("high.txt", "Hash=99\n"), ("empty.txt", "")):
        Path(name).write_text(text)
    ran = tuner("match", *shlex.split(arguments.format(player=PLAYER)))
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said.replace("python", Path(sys.executable).name) in ran.err
