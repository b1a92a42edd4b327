"""What the studies share: a folder, the command `tuner`, a table beside the published figures, a
picture.

    python examples/studies/hui_krvk.py [--quick] [--out FOLDER]"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import matplotlib
from scipy.stats import binomtest

import tuner
from tuner.core.store import read_records

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Item, Found = TypeVar("Item"), TypeVar("Found")


def two_at_a_time(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Do work whose commands use one core each; return what it found, in the order of the items."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, items))


class Study:
    """A study's folder, whether it is quick, and its table."""

    def __init__(self, about: str) -> None:
        parser = argparse.ArgumentParser(description=about.splitlines()[0])
        parser.add_argument("--quick", action="store_true", help="little of all, under a minute")
        parser.add_argument("--out", default="studies", help="folder (default: studies)")
        given, self.name = parser.parse_args(), Path(sys.argv[0]).stem
        self.quick, self.folder = given.quick, Path(given.out) / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.title = about.splitlines()[0]
        self._begun = time.monotonic()

    def tuner(self, *words: object) -> dict[str, Any]:
        """Run a command with --json and return its result; what it says besides is shown."""
        command = [sys.executable, "-m", "tuner", *map(str, words), "--json"]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if ran.returncode:
            sys.exit(f"{self.name}: this command failed: {' '.join(command)}")
        return json.loads(ran.stdout)

    def new(self, name: str) -> Path:
        """Return the folder of a new run; an old one is removed."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.folder / name

    def material(self, name: str, *values: int) -> Path:
        """Write a parameter file with piece values alone, pawn to queen, in centipawns."""
        path = self.folder / f"{name}.yaml"
        path.unlink(missing_ok=True)
        self.tuner("params", "--new", "material", "-o", path)
        text = path.read_text()
        for value in values:
            text = text.replace("{mg: 0, eg: 0}", f"{{mg: {value}, eg: {value}}}", 1)
        path.write_text(text)
        return path

    def load(self, name: str | Path) -> tuner.Evaluation:
        """Return an evaluation."""
        return tuner.load(str(name))

    def history(self, run: Path) -> list[dict[str, Any]]:
        """Return the records of a run."""
        return read_records(run)

    def finish(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *said: str) -> None:
        """Print the table, with sentences about it, and write it beside the picture."""
        texts = [[str(cell) for cell in row] for row in rows]
        minutes = (time.monotonic() - self._begun) / 60
        lines = [
            f"# {self.title}",
            "",
            "| " + " | ".join(columns) + " |",
            "|" + "---|" * len(columns),
            *("| " + " | ".join(row) + " |" for row in texts),
            "",
            *said,
            f"{'Quick: far too little to compare. ' * self.quick}{minutes:.1f} minutes.",
        ]
        (self.folder / "table.md").write_text("\n".join(lines) + "\n")
        print("\n".join(lines))

    def picture(
        self,
        x: str,
        y: str,
        lines: dict[str, Sequence[tuple[float, ...]]],
        file: str = "picture",
    ) -> None:
        """Draw lines of points (x, y) or (x, y, low, high)."""
        figure, axes = plt.subplots(figsize=(8, 4.5))
        for name, points in lines.items():
            xs, ys, *band = zip(*points, strict=True)
            (drawn,) = axes.plot(xs, ys, marker="o", markersize=3, label=name)
            if band:
                axes.fill_between(xs, *band, alpha=0.15, color=drawn.get_color(), linewidth=0)
        axes.set(xlabel=x, ylabel=y, title=self.title)
        axes.legend()
        figure.tight_layout()
        figure.savefig(self.folder / f"{file}.png", dpi=120)
        plt.close(figure)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    found = binomtest(successes, trials).proportion_ci(method="wilson")
    return found.low, found.high


def elo(found: dict[str, Any]) -> str:
    """Return the difference in Elo of a match as text."""
    value, low, high = (found["elo"][key] for key in ("value", "low", "high"))
    known = None not in (value, low, high)
    return f"{value:+.0f} ± {(high - low) / 2:.0f}" if known else "unbounded"


def mean_sd(values: Sequence[float], digits: int = 1) -> str:
    """Return a mean and a standard deviation as text."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.{digits}f}"
    sd = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
    return f"{mean:.{digits}f} ± {sd:.{digits}f}"
