"""The ladder: how often players beat a random mover within a number of plies, next to evaluations without learning.

Any search beats a random mover easily: a share of wins means something only next to those of a zero evaluation and of plain
material at the same depth.
"""

from __future__ import annotations

from tuner.statistics.wilson import wilson_interval

BASELINES = ("material", "zero")


def row_of(name: str, wins: int, games: int) -> dict:
    """A row of the ladder: wins of a player, and the 95 % interval of its share of wins."""
    low, high = wilson_interval(wins, games)
    return {"player": name, "wins": wins, "games": games, "share": wins / games if games else None, "low": low, "high": high}


def ladder_lines(rows: list[dict], plies: int, opponent: str, conditions: str) -> list[str]:
    """The ladder as lines of text."""
    width = max(len(row["player"]) for row in rows)
    lines = [f"Wins within {plies} plies against {opponent}, {conditions} (95 %, Wilson):"]
    for row in rows:
        share = "-" if row["share"] is None else f"{100 * row['share']:.1f} %"
        lines.append(f"  {row['player']:<{width}}  {row['wins']:>5} of {row['games']:<5}  {share:>7}  "
                     f"[{100 * row['low']:.1f}, {100 * row['high']:.1f}]")
    return lines
