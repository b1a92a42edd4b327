"""The page of `tuner headroom`, and what it adds to the folder of a run."""

from __future__ import annotations

from pathlib import Path

from games.record import Game
from tuner.report.headroom_file import add_headroom as add_headroom
from tuner.report.headroom_file import require_tuned as require_tuned
from tuner.report.page import page_of
from tuner.report.run import Run
from tuner.report.sections import Section, headroom_section
from tuner.version import __version__


def headroom_page(found: dict, game: Game | None) -> str:
    """Return a measurement as a page of its own."""
    run = Run(Path(), "headroom", found["command"], __version__, {}, [], {}, [])
    section = headroom_section(found, game)
    repeat = Section("repeat", "Repeat this measurement", "repeat", {
        "command": found["command"], "facts": [("version", __version__), ("seed", found["seed"])], "options": "", "started": ""})
    return page_of(run, found["start"], [part for part in (section, repeat) if part is not None])
