"""Notes of a computation, kept for its caller."""

from __future__ import annotations

from tuner.io.progress import Display


class Notes(Display):
    """A display that shows nothing and keeps the notes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        """Keep a note."""
        self.lines.append(text)
