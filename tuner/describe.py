"""What is told of reading and of a fit: as plain data, and as lines for people."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path

from games.record import ReadReport
from tuner import __version__
from tuner.dataset import Dataset
from tuner.findings import advice, draws_of, held_out_change, ratios_of
from tuner.fit import FitResult
from tuner.tune_options import TuneOptions


def report_line(report: ReadReport) -> str:
    """What became of the games, in one line."""
    parts = [f"read {report.games:,} games, used {report.used:,}"]
    for number, what in ((report.bad, "bad and skipped"), (report.undecided, "without a result"),
                         (report.below_elo, "below the Elo wanted"), (report.duplicate_games, "duplicates"),
                         (report.duplicate_positions, "duplicate positions left out")):
        if number:
            parts.append(f"{number:,} {what}")
    text = "; ".join([", ".join(parts), *(f"{count:,} x {kind}" for kind, count in sorted(
        report.faults.items(), key=lambda item: -item[1]))])
    return text


def describe(start: str, output: Path, data: Dataset, options: TuneOptions, result: FitResult) -> dict:
    """A fit as plain data, for the parameter file and for --json."""

    def known(value: float) -> float | None:
        return None if math.isnan(value) else round(value, 7)

    change = held_out_change(result)
    return {
        "command": "tuner " + shlex.join(sys.argv[1:]), "version": __version__, "seed": options.seed, "start": str(start),
        "output": str(output), **({"run": str(options.run)} if options.run else {}),
        "data": data.manifest["sources"], "method": options.method,
        **({"depth": options.depth, "lambda": options.trace or 0.0} if options.method != "logistic" else {}),
        "loss": result.problem.objective, "learner": options.learner, "iterations": len(result.history) - 1,
        "games": result.games, "positions": result.positions,
        "loss_before": known(result.loss_before), "loss_after": known(result.loss_after),
        "held_out_games": result.held_out_games, "held_out_positions": result.held_out_positions,
        "held_out_before": known(result.held_out_before), "held_out_after": known(result.held_out_after),
        "scale": round(result.parameters.scale, 8), "intercept": [round(float(v), 2) for v in result.intercept],
        "prior": options.trust or "none", "design_effect": round(result.design_effect, 3),
        "null_directions": result.null_directions, "never_applied": result.never_applied,
        "held_out_change": change,
        **({"draws": draws_of(result, result.parameters.stages)} if result.problem.draws else {}),
        "ratios": ratios_of(result.uncertainty, result.weights, result.parameters.layout), "advice": advice(result, change)}


def result_lines(result: dict) -> list[str]:
    """A result for people."""
    lines = [f"wrote {result['output']}: {result['games']:,} games, {result['positions']:,} positions, "
             f"{result['iterations']} iterations of {result['learner']}",
             f"loss      {result['loss_before']:.5f} -> {result['loss_after']:.5f}  ({result['loss']})"]
    if result["held_out_games"]:
        change = result["held_out_change"]
        interval = ""
        if change["low"] is not None:
            interval = f", change {change['difference']:+.5f} [{change['low']:+.5f}, {change['high']:+.5f}]"
        lines.append(f"held out  {result['held_out_before']:.5f} -> {result['held_out_after']:.5f}{interval}  "
                     f"({result['held_out_games']:,} games of other openings)")
        if result["held_out_after"] > result["held_out_before"]:
            lines.append("the held-out games are predicted worse than before: too few games for so many free weights?")
    if result["ratios"]:
        unit = result["ratios"][0]["to"]
        lines.append(f"values    in units of {unit}: " + ", ".join(
            f"{line['parameter'].split('.')[-1]} {line['ratio']:.2f} +/- {(line['high'] - line['low']) / 2:.2f}"
            for line in result["ratios"]))
    if check := result.get("bootstrap"):
        lines.append(f"bootstrap {check['replicates']} times: its errors are {check['median']:.2f} of those told (middle half "
                     f"{check['low']:.2f} to {check['high']:.2f})")
    lines += result["advice"]
    if result.get("run"):
        lines.append(f"look at it: tuner report {shlex.quote(result['run'])}")
    lines.append(f"see what changed: tuner diff {shlex.quote(result['start'])} {shlex.quote(result['output'])}")
    return lines
