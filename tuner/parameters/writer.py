"""Write parameter files: tables as grids with the last row on top, all other parameters on one
line; and start new ones, from names of bundled terms, or from names and shapes of parameters that
another program counts."""

import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import yaml

from games.record import scale_of
from games.streams import InputError
from tuner.io.files import plain_text, replaced, unwritable
from tuner.parameters.parameters import (
    LARGEST_ERROR,
    MOST_COLUMNS,
    UNKNOWN,
    Layout,
    Parameters,
    Place,
    in_order,
)
from tuner.parameters.reader import NAME, PHASES, ROWS, read_parameters
from tuner.parameters.yaml_tree import OF_SCALE, ValuePlace, of_scale, with_comments


def write_parameters(path: Path, p: Parameters) -> None:
    """Write a parameter file under a temporary name, read it back, compare, and put it in place."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(path, problem) from None
    with replaced(path) as temporary:
        temporary.write_text(to_text(p, path.parent), encoding="utf-8")
        back = read_parameters(temporary, None if p.of_rows else p.layout, p.game)
        if not np.allclose(back.weights, p.weights, rtol=0, atol=0.006):
            raise AssertionError(f"{path}: the file does not read back as it was written")


def to_text(p: Parameters, folder: Path | None = None) -> str:
    """The parameters as YAML text, with their comments; paths of files of terms are relative to the
    folder."""
    said = any(comment.place == OF_SCALE and comment.indent is None for comment in p.comments)
    return (
        "\n".join(
            with_comments(
                _lines(p, folder), p.comments if said else (*p.comments, of_scale(p.wording))
            )
        )
        + "\n"
    )


def _lines(p: Parameters, folder: Path | None) -> Iterator[tuple[ValuePlace, str]]:
    """The lines of the file, each with the place of its value."""
    scale = f"{p.scale:.6g}"
    if not 1e-6 < float(scale) < 1:  # rounded out of its range
        scale = repr(float(p.scale))
    yield ("game",), f"game: {_key(p.game)}"
    yield ("scale",), f"scale: {scale}"
    yield ("stages",), f"stages: {stages_text(p)}"
    if p.of_rows:
        yield ("terms",), f"terms: {ROWS}"
        yield ("phases",), f"phases: {p.phases}"
    if p.layout.files:
        yield ("terms",), "terms:"
        for file, sha256 in p.layout.files:
            place = os.path.relpath(file, folder) if folder is not None else file
            yield (
                ("terms", os.path.basename(file)),
                f"  - {{file: {_quoted(place)}, sha256: {_quoted(sha256)}}}",
            )
    if p.fixed:
        yield ("fixed",), "fixed: [" + ", ".join(_quoted(name) for name in p.fixed) + "]"
    for what in ("tied", "symmetric"):
        if names := getattr(p, what):
            yield (what,), f"{what}: [" + ", ".join(map(_quoted, names)) + "]"
    if p.bounds:
        yield ("bounds",), "bounds:"
        for name, (low, high) in p.bounds:
            yield ("bounds", name), f"  {_quoted(name)}: [{_limit(low)}, {_limit(high)}]"
    if p.prior:
        yield ("prior",), "prior:"
        for name, (mean, sd) in p.prior:
            given = f"mean: {_limit(mean)}, " if mean is not None else ""
            yield ("prior", name), f"  {_quoted(name)}: {{{given}sd: {_limit(sd)}}}"
    yield from _block(p, "weights", p.weights)
    if p.standard_errors is not None:
        yield from _block(p, "standard_errors", p.standard_errors)
        if p.optimum is not None:
            yield from _block(p, "optimum", p.optimum)
    if p.learned:
        yield ("learned",), "learned:"
        for key, value in _writable(p.learned).items():
            text = yaml.safe_dump(
                {"learned": {key: value}}, sort_keys=False, allow_unicode=True, width=110
            )
            yield ("learned", key), text.partition("\n")[2].rstrip()


def stages_text(p: Parameters) -> str:
    """The stages of a file, with the phases in which each is alone if they are not the usual
    ones."""
    if not p.spans:
        return f"[{', '.join(p.stages)}]"
    return "{" + ", ".join(": ".join(item) for item in p.phases_by_stage().items()) + "}"


def _block(p: Parameters, name: str, numbers: np.ndarray) -> Iterator[tuple[ValuePlace, str]]:
    yield (name,), f"{name}:"
    term = None
    for place in p.layout.places:
        if place.term != term:
            term = place.term
            yield (name, term), f"  {_key(term)}:"
        at = (name, term, place.name)
        values = [numbers[s, place.columns].reshape(place.shape) for s in range(len(p.stages))]
        if len(p.stages) == 1:
            yield from _entry(at, f"    {_key(place.name)}:", values[0])
        elif not place.shape:
            inner = ", ".join(
                f"{stage}: {_number(float(v))}" for stage, v in zip(p.stages, values, strict=True)
            )
            yield at, f"    {_key(place.name)}: {{{inner}}}"
        else:
            yield at, f"    {_key(place.name)}:"
            for stage, v in zip(p.stages, values, strict=True):
                yield from _entry((*at, stage), f"      {stage}:", v)


def _entry(place: ValuePlace, key: str, values: np.ndarray) -> Iterator[tuple[ValuePlace, str]]:
    """A number or a list on the line of its key, a grid row by row below it with the last row on
    top; grids of grids likewise."""
    if values.ndim == 0:
        yield place, f"{key} {_number(float(values))}"
    elif values.ndim == 1:
        yield place, f"{key} [{', '.join(_number(v) for v in values)}]"
    else:
        yield place, key
        width, indent = (
            max(len(_number(v)) for v in values.ravel()),
            " " * (len(key) - len(key.lstrip()) + 2),
        )
        for i, row in enumerate(values[::-1]):
            if row.ndim > 1:
                yield from _entry((*place, i), f"{indent}-", row)
            else:
                yield (*place, i), f"{indent}- [{', '.join(_number(v).rjust(width) for v in row)}]"


def _number(value: float) -> str:
    if not abs(value) <= LARGEST_ERROR:
        return UNKNOWN
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _key(name: str) -> str:
    """A name as a key: quoted unless it is one word."""
    return name if re.fullmatch(r"[A-Za-z_][\w-]*", name, re.ASCII) else _quoted(name)


def _quoted(text: str) -> str:
    return yaml.safe_dump(
        plain_text(text), default_style='"', allow_unicode=True, width=1 << 20
    ).strip()


def _limit(value: float) -> str:
    """A number with all its digits: after rounding, low might no longer be below high."""
    text = f"{value:g}"
    return text if float(text) == value else repr(float(value))


def _writable(plain):
    """Plain data that can be read back: file names that are not text are escaped, infinities and
    NaN are null."""
    if isinstance(plain, dict):
        return {_writable(key): _writable(value) for key, value in plain.items()}
    if isinstance(plain, (list, tuple)):
        return [_writable(value) for value in plain]
    if isinstance(plain, float) and not math.isfinite(plain):
        return None
    return plain_text(plain) if isinstance(plain, str) else plain


STAGES = ("mg", "eg")  # of the evaluation of another program, unless it has its own
SPEC = re.compile(r"(?P<term>[^.\[\]]+)\.(?P<name>[^.\[\]]+)(?P<shape>(?:\[[0-9]{1,8}\])*)")


def of_specs(specs: Sequence[str]) -> Layout:
    """Return the layout of parameters given as `term.name`, `term.name[9]` or `term.name[8][8]`;
    InputError for another form. Parameters of one term are consecutive."""
    places: list[Place] = []
    named: set[tuple[str, str]] = set()
    size = 0
    terms = {spec.partition(".")[0]: i for i, spec in reversed(list(enumerate(specs)))}
    for spec in sorted(specs, key=lambda spec: terms[spec.partition(".")[0]]):
        match = SPEC.fullmatch(spec)
        if not match or not NAME.fullmatch(match["term"]) or not NAME.fullmatch(match["name"]):
            raise InputError(
                f"{spec}: not a parameter, expected term.name, with its shape if it is a list or a"
                " table, such as 'mobility.knight[9]' or 'piece_square.pawn[8][8]'"
            )
        shape = tuple(int(size) for size in re.findall("[0-9]+", match["shape"]))
        if 0 in shape:
            raise InputError(f"{spec}: has a size of 0, expected 1 or more")
        if (match["term"], match["name"]) in named:
            raise InputError(f"{spec}: {match['term']}.{match['name']} is named twice")
        named.add((match["term"], match["name"]))
        places.append(Place(match["term"], match["name"], shape))
        size += math.prod(shape)
        if size > MOST_COLUMNS:
            raise InputError(
                f"{spec}: the parameters are {size:,} numbers, expected at most {MOST_COLUMNS:,}"
            )
    return Layout(in_order(places))


def usual_phases(largest: int) -> int:
    """Return the steps of the phase of an evaluation whose largest phase in some rows is this: the
    next usual number."""
    return next((steps for steps in (PHASES, 64, 128, 256) if largest <= steps), largest)


def zeros(
    game: str, layout: Layout, stages: tuple[str, ...], phases: int | None = None
) -> Parameters:
    """Return parameters of which every number is zero; `phases` if another program counts them."""
    return Parameters(
        game, layout, stages, np.zeros((len(stages), layout.size)), scale_of(game), phases=phases
    )
