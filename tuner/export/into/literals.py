"""Numbers as they are written in sources: read them, and write others in the same style."""

from __future__ import annotations

import re
from dataclasses import dataclass

PLAIN = re.compile(r"(?P<whole>\d[\d_']*)?(?P<point>\.(?P<part>\d[\d_']*)?)?(?P<exponent>[eE][+-]?\d[\d_]*)?"
                   r"(?P<suffix>[A-Za-z_]\w*)?")
SEPARATORS = "_'"
FLOATS = ("f", "F", "d", "D", "m", "M", "f32", "f64", "_f32", "_f64")  # suffixes that make a number a float


@dataclass(frozen=True)
class Number:
    """A number of a source, from its sign on: where it is, its value and its style."""

    start: int
    end: int
    value: float
    sign: str  # "", "+" or "-"
    decimals: int  # digits after the point, -1 if there is none
    suffix: str
    separator: str  # between groups of three digits

    @property
    def is_float(self) -> bool:
        return self.decimals >= 0 or self.suffix in FLOATS

    @property
    def is_unsigned(self) -> bool:
        return self.suffix.lower().lstrip("_").startswith("u")


def number_of(text: str, sign: str, start: int, end: int, octal: bool) -> Number | str:
    """Return a number, or why it is not one that can be replaced."""
    match = PLAIN.fullmatch(text)
    if match is None or match["whole"] is None and match["part"] is None or text[:2].lower() in ("0x", "0b", "0o"):
        return f"{text} is not decimal"
    whole, part = (re.sub(f"[{SEPARATORS}]", "", match[name] or "") for name in ("whole", "part"))
    is_whole = match["point"] is None and match["exponent"] is None
    if is_whole and len(whole) > 1 and whole[0] == "0" and octal:
        return f"{text} is octal"
    value = float(f"{whole or 0}.{part or 0}{(match['exponent'] or '').replace('_', '')}")
    separator = next((c for c in match["whole"] or "" if c in SEPARATORS), "")
    suffix = match["suffix"] or ""
    if (match["whole"] or "").endswith("_"):  # 15_i32
        suffix, separator = f"_{suffix}", "" if separator == "_" and (match["whole"] or "").count("_") == 1 else separator
    return Number(start, end, -value if sign == "-" else value, sign,
                  -1 if is_whole else max(1, len(part)), suffix, separator)


def spelled(number: Number, value: float, decimals: int, as_float: bool) -> str:
    """Return a value in the style of the number that it replaces; `as_float`: with a point where the number has none."""
    digits = max(decimals, 1) if number.decimals >= 0 or as_float and decimals else 0
    text = f"{abs(value):.{digits}f}"
    if number.separator:
        whole, point, part = text.partition(".")
        text = f"{int(whole):,}".replace(",", number.separator) + point + part
    is_zero = float(f"{abs(value):.{digits}f}") == 0
    sign = "-" if value < 0 and not is_zero else "+" if number.sign == "+" else ""
    return f"{sign}{text}{number.suffix}"
