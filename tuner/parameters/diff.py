"""Compare parameter files: every number of each, its change from the first file, and the evidence
for it. Files with different terms are brought to one layout."""

import contextlib
import math
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from games.streams import InputError
from tuner.core.estimates import NORMAL, ONE_SIDED, Estimate, Ratio, reach_of
from tuner.core.records import convert, round_finite, to_json
from tuner.core.text import number, plural, signed
from tuner.io.terminal import coloured, show_lines, show_table, side_by_side
from tuner.parameters.parameters import Layout, Parameters, Place, in_order, staged
from tuner.statistics.intervals import (
    FALSE_DISCOVERIES,
    Evidence,
    error_of_change,
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
    places = in_order(place for some in by_term.values() for place in some)
    return Layout(places, layouts[0].files, layouts[0].phases)


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


def headline(p: Parameters) -> dict | None:
    """Return `unit`, the first number, and `values`, the ratios of the rest to it, as means over
    the stages.

    Their intervals are those recorded in `learned`, if they belong to these weights. A ratio is
    unknown if the unit is not positive. Returns None for fewer than two numbers, and for games
    whose first term has no unit."""
    places = p.layout.headline
    if len(places) < 2 or not p.wording.ratios:
        return None
    unit, *others = [(place.path, float(p.weights[:, place.first].mean())) for place in places]
    known = _intervals(p.learned, unit[0])
    values = []
    for path, value in others:
        ratio = value / unit[1] if unit[1] > 0 else math.nan
        recorded = known.get(path, Estimate())
        agrees = abs(recorded.value - ratio) <= AGREES * max(1.0, abs(ratio))
        estimate = replace(recorded, value=ratio) if agrees else Estimate(ratio)
        values.append(Ratio(path, unit[0], estimate.rounded(4)))
    return {"unit": unit[0], "values": values}


def _intervals(learned: object, unit: str) -> dict[str, Estimate]:
    """Return ratios by parameter; entries of another form are ignored, because people edit
    files."""
    lines = learned.get("ratios") if isinstance(learned, dict) else None
    intervals = {}
    for line in lines if isinstance(lines, list) else []:
        with contextlib.suppress(InputError):
            ratio = convert(line, Ratio, "")
            if ratio.to == unit:
                intervals[ratio.parameter] = ratio.ratio
    return intervals


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
        f"{parameters.game}, {plural(parameters.layout.size, 'parameter')} x"
        f" {len(parameters.stages)} stages,"
        f" scale {parameters.scale:g}{rows}"
    )


def terms_line(parameters: Parameters) -> str:
    """Return the terms in a line, each with how many numbers it has."""
    return ", ".join(f"{name} {size}" for name, size in summary(parameters)["terms"].items())


SHOWN_CHANGES = 20  # changes that are shown first


def reach(p: Parameters) -> float:
    """Return half the width of a 95 % interval, in standard errors of a file."""
    games = p.learned.get("games")
    known = reach_of(games) if isinstance(games, int) and p.standard_errors is not None else NORMAL
    drawn = freedom(p)
    return max(known, reach_of(int(drawn) + 1)) if drawn < math.inf else known


def interval(p: Parameters, s: int, column: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a number of a file with standard errors, one-sided at a bound;
    None if it has none."""
    assert p.standard_errors is not None, "the file has errors"
    error, value = float(p.standard_errors[s, column]), float(p.estimate[s, column])
    if not error > 0:
        return None
    half, side = reach(p) * error, p.at_bound[s, column]
    low, high = (half, half) if side == 0 else ((side > 0) * half, (side < 0) * half)
    narrower = 1.0 if side == 0 else ONE_SIDED
    return round(value - low * narrower, 4), round(value + high * narrower, 4)


def freedom(p: Parameters) -> float:
    """Return the degrees of freedom of standard errors: the random vectors that they are from."""
    draws = p.learned.get("error_draws")
    return draws if isinstance(draws, int) and draws > 0 else math.inf


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

    def steps(self, k: int) -> bool:
        """Whether a file after the first went part of the way to its optimum."""
        return self.files[k + 1].estimate is not self.files[k + 1].weights

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
        """Return the places of tables, or else those of single numbers and lists; of tables with
        more than two indices their boards."""
        places = [board for place in self.layout.places for board in place.boards()]
        return [place for place in places if (len(place.shape) == 2) == grids]

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
            np.where(
                (first.at_bound != 0) | (p.at_bound != 0),  # no error to both sides
                np.nan,
                error_of_change(first.standard_errors, p.standard_errors, p.weights.shape)
                if errors_known(first, p)
                else np.nan,
            )
            for p in others
        ]
    )
    furthest = np.array([max(reach(first), reach(p)) for p in others])[:, None, None]
    repeated = np.array([_one_number(first, p) for p in others])[:, None] & (
        np.arange(len(first.stages))[:, None] > 0
    )
    tested = np.round([p.estimate - first.estimate for p in others], 4)
    least = min(map(freedom, files))
    return Comparison((first, *others), change, weigh(tested, error, furthest, repeated, least))


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
        "headline": to_json([headline(p) for p in found.files]),
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
    intervals = [None if p.standard_errors is None else interval(p, s, column) for p in found.files]
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
        "change_error": round_finite(e.error[k, s, column], 4),
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


def _knowns(errors: np.ndarray) -> list[list[float | None]]:
    return [[round_finite(error, 4) for error in row] for row in errors]


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
Marked = Callable[[float, bool], Cell]  # the text of a number that is marked or not


@dataclass(frozen=True)
class View:
    """What to show: numbers that moved by `least` centipawns or more, only `supported` ones if set;
    the files' `names`; `brief`: piece values and the largest changes alone."""

    names: tuple[str, ...]
    least: float
    supported: bool
    brief: bool = False

    @property
    def heads(self) -> list[str]:
        """What the files are called in tables: letters, if they are several."""
        several = [*string.ascii_uppercase[: len(self.names)]]
        return ["initial", "learned"] if len(self.names) == 2 else several

    def change(self, k: int) -> str:
        """What the change to a file after the first is called."""
        return "change" if len(self.names) == 2 else f"{self.heads[k + 1]}-A"

    def marks(self, found: Comparison) -> np.ndarray:
        """Return the changes (files - 1, stages, columns) that are marked."""
        return found.evidence.supported if self.supported else found.evidence.significant

    @property
    def title(self) -> str:
        if len(self.names) == 2:
            return " -> ".join(self.names)
        pairs = zip(self.heads, self.names, strict=True)
        return ", ".join(f"{head} = {name}" for head, name in pairs)


def show(console: Console, found: Comparison, view: View) -> None:
    """Print piece values, the largest changes, and the rest unless the view is brief."""
    if len(view.names) > 2:
        show_lines(console, view.title, "")
    _show_headline(console, found, view)
    _show_largest(console, found, view)
    if view.brief:
        show_lines(console, "every number: --show all")
    else:
        _show_all(console, found, view)


def _show_headline(console: Console, found: Comparison, view: View) -> None:
    """Print the ratios of the first term's numbers to the first of them, a column for each file."""
    # of all files or of none: the layout is one
    lines = [line for p in found.files if (line := headline(p)) is not None]
    if not lines or all(
        math.isnan(value.ratio.value) for line in lines for value in line["values"]
    ):
        return
    *early, last = found.stages
    stages = f", mean of {', '.join(early)} and {last}" if early else ""
    rows = [
        [values[0].parameter, *(_ratio(value.ratio) for value in values)]
        for values in zip(*(line["values"] for line in lines), strict=True)
    ]
    show_table(console, f"in units of {lines[0]['unit']}{stages}", ["", *view.heads], rows)


def _ratio(found: Estimate) -> str:
    interval = "" if math.isnan(found.low) else f" [{found.low:.2f}, {found.high:.2f}]"
    return number(found.value, 2) + interval


def _show_largest(console: Console, found: Comparison, view: View) -> None:
    """Print the largest changes, those that the data support if changes can be tested, or one
    sentence if there are none."""
    places, known, evidence = largest(found), any(found.known), found.evidence
    tested = evidence.count(evidence.tested)
    if not found.change.any():
        show_lines(console, "no number changed", "")
    elif not known:
        show_lines(console, errors_used(found)[0], "")
    elif not places:
        none = "no change can be tested: no number that was learned has an error to both sides"
        unsupported = (
            f"the data support none of the {plural(tested, 'change')}: each may be due to chance"
        )
        show_lines(console, unsupported if tested else none, "")
    if not places:
        return
    changes = evidence.count(evidence.supported if known else found.change != 0)
    count = f"all {changes:,} changes" if changes > 1 else "the one change"
    if changes > len(places):
        count = f"the {len(places)} largest of {plural(changes, 'change')}"
    several, labels, rows = len(view.names) > 2, found.layout.labels(), list[list[Cell]]()
    for k, s, i in places:
        name = " ".join(
            filter(None, (labels[i], found.stage_of(k, s, i), view.heads[k + 1] * several))
        )
        values = [number(float(found.files[at].weights[s, i])) for at in (0, k + 1)]
        change = coloured(signed(float(found.change[k, s, i])))
        rows.append([name, *values, change, *([_margin(found, k, s, i)] if known else [])])
    heads = [view.heads[0], "other" if several else view.heads[1], "change"]
    heads += ["+/-"] if known else []
    show_table(console, f"{count}{' that the data support' * known}", ["", *heads], rows)


def _show_all(console: Console, found: Comparison, view: View) -> None:
    """Print every number that moved, a row for each stage, then tables of numbers as boards, and
    what the marks mean."""
    chosen = found.moved(view.least)
    if view.supported:
        chosen &= found.evidence.supported.any(axis=0)
    columns = [i for place in found.places(False) for i in range(*place.columns.indices(1 << 30))]
    labels, once = found.layout.labels_with_units(), np.all(found.evidence.repeated, axis=0)
    rows: list[list[Cell]] = [
        [labels[i] + f" {stage}" * (not once[-1, i]), *_cells(found, view, s, i)]
        for i in columns
        for s, stage in enumerate(found.stages)
        if chosen[s, i] and not once[s, i]
    ]
    if rows:
        heads = [found.files[0].wording.unit, *_heads(found, view)]
        show_table(console, view.title, heads, rows, narrow=True)
    elif not view.supported:  # else the table of the largest changes says it
        what = f"no single number moved by {view.least:g} centipawns or more"
        show_lines(console, f"{view.title}: {what}", "")
    for place in found.places(True):
        for s, stage in enumerate(found.stages):
            if chosen[s, place.columns].any():
                boards = side_by_side(_boards(found, view, s, place), console.width)
                show_lines(console, f"{place.path} {stage}", *boards, "")
    show_lines(console, *_notes(found, view, sum(not chosen[:, i].any() for i in columns)))


def _heads(found: Comparison, view: View) -> list[str]:
    """Return the headings of the cells of a number."""
    heads = [view.heads[0], *(["+/-"] if found.own_errors else [])]
    for k, known in enumerate(found.known):
        heads += [view.heads[k + 1], view.change(k), "%"]
        heads += [*(["optimum"] if found.steps(k) else []), *(["+/-"] if known else [])]
    return heads


def _cells(found: Comparison, view: View, s: int, i: int) -> list[Cell]:
    """Return the cells of a number in one stage, in the order of `_heads`."""
    first = found.files[0]
    cells: list[Cell] = [number(before := float(first.weights[s, i]))]
    if first.standard_errors is not None:
        cells.append(_error(reach(first) * float(first.standard_errors[s, i])))
    for k, known in enumerate(found.known):
        other, change = found.files[k + 1], float(found.change[k, s, i])
        cells.append(number(float(other.weights[s, i])))
        if view.supported and not found.evidence.supported[k, s, i]:
            cells += [UNSUPPORTED, ""]
        else:
            part = signed(percent(before, change), 0) or "0"
            cells.append(coloured(signed(change) + MARK * bool(view.marks(found)[k, s, i])))
            cells.append(coloured(part if signed(change) else ""))
        cells += [number(float(other.estimate[s, i]))] * found.steps(k)
        cells += [_margin(found, k, s, i)] * known
    return cells


def _margin(found: Comparison, k: int, s: int, i: int, digits: int = 1) -> str:
    """Format half of the 95 % interval of a change, or the end of that of a number at a bound."""
    other = found.files[k + 1]
    if side := other.at_bound[s, i]:
        ends = interval(other, s, i)
        end = "" if ends is None else number(ends[0 if side > 0 else 1], digits)
        return f"{'>' if side > 0 else '<'}{end or 'bound'}"
    return _error(float((found.evidence.reach * found.evidence.error)[k, s, i]), digits)


def _error(error: float, digits: int = 1) -> str:
    """Format half of a 95 % interval."""
    if np.isnan(error):
        return UNIDENTIFIED
    if error == 0:
        return "held"
    return number(error, digits) if error >= 0.5 * 10**-digits else f"<{10**-digits:g}"


def _boards(
    found: Comparison, view: View, s: int, place: Place
) -> list[tuple[str, list[list[Cell]]]]:
    """Return the boards of a table with their headings: of the first file, and for each other one
    its numbers, their changes, and the optimum and errors if there are any."""

    def board(numbers: np.ndarray, text: Callable[[float], Cell]) -> list[list[Cell]]:
        return [[text(value) for value in row] for row in on_board(numbers, place)]

    def marked(k: int, numbers: np.ndarray, text: Marked) -> list[list[Cell]]:
        """If only supported changes are shown, without the rest of the file."""
        marks = on_board(view.marks(found)[k, s], place)
        return [
            [
                UNSUPPORTED if view.supported and not mark else text(value, bool(mark))
                for value, mark in zip(*rows, strict=True)
            ]
            for rows in zip(on_board(numbers, place), marks, strict=True)
        ]

    def whole(value: float, mark: bool = False) -> str:
        return number(value, 0)

    def moved(value: float, mark: bool) -> Text:
        return coloured((signed(value, 0) or "0") + MARK * mark)

    boards = [(view.heads[0], board(found.files[0].weights[s], whole))]
    for k, known in enumerate(found.known):
        other = found.files[k + 1]
        boards.append((view.heads[k + 1], marked(k, other.weights[s], whole)))
        boards.append((view.change(k), marked(k, found.change[k, s], moved)))
        if found.steps(k):
            boards.append(("optimum", marked(k, other.estimate[s], whole)))
        if known:
            margins = [_margin(found, k, s, i, 0) for i in range(found.layout.size)]
            boards.append(("+/-", marked(k, np.array(margins), lambda text, mark: str(text))))
    return boards


def _notes(found: Comparison, view: View, hidden: int) -> list[str]:
    """Return lines on what the marks mean and how many numbers are `hidden`."""
    evidence, notes = found.evidence, []
    tested = evidence.count(evidence.tested)
    if any(p.standard_errors is not None for p in found.files):
        notes.append(
            f"+/- is a 95 % interval; {UNIDENTIFIED}: unknown, as the games do not identify it or"
            " the fit did not converge; held: kept constant"
        )
        if any(p.at_bound.any() for p in found.files):
            notes.append("<185: it ended at a bound, 95 % interval to that side; not tested")
    if tested and view.supported:
        notes.append(
            f"{MARK} the data support {evidence.count(evidence.supported):,} of"
            f" {plural(tested, 'change')};"
            " of these at most 5 % are false on average\n  (Benjamini-Hochberg over all identified"
            " numbers, two-sided normal p values)"
        )
    elif tested:
        notes.append(
            f"{MARK} more than {np.max(evidence.reach):.2f} standard errors:"
            f" {evidence.count(evidence.significant):,} of {plural(tested, 'change')}, of which"
            f" up to {0.05 * tested:.0f} by chance; see --show supported"
        )
    if any(found.known):  # else it was said first
        notes += errors_used(found)
    if hidden and view.supported:
        notes.append(
            f"{hidden} single numbers are hidden; {UNSUPPORTED} is a number without a supported"
            " change"
        )
    elif hidden:
        notes.append(
            f"{plural(hidden, 'number')} that moved by less than {view.least:g}"
            f" {found.files[0].wording.unit}"
            " are hidden; --show 0 shows them"
        )
    return notes
