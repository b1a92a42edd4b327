"""Evaluations as text for engines: the numbers of a parameter file, or a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalterms.framework.encoding import encoding_named
from tuner.evaluation.loading import load_parameters
from tuner.evaluation.networks.files import c_text, holds_network, read_network, weights_path
from tuner.export.numbers import heading, rounding_errors, rounding_line
from tuner.export.text import FORMATS, exported


class Exported(NamedTuple):
    """A text with the files that it was made from, how much it holds in words and as plain data,
    how it was rounded, if it was, and notes that the text itself has no place for."""

    text: str
    files: tuple[str, ...]
    holds: str
    plain: dict[str, Any]
    rounding: str = ""
    notes: Sequence[str] = ()


def exported_file(
    path: Path,
    name: str,
    form: str,
    scale_to: float | None,
    decimals: int,
    flip: bool,
    terms: Sequence[str],
) -> Exported:
    """Return the evaluation of a file, called `name`, in a format; InputError for options that the
    format has no use for."""
    if holds_network(path):
        network = read_network(path, lambda game, encoding: encoding_named(game, encoding).size)
        text = c_text(network, encoding_named(network.game, network.encoding), name)
        size = network.network.size
        files = (str(path), str(weights_path(path)))
        return Exported(text, files, f"{size:,} weights for {form}", {"numbers": size})
    text, r = exported(load_parameters(path, terms), name, form, scale_to, decimals, flip)
    rounding = rounding_line(r)
    return Exported(
        text,
        (str(path), *terms),
        f"{r.weights.size:,} numbers for {form}, {rounding}",
        {"numbers": int(r.weights.size), **rounding_errors(r)},
        rounding,
        () if FORMATS[form].heading else heading(r, name, tables=False),
    )
