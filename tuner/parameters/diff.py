"""Compare parameter files: every number of each, its change from the first file, and the evidence
for it. Files with different terms are brought to one layout."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from tuner.io.terminal import coloured, number, show_lines, show_table, side_by_side, signed
from tuner.parameters.parameters import Layout, Parameters, Place, staged
from tuner.statistics.intervals import (
    FALSE_DISCOVERIES,
    NORMAL,
    Evidence,
    error_of_change,
    quantile,
    weigh,
)


def union_of(layouts: Sequence[Layout]) -> Layout:
    """Return the layout of all parameters, in the order of the first layout, then of the rest.
    ValueError names a parameter of two shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    by_term: dict[str, list[Place]] = {}
    for layout in layouts:
        for place in layout.places:
            if shapes.setdefault(place.path, place.shape) != place.shape:
                raise ValueError(place.path)
            some = by_term.setdefault(place.term, [])
            if all(other.name != place.name for other in some):
                some.append(place)
    places, first = [], 0
    for place in (place for some in by_term.values() for place in some):
        places.append(replace(place, first=first))
        first += place.size
    return Layout(tuple(places), layouts[0].files, layouts[0].phases)


def aligned(p: Parameters, layout: Layout) -> Parameters:
    """Return the parameters in another layout, with zeros for those that they lack, without
    constraints except numbers that are tied."""
    if p.layout == layout:
        return p
    known = {(place.path, place.shape): place.columns for place in p.layout.places}
    numbers: dict[str, Any] = {}
    for name in ("weights", "standard_errors", "optimum"):
        if (own := getattr(p, name)) is not None:
            found = numbers[name] = np.zeros((len(p.stages), layout.size))
            for place in layout.places:
                if (columns := known.get((place.path, place.shape))) is not None:
                    found[:, place.columns] = own[:, columns]
    return replace(
        p,
        layout=layout,
        **numbers,
        fixed=(),
        bounds=(),
        prior=(),
    )


AGREES = 0.01  # largest difference between recorded and computed ratios
LARGEST_RATIO = 1e6


def headline(p: Parameters) -> dict | None:
    """Return `unit`, the first number, and `values`, the ratios of the rest to it, as means over
    the stages.

    `low` and `high` are the 95 % interval recorded in `learned`, None if there is none or if it
    does not belong to these weights. A ratio is None if the unit is not positive. Returns None for
    fewer than two numbers, and for games whose first term has no unit."""
    places = p.layout.headline
    if len(places) < 2 or not p.wording.ratios:
        return None
    unit, *others = [(place.path, float(p.weights[:, place.first].mean())) for place in places]
    known = _intervals(p.learned, unit[0])
    values = []
    for path, value in others:
        ratio = value / unit[1] if unit[1] > 0 else None
        recorded, low, high = known.get(path, (math.nan, None, None))
        agrees = ratio is not None and abs(recorded - ratio) <= AGREES * max(1.0, abs(ratio))
        values.append(
            {
                "parameter": path,
                "ratio": None if ratio is None else round(ratio, 4),
                "low": low if agrees else None,
                "high": high if agrees else None,
            }
        )
    return {"unit": unit[0], "values": values}


def _intervals(learned: object, unit: str) -> dict[str, tuple[float, float, float]]:
    """Return ratio, low and high by parameter; entries of another form are ignored, because people
    edit files."""
    lines = learned.get("ratios") if isinstance(learned, dict) else None
    found: dict[str, tuple[float, float, float]] = {}
    for line in lines if isinstance(lines, list) else []:
        if (
            isinstance(line, dict)
            and line.get("to") == unit
            and isinstance(line.get("parameter"), str)
        ):
            given = [line.get(key) for key in ("ratio", "low", "high")]
            numbers = [
                float(number)
                for number in given
                if isinstance(number, (int, float)) and abs(number) < LARGEST_RATIO
            ]
            if len(numbers) == 3:
                ratio, low, high = numbers
                found[line["parameter"]] = ratio, low, high
    return found


def summary(parameters: Parameters) -> dict:
    """Return the summary as plain data."""
    terms: dict[str, int] = {}
    for place in parameters.layout.places:
        terms[place.term] = terms.get(place.term, 0) + place.size
    return {
        "game": parameters.game,
        "stages": list(parameters.stages),
        "scale": parameters.scale,
        "parameters": parameters.layout.size,
        "terms": terms,
        "fixed": list(parameters.fixed),
        "phases": parameters.phases,
    }


def line(parameters: Parameters) -> str:
    """Return game, size, stages and scale in a line."""
    rows = (
        f", counted by another program in {parameters.phases} steps of the phase"
        if parameters.of_rows
        else ""
    )
    return (
        f"{parameters.game}, {parameters.layout.size} parameters x {len(parameters.stages)} stages,"
        f" scale {parameters.scale:g}{rows}"
    )


def terms_line(parameters: Parameters) -> str:
    """Return the terms in a line, each with how many numbers it has."""
    return ", ".join(f"{name} {size}" for name, size in summary(parameters)["terms"].items())


SHOWN_CHANGES = 20  # changes that are shown first


def reach(p: Parameters) -> float:
    """Return half the width of a 95 % interval, in standard errors of a file."""
    games = p.learned.get("games")
    return quantile(games) if isinstance(games, int) and p.standard_errors is not None else NORMAL


@dataclass(frozen=True)
class Comparison:
    """Files of the same layout and stages, compared with the first of them.

    `change` and the arrays of `evidence` have shape (files - 1, stages, columns); changes are in
    centipawns. The evidence is that of the estimates (`Parameters.estimate`)."""

    files: tuple[Parameters, ...]
    change: np.ndarray
    evidence: Evidence

    @property
    def layout(self) -> Layout:
        return self.files[0].layout

    @property
    def stages(self) -> tuple[str, ...]:
        return self.files[0].stages

    @cached_property
    def is_pair(self) -> bool:
        return len(self.files) == 2

    @cached_property
    def steps(self) -> bool:
        """Whether the second of two files went part of the way to its optimum."""
        return self.is_pair and self.files[1].estimate is not self.files[1].weights

    @cached_property
    def own_errors(self) -> bool:
        """Whether the first file has standard errors, so that changes have errors of their own."""
        return self.files[0].standard_errors is not None

    @cached_property
    def known(self) -> list[bool]:
        """Whether changes have errors, for each file after the first."""
        return [errors_known(self.files[0], p) for p in self.files[1:]]

    def stage_of(self, k: int, s: int, column: int) -> str | None:
        """Return the stage of a change; None for a number that is one for all stages."""
        return None if self.evidence.repeated[k, -1, column] else self.stages[s]

    def places(self, grids: bool) -> list[Place]:
        """Return the places of tables, or else those of single numbers and lists."""
        return [place for place in self.layout.places if (len(place.shape) == 2) == grids]

    def moved(self, least: float) -> np.ndarray:
        """Return (stages, columns) bool: numbers that moved by `least` centipawns or more in some
        file."""
        return (np.abs(self.change) >= least).any(axis=0)


def compare(files: Sequence[Parameters]) -> Comparison:
    """Compare files with the first; the rest has the same stages. A first file with different
    stages is converted: to the mean of its stages, or to its weights in the middle of each
    stage."""
    first, *others = files
    first = staged(first, others[0].stages, others[0].spans)
    change = np.round([p.weights - first.weights for p in others], 4)
    error = np.array(
        [
            (
                error_of_change(first.standard_errors, p.standard_errors, p.weights.shape)
                if errors_known(first, p)
                else np.full(p.weights.shape, np.nan)
            )
            for p in others
        ]
    )
    furthest = np.array([max(reach(first), reach(p)) for p in others])[:, None, None]
    repeated = np.array([_one_number(first, p) for p in others])[:, None] & (
        np.arange(len(first.stages))[:, None] > 0
    )
    tested = np.round([p.estimate - first.estimate for p in others], 4)
    return Comparison((first, *others), change, weigh(tested, error, furthest, repeated))


def _one_number(first: Parameters, other: Parameters) -> np.ndarray:
    """Return (columns,) bool: numbers of the second file that are one for all stages, in both
    files."""
    return other.mask(other.tied).all(axis=0) & np.all(first.weights == first.weights[0], axis=0)


def errors_known(first: Parameters, other: Parameters) -> bool:
    """Whether changes between two files have errors, from the standard errors of both. A file
    without any counts as exact if it is the first or was written by hand, but not if it was learned
    without standard errors, as by self-play."""
    if other.standard_errors is None:
        return first.standard_errors is not None and not other.learned
    return True


def largest(found: Comparison) -> list[tuple[int, int, int]]:
    """Return the SHOWN_CHANGES largest changes that the data support, of all if none can be tested:
    (index of the file after the first, stage, column)."""
    tested = any(found.known)
    chosen = found.evidence.supported if tested else found.change != 0
    places = np.argwhere(chosen & ~found.evidence.repeated)
    sizes = np.abs(found.change[tuple(places.T)])
    return [
        tuple(place) for place in places[np.argsort(-sizes, kind="stable")[:SHOWN_CHANGES]].tolist()
    ]


def errors_used(found: Comparison) -> list[str]:
    """Return sentences on the errors by which changes are tested."""
    first, *others = found.files
    if not any(found.known):
        lost = [p for p in others if p.standard_errors is None and p.learned]
        return [
            (
                "the learned file has no standard errors, so its changes cannot be tested"
                if lost
                else "the files have no standard errors, so their changes cannot be tested"
            )
        ]
    lines, errors = [], [p for p in others if p.standard_errors is not None]
    if not found.own_errors:
        lines.append(
            "errors of changes come from the learned file; the initial file has none and counts"
            " as exact"
        )
    elif not errors:
        lines.append(
            "errors of changes come from the initial file; the learned file has none and counts as"
            " exact"
        )
    else:
        lines.append(
            "errors of changes are sqrt(a^2 + b^2), from the errors a and b of both files, as for"
            " independent games"
        )
        name = shared_sources([first, *errors])
        if name is not None:
            lines.append(
                f"but two files were learned from {name}: their errors are not independent, and"
                " errors of changes are probably too large"
            )
    if any(p.optimum is not None for p in errors):
        lines.append(
            "learned numbers went part of the way to those that predict results best, the optimum:"
            " +/- and marks are those of the optimum"
        )
    if not all(found.known):
        lines.append(
            "the changes of a file learned without standard errors cannot be tested and have no"
            " marks"
        )
    return lines


def differences(found: Comparison, supported: bool = False) -> dict:
    """Return the comparison as plain data: `rows` for single numbers and lists, `grids` for tables,
    last row first.

    For two files an entry has `initial` and `learned`, for more it has lists. A standard error is
    None if the file has none or does not identify the number (`identified`), 0 if the number was
    kept constant. `significant` is a change beyond its 95 % interval, `supported` one that passes
    the test at a false discovery rate of 5 %; None if it was not tested. `largest` names the
    largest changes, of those that are supported if any can be tested; its stage is None for a
    number that is tied, which counts once. With `supported`, rows and
    tables without such a change are left out.
    """
    chosen = (
        np.asarray(found.evidence.supported.any(axis=0))
        if supported
        else np.ones(found.files[0].weights.shape, np.bool_)
    )
    scales, labels = [p.scale for p in found.files], found.layout.labels()
    return {
        "game": found.files[0].game,
        "stages": list(found.stages),
        **(
            {"scale": {"initial": scales[0], "learned": scales[1]}}
            if found.is_pair
            else {"scales": scales}
        ),
        "headline": [headline(p) for p in found.files],
        "tested": found.evidence.count(found.evidence.tested),
        "significant": found.evidence.count(found.evidence.significant),
        "supported": found.evidence.count(found.evidence.supported),
        "false_discovery_rate": FALSE_DISCOVERIES,
        "largest": [
            {
                "parameter": labels[i],
                "stage": found.stage_of(k, s, i),
                "change": float(found.change[k, s, i]),
                **({} if found.is_pair else {"file": k + 1}),
            }
            for k, s, i in largest(found)
        ],
        "rows": [
            {
                "parameter": label,
                **{
                    stage: _entry(found, s, place.first + i) for s, stage in enumerate(found.stages)
                },
            }
            for place in found.places(False)
            for i, label in enumerate(place.labels())
            if chosen[:, place.first + i].any()
        ],
        "grids": [
            {"parameter": place.path, "stage": stage, **_grid(found, s, place)}
            for place in found.places(True)
            for s, stage in enumerate(found.stages)
            if chosen[s, place.columns].any()
        ],
    }


def _entry(found: Comparison, s: int, column: int) -> dict:
    values = [float(p.weights[s, column]) for p in found.files]
    errors = [
        None if p.standard_errors is None else float(p.standard_errors[s, column])
        for p in found.files
    ]
    known = [None if error is None or np.isnan(error) else error for error in errors]
    identified = [None if error is None else not np.isnan(error) for error in errors]
    intervals = [
        np.round(p.estimate[s, column] + reach(p) * error * np.array([-1, 1]), 4).tolist()
        if error
        else None
        for p, error in zip(found.files, known, strict=True)
    ]
    changes = [_change(found, k, s, column) for k in range(len(values) - 1)]
    if found.is_pair:
        return {
            "initial": values[0],
            "learned": values[1],
            **changes[0],
            "initial_standard_error": known[0],
            "standard_error": known[1],
            "identified": identified[1],
            "interval": intervals[1],
        }
    return {
        "values": values,
        "standard_errors": known,
        "identified": identified,
        "intervals": intervals,
        "changes": changes,
    }


def _change(found: Comparison, k: int, s: int, column: int) -> dict:
    before, change, e = (
        float(found.files[0].weights[s, column]),
        float(found.change[k, s, column]),
        found.evidence,
    )
    tested = bool(e.tested[k, s, column])
    return {
        "change": change,
        "percent": percent(before, change),
        "change_error": _known(e.error[k, s, column]),
        "significant": bool(e.significant[k, s, column]) if tested else None,
        "supported": bool(e.supported[k, s, column]) if tested else None,
    }


def percent(before: float, change: float) -> float | None:
    """Return a change in percent of the number before; None if that was zero."""
    return round(100 * change / abs(before), 2) if before else None


def _grid(found: Comparison, s: int, place: Place) -> dict:
    values, errors, changes = [], [], []
    for p in found.files:
        values.append(on_board(p.weights[s], place).tolist())
        errors.append(
            None if p.standard_errors is None else _knowns(on_board(p.standard_errors[s], place))
        )
    for k in range(len(found.change)):
        part = {
            name: on_board(array[k, s], place)
            for name, array in (
                ("change", found.change),
                ("error", found.evidence.error),
                ("tested", found.evidence.tested),
                ("significant", found.evidence.significant),
                ("supported", found.evidence.supported),
            )
        }
        marks = {
            name: np.where(part["tested"], part[name], np.array(None)).tolist()
            for name in ("significant", "supported")
        }
        changes.append(
            {"change": part["change"].tolist(), "change_error": _knowns(part["error"]), **marks}
        )
    if found.is_pair:
        return {
            "initial": values[0],
            "learned": values[1],
            **changes[0],
            "initial_standard_error": errors[0],
            "standard_error": errors[1],
        }
    return {"values": values, "standard_errors": errors, "changes": changes}


def on_board(numbers: np.ndarray, place: Place) -> np.ndarray:
    """Return the numbers of a table, last row first, as a board is seen by its owner."""
    return numbers[place.columns].reshape(place.shape)[::-1]


def _known(error: float) -> float | None:
    return None if np.isnan(error) else round(float(error), 4)


def _knowns(errors: np.ndarray) -> list[list[float | None]]:
    return [[_known(error) for error in row] for row in errors]


def shared_sources(files: Sequence[Parameters]) -> str | None:
    """Return the name of a file of games that two learned files were learned from, by its hash;
    None if there is none."""
    seen: dict[str, str] = {}
    for p in files:
        mine = {}
        data = p.learned.get("data") if isinstance(p.learned, dict) else None
        for source in data if isinstance(data, list) else []:
            if isinstance(source, dict) and len(str(source.get("sha256", ""))) == 64:
                mine[str(source["sha256"])] = str(source.get("file", "a file"))
        both = next((name for key, name in mine.items() if key in seen), None)
        if both is not None:
            return both
        seen |= mine
    return None


UNIDENTIFIED, UNSUPPORTED, MARK = "?", ".", "*"
Cell = str | Text


@dataclass(frozen=True)
class View:
    """What to show: numbers that moved by `least` centipawns or more, only `supported` ones if set;
    the files' `names`; `brief`: the largest changes and the ratios alone."""

    names: tuple[str, ...]
    least: float
    supported: bool
    markdown: bool
    brief: bool = False

    @property
    def title(self) -> str:
        return (
            " -> ".join(self.names)
            if len(self.names) == 2
            else ", ".join(
                f"{letter} = {name}"
                for letter, name in zip(string.ascii_uppercase, self.names, strict=False)
            )
        )


def show(console: Console, found: Comparison, view: View) -> None:
    """Print the comparison."""
    _largest(console, found, view)
    _headline(console, found, view)
    if not view.brief:
        _details(console, found, view)
        return
    with console.capture() as captured:
        _details(console, found, view)
    show_lines(console, f"{captured.get().count(chr(10)):,} more lines: --show all")


def _details(console: Console, found: Comparison, view: View) -> None:
    """Print every number that moved, and what the marks mean."""
    chosen = found.moved(view.least)
    if view.supported:
        chosen &= found.evidence.supported.any(axis=0)
    hidden = _rows(console, found, view, chosen)
    for place in found.places(True):
        for s, stage in enumerate(found.stages):
            if chosen[s, place.columns].any():
                name = f"{place.path} {stage}"
                show_lines(
                    console,
                    f"**{name}**\n" if view.markdown else name,
                    *side_by_side(_blocks(found, view, s, place), console.width, view.markdown),
                    "",
                )
    notes = _notes(found, view, hidden)
    if view.markdown:
        notes = [note.replace("\n ", "").replace(MARK, "\\" + MARK) + "\n" for note in notes]
    show_lines(console, *notes)


def _largest(console: Console, found: Comparison, view: View) -> None:
    """Print the largest changes, those that the data support if changes can be tested, or one
    sentence if there are none."""
    places, known = largest(found), any(found.known)
    evidence = found.evidence
    tested, supported = evidence.count(evidence.tested), evidence.count(evidence.supported)
    if not known:
        show_lines(console, errors_used(found)[0], "")
    elif not places:
        why = (
            f"the data support none of the {tested:,} changes: each may be due to chance"
            if tested
            else "no change can be tested: every number was kept constant or is not identified"
        )
        show_lines(console, why, "")
    if not places:
        return
    changes = supported if known else evidence.count(found.change != 0)
    labels = found.layout.labels()
    rows: list[list[Cell]] = []
    for k, s, i in places:
        name = " ".join(filter(None, (labels[i], found.stage_of(k, s, i)))) + (
            "" if found.is_pair else f", {string.ascii_uppercase[k + 1]}"
        )
        change, error = (
            float(found.change[k, s, i]),
            float((evidence.reach * evidence.error)[k, s, i]),
        )
        rows.append(
            [
                name,
                number(float(found.files[0].weights[s, i])),
                number(float(found.files[k + 1].weights[s, i])),
                coloured(signed(change)),
                *([_error(error)] if known else []),
            ]
        )
    ends = ["initial", "learned"] if found.is_pair else ["A", "other"]
    count = (
        f"the {len(rows)} largest of {changes:,} changes"
        if changes > len(rows)
        else (f"all {changes} changes" if changes > 1 else "the one change")
    )
    letters = "" if found.is_pair else f" ({view.title})"
    show_table(
        console,
        f"{count}{' that the data support' * known}{letters}",
        ["", *ends, "change", *(["+/-"] if known else [])],
        rows,
        view.markdown,
    )


def _headline(console: Console, found: Comparison, view: View) -> None:
    """Print the ratios of the first term's numbers to the first of them, a column for each file."""
    # of all files or of none: the layout is one
    lines = [line for p in found.files if (line := headline(p)) is not None]
    if not lines or all(value["ratio"] is None for line in lines for value in line["values"]):
        return
    heads = ["initial", "learned"] if found.is_pair else string.ascii_uppercase[: len(lines)]
    mean = (
        ""
        if len(found.stages) == 1
        else f", mean of {', '.join(found.stages[:-1])} and {found.stages[-1]}"
    )
    title = f"in units of {lines[0]['unit']}{mean}"
    show_table(
        console,
        title if found.is_pair else f"{view.title}: {title}",
        ["", *heads],
        [
            [values[0]["parameter"], *(_ratio(value) for value in values)]
            for values in zip(*(line["values"] for line in lines), strict=True)
        ],
        view.markdown,
    )


def _ratio(value: dict) -> str:
    interval = "" if value["low"] is None else f" [{value['low']:.2f}, {value['high']:.2f}]"
    return number(value["ratio"], 2) + interval


def _rows(console: Console, found: Comparison, view: View, chosen: np.ndarray) -> int:
    """Print the single numbers; return how many are hidden."""
    columns = [
        i for place in found.places(False) for i in range(place.first, place.first + place.size)
    ]
    shown = [i for i in columns if chosen[:, i].any()]
    if not shown:
        if not view.supported:  # else the table of the largest changes says it
            what = f"no single number moved by {view.least:g} centipawns or more"
            show_lines(console, f"{view.title}: {what}", "")
        return len(columns)
    stages, one_by_one = range(len(found.stages)), [[s] for s in range(len(found.stages))]
    for group in (
        [stages]
        if found.is_pair and not found.own_errors and _fits(console, found, view, shown)
        else one_by_one
    ):
        heads, cells = _table(found, view, shown, group)
        title = (
            view.title if len(group) == len(stages) else f"{view.title}: {found.stages[group[0]]}"
        )
        show_table(console, title, heads, cells, view.markdown, narrow=True)
    return len(columns) - len(shown)


def _table(
    found: Comparison, view: View, shown: Sequence[int], group: Sequence[int]
) -> tuple[list[str], list[list[Cell]]]:
    """Return headings and rows of the numbers, with some stages side by side."""
    labels = found.layout.labels_with_units()
    heads = [found.files[0].wording.unit, *(head for s in group for head in _heads(found, s))]
    return heads, [
        [labels[i], *(cell for s in group for cell in _cells(found, view, s, i))] for i in shown
    ]


def _fits(console: Console, found: Comparison, view: View, shown: Sequence[int]) -> bool:
    """Whether the console has room for all stages side by side."""
    heads, rows = _table(found, view, shown, range(len(found.stages)))
    width = sum(max(map(len, column)) + 1 for column in zip(heads, *rows, strict=True)) - 1
    return view.markdown or width <= console.width


def _heads(found: Comparison, s: int) -> list[str]:
    """Return the headings of the cells of one stage."""
    first, *others = found.files
    if found.is_pair:
        ends = [*["optimum"] * found.steps, "+/-"] if found.known[0] else []
        return (
            [found.stages[s], "+/-", "learned", "+/-", "change", "%", *ends]
            if found.own_errors
            else [found.stages[s], "learned", "change", "%", *ends]
        )
    heads = ["A", "+/-"] if found.own_errors else ["A"]
    for letter, p in zip(string.ascii_uppercase[1:], others, strict=False):
        heads += (
            [letter, "+/-", f"{letter}-A"]
            if p.standard_errors is not None
            else [letter, f"{letter}-A"]
        )
    return heads


def _cells(found: Comparison, view: View, s: int, i: int) -> list[Cell]:
    """Return the cells of a number in one stage, in the order of `_heads`."""
    values = [float(p.weights[s, i]) for p in found.files]
    errors = [
        None if p.standard_errors is None else reach(p) * float(p.standard_errors[s, i])
        for p in found.files
    ]
    marks = found.evidence.supported if view.supported else found.evidence.significant
    middle: list[Cell]
    if found.is_pair:
        change, margin = (
            float(found.change[0, s, i]),
            float((found.evidence.reach * found.evidence.error)[0, s, i]),
        )
        if view.supported and not marks[0, s, i]:
            middle = [UNSUPPORTED, ""]
        else:
            part = percent(values[0], change)
            middle = [
                coloured(signed(change) + MARK * bool(marks[0, s, i])),
                coloured((signed(part, 0) or "0") if signed(change) else ""),
            ]
        optimum = [number(float(found.files[1].estimate[s, i]))] * found.steps
        ends = [*optimum, _error(margin)] if found.known[0] else []
        if found.own_errors:
            return [
                number(values[0]),
                _error(errors[0]),
                number(values[1]),
                _error(errors[1]),
                *middle,
                *ends,
            ]
        return [number(values[0]), number(values[1]), *middle, *ends]
    cells: list[Cell] = [number(values[0]), *([] if errors[0] is None else [_error(errors[0])])]
    for k, (value, error) in enumerate(zip(values[1:], errors[1:], strict=True)):
        dotted = view.supported and not marks[k, s, i]
        cells += [
            number(value),
            *([] if error is None else [_error(error)]),
            (
                UNSUPPORTED
                if dotted
                else coloured(signed(float(found.change[k, s, i])) + MARK * bool(marks[k, s, i]))
            ),
        ]
    return cells


def _error(error: float | None, digits: int = 1) -> str:
    """Format half of a 95 % interval."""
    if error is None:
        return ""
    if np.isnan(error):
        return UNIDENTIFIED
    if error == 0:
        return "held"
    return number(error, digits) if error >= 0.5 * 10**-digits else f"<{10**-digits:g}"


def _blocks(
    found: Comparison, view: View, s: int, place: Place
) -> list[tuple[str, list[list[Cell]]]]:
    """Return the grids of a table: initial, learned, change and error for two files; the values of
    each for more."""
    marks = found.evidence.supported if view.supported else found.evidence.significant

    def grid(k: int, numbers: np.ndarray, text) -> list[list[Cell]]:
        """Return cells by `text(number, marked)`; if only supported changes are shown, without the
        rest of file k."""
        pairs = zip(on_board(numbers, place), on_board(marks[max(k, 1) - 1, s], place), strict=True)
        return [
            [
                UNSUPPORTED if view.supported and k and not marked else text(value, bool(marked))
                for value, marked in zip(*pair, strict=True)
            ]
            for pair in pairs
        ]

    def plain(value: float, marked: bool) -> str:
        return number(value, 0)

    def moved(value: float, marked: bool) -> Text:
        return coloured((signed(value, 0) or "0") + MARK * marked)

    weights = [p.weights[s] for p in found.files]
    if found.is_pair:
        blocks = [
            ("initial", grid(0, weights[0], plain)),
            ("learned", grid(1, weights[1], plain)),
            ("change", grid(1, found.change[0, s], moved)),
        ]
        if found.known[0]:
            errors = (found.evidence.reach * found.evidence.error)[0, s]
            if found.steps:
                blocks.append(("optimum", grid(1, found.files[1].estimate[s], plain)))
            blocks.append(("+/-", grid(1, errors, lambda error, marked: _error(error, 0))))
        return blocks
    return [
        ("A", grid(0, weights[0], plain)),
        *(
            (letter, grid(k, weights[k], lambda value, marked: number(value, 0) + MARK * marked))
            for k, letter in enumerate(string.ascii_uppercase[1 : len(weights)], 1)
        ),
    ]


def _notes(found: Comparison, view: View, hidden: int) -> list[str]:
    """Return lines on what the marks mean and what is hidden."""
    evidence, notes = found.evidence, []
    tested = evidence.count(evidence.tested)
    if any(p.standard_errors is not None for p in found.files):
        notes.append(
            f"+/- is a 95 % interval; {UNIDENTIFIED}: not identified by the games; held: kept"
            " constant"
        )
    if tested and view.supported:
        notes.append(
            f"{MARK} the data support {evidence.count(evidence.supported):,} of {tested:,} changes;"
            " of these at most 5 % are false on average\n  (Benjamini-Hochberg over all identified"
            " numbers, two-sided normal p values)"
        )
    elif tested:
        notes.append(
            f"{MARK} more than {np.max(evidence.reach):.2f} standard errors:"
            f" {evidence.count(evidence.significant):,} of {tested:,} changes, of which up to"
            f" {0.05 * tested:.0f} by chance; see --show supported"
        )
    if any(found.known):  # else it was said first
        notes += errors_used(found)
    if hidden and view.supported:
        notes.append(
            f"{hidden} single numbers are hidden; in tables {UNSUPPORTED} is a number without a"
            " supported change"
        )
    elif hidden:
        unit = found.files[0].wording.unit
        notes.append(
            f"{hidden} numbers that moved by less than {view.least:g} {unit} are hidden; --show 0"
            " shows them"
        )
    return notes
