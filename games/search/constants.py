"""The constants of the playing mode of alpha-beta, declared once: their usual values were found by
self-play. A search holds the values in its context, so that they can change without compiling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

PREFIX = "Search."  # of the names of the constants among options of an engine
DEPTHS = 64  # rows of tables by depth, and by the number of a move


class SearchConstant(NamedTuple):
    """A constant: its name and what it is, its usual value, limits, and a step that a match may
    notice. All are whole numbers, some in percent or hundredths."""

    name: str
    value: int
    low: int
    high: int
    step: int
    what: str


CONSTANTS = tuple(
    SearchConstant(PREFIX + name, *numbers, what)
    for name, numbers, what in (
        (
            "ReverseFutilityDepth",
            (6, 0, 12, 1),
            "up to this depth: return the static evaluation if it exceeds beta by a margin per ply",
        ),
        (
            "ReverseFutilityMargin",
            (100, 20, 400, 20),
            "that margin, in percent of a small advantage",
        ),
        ("NullMoveDepth", (3, 1, 10, 1), "from this depth: null move pruning"),
        ("NullMoveReduction", (3, 1, 6, 1), "plies by which a null move is reduced"),
        ("NullMoveDivisor", (4, 2, 16, 1), "one ply more for so many plies of depth"),
        (
            "NullMoveMargin",
            (200, 50, 800, 50),
            "one ply more for so much above beta, in percent of a small advantage",
        ),
        (
            "IirDepth",
            (4, 2, 12, 1),
            "from this depth: one ply less without a hash move (internal iterative reduction)",
        ),
        (
            "QuietPruningDepth",
            (4, 0, 10, 1),
            "up to this depth: late move pruning and futility pruning of quiet moves",
        ),
        ("LateMoveBase", (4, 1, 30, 2), "quiet moves that late move pruning keeps at any depth"),
        (
            "LateMoveFactor",
            (200, 25, 800, 40),
            "quiet moves that it keeps more, in hundredths of the square of the depth",
        ),
        (
            "FutilityMargin",
            (100, 20, 400, 20),
            "margin of futility pruning per ply, in percent of a small advantage",
        ),
        ("SeePruningDepth", (3, 0, 10, 1), "up to this depth: prune captures with a negative SEE"),
        ("LmrDepth", (3, 2, 10, 1), "from this depth: late move reductions"),
        ("LmrMove", (3, 1, 12, 1), "from this number of a move: late move reductions"),
        ("LmrBase", (50, -100, 200, 20), "plies of every late move reduction, in hundredths"),
        (
            "LmrDivisor",
            (230, 100, 800, 25),
            "reduction by the product of the logarithms of depth and number of the move, over so"
            " many hundredths",
        ),
        (
            "DeltaMargin",
            (200, 20, 800, 40),
            "margin of delta pruning in quiescence, in percent of a small advantage",
        ),
        (
            "AspirationDivisor",
            (300, 50, 1600, 40),
            "half of the window at the root is a small advantage over so many hundredths",
        ),
    )
)
USUAL = {constant.name: constant.value for constant in CONSTANTS}


def in_context(values: Mapping[str, int], margin: int) -> dict[str, int | np.ndarray]:
    """Return the fields of a context by the values of the constants, the usual ones where none is
    given, and a small advantage in steps of evaluations."""
    of = {name.removeprefix(PREFIX): value for name, value in {**USUAL, **values}.items()}
    depths = np.arange(DEPTHS)
    logarithms = np.log(np.maximum(depths, 1))

    def part(name: str) -> int:
        return margin * of[name] // 100

    return {
        "reverse_futility_depth": of["ReverseFutilityDepth"],
        "reverse_futility_margin": part("ReverseFutilityMargin"),
        "null_move_depth": of["NullMoveDepth"],
        "null_move_reduction": of["NullMoveReduction"],
        "null_move_divisor": of["NullMoveDivisor"],
        "null_move_margin": part("NullMoveMargin"),
        "iir_depth": of["IirDepth"],
        "quiet_pruning_depth": of["QuietPruningDepth"],
        "late_moves": of["LateMoveBase"] + of["LateMoveFactor"] * depths * depths // 100,
        "futility_margin": part("FutilityMargin"),
        "see_pruning_depth": of["SeePruningDepth"],
        "lmr_depth": of["LmrDepth"],
        "lmr_move": of["LmrMove"],
        "reductions": np.maximum(
            of["LmrBase"] / 100 + np.outer(logarithms, logarithms) / (of["LmrDivisor"] / 100), 0
        ).astype(np.int64),
        "delta_margin": part("DeltaMargin"),
        "half_width": margin * 100 // of["AspirationDivisor"],
    }


# of the context of a search
FIELDS = [(name, np.int64, np.shape(value)) for name, value in in_context({}, 0).items()]
