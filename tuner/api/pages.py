"""Reports about runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tuner.api.arguments import typed
from tuner.io.files import PAGE, replace_file, require_writable
from tuner.report.page import render
from tuner.report.run import read_run


@typed
def write_report(run: str | Path, output: str | Path | None = None, matches: Iterable[str | Path] = ()) -> Path:
    """Write one self-contained HTML page about the folder of a run (of `tuner.tune(..., run=...)`, a match or self-play), with
    the folders of `matches` that the learned weights played. By default it is `report.html` in the folder."""
    folder, played = Path(run), [Path(match) for match in matches]
    found = read_run(folder, played)
    page = Path(output) if output is not None else folder / "report.html"
    require_writable(page, PAGE, (str(folder), *map(str, played)))
    replace_file(page, render(found)[0])
    return page
