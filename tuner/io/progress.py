"""What long computations report while they run. The commands show it in the terminal, see `tuner.commands.display`."""

from __future__ import annotations

from games.record import ReadReport


class Display:
    """The steps of a long computation and how far each is; this one shows nothing."""

    def note(self, text: str) -> None:
        """Say something that stays on the screen."""

    def begin(self, description: str, total: int | None = None) -> None:
        """Begin a step: what is done, and how many there are to do, if that is known."""

    def reading(self, report: ReadReport) -> None:
        """Report the games read so far."""

    def searched(self) -> None:
        """Report one more position searched. May be called from any thread."""

    def learning(self, line: dict) -> None:
        """Report an iteration of a learner: its line of the history."""

    def passing(self, done: int, total: int) -> None:
        """Report the positions that a pass over the data has done, of how many."""

    def counting(self, done: int) -> None:
        """Report how many of a step's `total` are done."""

    def playing(self, text: str, completed: int) -> None:
        """Report how a match or self-play stands, and how many games or pairs have been played."""
