"""Scale and round weights for export, and report the rounding errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from games.record import points_of
from games.streams import InputError
from tuner.io.text import one_line
from tuner.parameters.layout import Place
from tuner.parameters.parameters import Parameters
from tuner.version import __version__

LARGEST = 2**31 - 1  # of an int


@dataclass(frozen=True)
class Rounded:
    """Weights (stages, columns) as they are exported, times `factor` (but percentages) and rounded to `decimals`.

    `flipped`: tables have their last row first. `largest` and `mean` are the absolute errors of rounding, in exported units.
    """

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
        """The weights of a parameter: a list for each stage, row after row, in the order of the export."""
        values = self.weights[:, place.columns].reshape(-1, *place.shape)
        if self.flipped and len(place.shape) > 1:
            values = values[..., ::-1, :]
        return values.reshape(len(self.stages), -1).tolist()

    def text(self, value: float) -> str:
        """A number with the decimals of the export."""
        return f"{value:.{self.decimals}f}"


def rounded(p: Parameters, scale_to: float | None = None, decimals: int = 0, flipped: bool = False) -> Rounded:
    """Scale and round weights; `scale_to`: the first weight (mean of its stages) is scaled to this, and with it all weights but
    percentages. InputError if a function of a weighted sum would have to be scaled."""
    factor = 1.0
    if scale_to is not None:
        curved = next((place.term for place in p.layout.places if place.curved and p.weights[:, place.columns].any()), None)
        if curved:
            raise InputError(f"--scale-to {scale_to:g}: a function is applied to the sum of {curved}, which does not scale with "
                             "its weights; leave it out")
        first = float(p.weights[:, 0].mean())
        if first <= 0:
            raise InputError(f"--scale-to {scale_to:g}: {p.layout.labels()[0]} is {first:g} (mean of its stages), expected a "
                             "positive number to be multiplied")
        factor = scale_to / first
    exact = p.weights * factors_of(p, factor)
    weights = np.round(exact, decimals) + 0.0  # not -0
    if np.abs(weights).max() > LARGEST:
        raise InputError(f"--scale-to {scale_to:g}: makes numbers of {np.abs(weights).max():,.0f}, expected at most {LARGEST:,}")
    error = np.round(np.abs(weights - exact), 9)
    return Rounded(p, weights, factor, decimals, flipped, float(error.max()), float(error.mean()))


def factors_of(p: Parameters, factor: float) -> np.ndarray:
    """The factor (columns,) of each weight: percentages are not multiplied."""
    return np.concatenate([np.zeros(0), *(np.full(place.size, 1.0 if place.percent else factor) for place in p.layout.places)])


def rounding_line(r: Rounded) -> str:
    """The rounding errors in a line of text."""
    unit = "units of the export" if r.factor != 1 else r.parameters.wording.unit + " or percent" * any(
        place.percent for place in r.parameters.layout.places)
    kind = "whole numbers" if r.decimals == 0 else f"{r.decimals} decimals"
    return f"rounded to {kind}: errors of at most {r.largest:.3g}, on average {r.mean:.3g} {unit}"


def heading(r: Rounded, name: str, tables: bool = True) -> list[str]:
    """Lines for the top of an export: the source and the meaning of the numbers."""
    p = r.parameters
    learned = p.learned if isinstance(p.learned, dict) else {}
    lines = [f"{name}: parameters of {p.game}, exported by evaltune {__version__}"]
    if learned.get("command"):
        lines.append(f"learned by: {learned['command']} (version {learned.get('version', 'unknown')})")
    lines.append(rounding_line(r))
    if r.factor != 1:
        lines.append(f"multiplied by {r.factor:.6g} so that {p.layout.labels()[0]} is {p.weights[:, 0].mean() * r.factor:g}"
                     + (", the mean of its stages" if len(r.stages) > 1 else ""))
    most = points_of(p.game)
    lines.append(f"probability of winning: 1 / (1 + exp(-{2 * r.scale:.6g} * evaluation)), a draw counting one half"
                 if most == 1 else f"expected points: {most} * tanh({r.scale:.6g} * evaluation)")
    lines += not_linear_lines(p)
    if tables:
        if len(r.stages) > 1:
            lines.append(f"stages in this order: {', '.join(r.stages)}")
        side = "the row farthest from the owner's side first" if r.flipped else "the row nearest to the owner's side first"
        rows = f"tables row by row as seen by the side that owns the {p.wording.piece}"
        lines.append(f"{rows}, {side}, in each row {p.wording.columns}")
    return [one_line(str(line)) for line in lines]


def not_linear_lines(p: Parameters) -> list[str]:
    """Lines about the terms whose weights are not added times their counts."""
    curved = dict.fromkeys(place.term for place in p.layout.places if place.curved)
    percent = dict.fromkeys(place.term for place in p.layout.places if place.percent)
    return [*(f"{term}: the function of this term is applied to the tapered sum of each side" for term in curved),
            *(f"{term}: percent; the sum s of the side ahead multiplies the evaluation by 1 + s / 100, from 0 to 2"
              for term in percent)]


def spin_limits(r: Rounded) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest whole numbers (stages, columns) within the bounds of the file, extended to the exported ones."""
    low, high = (limit * factors_of(r.parameters, r.factor) for limit in r.parameters.limits())
    return np.minimum(np.ceil(low - 1e-9), np.floor(r.weights)), np.maximum(np.floor(high + 1e-9), np.ceil(r.weights))


def each_number(r: Rounded) -> list[tuple[str, int, int]]:
    """Name, stage and column of every weight: `material.knight.mg`, `pawns.passed[3].eg`; with one stage `lines.win`; of an
    option of an engine the name that it has there."""
    ends = [f".{stage}" for stage in r.stages] if len(r.stages) > 1 else [""]
    name = r.parameters.option_name if len(r.stages) == 1 else lambda label: None
    return [(name(label) or label + end, s, column) for column, label in enumerate(r.parameters.layout.labels())
            for s, end in enumerate(ends)]


def whole(value: float) -> int:
    """A rounded number as an int."""
    assert math.isfinite(value) and value == int(value)
    return int(value)
