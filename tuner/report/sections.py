"""The sections of a page: the data of each for the template that shows it. A section without data is left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import yaml

from games.record import Game
from tuner.parameters.diff import reach
from tuner.report import boards, numbers, positions, run_charts
from tuner.report.formatting import MISSING, calibration_question, capital, known, number, short, signed, together, whole
from tuner.report.headroom_data import headroom_data
from tuner.report.matches import Match
from tuner.report.played_calibration import played_data
from tuner.report.run import SELFPLAY, TUNE, LearningRun, Run
from tuner.report.significance import (
    CHANCE,
    HELD,
    Significance,
    noise_of,
    significance_of,
    significance_of_selfplay,
)
from tuner.report.strength import measured_lines, points_text, strength
from tuner.report.verdict import lost, reasons, round_text
from tuner.selfplay.watch import headline

# names of the loss that a method minimises, on held-out games
HELD_OUT = {"logistic": "Held-out loss", "rootstrap": "Held-out loss on search scores",
            "scores": "Held-out loss on scores", "td": "Held-out TD loss",
            "td-leaf": "Held-out TD loss"}


@dataclass(frozen=True)
class Section:
    """A part of the page: `name` is its anchor, `template` the file that shows `data`."""

    name: str
    title: str
    template: str
    data: dict


@dataclass(frozen=True)
class Tile:
    """A number in large type with its label and a line of detail."""

    label: str
    value: str
    detail: str = ""


def sections_of(run: Run) -> list[Section]:
    """All sections with data, in the order of the page."""
    matches = [match_section(match, i) for i, match in enumerate(run.matches)]
    found: list[Section | None]
    if not isinstance(run, LearningRun):
        found = [replace(matches[0], title="Result"), *matches[1:]]
    else:
        sure = significance_of_selfplay(run.comparison, run.history) if run.kind == SELFPLAY else \
            significance_of(run.comparison)
        found = [_own_rounds(run), _advice(run), _values(run, sure), _elo(run), *matches,
                 _selfplay(run) if run.kind == SELFPLAY else _curves(run), _tables(run, sure), _lists(run),
                 _numbers(run, sure), _calibration(run), _agreement(run), _identifiability(run), _draws(run), _misjudged(run),
                 headroom_section(run.findings.get("headroom"), run.game), _data(run)]
    return [section for section in (*found, repeat_section(run)) if section is not None]


def tiles_of(run: Run) -> list[Tile]:
    """The most important numbers, shown below the verdict."""
    if not isinstance(run, LearningRun):
        return _counts_of(run.matches[0])
    return _played(run) if run.kind == SELFPLAY else _losses(run)


def _losses(run: LearningRun) -> list[Tile]:
    result = run.findings.get("result") or (run.learned.learned if isinstance(run.learned.learned, dict) else {})
    results, method = result.get("held_out_results"), result.get("method")
    tiles = []
    if isinstance(results, dict) and known(results.get("after")):
        games = f", {whole(results['games'])} {run.games_word}" if known(results.get("games")) else ""
        games += f" of round {whole(result['own_rounds'])}" if len(result.get("own_matches") or []) > 1 else ""
        tiles.append(Tile(f"Held-out loss on {'labels' if run.labelled else 'results'}", number(results["after"], 4),
                          _change_text(results.get("before"), results) + games))
    if known(result.get("held_out_after")) and not (tiles and method == "logistic"):
        tiles.append(Tile(HELD_OUT.get(str(method), "Held-out loss"), number(result["held_out_after"], 4),
                          _change_text(result.get("held_out_before"), run.findings.get("held_out_change") or {})))
    if noise := numbers.noise(result.get("noise"), run.wording.unit):
        tiles.append(Tile(*noise))
    if points := numbers.points(result.get("points")):
        tiles.append(Tile(*points))
    if known(result.get("loss_after")):
        tiles.append(Tile("Training loss", number(result["loss_after"], 4),
                          f"from {number(result.get('loss_before'), 4)}, {result.get('loss', 'mean per position')}"))
    if known(result.get("positions")):
        held = result.get("held_out_games")
        parts = "" if run.labelled else f"of {whole(result.get('games'))} games", \
            f"{whole(held)} {run.games_word} held out" if known(held) and held else ""
        tiles.append(Tile("Training positions", whole(result["positions"]), "; ".join(filter(None, parts))))
    return tiles


def _change_text(before: object, change: dict) -> str:
    """The loss before learning, and its change with the interval."""
    text = f"from {number(before, 4)}"
    if known(change.get("difference")):
        text += f": {signed(change['difference'], 4) or '0'}"
        if known(change.get("low")) and known(change.get("high")):
            text += " " + together(f"[{number(change['low'], 4)}, {number(change['high'], 4)}]")
    return text


def _played(run: LearningRun) -> list[Tile]:
    if not run.history:
        return []
    last = run.history[-1]
    settings = run.settings
    limit = f"depth {settings['depth']}" if settings.get("depth") else f"{whole(settings.get('nodes'))} nodes a move"
    unfinished = known(settings.get("games")) and known(last["games"]) and last["games"] < settings["games"]
    tiles = [Tile("Games played", whole(last["games"]), limit + (f"; {whole(settings['games'])} requested"
                                                               if unfinished else ""))]
    if known(last.get("cpu_seconds")):
        tiles.append(Tile("CPU time", f"{number(last['cpu_seconds'] / 60)} min", f"{number(last['cpu_seconds'], 0)} seconds"))
    tiles.append(Tile("Method", str(settings.get("method", MISSING)),
                      f"λ {short(settings.get('trace'))}" if known(settings.get("trace")) else ""))
    return tiles + measured_tiles(run)


def measured_tiles(run: Run) -> list[Tile]:
    """Return the strength that was measured last during a run, if any was."""
    return [Tile("Points a game", points_text(last),
                 f"against {last['opponent']}, after {whole(last['learned'])} games")
            for last in measured_lines(run.history)[-1:]]


def _counts_of(match: Match) -> list[Tile]:
    plain = match.plain
    tiles = [Tile("Games", whole(plain["games"]), f"+{plain['wins']} −{plain['losses']} ={plain['draws']}"),
             Tile("Average length", number(match.plies, 0), "plies")]
    if match.test is not None:
        lower, upper = match.test.bounds
        tiles.append(Tile("LLR", number(plain["sprt"]["llr"], 2), f"bounds {number(lower, 2)}, {number(upper, 2)}"
                          + (f"; {match.decision} accepted" if match.decision else "; not decided")))
    return tiles


def match_section(match: Match, i: int) -> Section:
    title = f"{match.names[0]} against {match.names[1]}"
    return Section(f"match-{i + 1}", f"Match: {title}", "match", {"match": match, "charts": run_charts.match_charts(match)})


def _own_rounds(run: LearningRun) -> Section | None:
    result = run.findings.get("result") or {}
    rows = [match | {"text": round_text(match), "held_out": match.get("held_out") or {}}
            for match in result.get("own_matches") or []]
    return Section("rounds", "Rounds of own games", "rounds", {
        "rows": rows, "kept": result.get("own_rounds"), "games": result.get("own_games")}) if rows else None


def _values(run: LearningRun, sure: Significance) -> Section | None:
    values = numbers.values(run.comparison, run.findings.get("ratios") or [])
    return Section("values", f"Values: {values['term']}", "values", {
        **values, "charts": run_charts.value_charts(values), "errors": run.learned.standard_errors is not None,
        "sentence": sure.sentence}) if values["rows"] else None


def _advice(run: LearningRun) -> Section | None:
    """The notes of the fit; after a lost match, its possible reasons instead."""
    if lost(run):
        found = reasons(run)
        return Section("advice", "Why it may have lost, and what to change", "advice", {"advice": found}) if found else None
    found, result = list(run.findings.get("advice") or []), run.findings.get("result") or {}
    if result.get("converged") is False:
        norm = f" (gradient norm {short(result['gradient_norm'])})" if known(result.get("gradient_norm")) else ""
        found.insert(0, f"the fit stopped before convergence{norm}; raise --iterations")
    return Section("advice", "Notes", "advice", {"advice": [_sentence(text) for text in found]}) if found else None


def _sentence(text: str) -> str:
    """Return the text with a capital at the start and a full stop at the end."""
    text = capital(text)
    return text if text.endswith((".", "?", "!")) else text + "."


def _elo(run: LearningRun) -> Section | None:
    found = strength(run) if run.kind == SELFPLAY else None
    return Section("elo", "Strength", "charts", found) if found else None


def _selfplay(run: LearningRun) -> Section | None:
    if not run.history:
        return None
    start = headline(run.initial.layout, run.initial.weights)
    noise = noise_of(run.settings, len(run.history))
    return Section("learning", "Learning", "selfplay", {
        "moves": run_charts.moves_charts(run.history, start, noise, run.wording.unit), "band": noise is not None,
        "stages": len(run.learned.stages) > 1,
        "health": run_charts.health_charts(run.history), "rest": run_charts.watched_charts(run.history, run.wording.unit)})


def _curves(run: LearningRun) -> Section | None:
    charts = run_charts.learning_curves(run.history)
    key = [("learned", "objective (loss plus prior) on the training games")]
    if any(known(line.get("held_out")) for line in run.history):
        key.append(("second", "loss on held-out games"))
    return Section("learning", "Learning", "charts", {"charts": charts, "key": key}) if charts else None


def _tables(run: LearningRun, sure: Significance) -> Section | None:
    found = boards.tables(run.comparison, sure)
    return Section("tables", "Tables", "tables", {
        "tables": found, "unit": run.wording.unit, "piece": run.wording.piece, "least": boards.LEAST, "judged": sure.judged,
        "errors": run.learned.standard_errors is not None, "sentence": sure.sentence, "detail": sure.detail}) if found else None


def _lists(run: LearningRun) -> Section | None:
    charts = numbers.curves(run.comparison)
    key = [("learned", "learned"), ("initial", "initial")]
    if run.learned.standard_errors is not None:
        key = [("learned", "learned, with 95 % interval"), ("initial", "initial"), ("ring", "not identified")]
    return Section("lists", "Lists", "charts", {"charts": charts, "key": key, "small": True}) if charts else None


def _numbers(run: LearningRun, sure: Significance) -> Section | None:
    lines = numbers.rows(run.comparison, sure)
    return Section("numbers", "Single weights", "numbers", {
        "rows": lines, "stages": len(run.learned.stages) > 1, "judged": sure.judged,
        "errors": any(line["error"] is not None for line in lines), "weak": (CHANCE, HELD)}) if lines else None


def _calibration(run: LearningRun) -> Section | None:
    """Predicted scores against the results of games."""
    if (played := played_data(run)) is not None:
        return Section("calibration", "Calibration beside strength", "played_calibration", played)
    calibration, result = run.findings.get("calibration") or {}, run.findings.get("result") or {}
    charts = run_charts.calibration_charts(results := calibration.get("results") or {})
    if not charts and "results" not in calibration:
        return None
    held = (result.get("held_out_results") or {}).get("games") or result.get("held_out_games")
    return Section("calibration", "Calibration", "calibration", {
        "charts": charts, "held": held, "actual": "actual", "question": calibration_question(run.points),
        "sides": [(name, results[name]) for name in ("before", "after") if results.get(name)] if charts else [],
        "unknown": "Calibration needs the results of the games, which are unknown."})


def _agreement(run: LearningRun) -> Section | None:
    """Predicted scores against the scores of searches."""
    targets = (run.findings.get("calibration") or {}).get("targets") or {}
    charts = run_charts.calibration_charts(targets, "search score")
    held = (run.findings.get("result") or {}).get("held_out_games")
    return Section("agreement", "Agreement with the search", "calibration", {
        "charts": charts, "held": held, "actual": "search",
        "question": "Predicted scores against search scores: points on the diagonal agree.",
        "sides": [(name, targets[name]) for name in ("before", "after") if targets.get(name)]}) if charts else None


def _identifiability(run: LearningRun) -> Section | None:
    found = run.findings.get("identifiability")
    return Section("identifiability", "Identifiability", "identifiability", {"found": found}) if found else None


def _draws(run: LearningRun) -> Section | None:
    found = run.findings.get("draws")
    if not found:
        return None
    errors = found.get("errors") or {}
    widths = [(stage, value, reach(run.learned) * errors[stage] if known(errors.get(stage)) else None)
              for stage, value in (found.get("width") or {}).items()]
    return Section("draws", "Draws", "draws", {"found": found, "widths": widths})


def _misjudged(run: LearningRun) -> Section | None:
    found = run.findings.get("misjudged", {})
    worst, games = found.get("positions") or [], found.get("games") or []
    return Section("misjudged", "Largest errors", "misjudged", {
        "positions": positions.shown(run.game, worst), "games": games, "one": run.games_word[:-1]}) if worst or games else None


def headroom_section(found: dict | None, game: Game | None) -> Section | None:
    """What is left to gain, as `tuner headroom` measured it."""
    return Section("headroom", "What is left to gain", "headroom", headroom_data(found, game)) if found else None


def _data(run: LearningRun) -> Section | None:
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
    shares = [(name, results[key], results[key] / total) for key, name in (
        ("win", f"won by {run.wording.sides[0]}"), ("draw", "drawn"), ("loss", f"won by {run.wording.sides[1]}"))
        if known(results.get(key)) and total and (results[key] or run.points == 1) and not run.labelled]
    chart = run_charts.phase_chart(summary.get("phases") or [], run.learned.stages)
    if not (listed or shares or chart):
        return None
    return Section("data", "Data", "data", {"files": listed, "shares": shares, "total": total,
                                             "charts": [chart] if chart else [],
                                             "losses": any(known(file.get("loss_after")) for file in files)})


def repeat_section(run: Run) -> Section:
    result = run.findings.get("result", {})
    facts = [("version", run.version), ("seed", result.get("seed", run.settings.get("seed"))),
             ("folder", str(run.folder))]
    if isinstance(run, LearningRun) and run.kind == TUNE:
        facts += [("start", result.get("start") or run.started or None), ("scale", short(run.learned.scale))]
    options = yaml.safe_dump(run.settings, sort_keys=False, allow_unicode=True).rstrip()
    return Section("repeat", "Reproduce this run", "repeat", {
        "command": run.command, "facts": [(name, value) for name, value in facts if value not in (None, MISSING, "")],
        "options": options, "started": run.started if isinstance(run, LearningRun) else ""})
