"""The page of `tuner tournament`: ratings and crosstable."""

import math
from pathlib import Path

from tuner.findings.matches import read_standings
from tuner.report.charts import percent, points_chart, whole
from tuner.report.run import run_of
from tuner.report.sections import Page, Section, Tile, options_section
from tuner.report.verdict import Verdict
from tuner.results.standings import Standings, crosstable_of, list_of, remarks_of, table_of

SURE = 0.95  # likelihood of superiority from which on the first is said to be best


def tournament_page(folder: Path) -> Page:
    """Return the page of a tournament, which may still be running. InputError for damage."""
    standings, lines = read_standings(folder)
    settings, run = standings.settings, run_of(folder)
    sections = [
        _standings(standings),
        _chart(standings),
        _against(standings),
        options_section(run),
    ]
    total = settings.games * len(settings.pairings)
    plies = sum(sum(line.plies) for line in lines) / max(2 * len(lines), 1)
    tiles = [
        Tile("Players", whole(len(settings.names)), settings.conditions),
        Tile("Games played", whole(2 * len(lines)), f"of {whole(total)} at most"),
        Tile("Average length", whole(plies), "plies"),
        Tile("Openings", standings.openings),
    ]
    return Page(run, folder.resolve().name, sections, tiles, [_verdict(standings)])


def _verdict(standings: Standings) -> Verdict:
    """Return who leads, and whether that is significant; of a ladder, the rating of its player."""
    (first, second), settings = standings.order[:2], standings.settings
    names = standings.names[first], standings.names[second]
    if settings.ladder:
        sentence = f"{standings.names[0]} is rated {standings.rating_text(0)} {standings.unit}"
        detail = f"Against {len(settings.names) - 1} levels of {settings.ladder[0]}"
        return Verdict("not decided", names, sentence, detail)
    chance = standings.superiority(0)
    detail = f"Rated {standings.rating_text(first)} {standings.unit} and"
    detail += f" {standings.rating_text(second)}"
    if chance is not None:
        detail += f"; likelihood that it is the better one {percent(chance)}"
    if chance is not None and chance >= SURE:
        return Verdict("better", names, f"{names[0]} is first, before {names[1]}", detail)
    sentence = f"{names[0]} leads, but these games do not show that it is better than {names[1]}"
    return Verdict("not decided", names, sentence, detail)


def _standings(standings: Standings) -> Section:
    notes = remarks_of(standings)
    data = {"label": "Ratings", "rows": table_of(standings), "notes": notes}
    return Section("standings", "Ratings", "grid", data)


def _against(standings: Standings) -> Section:
    gauntlet = standings.settings.gauntlet
    rows = list_of(standings, 0) if gauntlet else crosstable_of(standings)
    data = {"label": "Points of each against each", "rows": rows, "notes": []}
    return Section("against", "Cross-table", "grid", data)


def _chart(standings: Standings) -> Section | None:
    """Draw the ratings that have an interval."""
    ratings = {standings.names[i]: standings.rated.rating(i) for i in standings.order}
    known = {name: each for name, each in ratings.items() if math.isfinite(each.standard_error)}
    if not known:
        return None
    chart = points_chart(
        "Ratings",
        f"{standings.unit}, with 95 % interval",
        known,
    )
    return Section("ratings", "Intervals", "charts", {"charts": [chart]})
