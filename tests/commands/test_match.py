"""`tuner match`: pairs and colours, the same games whatever the concurrency, faults, SPRT, the ladder, and going on."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import chess
import chess.pgn
import pytest
import yaml

from tests.commands.support import Ran, done, tuner, without_compiling
from tests.games.support import REPOSITORY

PATIENCE = 600  # seconds, for a machine on which much else runs
FAKE = f"{sys.executable} {REPOSITORY / 'tests/games/chess/contest/fake_engine.py'}"
PAIR = ("classic", "pesto", "--depth", "1")


def games_of(path: Path) -> list[chess.pgn.Game]:
    found = []
    with open(path) as stream:
        while game := chess.pgn.read_game(stream):
            assert game.errors == []
            found.append(game)
    return found


def comparable(path: Path) -> str:
    """A file of games without the time that moves took, nor the date: it may be midnight."""
    return re.sub(r"\d+\.\d{3}s|\[Date .*\]", "s", path.read_text())


def play(*arguments: object) -> dict:
    return json.loads(done("match", *arguments, "--json").out)


def test_pairs_share_an_opening_with_colours_swapped_and_count_for_a(tmp_path):
    found = play(*PAIR, "--games", 12, "--pgn", tmp_path / "a.pgn", "--random-plies", 6)
    games = games_of(tmp_path / "a.pgn")
    assert [game.headers["Round"] for game in games] == [f"{pair}.{side}" for pair in range(1, 7) for side in (1, 2)]
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
    assert sum(found["pentanomial"]) == 6 and found["plies"] == sum(int(game.headers["PlyCount"]) for game in games)


@pytest.mark.parametrize("limit", [("--depth", 2), ("--nodes", 300)])
def test_games_do_not_depend_on_concurrency(tmp_path, limit):
    for threads in (1, 3):
        play("classic", "pesto", *limit, "--games", 16, "--concurrency", threads, "--pgn", tmp_path / f"{threads}.pgn")
    assert comparable(tmp_path / "1.pgn") == comparable(tmp_path / "3.pgn")


def test_the_seed_changes_the_games(tmp_path):
    for seed in (1, 2):
        play("classic", "random", "--depth", 1, "--games", 2, "--seed", seed, "--pgn", tmp_path / f"{seed}.pgn")
    one, two = (comparable(tmp_path / f"{seed}.pgn") for seed in (1, 2))
    assert one != two


def test_a_player_against_itself_wins_as_often_as_it_loses(tmp_path):
    found = play("classic", "classic", "--depth", 1, "--games", 8, "--pgn", tmp_path / "a.pgn")
    assert found["pentanomial"] == [0, 0, 4, 0, 0] and found["players"] == ["classic", "classic (2)"]


def test_the_result_block_is_that_of_fastchess():
    lines = done("match", *PAIR, "--games", 4).out.splitlines()
    assert lines[0] == "Results of classic vs pesto (depth 1, 8 random plies):"
    assert [line.split(":")[0] for line in lines[1:5]] == ["Elo", "LOS", "Games", "Ptnml(0-2)"]


def test_a_test_stops_at_the_same_pair_whatever_the_concurrency(tmp_path):
    found = [play("classic", "random", "--depth", 1, "--sprt", 0, 100, "--concurrency", threads, "--pgn", tmp_path / "a.pgn",
                  "--model", "logistic") for threads in (1, 3)]
    for result in found:
        assert result["sprt"]["decision"] == "H1" and result["sprt"]["llr"] >= 2.94
        result.pop("pgn")
    assert found[0] == found[1] and found[0]["games"] < 200
    assert len(games_of(tmp_path / "a.pgn")) == found[0]["games"]
    assert play("random", "random", "--plies", 20, "--sprt", 0, 100, "--games", 6)["games"] == 6


def test_the_ladder_stands_beside_those_that_learnt_nothing():
    ran = done("match", "classic", "random", "--plies", 40, "--depth", 1, "--games", 20)
    rows = re.findall(r"^  (\w+) +(\d+) of 20 +[\d.]+ %  \[[\d.]+, [\d.]+\]$", ran.out, re.MULTILINE)
    assert [name for name, _ in rows] == ["classic", "material", "zero"]
    wins = [int(wins) for _, wins in rows]
    assert wins[0] > wins[1] >= wins[2] and "initial position" in ran.out
    turned = play("random", "zero", "--plies", 40, "--depth", 1, "--games", 20)["ladder"]
    assert [row["player"] for row in turned["rows"]] == ["zero", "material"] and turned["opponent"] == "random"
    assert turned["rows"][0]["wins"] <= turned["rows"][1]["wins"]


def test_openings_come_from_a_file_in_order(tmp_path):
    lines = ["rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 b - - 0 1"]
    (tmp_path / "b.epd").write_text("\n".join(lines))
    ran = tuner("match", *PAIR, "--games", 6, "--openings", tmp_path / "b.epd", "--order", "sequential",
                "--pgn", tmp_path / "a.pgn")
    assert ran.status == 0 and "2 openings for 3 pairs: they are repeated" in ran.err
    assert [game.headers["FEN"] for game in games_of(tmp_path / "a.pgn")] == [lines[i] for i in (0, 0, 1, 1, 0, 0)]


@pytest.mark.parametrize(("how", "kind", "said"), [
    ("crash", "crash", "disconnects"), ("illegal", "illegal move", "makes an illegal move: e2e5"), ("garbage", None, "")])
def test_an_engine_that_fails_loses_the_game_and_the_match_goes_on(tmp_path, how, kind, said):
    ran = done("match", "zero", f"uci:{FAKE} uci {how} 3", "--games", 4, "--plies", 30, "--pgn", tmp_path / "a.pgn",
               "--random-plies", 2, "--concurrency", 2, "--depth", 1)
    games = games_of(tmp_path / "a.pgn")
    assert len(games) == 4
    if kind is None:
        assert all(game.headers["Termination"] in ("normal", "adjudication") for game in games) and "Forfeits" not in ran.out
    else:
        assert f"Forfeits: {Path(sys.executable).name} lost 4 by {kind}" in ran.out
        for game in games:
            side = "White" if game.headers["Result"] == "0-1" else "Black"
            assert game.headers[side] != "zero" and game.end().comment.endswith(f"{side} {said}")


def test_adjudication_ends_games_early(tmp_path):
    found = play("classic", "zero", "--depth", 1, "--games", 6, "--resign", "movecount=1", "score=1", "--draw", "movenumber=5",
                 "movecount=1", "score=1000", "--pgn", tmp_path / "a.pgn")
    assert set(found["ends"]) <= {"resign rule", "draw rule", "rules"} and found["plies"] < 6 * 40
    assert all("adjudication" in game.end().comment or "mates" in game.end().comment for game in games_of(tmp_path / "a.pgn"))


def test_players_of_another_game_can_play_too(tmp_path):
    found = play("tictactoe/random", "tictactoe/random", "--games", 40, "--random-plies", 1, "--run", tmp_path / "run")
    assert found["games"] == 40 and (tmp_path / "run" / "games.ttt").read_text().count("\n") == 40
    assert "used 4" in done("dataset", tmp_path / "run" / "games.ttt", "-o", tmp_path / "a.ds", "--params", "tictactoe/zero",
                            "--duplicates", "keep").err


# going on


def start(folder: Path, *more: object) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "tuner", "match", *map(str, more or ("--resume", folder))],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=REPOSITORY, text=True)


def pairs_in(folder: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return (folder / "history.jsonl").read_bytes().count(b"\n")
    return 0


def test_killed_again_and_again_a_match_ends_with_the_same_games(tmp_path):
    wanted = play(*PAIR, "--games", 120, "--run", tmp_path / "whole", "--pgn", tmp_path / "whole.pgn")
    folder, dice, kills = tmp_path / "run", random.Random(1), 0
    command = (*PAIR, "--games", 120, "--run", folder)
    for _ in range(6):
        before = pairs_in(folder)
        process = start(folder, *(command if not (folder / "config.yaml").exists() else ()))
        wanted_pairs = min(before + dice.randint(1, 9), 59)
        while pairs_in(folder) < wanted_pairs and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
        process.stdout.close()
        with contextlib.suppress(FileNotFoundError):  # as if it had come within a write
            os.truncate(folder / "history.jsonl", max(0, (folder / "history.jsonl").stat().st_size - dice.randint(0, 60)))
    assert kills > 1  # a busy machine may look too late, when the match is over
    found = play("--resume", folder, "--pgn", tmp_path / "run.pgn", "--concurrency", 3)
    for name in ("games", "wins", "losses", "draws", "pentanomial", "plies", "ends", "players"):
        assert found[name] == wanted[name]
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert sorted(line["pair"] for line in lines) == list(range(60))
    assert comparable(tmp_path / "run.pgn") == comparable(tmp_path / "whole.pgn")
    again = play("--resume", folder)  # nothing is left to play
    assert again["games"] == 120 and pairs_in(folder) == 60


def cut(content: bytes, dice: random.Random) -> bytes:
    return content[:dice.randrange(len(content))]


def flipped(content: bytes, dice: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(3):
        changed[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def nulled(content: bytes, dice: random.Random) -> bytes:
    begin = dice.randrange(len(content))
    return content[:begin] + b"\0" * len(content[begin:begin + 500]) + content[begin + 500:]


def without_a_line(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.pop(dice.randrange(len(lines)))
    return b"".join(lines)


def with_a_line_twice(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.insert(dice.randrange(len(lines)), dice.choice(lines))
    return b"".join(lines)


def with_another_line(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.insert(dice.randrange(len(lines)), dice.choice([b"[1]\n", b'{"leg": "x"}\n', b"nonsense\n", b"\xff\0\n", b"{}\n"]))
    return b"".join(lines)


DAMAGE = (cut, flipped, nulled, without_a_line, with_a_line_twice, with_another_line)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", ["history.jsonl", "games.pgn"])
def test_a_damaged_match_ends_with_the_same_games_and_says_what_was_damaged(tmp_path, name, damage):
    folder, whole = tmp_path / "run", tmp_path / "whole.pgn"
    wanted = play("random", "random", "--plies", 12, "--games", 30, "--run", folder, "--pgn", whole, "--random-plies", 0)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    for seed in range(3):
        for path in folder.iterdir():
            path.unlink()
        for other, content in files.items():
            (folder / other).write_bytes(damage(content, random.Random(seed)) if other == name else content)
        damaged = (folder / name).read_bytes()
        ran = done("match", "--resume", folder, "--pgn", tmp_path / "again.pgn", "--json")
        assert {**json.loads(ran.out), "pgn": None} == {**wanted, "pgn": None}
        assert comparable(tmp_path / "again.pgn") == comparable(whole)
        if damage is with_another_line and name == "games.pgn":
            assert f"{folder / 'history.jsonl'}:" in ran.err
        if (folder / "history.jsonl").read_bytes()[:len(files["history.jsonl"])] != files["history.jsonl"]:
            kept = [path.read_bytes() for path in folder.glob("*.damaged-*")]
            assert damage in (cut, without_a_line) or kept and "damaged-1" in ran.err
            assert name == "games.pgn" or damage in (cut, without_a_line) or damaged in kept


def test_an_interrupt_prints_the_result_so_far_and_keeps_the_folder(tmp_path):
    folder = tmp_path / "run"
    process = start(folder, "classic", "pesto", "--depth", 2, "--games", 100000, "--run", folder, "--pgn", tmp_path / "a.pgn")
    while pairs_in(folder) < 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    games = int(re.search(r"^Games: (\d+)", out, re.MULTILINE)[1])
    assert games == 2 * pairs_in(folder) >= 6 and f"tuner match --resume {folder}" in out
    assert len(games_of(tmp_path / "a.pgn")) == games


def test_a_match_that_goes_on_plays_with_the_parameters_it_began_with(tmp_path):
    mine, folder = tmp_path / "mine.yaml", tmp_path / "run"
    classic = (REPOSITORY / "params/chess/classic.yaml").read_text()
    mine.write_text(classic)
    whole = play(mine, "pesto", "--depth", 1, "--games", 8, "--run", folder)
    history = (folder / "history.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "history.jsonl").write_bytes(b"".join(history[:2]))
    mine.unlink()
    found = play("--resume", folder)
    assert {**found, "pgn": None} == {**whole, "pgn": None} and found["players"] == ["mine", "pesto"]
    assert yaml.safe_load((folder / "config.yaml").read_text())["match"]["games"] == 8


@pytest.mark.parametrize(("name", "value", "said"), [
    ("games", -4, "games is -4, expected a number from 2 to"), ("games", 7, "games is 7, expected an even number"),
    ("games", [2], "games is a list, expected int | None"), ("games", None, "games and sprt are both null"),
    ("sprt", [0], "sprt is a list"), ("sprt", ["a", "b"], "sprt is a list"), ("alpha", "x", "alpha is 'x', expected float"),
    ("controls", [{"depth": 1}], "controls is a list"), ("controls", [{}, {}], "controls are not limits of"),
    ("controls", [{"depth": -1}, {"depth": 1}], "depth of controls is -1"),
    ("controls", [{"ply": 1}, {"ply": 1}], "controls are not limits of"),
    ("controls", [{"depth": True}, {"depth": 1}], "depth of controls is True, expected a number"),
    ("controls", [{"depth": None}, {"depth": 1}], "controls have no limit, expected depth"),
    ("order", "x", "order is 'x', expected random or"),
    ("random_plies", -8, "random_plies is -8"), ("seed", 1e9, "seed is 1000000000.0, expected int"), ("plies", -3, "plies is -3"),
    ("hash", 0, "hash is 0"), ("resign", [3], "resign is a list"), ("files", [], "files is a list"),
    ("names", ["a"], "names is a list"),
    ("a", None, "a is None, expected str"), ("model", "x", "unknown SPRT model 'x'"), ("terms", {}, "terms is a mapping")],
    ids=lambda value: str(value)[:30])
def test_settings_that_make_no_sense_are_refused(tmp_path, name, value, said):
    play("random", "random", "--games", 2, "--plies", 6, "--random-plies", 0, "--run", tmp_path / "run", "--sprt", 0, 5)
    path = tmp_path / "run" / "config.yaml"
    config = yaml.safe_load(path.read_text())
    config["match"] |= {"sprt": None} if value is None and name == "games" else {}
    config["match"][name] = value
    path.write_text(yaml.safe_dump(config))
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    ran = tuner("match", "--resume", path.parent)
    assert (ran.status, ran.err.count("\n")) == (2, 1) and said in ran.err, ran.err
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_match_that_goes_on_wants_the_copies_of_its_parameters(tmp_path):
    play(*PAIR, "--games", 2, "--run", tmp_path / "run", "--random-plies", 0)
    (tmp_path / "run" / "b.yaml").unlink()
    ran = tuner("match", "--resume", tmp_path / "run")
    assert ran.status == 2 and "b.yaml: is missing, the parameters of" in ran.err and ran.err.count("\n") == 1


def test_a_match_that_another_version_began_goes_on_with_a_note(tmp_path):
    play("zero", "random", "--games", 2, "--depth", 1, "--run", tmp_path / "run", "--random-plies", 0)
    config = tmp_path / "run" / "config.yaml"
    config.write_text(re.sub("evaluation: .*", "evaluation: other", config.read_text()))
    ran = done("match", "--resume", tmp_path / "run")
    assert "the program or the machine is not the one that the match began with" in ran.err and "Games: 2," in ran.out


FILES = {"book.epd": "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1\n", "empty.epd": "", "words.pgn": "dear reader,",
         "broken.yaml": "game: chess\nstages: [mg, eg]\nweights: {}\n", "notes.txt": "x"}
CASES = {
    "match": "match: expected two players, A and B, or --resume DIR",
    "match classic": "match: expected two players, A and B",
    "match classic nothing": "nothing: no such file; bundled parameter files: classic, material, pesto, zero; or random, "
                             'an engine on the PATH, or "uci:COMMAND"',
    "match nothing.yaml classic": "nothing.yaml: no such file",
    "match classic broken.yaml": "broken.yaml:3: weights lacks",
    "match classic uci:no-such-engine": "no-such-engine: no such program, expected the command of a uci engine",
    "match classic xboard:no-such-engine": "no-such-engine: no such program, expected the command of a xboard engine",
    "match classic uci:": "'': no such program",
    "match classic uci:/bin/false": "/bin/false: ended at once; is it a uci engine?",
    "match classic tictactoe/random": "classic plays chess, random plays tictactoe: name two players of one game",
    "match tictactoe/classic tictactoe/random": "tictactoe has no search to play classic with; tictactoe/random can play",
    "match tictactoe/random uci:/bin/false": "uci:/bin/false: tictactoe has no uci engines",
    "match tictactoe/random tictactoe/random --openings book.epd": "tictactoe reads no openings; --random-plies N makes some",
    "match classic pesto --games 7": "--games 7: games come in pairs, expected an even number",
    "match classic pesto --games 0": "--games 0: games come in pairs, expected an even number",
    "match classic pesto --games -2": "argument --games: '-2' is not a whole number of 0 or more",
    "match classic pesto --sprt 5 0": "SPRT from elo0 5 to elo1 0: elo0 must be less than elo1",
    "match classic pesto --sprt 0 5 --alpha 0": "SPRT with alpha 0, beta 0.05: both must be positive",
    "match classic pesto --sprt 0 5 --model ordinal": "argument --model: invalid choice: 'ordinal'",
    "match classic pesto --depth 3 --nodes 5": "argument --nodes: not allowed with argument --depth",
    "match classic pesto --depth-a 3 --nodes-a 5": "--depth-a and --nodes-a: one of them limits a move, leave the other out",
    "match classic pesto --tc fast": "argument --tc: 'fast' is not a time control in seconds, such as 10+0.1",
    "match classic pesto --tc 0+1": "argument --tc: '0+1' is not a time control in seconds, such as 10+0.1",
    "match classic pesto --movetime 0": "argument --movetime: '0' is not a positive number",
    "match classic pesto --openings nowhere.epd": "nowhere.epd: no such file",
    "match classic pesto --openings empty.epd": "empty.epd: no openings found; expected lines of EPD",
    "match classic pesto --openings words.pgn": "words.pgn: no openings found",
    "match classic pesto --openings hollow": "hollow: cannot be read: Is a directory",
    "match classic pesto --openings book.epd --random-plies 4": "--random-plies: makes openings where --openings names none",
    "match classic pesto --random-plies 900 --games 2": "no balanced position after 900 random plies in",
    "match classic pesto --resign score": "--resign score: expected a whole number of 1 or more after score=",
    "match classic pesto --draw moves=3": "--draw moves=3: unknown, expected movenumber=N, movecount=N, score=N",
    "match classic pesto --option-a Hash=3": "--option-a Hash: classic is not an external engine and has no options",
    "match classic pesto --option-b Hash": "--option-b Hash: expected NAME=VALUE",
    "match classic pesto --pgn nowhere/a.pgn": "nowhere: no such folder to write a.pgn in; make it first",
    "match classic pesto --pgn hollow": "hollow: is a folder, expected the name of a file to write",
    "match classic pesto --run notes.txt": "notes.txt: cannot be made a folder: File exists",
    "match classic pesto --run used": "used: holds a run already; go on with it by --resume used, or choose another folder",
    "match classic pesto --concurrency 0": "argument --concurrency: '0' is not a whole number of 1 or more",
    "match classic pesto --terms nothing.py": "nothing.py: no such file",
    "match --resume nowhere": "nowhere: holds no match (no config.yaml); start one with --run nowhere",
    "match --resume strange": "strange/config.yaml: not the settings of a match of this version; start another with --run",
    "match --resume torn": "torn/config.yaml: cannot be read: ",
    "match classic --resume used": "classic: a run that goes on takes nothing but --concurrency, --pgn and --json",
    "match --resume used --games 50": "--games: a run that goes on takes nothing but --concurrency, --pgn and --json",
    "match --resume used --pgn used/a.pgn": "used/a.pgn: in the folder where a run keeps its own files",
    "match --resume moved": "book.epd: is not what it was when the match began; put it back, or start another match",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_text(content)
    (folder / "hollow").mkdir()
    for name, text in (("strange", "command: x\n"), ("torn", "match: [\n")):
        (folder / name).mkdir()
        (folder / name / "config.yaml").write_text(text)
    (folder / "moving.epd").write_text(FILES["book.epd"])
    done("match", "random", "random", "--games", 2, "--plies", 6, "--run", folder / "used", "--random-plies", 0)
    done("match", "random", "random", "--games", 2, "--plies", 6, "--run", folder / "moved", "--openings", folder / "book.epd")
    config = folder / "moved" / "config.yaml"
    config.write_text(re.sub(r"[0-9a-f]{64}", "f" * 64, config.read_text()))
    return folder


@pytest.mark.parametrize(("command", "said"), CASES.items(), ids=list(CASES))
def test_a_mistake_is_one_line_and_status_2_and_nothing_is_written(folder, monkeypatch, command, said):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("tuner.match.openings.HOPELESS", 30)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    ran: Ran = tuner(*command.split())
    assert (ran.status, ran.out) == (2, "")
    *notes, last = without_compiling(ran.err).splitlines()
    assert last.startswith("tuner") and said in last and last.isprintable()
    assert all("skipped" in note for note in notes)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before


def test_a_json_result_is_one_object_even_when_all_is_infinite():
    found = json.loads(done("match", "classic", "random", "--depth", 1, "--games", 2, "--json").out)
    assert found["elo"]["value"] is None and found["points"] == 2.0
    assert io.StringIO(json.dumps(found, allow_nan=False))
