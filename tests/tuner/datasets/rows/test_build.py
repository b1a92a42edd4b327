"""Datasets of rows: through every format they are the dataset that the rows came from; rows that do
not fit are refused."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from games.record import ReadOptions
from tests.conftest import SAMPLES
from tests.support import refusal
from tests.tuner.datasets.rows.files import write_rows
from tests.tuner.datasets.rows.support import ENGINE, PHASES, STAGES, random_rows
from tuner.datasets.dataset import Dataset
from tuner.datasets.files import ARRAYS
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows.build import build_rows, read_rows, rows_of_sources
from tuner.datasets.rows.formats import batches_of
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.fit.fit import fit
from tuner.fit.setup import FitOptions
from tuner.io.files import file_entry
from tuner.learn.build import build
from tuner.learn.sources import sources_of
from tuner.parameters.parameters import Parameters, Stages


def quiet(text: str) -> None:
    """Ignore a note."""


@pytest.fixture(scope="module")
def native(tmp_path_factory) -> Dataset:
    """Positions of the sample games, counted here; several games have one opening."""
    folder = tmp_path_factory.mktemp("native")
    engine, _ = load_engine("classic")
    options = ReadOptions(positions="all", per_game=2, skip_start=8)
    games = sources_of([str(SAMPLES)], engine.game)
    data, _ = build(engine, games, folder / "data", options, None, quiet)
    few = np.flatnonzero(np.arange(data.games) < 700)
    from tuner.datasets.writing import part

    return part(data, few, folder / "few", "the first")


def fitted(data: Dataset) -> tuple[np.ndarray, np.ndarray, float]:
    result = fit(data, load_parameters("classic"), FitOptions(prior=30.0))
    return result.parameters.weights, result.parameters.standard_errors, result.held_out_after


@pytest.mark.long
def test_rows_of_our_terms_give_the_native_numbers_and_errors(native, tmp_path):
    parameters = load_parameters("classic")
    path = str(tmp_path / "rows.jsonl")
    assert write_rows(path, batches_of(native), native.layout) == native.positions
    data = rows_of_sources([path], tmp_path, parameters, None, quiet)
    for name in ARRAYS:
        assert np.array_equal(getattr(data, name), getattr(native, name)), name
    for found, expected in zip(fitted(data), fitted(native), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def own(weights: np.ndarray) -> Parameters:
    return Parameters("chess", ENGINE, STAGES, weights, phases=PHASES)


def rows_that_fit(weights: np.ndarray, n: int = 3000):
    rows = random_rows(3, n, ENGINE)
    from tuner.datasets.rows.sample import sample_of

    sample = sample_of(rows, ENGINE.size, Stages(STAGES, PHASES))
    outcome = np.random.default_rng(5).choice([-1, 0, 1], n).astype(np.float32)
    return rows._replace(evaluation=sample.predicted(weights).astype(np.float32), outcome=outcome)


def test_rows_that_agree_are_learned_from_and_others_are_refused(tmp_path):
    weights = np.random.default_rng(1).integers(-50, 90, (2, ENGINE.size)).astype(float)
    rows, parameters = rows_that_fit(weights), own(weights)
    write_rows(str(tmp_path / "good.jsonl"), [rows], ENGINE)
    good = rows_of_sources([str(tmp_path / "good.jsonl")], tmp_path / "1", parameters, None, quiet)
    assert good.manifest["row_check"]["fits"] and good.manifest["row_check"]["checked"] == 3000
    write_rows(str(tmp_path / "bad.jsonl"), [rows._replace(evaluation=-rows.evaluation)], ENGINE)
    assert "of 3,000 rows agree with the engine's evaluation; fix the rows, or name the" in refusal(
        rows_of_sources, [str(tmp_path / "bad.jsonl")], tmp_path / "2", parameters, None, quiet
    )
    # the refusal stays with a dataset, whether it is opened later or merged
    bad, check, totals = build_rows(
        read_rows([str(tmp_path / "bad.jsonl")], parameters, quiet),
        tmp_path / "bad.ds",
        parameters,
        [file_entry(tmp_path / "bad.jsonl")],
    )
    assert check is not None and not check.fits and totals.rows == 3000
    for sources in ([str(bad.path)], [str(good.path), str(bad.path)]):
        assert "rows agree with the engine's evaluation" in refusal(
            rows_of_sources, sources, tmp_path / "3", parameters, None, quiet
        )


def test_what_is_not_linear_becomes_a_part_that_is_not_tuned(tmp_path):
    weights = np.random.default_rng(1).integers(-50, 90, (2, ENGINE.size)).astype(float)
    rows = rows_that_fit(weights)
    safety = np.where(np.arange(3000) % 3 == 0, np.arange(3000) % 101, 0).astype(np.float32)
    write_rows(
        str(tmp_path / "rows.jsonl"), [rows._replace(evaluation=rows.evaluation + safety)], ENGINE
    )
    said: list[str] = []
    data = rows_of_sources(
        [str(tmp_path / "rows.jsonl")], tmp_path / "1", own(weights), "king safety", said.append
    )
    assert data.manifest["row_check"]["fits"] and data.manifest["options"] == {
        "not_linear": "king safety"
    }
    beyond = np.abs(data.rest - rows.rest) > 0
    rms = np.sqrt(np.mean(safety[beyond] ** 2 * beyond.mean()))
    assert said[-1] == (
        f"not tuned: king safety, what the rows lack: in {beyond.mean():.0%} of the rows,"
        f" {rms:.1f} centipawns root mean square"
    )
    large = safety > 2.5
    np.testing.assert_allclose(data.rest[large], (rows.rest + safety)[large], atol=0.01)
    assert np.array_equal(data.rest[safety == 0], rows.rest[safety == 0])


def test_rows_without_a_result_are_left_out(tmp_path):
    weights = np.ones((2, ENGINE.size))
    rows = rows_that_fit(weights, 200)
    outcome = rows.outcome.copy()
    outcome[::4] = np.nan
    data, _, totals = build_rows(
        [rows._replace(outcome=outcome)], tmp_path / "data", own(weights), [{"file": "x"}]
    )
    assert (totals.rows, totals.without_result, data.positions) == (200, 50, 150)
    assert np.array_equal(data.outcome, outcome[~np.isnan(outcome)])
    assert "x: no row with a result among 200; expected results such as 1, 0.5 and 0" in refusal(
        build_rows,
        [rows._replace(outcome=outcome * np.nan)],
        tmp_path / "none",
        own(weights),
        [{"file": "x"}],
    )
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game": "othello"}, "a dataset of chess, expected othello"),
        (
            {
                "layout": replace(ENGINE, places=ENGINE.places[:-1]),
                "weights": np.ones((2, ENGINE.size - 1)),
            },
            "has different parameters",
        ),
        ({"phases": 32}, "has 24 steps of the phase, expected 32"),
    ],
    ids=["game", "layout", "phases"],
)
def test_a_dataset_of_other_rows_is_refused(tmp_path, change, said):
    weights = np.ones((2, ENGINE.size))
    data, *_ = build_rows([rows_that_fit(weights, 200)], tmp_path / "data", own(weights), [])
    assert said in refusal(
        rows_of_sources, [str(data.path)], tmp_path, replace(own(weights), **change), None, quiet
    )


def test_damage_is_found(tmp_path):
    weights = np.ones((2, ENGINE.size))
    data, *_ = build_rows([rows_that_fit(weights, 200)], tmp_path / "data", own(weights), [])
    manifest = json.loads((data.path / "manifest.json").read_text())
    for key, value, said in (
        ("shares", [[0, -1]], "shares is damaged"),
        ("optional", ["rest", "rest"], "optional is damaged"),
        ("wide", 1, "wide is damaged"),
        ("shares", [[99, 1]] * data.codes, "shares have a phase above 24"),
    ):
        (data.path / "manifest.json").write_text(json.dumps(manifest | {key: value}))
        assert re.search(said, refusal(open_dataset, data.path))
    (data.path / "manifest.json").write_text(json.dumps(manifest))
    content = bytearray(Path(data.path / "rest.npy").read_bytes())
    content[140] ^= 64
    (data.path / "rest.npy").write_bytes(bytes(content))
    assert "rest.npy: " in refusal(open_dataset, data.path)
