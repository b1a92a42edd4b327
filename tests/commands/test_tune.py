"""From games to a learned file and to reports about it, by the commands that a user types."""

import bz2
import gzip
import itertools
import json
import os
import re
from pathlib import Path

import chess
import numpy as np
import pytest
import statsmodels.api as sm
import yaml
import zstandard

from games.streams import pieces
from tests.commands.support import done, refused, tictactoe_file, tuner
from tests.conftest import SAMPLES as SAMPLE_GAMES
from tests.games.support import REPOSITORY
from tests.tuner.core.support import put, write_records
from tests.tuner.support import chances
from tuner.core.store import Store
from tuner.datasets.writing import split_games
from tuner.evaluation.loading import (
    SAMPLES,
    evaluation_spec,
    games_path,
    load_engine,
    load_parameters,
    sources_for,
)
from tuner.fit.datafit import Datafit
from tuner.io.run_folder import BEGUN, Told, read_told
from tuner.learn import searches
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
    # the learner's tolerance, in centipawns
    np.testing.assert_allclose(found.weights[0, :5], expected.params[:5], atol=0.5)
    np.testing.assert_allclose(found.standard_errors[0, :5], expected.bse[:5], rtol=0.02)
    np.testing.assert_allclose(found.weights[0, 5:], start[5:], atol=0.0051)
    assert found.stages == ("all",) and found.scale == 0.002
    assert (found.standard_errors[0, 5:] == 0).all()


def file_without_command(path: Path) -> str:
    """The file's text without the command, which names its input and output."""
    text, found = re.subn(
        r"  command: .*?\n  version:", "  version:", path.read_text(), flags=re.DOTALL
    )
    assert found == 1
    return text


def test_the_same_command_gives_the_same_bytes(tmp_path):
    games, out = tictactoe_file(tmp_path), tmp_path / "out.yaml"
    contents = []
    for seed in (3, 3, 4):
        done("tune", "tictactoe/classic", games, "-o", out, "--seed", seed, "--held-out", 0.3)
        contents.append(file_without_command(out))
    assert contents[0] == contents[1] != contents[2]


PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}


def test_what_was_learned_is_written_where_memory_is_too_little_for_errors(
    small_dataset, tmp_path, monkeypatch
):
    words = ("--prior", "none", "--learner", "adam", "--iterations", 3)
    path = tmp_path / "learned.yaml"
    done("tune", "classic", small_dataset.path, "-o", path, *words)
    whole = load_parameters(path).weights
    path.unlink()

    def fails(*given):
        raise MemoryError("Unable to allocate 26.0 GiB")

    monkeypatch.setattr(Datafit, "gauss_newton", fails)
    ran = tuner("tune", "classic", small_dataset.path, "-o", path, *words)
    assert ran.status == 1 and ran.err.endswith(
        f"tuner: out of memory: Unable to allocate 26.0 GiB; {path} has the learned weights,"
        " without errors and diagnostics\n"
    )
    found = load_parameters(path)
    moved = np.abs(found.weights - load_parameters("classic").weights)
    # but for directions that the data do not decide, which go back to the start
    assert np.abs(found.weights - whole).max() < 8 < moved.max()
    assert found.standard_errors is None
    done("diff", "classic", path)


@pytest.fixture(scope="module")
def start(tmp_path_factory) -> Path:
    """Parameters with a fixed number, bounds and a prior of their own."""
    engine, p = load_engine("classic")
    path, weights = tmp_path_factory.mktemp("start") / "start.yaml", p.weights.copy()
    weights[:, 1] = 240.0
    write_parameters(
        path,
        Parameters(
            p.game,
            p.layout,
            p.stages,
            weights,
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
    assert (after.weights[:, 1] == 250).all()  # the games want more
    assert (after.at_bound[:, 1] == 1).all() and not after.at_bound[:, 4].any()
    compared = json.loads(done("diff", start, out, "--json").out)["rows"]
    (knight,) = (row for row in compared if row["parameter"] == "material.knight")
    for stage in ("mg", "eg"):
        low, high = knight[stage]["interval"]
        assert low < 250 == high and knight[stage]["supported"] is None  # it was not tested
    assert "it ended at a bound" in done("diff", start, out, "--show", "all").out
    np.testing.assert_allclose(after.weights[:, 4], 1000, atol=0.2)
    assert (
        after.bounds == before.bounds
        and after.fixed == before.fixed
        and after.prior == before.prior
    )


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


def test_the_bundled_games_are_whole():
    assert sum(piece.count(b"[Event ") for piece in pieces(SAMPLE_GAMES)) > 5000


FILES = {
    "chess": "stockfish400.pgn.zst",
    "shogi": "fairy400.csa.zst",
    "backgammon": "pubeval.mat.zst",
}


@pytest.mark.parametrize("game", FILES)
def test_the_name_is_that_of_the_games_of_the_parameters(game, here):
    path = str(REPOSITORY / "games" / "samples" / FILES[game])
    assert sources_for(f"{game}/zero", [SAMPLES, f"{game}/samples", "-", "a/samples"]) == [
        path,
        path,
        "-",
        "a/samples",
    ]
    assert games_path(SAMPLES, game) == path == games_path(f"{game}/samples")


def test_a_file_of_that_name_takes_precedence(here):
    (here / SAMPLES).mkdir()
    assert sources_for("classic", [SAMPLES]) == [SAMPLES]


SAMPLE = REPOSITORY / "games" / "samples" / "stockfish400.pgn.zst"

METHODS = {
    "rootstrap": ("--depth", 1, "--rounds", 1),
    "td-leaf": ("--depth", 1),
}


@pytest.fixture
def games(tmp_path):
    """The first games of the bundled ones."""
    path = tmp_path / "games.pgn"
    text = b"".join(itertools.islice(pieces(SAMPLE), 1))[: 1 << 15]
    path.write_bytes(text[: text.rindex(b"\n[Event ") + 1])
    return path


@pytest.fixture
def counted(monkeypatch):
    """The number of games that are searched; at `last`, if it is set, the run is interrupted."""
    count, add = {"games": 0, "last": None}, searches.SearchLog.add

    def added(log, key, found):
        add(log, key, found)
        count["games"] += 1
        if count["games"] == count["last"]:
            raise KeyboardInterrupt

    monkeypatch.setattr(searches.SearchLog, "add", added)
    return count


@pytest.mark.parametrize("method", ["rootstrap", pytest.param("td-leaf", marks=pytest.mark.long)])
def test_an_interrupted_run_searches_nothing_twice_and_learns_the_same(
    here, monkeypatch, games, counted, method
):
    words = ("tune", "classic", "games.pgn", "--method", method, *METHODS[method])
    words += ("--only", "material.*")
    done(*words, "-o", "whole.yaml", "--run", "whole")
    number = counted["games"]
    assert number > 10 and read_told(here / "whole", BEGUN) is None
    counted.update(games=0, last=number // 2)
    ran = tuner(*words, "-o", "out.yaml", "--run", "run")
    assert ran.status == 130 and "continue with: tuner tune --resume run" in ran.err
    assert not os.path.exists("out.yaml") and sorted(os.listdir("run")) == ["lock", "run.db"]
    os.makedirs("run/unfinished/merged")  # a kill leaves other files, too
    other = ("tune", "classic", "games.pgn", "--method", "logistic", "-o", "b.yaml", "--run", "run")
    assert "searches of another command" in refused(*other)
    monkeypatch.chdir("/")
    counted.update(games=0, last=None)
    done("tune", "--resume", here / "run")
    assert counted["games"] == number - number // 2
    weights = [
        yaml.safe_load((here / f"{name}.yaml").read_text())["weights"] for name in ("whole", "out")
    ]
    assert weights[0] == weights[1] and read_told(here / "run", BEGUN) is None
    assert sorted(os.listdir(here / "run")) == sorted(os.listdir(here / "whole"))


def test_what_was_searched_is_known(tmp_path):
    dice = np.random.default_rng(1)
    found = [
        searches.GameSearches(
            3, dice.integers(0, 1 << 60, (n, 9)).astype(np.uint64), dice.normal(size=n), np.ones(n)
        )
        for n in (1, 4, 2)
    ]
    for i in (0, 1):
        with Store(tmp_path) as store:
            log = searches.SearchLog(store, b"{}")
            assert log.get(bytes([i]) * 16, 3, 9) is None
            log.add(bytes([i]) * 16, found[i])
    with Store(tmp_path) as store:
        for i in (0, 1):
            known = searches.SearchLog(store, b"").get(bytes([i]) * 16, 3, 9)
            assert all(np.array_equal(a, b) for a, b in zip(known, found[i], strict=True))


def test_searches_of_other_weights_depths_and_positions_have_other_keys(tmp_path):
    engine, classic = load_engine("classic")
    log, positions = (
        searches.SearchLog(None, b""),
        engine.game.position(chess.STARTING_FEN)[None],
    )
    specs = [
        searches.SearchSpec(evaluation_spec(engine, p), True, depth)
        for p in (classic, classic.with_weights(classic.weights + 1))
        for depth in (1, 2)
    ]
    keys = {log.key(spec, some) for spec in specs for some in (positions, positions + 1)}
    assert len(keys) == 8 and log.key(specs[0], positions) in keys


def test_what_cannot_be_resumed_is_one_line(here):
    said = refused("tune", "--resume", here)
    assert "holds no searches of an interrupted run; give its command again" in said
    (here / "run.db").write_bytes(b"")
    assert "holds no searches" in refused("tune", "--resume", here)
    (here / "run.db").unlink()
    write_records(here, [])
    put(here, BEGUN, {"section": 3})
    assert "section is 3, expected a text" in refused("tune", "--resume", here)
    given = {
        "start": "classic",
        "output": str(here.parent / "y.yaml"),
        "options": {},
        "folder": str(here),
    }
    for changes, said in (
        ({"sources": "x"}, 'sources is "x", expected a list'),
        ({"options": {"depth": -1}}, "depth is -1"),
        ({"folder": str(here / "gone")}, "the run began there, put it back"),
        ({"start": "gone"}, "gone: no such file"),
    ):
        put(here, BEGUN, Told("options", {"sources": [], **given, **changes}, "x").content)
        assert said in refused("tune", "--resume", here)
    assert "a resumed run keeps its settings" in refused("tune", "--resume", here, "--depth", 3)
    assert "expected PARAMS and GAMES, or --resume DIR" in refused("tune")
