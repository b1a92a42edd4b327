"""Write parameter files: boards as grids with the last row on top, one line for each parameter where it fits."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import yaml

from tuner.io.files import plain_text, replaced, unwritable
from tuner.parameters.parameters import LARGEST_ERROR, UNKNOWN, Parameters
from tuner.parameters.reader import read_parameters


def write_parameters(path: Path, p: Parameters, comment: str = "") -> None:
    """Write a parameter file: to a temporary name, read back and compared, then put in place."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(path, problem) from None
    with replaced(path) as temporary:
        temporary.write_text(to_text(p, comment, path.parent), encoding="utf-8")
        back = read_parameters(temporary, p.layout, p.game)
        if not np.allclose(back.weights, p.weights, rtol=0, atol=0.006):
            raise AssertionError(f"{path}: the file does not read back as it was written")


def to_text(p: Parameters, comment: str = "", folder: Path | None = None) -> str:
    """The parameters as YAML text for a file in a folder, from which the way to files of terms begins."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    scale = f"{p.scale:.6g}"
    if not 1e-6 < float(scale) < 1:  # rounded out of its range
        scale = repr(float(p.scale))
    lines += [f"game: {p.game}", f"scale: {scale}  # v = tanh(scale * centipawns), p = (1 + v) / 2",
              f"stages: [{', '.join(p.stages)}]"]
    if p.layout.files:
        lines.append("terms:")
        for file, sha256 in p.layout.files:
            place = os.path.relpath(file, folder) if folder is not None else file
            lines.append(f"  - {{file: {_quoted(place)}, sha256: {_quoted(sha256)}}}")
    if p.fixed:
        lines.append("fixed: [" + ", ".join(_quoted(name) for name in p.fixed) + "]")
    if p.bounds:
        lines += ["bounds:", *(f"  {_quoted(name)}: [{_limit(low)}, {_limit(high)}]" for name, (low, high) in p.bounds)]
    if p.prior:
        lines.append("prior:")
        for name, (mean, sd) in p.prior:
            told = f"mean: {_limit(mean)}, " if mean is not None else ""
            lines.append(f"  {_quoted(name)}: {{{told}sd: {_limit(sd)}}}")
    lines += _block(p, "weights", p.weights)
    if p.standard_errors is not None:
        lines += _block(p, "standard_errors", p.standard_errors)
    if p.learned:
        lines.append(yaml.safe_dump({"learned": _writable(p.learned)}, sort_keys=False, allow_unicode=True, width=110).rstrip())
    return "\n".join(lines) + "\n"


def _block(p: Parameters, name: str, numbers: np.ndarray) -> list[str]:
    lines, term = [f"{name}:"], None
    for place in p.layout.places:
        if place.term != term:
            term = place.term
            lines.append(f"  {term}:")
        values = [numbers[s, place.columns].reshape(place.shape) for s in range(len(p.stages))]
        if len(p.stages) == 1:
            head, *rest = _lines(values[0], "      ")
            lines += [f"    {place.name}: {head}".rstrip(), *rest]
        elif not place.shape:
            inner = ", ".join(f"{stage}: {_number(float(v))}" for stage, v in zip(p.stages, values, strict=True))
            lines.append(f"    {place.name}: {{{inner}}}")
        else:
            lines.append(f"    {place.name}:")
            for stage, v in zip(p.stages, values, strict=True):
                head, *rest = _lines(v, "        ")
                lines += [f"      {stage}: {head}".rstrip(), *rest]
    return lines


def _lines(values: np.ndarray, indent: str) -> list[str]:
    """A list on one line, a grid row by row with the last row on top."""
    if values.ndim == 0:
        return [_number(float(values))]
    if values.ndim == 1:
        return ["[" + ", ".join(_number(v) for v in values) + "]"]
    width = max(len(_number(v)) for v in values.ravel())
    rows = ["- [" + ", ".join(_number(v).rjust(width) for v in row) + "]" for row in values[::-1]]
    return ["", *(indent + row for row in rows)]


def _number(value: float) -> str:
    if not abs(value) <= LARGEST_ERROR:
        return UNKNOWN
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _quoted(text: str) -> str:
    return yaml.safe_dump(plain_text(text), default_style='"', allow_unicode=True, width=1 << 20).strip()


def _limit(value: float) -> str:
    """A number with all its digits: rounded, low might no longer be below high."""
    text = f"{value:g}"
    return text if float(text) == value else repr(float(value))


def _writable(plain):
    """Plain data without what is not read back: bytes of names that are no text, numbers that are none."""
    if isinstance(plain, dict):
        return {_writable(key): _writable(value) for key, value in plain.items()}
    if isinstance(plain, (list, tuple)):
        return [_writable(value) for value in plain]
    if isinstance(plain, float) and not math.isfinite(plain):
        return None
    return plain_text(plain) if isinstance(plain, str) else plain
