"""Weights as constants of C and Rust: arrays over stages, and for lists and tables over stages and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tuner.export.names import c_names, rust_names
from tuner.export.numbers import Rounded, heading
from tuner.parameters.layout import Place

PER_LINE = 16  # numbers of a list on one line


def c_text(r: Rounded, name: str) -> str:
    """`static const int material_knight[2] = {337, 281};` and `static const int piece_square_pawn[2][64] = ...`."""
    kind = "int" if r.decimals == 0 else "double"

    def declaration(identifier: str, place: Place) -> str:
        size = "" if not place.shape else f"[{place.size}]"
        return f"static const {kind} {identifier}[{len(r.stages)}]{size} = "

    return _text(r, name, c_names, declaration, "{}")


def rust_text(r: Rounded, name: str) -> str:
    """`pub const MATERIAL_KNIGHT: [i32; 2] = [337, 281];` and `pub const PIECE_SQUARE_PAWN: [[i32; 64]; 2] = ...`."""
    kind = "i32" if r.decimals == 0 else "f64"

    def declaration(identifier: str, place: Place) -> str:
        inner = kind if not place.shape else f"[{kind}; {place.size}]"
        return f"pub const {identifier}: [{inner}; {len(r.stages)}] = "

    return _text(r, name, rust_names, declaration, "[]")


def _text(r: Rounded, name: str, name_all: Callable[[Sequence[str]], list[str]], declaration: Callable[[str, Place], str],
          brackets: str) -> str:
    places = r.parameters.layout.places
    lines, term = [_comment(line) for line in heading(r, name)], None
    for identifier, place in zip(name_all([place.path for place in places]), places, strict=True):
        if place.term != term:
            term = place.term
            lines.append("")
        shape = "" if len(place.shape) < 2 else f"  // {' x '.join(map(str, place.shape))}"
        lines += _array(declaration(identifier, place), r, place, brackets, shape)
    return "\n".join(lines) + "\n"


def _comment(line: str) -> str:
    """A line comment; a backslash at its end, which would continue the comment, is followed by a full stop."""
    return f"// {line}" + (" ." if line.endswith(("\\", "??/")) else "")


def _array(start: str, r: Rounded, place: Place, brackets: str, shape: str) -> list[str]:
    opening, closing = brackets[0], brackets[1]
    numbers = [[r.text(value) for value in stage] for stage in r.numbers(place)]
    if not place.shape:
        return [f"{start}{opening}{', '.join(stage[0] for stage in numbers)}{closing};"]
    per_line = place.shape[-1] if len(place.shape) > 1 else PER_LINE
    width = max(len(text) for stage in numbers for text in stage)
    lines = [start + opening + shape]
    for stage, values in zip(r.stages, numbers, strict=True):
        rows = [", ".join(value.rjust(width) for value in values[i:i + per_line]) for i in range(0, len(values), per_line)]
        lines += [f"    {opening}  // {stage}", *(f"        {row}," for row in rows), f"    {closing},"]
    return [*lines, f"{closing};"]
