"""The model of wins, draws and losses: its likelihood against formulas and programs of others, and
what it finds in games whose chances are known."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import norm

from tuner.statistics.wdl import (
    Judged,
    WdlModel,
    _losses,
    best_factor,
    constant_losses,
    fit_wdl,
    mean_by_game,
)

sm = pytest.importorskip("statsmodels.api", reason="no statsmodels; pip install '.[test]'")
SPAN = np.arange(17, 79) / 58
# of Stockfish 17, for scores in hundredths of its pawn
KNOWN = WdlModel(
    np.array([420.70576692, -132.78783573, 121.19101539, -37.45051876]) / 3.7,
    np.array([51.35259597, 71.10130540, -137.26549898, 90.26261072]) / 3.7,
)


def played(model: WdlModel, games: int, each: int, seed: int, shared: float = 0.0) -> Judged:
    """Positions of games whose results have the chances of the model; a share of the games have one
    result for all their positions, as positions of a game have."""
    dice = np.random.default_rng(seed)
    n = games * each
    x, m = dice.normal(0, 150, n), dice.integers(17, 79, n) / 58
    game = np.repeat(np.arange(games), each)
    luck = dice.random(n)
    luck = np.where((dice.random(games) < shared)[game], dice.random(games)[game], luck)
    chances = model.chances(x, m)
    z = np.where(luck < chances.win, 1.0, np.where(luck > 1 - chances.loss, -1.0, 0.0))
    return Judged(x, m, z, game)


def plain_loss(model: WdlModel, data: Judged) -> np.ndarray:
    """The log losses by the formula as it is written."""
    a = sum(c * data.m**i for i, c in enumerate(model.a))
    b = sum(c * data.m**i for i, c in enumerate(model.b))
    win, loss = 1 / (1 + np.exp((a - data.x) / b)), 1 / (1 + np.exp((a + data.x) / b))
    return -np.log(np.where(data.z > 0, win, np.where(data.z < 0, loss, 1 - win - loss)))


def test_losses_are_those_of_the_formula():
    data = played(KNOWN, 100, 20, 1)
    assert np.allclose(KNOWN.losses(data), plain_loss(KNOWN, data), rtol=1e-9)
    chances = KNOWN.chances(data.x, data.m)
    assert np.allclose(sum(chances), 1) and min(part.min() for part in chances) >= 0
    turned = KNOWN.chances(-data.x, data.m)
    assert np.allclose(chances.win, turned.loss) and np.allclose(chances.draw, turned.draw)
    # half of the games are won at a, and at the anchor a and b are sums
    assert KNOWN.chances(KNOWN.at(1.0)[0], 1.0).win == pytest.approx(0.5)
    assert KNOWN.at(1.0)[0] == pytest.approx(371.65842790 / 3.7)


def test_a_fractional_outcome_is_a_mixture():
    x, m, game = np.array([30.0]), np.array([0.8]), np.array([0])
    won, drawn, lost, some = (
        KNOWN.losses(Judged(x, m, np.array([z]), game))[0] for z in (1.0, 0.0, -1.0, 0.25)
    )
    assert some == pytest.approx(0.25 * won + 0.75 * drawn)


def test_derivatives_are_those_of_finite_differences():
    dice = np.random.default_rng(2)
    for z in (1.0, 0.0, -1.0, 0.5, -0.25):
        for _ in range(10):
            x, a, b = dice.normal(0, 200), dice.uniform(20, 200), dice.uniform(20, 90)
            data = Judged(*(np.array([value]) for value in (x, 1.0, z, 0)))
            at = lambda ab, data=data: _losses(ab[:1], ab[1:], data)[0][0]  # noqa: E731
            _, da, db = _losses(np.array([a]), np.array([b]), data)
            found = approx_fprime(np.array([a, b]), at, 1e-5)
            assert np.allclose([da[0], db[0]], found, rtol=1e-4, atol=1e-9)


def test_without_material_it_is_the_ordered_model_of_statsmodels():
    """Seen from both sides, its two thresholds are each other's negative, as ours are."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    data = played(WdlModel(np.array([90.0]), np.array([45.0])), 400, 10, 3)
    both = np.concatenate([data.z, -data.z])
    x = np.concatenate([data.x, -data.x])[:, None] / 100
    theirs = OrderedModel(both, x, distr="logit").fit(method="bfgs", disp=False, gtol=1e-9)
    slope = theirs.params[0]
    low, high = theirs.model.transform_threshold_params(theirs.params)[1:3]
    assert low == pytest.approx(-high, abs=1e-4)
    ours = fit_wdl(data, 0, [1.0])
    assert ours.model.b[0] == pytest.approx(100 / slope, rel=1e-4)
    assert ours.model.a[0] == pytest.approx(100 * high / slope, rel=1e-4)
    assert 2 * ours.loss * len(data.x) == pytest.approx(-theirs.llf, rel=1e-6)


def test_errors_of_one_game_each_are_those_of_statsmodels():
    """With a game for each position the clustered errors are nearly those of the curvature."""
    from statsmodels.base.model import GenericLikelihoodModel

    data = played(WdlModel(np.array([90.0]), np.array([45.0])), 6000, 1, 4)

    class Plain(GenericLikelihoodModel):
        def nloglikeobs(self, params):
            return plain_loss(WdlModel(params[:1], params[1:]), data)

    theirs = Plain(data.z, np.ones((len(data.z), 2))).fit(
        start_params=[80.0, 50.0], method="bfgs", disp=False, gtol=1e-9
    )
    ours = fit_wdl(data, 0, [1.0])
    assert np.allclose([ours.model.a[0], ours.model.b[0]], theirs.params, rtol=1e-4)
    assert np.allclose([c.standard_error for (c,) in ours.coefficients], theirs.bse, rtol=0.05)


@pytest.mark.parametrize("degree", [1, 3])
def test_no_step_from_the_fit_is_better(degree):
    data = played(KNOWN, 200, 20, 5)
    ours = fit_wdl(data, degree, SPAN)
    best = plain_loss(ours.model, data).mean()
    assert best == pytest.approx(ours.loss, rel=1e-9)
    dice = np.random.default_rng(6)
    for _ in range(50):
        step = dice.multivariate_normal(np.zeros(len(ours.covariance)), ours.covariance) / 10
        a, b = np.split(step, 2)
        assert plain_loss(WdlModel(ours.model.a + a, ours.model.b + b), data).mean() > best


@pytest.mark.long
def test_a_higher_degree_is_chosen_only_where_it_helps():
    flat, bent = (
        played(model, 300, 30, 7) for model in (WdlModel(np.array([90.0]), np.array([45.0])), KNOWN)
    )
    fits = [[fit_wdl(data, degree, SPAN) for degree in (0, 1, 2, 3)] for data in (flat, bent)]
    losses = [[fit.loss for fit in some] for some in fits]
    assert all(np.all(np.diff(some) <= 1e-12) for some in losses)  # each has the one below in it
    chosen = [int(np.argmin([fit.criterion for fit in some])) for some in fits]
    assert chosen[0] == 0 < chosen[1]


def test_the_known_chances_are_found():
    data = played(KNOWN, 2000, 25, 8)
    ours = fit_wdl(data, 3, SPAN)
    x, m = np.meshgrid(np.linspace(-300, 300, 25), SPAN)
    for found, known in zip(ours.model.chances(x, m), KNOWN.chances(x, m), strict=True):
        assert np.abs(found - known).max() < 0.03


def test_intervals_at_a_material_are_those_of_draws_from_the_covariance():
    ours = fit_wdl(played(KNOWN, 300, 20, 9), 2, SPAN)
    theta = np.concatenate([ours.model.a, ours.model.b])
    drawn = np.random.default_rng(1).multivariate_normal(theta, ours.covariance, 20_000)
    power = 0.5 ** np.arange(3)
    widths = norm.ppf(0.975) * np.std([drawn[:, :3] @ power, drawn[:, 3:] @ power], axis=1)
    assert np.allclose([found.half_width for found in ours.at(0.5)], widths, rtol=0.03)


def test_games_that_scores_do_not_tell_apart_are_not_fitted():
    data = played(KNOWN, 50, 20, 10)
    assert (
        fit_wdl(
            data._replace(z=np.random.default_rng(1).permutation(data.z), x=data.x * 0), 0, [1.0]
        )
        is None
    )


@pytest.mark.filterwarnings("error")
def test_scores_that_decide_every_game_are_no_warning():
    """Steep curves, where a / b is so large that its exponential overflows."""
    for seed in range(8):
        dice = np.random.default_rng(seed)
        material, outcome = dice.uniform(0.3, 1.3, 20), dice.choice([-1.0, 0.0, 1.0], 20)
        score = np.clip(dice.normal(outcome * 900, 60), -1000, 1000)
        for degree in (0, 1):
            fit_wdl(Judged(score, material, outcome, np.arange(20)), degree, SPAN)


def test_the_best_factor_undoes_a_scale():
    data = played(KNOWN, 500, 20, 11)
    factor = best_factor(KNOWN, data._replace(x=2.5 * data.x))
    assert factor == pytest.approx(2.5, rel=0.05)


def test_a_guess_without_scores_knows_how_often_games_are_won():
    data = played(KNOWN, 100, 20, 12)
    shares = [(data.z == z).mean() for z in (1, 0, -1)]
    entropy = -sum(share * np.log(share) for share in shares)
    assert constant_losses(data, data).mean() == pytest.approx(entropy)


def test_means_by_game_are_those_of_statsmodels():
    dice = np.random.default_rng(13)
    game = dice.integers(0, 2000, 9000)
    values = dice.normal(size=2000)[game] + dice.normal(size=9000)
    found = mean_by_game(values, game)
    theirs = sm.OLS(values, np.ones(9000)).fit(
        cov_type="cluster", cov_kwds={"groups": game, "df_correction": True}
    )
    assert found.value == pytest.approx(theirs.params[0])
    assert found.half_width == pytest.approx(1.96 * theirs.bse[0], rel=0.01)
