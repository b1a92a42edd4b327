"""pyarrow, an optional package, which Parquet needs and CSV is read faster with."""

from __future__ import annotations

from typing import Any

from games.streams import InputError


def arrow() -> Any | None:
    """Return the package pyarrow, or None if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def require_arrow(name: str) -> Any:
    """Return the package pyarrow; InputError with how to install it."""
    found = arrow()
    if found is None:
        raise InputError(f"{name}: Parquet needs the package pyarrow; expected it beside this program; pip install "
                         "'evaltune[arrow]', or convert the file to .csv or .jsonl")
    return found
