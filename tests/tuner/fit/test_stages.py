"""Stages by phase: shares, planted weights found again, and errors that are true to what repeated
samples do."""

import numpy as np
import pytest

from tests.tuner.datasets.rows.support import batch_of, layout_of_shapes
from tests.tuner.simulation import STAGINGS, in_stages, share_covered, staged_fit, staged_weights
from tuner.datasets.rows.build import build_rows
from tuner.fit.fit import fit
from tuner.fit.setup import FitOptions
from tuner.parameters.parameters import Parameters, Stages, fault_of_spans, shares_of, staged

SIMULATIONS = 40


def test_shares_are_linear_between_the_spans():
    random = np.random.default_rng(1)
    for _ in range(200):
        phases, n = int(random.integers(4, 256)), int(random.integers(2, 9))
        ends = np.sort(random.choice(phases + 1, min(2 * n, phases + 1), replace=False))
        spans = [tuple(map(int, pair)) for pair in ends[: len(ends) // 2 * 2].reshape(-1, 2)]
        if random.random() < 0.5:
            spans = [(low, low) for low, _ in spans]
        random.shuffle(spans)
        if len(spans) < 2:
            continue
        phase = np.arange(phases + 1)
        found = shares_of(phase, phases, len(spans), tuple(spans))
        order = sorted(range(len(spans)), key=lambda s: spans[s])
        knots = [phase for s in order for phase in spans[s]]
        for s in range(len(spans)):
            height = [float(other == s) for other in order for _ in range(2)]
            np.testing.assert_allclose(found[s], np.interp(phase, knots, height), atol=1e-15)


def test_two_stages_share_the_phase_and_one_has_it_all():
    phase = np.arange(25, dtype=np.uint8)
    assert np.array_equal(shares_of(phase, 24, 2), [phase / 24, 1 - phase / 24])
    assert np.array_equal(shares_of(phase, 24, 2), shares_of(phase, 24, 2, ((24, 24), (0, 0))))
    assert np.array_equal(shares_of(phase, 24, 1), np.ones((1, 25)))


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        (((24, 24), (0, 24)), "stages b and a are both at phase 24, expected phases in which"),
        (((25, 25), (0, 0)), "stage a is at phase 25, expected 0 to 24, the steps of the phase"),
        (((20, 26), (0, 0)), "stage a is at phase 20 to 26, expected 0 to 24"),
        (((24, 24), (9, 3)), "stage b is at phase 9 to 3, expected 0 to 24"),
        (((24, 24), (0, 0)), None),
    ],
)
def test_faults_of_spans_are_named(spans, said):
    found = fault_of_spans(Stages(("a", "b"), 24, spans))
    assert found is None if said is None else found.startswith(said)


@pytest.mark.parametrize("name", STAGINGS)
def test_intervals_cover_planted_weights_of_all_stages(name):
    """Over all weights; `pytest -s tests/benchmarks/coverage.py` takes more samples."""
    stages = STAGINGS[name]
    found = [staged_fit(stages, seed) for seed in range(SIMULATIONS)]
    covered = share_covered(found, staged_weights(stages))
    number = SIMULATIONS * found[0].weights[:, :-1].size
    assert abs(covered - 0.95) < 0.02 + 2.5 * (0.95 * 0.05 / number) ** 0.5


@pytest.mark.parametrize("name", STAGINGS)
def test_rows_of_so_many_stages_are_checked_and_learned_from(name, tmp_path):
    """Planted weights are those with which the engine evaluates, so the row check compares its
    evaluations with ours; the fit begins at others."""
    stages, planted = STAGINGS[name], staged_weights(STAGINGS[name])
    counts, phase, outcome, game = in_stages(stages, 5, games=3000)
    layout = layout_of_shapes({"material.man": (), "squares.man": (planted.shape[1] - 1,)})
    shares = np.stack([np.interp(phase, *knots_of(stages, s)) for s in range(len(planted))])
    engine = (shares * (counts @ planted.T).T).sum(axis=0)
    rows = batch_of(
        counts,
        phase=phase,
        outcome=outcome.astype(np.float32),
        evaluation=engine.astype(np.float32),
        game=game,
    )
    start = Parameters(
        "own", layout, stages.names, planted, phases=stages.phases, spans=stages.spans
    )
    data, check, _ = build_rows([rows], tmp_path / "data", start, [{"file": "rows"}])
    assert check is not None and check.exact == check.checked == len(phase)
    zeros = start.with_weights(np.zeros_like(planted))
    options = FitOptions(prior=None, held_out=0.0, fit_scale=False)
    found = fit(data, zeros, options)
    errors = found.uncertainty.standard_errors[:, :-1]
    assert (abs(found.weights[:, :-1] - planted) < 4.5 * errors).all() and errors.max() < 30
    one = fit(data, staged(zeros, ("all",)), options)
    assert one.weights.shape == (1, planted.shape[1] + 1)
    if len(planted) > 1:
        assert found.loss_after < one.loss_after
    if stages.spans:  # rows above the largest phase are left out
        for wrong in (phase + 1, stages.phases - phase):
            _, check, _ = build_rows(
                [rows._replace(phase=wrong)], tmp_path / "wrong", start, [{"file": "rows"}]
            )
            assert not check.fits


def knots_of(stages, stage):
    """The phases and heights of the share of a stage."""
    if len(stages.names) == 1:
        return [0], [1]
    spans = stages.spans or ((stages.phases,) * 2, (0, 0))
    order = sorted(range(len(spans)), key=lambda s: spans[s])
    return [p for s in order for p in spans[s]], [float(s == stage) for s in order for _ in "ab"]
