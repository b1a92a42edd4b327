"""What all results share: a command finds a record, of which text, JSON, the page and Python are
views."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tuner.io.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console


class Found(abc.ABC):
    """What a command found: what it prints, what it prints with --json, and its exit `status`.
    `run` is the folder of a run, None without one; `in_notebook` has the function of a folder and
    a text that returns what a notebook shows."""

    run: str | None = None
    in_notebook: ClassVar[list[Callable[[str | None, str], str]]] = []

    @property
    @abc.abstractmethod
    def result(self) -> dict[str, Any]:
        """What `--json` prints."""

    @property
    @abc.abstractmethod
    def lines(self) -> Sequence[str]:
        """What the command prints."""

    @property
    def status(self) -> int:
        """The exit status of the command."""
        return 0

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str | None:
        return self.in_notebook[-1](self.run, str(self)) if self.in_notebook else None


@dataclass(frozen=True)
class CommandResult(Found):
    """What a command found that has no record of its own: `plain` data, and its lines of `text`.
    `show` prints more than lines: tables, or the content of a file."""

    plain: dict[str, Any]
    text: Sequence[str] = ()
    status: int = 0
    show: Callable[[Console], object] | None = None

    @property
    def result(self) -> dict[str, Any]:
        """See `Found`."""
        return self.plain

    @property
    def lines(self) -> Sequence[str]:
        """See `Found`."""
        return self.text


@dataclass(frozen=True, kw_only=True)
class RunResult(Found):
    """What a run found. `run` is its folder, None if it is not kept; `advice` is how an interrupted
    run goes on, in words."""

    run: str | None = None
    interrupted: bool = False
    advice: str = ""

    @abc.abstractmethod
    def found_lines(self) -> list[str]:
        """Return what was found, as lines of text."""

    @property
    def lines(self) -> list[str]:
        """What the command prints."""
        return [*self.found_lines(), *([self.advice] if self.interrupted and self.advice else [])]

    @property
    def status(self) -> int:
        """See `Found`."""
        return INTERRUPTED if self.interrupted else 0


def finite(number: float) -> float | None:
    """Return a number for JSON; None for one that is not finite, of which JSON has none."""
    return number if math.isfinite(number) else None
