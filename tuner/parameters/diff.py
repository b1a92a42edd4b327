"""Compare parameter files: every number of each, its change from the first file, and the evidence for that change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tuner.parameters.headline import headline
from tuner.parameters.layout import Layout, Place
from tuner.parameters.parameters import Parameters, tapered, untapered
from tuner.statistics.false_discovery import FALSE_DISCOVERIES, Evidence, error_of_change, weigh
from tuner.statistics.intervals import NORMAL, quantile

LARGEST = 20  # changes that are shown first


def reach(p: Parameters) -> float:
    """Return half the width of a 95 % interval, in standard errors of a file."""
    games = p.learned.get("games")
    return quantile(games) if isinstance(games, int) and p.standard_errors is not None else NORMAL


@dataclass(frozen=True)
class Comparison:
    """Files of the same layout and stages, compared with the first of them.

    `change` and the arrays of `evidence` have shape (files - 1, stages, columns); changes are in centipawns.
    """

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
    def own_errors(self) -> bool:
        """Whether the first file has standard errors, so that changes have errors of their own."""
        return self.files[0].standard_errors is not None

    @cached_property
    def known(self) -> list[bool]:
        """Whether changes have errors, for each file after the first."""
        return [errors_known(self.files[0], p) for p in self.files[1:]]

    def places(self, grids: bool) -> list[Place]:
        """Return the places of tables, or else those of single numbers and lists."""
        return [place for place in self.layout.places if (len(place.shape) == 2) == grids]

    def moved(self, least: float) -> np.ndarray:
        """Return (stages, columns) bool: numbers that moved by `least` centipawns or more in some file."""
        return (np.abs(self.change) >= least).any(axis=0)


def compare(files: Sequence[Parameters]) -> Comparison:
    """Compare files with the first; the others have the same stages.

    A first file with other stages is converted: to the mean of its stages, or to its one stage repeated.
    """
    first, *others = files
    if first.stages != others[0].stages:
        first = untapered(first) if len(others[0].stages) == 1 else tapered(first, others[0].stages)
    change = np.round([p.weights - first.weights for p in others], 4)
    error = np.array([error_of_change(first.standard_errors, p.standard_errors, p.weights.shape) if errors_known(first, p)
                      else np.full(p.weights.shape, np.nan) for p in others])
    furthest = np.array([max(reach(first), reach(p)) for p in others])[:, None, None]
    return Comparison((first, *others), change, weigh(change, error, furthest))


def errors_known(first: Parameters, other: Parameters) -> bool:
    """Whether changes between two files have errors, from the standard errors of both. A file without any counts as exact if
    it is the first or was written by hand, but not if it was learned without standard errors, as by self-play."""
    if other.standard_errors is None:
        return first.standard_errors is not None and not other.learned
    return True


def largest_supported(found: Comparison) -> list[tuple[int, int, int]]:
    """Return the LARGEST largest changes that the data support: (index of the file after the first, stage, column)."""
    places = np.argwhere(found.evidence.supported)
    sizes = np.abs(found.change[tuple(places.T)])
    return [tuple(place) for place in places[np.argsort(-sizes, kind="stable")[:LARGEST]].tolist()]


def errors_used(found: Comparison) -> list[str]:
    """Return sentences on the errors by which changes are tested."""
    first, *others = found.files
    if not any(found.known):
        lost = [p for p in others if p.standard_errors is None and p.learned]
        return ["the learned file has no standard errors, so its changes cannot be tested" if lost else
                "the files have no standard errors, so their changes cannot be tested"]
    lines, errors = [], [p for p in others if p.standard_errors is not None]
    if not found.own_errors:
        lines.append("errors of changes are those of the learned file; the initial file has none and counts as exact")
    elif not errors:
        lines.append("errors of changes are those of the initial file; the other has none and counts as exact")
    else:
        lines.append("errors of changes are sqrt(a^2 + b^2), from the errors a and b of both files, as for independent games")
        name = shared_sources([first, *errors])
        if name is not None:
            lines.append(f"but two files were learned from {name}: their errors are not independent, and errors of changes "
                         "are probably too large")
    if not all(found.known):
        lines.append("the changes of a file learned without standard errors cannot be tested and have no marks")
    return lines


def differences(found: Comparison, supported: bool = False) -> dict:
    """Return the comparison as plain data: `rows` for single numbers and lists, `grids` for tables, last row first.

    For two files an entry has `initial` and `learned`, for more it has lists. A standard error is None if the file has none or
    does not identify the number (`identified`), 0 if the number was kept constant. `significant` is a change beyond its 95 %
    interval, `supported` one that passes the test at a false discovery rate of 5 %; None if it was not tested. `largest` names
    the largest supported changes. With `supported`, rows and tables without such a change are left out.
    """
    chosen = np.asarray(found.evidence.supported.any(axis=0)) if supported else np.ones(found.files[0].weights.shape, np.bool_)
    scales, labels = [p.scale for p in found.files], found.layout.labels()
    return {
        "game": found.files[0].game, "stages": list(found.stages),
        **({"scale": {"initial": scales[0], "learned": scales[1]}} if found.is_pair else {"scales": scales}),
        "headline": [headline(p) for p in found.files],
        "tested": int(found.evidence.tested.sum()), "significant": int(found.evidence.significant.sum()),
        "supported": int(found.evidence.supported.sum()), "false_discovery_rate": FALSE_DISCOVERIES,
        "largest": [{"parameter": labels[i], "stage": found.stages[s], "change": float(found.change[k, s, i]),
                     **({} if found.is_pair else {"file": k + 1})} for k, s, i in largest_supported(found)],
        "rows": [{"parameter": label, **{stage: _entry(found, s, place.first + i) for s, stage in enumerate(found.stages)}}
                 for place in found.places(False) for i, label in enumerate(place.labels()) if chosen[:, place.first + i].any()],
        "grids": [{"parameter": place.path, "stage": stage, **_grid(found, s, place)} for place in found.places(True)
                  for s, stage in enumerate(found.stages) if chosen[s, place.columns].any()]}


def _entry(found: Comparison, s: int, column: int) -> dict:
    values = [float(p.weights[s, column]) for p in found.files]
    errors = [None if p.standard_errors is None else float(p.standard_errors[s, column]) for p in found.files]
    known = [None if error is None or np.isnan(error) else error for error in errors]
    identified = [None if error is None else not np.isnan(error) for error in errors]
    intervals = [[round(value - reach(p) * error, 4), round(value + reach(p) * error, 4)] if error else None
                 for p, value, error in zip(found.files, values, known, strict=True)]
    changes = [_change(found, k, s, column) for k in range(len(values) - 1)]
    if found.is_pair:
        return {"initial": values[0], "learned": values[1], **changes[0], "initial_standard_error": known[0],
                "standard_error": known[1], "identified": identified[1], "interval": intervals[1]}
    return {"values": values, "standard_errors": known, "identified": identified, "intervals": intervals, "changes": changes}


def _change(found: Comparison, k: int, s: int, column: int) -> dict:
    before, change, e = float(found.files[0].weights[s, column]), float(found.change[k, s, column]), found.evidence
    tested = bool(e.tested[k, s, column])
    return {"change": change, "percent": percent(before, change), "change_error": _known(e.error[k, s, column]),
            "significant": bool(e.significant[k, s, column]) if tested else None,
            "supported": bool(e.supported[k, s, column]) if tested else None}


def percent(before: float, change: float) -> float | None:
    """Return a change in percent of the number before; None if that was zero."""
    return round(100 * change / abs(before), 2) if before else None


def _grid(found: Comparison, s: int, place: Place) -> dict:
    values, errors, changes = [], [], []
    for p in found.files:
        values.append(on_board(p.weights[s], place).tolist())
        errors.append(None if p.standard_errors is None else _knowns(on_board(p.standard_errors[s], place)))
    for k in range(len(found.change)):
        part = {name: on_board(array[k, s], place) for name, array in (
            ("change", found.change), ("error", found.evidence.error), ("tested", found.evidence.tested),
            ("significant", found.evidence.significant), ("supported", found.evidence.supported))}
        marks = {name: np.where(part["tested"], part[name], np.array(None)).tolist() for name in ("significant", "supported")}
        changes.append({"change": part["change"].tolist(), "change_error": _knowns(part["error"]), **marks})
    if found.is_pair:
        return {"initial": values[0], "learned": values[1], **changes[0], "initial_standard_error": errors[0],
                "standard_error": errors[1]}
    return {"values": values, "standard_errors": errors, "changes": changes}


def on_board(numbers: np.ndarray, place: Place) -> np.ndarray:
    """Return the numbers of a table, last row first, as a board is seen by its owner."""
    return numbers[place.columns].reshape(place.shape)[::-1]


def _known(error: float) -> float | None:
    return None if np.isnan(error) else round(float(error), 4)


def _knowns(errors: np.ndarray) -> list[list[float | None]]:
    return [[_known(error) for error in row] for row in errors]


def shared_sources(files: Sequence[Parameters]) -> str | None:
    """Return the name of a file of games that two learned files were learned from, by its hash; None if there is none."""
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
