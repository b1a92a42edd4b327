"""Parameter files: named weights in centipawns, one number per stage, and what a fit needs to know about them.

Piece-square tables and other boards are written as grids with the last row on top, as seen by the side that owns the
piece. Reading checks everything, and an error names file and line.
"""

from __future__ import annotations

import logging
import math
import os
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from games.record import available, find
from games.streams import InputError
from tuner.io.files import BUNDLED, plain_text, replaced, unwritable
from tuner.io.text import one_line
from tuner.parameters.layout import Layout, Place
from tuner.parameters.yaml_tree import Node, read_tree

LOG = logging.getLogger(__name__)
DEFAULT_GAME = "chess"  # whose bundled files need no prefix
DEFAULT_SCALE = 0.00255  # a pawn is worth tanh(0.255) = 0.25 (KnightCap, EXchess)
LARGEST_WEIGHT = 20000.0
SMALLEST_SD, LARGEST_SD = 1e-3, 1e6  # of a prior
LARGEST_ERROR = 1e12  # a standard error beyond is as good as unknown
LARGEST_WHOLE = 2**63  # of what was learned
UNKNOWN = "~"
NOTHING = (UNKNOWN, "null", "")
KEYS = ("game", "scale", "stages", "terms", "weights", "fixed", "bounds", "prior", "standard_errors", "learned")
LEARNED_NUMBERS = ("games", "positions", "held_out_games", "held_out_positions", "loss_before", "loss_after", "held_out_before",
                   "held_out_after")


@dataclass(frozen=True)
class Parameters:
    """The weights of an evaluation and what may be done to them.

    `weights` and `standard_errors` have shape (stages, columns), in centipawns. v = tanh(scale * centipawns) is the
    value of a position, p = (1 + v) / 2 the probability of winning. `fixed` are names or globs held constant, `bounds`
    pairs of name and (low, high), `prior` pairs of name and (mean or None for the starting value, standard deviation).
    """

    game: str
    layout: Layout
    stages: tuple[str, ...]
    weights: np.ndarray
    scale: float = DEFAULT_SCALE
    fixed: tuple[str, ...] = ()
    bounds: tuple[tuple[str, tuple[float, float]], ...] = ()
    prior: tuple[tuple[str, tuple[float | None, float]], ...] = ()
    standard_errors: np.ndarray | None = None
    learned: dict = field(default_factory=dict)

    def mask(self, patterns: tuple[str, ...]) -> np.ndarray:
        """(stages, columns) bool: numbers that one of these names or globs means."""
        found = np.zeros(self.weights.shape, np.bool_)
        for pattern in patterns:
            found |= self.layout.matching(pattern, self.stages)
        return found

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest weights (stages, columns) that the bounds allow."""
        low, high = np.full(self.weights.shape, -LARGEST_WEIGHT), np.full(self.weights.shape, LARGEST_WEIGHT)
        for name, (smallest, largest) in self.bounds:
            chosen = self.mask((name,))
            low[chosen], high[chosen] = smallest, largest
        return low, high

    def with_weights(self, weights: np.ndarray, **changes) -> Parameters:
        return replace(self, weights=weights, **changes)


class _Reader:
    """Turns the tree of one file into Parameters; every complaint names the file and the line."""

    def __init__(self, path: Path, layout: Layout, game: str, add_missing: bool) -> None:
        self.path, self.layout, self.game, self.add_missing = path, layout, game, add_missing
        self.missing: list[str] = []
        self.notes: list[str] = []
        self.is_error = False  # standard errors may be `~`, not negative, and larger than weights

    def fail(self, node: Node, text: str):
        raise InputError(f"{self.path}:{node.line}: {text}")

    def mapping(self, node: Node, what: str) -> dict[str, Node]:
        if not isinstance(node.value, dict):
            self.fail(node, f"{what} is {_shown(node)}, expected a mapping")
        return node.value

    def number(self, node: Node, what: str) -> float:
        if isinstance(node.value, str):
            try:
                value = float(node.value)
            except ValueError:
                value = None
            if value is not None and math.isfinite(value):
                return value
        self.fail(node, f"{what} is {_shown(node)}, expected a number")

    def weight(self, node: Node, what: str) -> float:
        if self.is_error and node.value == UNKNOWN:
            return math.nan
        value = self.number(node, what)
        if self.is_error and not 0 <= value <= LARGEST_ERROR:
            self.fail(node, f"the standard error of {what} is {node.value}, expected 0 to {LARGEST_ERROR:g}, or {UNKNOWN}")
        if abs(value) > LARGEST_WEIGHT and not self.is_error:
            self.fail(node, f"{what} is {node.value}, expected centipawns between {-LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}")
        return value

    def array(self, node: Node, what: str, shape: tuple[int, ...]) -> np.ndarray:
        """Numbers of a shape; a grid has its last row on top."""
        if not shape:
            return np.array(self.weight(node, what))
        if not isinstance(node.value, list):
            self.fail(node, f"{what} is {_shown(node)}, the term declares a list of {shape[0]}")
        if len(node.value) != shape[0]:
            kind = "rows" if len(shape) > 1 else "numbers"
            self.fail(node, f"{what} has {len(node.value)} {kind}, the term declares {shape[0]}")
        rows = [self.array(item, what, shape[1:]) for item in node.value]
        return np.array(rows[::-1] if len(shape) > 1 else rows)

    def weights(self, node: Node, stages: tuple[str, ...], what: str) -> np.ndarray:
        """(stages, columns) numbers under `weights` or `standard_errors`."""
        terms = self.mapping(node, what)
        known: dict[str, dict[str, Place]] = {}
        for place in self.layout.places:
            known.setdefault(place.term, {})[place.name] = place
        for name, term in terms.items():
            if name not in known:
                self.fail(term, f"unknown term {name!r}; known: {', '.join(known)} (a term of your own needs --terms FILE)")
            for inner, value in self.mapping(term, name).items():
                if inner not in known[name]:
                    self.fail(value, f"unknown parameter {name}.{inner}; {name} has: {', '.join(known[name])}")
        result = np.zeros((len(stages), self.layout.size))
        for place in self.layout.places:
            value = terms[place.term].value.get(place.name) if place.term in terms else None
            if value is None:
                self.missing.append(place.path)
            elif len(stages) == 1:
                result[0, place.columns] = self.array(value, place.path, place.shape).ravel()
            else:
                self._stages(value, place, stages, result)
        if self.missing and not self.add_missing:
            self.fail(node, f"{what} lacks {listed(self.missing)}; `{completing(self.path, self.layout)}` adds zeros")
        return result

    def term_files(self, node: Node | None, weights: Node) -> None:
        """InputError for files of terms that the weights need and that were not named; a note for those that have changed."""
        if node is None:
            return
        if not isinstance(node.value, list):
            self.fail(node, f"terms is {_shown(node)}, expected a list of {{file: ..., sha256: ...}}")
        known = {place.term for place in self.layout.places}
        lacking = isinstance(weights.value, dict) and any(name not in known for name in weights.value)
        given = {os.path.basename(file): sha256 for file, sha256 in self.layout.files}
        for item in node.value:
            entries = self.mapping(item, "an entry of terms")
            file, sha256 = (entries[key].value if key in entries else None for key in ("file", "sha256"))
            if set(entries) != {"file", "sha256"} or not isinstance(file, str) or not file or not (
                    isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256)):
                self.fail(item, "an entry of terms is not {file: ..., sha256: ...} with a path and 64 hexadecimal digits")
            if sha256 in given.values():
                continue
            if os.path.basename(file) in given:
                self.notes.append(f"{self.path}:{item.line}: {os.path.basename(file)} is not what it was when this file was "
                                  "written: its terms may count otherwise")
            elif lacking:
                here = os.path.relpath(self.path.parent / file)
                found = here if os.path.exists(here) else file
                gone = "" if os.path.exists(found) else " (which is not there)"
                self.fail(item, f"has weights of the terms in {os.path.basename(file)}; add --terms {shlex.quote(found)}{gone}")

    def learned(self, node: Node | None) -> dict:
        """What is said of the learning, as plain data; what is used of it has the right kind."""
        if node is None:
            return {}
        for key, value in self.mapping(node, "learned").items():
            if key in LEARNED_NUMBERS and value.value not in NOTHING:
                self.number(value, f"{key} of learned")
                if key == "held_out_after" and "held_out_before" not in node.value:
                    self.fail(value, "learned has held_out_after without held_out_before, expected both")
            if key in ("data", "ratios") and not (isinstance(value.value, list) and all(
                    isinstance(item.value, dict) for item in value.value)):
                self.fail(value, f"{key} of learned is {_shown(value)}, expected a list of mappings")
        return _plain(node)

    def _stages(self, node: Node, place: Place, stages: tuple[str, ...], result: np.ndarray) -> None:
        entries = self.mapping(node, place.path)
        for stage, value in entries.items():
            if stage not in stages:
                self.fail(value, f"unknown stage {place.path}.{stage}; the stages are {', '.join(stages)}")
        for s, stage in enumerate(stages):
            if stage not in entries:
                self.fail(node, f"{place.path} lacks the stage {stage}")
            result[s, place.columns] = self.array(entries[stage], f"{place.path}.{stage}", place.shape).ravel()

    def names(self, node: Node | None, what: str, stages: tuple[str, ...]) -> tuple[str, ...]:
        if node is None:
            return ()
        items = node.value if isinstance(node.value, list) else [node]
        for item in items:
            self.name(item, what, stages)
        return tuple(item.value for item in items)

    def name(self, node: Node, what: str, stages: tuple[str, ...], text: str | None = None) -> None:
        text = node.value if text is None else text
        if not isinstance(text, str) or not self.layout.matching(text, stages).any():
            self.fail(node, f"{what}: {_shown(node) if not isinstance(text, str) else repr(text)} names no parameter")

    def bounds(self, node: Node | None, stages: tuple[str, ...]) -> tuple:
        found = []
        for name, value in (self.mapping(node, "bounds") if node else {}).items():
            self.name(value, "bounds", stages, name)
            if not isinstance(value.value, list) or len(value.value) != 2:
                self.fail(value, f"bounds of {name} are {_shown(value)}, expected [low, high]")
            low, high = (self.weight(item, f"a bound of {name}") for item in value.value)
            if not low < high:
                self.fail(value, f"bounds of {name} are [{low:g}, {high:g}], expected low < high")
            found.append((name, (low, high)))
        return tuple(found)

    def prior(self, node: Node | None, stages: tuple[str, ...]) -> tuple:
        found = []
        for name, value in (self.mapping(node, "prior") if node else {}).items():
            self.name(value, "prior", stages, name)
            entries = self.mapping(value, f"prior of {name}")
            for key, inner in entries.items():
                if key not in ("mean", "sd"):
                    self.fail(inner, f"unknown key {key!r} in the prior of {name}; expected mean, sd")
            if "sd" not in entries:
                self.fail(value, f"prior of {name} lacks sd, the standard deviation in centipawns")
            sd = self.number(entries["sd"], f"sd of the prior of {name}")
            if not SMALLEST_SD <= sd <= LARGEST_SD:
                self.fail(entries["sd"], f"sd of the prior of {name} is {sd:g}, expected centipawns between {SMALLEST_SD:g} "
                          f"and {LARGEST_SD:g}")
            mean = self.weight(entries["mean"], f"mean of the prior of {name}") if "mean" in entries else None
            found.append((name, (mean, sd)))
        return tuple(found)

    def read(self) -> Parameters:
        root = read_tree(self.path)
        top = self.mapping(root, "the file")
        for key, node in top.items():
            if key not in KEYS:
                self.fail(node, f"unknown key {key!r}; expected {', '.join(KEYS)}")
        if "game" not in top or top["game"].value != self.game:
            node = top.get("game", root)
            self.fail(node, f"game is {_shown(node) if 'game' in top else 'missing'}, expected {self.game}")
        stages_node = top.get("stages")
        if stages_node is None or not isinstance(stages_node.value, list) or len(stages_node.value) not in (1, 2):
            self.fail(stages_node or root, "stages is missing or not a list of one or two names, such as [mg, eg]")
        for item in stages_node.value:
            if not isinstance(item.value, str) or not item.value.isidentifier():
                self.fail(item, f"a stage is {_shown(item)}, expected a name such as mg")
        stages = tuple(item.value for item in stages_node.value)
        if len(set(stages)) != len(stages):
            self.fail(stages_node, f"stages {list(stages)} repeat a name")
        if len(stages) > 1 and stages != (expected := find(self.game).stages):
            self.fail(stages_node, f"stages are {list(stages)}, expected {list(expected)} for {self.game}, or one name for all")
        if "weights" not in top:
            self.fail(root, "weights is missing")
        self.term_files(top.get("terms"), top["weights"])
        scale = self.number(top["scale"], "scale") if "scale" in top else DEFAULT_SCALE
        if not 1e-6 < scale < 1:
            self.fail(top["scale"], f"scale is {scale:g}, expected about {DEFAULT_SCALE} "
                      "(100 centipawns are worth v = tanh(100 * scale))")
        weights = self.weights(top["weights"], stages, "weights")
        errors = None
        if "standard_errors" in top:
            missing, self.missing, self.is_error = self.missing, [], True
            errors = self.weights(top["standard_errors"], stages, "standard_errors")
            self.missing, self.is_error = missing, False
        return Parameters(
            self.game, self.layout, stages, weights, scale, self.names(top.get("fixed"), "fixed", stages),
            self.bounds(top.get("bounds"), stages), self.prior(top.get("prior"), stages), errors,
            self.learned(top.get("learned")))


def _shown(node: Node) -> str:
    if isinstance(node.value, str):
        return repr(node.value) if node.value else "empty"
    return "a list" if isinstance(node.value, list) else "a mapping"


def listed(names: list[str], most: int = 4) -> str:
    """Some names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _plain(node: Node):
    """The tree as plain data, numbers where a scalar reads as one."""
    if isinstance(node.value, dict):
        return {name: _plain(value) for name, value in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(value) for value in node.value]
    if node.value == "null":
        return None
    for kind in (int, float):
        try:
            value = kind(node.value)
        except ValueError:
            continue
        if abs(value) < (LARGEST_WHOLE if kind is int else math.inf):
            return value
    return node.value


_noted: set[str] = set()


def read_parameters(path: Path, layout: Layout, game: str, add_missing: bool = False) -> Parameters:
    """The parameters of a file; InputError names file and line. What only has to be known is logged as a warning, once."""
    reader = _Reader(Path(path), layout, game, add_missing)
    found = reader.read()
    for note in reader.notes:
        if note not in _noted:
            LOG.warning(one_line(note))
            _noted.add(note)
    return found


def completing(path: Path, layout: Layout) -> str:
    """The command that writes a file with the parameters that it lacks, under a name that is free."""
    words = ["tuner", "params", shown_name(path)]
    for file, _ in layout.files:
        words += ["--terms", file]
    free, k = f"{path.stem}-full.yaml", 2
    while os.path.lexists(free):
        free, k = f"{path.stem}-full-{k}.yaml", k + 1
    return shlex.join([*words, "--add-missing", "-o", free])


def shown_name(path: Path) -> str:
    """What to call a parameter file on a command line: a bundled one by its name."""
    path = Path(path)
    if not path.is_relative_to(BUNDLED):
        return str(path)
    return path.stem if path.parent.name == DEFAULT_GAME else f"{path.parent.name}/{path.stem}"


def untapered(p: Parameters) -> Parameters:
    """The same parameters with one stage, the mean of the stages they had; bounds and priors go on to hold."""
    return replace(p, stages=("all",), weights=p.weights.mean(axis=0, keepdims=True), standard_errors=None)


def tapered(p: Parameters, stages: tuple[str, ...]) -> Parameters:
    """Parameters of one stage with the same weights in each of several."""
    return replace(p, stages=stages, weights=p.weights.repeat(len(stages), axis=0), standard_errors=None)


def game_of(path: Path) -> str:
    """The game that a parameter file is for; InputError if it names none, or one that there is not."""
    root = read_tree(Path(path))
    if not isinstance(root.value, dict) or "game" not in root.value or not isinstance(root.value["game"].value, str):
        raise InputError(f"{path}:{root.line}: game is missing, expected for example `game: chess`")
    node = root.value["game"]
    if node.value not in available():
        raise InputError(f"{path}:{node.line}: unknown game {node.value!r}; available: {', '.join(available())}")
    return node.value


def missing_parameters(path: Path, layout: Layout, game: str) -> list[str]:
    """Names of the parameters that the file lacks."""
    reader = _Reader(Path(path), layout, game, True)
    reader.read()
    return reader.missing


def _number(value: float) -> str:
    if not abs(value) <= LARGEST_ERROR:
        return UNKNOWN
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _lines(values: np.ndarray, indent: str) -> list[str]:
    """A list on one line, a grid row by row with the last row on top."""
    if values.ndim == 0:
        return [_number(float(values))]
    if values.ndim == 1:
        return ["[" + ", ".join(_number(v) for v in values) + "]"]
    width = max(len(_number(v)) for v in values.ravel())
    rows = ["- [" + ", ".join(_number(v).rjust(width) for v in row) + "]" for row in values[::-1]]
    return ["", *(indent + row for row in rows)]


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


def _quoted(text: str) -> str:
    import yaml

    return yaml.safe_dump(plain_text(text), default_style='"', allow_unicode=True, width=1 << 20).strip()


def _limit(value: float) -> str:
    """A number with all its digits: rounded, low might no longer be below high."""
    text = f"{value:g}"
    return text if float(text) == value else repr(float(value))


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
        import yaml

        lines.append(yaml.safe_dump({"learned": _writable(p.learned)}, sort_keys=False, allow_unicode=True, width=110).rstrip())
    return "\n".join(lines) + "\n"


def _writable(plain):
    """Plain data without what is not read back: bytes of names that are no text, numbers that are none."""
    if isinstance(plain, dict):
        return {_writable(key): _writable(value) for key, value in plain.items()}
    if isinstance(plain, (list, tuple)):
        return [_writable(value) for value in plain]
    if isinstance(plain, float) and not math.isfinite(plain):
        return None
    return plain_text(plain) if isinstance(plain, str) else plain


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
