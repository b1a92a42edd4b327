"""Faults of files: the first of them are noted one by one, the others counted."""

from __future__ import annotations

from collections.abc import Callable

from games.record import ReadReport
from games.streams import InputError

MOST_NOTES = 1000  # faults of a file of games that are noted one by one
MOST_OF_OPENINGS = 5  # the same of a file of openings


class Notes:
    """Passes on the first `most` notes about a file, and counts the others."""

    def __init__(self, source: str, note: Callable[[str], None], most: int) -> None:
        self._source, self._note, self._most, self._found = source, note, most, 0

    def add(self, text: str) -> None:
        """Pass on a note while there is room."""
        self._found += 1
        if self._found <= self._most:
            self._note(text)

    def end(self, what: str) -> None:
        """Note how many were only counted, and of what."""
        if self._found > self._most:
            self._note(f"{self._source}: {self._found - self._most:,} more {what}")


class Faults:
    """Notes the faults of a file, and counts them by kind; under `strict` the first raises InputError. `what` is skipped where
    there is one: a game, a line."""

    def __init__(self, source: str, what: str, strict: bool, report: ReadReport, note: Callable[[str], None]) -> None:
        self.source, self.what, self._strict, self._report = source, what, strict, report
        self._notes = Notes(source, note, MOST_NOTES)

    def add(self, place: object, text: object, kind: str) -> None:
        """Count a fault of a kind; `text` says what it is, `place` where in the file."""
        where = f"{self.source}:{place}: {text}"
        if self._strict:
            raise InputError(f"{where}; fix it, or leave out --strict to skip such {self.what}s") from None
        self._report.bad += 1
        self._report.faults[kind] = self._report.faults.get(kind, 0) + 1
        self._notes.add(f"{where}; {self.what} skipped")

    def end(self) -> None:
        """Note how many faults were not noted one by one."""
        self._notes.end(f"bad {self.what}s skipped")
