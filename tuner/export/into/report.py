"""What was written into sources, or differs, as lines of text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence

from tuner.export.into.plan import Target
from tuner.export.into.write import Written
from tuner.export.numbers import Rounded

MOST_DIFFERENCES = 1000  # lines of a listing


def line_ranges(lines: Sequence[int], most: int = 8) -> str:
    """Lines as text, those that follow each other as a range: `line 3`, `lines 12-19, 23 and 40 more`."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line <= ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    shown = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges[:most])
    rest = sum(last - first + 1 for first, last in ranges[most:])
    return f"line{'s' * (len(lines) > 1)} {shown}" + (f" and {rest} more" if rest else "")


def written_lines(one: Written, changed: Sequence[Target], r: Rounded) -> list[str]:
    """What was written into a source: how many numbers, on which lines, and the largest change."""
    where = f"{one.numbers:,} number{'s' * (one.numbers > 1)} on {line_ranges(one.lines)}"
    own = [target for target in changed if target.source.path == one.source.path]
    if not own:
        return [f"{one.source.path} has these numbers already: {where}"]
    largest = max(own, key=lambda target: abs(target.value - target.number.value))
    return [f"wrote {one.source.path}: {where}; {len(own):,} changed, most of all {largest.label} from "
            f"{old_text(largest)} to {r.text(largest.value)} (line {one.source.line(largest.number.start)})"]


def difference_lines(different: Sequence[Target], r: Rounded, name: str) -> list[str]:
    """A line for each number that differs."""
    lines = [f"{target.source.at(target.number.start)}: {target.label} is {old_text(target)}, {name} has {r.text(target.value)}"
             for target in different[:MOST_DIFFERENCES]]
    rest = len(different) - len(lines)
    return lines + ([f"and {rest:,} more"] if rest else [])


def old_text(target: Target) -> str:
    """The number as the source has it, without suffix and separators."""
    return f"{target.number.value:.{max(0, target.number.decimals)}f}"


def plain_differences(different: Sequence[Target]) -> list[dict]:
    """The same as plain data."""
    return [{"name": target.label, "file": target.source.path, "line": target.source.line(target.number.start),
             "source": target.number.value, "parameters": target.value} for target in different]
