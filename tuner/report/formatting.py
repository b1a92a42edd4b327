"""Format numbers for the page; missing values are dashes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TypeGuard

from markupsafe import Markup, escape

from games.record import Wording

MISSING = "–"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def known(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number(value: object, digits: int = 1) -> str:
    """A number with this many decimals, groups of thousands and a true minus sign."""
    if not known(value):
        return MISSING
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def capital(text: str) -> str:
    """A text with a capital at the start."""
    return text[:1].upper() + text[1:]


def signed(value: object, digits: int = 1) -> str:
    """A number with its sign; empty for zero."""
    if not known(value):
        return MISSING
    text = f"{round(value, digits) + 0.0:+,.{digits}f}"
    return "" if text.strip("+-0.,") == "" else text.replace("-", "−")


def whole(value: object) -> str:
    """A number without decimals."""
    return number(value, 0)


def short(value: object) -> str:
    """A number with four significant digits."""
    if not known(value):
        return MISSING
    mantissa, _, exponent = f"{value:.4g}".replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    power = str(int(exponent.replace("−", "-"))).translate(SUPERSCRIPTS)
    return f"{mantissa} × 10{power}"


def counted(items: Sequence, one: str, many: str) -> str:
    """The number of items with their name, singular or plural."""
    return f"{len(items):,} {one if len(items) == 1 else many}"


def percent(value: object, digits: int = 1) -> str:
    """A share in percent."""
    return number(100 * value, digits) + " %" if known(value) else MISSING


def together(text: str) -> str:
    """The same text without line breaks."""
    return text.replace(" ", "\u00a0")


def coded(text: str) -> Markup:
    """A sentence with command line options as code, so that they do not break at hyphens."""
    return Markup(re.sub(r"--[a-z][a-z-]*", r"<code>\g<0></code>", str(escape(text))))


def calibration_question(most: int) -> str:
    """What a calibration chart shows, of a game that is won by up to `most` points."""
    if most == 1:
        return "Predicted scores against results of games: points on the diagonal are calibrated."
    return (
        f"Predicted against actual outcomes, from 0, the loss of {most} points, to 1, the win of"
        f" {most}: dots on the diagonal are calibrated."
    )


def outcomes_of(
    words: Wording, most: int, labelled: bool = False
) -> dict[str, Callable[[object], str]]:
    """Return filters of a game that is won by up to `most` points: `outcome`, a result in words,
    `expected`, a predicted score from 0 to 1, and `foreseen`, the same with whom it is for."""

    def outcome(value: object) -> str:
        if not known(value):
            return MISSING
        points = most * float(value)
        if most == 1 or not points and not labelled:
            return words.won(points)
        if labelled or abs(points - round(points)) > 1e-3:
            return f"labelled {points:+.2f} points for {words.sides[0]}"
        return f"{words.won(points)} {counted([0] * round(abs(points)), 'point', 'points')}"

    def expected(value: object) -> str:
        if not known(value) or most == 1:
            return percent(value, 0)
        return f"{most * (2 * float(value) - 1):+.2f} points"

    def foreseen(value: object) -> str:
        return (
            f"{expected(value)} expected for {words.sides[0]}"
            if known(value)
            else f"{MISSING} expected"
        )

    return {"outcome": outcome, "expected": expected, "foreseen": foreseen}


FILTERS = {
    "number": number,
    "signed": signed,
    "whole": whole,
    "short": short,
    "percent": percent,
    "counted": counted,
    "coded": coded,
}
