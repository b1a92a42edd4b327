"""The page of `tuner optimize`: the best values so far with their intervals, what each is worth,
how both went over the games, and the match that decides. The run may be unfinished."""

import math
from pathlib import Path

from tuner.core.records import InputError, convert
from tuner.core.store import DATABASE, ESTIMATE, read_records
from tuner.core.text import plural
from tuner.findings.matches import read_match
from tuner.io.run_folder import kind_of
from tuner.report.charts import line_chart, number, series_of, shown, whole
from tuner.report.run import run_of
from tuner.report.sections import Page, Section, Tile, options_section
from tuner.report.verdict import Verdict
from tuner.results.match import MatchResult
from tuner.results.optimized import BETTER, TunedEstimate

OPTIMIZE = "optimize"
MOST_CHARTS = 12


def optimize_page(folder: Path) -> Page:
    """Return the page of an optimization."""
    lines = [
        convert(plain, TunedEstimate, f"{folder / DATABASE}: {ESTIMATE} {number}")
        for number, plain in enumerate(read_records(folder, ESTIMATE))
    ]
    lines = list({line.games: line for line in lines}.values())  # one for each number of games
    if not lines or not lines[-1].numbers:
        raise InputError(f"{folder}: there is no estimate yet; the first comes after some games")
    match = _last_match(folder)
    run = run_of(folder, [match] if match else [])
    sections = [_numbers(lines[-1]), *_curves(lines), options_section(run)]
    name = folder.resolve().name
    return Page(run, name, sections, _tiles(lines[-1]), [_verdict(folder, match)])


def _last_match(folder: Path) -> MatchResult | None:
    """Read the match that decided last, if one was begun."""
    begun = [
        place for place in folder.glob("match-*") if place.name[6:].isdecimal() and kind_of(place)
    ]
    last = max(begun, key=lambda place: int(place.name[6:]), default=None)
    return read_match(last) if last is not None else None


def _verdict(folder: Path, match: MatchResult | None) -> Verdict:
    names = ("the best values", "the given ones")
    if match is None:
        sentence, detail = "No match has decided yet", "What follows is a model of the games so far"
        return Verdict("not decided", names, sentence, detail)
    detail = f"{match.block[1]}; {plural(match.games, 'game')}"
    if match.decision == BETTER:
        sentence = "The best values beat the given ones in the match"
        return Verdict("better", names, sentence, detail, f"They are in {folder / 'best.txt'}.")
    return Verdict("not decided", names, "No match shows that the best values are better", detail)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"


def _numbers(last: TunedEstimate) -> Section:
    """The table of all numbers, those that are worth most first."""
    rows = [
        {
            "name": one.name,
            "given": _number(one.given),
            "best": _number(one.best.value),
            "interval": f"{_number(one.best.low)} to {_number(one.best.high)}",
            "worth": shown(one.worth, last.digits, "+,"),
            "verdict": one.verdict,
        }
        for one in last.by_worth
    ]
    return Section(
        "numbers", "Numbers", "optimized", {"rows": rows, "doubt": last.doubt, "unit": last.unit}
    )


def _curves(lines: list[TunedEstimate]) -> list[Section]:
    """Gain and values over the games, if there are several estimates."""
    if len(lines) < 2:
        return []
    games = [line.games for line in lines]
    gains = [line.gain for line in lines]
    charts = [
        line_chart(
            "Gain over the given values",
            "games",
            lines[-1].unit,
            [series_of("line", games, gains)],
            level=0.0,
        )
    ]
    chosen = sorted(lines[-1].numbers, key=lambda one: -abs(one.known_worth))[:MOST_CHARTS]
    for last in chosen:
        best = [
            next((one for one in line.numbers if one.name == last.name), last).best
            for line in lines
        ]
        series = [series_of("line", games, best)]
        charts.append(line_chart(last.name, "games", "value", series, level=last.given))
    note = "Bands are 95 % intervals, by the model of the games so far; dashes the given values."
    return [Section("curves", "Over the games", "charts", {"charts": charts, "note": note})]


def _tiles(last: TunedEstimate) -> list[Tile]:
    faults = ", ".join(f"{whole(count)} {what[2:]}" for what, count in last.forfeits.items())
    lost = [Tile("Lost by faults", whole(sum(last.forfeits.values())), faults)] if faults else []
    return [
        *lost,
        Tile("Games", whole(last.games)),
        Tile(
            "Gain",
            shown(last.gain, last.digits, "+,"),
            f"{last.unit} over the given values",
        ),
        Tile("Remaining gain", number(last.left, last.digits), f"{last.unit} to the optimum"),
        Tile(
            "After as many games again",
            number(last.left_later, last.digits),
            f"{last.unit} of remaining gain",
        ),
    ]
