"""Half-widths of 95 % intervals in standard errors: Student's t for few games."""

from __future__ import annotations

FEW_GAMES = 50
NORMAL = 1.96  # standard errors


def quantile(games: int) -> float:
    """Half the 95 % interval in standard errors that were estimated from this many games."""
    if games >= FEW_GAMES:
        return NORMAL
    from scipy.stats import t

    return float(t.ppf(0.975, max(games - 1, 1)))
