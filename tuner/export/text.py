"""Parameter files as text that engines read: source of C and Rust, JSON, UCI options, settings for
SPSA; all formats by name.

A new one is a function and a line of FORMATS.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from games.streams import InputError, one_line
from tuner.export.numbers import (
    Rounded,
    c_names,
    each_number,
    factors_of,
    heading,
    rounded,
    rust_names,
    spin_limits,
    whole,
)
from tuner.options.option import refuse
from tuner.parameters.parameters import Parameters, Place
from tuner.version import __version__

PER_LINE = 16  # numbers of a list on one line


def c_text(r: Rounded, name: str) -> str:
    """`static const int material_knight[2] = {337, 281};` and `static const int
    piece_square_pawn[2][64] = ...`."""
    kind = "int" if r.decimals == 0 else "double"

    def declaration(identifier: str, place: Place) -> str:
        size = "" if not place.shape else f"[{place.size}]"
        return f"static const {kind} {identifier}[{len(r.stages)}]{size} = "

    guard = f"EVALTUNE_{c_names([name])[0].upper()}_H"
    text = _text(r, name, c_names, declaration, "{}")
    return f"#ifndef {guard}\n#define {guard}\n\n{text}\n#endif\n"


def rust_text(r: Rounded, name: str) -> str:
    """`pub const MATERIAL_KNIGHT: [i32; 2] = [337, 281];` and `pub const PIECE_SQUARE_PAWN: [[i32;
    64]; 2] = ...`."""
    kind = "i32" if r.decimals == 0 else "f64"

    def declaration(identifier: str, place: Place) -> str:
        inner = kind if not place.shape else f"[{kind}; {place.size}]"
        return f"pub const {identifier}: [{inner}; {len(r.stages)}] = "

    return _text(r, name, rust_names, declaration, "[]")


def _text(
    r: Rounded,
    name: str,
    name_all: Callable[[Sequence[str]], list[str]],
    declaration: Callable[[str, Place], str],
    brackets: str,
) -> str:
    places = r.parameters.layout.places
    lines, term = [comment(line) for line in heading(r, name)], None
    for identifier, place in zip(name_all([place.path for place in places]), places, strict=True):
        if place.term != term:
            term = place.term
            lines.append("")
        shape = "" if len(place.shape) < 2 else f"  // {' x '.join(map(str, place.shape))}"
        lines += _array(declaration(identifier, place), r, place, brackets, shape)
    return "\n".join(lines) + "\n"


def comment(line: str) -> str:
    """A line comment; a backslash at its end, which would continue the comment, is followed by a
    full stop."""
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
        rows = [
            ", ".join(value.rjust(width) for value in values[i : i + per_line])
            for i in range(0, len(values), per_line)
        ]
        lines += [
            f"    {opening}  // {stage}",
            *(f"        {row}," for row in rows),
            f"    {closing},",
        ]
    return [*lines, f"{closing};"]


LEAST_RANGE = 50.0  # centipawns that SPSA may move a weight up or down
RANGE_SHARE = 0.1  # of the range: the perturbation if the standard error is unknown
LEAST_STEP = 0.5  # least perturbation of a whole number
LEARNING_RATE = 0.002  # at the end, as OpenBench proposes


def json_text(r: Rounded, name: str) -> str:
    """JSON by term, parameter and stage, with a number or a list of numbers; one line for each
    parameter."""
    places = r.parameters.layout.places
    top = {
        "about": heading(r, name),
        "game": r.parameters.game,
        "stages": list(r.stages),
        "scale": float(f"{r.scale:.6g}"),
        "shapes": {place.path: list(place.shape) for place in places if place.shape},
    }
    terms: dict[str, list[str]] = {}
    for place in places:
        stages = [
            [whole(value) if r.decimals == 0 else value for value in stage]
            for stage in r.numbers(place)
        ]
        plain = {
            stage: values if place.shape else values[0]
            for stage, values in zip(r.stages, stages, strict=True)
        }
        terms.setdefault(place.term, []).append(
            f"   {json.dumps(place.name)}: {json.dumps(plain, allow_nan=False)}"
        )
    lines = [
        f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}," for key, value in top.items()
    ]
    inner = ",\n".join(
        f"  {json.dumps(term)}: {{\n" + ",\n".join(entries) + "\n  }"
        for term, entries in terms.items()
    )
    return "\n".join(["{", *lines, ' "weights": {', inner, " }", "}"]) + "\n"


def uci_text(r: Rounded, name: str) -> str:
    """The engine's `option name ... type spin ...` lines, then `setoption name ... value ...` for
    each."""
    low, high = spin_limits(r)
    numbers = each_number(r)
    options = [
        f"option name {label} type spin default {whole(r.weights[s, i])} min {whole(low[s, i])} max"
        f" {whole(high[s, i])}"
        for label, s, i in numbers
    ]
    settings = [f"setoption name {label} value {whole(r.weights[s, i])}" for label, s, i in numbers]
    return (
        "\n".join(
            [
                *(f"info string {line}" for line in heading(r, name, tables=False)),
                *options,
                "",
                *settings,
            ]
        )
        + "\n"
    )


def spsa_text(r: Rounded, name: str = "") -> str:
    """Lines `name, int, default, min, max, c_end, r_end`, and nothing else, since these tuners
    accept nothing else.

    c_end, the last perturbation, is twice the standard error if known, otherwise a tenth of the
    range. The range comes from the bounds in the file; without bounds half the weight up and down,
    but at least 50 centipawns and 2 c_end."""
    kind = "int" if r.decimals == 0 else "float"
    errors = (
        np.full(r.weights.shape, np.nan)
        if r.parameters.standard_errors is None
        else r.parameters.standard_errors
    )
    bounded = np.zeros(r.weights.shape, np.bool_)
    for pattern, _ in r.parameters.bounds:
        bounded |= r.parameters.mask((pattern,))
    factors = factors_of(r.parameters, r.factor)
    low, high = r.parameters.limits()
    lines = []
    for label, s, i in each_number(r):
        value, error = float(r.weights[s, i]), float(errors[s, i]) * factors[i]
        step = 2 * error if error > 0 else None
        if bounded[s, i]:
            ends = low[s, i] * factors[i], high[s, i] * factors[i]
        else:
            half = max(abs(value) / 2, LEAST_RANGE * factors[i], 2 * (step or 0.0))
            ends = value - half, value + half
        ends = (
            min(_outward(ends[0], r.decimals, math.floor), value),
            max(_outward(ends[1], r.decimals, math.ceil), value),
        )
        span = ends[1] - ends[0]
        step = RANGE_SHARE * span if step is None else min(step, span / 2)
        step = max(step, LEAST_STEP) if r.decimals == 0 else step
        lines.append(
            f"{label}, {kind}, {r.text(value)}, {r.text(ends[0])}, {r.text(ends[1])}, {step:.3g},"
            f" {LEARNING_RATE:g}"
        )
    return "\n".join(lines) + "\n"


def _outward(value: float, decimals: int, towards: Callable[[float], int]) -> float:
    """A limit rounded outward to this many decimals."""
    unit = 10.0**decimals
    return towards(round(value * unit, 6)) / unit


@dataclass(frozen=True)
class ExportFormat:
    """A format: `text` of rounded numbers and the name of their file, and what the text can hold:
    `rows` of tables, which have an order, unlike numbers that have a name each; `fractions`;
    comments, which contain the `heading`."""

    text: Callable[[Rounded, str], str]
    rows: bool = True
    fractions: bool = True
    heading: bool = True


FORMATS = {
    "c": ExportFormat(c_text),
    "rust": ExportFormat(rust_text),
    "json": ExportFormat(json_text),
    "uci": ExportFormat(uci_text, rows=False, fractions=False),
    "spsa": ExportFormat(spsa_text, rows=False, heading=False),
}


def exported(
    parameters: Parameters,
    name: str,
    form: str,
    scale_to: float | None = None,
    decimals: int = 0,
    flip: bool = False,
) -> tuple[str, Rounded]:
    """Return the text of a format, and the numbers that it has. InputError for options that the
    format has no use for."""
    chosen = FORMATS[form]
    refuse(
        (
            (
                "--flip",
                flip and not chosen.rows,
                f"--format {form} names every number, so there is no order of rows",
            ),
        )
    )
    if decimals and not chosen.fractions:
        raise InputError(
            f"--decimals {decimals}: --format {form} holds whole numbers; use --scale-to N for"
            " finer steps"
        )
    r = rounded(parameters, scale_to, decimals, flip)
    return chosen.text(r, name), r


MANY = 17  # digits, so that an engine has the same numbers


@dataclass(frozen=True)
class WdlCode:
    """The content of the code: coefficients of a and b, from m ** 0 on; the limits of the material
    and its anchor, None if nothing depends on it; what is counted, and lines about the games."""

    a: Sequence[float]
    b: Sequence[float]
    stock: tuple[int, int, int] | None
    what: str
    about: Sequence[str]


def _polynomial(coefficients: Sequence[float]) -> str:
    """Return a polynomial in m by Horner's rule."""
    text = f"{coefficients[-1]:.{MANY}g}"
    text = text if "." in text or "e" in text else f"{text}.0"
    for value in reversed(coefficients[:-1]):
        text = f"({text}) * m + {value:.{MANY}g}".replace("+ -", "- ")
    return text


def _heading(code: WdlCode) -> list[str]:
    return [
        f"chances of a win, a draw and a loss at a score, exported by evaltune {__version__}",
        *map(one_line, code.about),
        "score: centipawns of the mover's view" + (f"; {code.what}" if code.stock else ""),
    ]


C = """#include <math.h>

typedef struct {{ double win, draw, loss; }} wdl_chances;

static wdl_chances wdl_of(double score{argument}) {{{limited}
    const double a = {a};
    const double b = {b};
    wdl_chances found;
    found.win = 1.0 / (1.0 + exp((a - score) / b));
    found.loss = 1.0 / (1.0 + exp((a + score) / b));
    found.draw = 1.0 - found.win - found.loss;
    return found;
}}
"""
C_LIMITED = """
    const int limited = material < {0} ? {0} : material > {1} ? {1} : material;
    const double m = limited / {2}.0;"""
RUST = """pub struct Chances {{
    pub win: f64,
    pub draw: f64,
    pub loss: f64,
}}

pub fn wdl_of(score: f64{argument}) -> Chances {{{limited}
    let a: f64 = {a};
    let b: f64 = {b};
    let win = 1.0 / (1.0 + ((a - score) / b).exp());
    let loss = 1.0 / (1.0 + ((a + score) / b).exp());
    Chances {{ win, draw: 1.0 - win - loss, loss }}
}}
"""
RUST_LIMITED = """
    let m = f64::from(material.clamp({0}, {1})) / {2}.0;"""


def _source(template: str, limited: str, argument: str) -> Callable[[WdlCode], str]:
    def text(code: WdlCode) -> str:
        return "".join(f"{comment(line)}\n" for line in _heading(code)) + template.format(
            argument=argument if code.stock else "",
            limited=limited.format(*code.stock) if code.stock else "",
            a=_polynomial(code.a),
            b=_polynomial(code.b),
        )

    return text


def yaml_text(code: WdlCode) -> str:
    """Coefficients by name, those of m ** 0 first."""
    import yaml

    plain: dict[str, object] = {"a": [*map(float, code.a)], "b": [*map(float, code.b)]}
    if code.stock:
        plain["material"] = dict(zip(("low", "high", "anchor"), code.stock, strict=True))
    lines = [f"# {line}\n" for line in _heading(code)]
    return "".join(lines) + yaml.safe_dump(plain, sort_keys=False)


WDL_FORMATS: dict[str, Callable[[WdlCode], str]] = {
    "c": _source(C, C_LIMITED, ", int material"),
    "rust": _source(RUST, RUST_LIMITED, ", material: i32"),
    "yaml": yaml_text,
}
