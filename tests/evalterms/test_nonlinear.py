"""Evaluations that are not linear: values by hand, the search's rounding, derivatives by
differences."""

import json
import textwrap

import chess
import numpy as np
import pytest

from evalterms.framework.check import random_positions
from tests.commands.support import done, refused
from tests.evalterms.support import engine, some_positions
from tests.support import file_with
from tuner.evaluation.loading import load_engine, load_parameters, make_engine
from tuner.fit.device.cpu.device import linearise
from tuner.parameters.writer import write_parameters

TERMS = textwrap.dedent('''
    from evalterms.term import Term
    from games.bits import popcount

    pairs = Term("pairs")
    ROOKS = pairs.parameter("rooks")
    PAWNS = pairs.parameter("pawns", 2, part=1)

    @pairs.counts
    def count_pairs(us, them, emit):
        """Rooks, and pawns of both sides."""
        emit(ROOKS, popcount(us.rooks))
        emit(PAWNS, popcount(us.pawns))
        emit(PAWNS + 1, popcount(them.pawns))

    @pairs.through
    def product(rooks, pawns):
        return rooks * pawns / 100.0

    few = Term("few", scales=True)
    FEW = few.parameter("pawns", 3)

    @few.counts
    def count_few(us, them, emit):
        """Pawns of the side ahead, up to two."""
        if popcount(us.pawns) < 3:
            emit(FEW + popcount(us.pawns), 1)
''')


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Chess with all its terms and those above, positions, and weights (2, columns)."""
    path = file_with(tmp_path_factory.mktemp("nonlinear") / "terms.py", TERMS)
    found = make_engine("chess", [path])
    weights, last = found.layout.size, 6
    drawn = np.random.default_rng(3).normal(0, 12, (2, weights))
    drawn[:, -last:] = np.random.default_rng(4).normal(0, 25, (2, last))
    positions = some_positions("chess")
    return found, positions[np.random.default_rng(5).permutation(len(positions))[:800]], drawn


def test_values_are_linear_part_products_and_scale_by_hand(own):
    found, positions, weights = own
    chess = engine("chess")
    weights = weights.copy()
    weights[:, chess.layout.size - 66 : chess.layout.size] = 0.0  # king danger and late scale
    linear = chess.values(positions, weights[:, :-6])
    rows = chess.coefficients(positions)
    first = rows.phase / 24
    rook, ours, theirs, *few = (
        first[:, None] * weights[0, -6:] + (1 - first)[:, None] * weights[1, -6:]
    )

    def by_hand(i: int) -> float:
        from chess import Board

        board, text = Board(chess.game.text(positions[i])), first[i]
        w = text * weights[0, -6:] + (1 - text) * weights[1, -6:]
        rooks, pawns = (
            [len(board.pieces(kind, colour)) for colour in (True, False)] for kind in (4, 1)
        )
        product = [
            w[0] * rooks[side] * (w[1] * pawns[side] + w[2] * pawns[1 - side]) / 100
            for side in range(2)
        ]
        value = linear[i] + product[0] - product[1]
        ahead = pawns[0 if value >= 0 else 1]
        return value * min(max(1 + (w[3 + ahead] if ahead < 3 else 0) / 100, 0), 2)

    expected = [by_hand(i) for i in range(len(positions))]
    np.testing.assert_allclose(found.values(positions, weights), expected, rtol=0, atol=1e-9)
    assert np.abs(expected - linear).max() > 50


@pytest.mark.long
def test_the_search_rounds_values_to_a_256th_of_a_centipawn(own):
    found, positions, weights = own
    _, start = load_engine("modern")
    weights = np.round(weights)
    weights[:, : start.weights.shape[1]] = start.weights
    parameters = start.with_weights(weights)
    np.testing.assert_allclose(
        found.evaluate(positions, parameters),
        found.values(positions, weights),
        rtol=0,
        atol=4 / 256,
    )


def test_derivatives_are_those_of_differences(own):
    found, positions, weights = own
    rows, table = found.coefficients(positions), found.table(weights)
    near, evaluation = linearise(found.composition, rows, np.array([[0, len(positions)]]), table)
    np.testing.assert_allclose(evaluation, found.values(positions, weights), rtol=0, atol=1e-9)
    columns = found.layout.size
    slopes = near.dense(columns)
    np.testing.assert_allclose(
        near.rest + (slopes * table[rows.phase]).sum(axis=1), evaluation, rtol=0, atol=1e-3
    )
    nonlinear = np.flatnonzero(found.composition.form.sum[:columns])
    for column in [*nonlinear[::3], *nonlinear[-6:], 0, 4, 30, 200, 500]:
        for stage, share in enumerate((rows.phase / 24, 1 - rows.phase / 24)):
            above, below = weights.copy(), weights.copy()
            above[stage, column] += 1e-3
            below[stage, column] -= 1e-3
            expected = (found.values(positions, above) - found.values(positions, below)) / 2e-3
            # but where the step crosses a kink: danger begins, or the other side is ahead
            close = np.isclose(share * slopes[:, column], expected, rtol=1e-5, atol=1e-4)
            assert close.mean() > 0.99


def test_changes_are_values_with_one_weight_moved(own):
    found, positions, weights = own
    positions = positions[:60]
    size = engine("chess").layout.size
    chosen = np.array([0, 40, size - 56, size - 6, size, size + 2], np.uint16)
    index = np.tile(chosen, len(positions))
    ends = np.arange(1, len(positions) + 1) * 6
    changes = found.changes(positions, index, ends, weights, 0.5).reshape(len(positions), 6, 2, 2)
    here = found.values(positions, weights)
    for k, column in enumerate(index[:6]):
        for stage in range(2):
            for side, step in enumerate((0.5, -0.5)):
                moved = weights.copy()
                moved[stage, column] += step
                expected = found.values(positions, moved) - here
                np.testing.assert_allclose(changes[:, k, stage, side], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (
            ("product(rooks, pawns)", "product(rooks)"),
            "its function takes 1 sum, expected 2: its parameters have parts 0 and 1",
        ),
        ((", part=1)", ")"), "its function takes 2 sums, expected 1: its parameters have one part"),
        ((", part=1)", ", part=2)"), "pairs.pawns has part 2, expected 0 or 1"),
        (
            ('few.parameter("pawns", 3)', 'few.parameter("pawns", 3, part=1)'),
            "few scales by one sum; leave it out",
        ),
        (
            ('Term("pairs")', 'Term("pairs", scales=True)'),
            "pairs.pawns has part 1, but pairs scales by one sum; leave it out",
        ),
    ],
)
def test_a_term_that_cannot_be_is_one_line(tmp_path, change, wanted):
    (tmp_path / "terms.py").write_text(TERMS.replace(*change))
    with pytest.raises(Exception, match="terms.py") as problem:
        make_engine("chess", [tmp_path / "terms.py"])
    assert wanted in str(problem.value) and "\n" not in str(problem.value)


DANGER = textwrap.dedent('''
    from evalterms.term import Term
    from games.bits import popcount

    danger = Term("danger")
    ATTACKS = danger.parameter("attacks")
    QUEEN = danger.parameter("queen_attacks")

    @danger.counts
    def count_danger(us, them, emit):
        """Squares round their king that we attack."""
        emit(ATTACKS, popcount(us.attacks & them.king_attacks))
        emit(QUEEN, popcount(us.queen_attacks & them.king_attacks))

    @danger.through
    def quadratic(total):
        return total * abs(total) / 100.0
''')
WEIGHTS = np.array([[30.0, 18.0], [12.0, 25.0]])  # stages, attacks and queen_attacks


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of terms and a parameter file with them: `classic` and WEIGHTS."""
    folder = tmp_path_factory.mktemp("curves")
    terms, start = folder / "danger.py", folder / "start.yaml"
    terms.write_text(DANGER)
    done("params", "classic", "--terms", terms, "--add-missing", "-o", start)
    parameters = load_parameters(start, [terms])
    weights = parameters.weights.copy()
    weights[:, -2:] = WEIGHTS
    write_parameters(folder / "danger.yaml", parameters.with_weights(weights))
    return terms, folder / "danger.yaml"


def by_python_chess(board: chess.Board, phase: int) -> float:
    """What the term adds, in centipawns for White."""
    total = 0.0
    for colour, sign in ((chess.WHITE, 1), (chess.BLACK, -1)):
        zone = board.attacks(board.king(not colour))
        attacked = chess.SquareSet()
        queen = chess.SquareSet()
        for square in chess.SquareSet(board.occupied_co[colour]):
            attacked |= board.attacks(square)
            if board.piece_type_at(square) == chess.QUEEN:
                queen |= board.attacks(square)
        counts = np.array([len(attacked & zone), len(queen & zone)])
        early, late = WEIGHTS @ counts
        tapered = phase / 24 * early + (1 - phase / 24) * late
        total += sign * tapered * abs(tapered) / 100
    return total


def test_values_are_those_of_python_chess_and_the_search_rounds_them_to_a_256th(files):
    terms, start = files
    engine, parameters = load_engine(start, [terms])
    positions = np.array(list(random_positions(engine.game, games=6)))
    linear, classic = load_engine("classic")
    phase = linear.coefficients(positions).phase
    expected = linear.evaluate_many(positions, classic) + [
        by_python_chess(chess.Board(engine.game.text(p)), int(f))
        for p, f in zip(positions, phase, strict=True)
    ]
    np.testing.assert_allclose(
        engine.values(positions, parameters.weights), expected, rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        engine.evaluate_many(positions, parameters), expected, rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(engine.evaluate(positions, parameters), expected, rtol=0, atol=0.05)
    assert np.abs(expected - linear.evaluate_many(positions, classic)).max() > 20


def test_the_terms_of_one_position_add_up(files):
    terms, start = files
    fen = "r1b2rk1/ppp2ppp/2np1n2/2b1p1N1/2B1P2Q/2NP4/PPP2PPP/R1B2RK1 w - - 0 1"
    said = json.loads(done("eval", start, fen, "--terms", terms, "--json").out)
    assert sum(term["contribution"] for term in said["terms"]) == pytest.approx(
        said["evaluation"], abs=0.01
    )
    (danger,) = [term["contribution"] for term in said["terms"] if term["term"] == "danger"]
    assert danger == pytest.approx(by_python_chess(chess.Board(fen), said["phase"]), abs=1e-6)


@pytest.mark.parametrize(
    "gradient", ["analytic", pytest.param("finite-difference", marks=pytest.mark.long)]
)
def test_their_numbers_are_found_again_from_results_that_follow_them(files, tmp_path, gradient):
    terms, start = files
    engine, truth = load_engine(start, [terms])
    positions = np.array(list(random_positions(engine.game, games=60, seed=3)))[::2]
    evaluation = engine.values(positions, truth.weights)
    won = np.random.default_rng(5).random(len(positions)) < 0.5 + 0.5 * np.tanh(
        truth.scale * evaluation
    )
    lines = [
        f'{" ".join(engine.game.text(p).split()[:4])} c9 "{"1-0" if w else "0-1"}";'
        for p, w in zip(positions, won, strict=True)
    ]
    (tmp_path / "drawn.epd").write_text("\n".join(lines) + "\n")
    zero = truth.weights.copy()
    zero[:, -2:] = 5.0
    write_parameters(tmp_path / "start.yaml", truth.with_weights(zero))
    done(
        "tune",
        tmp_path / "start.yaml",
        tmp_path / "drawn.epd",
        "--terms",
        terms,
        "--only",
        "danger.*",
        "--prior",
        "none",
        "--scale",
        truth.scale,
        "--no-intercept",
        "--gradient",
        gradient,
        "--method",
        "logistic",
        "--held-out",
        0,
        "-o",
        tmp_path / "learned.yaml",
    )
    learned = load_parameters(tmp_path / "learned.yaml", [terms])
    found, errors = learned.weights[:, -2:], learned.standard_errors[:, -2:]
    assert (np.abs(found - WEIGHTS) < 3.5 * errors).all() and (errors[0] < 12).all()


@pytest.mark.parametrize("gradient", ["analytic", "finite-difference"])
def test_self_play_moves_them(files, tmp_path, gradient):
    terms, start = files
    done(
        "selfplay",
        start,
        "--terms",
        terms,
        "--method",
        "td-leaf",
        "--gradient",
        gradient,
        "--games",
        16,
        "--depth",
        1,
        "--run",
        tmp_path / "run",
    )
    learned = load_parameters(tmp_path / "run" / "params.yaml", [terms])
    assert (np.abs(learned.weights[:, -2:] - WEIGHTS) > 0.02).all()


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        ("return total + 1.0", "returns 1.0 for nothing counted, expected 0"),
        ("return total / 0.0 if total else 0.0", "ZeroDivisionError"),
        ("return 'much'", "returns 'much' for 0 centipawns, expected a number"),
        ("return total ** 4", "expected a number of centipawns below 8,000,000"),
    ],
)
def test_an_unusable_function_is_one_line_of_error(tmp_path, function, wanted):
    (tmp_path / "terms.py").write_text(
        DANGER.replace("return total * abs(total) / 100.0", function)
    )
    said = refused(
        "params",
        "classic",
        "--terms",
        tmp_path / "terms.py",
        "--add-missing",
        "-o",
        tmp_path / "o.yaml",
    )
    assert wanted in said and "terms.py" in said
