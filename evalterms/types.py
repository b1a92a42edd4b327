"""Translate the results of Numba's type inference for a term into messages for its author.

Mixing a set of squares (uint64) with a Python integer is legal, but a trap: in compiled code `set & 1` is signed, so that a later
`>>` extends the sign, and `set < 1` compares floating-point numbers.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from numba.core import errors, ir, types
from numba.core.dispatcher import Dispatcher

from evalterms.emit import EmitterType, count_emitter_type
from evalterms.term import Term

_SHIFTS = {operator.lshift, operator.rshift, operator.ilshift, operator.irshift}  # the result has the type of the left operand
_HINTS = (
    (r"Untyped global name '(\w+)'.*<class 'function'>",
     r"\1 is not compiled; a helper function needs a decorator with its types, such as @inner('uint64(uint64)')"),
    (r"make_function", "a function, lambda or comprehension inside a term cannot be compiled; write a loop"),
    (r"Cannot cast (\w+) to (\w+):", r"\1 where \2 is expected"),
    (r"Unknown attribute '(\w+)' of type (\w+)\(.*", r"\2 has no field \1"),
)


def complaints(term: Term, view: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield pairs of `file:line` and message: why a term cannot be compiled, or each trap in it and in its callees."""
    for function, reads in term.counting:
        side = view.side_type if reads is None else view.kept_type
        try:
            function.compile((side, side, count_emitter_type))
        except (errors.NumbaError, errors.UnsupportedBytecodeError, TypeError, ValueError) as problem:
            yield _located(problem, function.py_func.__code__.co_filename)
            return
    if term.curve is not None:
        try:
            term.curve.compile((types.float64,) * term.parts)
            (found,) = [compiled.signature.return_type for compiled in term.curve.overloads.values()]
        except (errors.NumbaError, errors.UnsupportedBytecodeError, TypeError, ValueError) as problem:
            yield _located(problem, term.curve.py_func.__code__.co_filename)
            return
        if found != types.float64:
            code = term.curve.py_func.__code__
            yield f"{code.co_filename}:{code.co_firstlineno}", f"{code.co_name} returns {found}, expected float64 for any float64"
            return
    for function in _reached([each.function for each in term.counting]):
        for compiled in function.overloads.values():
            for line, text in _traps(compiled.type_annotation):
                yield f"{function.py_func.__code__.co_filename}:{line}", text


def _located(problem: Exception, file: str) -> tuple[str, str]:
    """Extract the line number and the decisive sentence from Numba's message."""
    whole = str(problem)
    place = re.search(re.escape(Path(file).name) + r"\"?,? (?:line |\()(\d+)", whole)
    location = getattr(problem, "loc", None)
    line = location.line if location else place and place[1]
    lines = [text for text in whole.splitlines() if text and not text.startswith("Failed in ")]
    text = re.sub(r"\.? Raised from .*", "", lines[0]) if lines else type(problem).__name__
    if "No implementation of function" in text and (call := re.search(r">>> (\w+)\((.*?)\)\n", whole)):
        text = f"{call[1].strip('_')} is not defined for {call[2].replace(', ', ' and ')}"
    for pattern, hint in _HINTS:
        if re.search(pattern, text):
            text = re.sub(f".*{pattern}.*", hint, text)
            break
    return f"{file}:{line}" if line else file, f"cannot be compiled: {text}"


def _reached(functions: list[Dispatcher]) -> list[Dispatcher]:
    """Return the functions and all their callees."""
    found, pending = {}, list(functions)
    while pending:
        one = pending.pop()
        if id(one) not in found:
            found[id(one)] = one
            code, known = one.py_func.__code__, one.py_func.__globals__
            pending += [known[name] for name in code.co_names if isinstance(known.get(name), Dispatcher)]
    return list(found.values())


def _traps(annotation) -> Iterator[tuple[int, str]]:
    for block in annotation.blocks.values():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop"):
                kinds = [annotation.typemap[operand.name] for operand in (value.lhs, value.rhs)]
                if value.fn not in _SHIFTS and _mixed(kinds) and not _compares_with_zero(value.fn, kinds):
                    shown = " and ".join("a set of squares (uint64)" if _unsigned(kind) else "a plain integer" for kind in kinds)
                    yield statement.loc.line, f"mixes {shown}; use np.uint64(...) or a constant of games.bits"
            elif isinstance(value, ir.Expr) and value.op == "call" and _emits(annotation.typemap[value.func.name]):
                for what, operand in zip(("index", "count"), value.args, strict=True):
                    kind = annotation.typemap[operand.name]
                    if not isinstance(kind, (types.Integer, types.IntegerLiteral, types.Boolean)):
                        yield statement.loc.line, f"the emitted {what} is a {kind}, expected a whole number"


def _emits(kind) -> bool:
    return isinstance(kind, EmitterType)


def _unsigned(kind) -> bool:
    return isinstance(kind, types.Integer) and not kind.signed


def _mixed(kinds) -> bool:
    signed = [isinstance(kind, types.IntegerLiteral) or isinstance(kind, types.Integer) and kind.signed for kind in kinds]
    return any(signed) and any(_unsigned(kind) for kind in kinds)


def _compares_with_zero(function, kinds) -> bool:
    zero = any(isinstance(kind, types.IntegerLiteral) and kind.literal_value == 0 for kind in kinds)
    return zero and function in (operator.eq, operator.ne)
