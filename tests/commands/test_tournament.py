"""`tuner tournament`: everybody against everybody, the same table whatever happens on the way, more
games later, players with settings of their own, a ladder, and mistakes in one line."""

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import yaml

from tests.commands.match_support import comparable, games_of, pairs_in
from tests.commands.support import done, refused
from tests.games.support import REPOSITORY
from tests.tuner.core.support import read_records
from tuner.report.page import render
from tuner.report.tournament import tournament_page

FOUR = ("classic", "pesto", "zero", "random", "--depth", 1, "--plies", 60, "--random-plies", 4)
FAKE = f"uci:{sys.executable} {REPOSITORY / 'tests/games/chess/engines/contest/fake_engine.py'}"


def play(*arguments: object) -> dict:
    return json.loads(done("tournament", *arguments, "--json").out)


def table(found: dict) -> dict:
    """What does not depend on where the games were kept."""
    return {name: found[name] for name in ("players", "pairings", "games", "unit", "kind")}


@pytest.fixture(scope="module")
def cup(tmp_path_factory):
    """A folder, its games, and what was printed."""
    folder = tmp_path_factory.mktemp("cup")
    found = play(*FOUR, "--games", 8, "--run", folder / "run", "--pgn", folder / "a.pgn")
    return folder, found


def test_everybody_plays_everybody_from_the_same_openings_with_colours_swapped(cup):
    folder, found = cup
    games = games_of(folder / "a.pgn")
    assert len(games) == found["games"] == 48
    sides = [(game.headers["White"], game.headers["Black"]) for game in games]
    assert all(sides.count(pair) == sides.count(pair[::-1]) == 4 for pair in set(sides))
    assert len(set(sides)) == 12
    for first, second in zip(games[::2], games[1::2], strict=True):
        openings = [list(game.mainline_moves())[:4] for game in (first, second)]
        assert openings[0] == openings[1]
        assert first.headers["White"] == second.headers["Black"]
        assert first.headers["Event"] == "tuner tournament"
    score = {"1-0": 1, "1/2-1/2": 0.5, "0-1": 0}
    for player in found["players"]:
        own = [
            score[game.headers["Result"]]
            if game.headers["White"] == player["name"]
            else 1 - score[game.headers["Result"]]
            for game in games
            if player["name"] in (game.headers["White"], game.headers["Black"])
        ]
        assert (player["points"], player["games"]) == (sum(own), len(own))
        assert (player["wins"], player["draws"]) == (own.count(1), own.count(0.5))
    ranked = [
        player["rating"]["value"]
        for player in found["players"]
        if player["rating"]["standard_error"]
    ]
    assert ranked == sorted(ranked, reverse=True)


@pytest.mark.long
def test_the_table_is_the_same_for_any_number_of_threads_and_with_more_games_later(cup, tmp_path):
    folder, found = cup
    one = play(*FOUR, "--games", 8, "--workers", 3, "--pgn", tmp_path / "a.pgn")
    assert table(one) == table(found)
    assert comparable(tmp_path / "a.pgn") == comparable(folder / "a.pgn")
    shutil.copytree(folder / "run", tmp_path / "run")
    longer = play("--resume", tmp_path / "run", "--games", 12, "--pgn", tmp_path / "more.pgn")
    whole = play(*FOUR, "--games", 12, "--pgn", tmp_path / "whole.pgn")
    assert table(longer) == table(whole) and whole["games"] == 72
    assert comparable(tmp_path / "more.pgn") == comparable(tmp_path / "whole.pgn")
    again = play("--resume", tmp_path / "run")
    assert table(again) == table(whole)
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert config["tournament"]["games"] == 12
    assert "--games 12 " in config["command"] + " " and "--games 8" not in config["command"]
    said = refused("tournament", "--resume", tmp_path / "run", "--games", 8)
    assert "--games 8: expected an even number of 12 or more" in said


def killed(folder, command, kills: int, dice: random.Random) -> int:
    """Kill a tournament after some pairs each time; return how often it was killed. The last option
    of the command is also given when it goes on."""
    hit = 0
    for _ in range(kills):
        begun = (folder / "config.yaml").exists()
        words = ("--resume", folder, *command[-2:]) if begun else command
        before = pairs_in(folder)
        process = subprocess.Popen(
            [sys.executable, "-m", "tuner", "tournament", *map(str, words)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=REPOSITORY,
        )
        while pairs_in(folder) < before + dice.randint(1, 2) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        hit += process.wait() == -signal.SIGKILL
    return hit


@pytest.mark.long
@pytest.mark.parametrize("kills", [1, 5])
def test_a_killed_tournament_ends_with_the_same_table(cup, tmp_path, kills):
    folder, found = cup
    run = tmp_path / "run"
    games = tmp_path / "a.pgn"
    command = (*FOUR, "--games", 8, "--run", run, "--workers", 1, "--pgn", games)
    assert killed(run, command, kills, random.Random(kills)) > 0
    assert pairs_in(run) < 24 and len(games_of(games)) >= 2 * pairs_in(run) - 2
    resumed = play("--resume", run, "--pgn", games)
    assert table(resumed) == table(found)
    assert comparable(games) == comparable(folder / "a.pgn")
    lines = read_records(run)
    assert len(lines) == len({(line["leg"], line["pair"]) for line in lines}) == 24


def test_players_have_limits_names_and_options_of_their_own(tmp_path):
    found = play(
        "classic",
        *("--player", "classic", "name=deep", "depth=2"),
        *("--player", f"{FAKE} uci steady 1", "option.Hash=1", "movetime=0.5"),
        *("--depth", 1, "--games", 2, "--plies", 8, "--anchor", "deep=3000"),
        *("--run", tmp_path / "run"),
    )
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["tournament"]
    assert config["names"][:2] == ["classic", "deep"]
    assert [control.get("depth") for control in config["controls"]] == [1, 2, None]
    assert config["options"] == [[], [], ["Hash=1"]]
    assert sorted(path.name for path in (tmp_path / "run").glob("*.yaml")) == [
        *("1.yaml", "2.yaml", "config.yaml")
    ]
    (anchored,) = (each for each in found["players"] if each["name"] == "deep")
    assert anchored["rating"] == {
        **{"value": 3000, "low": 3000, "high": 3000, "standard_error": None},
        "how": "given",
    }


def test_a_folder_may_have_the_name_of_a_player(here):
    for name in ("classic", "random"):
        (here / name).mkdir()
    assert play("classic", "random", "--depth", 1, "--plies", 8, "--games", 2)["games"] == 2


def test_a_ladder_places_a_player_and_leaves_levels_that_tell_nothing(tmp_path):
    found = play(
        *("classic", "--ladder", "random", "depth=1:2", "--depth", 1, "--games", 12),
        *("--random-plies", 4, "--run", tmp_path / "run"),
    )
    assert "classic is rated" in render(tournament_page(tmp_path / "run"))[0]
    names = [player["name"] for player in found["players"]]
    assert names[0] == "classic" and sorted(names[1:]) == ["random depth 1", "random depth 2"]
    assert found["kind"] == "gauntlet" and 16 <= found["games"] < 24
    assert found["players"][0]["rating"]["how"] in ("at least", "estimated")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "tournament: expected players, or --resume DIR"),
        ("classic", "tournament: expected two players or more"),
        ("classic nothing", "nothing: no such file"),
        ("classic .", ".: a folder without checkpoints; expected a player, such as params.yaml"),
        ("classic tictactoe/random", "name players of one game"),
        ("classic pesto --games 7", "games is 7, expected an even number"),
        (
            "classic pesto --anchor zero=3",
            "--anchor zero=3: expected NAME=ELO with one of the names",
        ),
        ("classic pesto --anchor pesto", "--anchor pesto: expected NAME=ELO"),
        ("classic pesto --anchor pesto=nan", "--anchor pesto=nan: expected a rating from -10,000"),
        (
            "classic --player pesto depth=x",
            '--player pesto depth=x: depth is "x", expected a whole',
        ),
        ("classic --player pesto level=3", "--player pesto level=3: expected name=NAME, option."),
        ("classic --player pesto name=classic", "classic: the name of two players"),
        ("classic --player pesto option.Hash=1", "pesto Hash: chess has no such weight"),
        ("classic pesto --ladder zero depth=1:3", "--ladder: places one player, found 2"),
        ("classic --ladder zero Skill=1:3", "zero Skill 1 Skill: chess has no such weight"),
        ("classic --ladder zero depth=3:1", "expected NAME=FROM:TO or NAME=FROM:TO:STEP"),
        ("classic --ladder zero depth=1:3 --gauntlet", "--ladder: is a gauntlet with its own"),
        ("classic pesto --book-plies 4", "--book-plies: is for Polyglot books"),
        ("classic pesto --byoyomi 4", "--byoyomi: follows the clock of --tc"),
        ("classic pesto --tc 9 --byoyomi 4", "--byoyomi: clocks of chess have increments"),
        ("shogi/zero shogi/random --syzygy .", "shogi has no tables of endings"),
        ("classic pesto --syzygy nowhere", "nowhere: no such folder"),
        ("backgammon/pubeval backgammon/random --resign score=3", "--resign: games of backgammon"),
        ("--resume nowhere", "nowhere: no such folder"),
        ("classic --resume nowhere", "classic: a resumed run keeps its settings"),
    ],
)
def test_a_mistake_is_one_line(here, words, said):
    line = refused("tournament", *words.split())
    assert said in re.sub(r"\s+", " ", line) and list(here.iterdir()) == []
