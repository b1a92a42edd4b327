"""Which version of a loop is better: in its rounds what is expected decides, in the end a proof."""

import math
from statistics import NormalDist
from typing import NamedTuple

from tuner.core.estimates import any_time_reach, estimate_of
from tuner.results.improved import Judgement
from tuner.statistics.ratings import CountedMatch, JointRatings, joint_ratings


class Gain(NamedTuple):
    """What steps gained: the mean and the standard deviation of true gains in Elo."""

    mean: float
    sd: float


GAIN = Gain(15.0, 15.0)  # of steps towards scores of own games, see docs/measurements.md
RESULTS_GAIN = Gain(0.0, 30.0)  # of steps towards results of games of others
PROOF_SHARE = 0.1  # of its width, by which an interval is above 0 where a match ends early
HOPE = 2.0  # standard errors by which a difference may be larger than it seems


def judged(ratings: JointRatings, version: str, other: str, gain: Gain) -> Judgement:
    """Judge a version by the ratings that all matches so far give, and by what such steps gain."""
    difference = ratings.difference(version, other)
    error = difference.standard_error
    seen, known = 1 / error**2, 1 / gain.sd**2
    expected = (difference.value * seen + gain.mean * known) / (seen + known)
    return Judgement(difference, NormalDist().cdf(difference.value / error), expected)


def final_judgement(match: CountedMatch) -> Judgement:
    """Judge by one match alone, with an interval that holds whenever the match ends."""
    difference = joint_ratings([match]).difference(match.a, match.b)
    reach = any_time_reach(sum(match.pairs))
    rating = estimate_of(difference.value, difference.standard_error, reach)
    los = NormalDist().cdf(difference.value / difference.standard_error)
    return Judgement(rating, los, difference.value)


def is_settled(found: dict, most: float) -> bool:
    """Return whether a match has proved a gain, or cannot prove one within `most` games: even if
    the rest shows a gain that is larger by HOPE standard errors."""
    pairs = found["pentanomial"]
    rating = final_judgement(CountedMatch("a", "b", pairs)).rating
    share = min(found["games"] / most, 1.0)
    hoped = rating.value + HOPE * rating.standard_error * (1 - share)
    needed = any_time_reach(sum(pairs) / share) * rating.standard_error * math.sqrt(share)
    return rating.low > PROOF_SHARE * (rating.high - rating.low) or hoped < needed
