"""A GPU against the CPU: `python -m tests.benchmarks.gpu [POSITIONS]` builds a dataset of 50
million positions, checks that both agree, times both, and prints the table of the README."""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.speed import Workload
from tests.benchmarks.speed.gpu import MOST, compared
from tests.conftest import SAMPLES

POSITIONS = 50_000_000


def main(positions: int = POSITIONS) -> list[tuple[str, ...]]:
    """Return the lines of the table; AssertionError if GPU and CPU differ."""
    with tempfile.TemporaryDirectory() as folder:
        work = Workload("classic", SAMPLES, Path(folder))
        comparison, differences = compared(work, positions)
        lines = [
            (
                line["what"].strip(),
                f"{line['value']:,.3g} {line['unit']}",
                (
                    ""
                    if line["target"] is None
                    else f"{'<=' if line['at_most'] else '>='} {line['target']:,.3g}"
                ),
                {None: "", True: "met", False: "short"}[line["met"]],
                (
                    ""
                    if line["reference"] is None
                    else f"{line['reference']}: {line['reference_value']:,.3g}"
                ),
            )
            for line in (row.to_json() for row in comparison.rows())
        ]
    largest = max(differences, key=differences.__getitem__)
    agreement = f"largest relative difference from the CPU ({largest})"
    return [
        (agreement, f"{differences[largest]:.1e}", f"< {MOST:g}", "met", ""),
        ("two runs give the same bits", "yes", "yes", "met", ""),
        *lines,
    ]


if __name__ == "__main__":
    print("| | measured | target | | reference |\n|---|---|---|---|---|")
    for line in main(int(sys.argv[1]) if len(sys.argv) > 1 else POSITIONS):
        print(f"| {' | '.join(line)} |")
