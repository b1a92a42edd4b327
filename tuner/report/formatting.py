"""Numbers as the page writes them. What is missing is a dash."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from markupsafe import Markup, escape

MISSING = "–"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def known(value: object) -> bool:
    """Whether it is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number(value: object, digits: int = 1) -> str:
    """With so many digits behind the point, groups of thousands and a true minus."""
    if not known(value):
        return MISSING
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def signed(value: object, digits: int = 1) -> str:
    """With its sign; nothing for zero."""
    if not known(value):
        return MISSING
    text = f"{round(value, digits) + 0.0:+,.{digits}f}"
    return "" if text.strip("+-0.,") == "" else text.replace("-", "−")


def whole(value: object) -> str:
    """A count."""
    return number(value, 0)


def short(value: object) -> str:
    """Four digits, whatever the size."""
    if not known(value):
        return MISSING
    mantissa, _, exponent = f"{value:.4g}".replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    power = str(int(exponent.replace("−", "-"))).translate(SUPERSCRIPTS)
    return f"{mantissa} × 10{power}"


def counted(items: Sequence, one: str, many: str) -> str:
    """How many of them there are, with their name."""
    return f"{len(items):,} {one if len(items) == 1 else many}"


def percent(value: object, digits: int = 1) -> str:
    """A share."""
    return number(100 * value, digits) + " %" if known(value) else MISSING


def together(text: str) -> str:
    """The same without places to break a line."""
    return text.replace(" ", "\u00a0")


def coded(text: str) -> Markup:
    """A sentence whose options of the command line are set as code, and do not break at their hyphens."""
    return Markup(re.sub(r"--[a-z][a-z-]*", r"<code>\g<0></code>", str(escape(text))))


def outcome(value: object) -> str:
    """Who won."""
    if not known(value):
        return MISSING
    return "the first player won" if value > 0 else "the second player won" if value < 0 else "drawn"


FILTERS = {"number": number, "signed": signed, "whole": whole, "short": short, "percent": percent, "outcome": outcome,
           "counted": counted, "coded": coded}
