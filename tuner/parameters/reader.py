"""Read parameter files: their heading, their layout, their numbers. Everything is checked, and
errors name file and line."""

import logging
import math
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import available, find, scale_of, wording_of
from games.streams import InputError, one_line
from tuner.core.text import listed
from tuner.io.files import BUNDLED, bundled
from tuner.parameters.parameters import (
    DEFAULT_GAME,
    LARGEST_ERROR,
    LARGEST_SD,
    LARGEST_WEIGHT,
    MOST_COLUMNS,
    PHASES,
    SMALLEST_SD,
    UNKNOWN,
    Layout,
    Parameters,
    Place,
    Spans,
    fault_of_spans,
    in_order,
)
from tuner.parameters.yaml_tree import (
    Checks,
    YamlNode,
    comments_of,
    plain,
    read_source,
    read_tree,
    shown,
)


class Heading(NamedTuple):
    """The heading of a parameter file: game, whether another program counts the
    terms, names of the terms."""

    game: str
    of_rows: bool
    terms: tuple[str, ...]
    line: int  # of the game


def heading_of(path: Path) -> Heading:
    """Read the heading of a parameter file; InputError if the game is missing, or unknown although
    its rules are needed."""
    root = read_tree(Path(path))
    if (
        not isinstance(root.value, dict)
        or "game" not in root.value
        or not isinstance(root.value["game"].value, str)
    ):
        raise InputError(f"{path}:{root.line}: game is missing, expected for example `game: chess`")
    node, rows = root.value["game"], of_rows(root.value)
    if rows and not NAME.fullmatch(node.value):
        raise InputError(
            f"{path}:{node.line}: game is {one_line(node.value)[:40]!r}, expected a name"
        )
    if not rows and node.value not in available():
        raise InputError(
            f"{path}:{node.line}: unknown game {node.value[:40]!r}; available:"
            f" {', '.join(available())} (terms that another program counts need `terms: rows` in"
            " this file)"
        )
    weights = root.value.get("weights")
    names = tuple(weights.value) if weights is not None and isinstance(weights.value, dict) else ()
    return Heading(node.value, rows, names, node.line)


def game_of(path: Path) -> str:
    """Read the game of a parameter file; InputError if it is missing or unknown."""
    return heading_of(path).game


ROWS = "rows"  # the value of `terms`
NAME = re.compile(r"[^\W\d](?:[^.\[\]:*?,\"'\x00-\x1f\x7f]{0,98}[^.\[\]:*?,\"'\s\x00-\x1f\x7f])?")
MOST_DIMENSIONS = 8


def of_rows(top: dict[str, YamlNode]) -> bool:
    """Return whether the terms of a file, given by its top level, are counted by another
    program."""
    return "terms" in top and top["terms"].value == ROWS


def layout_of_file(checks: Checks, weights: YamlNode, stages: tuple[str, ...]) -> Layout:
    """Return names and shapes of the weights in the order of the file; InputError for a wrong name
    or an empty file."""
    places, last = list[Place](), 0
    for term, entries in checks.mapping(weights, "weights").items():
        for name, node in checks.mapping(entries, _named(checks, entries, term)).items():
            _named(checks, node, name)
            places.append(Place(term, name, _shape(checks, node, f"{term}.{name}", stages)))
            last += places[-1].size
            if last > MOST_COLUMNS:
                checks.fail(
                    node,
                    f"{places[-1].path} ends at number {last:,}, expected at most {MOST_COLUMNS:,}"
                    " in a file",
                )
    if not places:
        checks.fail(
            weights,
            "weights names no parameter; expected terms with parameters, such as `mobility:"
            " {knight: [0, 0]}`",
        )
    return Layout(in_order(places))


def _named(checks: Checks, node: YamlNode, name: str) -> str:
    if not NAME.fullmatch(name):
        checks.fail(
            node,
            f"{name[:40]!r} is not a name, expected a letter, then letters, digits, blanks, _ or -",
        )
    return name


def _shape(checks: Checks, node: YamlNode, what: str, stages: tuple[str, ...]) -> tuple[int, ...]:
    """Return the shape of a parameter, taken from its first stage; the reader compares the numbers
    with it."""
    if len(stages) > 1:
        entries = checks.mapping(node, what)
        if stages[0] not in entries:
            checks.fail(node, f"{what} lacks the stage {stages[0]}")
        node = entries[stages[0]]
    shape: list[int] = []
    while isinstance(node.value, list):
        shape.append(len(node.value))
        if not node.value or len(shape) > MOST_DIMENSIONS:
            checks.fail(
                node,
                f"{what} is {'an empty list' if not node.value else 'nested too deeply'}, expected"
                " numbers",
            )
        node = node.value[0]
    if isinstance(node.value, dict):
        checks.fail(node, f"{what} is {shown(node)}, expected a number or a list of numbers")
    return tuple(shape)


LOG = logging.getLogger(__name__)
NOTHING = (UNKNOWN, "null", "")
KEYS = (
    "game",
    "scale",
    "stages",
    "terms",
    "phases",
    "weights",
    "fixed",
    "tied",
    "symmetric",
    "bounds",
    "prior",
    "standard_errors",
    "optimum",
    "learned",
)
MOST_PHASES = 1 << 16  # one more than the most steps of the phase of rows
MOST_STAGES = 64
LEARNED_NUMBERS = (
    "games",
    "positions",
    "held_out_games",
    "held_out_positions",
    "loss_before",
    "loss_after",
    "held_out_before",
    "held_out_after",
)

_noted: set[str] = set()


class _Reader(Checks):
    """Turns the tree of one file into Parameters; errors name file and line."""

    def __init__(self, path: Path, layout: Layout | None, game: str, add_missing: bool) -> None:
        super().__init__(path)
        self.layout, self.game, self.add_missing = layout or Layout(()), game, add_missing
        self.of_rows, self.unit = layout is None, wording_of(game).unit
        self.present: frozenset[str] = frozenset()  # terms with weights
        self.missing: list[str] = []
        self.notes: list[str] = []
        self.is_error = False  # standard errors may be `~`, not negative, and larger than weights

    def weight(self, node: YamlNode, what: str) -> float:
        if self.is_error and node.value == UNKNOWN:
            return math.nan
        value = self.number(node, what)
        if self.is_error and not 0 <= value <= LARGEST_ERROR:
            self.fail(
                node,
                f"the standard error of {what} is {node.value}, expected 0 to {LARGEST_ERROR:g}, or"
                f" {UNKNOWN}",
            )
        if abs(value) > LARGEST_WEIGHT and not self.is_error:
            self.fail(
                node,
                f"{what} is {node.value}, expected {self.unit} between {-LARGEST_WEIGHT:g} and"
                f" {LARGEST_WEIGHT:g}",
            )
        return value

    def array(self, node: YamlNode, what: str, shape: tuple[int, ...]) -> np.ndarray:
        """Read numbers of a shape; grids have their last row on top."""
        if not shape:
            return np.array(self.weight(node, what))
        if not isinstance(node.value, list):
            self.fail(node, f"{what} is {shown(node)}, the term declares a list of {shape[0]}")
        if len(node.value) != shape[0]:
            kind = "rows" if len(shape) > 1 else "numbers"
            self.fail(node, f"{what} has {len(node.value)} {kind}, the term declares {shape[0]}")
        rows = [self.array(item, what, shape[1:]) for item in node.value]
        return np.array(rows[::-1] if len(shape) > 1 else rows)

    def weights(self, node: YamlNode, stages: tuple[str, ...], what: str) -> np.ndarray:
        """Read the (stages, columns) numbers under `weights` or `standard_errors`."""
        terms = self.mapping(node, what)
        known: dict[str, dict[str, Place]] = {}
        for place in self.layout.places:
            known.setdefault(place.term, {})[place.name] = place
        for name, term in terms.items():
            if name not in known:
                self.fail(
                    term,
                    f"unknown term {name!r}; known: {', '.join(known)} (a term of your own needs"
                    " --terms FILE, terms that another program counts need `terms: rows` in this"
                    " file)",
                )
            for inner, number in self.mapping(term, name).items():
                if inner not in known[name]:
                    self.fail(
                        number,
                        f"unknown parameter {name}.{inner}; {name} has: {', '.join(known[name])}",
                    )
        if not self.is_error:
            self.present = frozenset(terms)
            if not terms:
                self.fail(
                    node,
                    "weights names no term, so that nothing takes part in the evaluation; expected"
                    " a term",
                )
        result = np.zeros((len(stages), self.layout.size))
        for place in self.layout.places:
            if place.term not in terms and (place.term not in self.present or not self.is_error):
                continue  # takes no part
            value = (
                self.mapping(terms[place.term], place.term).get(place.name)
                if place.term in terms
                else None
            )
            if value is None:
                self.missing.append(place.path)
            elif len(stages) == 1:
                result[0, place.columns] = self.array(value, place.path, place.shape).ravel()
            else:
                self._stages(value, place, stages, result)
        if self.missing and not self.add_missing:
            self.fail(
                node,
                f"{what} lacks {listed(self.missing)}; `{completing(self.path, self.layout)}` adds"
                " zeros",
            )
        return result

    def term_files(self, node: YamlNode | None, weights: YamlNode) -> None:
        """Check the files of terms: InputError if the weights need one that was not named, a note
        if one has changed."""
        if node is None:
            return
        if not isinstance(node.value, list):
            self.fail(
                node, f"terms is {shown(node)}, expected a list of {{file: ..., sha256: ...}}"
            )
        known = {place.term for place in self.layout.places}
        lacking = isinstance(weights.value, dict) and any(
            name not in known for name in weights.value
        )
        given = {os.path.basename(file): sha256 for file, sha256 in self.layout.files}
        for item in node.value:
            entries = self.mapping(item, "an entry of terms")
            file, sha256 = (
                entries[key].value if key in entries else None for key in ("file", "sha256")
            )
            if (
                set(entries) != {"file", "sha256"}
                or not isinstance(file, str)
                or not file
                or not (isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256))
            ):
                self.fail(
                    item,
                    "an entry of terms is not {file: ..., sha256: ...} with a path and 64"
                    " hexadecimal digits",
                )
            if sha256 in given.values():
                continue
            if os.path.basename(file) in given:
                self.notes.append(
                    f"{self.path}:{item.line}: {os.path.basename(file)} has changed since this file"
                    " was written: its terms may count differently"
                )
            elif lacking:
                here = os.path.relpath(self.path.parent / file)
                path = here if os.path.exists(here) else file
                gone = "" if os.path.exists(path) else " (which does not exist)"
                self.fail(
                    item,
                    f"has weights of the terms in {os.path.basename(file)}; add --terms"
                    f" {shlex.quote(path)}{gone}",
                )

    def learned(self, node: YamlNode | None) -> dict:
        """Read `learned` as plain data; the entries that are used have the right types."""
        if node is None:
            return {}
        for key, value in self.mapping(node, "learned").items():
            if key in LEARNED_NUMBERS and value.value not in NOTHING:
                self.number(value, f"{key} of learned")
                if key == "held_out_after" and "held_out_before" not in node.value:
                    self.fail(
                        value, "learned has held_out_after without held_out_before, expected both"
                    )
            if key in ("data", "ratios") and not (
                isinstance(value.value, list)
                and all(isinstance(item.value, dict) for item in value.value)
            ):
                self.fail(value, f"{key} of learned is {shown(value)}, expected a list of mappings")
        return plain(node)

    def _stages(
        self, node: YamlNode, place: Place, stages: tuple[str, ...], result: np.ndarray
    ) -> None:
        entries = self.mapping(node, place.path)
        for stage, value in entries.items():
            if stage not in stages:
                self.fail(
                    value, f"unknown stage {place.path}.{stage}; the stages are {', '.join(stages)}"
                )
        for s, stage in enumerate(stages):
            if stage not in entries:
                self.fail(node, f"{place.path} lacks the stage {stage}")
            result[s, place.columns] = self.array(
                entries[stage], f"{place.path}.{stage}", place.shape
            ).ravel()

    def names(self, node: YamlNode | None, what: str, stages: tuple[str, ...]) -> tuple[str, ...]:
        if node is None:
            return ()
        items = node.value if isinstance(node.value, list) else [node]
        return tuple(self.name(item, item.value, what, stages) for item in items)

    def name(self, node: YamlNode, text: object, what: str, stages: tuple[str, ...]) -> str:
        if not isinstance(text, str) or not self.layout.matching(text, stages).any():
            self.fail(
                node,
                f"{what}: {shown(node) if not isinstance(text, str) else repr(text)} names no"
                " parameter",
            )
        return text

    def steps(self, node: YamlNode | None) -> int:
        """Read the steps of the phase."""
        if node is None:
            return PHASES
        value = self.number(node, "phases")
        if value != int(value) or not 0 < value < MOST_PHASES:
            self.fail(
                node, f"phases is {value:g}, expected a whole number from 1 to {MOST_PHASES - 1}"
            )
        return int(value)

    def stages(self, node: YamlNode) -> tuple[tuple[str, ...], Spans]:
        """Read the names of the stages, and the phases in which each is alone if they are given."""
        entries = node.value
        least, most = (2, MOST_STAGES) if isinstance(entries, dict) else (1, 2)
        if not isinstance(entries, (dict, list)) or not least <= len(entries) <= most:
            self.fail(
                node,
                "stages is missing or not a list of one or two names, such as [mg, eg], or 2 to"
                f" {MOST_STAGES} names with the phases in which each stage is alone, such as"
                " {opening: 24, middle: [10, 14], ending: 0}",
            )
        names: list[str] = []
        for item in entries:
            if not isinstance(item, YamlNode):
                item = YamlNode(item, node.line, node.start)
            if not isinstance(item.value, str) or not item.value.isidentifier():
                self.fail(item, f"a stage is {shown(item)}, expected a name such as mg")
            names.append(item.value)
        if len(set(names)) != len(names):
            self.fail(node, f"stages {names} repeat a name")
        spans = entries.items() if isinstance(entries, dict) else ()
        return tuple(names), tuple(self.span(value, name) for name, value in spans)

    def span(self, node: YamlNode, stage: str) -> tuple[int, int]:
        """Read a phase, or the first and the last of several."""
        given = node.value if isinstance(node.value, list) else [node]
        phases = [self.number(item, f"a phase of stage {stage}") for item in given]
        if len(phases) not in (1, 2) or any(value != int(value) for value in phases):
            self.fail(
                node,
                f"the phases of stage {stage} are {shown(node)}, expected a whole number such as"
                " 24, or the first and the last, such as [10, 14]",
            )
        return int(phases[0]), int(phases[-1])

    def bounds(self, node: YamlNode | None, stages: tuple[str, ...]) -> tuple:
        limits = []
        for name, value in (self.mapping(node, "bounds") if node else {}).items():
            self.name(value, name, "bounds", stages)
            if not isinstance(value.value, list) or len(value.value) != 2:
                self.fail(value, f"bounds of {name} are {shown(value)}, expected [low, high]")
            low, high = (self.weight(item, f"a bound of {name}") for item in value.value)
            if not low < high:
                self.fail(value, f"bounds of {name} are [{low:g}, {high:g}], expected low < high")
            limits.append((name, (low, high)))
        return tuple(limits)

    def prior(self, node: YamlNode | None, stages: tuple[str, ...]) -> tuple:
        priors = []
        for name, value in (self.mapping(node, "prior") if node else {}).items():
            self.name(value, name, "prior", stages)
            entries = self.mapping(value, f"prior of {name}")
            for key, inner in entries.items():
                if key not in ("mean", "sd"):
                    self.fail(
                        inner, f"unknown key {key!r} in the prior of {name}; expected mean, sd"
                    )
            if "sd" not in entries:
                self.fail(value, f"prior of {name} lacks sd, the standard deviation in {self.unit}")
            sd = self.number(entries["sd"], f"sd of the prior of {name}")
            if not SMALLEST_SD <= sd <= LARGEST_SD:
                self.fail(
                    entries["sd"],
                    f"sd of the prior of {name} is {sd:g}, expected {self.unit} between "
                    f"{SMALLEST_SD:g} and {LARGEST_SD:g}",
                )
            mean = (
                self.weight(entries["mean"], f"mean of the prior of {name}")
                if "mean" in entries
                else None
            )
            priors.append((name, (mean, sd)))
        return tuple(priors)

    def read(self) -> Parameters:
        source = read_source(self.path)
        root = source.root
        top = self.mapping(root, "the file")
        for key, node in top.items():
            if key not in KEYS:
                if {"encoding", "layers"} <= top.keys():
                    self.fail(
                        root,
                        "a network, expected a parameter file; tuner match, games, uci, eval,"
                        " selfplay and export --format c take networks",
                    )
                self.fail(node, f"unknown key {key!r}; expected {', '.join(KEYS)}")
        if "game" not in top or top["game"].value != self.game:
            node = top.get("game", root)
            self.fail(
                node, f"game is {shown(node) if 'game' in top else 'missing'}, expected {self.game}"
            )
        stages_node = top.get("stages", YamlNode([], root.line, root.start))
        stages, spans = self.stages(stages_node)
        if self.of_rows:
            if not of_rows(top):
                self.fail(
                    top.get("terms", root),
                    "terms is not `rows`, expected a file whose terms another program counts",
                )
        elif of_rows(top):
            self.fail(
                top["terms"],
                "another program counts these terms (`terms: rows`): their weights can be tuned and"
                " exported, but positions cannot be evaluated here",
            )
        elif "phases" in top:
            self.fail(
                top["phases"],
                f"phases has no use here: {self.game} has its own; only files with `terms: rows`"
                " give it",
            )
        elif len(stages) > 1 and not spans and stages != (expected := find(self.game).stages):
            self.fail(
                stages_node,
                f"stages are {list(stages)}, expected {list(expected)} for {self.game}, one name"
                " for all, or stages with their phases, such as"
                " {opening: 24, middle: [10, 14], ending: 0}",
            )
        if "weights" not in top:
            self.fail(root, "weights is missing")
        phases = None
        if self.of_rows:
            phases = self.steps(top.get("phases"))
            self.layout = layout_of_file(self, top["weights"], stages)
        else:
            self.term_files(top.get("terms"), top["weights"])
        scale = self.number(top["scale"], "scale") if "scale" in top else scale_of(self.game)
        if not 1e-6 < scale < 1:
            self.fail(
                top["scale"],
                f"scale is {scale:g}, expected about {scale_of(self.game)} "
                f"(the value of 100 {self.unit} is v = tanh(100 * scale))",
            )
        weights = self.weights(top["weights"], stages, "weights")
        beside: dict[str, np.ndarray] = {}
        missing = self.missing
        for what in ("standard_errors", "optimum"):
            if what in top:
                self.missing, self.is_error = [], what == "standard_errors"
                beside[what] = self.weights(top[what], stages, what)
        self.missing, self.is_error = missing, False
        tied = self.names(top.get("tied"), "tied", stages)
        parameters = Parameters(
            self.game,
            self.layout,
            stages,
            weights,
            scale,
            self.names(top.get("fixed"), "fixed", stages),
            self.bounds(top.get("bounds"), stages),
            self.prior(top.get("prior"), stages),
            beside.get("standard_errors"),
            self.learned(top.get("learned")),
            () if self.path.is_relative_to(BUNDLED) else comments_of(source),
            phases,
            tied,
            self.names(top.get("symmetric"), "symmetric", stages),
            spans,
            beside.get("optimum"),
        )
        if fault := fault_of_spans(parameters.staging) if spans else None:
            self.fail(stages_node, fault)
        for name in tied:
            chosen = parameters.mask((name,)).all(axis=0)
            if not chosen.any() or (weights[:, chosen] != weights[0, chosen]).any():
                self.fail(
                    top["tied"],
                    f"tied: {name} does not have the same numbers in all stages, expected a"
                    " parameter with one number for them",
                )
        for name in parameters.symmetric:
            leaders = replace(parameters, symmetric=(name,), tied=()).leaders()
            is_none = (leaders.ravel() == np.arange(leaders.size)).all()
            if is_none or (weights.ravel()[leaders] != weights).any():
                self.fail(
                    top["symmetric"],
                    f"symmetric: {name} is no table whose right half mirrors the left one",
                )
        if "prior" in top:
            self._check_priors(parameters, top["prior"])
        return parameters

    def _check_priors(self, found: Parameters, node: YamlNode) -> None:
        """Refuse means outside the bounds; note priors that do not count."""
        low, high = found.limits()
        taken, held = np.zeros(low.shape, np.bool_), found.mask(found.fixed)
        for name, (mean, _) in found.prior:
            chosen = found.mask((name,))
            if mean is not None and ((mean < low) | (mean > high))[chosen].any():
                self.fail(node, f"mean of the prior of {name} is {mean:g}, which is out of bounds")
            if (taken & chosen).any():
                self.notes.append(f"{name} has two priors; the last one counts")
            if (held & chosen).any():
                self.notes.append(f"{name} has a prior, which does not count for what is fixed")
            taken |= chosen


def completing(path: Path, layout: Layout) -> str:
    """The command that adds the missing parameters of a file and writes it under an unused name."""
    words = ["tuner", "params", shown_name(path)]
    for file, _ in layout.files:
        words += ["--terms", file]
    free, k = f"{path.stem}-full.yaml", 2
    while os.path.lexists(free):
        free, k = f"{path.stem}-full-{k}.yaml", k + 1
    return shlex.join([*words, "--add-missing", "-o", free])


def shown_name(path: Path) -> str:
    """The name of a parameter file on a command line: its path, or the short name of a bundled
    one."""
    path = Path(path)
    if path not in bundled().values():
        return str(path)
    return path.stem if path.parent.name == DEFAULT_GAME else f"{path.parent.name}/{path.stem}"


def read_parameters(
    path: Path, layout: Layout | None, game: str, add_missing: bool = False
) -> Parameters:
    """Read the parameters of a file; InputError names file and line. Notes go to standard error,
    each once.

    Terms that the file does not name get zeros: they take no part. `layout` is None for a file of
    rows, which has its own. `add_missing`: parameters that a term of the file lacks get zeros, too.
    """
    reader = _Reader(Path(path), layout, game, add_missing)
    parameters = reader.read()
    for note in reader.notes:
        if note not in _noted:
            LOG.warning(one_line(note))
            _noted.add(note)
    return parameters


def missing_parameters(path: Path, layout: Layout, game: str) -> list[str]:
    """Names of the parameters that the terms of the file lack."""
    reader = _Reader(Path(path), layout, game, True)
    reader.read()
    return reader.missing
