"""Probes of engines whose evaluation is known: exact coefficients, and what is not linear is
found."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.sparse import csr_array

from games.record import EngineOption, ReadOptions, ReadReport, SearchLimits, chosen
from games.streams import InputError
from tests.games.chess.engines.client.fake import OPTIONS, count, evaluation
from tests.games.chess.engines.client.support import CHECK, CHESS, positions
from tests.games.support import REPOSITORY
from tests.tuner.probe.support import asking, batch_of, boards
from tuner.datasets.rows.values import RowBatch
from tuner.evaluation.loading import load_engine, quiescence_of
from tuner.learn.build import prepared
from tuner.parameters.layout import shares_of
from tuner.probe.linearity import KeptRows, examine, jacobian, layout_of_options, steps_of
from tuner.probe.run import rounds, thinned

ALL = tuple(OPTIONS)
BOARDS = boards(np.random.default_rng(1), 60)
TEXTS = [CHESS.text(words) for words in BOARDS]
PLACES = [text.split()[0] for text in TEXTS]
USUAL = {name: value for name, (value, *_) in OPTIONS.items()}


def dense(rows: list[RowBatch], columns: int) -> np.ndarray:
    parts = [
        csr_array((part.count, part.index, part.row), shape=(len(part.phase), columns)).toarray()
        for part in rows
    ]
    return np.concatenate(parts)


def test_the_counts_are_those_of_the_engine_and_the_rest_is_what_they_leave():
    batch = batch_of(np.concatenate([BOARDS, positions(CHECK)]), outcomes=np.linspace(-1, 1, 61))
    kept = KeptRows()
    with asking(workers=2) as (answers, steps, _):
        rows = list(jacobian(answers, steps, [batch], CHESS.text, 2.0, kept))
    assert (kept.rows, kept.unknown, kept.changed, kept.bent) == (60, 1, 0, 0)
    (part,) = rows
    # the rooks' part of Alpha is linear in Alpha alone
    wanted = [
        [count(place, "p") + USUAL["Mix"] / 100 * count(place, "r"), count(place, "n")]
        for place in PLACES
    ]
    np.testing.assert_allclose(dense(rows, 2), wanted, atol=1e-6)
    np.testing.assert_allclose(
        part.evaluation, [evaluation(place, USUAL) for place in PLACES], atol=1e-4
    )
    np.testing.assert_allclose(part.rest + dense(rows, 2) @ [100, 300], part.evaluation, atol=1e-3)
    assert (
        part.text == TEXTS
        and (part.phase == 1).all()
        and (part.scale == 1).all()
        and np.isnan(part.score).all()
    )
    np.testing.assert_allclose(part.outcome, np.linspace(-1, 1, 61)[:60], atol=1e-6)
    assert (
        part.game.tolist()
        == np.repeat(batch.identities, np.diff(batch.first, append=61))[:60].tolist()
    )
    assert [array.dtype for array in part[:5]] == [
        np.int32,
        np.float32,
        np.int64,
        np.int64,
        np.float32,
    ]


def test_batches_are_joined_and_recorded_scores_become_those_of_the_rows():
    scores = np.where(np.arange(60) % 3, np.arange(60), np.nan).astype(np.float32)
    scores[1] = np.inf
    whole = replace(batch_of(BOARDS), scores=scores)
    batches = [
        replace(batch_of(BOARDS[:7], 1), scores=scores[:7]),
        replace(batch_of(BOARDS[7:], 4), scores=scores[7:]),
    ]
    with asking() as (answers, steps, _):
        (part,), (joined,) = (
            list(jacobian(answers, steps, some, CHESS.text)) for some in ([whole], batches)
        )
    np.testing.assert_array_equal(part.score, scores)
    np.testing.assert_array_equal(joined.score, scores)
    np.testing.assert_array_equal(joined.count, part.count)
    assert joined.text == part.text == TEXTS


def test_what_is_not_linear_and_what_is_not_additive_is_found():
    with asking(names=ALL) as (answers, steps, _):
        found = examine(answers, answers.asked(BOARDS), steps, None, 1)
    by_name = {finding.step.name: finding for finding in found.findings}
    assert {name: finding.linear for name, finding in by_name.items() if name != "Mix"} == {
        "Alpha": not by_name["Mix"].linear,
        "Beta Weight": True,
        "Curve": False,
    }
    assert by_name["Curve"].largest > 2 and by_name["Curve"].deviating > 0.3
    lost = by_name["Alpha"] if not by_name["Alpha"].linear else by_name["Mix"]
    assert (
        set(lost.with_) == {"Alpha", "Mix"} - {lost.step.name} and lost.deviating == 0
    )  # linear by itself
    assert found.tolerance < 0.1 and found.misled is None


def test_an_engine_that_is_rounded_is_given_the_tolerance_of_its_unit():
    with asking(names=("Alpha", "Beta Weight")) as (answers, steps, _):
        answers.base["Mix"] = 0
        assert examine(answers, answers.asked(BOARDS), steps, None, 1).tolerance == 4.0


def test_an_engine_that_remembers_is_started_again_for_each_value():
    with asking("drift") as (answers, steps, _):
        found = examine(answers, answers.asked(BOARDS), steps, None, 1)
        assert answers.fresh and all(finding.linear for finding in found.findings)
        rows = list(jacobian(answers, steps, [batch_of(BOARDS)], CHESS.text))
    np.testing.assert_allclose(
        dense(rows, 2)[:, 1], [count(place, "n") for place in PLACES], atol=1e-6
    )


def test_an_engine_that_evaluates_by_chance_is_refused():
    said = "evaluates 60 of 60 positions otherwise when its options are set back, by up to"
    with asking("chance") as (answers, steps, _), pytest.raises(InputError, match=said):
        examine(answers, answers.asked(BOARDS), steps, None, 1)


def test_searches_count_where_the_pv_stays_the_same_and_the_rest_is_counted():
    kept = KeptRows()
    with asking("moody", names=("Alpha",), limits=SearchLimits(depth=1)) as (answers, steps, _):
        found = examine(answers, answers.asked(BOARDS), steps, None, 1)
        rows = list(jacobian(answers, steps, [batch_of(BOARDS)], CHESS.text, found.tolerance, kept))
    odd = np.array([place.count("p") % 2 for place in PLACES], bool)
    assert kept.changed == np.count_nonzero(odd) and kept.rows == np.count_nonzero(~odd) == sum(
        len(part.phase) for part in rows
    )
    assert found.findings[0].linear and found.misled is not None
    kept_places = [place for place, left in zip(PLACES, odd, strict=True) if not left]
    wanted = [[count(place, "p") + USUAL["Mix"] / 100 * count(place, "r")] for place in kept_places]
    np.testing.assert_allclose(dense(rows, 1), wanted, atol=0.05)  # scores are whole


@pytest.mark.parametrize(
    ("value", "delta", "moves"),
    [
        (100, None, (-25, 25, 50)),
        (0, None, (0, 8, 16)),
        (400, None, (-100, 0, -200)),
        (390, 20, (-20, 0, -40)),
        (380, 15, (-15, 15, -30)),
        (100, 30, (-30, 30, 60)),
    ],
)
def test_steps_stay_within_the_range(value, delta, moves):
    option = EngineOption("Alpha", "spin", str(value), 0, 400)
    (step,) = steps_of({"Alpha": option}, ["Alpha"], {}, delta)
    assert (step.down, step.up, step.far) == moves


def test_an_option_without_room_is_refused():
    with pytest.raises(InputError, match="'Alpha' ranges from 3 to 4: no room for a step"):
        steps_of({"Alpha": EngineOption("Alpha", "spin", "3", 3, 4)}, ["Alpha"], {})


def test_our_own_engine_gives_our_own_coefficients(small_pgn):
    """Counts times the shares of the stages, for positions of games."""
    engine, parameters = load_engine("classic")
    options = prepared(
        ReadOptions(positions="quiet", per_game=1, skip_start=8), quiescence_of(engine, "classic")
    )
    (batch,) = thinned(
        list(engine.game.files.read(str(small_pgn), options, ReadReport(), print)), 60, 1
    )
    command = f"{sys.executable} {REPOSITORY / 'tests' / 'tuner' / 'probe' / 'own_engine.py'}"
    labels = [f"{label}.{stage}" for label in engine.layout.labels() for stage in parameters.stages]
    names = tuple(chosen(labels, ["material.*", "pawns.isolated*", "space.*"]))
    with asking(command=command, pattern=None, names=names) as (answers, steps, options):
        found = examine(answers, answers.asked(batch.positions[:20]), steps, None, 1)
        rows = list(jacobian(answers, steps, [batch], CHESS.text, found.tolerance))
    assert all(finding.linear for finding in found.findings) and len(names) > 10
    counted = engine.coefficients(batch.positions)
    shares = shares_of(counted.phase, engine.phases, 2)
    whole = counted.dense(engine.layout.size)
    wanted = np.stack([whole * share[:, None] for share in shares], axis=2).reshape(len(whole), -1)
    np.testing.assert_allclose(
        dense(rows, len(names)), wanted[:, [labels.index(name) for name in names]], atol=1e-5
    )
    layout = layout_of_options(list(options), steps)
    assert layout.places[0].name == names[0].replace(".", "_").replace("[", "_").replace("]", "")


def test_gauss_newton_finds_values_of_an_option_that_is_not_linear():
    """Results are those of other values; each fit is SciPy's, of squared errors."""
    values = {"Alpha": 100, "Curve": 20}
    truth = {**USUAL, "Alpha": 130, "Curve": 45}
    targets = np.array([evaluation(place, truth) for place in PLACES])
    passes = []

    def fit(rows: list[RowBatch], old: np.ndarray) -> np.ndarray:
        design, rest = dense(rows, 2), np.concatenate([part.rest for part in rows])
        passes.append(old.tolist())
        return least_squares(lambda weights: design @ weights + rest - targets, old).x

    with asking(names=("Alpha", "Curve")) as (answers, _, options):
        found, history = rounds(
            answers,
            options,
            ["Alpha", "Curve"],
            values,
            [batch_of(BOARDS)],
            CHESS.text,
            fit,
            12,
            delta=2,
        )
    assert found == {"Alpha": 130, "Curve": 45}
    assert (
        2 < len(history) < 12
        and passes[0] == [100, 20]
        and history[-1].values.tolist() == [130, 45]
    )


def test_thinning_keeps_games_together():
    batches = [batch_of(BOARDS[:37], 4), batch_of(BOARDS[37:], 3)]
    batches = [replace(batch, scores=batch.positions[:, 0].astype(np.float32)) for batch in batches]
    some = thinned(batches, 20, 1)
    assert all((batch.scores == batch.positions[:, 0].astype(np.float32)).all() for batch in some)
    assert sum(len(batch.positions) for batch in some) == 20
    for before, after in zip(batches, some, strict=True):
        ends = np.append(after.first[1:], len(after.positions))
        old_ends = np.append(before.first[1:], len(before.positions))
        for identity, begin, end in zip(after.identities, after.first, ends, strict=True):
            k = before.identities.tolist().index(identity)
            inside = {words.tobytes() for words in before.positions[before.first[k] : old_ends[k]]}
            assert end > begin and all(
                words.tobytes() in inside for words in after.positions[begin:end]
            )
    assert thinned(batches, 60, 1)[0] is batches[0]
