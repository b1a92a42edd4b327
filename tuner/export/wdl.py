"""The chances at a score as source for an engine: C, Rust, and YAML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from games.streams import one_line
from tuner.export.text import comment
from tuner.version import __version__

MANY = 17  # digits, so that an engine has the same numbers


@dataclass(frozen=True)
class WdlCode:
    """What the code has: coefficients of a and b, those of m ** 0 first; the limits of the material
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
