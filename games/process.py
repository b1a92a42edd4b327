"""The process of an engine: its lines in and out, and its end."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import select
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO

from games.record import EngineFault, EngineSilent
from games.streams import InputError, one_line
from games.system import APART, POLLS, kill_group, prepare_pipe, split

PIECE = 1 << 13  # bytes
BULK_PIPE, BULK_SECONDS = 1 << 20, 0.001
MOST_FORGOTTEN = 64  # pieces
WATCH_SECONDS = 0.25  # after which a silent engine is looked at: it may have ended
MOST_WITHOUT_ANSWER = 1 << 25  # bytes
LONGEST_LINE = 1 << 20  # bytes
KEPT_COMPLAINTS = 1 << 12  # bytes
LONGEST_COMPLAINT = 200  # that is shown
COMPLAINT_SECONDS = 0.5
QUIT_SECONDS = 5.0  # for the end of an engine: one may learn from its last game
STATUS_SECONDS = 1.0  # from the end of its output to its own
GUARD_SECONDS = 10.0


alive: set[EngineProcess] = set()
BEGUN = time.monotonic()
LOG = "# seconds, the engine with the number of its process, > to it, < from it\n"
RECENT = 6  # lines that are kept to explain a fault
_logs: list[IO[str]] = []  # the file of `logged`, if there is one


@contextlib.contextmanager
def logged(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Write the lines that pass between this process and its engines to a file during the block;
    None: to none."""
    with contextlib.ExitStack() as opened:
        if path is not None:
            out = opened.enter_context(open(path, "w", buffering=1, encoding="utf-8"))
            out.write(LOG)
            _logs.append(out)
            opened.callback(_logs.remove, out)
        yield


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
    was expected, without one. A path with blanks needs no quotes if there is such a program."""
    words = split_command(command)
    path = shutil.which(words[0]) if words else None
    if path is None:
        raise InputError(
            f"{words[0] if words else repr('')}: no such program, expected the command of {what}"
        )
    return [path, *words[1:]]


def split_command(command: str) -> list[str]:
    """Split a command as a shell does, except behind the path of a program that has blanks itself;
    InputError for what cannot be split."""
    parts = command.split(" ")
    for end in range(len(parts), 1, -1):
        path = " ".join(parts[:end])
        if os.sep in path and os.path.isfile(path) and os.access(path, os.X_OK):
            return [path, *split_command(" ".join(parts[end:]))]
    try:
        return split(command)
    except ValueError as problem:
        raise InputError(f"{command}: not a command: {problem}") from None


def _read(number: int, size: int = PIECE) -> bytes | None:
    """Read what is there, empty at the end; None if nothing is there."""
    try:
        return os.read(number, size)
    except BlockingIOError:
        return None
    except OSError:
        return b""


class EngineProcess:
    """A running engine; InputError, which names `what` was expected, if it cannot be started.

    With `bulk` the output is read in large pieces, each a moment late; otherwise at once. What the
    engine does not take yet is written while its output is awaited, and the last line of standard
    error is kept; where pipes cannot be polled, a thread reads them, and errors are dropped."""

    def __init__(self, command: str, what: str = "a uci engine", bulk: bool = False) -> None:
        self.command, self._what, self._bulk = command, what, bulk
        words = words_of(command, what)
        guard()
        try:
            # a session of its own: Ctrl-C does not reach it, and its children can be killed with it
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if POLLS else subprocess.DEVNULL,
                bufsize=0,
                **APART,
            )
        except OSError as problem:
            raise InputError(f"{command}: {problem.strerror}; is it {what}?") from None
        alive.add(self)
        self._size = BULK_PIPE if bulk else PIECE  # of what is read at once
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._watch([stream.fileno() for stream in streams if stream is not None])
        self._unsent = b""
        self._full = False  # standard input takes no more
        self._closing = False  # standard input, after what is unsent
        self._lines: deque[bytes] = deque()  # that were read, but not taken
        self._rest = b""  # the line that is not complete
        self._ended = False
        self._complaints = b""
        self._recent: deque[tuple[str, bytes]] = deque(maxlen=RECENT)

    def say(self, text: bytes) -> None:
        """Write whole lines, without waiting for the engine."""
        self._log(">", text.splitlines())
        self._unsent += text
        self._send()

    def end_input(self) -> None:
        """Close the engine's standard input after what was said."""
        self._closing = True
        self._send()

    def piece(self, seconds: float) -> bytes:
        """Return the next piece of the output; EngineFault if it has ended, EngineSilent if nothing
        comes within that time."""
        if piece := self._piece(time.monotonic() + seconds):
            return piece
        raise self._without(f"printed nothing within {seconds:g} s")

    @property
    def complaint(self) -> str:
        """What the engine printed last to standard error, as a part of a message; empty if it
        printed nothing, or if that is not kept."""
        errors, deadline = self._process.stderr, time.monotonic() + COMPLAINT_SECONDS
        if errors is not None:  # an engine that has ended may have said why just before
            watch = select.poll()
            watch.register(errors, select.POLLIN)
            while (left := deadline - time.monotonic()) > 0 and watch.poll(1000 * left):
                if not (piece := _read(errors.fileno())):
                    break
                self._complaints = (self._complaints + piece)[-KEPT_COMPLAINTS:]
        lines = self._complaints.decode("utf-8", "replace").splitlines()
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f", and complained: {one_line(last)[:LONGEST_COMPLAINT]}" if last else ""

    def no_engine(self, problem: EngineFault) -> InputError:
        """Return what to raise for an engine that does not start."""
        return InputError(f"{self.command}: {problem}{self.complaint}; is it {self._what}?")

    def lines(self, last: bytes, seconds: float) -> Iterator[bytes]:
        """Yield lines up to one that begins with `last`; EngineSilent if it does not come within
        that time, EngineFault if the engine ends or prints a line without end."""
        deadline = time.monotonic() + seconds
        while True:
            while self._lines:
                line = self._lines.popleft()
                yield line
                if line.startswith(last):
                    return
            if len(self._rest) > LONGEST_LINE:
                raise EngineFault(f"a line of more than {LONGEST_LINE:,} bytes")
            piece = self._piece(deadline)
            if not piece:
                lacking = f"no `{last.decode()}`" if last else "printed nothing"
                raise self._without(f"{lacking} within {seconds:g} s")
            self._take(piece)

    def until(self, last: bytes, seconds: float) -> list[bytes]:
        """Return the lines up to one that begins with `last`, see `lines`; EngineFault if they are
        too many."""
        lines, read = [], 0
        for line in self.lines(last, seconds):
            lines.append(line)
            read += len(line) + 1
            if read > MOST_WITHOUT_ANSWER:
                raise EngineFault(
                    f"more than {MOST_WITHOUT_ANSWER:,} bytes without `{last.decode()}`"
                )
        return lines

    def forget(self) -> None:
        """Drop what the engine has printed so far: it answers nothing that will be asked."""
        self._lines.clear()
        for _ in range(MOST_FORGOTTEN):
            if not (piece := self._read()):
                break
            self._take(piece)
            self._lines.clear()

    def kill(self) -> None:
        """Kill the process and its children; from any thread."""
        kill_group(self._process.pid)
        alive.discard(self)

    def quit(self) -> None:
        """Ask the engine to end, and kill it soon."""
        self.say(b"quit\n")
        self.end()

    def end(self) -> None:
        """Give the engine a moment to end, then kill it and its children."""
        self.end_input()
        deadline = time.monotonic() + QUIT_SECONDS
        while self._piece(deadline):  # else an engine may wait until somebody reads
            pass
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)

    def _watch(self, numbers: list[int]) -> None:
        """Get ready to read and to write: standard input, output and, if it is kept, error."""
        self._into, self._out = numbers[:2]
        if not POLLS:
            self._pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
            threading.Thread(target=self._listen, daemon=True).start()
            return
        self._poll = select.poll()
        for number in numbers:
            prepare_pipe(number, BULK_PIPE if self._bulk else 0)  # the engine works while we do
            if number != self._into:
                self._poll.register(number, select.POLLIN)

    def _listen(self) -> None:
        while piece := _read(self._out, self._size):
            self._pieces.put(piece)
        self._pieces.put(b"")

    def _take(self, piece: bytes) -> None:
        *whole, self._rest = (self._rest + piece).split(b"\n")
        self._log("<", whole)
        # some engines begin lines with blanks
        self._lines.extend(line.lstrip(b" \t").removesuffix(b"\r") for line in whole)

    @property
    def exchange(self) -> str:
        """The lines that passed last, as part of a message."""
        shown = (f"{way} {one_line(text.decode('utf-8', 'replace'))}" for way, text in self._recent)
        return "; ".join(line[:LONGEST_COMPLAINT] for line in shown)

    def _log(self, way: str, lines: Sequence[bytes]) -> None:
        """Keep the last lines, and write all to the log, if there is one."""
        self._recent.extend((way, line) for line in lines[-RECENT:])
        for out in _logs:
            named = f"{time.monotonic() - BEGUN:.3f} {self.command} ({self._process.pid}) {way}"
            out.writelines(
                f"{named} {line.decode('utf-8', 'replace').rstrip()}\n" for line in lines
            )

    def _piece(self, deadline: float) -> bytes:
        """The next piece of the output, empty at its end and at the deadline."""
        while not self._ended and (left := deadline - time.monotonic()) > 0:
            if not POLLS:
                return self._read(left)
            # an engine that has ended may leave children that keep its output open
            ready = self._poll.poll(1000 * min(left, WATCH_SECONDS))
            if not ready and self._process.poll() is not None:
                self._ended = True
            for number, _ in ready:
                if number == self._into:
                    self._send()
                elif number == self._out:
                    if piece := self._read():
                        return piece
                elif complaint := _read(number):
                    self._complaints = (self._complaints + complaint)[-KEPT_COMPLAINTS:]
                else:
                    self._poll.unregister(number)
        return b""

    def _read(self, seconds: float = 0.0) -> bytes:
        """What the engine has printed, empty if nothing is there; sets the end. Without polls a
        thread reads, which is waited for."""
        if self._bulk:
            time.sleep(BULK_SECONDS)  # most engines write each line by itself
        piece = None
        if POLLS:
            piece = _read(self._out, self._size)
        else:
            with contextlib.suppress(queue.Empty):
                piece = self._pieces.get(timeout=seconds)
        self._ended = self._ended or piece == b""
        return piece or b""

    def _send(self) -> None:
        """Write what the engine takes now; the rest waits until it takes more."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._into, self._unsent) :]
        except BlockingIOError:
            self._full = True
            self._poll.register(self._into, select.POLLOUT)
            return
        except (OSError, ValueError):  # a closed pipe: the end of the output follows
            self._unsent = b""
        if self._full:
            self._full = False
            self._poll.unregister(self._into)
        if self._closing and self._process.stdin is not None:
            self._process.stdin.close()
            self._into = -1

    def _without(self, silence: str) -> EngineFault:
        """The fault of an engine without an answer."""
        if not self._ended:
            return EngineSilent(silence)
        try:
            status = self._process.wait(STATUS_SECONDS)
        except subprocess.TimeoutExpired:
            return EngineFault("closed its output")
        return EngineFault(
            f"exited with status {status}" if status >= 0 else f"ended by signal {-status}"
        )


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
