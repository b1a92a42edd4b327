"""Bytes of any size that are not games, as readers meet them by mistake or malice."""

import random
from collections.abc import Callable

RUBBISH: dict[str, Callable[[int], bytes]] = {
    "NULs": lambda n: bytes(n),
    "random bytes": lambda n: random.Random(1).randbytes(n),
    "random bytes without line ends": lambda n: (
        random.Random(1).randbytes(n).translate(None, b"\r\n").ljust(n, b"x")
    ),
    "one line of é": lambda n: "é".encode() * (n // 2),
    "one line of halves": lambda n: "½".encode() * (n // 2),
    "letters": lambda n: b"x" * n,
    "words": lambda n: b"word " * (n // 5),
    "digits": lambda n: b"7" * n,
    "zeros": lambda n: b"0" * n,
    "spaces": lambda n: b" " * n,
    "empty lines": lambda n: b"\n" * n,
    "lines of one letter": lambda n: b"x\n" * (n // 2),
    "backslashes": lambda n: b"\\" * n,
    "percent signs": lambda n: b"%" * n,
    "lines of percent signs": lambda n: b"%\n" * (n // 2),
    "dots": lambda n: b"." * n,
    "dollars": lambda n: b"$" * n,
    "stars": lambda n: b"*" * n,
    "lines of stars": lambda n: b"*\n" * (n // 2),
    "bars": lambda n: b"|" * n,
    "opening braces": lambda n: b"{" * n,
    "closing braces": lambda n: b"}" * n,
    "opening parentheses": lambda n: b"(" * n,
    "closing parentheses": lambda n: b")" * n,
    "nested parentheses": lambda n: b"(" * (n // 2) + b")" * (n // 2),
    "opening brackets": lambda n: b"[" * n,
    "lines of opening brackets": lambda n: b"[\n" * (n // 2),
    "quotes": lambda n: b'"' * n,
    "a tag without an end": lambda n: b'[Tag "'.ljust(n, b"x"),
    "a gigantic tag": lambda n: b'[Tag "'.ljust(n, b"x") + b'"]\n\n1. e4 *\n',
    "tags without moves": lambda n: b'[Tag "x"]\n' * (n // 10),
    "a comment without an end": lambda n: b"1. e4 {".ljust(n, b"x"),
    "comments without an end": lambda n: b'[Event "x"]\n1. e4 {\n' * (n // 20),
    "a gigantic comment": lambda n: b"1. e4 {".ljust(n, b"x") + b"} e5 *\n",
    "a gigantic move": lambda n: b"1. e4 Nf" + b"3" * n + b" *\n",
    "games without tags": lambda n: b"1. e4 *\n" * (n // 8),
    "games with a bad move": lambda n: b'[Event "x"]\n1. xyz *\n' * (n // 21),
    "positions without a result": lambda n: b"8/8/8/4k3/8/4K3/8/8 w - -\n" * (n // 27),
    "a position and quotes": lambda n: b"8/8/8/4k3/8/4K3/8/8 w - - " + b'"' * n,
    "a position and brackets": lambda n: b"8/8/8/4k3/8/4K3/8/8 w - - " + b"[" * n,
    "a position and semicolons": lambda n: b"8/8/8/4k3/8/4K3/8/8 w - - " + b";w " * (n // 3),
    "a position and commas": lambda n: b"8/8/8/4k3/8/4K3/8/8 w - - " + b"," * n,
    "a position and spaces before quotes": lambda n: (
        b"8/8/8/4k3/8/4K3/8/8 w - - " + (b" " * 99 + b'"') * (n // 100)
    ),
}
