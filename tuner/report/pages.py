"""Pages of runs that are neither a fit nor a match, by the section of their settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tuner.options import tournament
from tuner.report.improve import IMPROVE, improve_page
from tuner.report.optimize import OPTIMIZE, optimize_page
from tuner.report.sections import Section
from tuner.report.tournament import tournament_page

# each makes the page and its sections from a folder and, of a page that lives, what the run does
# now; InputError for damage
PAGES: Mapping[str, Callable[[Path, Section | None], tuple[str, list[Section]]]] = {
    IMPROVE: improve_page,
    OPTIMIZE: optimize_page,
    tournament.SECTION: tournament_page,
}
