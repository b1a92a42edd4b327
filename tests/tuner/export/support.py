"""What the tests of numbers in sources share: small parameter files, and a source with its numbers
replaced."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.support import file_with
from tuner.export.into.plan import plan
from tuner.export.into.source import bytes_of
from tuner.export.into.write import new_texts
from tuner.export.numbers import rounded
from tuner.parameters.parameters import Layout, Parameters, Place

STAGES = ("mg", "eg")

# sources that no engine has, by file and for a number of bytes
HOSTILE: dict[str, tuple[str, Callable[[int], str]]] = {
    "prose": (
        "a.h",
        lambda n: (
            "The knight is in front of a pawn, 12 points; if we (see below) count it = 5\n"
            * (n // 77)
        ),
    ),
    "code": (
        "a.h",
        lambda n: "".join(
            f"const int Bonus{i}[2] = {{1, 2}}; // knights\n" for i in range(n // 45)
        ),
    ),
    "definitions without an end": ("a.h", lambda n: "int a=" * (n // 6)),
    "names without a type": ("a.h", lambda n: "a=" * (n // 2)),
    "one long definition": ("a.h", lambda n: "int " + "a=1," * (n // 4)),
    "brackets that were not opened": ("a.h", lambda n: "a" + "]=" * (n // 2)),
    "brackets": ("a.h", lambda n: "int a" + "[1]" * (n // 3) + "=1;"),
    "parentheses": ("a.h", lambda n: "int a=" + "(" * n),
    "casts": ("a.h", lambda n: "int a=" + "(int)" * (n // 5)),
    "lists in lists": ("a.h", lambda n: "int a=" + "{" * n),
    "names of lists in lists": ("a.h", lambda n: "int a={" * (n // 7)),
    "empty lists": ("a.h", lambda n: "int a={}" * (n // 8)),
    "types in types": ("a.h", lambda n: "struct a{int x=1;" * (n // 17)),
    "template arguments": ("a.h", lambda n: "int a=b<" * (n // 8)),
    "#if in #if": ("a.h", lambda n: "#if\n" * (n // 4)),
    "macros": ("a.h", lambda n: "#define A 1\n" * (n // 12)),
    "a macro that begins within a line": ("a.h", lambda n: ";#define S 1"),
    "references": ("a.rs", lambda n: "const a:i=" + "& " * (n // 2)),
    "comments in comments": ("a.rs", lambda n: "/*" * (n // 4) + "*/" * (n // 4)),
    "macros of lists": ("a.rs", lambda n: "const A:B=vec![" * (n // 15)),
    "macros in macros": ("a.rs", lambda n: "const A:B=" + "m![" * (n // 4) + "1" + "]" * (n // 4)),
    "a sign without a number": ("a.cs", lambda n: "class A { int b = -this; }"),
    "strings in strings": ("a.cs", lambda n: '$"{' * (n // 3)),
    "names of one package": (
        "a.go",
        lambda n: "".join(f"a{i}: {{b: 5}},\n" for i in range(n // 14)),
    ),
}


def parameters(
    spec: dict[str, tuple[int, ...]], stages: tuple[str, ...] = STAGES, start: int = 1
) -> Parameters:
    """Parameters of these shapes; their numbers count up from `start`, the first stage before the
    second."""
    places, first = [], 0
    for path, shape in spec.items():
        term, _, name = path.partition(".")
        places.append(Place(term, name, shape, first))
        first += places[-1].size
    weights = start + np.arange(len(stages) * first, dtype=float).reshape(len(stages), first)
    return Parameters("chess", Layout(tuple(places)), stages, weights)


def into(
    folder: Path,
    name: str,
    text: str,
    p: Parameters,
    names: str | None = None,
    only: tuple[str, ...] = (),
    **options,
) -> str:
    """Return a source with the numbers of parameters; `names` is the text of a map, `options` are
    those of `rounded`."""
    path, map_path = folder / name, None
    path.write_bytes(text.encode("latin-1"))
    if names is not None:
        map_path = file_with(folder / "names.yaml", names)
    r = rounded(p, **options)
    (written,) = new_texts(plan(r, [path], map_path, only), r)
    return bytes_of(written.text).decode("latin-1")
