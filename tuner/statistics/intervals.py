"""How far a 95 % interval reaches: Student's t where the games are few."""

from __future__ import annotations

FEW_GAMES = 50
NORMAL = 1.96  # standard errors


def quantile(games: int) -> float:
    """In standard errors that were found from so many games."""
    if games >= FEW_GAMES:
        return NORMAL
    from scipy.stats import t

    return float(t.ppf(0.975, max(games - 1, 1)))
