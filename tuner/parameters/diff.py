"""What differs between parameter files: every number of each, its change since the first file, and how sure that is."""

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


def reach(p: Parameters) -> float:
    """In the standard errors of a learned file."""
    games = p.learned.get("games")
    return quantile(games) if isinstance(games, int) and p.standard_errors is not None else NORMAL


@dataclass(frozen=True)
class Comparison:
    """Files of the same layout and stages; the first is what the others are compared with.

    `change` and all of `evidence` have shape (files - 1, stages, columns).
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
        """Whether changes have errors other than those of the numbers that changed."""
        return self.files[0].standard_errors is not None

    @cached_property
    def known(self) -> list[bool]:
        """For each file after the first: whether its changes have errors."""
        return [errors_known(self.files[0], p) for p in self.files[1:]]

    def places(self, grids: bool) -> list[Place]:
        """Tables, or else single numbers and lists."""
        return [place for place in self.layout.places if (len(place.shape) == 2) == grids]

    def moved(self, least: float) -> np.ndarray:
        """(stages, columns) bool: numbers that moved by so many centipawns in one of the files."""
        return (np.abs(self.change) >= least).any(axis=0)


def compare(files: Sequence[Parameters]) -> Comparison:
    """Compare files with the first; all but the first have the same stages.

    A first file with other stages is taken as `--untapered` would: the mean of its stages, or its one stage for all.
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
    """Whether changes between two files have errors. Both files' errors count; a file that has none counts as exact if it
    is the first, or was written by hand, but not if it was learned without any, as from self-play."""
    if other.standard_errors is None:
        return first.standard_errors is not None and not other.learned
    return True


def largest_supported(found: Comparison, most: int) -> list[tuple[int, int, int]]:
    """The largest changes that the data support, at most so many: indices (file after the first, stage, column)."""
    places = np.argwhere(found.evidence.supported)
    sizes = np.abs(found.change[tuple(places.T)])
    return [tuple(place) for place in places[np.argsort(-sizes, kind="stable")[:most]].tolist()]


def errors_used(found: Comparison) -> list[str]:
    """Which errors the changes are judged by, in sentences."""
    first, *others = found.files
    if not any(found.known):
        lost = [p for p in others if p.standard_errors is None and p.learned]
        return ["the learned file has no standard errors, so which of its changes are chance is not known" if lost else
                "none of the files has standard errors, so nothing tells which changes are more than chance"]
    lines, errors = [], [p for p in others if p.standard_errors is not None]
    if not found.own_errors:
        lines.append("errors of changes are those of the learned file; the initial one has none and counts as exact")
    elif not errors:
        lines.append("errors of changes are those of the initial file; the other has none and counts as exact")
    else:
        lines.append("errors of changes are sqrt(a^2 + b^2) of both files' errors, which assumes different games")
        name = shared_sources([first, *errors])
        if name is not None:
            lines.append(f"but two of these files were learned from {name}: errors of changes are rough, and likely too large")
    if not all(found.known):
        lines.append("a file that was learned without standard errors has no marks: which of its changes are chance is not known")
    return lines


def differences(found: Comparison, supported: bool = False) -> dict:
    """The comparison as plain data: `rows` for single numbers and lists, `grids` for tables with the last row on top.

    Of two files an entry has `initial` and `learned`, of more it has lists. A standard error is None where the file has
    none or does not identify the number (`identified`), 0 where the number was held. `significant` is a change beyond its
    95 % interval, `supported` one that remains at a false discovery rate of 5 %; None where there is nothing to tell by.
    `supported` leaves out rows and tables without such a change.
    """
    chosen = found.evidence.supported.any(axis=0) if supported else np.ones(found.files[0].weights.shape, np.bool_)
    scales = [p.scale for p in found.files]
    return {
        "game": found.files[0].game, "stages": list(found.stages),
        **({"scale": {"initial": scales[0], "learned": scales[1]}} if found.is_pair else {"scales": scales}),
        "headline": [headline(p) for p in found.files],
        "tested": int(found.evidence.tested.sum()), "significant": int(found.evidence.significant.sum()),
        "supported": int(found.evidence.supported.sum()), "false_discovery_rate": FALSE_DISCOVERIES,
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
    """A change in percent; None from a start of zero."""
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
        changes.append({"change": part["change"].tolist(), "change_error": _knowns(part["error"]),
                        **{name: np.where(part["tested"], part[name], None).tolist() for name in ("significant", "supported")}})
    if found.is_pair:
        return {"initial": values[0], "learned": values[1], **changes[0], "initial_standard_error": errors[0],
                "standard_error": errors[1]}
    return {"values": values, "standard_errors": errors, "changes": changes}


def on_board(numbers: np.ndarray, place: Place) -> np.ndarray:
    """The numbers of a table, last row first, as a board is seen."""
    return numbers[place.columns].reshape(place.shape)[::-1]


def _known(error: float) -> float | None:
    return None if np.isnan(error) else round(float(error), 4)


def _knowns(errors: np.ndarray) -> list[list[float | None]]:
    return [[_known(error) for error in row] for row in errors]


def shared_sources(files: Sequence[Parameters]) -> str | None:
    """A file of games that two learned files name, by its hash: then their errors are not independent."""
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
