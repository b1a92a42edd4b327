"""A stream of bytes as windows that compiled parsers read, each of which says how far it got."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from games.streams import UTF8_MARK, InputError

WINDOW = 1 << 20
# a game or line longer than this is none, and a file is given up where so many bytes hold nothing that looks like one
LONGEST = 1 << 24


def windows(name: str, stream: Iterator[bytes], parse: Callable[[np.ndarray, bool], int]) -> Iterator[int]:
    """Feed a stream of bytes to `parse(text, final)`, which returns how many it has dealt with.

    Yields the place in the stream at which each window that was parsed starts, before the next is read. Each window begins
    with what the one before left over, and is twice as long as that: no byte is read more than a few times, however long a
    game is. What was read before the stream fails is parsed before the InputError is raised. A game or line of more than
    LONGEST bytes is `parse`d as if the file ended behind it; InputError if it goes on to the end of the window.
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
            if held.startswith(UTF8_MARK):
                held, place = held[3:], place + 3
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
