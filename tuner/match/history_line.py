"""A line of a match's history: a pair of games as JSON, with a checksum of the line and of its games."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import IO

CHECK = "crc"
BEGINNING = b'{"leg":'
MOST_TORN = 1 << 16  # bytes: all lines are shorter


def _whole(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 53


def _finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9


def _two(rule: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and len(value) == 2 and all(rule(v) for v in value)


def _text(value: object) -> bool:
    return isinstance(value, str)


FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "leg": (_whole, "a whole number"), "pair": (_whole, "a whole number"),
    "plies": (_two(_whole), "two whole numbers"), "ends": (_two(_text), "two texts"), "reasons": (_two(_text), "two texts"),
    "forfeits": (_two(lambda v: v is None or isinstance(v, str) and v[:2] in ("a ", "b ")), "two of null, 'a ...' and 'b ...'"),
    "luck": (_two(_finite), "two numbers"),
    "opening": (_two(_whole), "two whole numbers"), "at": (_whole, "a place in the file of games"),
    "bytes": (_two(_whole), "the sizes of two games"), CHECK: (_whole, "a checksum")}
OUTCOMES = "outcomes"
NEEDED = ("leg", "pair", OUTCOMES, "plies", "ends")


def encoded(line: dict, games: bytes) -> bytes:
    """Encode a line for the file; `games` are the texts at its place in the file of games."""
    body = json.dumps(line, separators=(",", ":")).encode()
    return body[:-1] + _check(body, games)


def _check(body: bytes, games: bytes) -> bytes:
    return f',"{CHECK}":{zlib.crc32(games, zlib.crc32(body))}}}\n'.encode()


def torn(raw: bytes) -> bool:
    """Whether this is the beginning of a line, as a kill leaves it."""
    return not raw.endswith(b"\n") and len(raw) < MOST_TORN and raw.startswith(BEGINNING[:len(raw)])


def decoded(raw: bytes, games: IO[bytes] | None, points: int = 1) -> dict:
    """Decode a line of the file; ValueError says what is wrong with it or with its games in the file `games`. Lines of versions
    without checksums are not checked. `points` are the most that a game wins."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        raise ValueError("not a line of JSON") from None
    if not isinstance(line, dict):
        raise ValueError("not a JSON object")
    _require_fields(line, points)
    check, text = line.pop(CHECK, None), b""
    if "at" in line and games is not None:
        begin, length = line["at"], sum(line["bytes"])
        if games.seek(0, 2) < begin + length:
            raise ValueError(f"its games, {length:,} bytes from {begin:,} on, are incomplete")
        games.seek(begin)
        text = games.read(length)
    if check is not None:
        written = f',"{CHECK}":{check}}}\n'.encode()
        body = raw.removesuffix(written) + b"}"
        if _check(body, text) != written:
            raise ValueError("its checksum is wrong: the line or its games were changed")
    return line


def _outcomes(points: int) -> tuple[Callable[[object], bool], str]:
    return (_two(lambda v: type(v) is int and -points <= v <= points),
            "two of -1, 0 and 1" if points == 1 else f"two whole numbers from -{points} to {points}")


def _require_fields(line: dict, points: int) -> None:
    fields = FIELDS | {OUTCOMES: _outcomes(points)}
    for name, value in line.items():
        if name not in fields:
            raise ValueError(f"unknown {name[:20]!a}")
        rule, expected = fields[name]
        if not rule(value):
            raise ValueError(f"{name} is {json.dumps(value)[:40]}, expected {expected}")
    lacking = [name for name in NEEDED if name not in line]
    if ("at" in line) != ("bytes" in line):
        lacking.append("bytes" if "at" in line else "at")
    if lacking:
        raise ValueError(f"lacks {', '.join(lacking)}")
