"""Read a user's file of terms."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import ModuleType

from evalterms.term import Term
from games import cache


def line_of(problem: BaseException, path: Path) -> str:
    """Return `path:line` of the last line of the file in the traceback; the path alone if there is none."""
    if isinstance(problem, SyntaxError) and problem.filename == str(path):
        return f"{path}:{problem.lineno}"
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        if frame.filename == str(path):
            return f"{path}:{frame.lineno}"
    return str(path)


def message_of(problem: BaseException) -> str:
    """Return an exception as one line."""
    text = problem.msg if isinstance(problem, SyntaxError) else " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def terms_of_file(path: Path) -> list[Term]:
    """Return every `Term` at the top level of a file; ValueError with one line if the file is not usable."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file; --terms takes a Python file with terms")
    name = "evaltune_user_terms_" + cache.digest([path])
    if name not in sys.modules:
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = str(path)
        try:
            # not by an import, whose bytecode cache misses edits within the same second
            exec(compile(path.read_bytes(), path, "exec"), vars(module))
        except (Exception, SystemExit) as problem:
            del sys.modules[name]
            raise ValueError(f"{line_of(problem, path)}: {message_of(problem)}") from None
    found = {id(value): value for value in vars(sys.modules[name]).values() if isinstance(value, Term)}
    if not found:
        raise ValueError(f'{path}: defines no term; start with `my_term = Term("my_term")`')
    for term in found.values():
        if not term.counting:
            raise ValueError(f"{path}: term {term.name!r} has no function that counts; decorate one with @{term.name}.counts")
    return list(found.values())
