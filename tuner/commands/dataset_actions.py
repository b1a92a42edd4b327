"""The actions of `tuner dataset`: build, inspect, merge, split."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from pathlib import Path

from games.streams import InputError
from tuner.commands.display import TerminalDisplay, output_console
from tuner.commands.options import read_options
from tuner.datasets.merge import merge as merge_datasets
from tuner.datasets.merge import part
from tuner.datasets.reader import open_dataset
from tuner.datasets.split import split_games
from tuner.datasets.summary import summarise, summary_lines
from tuner.datasets.writer import require_replaceable
from tuner.engine.loading import load_engine, quiescence_of
from tuner.ingest.build import build as build_dataset
from tuner.io.files import QUIESCENCE
from tuner.io.tables import show_table
from tuner.parameters.layout import Place
from tuner.tuning.result import report_line


def build(sources: list[str], arguments: argparse.Namespace) -> dict:
    """Build a dataset from games."""
    target = Path(arguments.output[0])
    require_replaceable(target, (*sources, arguments.params, arguments.quiescence, *arguments.terms))
    engine, _ = load_engine(arguments.params, arguments.terms, add_missing=True)
    with TerminalDisplay() as display:
        display.begin("reading")
        data, report = build_dataset(engine, sources, target, read_options(arguments),
                                     quiescence_of(engine, arguments.quiescence or QUIESCENCE), display.note, display.reading)
        display.note(report_line(report.total))
    result = {"dataset": str(target), "games": data.games, "positions": data.positions, "read": asdict(report.total)}
    if not arguments.json:
        size = sum(file.stat().st_size for file in target.iterdir())
        print(f"wrote {target}: {data.games:,} games, {data.positions:,} positions, {size / 1e6:.1f} MB")
    return result


def inspect(sources: list[str], arguments: argparse.Namespace) -> dict:
    """Summarise a dataset."""
    data = open_dataset(sources[0])
    layout = data.layout
    summary = {"dataset": sources[0], "sources": data.manifest["sources"], "options": data.manifest["options"],
               **summarise(data, layout)}
    if not arguments.json:
        console = output_console()
        print(f"{sources[0]}: {data.manifest['game']}, from {', '.join(s['file'] for s in data.manifest['sources'])}")
        print("\n".join("  " + line for line in summary_lines(summary)) + "\n")
        show_table(console, "results by phase", ["phase", "positions", "win %", "draw %", "loss %"], [
            [f"{low}-{high}", f"{part['positions']:,}", *(f"{100 * share:.1f}" for share in part["results"])]
            for part in summary["results_by_phase"] for low, high in [part["phase"]]])
        show_table(console, "how often parameters apply", ["parameter", "numbers", "positions", "rarest number", "never"], [
            _use_row(place, summary["use"]) for place in layout.places])
    return summary


def _use_row(place: Place, use: dict[str, int]) -> list[str]:
    numbers = [use[label] for label in place.labels()]
    applied = [n for n in numbers if n]
    return [place.path, str(place.size), f"{max(numbers):,}", f"{min(applied):,}" if applied else "-",
            str(numbers.count(0) or "")]


def merge(sources: list[str], arguments: argparse.Namespace) -> dict:
    """Merge datasets into one."""
    require_replaceable(Path(arguments.output[0]), sources)
    data = merge_datasets([open_dataset(source) for source in sources], Path(arguments.output[0]))
    if not arguments.json:
        print(f"wrote {data.path}: {data.games:,} games, {data.positions:,} positions")
    return {"dataset": str(data.path), "games": data.games, "positions": data.positions}


def split(sources: list[str], arguments: argparse.Namespace) -> dict:
    """Split a dataset into two without a common opening."""
    if os.path.realpath(arguments.output[0]) == os.path.realpath(arguments.output[1]):
        raise InputError(f"{arguments.output[0]}: named twice, expected two datasets to write")
    for target in arguments.output:
        require_replaceable(Path(target), sources)
    data = open_dataset(sources[0])
    kept, held = split_games(data, arguments.held_out, arguments.seed)
    for games, target in zip((kept, held), arguments.output, strict=True):
        if len(games) == 0:
            raise InputError(f"{target}: would hold no game; choose another share or seed")
    what = f"split by opening, held out {arguments.held_out:g}, seed {arguments.seed}"
    written = [part(data, games, Path(target), what)
               for games, target in zip((kept, held), arguments.output, strict=True)]
    if not arguments.json:
        for data in written:
            print(f"wrote {data.path}: {data.games:,} games, {data.positions:,} positions")
    return {"datasets": [{"dataset": str(data.path), "games": data.games, "positions": data.positions} for data in written]}


