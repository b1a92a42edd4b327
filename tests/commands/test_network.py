"""`tuner network`, and the commands that take what it writes: match, eval, export."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.commands.support import done, tictactoe_file, tuner
from tuner.evaluation.networks.evaluation import chosen_encoding, network_evaluation

FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
SMALL = (
    "--method",
    "logistic",
    "--encoding",
    "compressed100",
    "--hidden",
    "8,4",
    "--epochs",
    3,
    "--held-out",
    0.3,
    "--workers",
    1,
    "--device",
    "cpu",
)


@pytest.fixture(scope="module")
def learned(small_pgn, tmp_path_factory) -> tuple[Path, dict]:
    """A network of chess, and what was found."""
    path = tmp_path_factory.mktemp("network") / "net.yaml"
    return path, json.loads(done("network", "classic", small_pgn, "-o", path, *SMALL, "--json").out)


def test_what_is_found_is_that_of_the_file(learned):
    path, found = learned
    evaluation = network_evaluation(path)
    assert evaluation.size_text == "100-8-4-1" and evaluation.encoding.name == "compressed100"
    assert found["layers"] == [100, 8, 4, 1] and found["weights"] == evaluation.network.size
    assert [line["epoch"] for line in found["epochs"]][:2] == [0, 1] and len(found["epochs"]) <= 4
    assert found["values"] == "results of the games" and found["loss"] == "cross-entropy"
    assert [line["model"] for line in found["models"]] == ["start", "network"]
    first, second = (line["loss"]["value"] for line in found["models"])
    assert found["gain"]["value"] == pytest.approx(first - second, abs=1e-6)
    assert sum(line["positions"] for line in found["phases"]) == found["held_out_positions"]
    assert (
        found["positions"]
        == found["held_out_positions"] + found["learned_positions"] + found["aside_positions"]
    )


def test_few_held_out_games_are_said(small_pgn, tmp_path):
    said = []
    for share in (0.3, 0.1):
        words = ("network", "classic", small_pgn, "-o", tmp_path / "net.yaml", *SMALL)
        said.append(done(*words, "--held-out", share).out)
    assert "too narrow" not in said[0]
    assert re.search(r"only \d+ held-out games: intervals are too narrow", said[1])


@pytest.mark.long
def test_repeats_begin_with_other_weights_and_the_best_is_kept(small_pgn, tmp_path):
    """By the loss on the positions set aside."""

    def learn(*more: object) -> dict:
        words = ("network", "classic", small_pgn, "-o", tmp_path / "net.yaml", *SMALL)
        return json.loads(done(*words, "--loss", "mse", *more, "--json").out)

    found, alone = learn("--repeats", 3), learn()
    assert found["repeats"][0] == alone["repeats"][0] and len(found["repeats"]) == 3
    assert len({json.dumps(one) for one in found["repeats"]}) == 3

    def least(one: dict) -> float:
        return min(line["aside"] for line in one["epochs"])

    assert least(found) <= least(alone)
    assert found["models"] in [one["models"] for one in found["repeats"]]
    shares = [one["winners"][1]["share"]["value"] for one in found["repeats"]]
    assert all(0.3 < share < 1 for share in shares) and len(set(shares)) > 1
    words = ("network", "classic", small_pgn, "-o", tmp_path / "net.yaml", *SMALL)
    out = done(*words, "--loss", "mse", "--repeats", 3).out
    assert f"winners {np.mean(shares):.4f} +/- {np.std(shares, ddof=1):.4f}" in out
    assert "share of the winners that are predicted:" in out


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_learning_rate_with_which_nothing_is_learned_is_refused(small_pgn, tmp_path):
    path = tmp_path / "net.yaml"
    ran = tuner("network", "classic", small_pgn, "-o", path, *SMALL, "--learning-rate", 1000)
    said = ran.err.splitlines()[-1]
    assert ran.status == 2 and "no epoch predicts better than the random weights" in said
    assert said.endswith("try --learning-rate 100") and not path.exists()


def test_positions_are_written_with_their_values_and_read_again(small_pgn, tmp_path):
    out = tmp_path / "positions.csv"
    words = ("network", "classic", small_pgn, "-o", tmp_path / "net.yaml", *SMALL)
    found = json.loads(done(*words, "--write-positions", out, "--json").out)
    lines = out.read_text().splitlines()
    assert lines[0].startswith("# exported by evaltune: tuner network") and lines[1] == "fen,result"
    assert len(lines) == found["positions"] + 2
    assert {line.rpartition(",")[2] for line in lines[2:]} == {"0", "0.5", "1"}
    again = ("network", "classic", out, "-o", tmp_path / "again.yaml", *SMALL, "--positions", "all")
    assert json.loads(done(*again, "--json").out)["positions"] == found["positions"]
    out.write_text("fen,result\nmine\n")
    ran = tuner(*words, "--write-positions", out)
    assert ran.status == 2 and "exists and is not an export" in ran.err


def test_the_same_command_writes_the_same_bytes(learned, small_pgn, tmp_path):
    path, _ = learned
    done("network", "classic", small_pgn, "-o", tmp_path / "again.yaml", *SMALL)
    assert (tmp_path / "again.npz").read_bytes() == path.with_suffix(".npz").read_bytes()
    # replaces its own
    done("network", "classic", small_pgn, "-o", tmp_path / "again.yaml", *SMALL, "--seed", 2)
    assert (tmp_path / "again.npz").read_bytes() != path.with_suffix(".npz").read_bytes()


def test_eval_shows_the_value_and_scores_of_files(learned, tmp_path):
    path, _ = learned
    evaluation = network_evaluation(path)
    words = evaluation.game.position(FEN)
    expected = evaluation.values(words[None])[0]
    found = json.loads(done("eval", path, FEN, "--json").out)
    assert found["evaluation"] == round(expected, 2)
    assert found["value"] == pytest.approx(np.tanh(evaluation.scale * expected), abs=1e-4)
    out = done("eval", path, FEN).out
    assert f"compressed100, 100-8-4-1: {expected:+.2f} centipawns, White's view" in out
    (tmp_path / "some.epd").write_text(f"{FEN}\n\n# a note\n{FEN}\n")
    assert done("eval", path, tmp_path / "some.epd").out.splitlines() == [f"{expected:.2f}"] * 2


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            "network classic {pgn} -o net.txt",
            "net.txt: expected the name of a YAML file, such as net.yaml",
        ),
        ("network classic {pgn} -o taken.yaml", "taken.yaml: exists and is not a network"),
        (
            "network classic {pgn} -o half.yaml",
            "half.npz: exists and is not the weights of a network",
        ),
        (
            "network classic {pgn} -o new.yaml --encoding board",
            "--encoding board: chess has bitboard768, mailbox64",
        ),
        (
            "network classic {pgn} -o new.yaml --hidden 8,x",
            'hidden is "8,x", expected a list of 1 to 7 whole numbers from 1 to 4096 such as',
        ),
        (
            "network classic {pgn} -o new.yaml --hidden 5000",
            'hidden is "5000", expected a list of 1 to 7 whole numbers',
        ),
        (
            "network classic {pgn} -o new.yaml --held-out 0",
            "--held-out 0: nothing would be left to measure on",
        ),
        (
            "network net.yaml {pgn} -o new.yaml",
            "net.yaml:1: a network, expected a parameter file; tuner match, games, uci,",
        ),
        (
            "network classic {pgn} -o net.yaml --method logistic --sample 1000 --held-out 0.01",
            "held out: expected at least 200 of",
        ),
        (
            "export net.yaml --format rust",
            "--format rust: net.yaml is a network, which is written with --format c alone",
        ),
        ("export net.yaml --into eval.h", "--into: net.yaml is a network"),
        (
            "eval net.yaml --all startpos",
            "--all: net.yaml is a network; leave it out",
        ),
        ("match net.yaml material --games 2", "a.npz: no such file"),
        (
            "match net.yaml random --games 2 --terms taken.yaml",
            "taken.yaml: no player has terms; leave it out",
        ),
        (
            "match other.yaml random --depth 1 --games 2",
            "other.yaml:2: chess has no encoding 'huge'; available: bitboard768",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(
    learned, small_pgn, tmp_path, monkeypatch, arguments, wanted
):
    path, _ = learned
    monkeypatch.chdir(tmp_path)
    for suffix in (".yaml", ".npz"):
        shutil.copy(path.with_suffix(suffix), f"net{suffix}")
    Path("taken.yaml").write_text("dear reader")
    Path("half.npz").write_text("dear reader")
    Path("other.yaml").write_text(Path("net.yaml").read_text().replace("compressed100", "huge"))
    if wanted == "a.npz: no such file":
        os.remove("net.npz")
        wanted = "net.npz: no such file; the weights of a network are next to its .yaml"
    ran = tuner(*arguments.format(pgn=small_pgn).split())
    assert ran.status == 2 and wanted in ran.err.splitlines()[-1], ran.err


@pytest.mark.parametrize(
    ("game", "name"),
    [("chess", "bitboard768"), ("backgammon", "perspective196"), ("tictactoe", "squares18")],
)
def test_the_usual_encoding_is_for_the_side_to_move(game, name):
    assert chosen_encoding(game, None).name == name and chosen_encoding(game, None).for_mover


def test_a_dataset_has_no_positions(tmp_path):
    """Said before anything is read, with the files that have them."""
    done(
        "dataset",
        tictactoe_file(tmp_path, 100),
        "--params",
        "tictactoe/classic",
        "-o",
        tmp_path / "games.ds",
    )
    ran = tuner("network", "tictactoe/classic", tmp_path / "games.ds", "-o", tmp_path / "net.yaml")
    assert (
        ran.status == 2
        and ran.err
        == f"tuner: {tmp_path / 'games.ds'}: a dataset holds counts of one evaluation, not"
        " positions; name the games that it was built from: games.ttt\n"
    )
