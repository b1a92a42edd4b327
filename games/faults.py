"""Faults of files of games: counted by kind, the first of them noted one by one."""

from __future__ import annotations

from collections.abc import Callable

from games.record import ReadReport
from games.streams import InputError

MOST_NOTES = 1000  # faults of a file that are noted one by one; the others are counted


class Faults:
    """Notes the faults of a file, and counts them by kind; under `strict` the first raises InputError. `what` is skipped where
    there is one: a game, a line."""

    def __init__(self, source: str, what: str, strict: bool, report: ReadReport, note: Callable[[str], None]) -> None:
        self.source, self.what, self._strict, self._report, self._note = source, what, strict, report, note
        self._found = 0

    def add(self, place: object, text: object, kind: str) -> None:
        """Count a fault of a kind; `text` says what it is, `place` where in the file."""
        where = f"{self.source}:{place}: {text}"
        if self._strict:
            raise InputError(f"{where}; fix it, or leave out --strict to skip such {self.what}s") from None
        self._found += 1
        self._report.bad += 1
        self._report.faults[kind] = self._report.faults.get(kind, 0) + 1
        if self._found <= MOST_NOTES:
            self._note(f"{where}; {self.what} skipped")

    def end(self) -> None:
        """Note how many faults were not noted one by one."""
        if self._found > MOST_NOTES:
            self._note(f"{self.source}: {self._found - MOST_NOTES:,} more bad {self.what}s skipped")
