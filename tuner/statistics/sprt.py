"""Sequential probability ratio test on pairs of games: is the difference elo1 rather than elo0?

The log-likelihood ratio compares the two likeliest distributions of pairs under the hypotheses,
given what was seen (generalized SPRT; M. Van den Bergh, Comments on normalized Elo,
https://www.cantate.be/Fishtest/normalized_elo_practical.pdf). The `logistic` model fixes the mean
score of a pair, the `normalized` one its distance from 1/2 in standard deviations. The same numbers
mean different things: elo 5 is a smaller effect in the normalized model where games spread less
than wins and losses alone would, as with draws. The `points` model is for games that win more than
one point: there elo0 and elo1 are mean points a game.

The errors are alpha and beta if the test is evaluated after every pair. Fewer evaluations make it
longer and the errors smaller."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from scipy.optimize import brentq

from games.streams import InputError
from tuner.statistics.pentanomial import NORMALIZED_ELO, mean_and_variance, score_of, scores_of

# count of a result of pairs that was never seen: with 0, a hypothesis could need results without
# any probability
UNSEEN = 1e-3
# at 231 normalized Elo a mean that many standard deviations from 1/2 is out of reach of equal
# shares, where the search starts
LARGEST_ELO = {"normalized": 200.0, "logistic": 1000.0}
POINTS = "points"
LARGEST_SHARE = 0.9  # of the points that a game can win, for the points model
ITERATIONS = 200
TOLERANCE = 1e-8  # change of the log-likelihood per pair


@dataclass(frozen=True)
class Sprt:
    """A test: accept elo1 falsely with chance alpha at elo0, accept elo0 falsely with chance beta
    at elo1. In the points model both are points a game, of which a game wins `points` at most."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = "normalized"
    points: int = 1

    def __post_init__(self):
        if self.model not in LIKELIEST:
            raise InputError(
                f"unknown SPRT model {self.model!r}; available: {', '.join(sorted(LIKELIEST))}"
            )
        points = self.model == POINTS
        what = (
            f"{self.elo0:g} to {self.elo1:g} points a game"
            if points
            else f"elo0 {self.elo0:g} to elo1 {self.elo1:g}"
        )
        if not self.elo0 < self.elo1:
            lower, upper = ("the first", "the second") if points else ("elo0", "elo1")
            raise InputError(f"SPRT from {what}: {lower} must be less than {upper}")
        largest = LARGEST_SHARE * self.points if points else LARGEST_ELO[self.model]
        if not (-largest <= self.elo0 and self.elo1 <= largest):
            taken = f"-{largest:g} to {largest:g}"
            raise InputError(
                f"SPRT from {what}: expected {taken}, as a game wins {self.points} at most, such as"
                " 0 and 0.05"
                if points
                else f"SPRT from {what}: the {self.model} model takes {taken}"
            )
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise InputError(
                f"SPRT with alpha {self.alpha:g}, beta {self.beta:g}: both must be positive, their"
                " sum less than 1"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which elo0 and elo1 are accepted (Wald): -2.94 and 2.94 for 5
        %."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


def decide(test: Sprt, llr: float) -> str | None:
    """H0, H1, or None while the test continues."""
    lower, upper = test.bounds
    return "H1" if llr >= upper else "H0" if llr <= lower else None


def log_likelihood_ratio(test: Sprt, pairs: Sequence[float]) -> float:
    """LLR of elo1 against elo0 from counts of pairs by score."""
    if not sum(pairs):
        return 0.0
    counts, evidence = _evidence(test, pairs)
    return sum(count * each for count, each in zip(counts, evidence, strict=True))


MIN_PAIRS = 10  # pairs from which on the length of a test can be expected
QUANTILES = tuple(NormalDist().inv_cdf((k + 0.5) / 21) for k in range(21))


def expected_pairs_left(test: Sprt, pairs: Sequence[float]) -> float | None:
    """Return how many more pairs the test is expected to take, by what was seen; None while that is
    too little.

    The LLR continues as a random walk (Wald 1947) with the variance that it had for each pair. Its
    mean for each pair, which is half the variance where elo1 is true and minus that where elo0 is,
    is normal beforehand, about 0 and with twice that as its deviation; seen are the pairs."""
    total = sum(pairs)
    if total < MIN_PAIRS or sum(1 for count in pairs if count) < 2:
        return None
    counts, evidence = _evidence(test, pairs)
    llr = sum(count * each for count, each in zip(counts, evidence, strict=True))
    mean = llr / total
    variance = sum(c * (e - mean) ** 2 for c, e in zip(counts, evidence, strict=True)) / total
    lower, upper = test.bounds
    if not lower < llr < upper:
        return 0.0
    precision = total / variance + 1 / variance**2
    drift, error = llr / variance / precision, math.sqrt(1 / precision)
    times = [_walk(drift + z * error, variance, llr - lower, upper - llr) for z in QUANTILES]
    return sum(times) / len(times)


def _walk(drift: float, variance: float, below: float, above: float) -> float:
    """Return the expected steps of a random walk to a bound so far `below` or `above`."""
    if abs(drift) * (below + above) < 1e-3 * variance:
        return below * above / variance
    rate = 2 * drift / variance
    up = math.expm1(-rate * below) / math.expm1(-rate * (below + above))
    return (up * (above + below) - below) / drift


def _evidence(test: Sprt, pairs: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the counts of pairs by score, none of them 0, and the LLR of one pair of each."""
    counts = [float(count) or UNSEEN for count in pairs]
    total = sum(counts)
    seen = [count / total for count in counts]
    likeliest = LIKELIEST[test.model]
    p0, p1 = likeliest(seen, test.elo0), likeliest(seen, test.elo1)
    return counts, [math.log(b / a) for a, b in zip(p0, p1, strict=True)]


def likeliest_of_score(seen: list[float], elo: float) -> list[float]:
    """Likeliest shares of pairs with the mean score of `elo`, logistic, given the shares seen."""
    return _likeliest_with_mean(seen, score_of(elo))


def likeliest_of_points(seen: list[float], points: float) -> list[float]:
    """Likeliest shares of pairs with these mean points a game, given the shares seen."""
    most = (len(seen) - 1) // 4  # of a game: a pair has the points from -2 most to 2 most
    return _likeliest_with_mean(seen, 0.5 + points / (2 * most))


def _likeliest_with_mean(seen: list[float], score: float) -> list[float]:
    return _likeliest(seen, [a - score for a in scores_of(len(seen))])


def likeliest_of_normalized(seen: list[float], elo: float) -> list[float]:
    """Likeliest shares of pairs with mean - 1/2 = t sd, where t is `elo`, normalized, of a pair.

    The constraint is not linear in the shares: it is taken as linear about the last ones, from
    equal shares on (4.1)."""
    t = math.sqrt(2) * elo / NORMALIZED_ELO
    scores = scores_of(len(seen))
    shares = [1 / len(seen)] * len(seen)
    for _ in range(ITERATIONS):
        mean, variance = mean_and_variance(shares)
        sd = math.sqrt(variance)
        last, shares = (
            shares,
            _likeliest(
                seen, [a - 0.5 - t * sd * (1 + (a - mean) ** 2 / variance) / 2 for a in scores]
            ),
        )
        if (
            sum(s * abs(math.log(p / q)) for s, p, q in zip(seen, shares, last, strict=True))
            < TOLERANCE
        ):
            return shares
    raise ArithmeticError(
        f"no likeliest distribution of pairs of {elo} normalized Elo found after {ITERATIONS}"
        f" iterations; shares seen: {seen}"
    )


LIKELIEST = {
    "logistic": likeliest_of_score,
    "normalized": likeliest_of_normalized,
    POINTS: likeliest_of_points,
}


def _likeliest(seen: list[float], zero: list[float]) -> list[float]:
    """Likeliest shares p with sum(p * zero) = 0: p = seen / (1 + x zero), with x the multiplier
    (Lagrange; 1.2, 1.3)."""
    low, high = -1 / max(zero), -1 / min(zero)
    margin = 1e-14 * (high - low)  # the function is infinite at both ends

    def slope(x: float) -> float:
        return sum([s * z / (1 + x * z) for s, z in zip(seen, zero)])  # noqa: B905 - innermost; both are as long

    # xtol is this small because shares of rare results depend on the distance of x from an end
    x = brentq(slope, low + margin, high - margin, xtol=1e-17, maxiter=1000)
    return [s / (1 + x * z) for s, z in zip(seen, zero, strict=True)]
