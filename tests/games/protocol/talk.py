"""A conversation with an engine, line by line."""

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0  # seconds until a test gives up


class Talk:
    """A conversation with an engine that runs in another thread of this process.

    `serve` is that of the protocol; `default` is the name of the evaluation.
    """

    def __init__(self, serve: Callable, evaluation: Any, default: str) -> None:
        self._in: queue.Queue[str | None] = queue.Queue()
        self._out: queue.Queue[str | None] = queue.Queue()
        self.heard: list[str] = []
        self._thread = threading.Thread(
            target=self._serve, args=(serve, evaluation, default), daemon=True
        )
        self._thread.start()

    def _serve(self, serve: Callable, evaluation: Any, default: str) -> None:
        self.searches = serve(evaluation, iter(self._in.get, None), self._out.put, "it", default)
        self._out.put(None)

    def say(self, *lines: str) -> None:
        for line in lines:
            self._in.put(line)

    def hear(self, start: str, within: float = PATIENCE) -> str:
        """The next line that starts so; those before it are kept in `heard`."""
        self.heard, end = [], time.monotonic() + within
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
