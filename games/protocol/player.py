"""Players that are processes: begun again after a crash, asked for a line of output, ended."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from games.contest import CRASH, STALL, Forfeit
from games.evaluators import EngineFault
from games.process import EngineProcess, cpu_seconds
from games.streams import InputError

SILENT = re.compile("no `|printed nothing")


class RestartedPlayer(ABC):
    """A player that runs another program, which is started again for the next game after it has ended."""

    @abstractmethod
    def start(self) -> None:
        """Start the program; InputError if that fails."""

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether the program is running."""

    def begin(self, seed: str) -> None:
        """Start the program if it is not running; Forfeit if that fails."""
        if not self.running:
            try:
                self.start()
            except InputError as problem:
                raise Forfeit(CRASH, f"does not restart: {problem}") from None


class ProcessPlayer(RestartedPlayer):
    """A program that is asked and answers by lines; `start` sets the process."""

    def __init__(self) -> None:
        self._process: EngineProcess | None = None

    @property
    def running(self) -> bool:
        return self._process is not None

    def ask(self, text: str, last: bytes, patience: float) -> list[bytes]:
        """Write a text and read lines up to one that begins with `last`; Forfeit after so many seconds of silence."""
        if self._process is None:
            raise Forfeit(CRASH, "ended before")
        self._process.say(text.encode())
        try:
            return self._process.until(last, patience)
        except EngineFault as problem:
            self._end()
            silent = SILENT.match(str(problem))
            raise Forfeit(STALL if silent else CRASH, f"no move within {patience:g} s" if silent else str(problem)) from None

    def cpu_seconds(self) -> float | None:
        """Return the CPU time that the program has used; None if it has ended, and where the system does not tell."""
        return cpu_seconds(self._process.number) if self._process else None

    def abort(self) -> None:
        if self._process:
            self._process.kill()

    def close(self) -> None:
        if self._process:
            self._process.quit()
            self._process = None

    def _end(self) -> None:
        """Kill the program."""
        if self._process:
            self._process.kill()
            self._process = None
