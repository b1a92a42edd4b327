"""The sections of a page: for each that a run has something for, its data for the template of the same name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import yaml

from games.streams import InputError
from tuner.parameters import game_of, read_parameters
from tuner.report import boards, figures, numbers, positions
from tuner.report.gather import MATCH, SELFPLAY, TUNE, Run
from tuner.report.matches import Match
from tuner.report.text import MISSING, known, number, short, signed, together, whole

MOST_TILES = 3  # of matches, the last that were named


@dataclass(frozen=True)
class Section:
    """A part of the page: `name` is its anchor, `template` how it is shown, `data` what it shows."""

    name: str
    title: str
    template: str
    data: dict


@dataclass(frozen=True)
class Tile:
    """A number in large type: what it is, and a line of detail."""

    label: str
    value: str
    detail: str = ""


def sections_of(run: Run) -> list[Section]:
    """All sections that there is something for, in the order of the page."""
    if run.kind == MATCH:
        found = [_match_section(match, i) for i, match in enumerate(run.matches)]
        found[0] = replace(found[0], title="Result")
    else:
        found = [_values(run), _advice(run), _elo(run), *(_match_section(match, i) for i, match in enumerate(run.matches)),
                 _curves(run), _tables(run), _lists(run), _numbers(run), _calibration(run), _identifiability(run), _draws(run),
                 _misjudged(run), _data(run)]
    return [section for section in (*found, _repeat(run)) if section is not None]


def tiles_of(run: Run) -> list[Tile]:
    """What to know first."""
    matches = [_match_tile(run, match) for match in run.matches[-MOST_TILES:]]
    if run.kind == MATCH:
        return [_match_tile(run, run.matches[0]), *_counts_of(run.matches[0])]
    if run.kind == SELFPLAY:
        return [*_played(run), *matches]
    return [*_losses(run), *matches]


def _losses(run: Run) -> list[Tile]:
    result, change = run.findings.get("result", {}), run.findings.get("held_out_change")
    result = result or run.learned.learned
    tiles = []
    if known(result.get("held_out_after")):
        detail = f"from {number(result['held_out_before'], 4)}"
        if change and known(change["difference"]):
            detail += (f": {signed(change['difference'], 4) or '0'} "
                       + together(f"[{number(change['low'], 4)}, {number(change['high'], 4)}]"))
        tiles.append(Tile("Held-out loss", number(result["held_out_after"], 4), detail))
    if known(result.get("loss_after")):
        tiles.append(Tile("Loss", number(result["loss_after"], 4),
                          f"from {number(result.get('loss_before'), 4)}, {result.get('loss', 'mean of a position')}"))
    if known(result.get("positions")):
        held = result.get("held_out_games")
        tiles.append(Tile("Learned from", whole(result["positions"]), f"positions of {whole(result.get('games'))} games"
                          + (f"; {whole(held)} games held out" if held else "")))
    return tiles


def _played(run: Run) -> list[Tile]:
    if not run.history:
        return []
    last = run.history[-1]
    settings = run.settings
    limit = f"depth {settings['depth']}" if settings.get("depth") else f"{whole(settings.get('nodes'))} nodes a move"
    unfinished = known(settings.get("games")) and known(last["games"]) and last["games"] < settings["games"]
    tiles = [Tile("Games played", whole(last["games"]), limit + (f"; {whole(settings['games'])} were asked for"
                                                               if unfinished else ""))]
    if known(last.get("cpu_seconds")):
        tiles.append(Tile("CPU time", f"{number(last['cpu_seconds'] / 60)} min", f"{number(last['cpu_seconds'], 0)} seconds"))
    tiles.append(Tile("Teacher", str(settings.get("backup", MISSING)), f"λ {short(settings.get('trace'))}"))
    return tiles


def _match_tile(run: Run, match: Match) -> Tile:
    """Elo of the match; from the view of what this run learned, if it played second."""
    names, elo = match.names, match.plain["elo"]
    value, low, high = elo["value"], elo["low"], elo["high"]
    if side_of(run, match) == 1:
        names = names[::-1]
        value, low, high = (None if end is None else -end for end in (value, high, low))
    return Tile(f"Elo of {names[0]}", signed(value, 0) or "0" if known(value) else MISSING,
                together(f"[{signed(low, 0) or '0'}, {signed(high, 0) or '0'}]") + f" against {names[1]}, "
                f"{whole(match.plain['games'])} games, {match.conditions}")


def side_of(run: Run, match: Match) -> int | None:
    """Which player of a match, 0 or 1, plays what this run learned; None if neither does, as far as one can see."""
    if run.learned is None:
        return None
    for side, path in enumerate(match.copies):
        try:
            if path is None or game_of(path) != run.learned.game:
                continue
            other = read_parameters(path, run.learned.layout, run.learned.game, add_missing=True)
        except InputError:  # terms that this run knows nothing of
            continue
        if other.weights.shape == run.learned.weights.shape and np.allclose(other.weights, run.learned.weights, atol=0.006):
            return side
    return None


def _counts_of(match: Match) -> list[Tile]:
    plain = match.plain
    tiles = [Tile("Games", whole(plain["games"]), f"+{plain['wins']} −{plain['losses']} ={plain['draws']}"),
             Tile("Average length", number(match.plies, 0), "plies")]
    if match.test is not None:
        lower, upper = match.test.bounds
        tiles.append(Tile("LLR", number(plain["sprt"]["llr"], 2), f"bounds {number(lower, 2)}, {number(upper, 2)}"
                          + (f"; {match.decision} accepted" if match.decision else "; not decided")))
    return tiles


def _match_section(match: Match, i: int) -> Section:
    title = f"{match.names[0]} against {match.names[1]}"
    return Section(f"match-{i + 1}", f"Match: {title}", "match", {"match": match, "charts": figures.match_charts(match)})


def _values(run: Run) -> Section | None:
    values = numbers.values(run.initial, run.learned, run.findings.get("ratios", []))
    if not values["rows"]:
        return None
    return Section("values", f"Values: {values['term']}", "values", {
        **values, "charts": figures.value_charts(values), "errors": run.learned.standard_errors is not None})


def _advice(run: Run) -> Section | None:
    advice = run.findings.get("advice")
    return Section("advice", "What to do next", "advice", {"advice": advice}) if advice else None


def _elo(run: Run) -> Section | None:
    points = [{"games": next((games for games in match.learned if games is not None), None), "elo": match.plain["elo"]}
              for match in run.matches if match.learned[0] is not None]
    chart = figures.elo_curve(points) if run.kind == SELFPLAY else None
    return Section("elo", "Strength", "charts", {
        "charts": [chart], "note": "Elo of the first player of each match, by the games that its weights were learned from."
    }) if chart else None


def _curves(run: Run) -> Section | None:
    if run.kind == SELFPLAY:
        charts, key = figures.selfplay_charts(run.history), []
        note = "Thin: each batch of games; thick: the mean of those around it."
    else:
        charts = figures.learning_curves(run.history)
        key = [("learned", "objective: loss and prior, on the games learned from")]
        if any(known(line.get("held_out")) for line in run.history):
            key.append(("second", "loss on held-out games"))
        note = ""
    return Section("learning", "Learning", "charts", {"charts": charts, "key": key, "note": note}) if charts else None


def _tables(run: Run) -> Section | None:
    found = boards.tables(run.initial, run.learned)
    return Section("tables", "Tables", "tables", {
        "tables": found, "errors": run.learned.standard_errors is not None}) if found else None


def _lists(run: Run) -> Section | None:
    charts = numbers.curves(run.initial, run.learned)
    key = [("learned", "learned"), ("initial", "initial")]
    if run.learned.standard_errors is not None:
        key = [("learned", "learned, with its 95 % band"), ("initial", "initial"), ("ring", "not identified")]
    return Section("lists", "Lists", "charts", {"charts": charts, "key": key, "small": True}) if charts else None


def _numbers(run: Run) -> Section:
    return Section("numbers", "Single numbers", "numbers", {
        "rows": numbers.rows(run.initial, run.learned), "stages": len(run.learned.stages) > 1,
        "errors": run.learned.standard_errors is not None})


def _calibration(run: Run) -> Section | None:
    calibration = run.findings.get("calibration", {})
    charts = figures.calibration_charts(calibration)
    held = run.findings.get("result", {}).get("held_out_games")
    return Section("calibration", "Calibration", "calibration", {
        "charts": charts, "held": held, "sides": [(name, calibration[name]) for name in ("before", "after")
                                                   if calibration.get(name)]}) if charts else None


def _identifiability(run: Run) -> Section | None:
    found = run.findings.get("identifiability")
    return Section("identifiability", "What the games can tell", "identifiability", {"found": found}) if found else None


def _draws(run: Run) -> Section | None:
    found = run.findings.get("draws")
    if not found:
        return None
    width, errors = found.get("width"), found.get("errors")
    widths = [(stage, value, errors.get(stage) if isinstance(errors, dict) else None)
              for stage, value in (width.items() if isinstance(width, dict) else [("", width)] if known(width) else [])]
    return Section("draws", "Draws", "draws", {"found": found, "widths": widths})


def _misjudged(run: Run) -> Section | None:
    found = run.findings.get("misjudged", {})
    worst, games = found.get("positions") or [], found.get("games") or []
    return Section("misjudged", "Misjudged", "misjudged", {
        "cards": positions.cards(run.game, worst), "games": games}) if worst or games else None


def _data(run: Run) -> Section | None:
    summary = run.findings.get("summary", {})
    sources = run.findings.get("result", {}).get("data") or run.learned.learned.get("data") or []
    sources = [source for source in sources if isinstance(source, dict)] if isinstance(sources, list) else []
    files = summary.get("files") or []
    hashes = {source.get("file"): source.get("sha256") for source in sources}
    listed = [file | {"sha256": file.get("sha256") or hashes.pop(file["file"], None)} for file in files]
    listed += [{"file": source.get("file"), "sha256": source.get("sha256")} for source in sources
               if source.get("file") not in {file["file"] for file in files}]
    results = summary.get("results") or {}
    total = sum(n for n in results.values() if known(n))
    shares = [(name, results.get(key), results.get(key) / total) for key, name in (
        ("win", "won by the first player"), ("draw", "drawn"), ("loss", "won by the second player"))
        if known(results.get(key)) and total]
    chart = figures.phase_chart(summary.get("phases") or [])
    if not (listed or shares or chart):
        return None
    return Section("data", "Games", "data", {"files": listed, "shares": shares, "total": total,
                                             "charts": [chart] if chart else [],
                                             "losses": any(known(file.get("loss_after")) for file in files)})


def _repeat(run: Run) -> Section:
    result = run.findings.get("result", {})
    facts = [("version", run.version), ("seed", result.get("seed", run.settings.get("seed"))),
             ("folder", str(run.folder))]
    if run.kind == TUNE:
        facts += [("start", result.get("start") or run.started or None), ("scale", short(run.learned.scale)),
                  ("design effect", short(result.get("design_effect")))]
    options = yaml.safe_dump(run.settings, sort_keys=False, allow_unicode=True).rstrip()
    return Section("repeat", "To repeat it", "repeat", {
        "command": run.command, "facts": [(name, value) for name, value in facts if value not in (None, MISSING, "")],
        "options": options, "started": run.started})
