"""The difference between parameter files on a console: the largest changes, ratios, single numbers,
grids, and notes."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.text import Text

from tuner.io.terminal import coloured, number, show_lines, show_table, side_by_side, signed
from tuner.parameters.diff import (
    Comparison,
    errors_used,
    headline,
    largest,
    on_board,
    percent,
    reach,
)
from tuner.parameters.layout import Place

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
        what = (
            "the data support no change of a single number"
            if view.supported
            else (f"no single number moved by {view.least:g} centipawns or more")
        )
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
        ends = ["+/-"] if found.known[0] else []
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
        ends = [_error(margin)] if found.known[0] else []
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
        others of file k."""
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
