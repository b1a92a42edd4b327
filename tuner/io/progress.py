"""How long computations report their progress; `tuner.commands.display` shows it."""

from __future__ import annotations

from games.record import ReadReport


class Display:
    """Receives notes and the progress of each step; this one shows nothing."""

    def note(self, text: str) -> None:
        """Report something that is kept on the screen."""

    def begin(self, description: str, total: int | None = None) -> None:
        """Begin a step, of `total` things to do if that is known."""

    def reading(self, report: ReadReport) -> None:
        """Report the games read so far."""

    def searched(self) -> None:
        """Report one more position searched. May be called from any thread."""

    def learning(self, line: dict) -> None:
        """Report an iteration of a learner: its line of the history."""

    def passing(self, done: int, total: int) -> None:
        """Report how many of `total` positions a pass over the data has done."""

    def counting(self, done: int) -> None:
        """Report how many of a step's `total` are done."""

    def playing(self, text: str, completed: int) -> None:
        """Report the score of a match or the state of self-play, and how many pairs or games have been played."""
