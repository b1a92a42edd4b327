"""What tests of all folders share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from games.streams import InputError


def refusal(
    function: Callable[..., object],
    *arguments: object,
    error: type[Exception] = InputError,
    **named: object,
) -> str:
    """Return the text of the error that a call raises, which is one line."""
    with pytest.raises(error) as raised:
        function(*arguments, **named)
    text = str(raised.value)
    assert text and "\n" not in text
    return text


def file_with(path: Path, content: str | bytes) -> Path:
    """Write a file; return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
