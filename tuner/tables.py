"""Tables of text: for a terminal through rich, or as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 160  # of a table that goes into a file or another program


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool = False) -> None:
    """Print a table; the first column is text, the others are numbers."""
    if markdown:
        lines = ["| " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) - 1)]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        print(f"### {title}\n\n" + "\n".join(lines) + "\n")
        return
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
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
    """Grids of text next to each other, each under its heading."""
    widths = [max(len(cell) for row in rows for cell in row) for _, rows in blocks]
    spans = [max(len(rows[0]) * (width + 1) - 1, len(head)) for (head, rows), width in zip(blocks, widths, strict=True)]
    lines = ["    ".join(head.ljust(span) for (head, _), span in zip(blocks, spans, strict=True)).rstrip()]
    for parts in zip(*(rows for _, rows in blocks), strict=True):
        cells = [" ".join(cell.rjust(width) for cell in row) for row, width in zip(parts, widths, strict=True)]
        lines.append("    ".join(text.ljust(span) for text, span in zip(cells, spans, strict=True)).rstrip())
    return "\n".join(["```", *lines, "```"] if markdown else lines)
