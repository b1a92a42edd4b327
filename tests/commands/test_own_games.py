"""`tuner tune --own-games` from end to end, on few games."""

import json
import shutil

import pytest
import yaml

from tests.commands.support import done, tuner
from tuner.evaluation.loading import load_parameters
from tuner.play.own_games.settings import holds_own_games

SMALL = ("--own-games", 40, "--per-game", 5, "--only", "material.*", "--workers", 2)


@pytest.mark.long
def test_own_games_alone_teach_a_file(tmp_path):
    run = tmp_path / "run"
    ran = done("tune", "material", *SMALL, "-o", tmp_path / "o.yaml", "--run", run)
    learned = yaml.safe_load((tmp_path / "o.yaml").read_text())["learned"]
    assert (
        learned["own_games"] == 40
        and learned["own_rounds"] in (1, 2, 3)
        and learned["method"] == "scores"
    )
    assert (
        "round 1: 40 games of material against its copies" in ran.err
        and "scores, lambda 0" in ran.err
    )
    assert learned["prior"] == 20 and len(learned["own_matches"]) >= learned["own_rounds"]
    assert all(
        match["games"] == 40 and 0 <= match["score"] <= 1 for match in learned["own_matches"]
    )
    assert "round 1: the learned weights score " in ran.err
    assert "round 1: values of positions moved by 0." in ran.err
    assert (
        load_parameters(tmp_path / "o.yaml").weights != load_parameters("material").weights
    ).any()
    assert (run / "own-games-1" / "games-00001.pgn.zst").is_file() and (run / "games").is_dir()
    assert (
        holds_own_games(str(run / "own-games-1"))
        and not holds_own_games(str(run))
        and not holds_own_games("classic")
    )
    options = yaml.safe_load((run / "config.yaml").read_text())["options"]
    assert options["own_games"] == 40 and options["own_rounds"] == 3
    assert "Traceback" not in done("report", run, "-o", tmp_path / "page.html").err


@pytest.mark.long
def test_own_games_are_added_to_others(tmp_path, small_pgn):
    ran = json.loads(
        done(
            "tune",
            "material",
            small_pgn,
            *SMALL,
            "--depth",
            1,
            "--own-rounds",
            1,
            "-o",
            tmp_path / "o.yaml",
            "--json",
        ).out
    )
    assert ran["method"] == "rootstrap"
    assert [source["file"] for source in ran["data"]] == ["small.pgn", "games-00001.pgn.zst"]
    assert ran["own_rounds"] == 1 and ran["games"] + ran["held_out_games"] > 250


@pytest.mark.long
def test_results_of_own_games_are_trusted_more(tmp_path):
    """The same games in a folder of `tuner games`, and copied to another one."""
    done("games", "pesto", "--run", tmp_path / "own", "--games", 600, "--depth", 1)
    (tmp_path / "other").mkdir()
    for path in (tmp_path / "own").glob("*.pgn.zst"):
        shutil.copy(path, tmp_path / "other")
    steps = []
    for name in ("own", "other"):
        done(
            "tune",
            "pesto",
            tmp_path / name,
            "--method",
            "logistic",
            "-o",
            tmp_path / f"{name}.yaml",
        )
        steps.append(yaml.safe_load((tmp_path / f"{name}.yaml").read_text())["learned"]["play"])
    assert steps[0]["share"] > steps[1]["share"] > 0 and steps[0]["gain"] > steps[1]["gain"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "tune classic -o new.yaml",
            "tune: expected GAMES to learn from, or --own-games N; see tuner tune --help",
        ),
        (
            "tune classic games.pgn -o new.yaml --own-rounds 2",
            "--own-rounds 2: has no use here, there are no --own-games to play",
        ),
        ("tune classic --own-games 10 --dry-run", "--own-games 10: has no use with --dry-run"),
        ("tune tictactoe/classic --own-games 10 -o new.yaml", "tictactoe has no search"),
        ("tune zero --own-games 10 -o new.yaml", "all weights are 0"),
        (
            "tune classic --own-games 10 --method logistic --depth 3 -o new.yaml",
            "--depth 3: has no use here",
        ),
        ("tune classic --own-games 10 --min-elo 2000 -o new.yaml", "own games have no Elo"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, monkeypatch, small_pgn, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.pgn").symlink_to(small_pgn)
    ran = tuner(*arguments.split())
    assert ran.status == 2 and not (tmp_path / "new.yaml").exists()
    assert said in ran.err.splitlines()[-1] and ran.err.splitlines()[-1].startswith("tuner"), (
        ran.err
    )
