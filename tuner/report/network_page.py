"""The page of a run of self-play that learned a network: its sections, tiles, and the match to play."""

from __future__ import annotations

import shlex

import numpy as np

from tuner.report.charts import Chart, Series, line_chart
from tuner.report.formatting import counted, known, number, percent, short, whole
from tuner.report.history import column
from tuner.report.played_calibration import played_data
from tuner.report.run import NET, NetworkRun
from tuner.report.run_charts import smoothed, thinned, watched_chart
from tuner.report.sections import Section, Tile, match_section, measured_tiles, repeat_section
from tuner.report.strength import measured_lines, strength
from tuner.report.verdict import MOST, Verdict, verdict

GAMES = 2000  # of the match to play
WATCHED = (("squares", "TD errors", "mean square of the changes of v, from −1 to 1"),
           ("plies", "Length of games", "plies, mean of a batch"), ("rate", "Learning rate", "at the start of a batch"))
KINDS = ("line", "contrast", "initial")  # of lines, by the points of a game


def network_sections(run: NetworkRun) -> list[Section]:
    """Return the sections of the page that have data."""
    found, charts, (shares, key) = strength(run), learning_charts(run), points_charts(run)
    played = played_data(run)
    sections = [Section("elo", "Strength", "charts", found) if found else None,
                *(match_section(match, i) for i, match in enumerate(run.matches)),
                Section("learning", "Learning", "charts", {"charts": charts, "note": (
                    "Thin lines are single batches of games, thick lines rolling means.")}) if charts else None,
                Section("calibration", "Calibration beside strength", "played_calibration", played) if played else None,
                Section("games", "Games by points", "charts", {"charts": shares, "key": key}) if shares else None,
                repeat_section(run)]
    return [section for section in sections if section is not None]


def learning_charts(run: NetworkRun) -> list[Chart]:
    """Return the charts of TD errors, the length of games and the learning rate."""
    games = thinned(np.array(column(run.history, "games")))
    if len(games) < 2:
        return []
    return [watched_chart(games, values, title, unit, False) for key, title, unit in WATCHED
            if np.isfinite(values := column(run.history, key)).all()]


def points_charts(run: NetworkRun) -> tuple[list[Chart], list[tuple[str, str]]]:
    """Return the chart of the shares of games by points, and its key; no chart if all games win the same."""
    games = thinned(np.array(column(run.history, "games")))
    shares = {points: smoothed([float((line.get("by_points") or {}).get(str(points), np.nan)) for line in run.history])
              for points in range(1, run.game.points + 1)}
    shares = {points: share for points, share in shares.items() if np.isfinite(share).all()}
    if len(games) < 2 or len(shares) < 2:
        return [], []
    said = {points: f"won by {counted([0] * points, 'point', 'points')}" for points in shares}
    ends = "; ".join(f"{said[points]}: from {percent(share[0])} to {percent(share[-1])}" for points, share in shares.items())
    chart = line_chart("Games by points", "games", "share of games, rolling mean", [
        Series(kind, games, share) for kind, share in zip(KINDS, shares.values(), strict=False)], ends + ".", percent=True,
        limits=(0.0, 1.0))
    return [chart], list(zip(KINDS, said.values(), strict=False))


def network_tiles(run: NetworkRun) -> list[Tile]:
    """Return the most important numbers."""
    network = run.file.network
    widths = "-".join(str(width) for width in (network.inputs, *(len(layer.biases) for layer in network.layers)))
    tiles = [Tile("Network", widths, f"{run.file.encoding}, {whole(network.size)} weights")]
    if run.history:
        last, asked = run.history[-1], run.settings.get("games")
        unfinished = known(asked) and last["games"] < asked
        tiles.append(Tile("Games played", whole(last["games"]), f"{whole(asked)} requested" if unfinished else ""))
        if known(last.get("cpu_seconds")):
            tiles.append(Tile("CPU time", f"{number(last['cpu_seconds'] / 60)} min",
                              f"{number(last['cpu_seconds'], 0)} seconds of learning, without measuring"))
    tiles.append(Tile("Method", f"TD(λ), λ {short(run.settings.get('trace'))}",
                      "wins only" if run.settings.get("wins") else "points"))
    return tiles + measured_tiles(run)


def network_verdicts(run: NetworkRun) -> list[Verdict]:
    """Return the verdicts of the last matches named."""
    return [verdict(match, None) for match in reversed(run.matches)][:MOST]


def network_match(run: NetworkRun) -> str | None:
    """Return the command of a match to play; None if strength was measured already."""
    if run.matches or measured_lines(run.history):
        return None
    opponent = next(iter(run.game.matches.players), "random")
    return shlex.join(["tuner", "match", f"{run.folder}/{NET}", opponent, "--games", str(GAMES), "--run", f"{run.folder}-match"])
