"""From games to a learned file and to reports about it, by the commands that a user types."""

import bz2
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
import yaml
import zstandard

from games.streams import pieces
from tests.commands.support import done, tictactoe_file
from tests.conftest import SAMPLES
from tests.tuner.support import chances
from tuner.datasets.reader import open_dataset
from tuner.datasets.writing import split_games
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters

KINGS_PAWN = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
BARE = "8/8/4k3/8/8/3QK3/8/8 w - - 0 1"


@pytest.fixture(scope="module")
def learned(small_pgn, tmp_path_factory) -> tuple[Path, dict]:
    """A file learned from the results of the games with all other defaults, and what --json
    says."""
    path = tmp_path_factory.mktemp("tune") / "learned.yaml"
    return path, json.loads(
        done("tune", "classic", small_pgn, "-o", path, "--method", "logistic", "--json").out
    )


@pytest.fixture(scope="module")
def rows(small_dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Dense coefficients of the same games, the share of the first stage, results from 0 to 1, and
    the game of each row."""
    data = small_dataset
    x = np.zeros((data.positions, data.columns))
    x[np.repeat(np.arange(data.positions), np.diff(data.row)), data.index] = data.count
    return (
        x,
        data.phase / 24,
        (1 + data.outcome.astype(float)) / 2,
        np.repeat(np.arange(data.games), np.diff(data.first)),
    )


def loss_of(rows, parameters: Parameters, said: dict, intercept, games: np.ndarray) -> float:
    """Mean cross-entropy of some games, from the dense matrix, with the slopes by phase that the
    file records."""
    x, first, q, group = rows
    shares = (
        np.array([first, 1 - first]) * np.array(said["slopes"])[np.rint(24 * first).astype(int)]
    )
    chosen = np.isin(group, games)
    evaluation = ((x @ parameters.weights.T + intercept) * shares.T).sum(axis=1)[chosen]
    p, q = chances(evaluation, said["scale"]), q[chosen]
    return float(-(q * np.log(p) + (1 - q) * np.log1p(-p)).mean())


def test_a_learned_file_loads_and_records_its_origin(learned, small_pgn, small_dataset):
    path, said = learned
    engine, parameters = load_engine(path)
    assert parameters.weights.shape == parameters.standard_errors.shape == (2, engine.layout.size)
    assert (parameters.weights != load_parameters("classic").weights).mean() > 0.3
    note = yaml.safe_load(path.read_text())["learned"]
    beside = ("output", "advice", "compare", "match")
    assert note == {key: value for key, value in said.items() if key not in beside} and said[
        "output"
    ] == str(path)
    assert (
        note["data"] == small_dataset.manifest["sources"]
        and note["data"][0]["file"] == small_pgn.name
    )
    assert note["games"] + note["held_out_games"] == small_dataset.games
    assert note["positions"] + note["held_out_positions"] == small_dataset.positions
    assert (
        note["scale"] == pytest.approx(parameters.scale, rel=1e-5)
        and note["seed"] == 1
        and note["start"] == "classic"
    )


def test_the_losses_that_are_reported_are_those_of_the_file(learned, rows, small_dataset):
    path, said = learned
    before, after = load_parameters("classic"), load_parameters(path)
    train, held = split_games(small_dataset, 0.1, 1)
    assert said["held_out_games"] == len(held) > 10
    for games, name in ((train, "loss"), (held, "held_out")):
        expected = loss_of(rows, before, said, said["intercept"], games)
        assert said[f"{name}_before"] == pytest.approx(expected, abs=2e-5)
        assert said[f"{name}_after"] == pytest.approx(
            loss_of(rows, after, said, said["intercept"], games), abs=2e-5
        )
    assert said["loss_after"] < said["loss_before"]


def test_material_alone_is_the_regression_of_statsmodels_with_its_clustered_errors(
    small_pgn, rows, tmp_path
):
    out = tmp_path / "out.yaml"
    done(
        "tune",
        "classic",
        small_pgn,
        "-o",
        out,
        "--method",
        "logistic",
        "--only",
        "material.*",
        "--prior",
        "none",
        "--held-out",
        0,
        "--scale",
        0.002,
        "--untapered",
        "--positions",
        "quiet",
    )
    x, _, q, group = rows
    start, found = load_parameters("classic").weights.mean(axis=0), load_parameters(out)
    design = 2 * 0.002 * np.column_stack([x[:, :5], np.ones(len(q))])
    model = sm.GLM(
        q, design, family=sm.families.Binomial(), offset=2 * 0.002 * x[:, 5:] @ start[5:]
    )
    expected = model.fit(tol=1e-12, cov_type="cluster", cov_kwds={"groups": group})
    np.testing.assert_allclose(
        found.weights[0, :5], expected.params[:5], atol=0.5
    )  # the learner's tolerance, in centipawns
    np.testing.assert_allclose(found.standard_errors[0, :5], expected.bse[:5], rtol=0.01)
    np.testing.assert_allclose(found.weights[0, 5:], start[5:], atol=0.0051)
    assert found.stages == ("all",) and found.scale == 0.002
    assert (found.standard_errors[0, 5:] == 0).all()


def test_the_lines_for_people_tell_the_losses_and_the_next_command(small_pgn, tmp_path):
    common = (
        "tune",
        "classic",
        small_pgn,
        "-o",
        tmp_path / "my out.yaml",
        "--only",
        "material.*",
        "--method",
        "logistic",
        "--prior",
        50,
    )
    ran = done(*common)
    said = yaml.safe_load((tmp_path / "my out.yaml").read_text())["learned"]
    assert (
        f"wrote {tmp_path / 'my out.yaml'}: {said['games']} games, {said['positions']:,} positions"
        in ran.out
    )
    change = said["held_out_results"]
    assert (
        f"results   {change['before']:.5f} -> {change['after']:.5f}, change"
        f" {change['difference']:+.5f} [{change['low']:+.5f}, {change['high']:+.5f}] "
        f" ({change['games']} held-out games of other openings, cross-entropy)" in ran.out
    )
    assert (
        change["after"] == pytest.approx(said["held_out_after"])
        and change["games"] == said["held_out_games"]
    )
    assert f"tuner diff classic '{tmp_path / 'my out.yaml'}'" in ran.out
    assert (
        ran.out.splitlines()[-1]
        == f"see whether it is better: tuner match '{tmp_path / 'my out.yaml'}' classic --depth 4 "
        "--games 400"
    )
    assert "read 300 games, used 300" in ran.err and "win/draw/loss" in ran.err
    none = done(*common, "--held-out", 0)
    assert "results   " not in none.out
    assert "(cross-entropy of the games learned from; none were held out)" in none.out
    assert (
        yaml.safe_load((tmp_path / "my out.yaml").read_text())["learned"]["held_out_after"] is None
    )


def file_without_command(path: Path) -> str:
    """The file's text without the command, which names its input and output."""
    text, found = re.subn(
        r"  command: .*?\n  version:", "  version:", path.read_text(), flags=re.DOTALL
    )
    assert found == 1
    return text


@pytest.mark.long
def test_a_dataset_gives_the_same_file_as_its_games(learned, small_pgn, tmp_path):
    done("dataset", small_pgn, "-o", tmp_path / "games.ds")
    done("tune", "classic", tmp_path / "games.ds", "-o", tmp_path / "out.yaml")
    assert file_without_command(tmp_path / "out.yaml") == file_without_command(learned[0])


def test_the_same_command_gives_the_same_bytes(tmp_path):
    games, out = tictactoe_file(tmp_path), tmp_path / "out.yaml"
    contents = []
    for seed in (3, 3, 4):
        done("tune", "tictactoe/classic", games, "-o", out, "--seed", seed, "--held-out", 0.3)
        contents.append(file_without_command(out))
    assert contents[0] == contents[1] != contents[2]


PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize("suffix", [*PACK, "stdin", "stdin.zst", "several"])
def test_packed_files_and_standard_input_give_the_same_dataset(
    suffix, small_pgn, small_dataset, tmp_path
):
    games, stdin = small_pgn.read_bytes(), None
    if suffix.startswith("stdin"):
        sources, stdin = ["-"], PACK[suffix[5:]](games)
    elif suffix == "several":
        cut = games.index(b"[Event ", len(games) // 2)
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "a.pgn").write_bytes(games[:cut])
        (tmp_path / "folder" / "b.pgn.gz").write_bytes(gzip.compress(games[cut:]))
        (tmp_path / "folder" / "c.pgn").mkdir()  # neither this nor a text is a file of games
        (tmp_path / "folder" / "notes.txt").write_text("1. e4 e5 1-0")
        sources = [tmp_path / "folder"]
    else:
        sources = [tmp_path / f"games.pgn{suffix}"]
        sources[0].write_bytes(PACK[suffix](games))
    done("dataset", *sources, "-o", tmp_path / "out.ds", stdin=stdin)
    for path in small_dataset.path.glob("*.npy"):
        assert path.read_bytes() == (tmp_path / "out.ds" / path.name).read_bytes(), path.name


def test_games_that_hold_no_wanted_position_are_no_games_of_the_dataset(tmp_path, small_pgn):
    short = b'[Event "?"]\n[Result "0-1"]\n\n1. f3 e5 0-1\n\n'
    games = b"[Event ".join(small_pgn.read_bytes().split(b"[Event ")[:20])
    for name, text in (("last", games + short), ("first", short + games), ("none", games)):
        (tmp_path / f"{name}.pgn").write_bytes(text)
        done("dataset", tmp_path / f"{name}.pgn", "-o", tmp_path / f"{name}.ds")
        done("dataset", "inspect", tmp_path / f"{name}.ds")
    for name in ("last", "first"):
        for path in (tmp_path / "none.ds").glob("*.npy"):
            assert path.read_bytes() == (tmp_path / f"{name}.ds" / path.name).read_bytes()


def test_a_dataset_split_and_merged_again_holds_the_same_games(small_dataset, tmp_path):
    train, held, whole = (tmp_path / name for name in ("train.ds", "held.ds", "whole.ds"))
    said = json.loads(
        done(
            "dataset", "split", small_dataset.path, "-o", train, held, "--held-out", 0.3, "--json"
        ).out
    )
    assert sum(part["games"] for part in said["datasets"]) == small_dataset.games
    done("dataset", "merge", train, held, train, "-o", whole)
    found = json.loads(done("dataset", "inspect", whole, "--json").out)
    expected = json.loads(done("dataset", "inspect", small_dataset.path, "--json").out)
    for name in ("games", "positions", "use", "results_by_phase", "openings"):
        assert found[name] == expected[name]
    assert set(open_dataset(train).opening).isdisjoint(open_dataset(held).opening)
    assert (found["duplicate_games"], sorted(open_dataset(whole).game)) == (
        0,
        sorted(small_dataset.game),
    )


def test_inspect_counts_what_is_there(small_dataset, rows):
    x, first, q, group = rows
    ran = done("dataset", "inspect", small_dataset.path, "--json")
    said = json.loads(ran.out)
    assert (np.array(list(said["use"].values())) == (x != 0).sum(axis=0)).all()
    assert said["nonzeros_per_position"] == pytest.approx((x != 0).sum() / len(x))
    assert said["average_phase"] == pytest.approx(24 * first.mean())
    assert said["results_by_position"] == pytest.approx(
        [(q == r).mean() for r in (1, 0.5, 0)], abs=1e-5
    )
    by_game = np.array([q[group == g][0] for g in np.unique(group)])
    assert said["results_by_game"] == pytest.approx(
        [(by_game == r).mean() for r in (1, 0.5, 0)], abs=1e-5
    )
    assert sum(part["positions"] for part in said["results_by_phase"]) == len(x)
    assert f"{small_dataset.positions:,}" in done("dataset", "inspect", small_dataset.path).out


@pytest.fixture(scope="module")
def start(tmp_path_factory) -> Path:
    """Parameters with a fixed number, bounds and a prior of their own."""
    engine, p = load_engine("classic")
    path = tmp_path_factory.mktemp("start") / "start.yaml"
    write_parameters(
        path,
        Parameters(
            p.game,
            p.layout,
            p.stages,
            p.weights,
            fixed=("material.rook.eg",),
            bounds=(("material.pawn.mg", (80, 83)), ("material.knight", (0, 250))),
            prior=(("material.queen", (1000, 0.01)),),
        ),
    )
    return path


def test_what_is_fixed_bounded_or_not_asked_for_stays(start, small_dataset, tmp_path):
    out = tmp_path / "out.yaml"
    done(
        "tune",
        start,
        small_dataset.path,
        "-o",
        out,
        "--only",
        "material.*",
        "--fixed",
        "material.bishop",
        "--prior",
        500,
    )
    before, after = load_parameters(start), load_parameters(out)
    moved = before.weights != after.weights
    may = after.mask(("material.*",)) & ~after.mask(("material.rook.eg", "material.bishop"))
    assert (moved == may).all()
    assert (after.standard_errors[~may] == 0).all()
    assert 80 <= after.weights[0, 0] <= 83
    assert (
        after.weights[:, 1] == 250
    ).all()  # the start lay beyond the bound, and the games want more
    np.testing.assert_allclose(after.weights[:, 4], 1000, atol=0.2)
    assert (
        after.bounds == before.bounds
        and after.fixed == before.fixed
        and after.prior == before.prior
    )


@pytest.mark.parametrize("learner", ["adam", "sgd"])
@pytest.mark.parametrize("rate", [None, 1e6])
def test_the_best_iterate_is_kept(small_dataset, tmp_path, learner, rate):
    out, run = tmp_path / "out.yaml", tmp_path / "run"
    options = [
        "--only",
        "material.*",
        "--prior",
        "none",
        "--iterations",
        4,
        "--batch",
        500,
        "--learner",
        learner,
    ]
    done(
        "tune",
        "classic",
        small_dataset.path,
        "-o",
        out,
        "--run",
        run,
        *options,
        *(["--learning-rate", rate] if rate else []),
    )
    objectives = [
        json.loads(line)["objective"] for line in (run / "history.jsonl").read_text().splitlines()
    ]
    said = yaml.safe_load(out.read_text())["learned"]
    assert len(objectives) == 5 and said["iterations"] == 4
    assert said["loss_after"] == pytest.approx(min(objectives), abs=1e-6)
    if rate:
        assert objectives[-1] > min(objectives) + 0.01  # far astray in the end
    else:
        assert said["loss_after"] < said["loss_before"] - 1e-4
    assert (run / "params.yaml").read_bytes() == out.read_bytes()
    config = yaml.safe_load((run / "config.yaml").read_text())
    assert config["options"]["learner"] == learner and config["data"] == said["data"]


@pytest.mark.parametrize(
    "position",
    [KINGS_PAWN, BARE, "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"],
)
def test_an_explanation_adds_up_to_the_evaluation_of_the_engine(learned, position):
    path, _ = learned
    said = json.loads(done("eval", path, position, "--json").out)
    engine, parameters = load_engine(path)
    expected = engine.evaluate(engine.game.position(position)[None], parameters)[0]
    assert sum(term["contribution"] for term in said["terms"]) == pytest.approx(expected, abs=0.02)
    assert said["evaluation"] == pytest.approx(expected, abs=0.02)
    assert said["position"] == position
    assert said["win_probability"] == pytest.approx(chances(expected, parameters.scale), abs=1e-3)
    shares, names = said["shares"], []
    for term in said["terms"]:
        assert term["contribution"] == pytest.approx(
            sum(p["contribution"] for p in term["parameters"])
        )
        assert term["contribution"] == pytest.approx(
            sum(term[stage] * share for stage, share in shares.items())
        )
        for p in term["parameters"]:
            label = engine.layout.labels().index(p["parameter"])
            assert [p["mg"], p["eg"]] == parameters.weights[:, label].tolist()
            assert p["contribution"] == pytest.approx(
                p["count"] * sum(p[stage] * share for stage, share in shares.items())
            )
            names.append(p["parameter"])
    text = done("eval", path, *position.split(), "--all").out  # the FEN need not be quoted
    assert f"{said['evaluation']:.1f}" in text and all(name in text for name in names)


def test_labelled_positions_and_games_together_are_learned_from(small_pgn, tmp_path):
    lines = [
        f'{fen} c9 "{result}"; id "game {i}";'
        for i, (fen, result) in enumerate(
            [(KINGS_PAWN.rsplit(" ", 2)[0], "1-0"), (BARE.rsplit(" ", 2)[0], "1/2-1/2")] * 3
        )
    ]
    (tmp_path / "labelled.epd").write_text("\n".join(lines) + "\n")
    said = json.loads(
        done(
            "tune",
            "classic",
            tmp_path / "labelled.epd",
            small_pgn,
            "-o",
            tmp_path / "out.yaml",
            "--json",
            "--only",
            "material.*",
        ).out
    )
    assert [source["file"] for source in said["data"]] == ["labelled.epd", small_pgn.name]
    assert said["games"] + said["held_out_games"] > 300


def test_the_bundled_games_are_whole():
    assert sum(piece.count(b"[Event ") for piece in pieces(SAMPLES)) > 5000
