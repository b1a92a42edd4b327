"""`tuner selfplay --repeats`: what several seeds learned, by NumPy from their files."""

import json

import numpy as np
import pytest

from tests.commands.support import done, refused
from tests.support import file_with
from tuner.core.store import read_records
from tuner.evaluation.loading import load_parameters, parameter_path

SMALL = ("--games", 16, "--batch", 4, "--depth", 1, "--plies", 40, "--seed", 5)


def test_mean_and_deviation_of_each_weight_are_those_of_the_files(tmp_path):
    command = ("selfplay", "material", *SMALL, "--repeats", 3)
    found = json.loads(done(*command, "--run", tmp_path / "a", "--json").out)
    seeds = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert seeds == ["5", "6", "7"] and found["games"] == 16
    learned = [load_parameters(tmp_path / "a" / seed / "params.yaml") for seed in seeds]
    start = load_parameters(tmp_path / "a" / "5" / "start.yaml").weights
    weights = np.array([each.weights for each in learned])
    place = learned[0].layout.labels().index("material.rook")
    rook = found["weights"][f"material.rook {learned[0].stages[0]}"]
    assert rook["mean"] == pytest.approx(weights[:, 0, place].mean())
    assert rook["standard_deviation"] == pytest.approx(weights[:, 0, place].std(ddof=1))
    moving = (weights != start).any(axis=0)
    moved, apart = (weights.mean(axis=0) - start)[moving], weights.std(axis=0, ddof=1)[moving]
    assert found["moved"] == pytest.approx(np.sqrt((moved**2).mean()))
    assert found["apart"] == pytest.approx(np.sqrt((apart**2).mean()))
    squares = [read_records(tmp_path / "a" / seed)[-1]["squares"] for seed in seeds]
    assert found["loss"]["mean"] == pytest.approx(np.mean(squares))
    text = done(*command, "--run", tmp_path / "b").out
    assert "3 runs of 16 games, mean +/- standard deviation:" in text
    assert ("differ by more than the weights moved" in text) == (found["apart"] > found["moved"])
    assert "material.rook" in text and f"move by {found['moved']:.2f}".split()[-1] in text


def test_networks_have_pieces_where_their_worth_is_known(tmp_path):
    small = ("--hidden", 2, "--games", 4, "--batch", 2, "--depth", 1, "--plies", 8)
    found = json.loads(
        done("selfplay", "chess", *small, "--repeats", 2, "--run", tmp_path / "a", "--json").out
    )
    assert set(found["pieces"]) == {"P", "N", "B", "R", "Q"} and found["weights"] == {}
    assert found["moved"] is None
    dice = ("selfplay", "backgammon", "--hidden", 2, "--games", 20, "--repeats", 2)
    assert "squared error" in done(*dice, "--run", tmp_path / "b").out


def test_the_same_command_again_plays_what_is_left(tmp_path):
    """One run of three ended, one was interrupted, and one never began; all end as if they had been
    played at once."""
    whole = done("selfplay", "material", *SMALL, "--repeats", 3, "--run", tmp_path / "a").out
    parts, short = tmp_path / "b", ("--seed", 6, "--games", 8)
    done("selfplay", "material", *SMALL, "--run", parts / "5")
    done("selfplay", "material", *SMALL, *short, "--run", parts / "6")
    command = ("selfplay", "material", *SMALL, "--repeats", 3, "--run", parts)
    assert done(*command).out == whole
    again = done(*command, "--workers", 1)
    assert again.out == whole and again.err.count("16 games were played before") == 3
    for other, said in (
        (("--depth", 2), "was begun with depth 1, not 2; expected the same options"),
        (("--lambda", 0.5), "was begun with lambda 0.7, not 0.5"),
    ):
        assert f"{parts / '5'}: {said}" in refused(*command, *other)
    dice = ("selfplay", "backgammon", "--hidden", 2, "--seed", 5, "--repeats", 2, "--run", parts)
    assert "contains another kind of run of `tuner selfplay`" in refused(*dice)


def test_a_start_that_was_changed_is_not_taken_for_the_old_one(tmp_path):
    start = file_with(tmp_path / "my.yaml", parameter_path("material").read_text())
    command = ("selfplay", start, *SMALL, "--repeats", 2, "--run", tmp_path / "a")
    whole = done(*command).out
    start.write_text(f"# mine\n{start.read_text()}")
    assert done(*command).out == whole
    start.write_text(start.read_text().replace("mg: 400", "mg: 390"))
    assert f"was begun with other weights than {start} has now" in refused(*command)


def test_noise_of_the_starts_is_nothing_that_was_learned(tmp_path):
    command = ("selfplay", "material", *SMALL, "--repeats", 2, "--noise", 50)
    still = ("--learner", "sgd", "--learning-rate", 1e-6)
    found = json.loads(done(*command, *still, "--run", tmp_path / "a", "--json").out)
    assert 0 < found["moved"] < 0.01 and found["apart"] < 0.01
    assert found["weights"]["material.queen mg"]["standard_deviation"] > 1


def test_options_of_a_single_run_are_refused(tmp_path):
    said = refused("selfplay", *SMALL, "--repeats", 2)
    assert "--repeats 2: expected --run DIR, for their folders" in said
    output = ("--run", tmp_path / "a", "-o", tmp_path / "a.yaml")
    assert "--output: --repeats plays several runs" in refused(
        "selfplay", *SMALL, "--repeats", 2, *output
    )
    assert "repeats is 1, expected a whole number from 2 to 1000" in refused(
        "selfplay", "--repeats", 1
    )
