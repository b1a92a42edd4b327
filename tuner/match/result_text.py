"""The result of a match as text in the format of fastchess, and as a dict for `--json`."""

from __future__ import annotations

import math

from tuner.statistics.pentanomial import Interval, Results, summarise
from tuner.statistics.sprt import Sprt, decide, log_likelihood_ratio


def result_block(results: Results, names: tuple[str, str] | None = None, test: Sprt | None = None) -> str:
    """Lines of a result, without a newline at the end; the first names the players and the last has the LLR, if given.

    `inf` and `nan` are infinite and unknown numbers. The percentage after the LLR is its share of the bound it approaches,
    negative towards H0.
    """
    summary = summarise(results.pairs)
    lines = [] if names is None else [f"Results of {names[0]} vs {names[1]}:"]
    share = results.points / results.games if results.games else math.nan
    lines += [
        f"Elo: {_interval(summary.elo)}, nElo: {_interval(summary.normalized_elo)}",
        f"LOS: {_fixed(100 * summary.los)} %, DrawRatio: {_fixed(100 * summary.draw_ratio)} %, "
        f"PairsRatio: {_fixed(summary.pairs_ratio)}",
        f"Games: {results.games}, Wins: {results.wins}, Losses: {results.losses}, Draws: {results.draws}, "
        f"Points: {results.points:.1f} ({_fixed(100 * share)} %)",
        f"Ptnml(0-2): {list(results.pairs)}",
    ]
    if test is not None:
        llr = log_likelihood_ratio(test, results.pairs)
        lower, upper = test.bounds
        way = 100 * (llr / upper if llr >= 0 else -llr / lower)
        lines.append(f"LLR: {_fixed(llr)} ({_fixed(way, 1)}%) ({lower:.2f}, {upper:.2f}) "
                     f"[{_fixed(test.elo0)}, {_fixed(test.elo1)}]")
    return "\n".join(lines)


def result_dict(results: Results, names: tuple[str, str], test: Sprt | None = None) -> dict:
    """The same as plain numbers, unrounded; infinite and unknown ones are None, since JSON has neither."""
    summary = summarise(results.pairs)
    found = {
        "players": list(names),
        "games": results.games,
        "wins": results.wins,
        "losses": results.losses,
        "draws": results.draws,
        "points": results.points,
        "pentanomial": list(results.pairs),
        "unpaired": results.unpaired,
        "score": _finite(summary.score),
        "variance": _finite(summary.variance),
        "elo": _interval_dict(summary.elo),
        "normalized_elo": _interval_dict(summary.normalized_elo),
        "los": _finite(summary.los),
        "draw_ratio": _finite(summary.draw_ratio),
        "pairs_ratio": _finite(summary.pairs_ratio),
    }
    if test is not None:
        llr = log_likelihood_ratio(test, results.pairs)
        found["sprt"] = {"model": test.model, "elo0": test.elo0, "elo1": test.elo1, "alpha": test.alpha, "beta": test.beta,
                         "llr": llr, "bounds": list(test.bounds), "decision": decide(test, llr)}
    return found


def _interval(interval: Interval) -> str:
    return f"{_fixed(interval.value)} +/- {_fixed(interval.error)}"


def _interval_dict(interval: Interval) -> dict:
    return {name: _finite(number) for name, number in
            (("value", interval.value), ("low", interval.low), ("high", interval.high), ("error", interval.error))}


def _fixed(number: float, digits: int = 2) -> str:
    return f"{round(number, digits) + 0.0:.{digits}f}"  # + 0.0: no -0.00


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
