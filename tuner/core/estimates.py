"""Estimates: a value with its standard error and its 95 % interval, as text and as plain data.

How many standard errors an interval has to either side is said here alone: that of the normal
distribution, or of Student's t where an error comes from few games."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

from msgspec import Meta

MAX_NUMBER = 1e15  # no number of a run is larger; charts fail beyond
if TYPE_CHECKING:
    import numpy as np

    Real: TypeAlias = float
else:  # what files have: None for what is not finite
    Real = Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)] | None

CONFIDENCE = 0.95
NORMAL = 1.96  # standard errors to either side of a 95 % interval
FEW_GAMES = 50
TUNED = 300  # pairs of a match that decides early
TENFOLD = 400  # Elo at which ten games are won for each that is lost
ELO = TENFOLD / math.log(10)  # by which a score of 1/2 rises with each unit of its logit
ESTIMATED, AT_LEAST, AT_MOST, UNKNOWN, GIVEN = (
    "estimated",
    "at least",
    "at most",
    "unknown",
    "given",
)


@dataclass(frozen=True)
class Estimate:
    """A value, its standard error and its 95 % interval, which need not be even: NaN what is not
    known, infinite what nothing bounds. `how` it was found: as a bound, AT_LEAST or AT_MOST, or it
    was GIVEN."""

    value: Real = math.nan
    standard_error: Real = math.nan
    low: Real = math.nan
    high: Real = math.nan
    how: str = ESTIMATED

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) is None:
                object.__setattr__(self, each.name, math.nan)

    @property
    def half_width(self) -> float:
        """Half the width of the interval: the number after +/-."""
        return (self.high - self.low) / 2

    @property
    def plain(self) -> dict[str, float | None]:
        """As plain data; None for what is not finite."""
        numbers = (self.value, self.low, self.high, self.standard_error)
        names = ("value", "low", "high", "standard_error")
        return {
            name: float(x) if math.isfinite(x) else None
            for name, x in zip(names, numbers, strict=True)
        }

    def text(self, digits: int = 2, style: str = "") -> str:
        """Return the value as text, with +/- half of its interval if that is known; `style` is
        that of Python's formats: "+" for the sign of positive values, "," for groups of thousands.
        """
        text, half = fixed(self.value, digits, style), self.half_width
        if self.how == ESTIMATED and math.isfinite(half):
            return f"{text} +/- {fixed(half, digits)}"
        for how, end in ((AT_LEAST, self.low), (AT_MOST, self.high)):
            if self.how in (how, ESTIMATED) and math.isfinite(end):
                return f"{how} {fixed(end, digits, style)}"
        return text if math.isfinite(self.value) else UNKNOWN

    def leading_text(self, digits: int = 4) -> str:
        """Return the same with leading digits, two less of the interval, without exponents."""
        value, half = (
            f"{float(f'{number:.{n}g}'):.12g}"
            for number, n in ((self.value, digits), (self.half_width, digits - 2))
        )
        return f"{value} +/- {half}"

    def times(self, factor: float) -> Estimate:
        """Return the estimate in another unit."""
        return Estimate(
            factor * self.value,
            factor * self.standard_error,
            factor * self.low,
            factor * self.high,
            self.how,
        )

    def rounded(self, digits: int) -> Estimate:
        """Return the estimate, its numbers rounded to `digits` digits after the point."""
        value, error, low, high = (
            round(number, digits) if math.isfinite(number) else number
            for number in (self.value, self.standard_error, self.low, self.high)
        )
        return Estimate(value, error, low, high, self.how)

    @property
    def turned(self) -> Estimate:
        """The same from the other side's point of view."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)


@dataclass(frozen=True)
class Ratio:
    """A weight as a multiple of the first of a headline, `to`."""

    parameter: str
    to: str = ""
    ratio: Estimate = Estimate()


def estimate_of(value: float, standard_error: float, reach: float = NORMAL) -> Estimate:
    """Return an estimate whose interval reaches equally far to both sides, `reach` standard
    errors."""
    half = reach * standard_error
    return Estimate(value, standard_error, value - half, value + half)


def reach_of(games: float) -> float:
    """Return the standard errors to either side of a 95 % interval, for an error that was estimated
    from this many games: Student's t where they are few."""
    return NORMAL if games >= FEW_GAMES else student(max(games - 1, 1))


# standard errors to the end of an interval on one side: the chance beyond it is that of both ends
ONE_SIDED = 1.645 / NORMAL


def any_time_reach(observations: float) -> float:
    """Return the standard errors to either side of a 95 % interval that holds at all times at once,
    however often one looks and whenever one stops: a mixture over normal means (Robbins 1970; I.
    Waudby-Smith et al., Time-uniform central limit theory, arXiv:2103.06476), narrowest near TUNED
    observations."""
    chance = 1 - CONFIDENCE
    known = observations / TUNED * (math.log(1 / chance**2) + math.log(1 + math.log(1 / chance**2)))
    return math.sqrt((1 + 1 / known) * (2 * math.log(1 / chance) + math.log(1 + known)))


def student(freedom: float) -> float:
    """Return the same by Student's t with these degrees of freedom; infinite: NORMAL."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) if freedom < math.inf else NORMAL


def chance_below(z: np.ndarray | float, freedom: float = math.inf) -> np.ndarray:
    """Return the chance that a number with standard error 1 is below z, by Student's t with these
    degrees of freedom, or by the normal distribution."""
    import numpy as np
    from scipy.special import ndtr, stdtr

    return np.asarray(stdtr(freedom, z) if freedom < math.inf else ndtr(z))


def fixed(value: float, digits: int, style: str = "") -> str:
    """Return a number with fixed digits as text: zero without a sign, a dash for NaN."""
    if math.isnan(value):
        return "-"
    rounded = round(value, digits) + 0.0  # no -0
    return f"{rounded:{style if rounded else style.replace('+', '')}.{digits}f}"
