"""What is wrong with scores to learn from, judged by the evaluations of the same positions."""

from __future__ import annotations

import numpy as np

FEWEST = 200  # scores, below which nothing is said
FAR, WON = 100.0, 1500.0  # centipawns: of positions that are not even, and of those left out
ZEROS, CAPPED = 0.1, 0.001  # shares: of scores 0 where positions are not even, of the largest score
FEWEST_CAPPED = 20  # scores that are equal to the largest one
# correlations with evaluations: the least of sound scores, the largest of the other side's scores
FOLLOWS, AGAINST = 0.1, -0.2
PAWNS = 0.05  # slope of scores on evaluations below which scores are in pawns
LARGEST, LOWEST_CAP = 5000.0, 2000.0  # centipawns: no search scores as high; caps are lower
FEW_LARGE = 0.005  # share of such scores; tables of endings make a few


def remarks_on(scores: np.ndarray, evaluations: np.ndarray) -> list[str]:
    """Return what is wrong with scores (n,) in centipawns of the first player's view, NaN or
    infinite where there is none, as lines; none for scores that follow the static evaluations (n,)
    of their positions."""
    used = np.isfinite(scores) & (np.abs(evaluations) < WON)
    found, static = scores[used].astype(np.float64), evaluations[used]
    far = np.abs(static) >= FAR
    if far.sum() < FEWEST:
        return []
    lines, zero = [], (found == 0) & far
    if (share := zero.sum() / far.sum()) >= ZEROS:
        lines.append(
            f"{share:.0%} of the scores are 0 where the evaluation is {FAR:g} centipawns or more:"
            " they are not those of searches"
        )
    size = np.abs(found)
    large = size >= LARGEST
    if large.mean() >= FEW_LARGE:
        lines.append(
            f"{large.mean():.1%} of the scores are {LARGEST:,.0f} centipawns or more: wins that"
            " are written as numbers, not as mates, are learned from as scores"
        )
    rest = ~zero & ~large
    found, static, size = found[rest], static[rest], size[rest]
    if len(found) < FEWEST or not found.std():
        return lines
    at_top = int((size == size.max()).sum())
    if at_top >= max(FEWEST_CAPPED, CAPPED * len(size)) and size.max() < LOWEST_CAP:
        lines.append(
            f"{at_top / len(size):.1%} of the scores are +/-{size.max():g}: they are capped"
        )
    correlation = float(np.corrcoef(found, static)[0, 1])
    slope = float(found @ static / (static @ static))
    if correlation < AGAINST:
        lines.append("scores fall where evaluations rise: they are those of the other side")
    elif correlation < FOLLOWS:
        lines.append(
            f"scores do not follow the evaluations of their positions (correlation"
            f" {correlation:.2f}): they are of other positions, or of the side to move"
        )
    elif slope < PAWNS:
        lines.append(
            f"100 centipawns of evaluation are {100 * slope:.1f} of score: scores are in pawns,"
            " expected centipawns"
        )
    return lines
