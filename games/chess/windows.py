"""Feed a stream of bytes to a parser in windows; the parser returns how many bytes it used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from games.streams import UTF8_MARK, InputError

WINDOW = 1 << 20
# the longest game or line; a file is refused after so many bytes without any
LONGEST = 1 << 24


def windows(name: str, stream: Iterator[bytes], parse: Callable[[np.ndarray, bool], int],
            mark: bytes = UTF8_MARK) -> Iterator[int]:
    """Feed a stream of bytes to `parse(text, final)`, which returns the number of bytes used. A `mark` at
    the start of the stream is skipped.

    Yields the byte offset of each window after it was parsed. A window begins with the unused bytes of the one before and is at
    least twice as long, so that no byte is parsed more than a few times, however long a game is. If the stream fails, the bytes
    read so far are parsed before the InputError is raised. InputError for a game or line of more than LONGEST bytes.
    """
    held, place, ended, begun, problem = b"", 0, False, False, None
    while not ended:
        parts, size = [held], len(held)
        wanted = max(WINDOW, 2 * len(held))
        while size < wanted and not ended:
            try:
                piece = next(stream, None)
            except InputError as failed:
                piece, problem = None, failed
            if piece is None:
                ended = True
            else:
                parts.append(piece)
                size += len(piece)
        held = b"".join(parts)
        if not begun and held:
            begun = True
            if held.startswith(mark):
                held, place = held[len(mark):], place + len(mark)
        done = 0
        while True:
            used = parse(np.frombuffer(held, np.uint8)[done:], ended and problem is None)
            yield place + done
            done += used
            if used == 0 or done >= len(held):
                break
        held, place = held[done:], place + done
        if len(held) > LONGEST and problem is None:
            raise InputError(f"{name}: byte {place}: more than {LONGEST:,} bytes without the end of a game or line; "
                             "expected games in PGN, or lines of labelled positions")
    if problem:
        raise problem
