"""What a console shows: tables, and the progress of computations."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from games.record import ReadReport

GAP = "    "  # between grids
NARROWEST = 14  # columns of a terminal that names get at least


def show_table(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    narrow: bool = False,
) -> None:
    """Print a table of one text column and number columns; `narrow`: one space between columns."""
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=narrow)
    for i, cells in enumerate(zip(columns, *rows, strict=True)):
        widest = max(map(len, cells))  # names are folded before a digit is cut
        table.add_column(
            columns[i],
            justify="right" if i else "left",
            no_wrap=i > 0,
            overflow="fold",
            min_width=widest if i else min(widest, NARROWEST),
        )
    for row in rows:
        table.add_row(*row)
    console.print(title, style="bold", soft_wrap=True)
    console.print(table, crop=False)
    console.print()


def show_lines(console: Console, *lines: str | Text) -> None:
    """Print lines without wrapping them."""
    for line in lines:
        console.print(line, soft_wrap=True)


def coloured(change: str) -> Text:
    """Color a change by its sign; a console shows colors only in a terminal."""
    return Text(change, {"+": "green", "-": "red"}.get(change[:1], ""))


def side_by_side(
    blocks: Sequence[tuple[str, Sequence[Sequence[str | Text]]]], width: int
) -> list[Text]:
    """Return the lines of grids side by side, each under its heading; in several rows of grids if
    the width requires it."""
    texts = [_block(head, rows) for head, rows in blocks]
    for per_row in range(len(texts), 0, -1):  # as many as fit, spread evenly
        if (
            len(texts) % per_row
            and per_row > 1
            and -(-len(texts) // per_row) == -(-len(texts) // (per_row - 1))
        ):
            continue
        groups = [texts[i : i + per_row] for i in range(0, len(texts), per_row)]
        if (
            per_row == 1
            or max(sum(len(text[0]) + len(GAP) for text in group) - len(GAP) for group in groups)
            <= width
        ):
            break
    lines = [Text(GAP).join(parts) for group in groups for parts in zip(*group, strict=True)]
    for line in lines:
        line.rstrip()
    return lines


def _block(head: str, rows: Sequence[Sequence[str | Text]]) -> list[Text]:
    """Return the lines of a grid, padded to one width."""
    width = max(len(cell) for row in rows for cell in row)
    span = max(len(rows[0]) * (width + 1) - 1, len(head))
    lines = [
        Text(" ").join(Text(" " * (width - len(cell))).append(cell) for cell in row) for row in rows
    ]
    for line in lines:
        line.pad_right(span - len(line))
    return [Text(head.ljust(span)), *lines]


FEWEST_DONE = 4  # before a pace is known


class Pace:
    """How fast a step of `total` things goes since it began, and how long it still takes at that
    mean speed."""

    def __init__(self, total: int | None) -> None:
        self._total, self._started = total, time.monotonic()
        self._before: int | None = None  # done before this step began to report

    def begin_at(self, done: int) -> None:
        """Set the number that were done before; of several calls the first counts."""
        self._before = done if self._before is None else self._before

    def rate(self, done: int) -> float | None:
        """Return how many are done in a second; None within the first one, and before some are: the
        first of those that several workers do come late."""
        seconds, new = time.monotonic() - self._started, done - (self._before or 0)
        return new / seconds if seconds >= 1 and new >= FEWEST_DONE else None

    def left(self, done: int) -> float | None:
        """Return the seconds that the step still takes; None if that is not known."""
        rate = self.rate(done)
        return None if rate is None or self._total is None else max(self._total - done, 0) / rate


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
        """Report the score of a match or the state of self-play, and how many pairs or games have
        been played."""
