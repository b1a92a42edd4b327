"""What all results share: a command finds a record, of which text, JSON, the page and Python are
views."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tuner.core.estimates import Estimate
from tuner.core.records import Number


@dataclass(frozen=True, kw_only=True)
class RunResult(abc.ABC):
    """What a run found. `run` is its folder, None if it is not kept; `advice` is how an interrupted
    run goes on, in words. `in_notebook` has the function of a folder and a text that returns what
    a notebook shows."""

    run: str | None = None
    interrupted: bool = False
    advice: str = ""
    in_notebook: ClassVar[list[Callable[[str | None, str], str]]] = []

    @abc.abstractmethod
    def found_lines(self) -> list[str]:
        """Return what was found, as lines of text."""

    @property
    @abc.abstractmethod
    def result(self) -> dict[str, Any]:
        """What `--json` prints."""

    @property
    def lines(self) -> list[str]:
        """What the command prints."""
        return [*self.found_lines(), *([self.advice] if self.interrupted and self.advice else [])]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str | None:
        return self.in_notebook[-1](self.run, str(self)) if self.in_notebook else None


@dataclass(frozen=True)
class Interval:
    """A number with its 95 % interval and its standard error, None if unknown."""

    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    standard_error: Number | None = None

    @property
    def estimate(self) -> Estimate:
        """The same for computing."""
        value, error, low, high = (
            math.nan if number is None else number
            for number in (self.value, self.standard_error, self.low, self.high)
        )
        return Estimate(value, error, low, high)


def finite(number: float) -> float | None:
    """Return a number for JSON; None for one that is not finite, of which JSON has none."""
    return number if math.isfinite(number) else None
