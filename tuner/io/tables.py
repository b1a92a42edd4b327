"""Tables of text: for a terminal through rich, or as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 160  # of a table that goes into a file or another program
GAP = "    "  # between grids


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool = False,
               narrow: bool = False) -> None:
    """Print a table; the first column is text, the others are numbers; `narrow`: one space between columns."""
    if markdown:
        lines = ["| " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) - 1)]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        print(f"### {title}\n\n" + "\n".join(lines) + "\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=narrow)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console().print(title, style="bold", soft_wrap=True)
    console().print(table)
    print()


def console() -> Console:
    """Standard output, wide where it is no terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH, markup=False)


def number(value: float | None, digits: int = 1) -> str:
    """A number as people write it; a dash for None."""
    if value is None:
        return "-"
    text = f"{value:.{digits}f}"
    return text[1:] if text.strip("-0.") == "" and text.startswith("-") else text


def signed(value: float | None, digits: int = 1) -> str:
    """A change: with its sign, nothing for zero."""
    if value is None:
        return "-"
    text = f"{value:+.{digits}f}"
    return "" if text.strip("+-0.") == "" else text


def side_by_side(blocks: Sequence[tuple[str, Sequence[Sequence[str]]]], markdown: bool = False) -> str:
    """Grids of text next to each other, each under its heading; in several rows of grids where the width needs it."""
    texts = [_block(head, rows) for head, rows in blocks]
    room = PIPE_WIDTH if markdown else console().width
    for per_row in range(len(texts), 0, -1):  # as many as fit, spread evenly
        if len(texts) % per_row and per_row > 1 and -(-len(texts) // per_row) == -(-len(texts) // (per_row - 1)):
            continue
        groups = [texts[i:i + per_row] for i in range(0, len(texts), per_row)]
        if per_row == 1 or max(sum(len(text[0]) + len(GAP) for text in group) - len(GAP) for group in groups) <= room:
            break
    lines = [GAP.join(parts).rstrip() for group in groups for parts in zip(*group, strict=True)]
    return "\n".join(["```", *lines, "```"] if markdown else lines)


def _block(head: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a grid, all of one width."""
    width = max(len(cell) for row in rows for cell in row)
    span = max(len(rows[0]) * (width + 1) - 1, len(head))
    return [head.ljust(span), *(" ".join(cell.rjust(width) for cell in row).ljust(span) for row in rows)]
