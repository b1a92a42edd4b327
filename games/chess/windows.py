"""A stream of bytes as windows that compiled parsers read, each of which says how far it got."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from games.streams import InputError, pieces

WINDOW = 1 << 20
LONGEST = 1 << 25  # a game or line longer than this is cut, and read as if the file ended there

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def windows(source: str | Path, parse: Callable[[np.ndarray, bool], int]) -> Iterator[int]:
    """Feed the bytes of a file to `parse(text, final)`, which returns how many it has dealt with.

    Yields the place in the file at which each window that was parsed starts, before the next is read. Each window
    begins with what the one before left over.
    """
    held, place, stream, ended = b"", 0, pieces(source), False
    begun = False
    while not ended:
        parts, size = [held], len(held)
        wanted = max(WINDOW, 2 * len(held)) if len(held) < LONGEST else size
        while size < wanted:
            piece = next(stream, None)
            if piece is None:
                ended = True
                break
            parts.append(piece)
            size += len(piece)
        held = b"".join(parts)
        if not begun and held:
            begun = True
            if held.startswith(UTF16_MARKS):
                raise InputError(f"{source}: UTF-16 text, expected UTF-8 or Latin-1; convert it, for example with iconv")
            if held.startswith(UTF8_MARK):
                held, place = held[3:], place + 3
        final = ended or len(held) >= LONGEST
        done = 0
        while True:
            used = parse(np.frombuffer(held, np.uint8)[done:], final)
            yield place + done
            done += used
            if used == 0 or done >= len(held):
                break
        if final and not ended and done < len(held):
            done = len(held)
        held, place = held[done:], place + done
