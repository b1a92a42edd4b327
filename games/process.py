"""The process of an engine, and players that are processes.

The output of a process is read and its input written in threads, so that full pipes never block."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from typing import Protocol

from games.record import CRASH, STALL, EngineFault, Forfeit
from games.streams import InputError

PIECE = 1 << 16  # bytes
SMALL_PIECE, BULK_SECONDS = PIECE // 4, 0.001
WAITING_PIECES = 64  # read ahead of what is taken
MOST_WITHOUT_ANSWER = 1 << 25  # bytes
LONGEST_LINE = 1 << 20  # bytes
KEPT_COMPLAINTS = 1 << 12  # bytes
COMPLAINT_SECONDS = 0.5
QUIT_SECONDS = 1.0
GUARD_SECONDS = 10.0


class Killable(Protocol):
    """The process of an engine."""

    def kill(self) -> None:
        """Kill the process and its children; from any thread."""


alive: set[Killable] = set()

GUARDED = "EVALTUNE_GUARDED"  # in the environment of what is started: marks, one for each tuner
# waits for the end of its input, then kills what has the mark until nothing is left
GUARD = """
trap '' INT TERM HUP QUIT
while read -r line; do :; done
tries=0
while found=$(grep -lsF "$1" /proc/[0-9]*/environ); [ -n "$found" ] && [ $tries -lt 100 ]; do
  for each in $found; do each=${each%/environ}; kill -KILL "${each#/proc/}" 2>/dev/null; done
  tries=$((tries + 1)); sleep 0.05
done
"""
_guards: list[subprocess.Popen] = []
_guarding = threading.Lock()


def guard() -> None:
    """Make sure that nothing that this process starts from now on outlives it, not even a `kill -9`
    or a session of its own: a shell waits for the end of this process, and kills whatever has a
    mark in its environment. Only Linux shows environments; elsewhere a process that is killed
    leaves its engines to the end of their input."""
    with _guarding:
        if _guards or not os.path.exists("/proc/self/environ"):
            return
        mark = os.urandom(8).hex()
        _guards.append(
            subprocess.Popen(
                ["/bin/sh", "-c", GUARD, "sh", mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={"PATH": os.environ.get("PATH", os.defpath)},  # without any mark
            )
        )
        os.environ[GUARDED] = f"{os.environ.get(GUARDED, '')}{mark}:"


def words_of(command: str, what: str) -> list[str]:
    """Return the words of a command, first the path of its program; InputError, which names `what`
    was expected, without one."""
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise InputError(f"{command}: not a command: {problem}") from None
    path = shutil.which(words[0]) if words else None
    if path is None:
        raise InputError(
            f"{words[0] if words else repr('')}: no such program, expected the command of {what}"
        )
    return [path, *words[1:]]


def kill_group(number: int) -> None:
    """Kill the process of that number, which has a session of its own, and its children."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(number, signal.SIGKILL)  # the group outlives its leader
        else:
            os.kill(number, signal.SIGTERM)


class EngineProcess:
    """A running engine; InputError, which names `what` was expected, if it cannot be started.

    With `bulk` the output is read in large pieces, each a moment late, and the last line of
    standard error is kept; otherwise at once, and standard error is dropped."""

    def __init__(self, command: str, what: str = "a uci engine", bulk: bool = False) -> None:
        self.command, self._bulk = command, bulk
        words = words_of(command, what)
        guard()
        try:
            # a session of its own: Ctrl-C does not reach it, and its children can be killed with it
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if bulk else subprocess.DEVNULL,
                bufsize=0,
                start_new_session=hasattr(os, "killpg"),
            )
        except OSError as problem:
            raise InputError(f"{command}: {problem.strerror}; is it {what}?") from None
        alive.add(self)
        self._pieces: queue.Queue[bytes] = queue.Queue(WAITING_PIECES)
        self._texts: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._rest = b""
        self._ended = False
        self._complaints = b""
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()
        self._complaining = threading.Thread(target=self._read_complaints, daemon=True)
        if bulk:
            self._complaining.start()

    @property
    def number(self) -> int:
        """The number by which the system knows the process."""
        return self._process.pid

    def say(self, text: bytes) -> None:
        """Write whole lines, in one piece, without waiting for the engine."""
        self._texts.put(text)

    def end_input(self) -> None:
        """Close the engine's standard input after what was said."""
        self._texts.put(None)

    def piece(self, seconds: float) -> bytes:
        """Return the next piece of the output; EngineFault if it has ended, or nothing comes within
        that time."""
        rest, self._rest = self._rest, b""
        if piece := rest or self._piece(time.monotonic() + seconds):
            return piece
        raise EngineFault(
            self._end_text() if self._ended else f"printed nothing within {seconds:g} s"
        )

    @property
    def complaint(self) -> str:
        """The last line that the engine printed to standard error, if that is kept."""
        if self._bulk:
            self._complaining.join(
                COMPLAINT_SECONDS
            )  # one that has ended may have said why just before
        return next(
            (
                line.strip()
                for line in reversed(self._complaints.decode("utf-8", "replace").splitlines())
                if line.strip()
            ),
            "",
        )

    def until(self, last: bytes, seconds: float) -> list[bytes]:
        """Read lines up to one that begins with `last`; EngineFault says what came instead: end,
        silence, or too much."""
        lines: list[bytes] = []
        read, deadline = 0, time.monotonic() + seconds
        while True:
            *whole, self._rest = self._rest.split(b"\n")
            for i, line in enumerate(whole):
                lines.append(line.rstrip(b"\r"))
                if line.startswith(last):
                    self._rest = b"\n".join([*whole[i + 1 :], self._rest])
                    return lines
            if len(self._rest) > LONGEST_LINE:
                raise EngineFault(f"a line of more than {LONGEST_LINE:,} bytes")
            before, self._rest = self._rest, b""
            piece = self._piece(deadline)
            read += len(piece)
            if read > MOST_WITHOUT_ANSWER:
                raise EngineFault(
                    f"more than {MOST_WITHOUT_ANSWER:,} bytes without `{last.decode()}`"
                )
            if not piece:
                lacking = f"no `{last.decode()}`" if last else "printed nothing"
                raise EngineFault(
                    self._end_text() if self._ended else f"{lacking} within {seconds:g} s"
                )
            self._rest = before + piece

    def kill(self) -> None:
        """Kill the process and its children; from any thread."""
        kill_group(self._process.pid)
        self._texts.put(None)
        alive.discard(self)

    def quit(self) -> None:
        """Ask the engine to end, and kill it soon."""
        self.say(b"quit\n")
        self.end()

    def end(self) -> None:
        """Give the engine a moment to end, then kill it and its children."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)

    def _piece(self, deadline: float) -> bytes:
        """The next piece of the output, empty at its end and at the deadline."""
        if self._ended:
            return b""
        try:
            piece = self._pieces.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return b""
        self._ended = not piece
        return piece

    def _end_text(self) -> str:
        try:
            status = self._process.wait(QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its output"
        return f"exited with status {status}" if status >= 0 else f"ended by signal {-status}"

    def _read(self) -> None:
        out = self._process.stdout
        assert out is not None
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(out.fileno(), PIECE):
                self._pieces.put(piece)
                if self._bulk and len(piece) < SMALL_PIECE:
                    time.sleep(BULK_SECONDS)  # most engines write each line by itself
        self._pieces.put(b"")

    def _read_complaints(self) -> None:
        errors = self._process.stderr
        assert errors is not None
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(errors.fileno(), PIECE):
                self._complaints = (self._complaints + piece)[-KEPT_COMPLAINTS:]

    def _write(self) -> None:
        into = self._process.stdin
        assert into is not None
        with contextlib.suppress(OSError, ValueError):  # a closed pipe: the reader notices the end
            while (text := self._texts.get()) is not None:
                left = memoryview(text)
                while left:
                    left = left[into.write(left) :]
        with contextlib.suppress(OSError):
            into.close()


def cpu_seconds(process: int) -> float | None:
    """Return the CPU time that another process has used, None where the system does not tell."""
    try:
        with open(f"/proc/{process}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@atexit.register
def _end_all() -> None:
    """Kill all engines, and whatever else was started, when this process exits."""
    for process in list(alive):
        process.kill()
    for each in _guards:
        assert each.stdin is not None
        each.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            each.wait(GUARD_SECONDS)


SILENT = re.compile("no `|printed nothing")


class RestartedPlayer(ABC):
    """A player that runs another program, which is started again for the next game after it has
    ended."""

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
        """Write a text and read lines up to one that begins with `last`; Forfeit after `patience`
        seconds of silence."""
        if self._process is None:
            raise Forfeit(CRASH, "ended before")
        self._process.say(text.encode())
        try:
            return self._process.until(last, patience)
        except EngineFault as problem:
            self._end()
            silent = SILENT.match(str(problem))
            raise Forfeit(
                STALL if silent else CRASH,
                f"no move within {patience:g} s" if silent else str(problem),
            ) from None

    def cpu_seconds(self) -> float | None:
        """Return the CPU time that the program has used; None if it has ended, and where the system
        does not tell."""
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
