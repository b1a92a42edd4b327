"""External engines as sources of evaluations: what probes and teachers need of the client of a game's protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from games.streams import InputError


class EngineFault(InputError):
    """An engine that died, fell silent or answered nonsense: what was asked and what came, and how many positions of how many
    were done."""

    def __init__(self, what: str, done: int = 0, total: int = 0) -> None:
        super().__init__(what + (f"; {done:,} of {total:,} positions were done" if total else ""))
        self.what = what


@dataclass(frozen=True)
class EngineOption:
    """An option as the engine declares it; `low` and `high` are those of a spin, `choices` those of a combo."""

    name: str
    kind: str  # spin, check, combo, button or string
    default: str = ""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchLimits:
    """The limits of the search of a position; one of them is given."""

    depth: int | None = None
    nodes: int | None = None

    @property
    def text(self) -> str:
        """The limits as the protocol and the names of caches have them: `nodes 1000`."""
        return f"depth {self.depth}" if self.depth is not None else f"nodes {self.nodes}"


class Searched(NamedTuple):
    """The result of a search: centipawns of the first player's view, infinite for a forced mate; moves to that mate, negative
    if the first player is mated, 0 if the position itself is mate, None without a forced mate; the names of the PV's moves."""

    score: float
    mate: int | None
    pv: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """n positions in the notation of the engine, prepared once for any number of evaluations: the texts, and (n,) bool whether
    the second player moves, whether in check, whether there are legal moves. `variant`: of a variant that the engine must be
    set to, such as Chess960."""

    texts: list[bytes]
    second: np.ndarray
    checked: np.ndarray
    playable: np.ndarray
    variant: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, some: slice) -> Asked:
        return Asked(self.texts[some], self.second[some], self.checked[some], self.playable[some], self.variant)


class Evaluator(Protocol):
    """An engine in a process of its own, for one thread at a time. All scores are of the first player's view."""

    @property
    def name(self) -> str:
        """Name and version, by the engine's own account."""

    @property
    def options(self) -> Mapping[str, EngineOption]:
        """The options by name, in the engine's order."""

    def set(self, values: Mapping[str, object]) -> None:
        """Set options before the next position. InputError for unknown options and for values out of range."""

    def restart(self) -> None:
        """Start the engine again, with the same options."""

    def asked(self, positions: np.ndarray) -> Asked:
        """Prepare positions (n, words)."""

    def evaluates(self) -> bool:
        """Whether the engine has static evaluations."""

    def evaluations(self, asked: Asked) -> np.ndarray:
        """Return static evaluations (n,) in centipawns, NaN where the engine has none: in check."""

    def searches(self, asked: Asked, limits: SearchLimits) -> Iterator[Searched]:
        """Search each position afresh; yield the results in order, each as soon as it is there."""

    def abort(self) -> None:
        """Kill the engine, from any thread: what waits for it raises EngineFault."""

    def close(self) -> None:
        """End the engine."""


@dataclass(frozen=True)
class EvaluationPattern:
    """How an engine prints its static evaluation: a regular expression of one line with one group, the number.

    `unit`: centipawns for each 1 printed; `mover`: of the side to move instead of the first player.
    """

    regex: str
    unit: float = 1.0
    mover: bool = False


def chosen(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The names that any of these names or globs matches, capitals or not; InputError for a pattern that matches none."""
    from fnmatch import fnmatchcase

    found: set[str] = set()
    for pattern in patterns:
        matching = [name for name in names if name == pattern] or [
            name for name in names if fnmatchcase(name.lower(), pattern.lower())]
        if not matching:
            listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            raise InputError(f"{pattern!r} names no option of the engine that is a number; it has {listed or 'none'}")
        found.update(matching)
    return [name for name in names if name in found]
