"""Format numbers for the page; missing values are dashes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TypeGuard

from markupsafe import Markup, escape

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


def outcome(value: object) -> str:
    """The outcome of a game in words."""
    if not known(value):
        return MISSING
    return "the first player won" if value > 0 else "the second player won" if value < 0 else "drawn"


FILTERS = {"number": number, "signed": signed, "whole": whole, "short": short, "percent": percent, "outcome": outcome,
           "counted": counted, "coded": coded}
