"""Text on its way to people, and the largest number taken from them."""

from __future__ import annotations

LARGEST_COUNT = 10**15  # what compiled code can count


def one_line(text: str) -> str:
    """The same text with line ends and control characters, as names of files may hold, written as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
