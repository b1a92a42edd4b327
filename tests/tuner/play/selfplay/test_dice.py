"""Self-play of a game with dice: whole games are those of the search move by move, and the folder
obeys what others' obey."""

from dataclasses import fields

import numpy as np
import pytest

from games.record import find
from games.search.searcher import Limits
from tests.commands.support import done, refused
from tests.tuner.core.support import read_checkpoint, read_records
from tuner.evaluation.loading import load_engine
from tuner.play.openings import Opening
from tuner.play.selfplay import games as play
from tuner.play.selfplay.folder import KEYS
from tuner.play.selfplay.games import Plan, play_episode

GAME = find("backgammon")
PLAN = Plan(Limits(depth=1), plies=2000)
SHORT = ("backgammon/zero", "--batch", 4, "--learning-rate", 2)


def learned(folder) -> list[bytes]:
    saved = read_checkpoint(folder)
    return [
        str(read_records(folder, KEYS)).encode(),
        saved["weights"].tobytes(),
        saved["average"].tobytes(),
    ]


@pytest.mark.parametrize(("name", "plies"), [("zero", 2000), ("classic", 2000), ("classic", 20)])
def test_whole_games_are_those_of_the_search_move_by_move(monkeypatch, name, plies):
    engine, parameters = load_engine(f"backgammon/{name}")
    searcher, plan = (
        engine.searcher(parameters, False, 1, lean=False),
        Plan(Limits(depth=1), plies=plies),
    )
    whole = [
        play_episode(GAME, searcher, plan, number, 3, Opening(GAME.start())) for number in range(3)
    ]
    monkeypatch.setattr(play, "_whole", lambda *arguments: False)
    for number, one in enumerate(whole):
        other = play_episode(GAME, searcher, plan, number, 3, Opening(GAME.start()))
        for field in fields(one):
            if field.name != "tree":
                mine, others = getattr(one, field.name), getattr(other, field.name)
                assert np.array_equal(mine, others, equal_nan=field.name == "known"), field.name
        assert len(one.moves) == plies or GAME.result(one.line) == one.outcome


def test_leaves_are_the_positions_before_the_next_roll_with_their_values():
    engine, parameters = load_engine("backgammon/classic")
    episode = play_episode(
        GAME, engine.searcher(parameters, False, 1, lean=False), PLAN, 1, 1, Opening(GAME.start())
    )
    static = engine.evaluate(episode.leaves, parameters)
    assert (static[:-1] == episode.scores[:-1]).all() and np.isnan(episode.known[:-1]).all()
    assert episode.known[-1] == episode.outcome == GAME.result(episode.leaves[-1:])
    for ply, move in enumerate(episode.moves):
        assert (GAME.play(episode.line[ply], move) == episode.leaves[ply]).all()


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dice") / "run"
    done("selfplay", *SHORT, "--games", 24, "--workers", 1, "--run", folder)
    return folder


@pytest.mark.parametrize(
    "where", [("--workers", 3), pytest.param(("--cluster", "local:2"), marks=pytest.mark.long)]
)
def test_what_is_learned_does_not_depend_on_where_games_are_played(tmp_path, one, where):
    done("selfplay", *SHORT, "--games", 24, *where, "--run", tmp_path / "run")
    assert learned(tmp_path / "run") == learned(one)


def test_a_resumed_run_learns_the_same(tmp_path, one):
    done("selfplay", *SHORT, "--games", 8, "--run", tmp_path / "run")
    done("selfplay", "--resume", tmp_path / "run", "--games", 24)
    assert learned(tmp_path / "run") == learned(one)
    found, expected = (read_records(folder) for folder in (tmp_path / "run", one))
    for line in found + expected:
        del line["cpu_seconds"]
    assert found == expected and len(found) == 6


def test_opponents_play_too(tmp_path):
    done(
        "selfplay",
        *SHORT,
        "--games",
        8,
        "--opponent",
        "pubeval",
        "--opponent",
        "random",
        "--opponent",
        "past",
        "--run",
        tmp_path / "run",
    )


def test_the_next_step_is_a_match_that_runs(tmp_path, one):
    ran = done(
        "selfplay", *SHORT, "--games", 4, "--run", tmp_path / "run", "-o", tmp_path / "out.yaml"
    )
    last = ran.out.splitlines()[-1]
    assert last.startswith("see whether it is better: tuner match ") and last.endswith(
        "backgammon/zero --depth 1 --games 400"
    )
    assert "in units of the first" not in ran.out + ran.err and "draws" not in ran.err
    assert (
        "Results of out vs zero"
        in done("match", tmp_path / "out.yaml", "backgammon/zero", "--games", 4).out
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--method", "rootstrap"),
            (
                "--method rootstrap: searches over dice have no tree to learn from; choose td-leaf"
                " or td"
            ),
        ),
        (
            ("--depth", 2),
            "--depth 2: deeper than one ply, a search over dice has no single leaf to learn from",
        ),
        (
            ("--depth", 4),
            "--depth 4: backgammon supports --depth 1 to 3 only",
        ),
        (("--nodes", 50), "--nodes 50: backgammon supports --depth 1 to 3 only"),
        (("--random-plies", 4), "--random-plies 4: games of backgammon differ by their dice"),
        (("--balanced",), "--balanced: games of backgammon differ by their dice"),
    ],
)
def test_what_games_with_dice_do_not_have_is_refused(tmp_path, options, said):
    assert said in refused("selfplay", "backgammon/zero", "--run", tmp_path / "run", *options)


def test_other_games_are_searched_deeper_with_td_errors_of_positions(tmp_path):
    done(
        "selfplay", *SHORT, "--games", 4, "--method", "td", "--depth", 2, "--run", tmp_path / "run"
    )


def test_generated_games_are_for_games_without_dice(tmp_path):
    assert "games of backgammon differ by their dice" in refused(
        "games", "backgammon/zero", "--games", 4, "--run", tmp_path / "games"
    )
