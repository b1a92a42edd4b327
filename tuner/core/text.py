"""Numbers, durations and lists of names as text, for the terminal and pages."""

from collections.abc import Collection, Sequence

MINUTE, HOUR = 60, 3600


def number(value: float | None, digits: int = 1) -> str:
    """Format a number with fixed digits, without a minus before zero; a dash for None."""
    if value is None:
        return "-"
    text = f"{value:.{digits}f}"
    return text[1:] if text.strip("-0.") == "" and text.startswith("-") else text


def signed(value: float | None, digits: int = 1) -> str:
    """Format a change with its sign; an empty string for zero, a dash for None."""
    if value is None:
        return "-"
    text = f"{value:+.{digits}f}"
    return "" if text.strip("+-0.") == "" else text


def plural(number: float | None, one: str, many: str = "") -> str:
    """Return a number of things in words: "1 answer", "2,000 answers"; a dash for None."""
    count = "-" if number is None else f"{number:,.0f}"
    return f"{count} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return the first names, and the number of the rest."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def duration(seconds: float) -> str:
    """Format seconds, such as 40 s, 12 min or 3 h 20 min."""
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    minutes = round(seconds / MINUTE)
    return f"{minutes // 60} h {minutes % 60} min"


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return a table of text as lines, its columns aligned right but for those on the `left`."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
