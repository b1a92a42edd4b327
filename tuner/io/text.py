"""Text for people, and the largest whole number that they may give."""

from __future__ import annotations

LARGEST_COUNT = 10**15  # beyond it compiled code's counters could overflow


def one_line(text: str) -> str:
    """Return the text with escapes for line ends and control characters, which names of files may contain."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
