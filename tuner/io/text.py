"""Text for people, and the largest whole number that they may give."""

from __future__ import annotations

from collections.abc import Iterable

from games.streams import InputError

LARGEST_COUNT = 10**15  # beyond it compiled code's counters could overflow


def named_values(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return the values by name of texts NAME=VALUE that were given to an option; InputError for another form."""
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise InputError(f"{option} {text}: expected NAME=VALUE")
        found[name] = value
    return found


def one_line(text: str) -> str:
    """Return the text with escapes for line ends and control characters, which names of files may contain."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
