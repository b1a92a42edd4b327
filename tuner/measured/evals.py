"""What an engine says of positions: a program that reads FENs and prints its evaluations."""

import os
import re
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from games.process import guard, words_of
from games.streams import InputError, one_line
from games.system import APART, kill_group

LOOK_SECONDS = 1.0  # between looks at what a program has printed
MOST_BYTES = 1 << 12  # of what it prints for a position
SLACK_BYTES = 1 << 22  # beside that
LONGEST_SHOWN = 100  # characters
LARGEST = 1e6  # centipawns
PAWNS = 20.0  # no evaluation of many positions in centipawns is so small
WHOLE = re.compile(rb"[-+]?\d+")
UCI = "uci:"
WHAT = "a program that reads FENs and prints evaluations"


class EvalsFault(InputError):
    """A program did not answer as expected; `reason` says of a number what it does."""

    def __init__(self, text: str, reason: str = "stops the program") -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True)
class Evals:
    """The program: its command, which reads positions to the end of its input and prints a whole
    number for each; or a UCI engine, whose command `eval` prints a number that the group of the
    pattern `line` is, centipawns or, with a point, pawns."""

    command: str
    line: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    words: tuple[str, ...] = ()  # of the command, in a copy of the folder

    def asked(self, texts: Sequence[str], before: Sequence[str] = ()) -> bytes:
        """Return what is written to it for positions, after lines of its own."""
        lines = [*before, *texts]
        if self.line is not None:
            lines = ["uci", *(f"setoption name {k} value {v}" for k, v in self.options.items())]
            lines += [*before, "isready"]
            lines += [line for text in texts for line in (f"position fen {text}", "eval")]
            lines.append("quit")
        return "".join(f"{line}\n" for line in lines).encode()

    def numbers(self, output: bytes) -> tuple[list[float], bytes]:
        """Return the numbers of an output, and the first line that is none, empty if all are."""
        if self.line is not None:
            pattern = re.compile(self.line.encode())
            printed = [match[1] for each in output.splitlines() if (match := pattern.search(each))]
            return [float(text) * (100 if b"." in text else 1) for text in printed], b""
        numbers, odd = [], b""
        for line in map(bytes.strip, output.splitlines()):
            if WHOLE.fullmatch(line):
                numbers.append(float(line))
            elif line and not odd:
                odd = line
        return numbers, odd


def evaluate(
    evals: Evals,
    texts: Sequence[str],
    seconds: float = 600.0,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> np.ndarray:
    """Return the numbers (n,) that a program prints for n positions. EvalsFault for another number
    of them, a number that is no evaluation, a bad end, or more time or text than expected."""
    words = words_of(shlex.join(evals.words) or evals.command, WHAT)
    guard()
    with (
        tempfile.TemporaryFile() as asked,
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as complaints,
    ):
        asked.write(evals.asked(texts, before))
        asked.seek(0)
        try:
            process = subprocess.Popen(
                words,
                stdin=asked,
                stdout=said,
                stderr=complaints,
                env={**os.environ, **(environment or {})},
                **APART,
            )
        except OSError as problem:
            raise InputError(f"{evals.command}: {problem.strerror}; is it {WHAT}?") from None
        most = SLACK_BYTES + MOST_BYTES * len(texts)
        watch = _Watch(process, said, most, seconds)
        status, fault = watch.wait(), watch.fault
        said.seek(0)
        numbers, odd = evals.numbers(said.read(most))
        complaint = _last_line(complaints)
    if not fault and status:
        fault = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
    if not fault and len(numbers) != len(texts):
        fault = f"printed {len(numbers):,} numbers for {len(texts):,} positions"
        if odd:
            shown = one_line(odd.decode("utf-8", "replace"))[:LONGEST_SHOWN]
            fault += f"; its first other line is {shown!r}"
    if not fault and (largest := max(map(abs, numbers), default=0.0)) > LARGEST:
        fault = f"printed {largest:g}, expected centipawns"
    if fault:
        raise EvalsFault(f"{evals.command}: {fault}{complaint}")
    return np.array(numbers)


class _Watch:
    """Kills a program that takes too long or prints too much; `fault` says so."""

    def __init__(
        self, process: subprocess.Popen, said: IO[bytes], most: int, seconds: float
    ) -> None:
        self.fault = ""
        self._process, self._said, self._most, self._seconds = process, said, most, seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        end = time.monotonic() + self._seconds
        while not self._ended.wait(min(LOOK_SECONDS, max(end - time.monotonic(), 0.0))):
            if time.monotonic() >= end:
                self.fault = f"did not end within {self._seconds:.3g} s"
            elif os.fstat(self._said.fileno()).st_size > self._most:
                self.fault = "printed without end"
            if self.fault:
                kill_group(self._process.pid)
                return

    def wait(self) -> int:
        """Wait for the end of the program; return its status."""
        try:
            return self._process.wait()
        finally:
            self._ended.set()
            self._thread.join()
            kill_group(self._process.pid)


def _last_line(complaints: IO[bytes]) -> str:
    """Return the last line that a program wrote to standard error, as part of a message."""
    complaints.seek(max(0, os.fstat(complaints.fileno()).st_size - MOST_BYTES))
    lines = [line for line in complaints.read().decode("utf-8", "replace").splitlines() if line]
    return f", and complained: {one_line(lines[-1])[:LONGEST_SHOWN]}" if lines else ""
