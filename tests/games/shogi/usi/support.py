"""A conversation with the engine, line by line, and the engine as a program of its own."""

from __future__ import annotations

import copy
import queue
import sys
import threading
import time

from games.shogi.usi import lines_of, serve
from tests.games.shogi.support import loaded
from tuner.engine.served import ServedEvaluation

PATIENCE = 60.0  # seconds until a test gives up
COMMAND = f"{sys.executable} -m tests.games.shogi.usi.support"


def evaluation(settable: bool = True) -> ServedEvaluation:
    """The evaluation of a bundled file of parameters."""
    def load(name: str | None):
        if name not in (None, "hand", "classic"):
            raise ValueError(f"{name}: no such file")
        engine, parameters = loaded(name or "hand")
        return engine, copy.deepcopy(parameters)  # weights are set in place

    return ServedEvaluation(lambda name: load(name)[1], load, settable)


class Talk:
    """A conversation with an engine that runs in another thread of this process."""

    def __init__(self) -> None:
        self._in: queue.Queue[str | None] = queue.Queue()
        self._out: queue.Queue[str | None] = queue.Queue()
        self.heard: list[str] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        self.searches = serve(evaluation(), iter(self._in.get, None), self._out.put, "it", "hand")
        self._out.put(None)

    def say(self, *lines: str) -> None:
        for line in lines:
            self._in.put(line)

    def hear(self, start: str) -> str:
        """The next line that starts so; those before it are kept in `heard`."""
        self.heard, end = [], time.monotonic() + PATIENCE
        while True:
            line = self._out.get(timeout=max(0.0, end - time.monotonic()))
            assert line is not None, "the engine has quit"
            self.heard.append(line)
            if line.startswith(start):
                return line

    def ask(self, *lines: str) -> list[str]:
        """What the engine says to these lines before it is ready."""
        self.say(*lines, "isready")
        self.hear("readyok")
        return self.heard[:-1]

    def best(self, *lines: str) -> list[str]:
        """The words after `bestmove` that follow these lines."""
        self.say(*lines)
        return self.hear("bestmove").split()[1:]

    def leave(self, line: str | None = "quit") -> list[str]:
        """Quit, or end the input; what was still said."""
        self._in.put(line)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return list(iter(self._out.get_nowait, None))


if __name__ == "__main__":
    serve(evaluation(), lines_of(sys.stdin.buffer), lambda line: print(line, flush=True), "it", "hand")
