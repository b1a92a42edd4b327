"""Weights for export: scaled and rounded, with names that compilers accept, and as options."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from games.record import EngineOption, in_points, points_of
from games.streams import InputError, lines, one_line
from tuner.options.option import refuse
from tuner.parameters.parameters import Parameters, Place
from tuner.parameters.yaml_tree import Checks, YamlNode, read_tree
from tuner.version import __version__

# Keywords of C and C++ and functions of their headers that `term_parameter` could collide with.
C_WORDS = frozenset(
    (
        "aligned_alloc",
        "and_eq",
        "at_quick_exit",
        "call_once",
        "co_await",
        "co_return",
        "co_yield",
        "const_cast",
        "dynamic_cast",
        "free_sized",
        "not_eq",
        "or_eq",
        "quick_exit",
        "reinterpret_cast",
        "static_assert",
        "static_cast",
        "thread_local",
        "timespec_get",
        "timespec_getres",
        "typeof_unqual",
        "xor_eq",
    )
)
# prefixes of such functions; types such as size_t
C_RESERVED = re.compile(r"(atomic|cnd|memory_order|mtx|thrd|tss)_|\w*_t\Z")
PREFIX = "term_"


def identifier(path: str) -> str:
    """`term.name` as letters, digits and single underscores: double ones are reserved in C++.
    Letters beyond ASCII are written by their numbers: `u6b69`."""
    text = "".join(c if c.isascii() or not c.isalnum() else f"_u{ord(c):x}_" for c in path)
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def c_names(paths: Sequence[str]) -> list[str]:
    """Identifiers of C and C++."""
    names = [identifier(path) for path in paths]
    return unique(
        [
            (
                PREFIX + name + "_" * name.endswith("_t")
                if name in C_WORDS or C_RESERVED.match(name)
                else name
            )
            for name in names
        ]
    )


def rust_names(paths: Sequence[str]) -> list[str]:
    """Identifiers of constants in Rust, which has no keywords in capitals with an underscore."""
    return unique([identifier(path).upper() for path in paths])


def unique(names: Sequence[str]) -> list[str]:
    """The same names, with a number appended to repeated ones."""
    taken: set[str] = set()
    result = []
    for name in names:
        free, k = name, 2
        while free in taken or (free != name and free in names):
            free, k = f"{name}_{k}", k + 1
        taken.add(free)
        result.append(free)
    return result


MAX_INT = 2**31 - 1  # of an int


@dataclass(frozen=True)
class Rounded:
    """Weights (stages, columns) as they are exported, times `factor` (but percentages) and rounded
    to `decimals`.

    `flipped`: tables have their last row first. `largest` and `mean` are the absolute errors of
    rounding, in exported units."""

    parameters: Parameters
    weights: np.ndarray
    factor: float
    decimals: int
    flipped: bool
    largest: float
    mean: float

    @property
    def stages(self) -> tuple[str, ...]:
        return self.parameters.stages

    @property
    def scale(self) -> float:
        """v = tanh(scale * evaluation) of the exported numbers."""
        return self.parameters.scale / self.factor

    def numbers(self, place: Place) -> list[list[float]]:
        """The weights of a parameter: a list for each stage, row after row, in the order of the
        export."""
        values = self.weights[:, place.columns].reshape(-1, *place.shape)
        if self.flipped and len(place.shape) > 1:
            values = values[..., ::-1, :]
        return values.reshape(len(self.stages), -1).tolist()

    def text(self, value: float) -> str:
        """A number with the decimals of the export."""
        return f"{value:.{self.decimals}f}"


def rounded(
    p: Parameters, scale_to: float | None = None, decimals: int = 0, flipped: bool = False
) -> Rounded:
    """Scale and round weights; `scale_to`: the first weight (mean of its stages) is scaled to this,
    and with it all weights but percentages. InputError if a function of a weighted sum would have
    to be scaled."""
    factor = 1.0
    if scale_to is not None:
        curved = next(
            (
                place.term
                for place in p.layout.places
                if place.curved and p.weights[:, place.columns].any()
            ),
            None,
        )
        refuse(
            (
                (
                    f"--scale-to {scale_to:g}",
                    curved,
                    (
                        f"a function is applied to the sum of {curved}, which does not scale with"
                        " its weights"
                    ),
                ),
            )
        )
        first = float(p.weights[:, 0].mean())
        if first <= 0:
            raise InputError(
                f"--scale-to {scale_to:g}: {p.layout.labels()[0]} is {first:g} (mean of its"
                " stages), expected a positive number to be multiplied"
            )
        factor = scale_to / first
    exact = p.weights * factors_of(p, factor)
    weights = np.round(exact, decimals) + 0.0  # not -0
    if np.abs(weights).max() > MAX_INT:
        raise InputError(
            f"--scale-to {scale_to:g}: makes numbers of {np.abs(weights).max():,.0f}, expected at"
            f" most {MAX_INT:,}"
        )
    error = np.round(np.abs(weights - exact), 9)
    return Rounded(p, weights, factor, decimals, flipped, float(error.max()), float(error.mean()))


def factors_of(p: Parameters, factor: float) -> np.ndarray:
    """The factor (columns,) of each weight: percentages are not multiplied."""
    return np.concatenate(
        [
            np.zeros(0),
            *(np.full(place.size, 1.0 if place.percent else factor) for place in p.layout.places),
        ]
    )


def rounding_line(r: Rounded) -> str:
    """The rounding errors in a line of text."""
    unit = (
        "units of the export"
        if r.factor != 1
        else r.parameters.wording.unit
        + " or percent" * any(place.percent for place in r.parameters.layout.places)
    )
    kind = "whole numbers" if r.decimals == 0 else f"{r.decimals} decimals"
    return f"rounded to {kind}: errors of at most {r.largest:.3g}, on average {r.mean:.3g} {unit}"


def rounding_errors(r: Rounded) -> dict[str, float]:
    """The scale and the rounding errors as plain data."""
    return {
        "factor": r.factor,
        "scale": r.scale,
        "decimals": r.decimals,
        "largest_rounding": r.largest,
        "mean_rounding": r.mean,
    }


def heading(r: Rounded, name: str, tables: bool = True) -> list[str]:
    """Lines for the top of an export: the source and the meaning of the numbers."""
    p = r.parameters
    learned = p.learned if isinstance(p.learned, dict) else {}
    lines = [f"{name}: parameters of {p.game}, exported by evaltune {__version__}"]
    if learned.get("command"):
        lines.append(
            f"learned by: {learned['command']} (version {learned.get('version', 'unknown')})"
        )
    lines.append(rounding_line(r))
    if r.factor != 1:
        lines.append(
            f"multiplied by {r.factor:.6g} so that {p.layout.labels()[0]} is"
            f" {p.weights[:, 0].mean() * r.factor:g}"
            + (", the mean of its stages" if len(r.stages) > 1 else "")
        )
    most = points_of(p.game)
    lines.append(
        f"expected points: {most} * tanh({r.scale:.6g} * evaluation)"
        if in_points(most)
        else (
            f"probability of winning: 1 / (1 + exp(-{2 * r.scale:.6g} * evaluation)), a draw"
            " counting one half"
        )
    )
    lines += not_linear_lines(p)
    if tables:
        if len(r.stages) > 1:
            lines.append(f"stages in this order: {', '.join(r.stages)}")
        if p.spans:
            alone = ", ".join(f"{stage} {phase}" for stage, phase in p.phases_by_stage().items())
            lines.append(
                f"phases (0 to {p.steps}) in which each stage is alone, linear between: {alone}"
            )
        side = (
            "the row farthest from the owner's side first"
            if r.flipped
            else "the row nearest to the owner's side first"
        )
        rows = f"tables row by row as seen by the side that owns the {p.wording.piece}"
        lines.append(f"{rows}, {side}, in each row {p.wording.columns}")
    return [one_line(str(line)) for line in lines]


def not_linear_lines(p: Parameters) -> list[str]:
    """Lines about the terms whose weights are not added times their counts."""
    curved = dict.fromkeys(place.term for place in p.layout.places if place.curved)
    percent = dict.fromkeys(place.term for place in p.layout.places if place.percent)
    return [
        *(
            f"{term}: the function of this term is applied to the tapered sum of each side"
            for term in curved
        ),
        *(
            f"{term}: percent; the sum s of the side ahead multiplies the evaluation by 1 + s /"
            " 100, from 0 to 2"
            for term in percent
        ),
    ]


def spin_limits(r: Rounded) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest whole numbers (stages, columns) within the bounds of the file, extended to
    the exported ones."""
    low, high = (limit * factors_of(r.parameters, r.factor) for limit in r.parameters.limits())
    return np.minimum(np.ceil(low - 1e-9), np.floor(r.weights)), np.maximum(
        np.floor(high + 1e-9), np.ceil(r.weights)
    )


def each_number(r: Rounded) -> list[tuple[str, int, int]]:
    """Name, stage and column of every weight: `material.knight.mg`, `pawns.passed[3].eg`; with one
    stage `lines.win`."""
    ends = [f".{stage}" for stage in r.stages] if len(r.stages) > 1 else [""]
    return [
        (label + end, s, column)
        for column, label in enumerate(r.parameters.layout.labels())
        for s, end in enumerate(ends)
    ]


def whole(value: float) -> int:
    """A rounded number as an int."""
    assert math.isfinite(value) and value == int(value)
    return int(value)


SETTING = re.compile(r"setoption\s+name\s+(.+?)\s+value\s+(.*)")
OPENBENCH = re.compile(r"(.+?)\s*,\s*(?:int|float)\s*,\s*([^,]+?)\s*(?:,[^,]*){4}")
PASSED_OVER = ("#", "info ", "option ")  # lines of an export for UCI that set nothing


def settings_of(
    path: Path, options: Mapping[str, EngineOption], engine: str
) -> tuple[dict[str, str], list[str]]:
    """Return values of the engine's options by their names, and notes about rounding, from a file.

    A parameter file (.yaml) names them as `tuner uci --options` does; a different file has lines
    NAME=VALUE, `setoption name NAME value VALUE`, or lines of OpenBench, whose third field is the
    value. InputError for unknown options, and for values
    out of range."""
    numbers = (
        _of_parameters(path, options, engine)
        if path.suffix in (".yaml", ".yml")
        else _of_lines(path)
    )
    settings: dict[str, str] = {}
    rounded = []
    for where, name, text in numbers:
        option = options.get(name)
        if option is None:
            raise InputError(f"{where}: {engine} has no option {name!r}")
        if name in settings:
            raise InputError(f"{where}: the option {name!r} is set twice")
        if option.kind == "spin":
            text, change = _whole(text, where, option, engine)
            rounded += [change] if change else []
        settings[name] = text
    notes = (
        [
            f"{path}: {len(rounded)} of {len(settings)} values are rounded to whole numbers, by at"
            f" most {max(rounded):.2g}"
        ]
        if rounded
        else []
    )
    return settings, notes


def _whole(text: str, where: str, option: EngineOption, engine: str) -> tuple[str, float]:
    """The whole number nearest to a value, and by how much it differs; InputError if it is out of
    range."""
    try:
        exact = float(text)
        value = round(exact)
    except (ValueError, OverflowError):
        raise InputError(f"{where}: {option.name!r} is {text[:40]!r}, expected a number") from None
    assert option.low is not None and option.high is not None
    if not option.low <= value <= option.high:
        raise InputError(
            f"{where}: {option.name!r} is {exact:g}, {engine} accepts {option.low} to {option.high}"
        )
    return str(value), abs(exact - value)


def _of_parameters(
    path: Path, options: Mapping[str, EngineOption], engine: str
) -> Iterator[tuple[str, str, str]]:
    """Place, option and value of each weight of a parameter file, of any terms."""
    checks = Checks(path)
    top = checks.mapping(read_tree(path), "the file")
    if "weights" not in top:
        raise InputError(f"{path}: weights is missing, expected a parameter file")
    for term, entries in checks.mapping(top["weights"], "weights").items():
        for name, entry in checks.mapping(entries, term).items():
            stages = entry.value.items() if isinstance(entry.value, dict) else [("", entry)]
            for stage, node in stages:
                for place, leaf in _leaves(node):
                    label = f"{term}.{name}{place}{'.' * bool(stage)}{stage}"
                    yield f"{path}:{leaf.line}", label, str(leaf.value)


def _leaves(node: YamlNode) -> Iterator[tuple[str, YamlNode]]:
    """The numbers of a weight with their indices; grids have their last row on top."""
    if not isinstance(node.value, list):
        yield "", node
        return
    rows = node.value[::-1] if node.value and isinstance(node.value[0].value, list) else node.value
    for i, item in enumerate(rows):
        for place, leaf in _leaves(item):
            yield f"[{i}]{place}", leaf


def _of_lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Place, option and value of each line that sets one."""
    for number, line in enumerate(lines(path), 1):
        text = line.decode("utf-8", "replace").strip()
        if not text or text.startswith(PASSED_OVER):
            continue
        match = SETTING.fullmatch(text) or OPENBENCH.fullmatch(text)
        name, separator, value = (match[1], "=", match[2]) if match else text.partition("=")
        if not separator or not name.strip():
            raise InputError(
                f"{path}:{number}: {text[:40]!r}, expected NAME=VALUE, setoption name NAME value"
                " VALUE, or a line of OpenBench"
            )
        yield f"{path}:{number}", name.strip(), value.strip()
