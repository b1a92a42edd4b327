"""Probing `tuner uci --options` gives our own coefficients of all parameters: `pytest
tests/benchmarks/probe.py`, minutes."""

import sys

import numpy as np
from scipy.sparse import load_npz

from tests.commands.support import done
from tests.conftest import SAMPLES
from tuner.evaluation.loading import load_engine
from tuner.export.numbers import parameter_names
from tuner.parameters.layout import Layout, Place, shares_of
from tuner.parameters.reader import read_parameters

POSITIONS = 2000


def test_every_coefficient_is_ours_on_2000_positions(tmp_path):
    out = tmp_path / "rows.npz"
    done(
        "probe",
        f"uci:{sys.executable} -m tuner uci classic --options",
        SAMPLES,
        "--per-game",
        3,
        "--sample",
        POSITIONS,
        "--options",
        "*.mg",
        "*.eg",
        "-o",
        out,
    )
    engine, _ = load_engine("classic")
    labels = [f"{label}.{stage}" for label in engine.layout.labels() for stage in ("mg", "eg")]
    with np.load(out, allow_pickle=False) as file:
        texts = [text.decode() for text in file["fen"]]
    layout = Layout(
        tuple(Place("options", name, (), i) for i, name in enumerate(parameter_names(labels)))
    )
    assert (
        len(texts) == POSITIONS
        and read_parameters(out.with_suffix(".yaml"), layout, "chess").layout is layout
    )
    rows = engine.coefficients(np.array([engine.game.position(text) for text in texts]))
    whole = rows.dense(engine.layout.size)
    wanted = np.stack(
        [whole * share[:, None] for share in shares_of(rows.phase, engine.phases, 2)], axis=2
    )
    np.testing.assert_allclose(load_npz(out).toarray(), wanted.reshape(POSITIONS, -1), atol=1e-5)
