"""Options of the form NAME=VALUE."""

from __future__ import annotations

from collections.abc import Iterable

from games.streams import InputError


def named_values(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return the values by name of texts NAME=VALUE that were given to an option; InputError for another form."""
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise InputError(f"{option} {text}: expected NAME=VALUE")
        found[name] = value
    return found
