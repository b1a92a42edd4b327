"""Lines that a server reads, and the values in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

LONGEST_LINE = 1 << 17  # bytes; the longest possible game of chess takes 88,000
SHOWN = 60  # characters quoted in messages
NUMBER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a stream of any bytes; overlong lines are cut one character above the limit."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        yield line.decode("utf-8", "replace")


def shown(text: str) -> str:
    """Quote a text in ASCII, shortened for a message."""
    escaped = ascii(text[:SHOWN + 1])
    return escaped if len(escaped) <= SHOWN else escaped[:SHOWN] + "..." + escaped[-1]


def truth(name: str, text: str) -> bool:
    """Parse `true` or `false`; ValueError for anything else."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{name} {shown(text)} is neither true nor false")
    return text.lower() == "true"


def number(name: str, text: str, least: int | None, most: int | None = None) -> int:
    """Parse a whole number within bounds; ValueError names what was found instead."""
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{name} {text[:40]!a} is not a whole number" if text else f"{name} has no number")
    value = int(text)
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} {value} is not {bounds}")
    return value


def legal_names_in(names: Sequence[str], move_named: Callable[[str], int]) -> tuple[tuple[str, ...], list[str]]:
    """Return the legal moves of `searchmoves`, and a message for each other one; `move_named` raises
    ValueError for it."""
    legal, faults = [], []
    for name in names:
        try:
            move_named(name)
        except ValueError:
            faults.append(f"searchmoves: illegal move {name[:40]!a}; ignored")
        else:
            legal.append(name)
    return tuple(legal), faults


def arguments_of_go(words: Sequence[str], numbers: Mapping[str, int | None], flags: Sequence[str],
                    of_moves: str) -> tuple[dict[str, Any], list[str]]:
    """Parse the words after `go`: `numbers` with their smallest valid values, `flags`, and the argument that moves follow.

    Returns the valid arguments by name, and a message for each invalid one.
    """
    known = {*numbers, *flags, of_moves}
    found: dict[str, Any] = {}
    faults = []
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if word in flags:
            found[word] = True
        elif word in numbers:
            value = words[i] if i < len(words) and words[i] not in known else ""
            i += bool(value)
            try:
                found[word] = number(word, value, numbers[word])
            except ValueError as problem:
                faults.append(f"{problem}; ignored")
        elif word == of_moves:
            first = i
            while i < len(words) and words[i] not in known:
                i += 1
            if first == i:
                faults.append(f"{of_moves} names no move; ignored")
            found[word] = tuple(words[first:i])
        else:
            faults.append(f"go: unknown argument {word[:40]!a}; expected {', '.join([*numbers, *flags])} or {of_moves}")
    return found, faults
