"""`tuner optimize`: both sides of a pair play with other values, what a run knows is in its
journal, and a match decides."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
import yaml

from tests.commands.support import done, refused, tuner
from tests.games.support import REPOSITORY
from tests.support import file_with
from tests.tuner.core.support import execute, keep_records, read_records
from tuner.evaluation.loading import load_parameters
from tuner.optimize.local import Local
from tuner.optimize.numbers import read_numbers, rounded_apart
from tuner.parameters.writer import write_parameters

ENGINE = REPOSITORY / "tests" / "tuner" / "optimize" / "engine.py"
OWN = """Search.LmrDivisor, int, 230, 100, 800, 40, 0.01
material.knight.mg, int, 337, 100, 600, 40, 0.01
material.queen.eg, float, 936.5, 500, 1400, 60, 0.01
"""
LOOKS = "Looks, int, 4, 1, 40, 3, 0.05\nMood, int, 0, -9, 9, 3, 0.05\n"
FAST = ("--depth", 1, "--plies", 30, "--workers", 1, "--match-games", 0)
SHORT = ("--random-plies", 4, "--resign", "movecount=2", "score=300")


def engine(*more: object) -> str:
    return "uci:" + shlex.join(map(str, (sys.executable, ENGINE, *more)))


def file_of(tmp_path: Path, text: str = OWN) -> Path:
    return file_with(tmp_path / "given.txt", text)


def optimize(*arguments: object) -> dict:
    return json.loads(done("optimize", *arguments, "--json").out)


def lines_of(folder: Path) -> list[dict]:
    return read_records(folder)


def test_a_run_plays_pairs_with_other_values_on_both_sides_and_writes_the_best(tmp_path):
    run = tmp_path / "run"
    found = optimize("classic", "--options", file_of(tmp_path), "--games", 60, *FAST, "--run", run)
    numbers, lines = read_numbers(tmp_path / "given.txt"), lines_of(run)
    assert found["doubt"] and {row["verdict"] for row in found["numbers"]} == {"not known yet"}
    assert found["forfeits"] == {}
    assert found["games"] == 60 and sorted(line["pair"] for line in lines) == list(range(30))
    for line in lines:
        assert line["a"] != line["b"]
        for value, number in zip([*line["a"], *line["b"]], [*numbers, *numbers], strict=True):
            assert number.low <= value <= number.high
            assert not number.whole or value == int(value)
    best = {number.name: number.value for number in read_numbers(run / "best.txt")}
    assert best == found["best"] and set(best) == {number.name for number in numbers}
    options = (run / "options.txt").read_text().splitlines()
    assert options[0] == f"setoption name Search.LmrDivisor value {best['Search.LmrDivisor']:.0f}"
    given, learned = load_parameters("classic"), load_parameters(run / "best.yaml")
    places = given.weights != learned.weights
    assert places.sum() <= 2
    labels = given.layout.labels()
    knight, queen = labels.index("material.knight"), labels.index("material.queen")
    assert learned.weights[0, knight] == pytest.approx(best["material.knight.mg"], abs=0.006)
    assert learned.weights[1, queen] == pytest.approx(best["material.queen.eg"], abs=0.006)


def test_every_value_played_follows_from_the_pairs_before(tmp_path):
    """The method proposes one pair ahead of the one that is played."""
    run = tmp_path / "run"
    optimize(
        *("classic", "--options", file_of(tmp_path), "--games", 80, *FAST, "--run", run),
        *("--seed", 5),
    )
    numbers, lines = read_numbers(run / "numbers.txt"), lines_of(run)
    made = Local(numbers, 5)
    proposed = [made.proposal(0), made.proposal(1)]
    for k, line in enumerate(lines):
        draws = np.random.default_rng((5, k, 1))
        a, b = rounded_apart(numbers, *proposed[k], draws)
        assert (line["pair"], tuple(line["a"]), tuple(line["b"])) == (k, a, b)
        score = 0.5 + sum(line["line"]["outcomes"]) / 4
        made.add(k, np.array(a), np.array(b), score)
        proposed.append(made.proposal(k + 2))


@pytest.mark.long
def test_a_run_goes_on_from_its_journal_alone_and_more_games_keep_the_plan(tmp_path):
    run, file = tmp_path / "run", file_of(tmp_path)
    optimize("classic", "--options", file, "--games", 60, *FAST, "--run", run)
    file.unlink()
    whole = lines_of(run)
    seen = []
    for _ in range(2):  # the same journal, the same games
        keep_records(run, 12)
        found = optimize("--resume", run, "--workers", 1, "--games", 80)
        assert found["games"] == 80
        seen.append(lines_of(run))
    assert seen[0] == seen[1]
    assert [line["pair"] for line in seen[0]] == list(range(40))
    assert seen[0][:12] == whole[:12]
    settings = yaml.safe_load((run / "config.yaml").read_text())["optimize"]
    assert (settings["games"], settings["planned"]) == (80, 30)


@pytest.mark.long
def test_a_run_that_is_killed_loses_no_pair_that_it_wrote(tmp_path):
    run = tmp_path / "run"
    words = ["classic", "--options", file_of(tmp_path), "--games", 400, *FAST, "--run", run]
    for kill in range(4):
        command = words if not (run / "config.yaml").exists() else ["--resume", run]
        process = subprocess.Popen(
            [sys.executable, "-m", "tuner", "optimize", *map(str, command)],
            cwd=REPOSITORY,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        wanted = 10 * (kill + 1)
        while process.poll() is None and len(lines_of(run)) < wanted:
            time.sleep(0.01)
        before = lines_of(run)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert lines_of(run)[: len(before)] == before
    found = optimize("--resume", run)
    assert found["games"] == 400
    assert sorted(line["pair"] for line in lines_of(run)) == list(range(200))


def test_an_engine_is_given_the_values_of_each_pair(tmp_path):
    log, run = tmp_path / "log", tmp_path / "run"
    optimize(
        *(engine(log), "--options", file_of(tmp_path, LOOKS), "--games", 12, *FAST, *SHORT),
        *("--run", run),
    )
    numbers, lines = read_numbers(run / "numbers.txt"), lines_of(run)
    wanted = {
        f"{number.name}={number.text(value)}"
        for line in lines
        for side in (line["a"], line["b"])
        for number, value in zip(numbers, side, strict=True)
    }
    said = set(log.read_text().split())
    assert wanted <= said and all(each in wanted or each.startswith("Hash") for each in said)


@pytest.mark.long
def test_an_engine_that_crashes_ends_the_run_in_one_line(tmp_path):
    words = (engine("/dev/null", "crash"), "--options", file_of(tmp_path, LOOKS), "--games", 100)
    ran = tuner("optimize", *words, *FAST, *SHORT, "--run", tmp_path / "run")
    said = ran.err.splitlines()[-1]
    assert ran.status == 2
    assert "20 of 20 games were lost by faults of the engine (crash), expected at most 5 %" in said
    values = r"; with \w+ -?\d+, .*; its games are in "  # of the last game
    assert re.search(values + re.escape(f"{tmp_path / 'run' / 'faults.pgn'}; correct it"), said)
    assert re.search("lost a game by a? ?crash; the run goes on" + values, ran.err)


def test_an_engine_without_numbers_to_tune_says_so(tmp_path):
    script = file_with(
        tmp_path / "engine",
        "#!/bin/sh\nwhile read line; do case $line in uci) echo option name Ponder type check"
        " default false; echo uciok;; isready) echo readyok;; quit) exit;; esac; done\n",
    )
    script.chmod(0o755)
    assert "has no option with a range" in refused("optimize", f"uci:{script}", "--list")


@pytest.mark.long
def test_games_lost_by_faults_are_counted_on_the_page(tmp_path):
    words = (engine("/dev/null", "crash"), "--options", file_of(tmp_path, LOOKS), "--games", 12)
    found = optimize(*words, *FAST, *SHORT, "--run", tmp_path / "run")
    assert set(found["forfeits"]) <= {"a crash", "b crash"}
    with open(Path(found["run"]) / "faults.pgn") as stream:
        kept = list(iter(lambda: chess.pgn.read_game(stream), None))
    assert len(kept) == sum(found["forfeits"].values())
    assert all(game.headers["Result"] in ("1-0", "0-1") for game in kept)
    assert sum(found["forfeits"].values()) == 12
    done("report", tmp_path / "run", "-o", tmp_path / "page.html")
    text = re.sub("<[^>]+>", " ", (tmp_path / "page.html").read_text())
    assert re.search(r"Lost by faults\s+12\s+\d+ crash", text)


def test_all_numbers_of_a_player_are_listed_and_can_be_read_again(tmp_path):
    listed = done("optimize", "classic", "--list").out
    numbers = read_numbers(file_of(tmp_path, "\n".join(listed.splitlines()[:1000])))
    assert numbers[0].name == "Search.ReverseFutilityDepth"
    assert {"Search.LmrDivisor", "material.knight.mg"} <= {number.name for number in numbers}
    assert done("optimize", engine(), "--list").out.splitlines() == [
        "Looks, int, 1, 1, 40, 2, 0.002",
        "Mood, int, 0, -9, 9, 1, 0.002",
    ]


@pytest.mark.long
def test_weights_that_win_are_written_into_a_source_and_others_are_not(here):
    source = "int material_knight[2] = {30, 30};\nint material_bishop[2] = {1, 2};\n"
    Path("eval.h").write_text(source)
    file_of(here, "material.knight.mg, int, 30, 10, 600, 50, 0.05\n")
    weak = load_parameters("classic")
    column = weak.layout.labels().index("material.knight")
    weak.weights[:, column] = 30
    write_parameters(Path("weak.yaml"), weak)
    words = ("weak.yaml", "--options", "given.txt", "--games", 100, *FAST[:2], "--into", "eval.h")
    kept = done("optimize", *words, "--match-games", 2, "--run", "kept")
    assert Path("eval.h").read_text() == source
    assert "eval.h: nothing was written there" in kept.out
    ran = done("optimize", *words, "--match-games", 2000, "--gain", 60, "--run", "won")
    assert "the best values are better" in ran.out and "wrote eval.h: 1 numbers changed" in ran.out
    best = {number.name: number.text(number.value) for number in read_numbers(Path("won/best.txt"))}
    assert Path("eval.h").read_text() == source.replace(
        "{30, 30}", f"{{{best['material.knight.mg']}, 30}}"
    )


BAD = {
    "optimize": "optimize: expected PLAYER and --options FILE, or --resume DIR",
    "optimize classic": "optimize: expected --options FILE with the numbers",
    "optimize classic --options none.txt": "none.txt: cannot be read: No such file",
    "optimize classic --options given.txt --games 61": "games is 61, expected an even number",
    "optimize classic --options given.txt --opponent pesto --games 62": (
        "--games 62: expected a multiple of 4, because games are played in pairs against the"
    ),
    "optimize classic --options given.txt --match-games 3": "match-games is 3, expected an even",
    "optimize classic --options given.txt --gain 0": "gain is 0, expected a positive number",
    "optimize classic --options given.txt --run full": "full: contains unrelated files",
    "optimize nobody --options given.txt": "nobody: no such file",
    "optimize random --options given.txt": "random has no options; expected an engine",
    "optimize pubeval --options given.txt": "pubeval has no options; expected an engine",
    "optimize pesto --options unknown.txt": (
        "unknown.txt: Search.LmrDivisr: chess has no such weight, nor such a constant of its"
        " search; did you mean Search.LmrDivisor?"
    ),
    "optimize classic --options beyond.txt": (
        "beyond.txt: Search.LmrDivisor=10: expected a whole number from 100 to 800"
    ),
    "optimize classic --options float.txt": (
        "float.txt: Search.LmrDivisor takes whole numbers; write int"
    ),
    "optimize classic --options long.json": "long.json: a number has too many digits",
    "optimize backgammon/classic --options given.txt": (
        "given.txt: Search.LmrDivisor: backgammon has no such weight"
    ),
    "optimize backgammon/classic --options given.txt --resign score=3": "--resign: games of",
    "optimize xboard:fairymax --options given.txt": "its options are not known; expected a uci",
    "optimize ubgi:gnubg --options given.txt": "engines of backgammon have no options",
    "optimize ENGINE --options given.txt": (
        "given.txt: Search.LmrDivisor: the engine has no such option"
    ),
    "optimize ENGINE --options wide.txt": (
        "wide.txt: Looks: min and max are 1 and 41, but the engine takes 1 to 40"
    ),
    "optimize ENGINE --options broken.txt": (
        "broken.txt: Looks: the engine takes whole numbers here; write int"
    ),
    "optimize ENGINE --options combo.txt": (
        "combo.txt: Style: is a combo option, expected one that is a number"
    ),
    "optimize classic --options given.txt --into none.h": "none.h: ",
    "optimize classic --options given.txt --into given.txt": "given.txt: ",
    "optimize ENGINE --options looks.txt --into none.h": (
        "--into none.h: no number in looks.txt is a weight of a parameter file"
    ),
    "optimize --resume nowhere": "nowhere: no such folder",
    "optimize --resume run --seed 3": "--seed: a resumed run keeps its settings",
    "optimize --resume run --games 4": "--games 4: expected an even number of 8 or more",
    "optimize --resume damaged": "run.db: result 1: damaged, a is a list of 4, expected 3 numbers",
    "optimize --resume shorter": "run.db: result 2: damaged, records before it are missing",
    "optimize --resume twice": "run.db: result 2: damaged, pair 1 is there twice",
    "optimize --resume other": "numbers.txt:1: ",
    "report fresh": "fresh: there is no estimate yet",
    "report run --match other": "a page of optimize shows its own games",
}


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "given.txt").write_text(OWN)
    files = {
        "unknown.txt": "Search.LmrDivisr, int, 230, 100, 800, 40, 0.002\n",
        "beyond.txt": "Search.LmrDivisor, int, 230, 10, 800, 40, 0.002\n",
        "float.txt": "Search.LmrDivisor, float, 230, 100, 800, 40, 0.002\n",
        "looks.txt": LOOKS,
        "wide.txt": "Looks, int, 4, 1, 41, 3, 0.05\n",
        "broken.txt": "Looks, float, 4, 1, 40, 3, 0.05\n",
        "long.json": f'{{"Looks": {{"value": {"9" * 5000}}}}}\n',
        "combo.txt": "Style, int, 4, 1, 40, 3, 0.05\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "full").mkdir()
    (folder / "full" / "letter").write_text("Dear")
    words = ("classic", "--options", folder / "given.txt", "--games", 8, *FAST)
    for name in ("run", "damaged", "other", "fresh", "shorter", "twice"):
        optimize(*words, "--run", folder / name)
    longer = json.dumps(lines_of(folder / "damaged")[1]).replace('"a": [', '"a": [1, ')
    execute(folder / "damaged", "UPDATE records SET json = ? WHERE number = 1", longer)
    execute(folder / "shorter", "DELETE FROM records WHERE number = 1")
    again = json.dumps(lines_of(folder / "twice")[1])
    execute(folder / "twice", "UPDATE records SET json = ? WHERE number = 2", again)
    (folder / "other" / "numbers.txt").write_text("nonsense\n")
    execute(folder / "fresh", "DELETE FROM records WHERE kind = 'estimate'")
    return folder


@pytest.mark.parametrize("command", BAD)
def test_a_mistake_is_one_line_and_nothing_is_written(mistakes, command, monkeypatch):
    monkeypatch.chdir(mistakes)
    before = {path: path.read_bytes() for path in mistakes.rglob("*") if path.is_file()}
    words = [engine() if word == "ENGINE" else word for word in command.split()]
    said = refused(*words)
    assert BAD[command] in said
    after = {path: path.read_bytes() for path in mistakes.rglob("*") if path.is_file()}
    assert after == before


def test_one_option_in_two_cases_is_refused(tmp_path):
    names = file_of(tmp_path, LOOKS + "looks, int, 4, 1, 40, 3, 0.05\n")
    said = refused("optimize", engine(), "--options", names, "--games", 4, *FAST)
    assert f"{names}: Looks and looks are one option of the engine; remove one" in said


LISTED = """import sys
for line in sys.stdin:
    if line.strip() == "uci":
        print("option name Huge type spin default 0 min 0 max 99999999999")
        print("option name #x type spin default 1 min 0 max 5")
        print("option name A, b type spin default 1 min 0 max 5")
        print("option name Out type spin default 50 min 0 max 5")
        print("option name Good type spin default 3 min 0 max 5")
        print("uciok", flush=True)
    elif line.strip() == "isready":
        print("readyok", flush=True)
    elif line.strip() == "quit":
        break
"""


def test_what_is_listed_is_read_and_the_rest_is_a_comment(tmp_path):
    program = file_with(tmp_path / "listed.py", LISTED)
    out = done("optimize", "uci:" + shlex.join([sys.executable, str(program)]), "--list").out
    (number,) = read_numbers(file_of(tmp_path, out))
    assert number.name == "Good" and out.count("\n# ") + out.startswith("# ") == 4
    assert "# Out: value is 50, expected a number from 0 to 5\n" in out
