"""An engine that prints rows: positions go to its standard input, one a line, and for each a row in
JSON comes back."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import NoReturn

import numpy as np

from games.process import LONGEST_LINE, EngineProcess
from games.record import EngineFault
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.rows.jsonl import RowReader
from tuner.datasets.rows.values import ExpectedRows, RowBatch, shown

PATIENCE = 60.0  # seconds of silence
MOST_GREETINGS = 1000  # lines before the first answer
FIELDS = 4  # of a FEN without the clocks
MOST_WRONG, FEWEST = 0.01, 1000  # share of rows that are left out, of at least this many answers
WHAT = "an engine that prints rows"


class RowEngine:
    """A running engine; a context manager, which kills it at the end with its children. InputError
    if it cannot be started.

    The engine answers each line with one line: a row as `tuner.datasets.rows.jsonl` reads it, or
    `{"error": "..."}`. What it prints before its first answer is skipped. Whatever else comes, or
    does not come, is an InputError of one line."""

    def __init__(self, command: str, expected: ExpectedRows) -> None:
        self.command = command
        self._process = EngineProcess(command, WHAT, bulk=True)
        self._reader = RowReader(f"answers of {command}", expected)
        self._lines: list[bytes] = []  # answers that were read, but not taken
        self._rest = b""  # the line that is not complete
        self._asked: list[str] = []  # positions whose answers are awaited
        self._before = 0  # answers before theirs
        # lines before the first answer, and the last of them
        self._greetings, self._greeting = 0, ""
        self.answered = self.without_row = self.wrong = 0
        self.reason = ""  # of the first position without a row
        self.fault = ""  # of the first wrong row

    def __enter__(self) -> RowEngine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._process.kill()
        self._process.end()

    def ask(self, texts: Sequence[str]) -> None:
        """Send positions, without waiting for the answers."""
        self._process.say("".join(f"{text}\n" for text in texts).encode())

    def no_more(self) -> None:
        """Close the engine's input: one that keeps its last answers in a buffer prints them now."""
        self._process.end_input()

    def rows(
        self, texts: list[str], progress: Callable[[int], None]
    ) -> Iterator[tuple[RowBatch, np.ndarray]]:
        """Wait for the answers to the positions that were sent first; yield rows, and which (k,) of
        the positions they are of.

        Wrong rows are left out if they are few. `progress` is called with the number of positions
        that have been answered.
        """
        self._asked, self._before = texts, self.answered
        lines = self._answers(len(texts), progress)
        block, places, begin = b"\n".join([*lines, b""]), np.arange(len(lines)), 0
        if b'"error"' in block:
            errors = self._errors(lines)
            for i, error in errors.items():
                lines[i] = b"#"  # a comment, so that the next lines keep their numbers
                self.reason = self.reason or error
            self.without_row += len(errors)
            block, places = b"\n".join([*lines, b""]), np.delete(places, list(errors))
        try:
            batches = list(self._reader.batches(block))
        except InputError:
            wrong = self._wrong(lines, texts)
            for i in wrong:
                lines[i] = b"#"
            places = np.setdiff1d(places, wrong)
            batches = list(self._reader.batches(b"\n".join([*lines, b""])))
        for batch in batches:
            some = places[begin : begin + len(batch.phase)]
            begin += len(some)
            asked = [texts[i] for i in some.tolist()]
            if batch.text is not None and batch.text != asked:
                for i, about in zip(some.tolist(), batch.text, strict=True):
                    self._compare(about, i)
            yield batch._replace(text=asked), some

    def _wrong(self, lines: list[bytes], texts: list[str]) -> list[int]:
        """Return the places of wrong rows; InputError if they are too many."""
        wrong, begun = [], self._reader.line
        for i, line in enumerate(lines):
            self._reader.begin_at(begun + i)
            try:
                for _ in self._reader.batches(line + b"\n"):
                    pass
            except InputError as problem:
                wrong.append(i)
                self.fault = self.fault or f"{problem}; it is of {texts[i]}"
        self._reader.begin_at(begun)
        self.wrong += len(wrong)
        self._require_few(FEWEST)
        return wrong

    def _require_few(self, fewest: int = 0) -> None:
        if self.wrong > MOST_WRONG * max(self.answered, fewest):
            raise InputError(
                f"{self.fault}; {self.wrong:,} of {plural(self.answered, 'row')} are faulty,"
                f" expected at most {100 * MOST_WRONG:g} %"
            )

    def finish(self) -> None:
        """InputError if too many rows were wrong, or if the engine prints answers to positions that
        were not asked."""
        self._require_few()
        try:
            while not self._lines:
                self._read()
        except EngineFault:
            return  # its end, or silence
        raise InputError(
            f"{self.command}: printed {shown(self._text(self._lines[0]))} after its"
            f" {plural(self.answered, 'answer')}; expected one line for each position, since rows"
            " belong to positions by their order; print nothing else"
        )

    def _answers(self, n: int, progress: Callable[[int], None]) -> list[bytes]:
        """Return the next n answers."""
        answers: list[bytes] = []
        while len(answers) < n:
            if not self._lines:
                try:
                    self._read()
                except EngineFault as problem:
                    self._fail(
                        str(problem)
                        + (
                            f" within the line {shown(self._text(self._rest))}"
                            if self._rest
                            else ""
                        )
                    )
            some, self._lines = self._lines[: n - len(answers)], self._lines[n - len(answers) :]
            answers += some
            self.answered += len(some)
            progress(self.answered)
        return answers

    def _read(self) -> None:
        """Add the lines of the next piece of output; EngineFault at its end or after a long
        silence."""
        piece = self._process.piece(PATIENCE)
        *whole, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            self._fail(f"printed a line of more than {LONGEST_LINE:,} bytes")
        for line in whole:
            if line.startswith(b"{"):
                self._lines.append(line)
            elif not line.strip():
                continue
            elif self.answered or self._lines:
                self._fail(f"printed {shown(self._text(line))}, which is no row,")
            else:
                self._greetings, self._greeting = self._greetings + 1, self._text(line)
                if self._greetings > MOST_GREETINGS:
                    self._fail(f"printed {plural(self._greetings, 'line')} that are no rows")

    def _errors(self, lines: list[bytes]) -> dict[int, str]:
        """Return by place the reasons of the engine for having no row."""
        errors = {}
        for i, line in enumerate(lines):
            if b'"error"' not in line:
                continue
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError):
                continue  # the reader says what is wrong
            if "error" in answer:
                errors[i] = shown(answer["error"])
                if isinstance(about := answer.get("fen"), str):
                    self._compare(about, i)
        return errors

    def _compare(self, about: str, i: int) -> None:
        """InputError if the answer to position i is about another one."""
        asked = self._asked[i]
        if about and about.split()[:FIELDS] != asked.split()[:FIELDS]:
            raise InputError(
                f"{self.command}: answer {self._before + i + 1:,} has the fen {shown(about)!r}, but"
                f" {asked!r} was asked; expected one answer for each line, in order; print the line"
                " that was read as fen, or leave fen out"
            )

    def _fail(self, what: str) -> NoReturn:
        done = self.answered + len(self._lines)
        said = self._process.complaint
        if self._greeting and not done:
            said = f" (its last line: {shown(self._greeting)}){said}"
        at = done - self._before
        try_it = (
            f"; try echo {shlex.quote(self._asked[at])} | {self.command}"
            if at < len(self._asked)
            else ""
        )
        raise InputError(
            f"{self.command}: {what} after {plural(done, 'answer')}{said}; expected a line of JSON"
            f" for each line of standard input{try_it}"
        )

    @staticmethod
    def _text(line: bytes) -> str:
        return line.decode("utf-8", "replace").rstrip("\r")
