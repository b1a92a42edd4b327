"""How far a 95 % interval reaches: Student's t where the games are few."""

from __future__ import annotations

from tuner.parameters.parameters import Parameters

FEW_GAMES = 50
NORMAL = 1.96  # standard errors


def quantile(games: int) -> float:
    """In standard errors that were found from so many games."""
    if games >= FEW_GAMES:
        return NORMAL
    from scipy.stats import t

    return float(t.ppf(0.975, max(games - 1, 1)))


def reach(p: Parameters) -> float:
    """In the standard errors of a learned file."""
    games = p.learned.get("games")
    return quantile(games) if isinstance(games, int) and p.standard_errors is not None else NORMAL
