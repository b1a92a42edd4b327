"""Faults of the taper: another number of steps, another curve, or a last stage that the engine scales down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuner.rows.faults import Fault, Trial
from tuner.rows.residuals import ROUNDING, SCALED_ROUNDING

WIDE = 40.0  # centipawns between the stages of a position that shows its share
FEWEST = 8  # such positions of one phase
MOST_STEPS = 1024
SCALES = 4  # different factors of the last stage
MOST_FACTOR = 1.02  # of the last stage


def taper_faults(view: Trial, phases: int, stages: Sequence[str]) -> tuple[Fault, ...]:
    """Return the fault of the taper that explains the differences, or nothing."""
    if len(stages) < 2:
        return ()
    return _steps(view, phases, stages) or _scaled(view, stages)


def _steps(view: Trial, phases: int, stages: Sequence[str]) -> tuple[Fault, ...]:
    """Return the fault of shares of the first stage that depend on the phase in another way."""
    sample, (first, last) = view.sample, view.stage_sums
    last = last * sample.scale
    width = first - last
    wide = np.abs(width) >= WIDE
    share = np.where(wide, (sample.evaluation - sample.rest - last) / np.where(wide, width, 1), np.nan)
    phase = sample.phase
    shown = [value for value in np.unique(phase[wide]).tolist() if (wide & (phase == value)).sum() >= FEWEST]
    if len(shown) < 2:
        return ()
    table = np.array([np.median(share[wide & (phase == value)]) for value in shown])
    steps = np.array(shown, np.float64)
    if (steps @ table) > 0:
        inside = (table > 0.02) & (table < 0.98)
        ratio = (steps[inside] @ table[inside]) / (steps[inside] @ steps[inside]) if steps[inside].any() else 0.0
        if ratio > 0 and (other := round(1 / ratio)) != phases and other <= MOST_STEPS:
            for limited in (True, False):
                shares = np.minimum(phase / other, 1) if limited else phase / other
                if (explained := view.explained(sample.rest + shares * first + (1 - shares) * last)) is not None:
                    above = " and at most 1" if limited and phase.max() > other else ""
                    return (Fault("taper", "", f"The engine tapers with {other} steps instead of {phases}: its share of "
                                               f"{stages[0]} is phase / {other}{above}. Set the number of steps of the phase to "
                                               f"{other}, or print the phase in steps of {phases}.", explained),)
    shares = np.interp(phase, steps, table)
    if (explained := view.explained(sample.rest + shares * first + (1 - shares) * last)) is not None:
        points = ", ".join(f"{table[k]:.2f} at phase {shown[k]}" for k in sorted({0, len(shown) // 2, len(shown) - 1}))
        return (Fault("taper", "", f"The engine's share of {stages[0]} is not phase / {phases}, but {points}. Print as phase the "
                                   f"share of {stages[0]} times {phases}, rounded.", explained),)
    return ()


def _scaled(view: Trial, stages: Sequence[str]) -> tuple[Fault, ...]:
    """Return the fault of a last stage that the engine multiplies by a factor in some positions."""
    part = view.sample.factors[-1] * view.stage_sums[-1]
    shown = view.differs & (np.abs(part) >= WIDE)
    if shown.sum() < FEWEST:
        return ()
    factor = 1 + view.difference[shown] / part[shown]
    values, number = np.unique(np.round(factor[np.argsort(-np.abs(part[shown]))][:2000], 2), return_counts=True)
    if np.quantile(factor, 0.9) > MOST_FACTOR or np.quantile(factor, 0.1) < -0.02:
        return ()
    chosen: list[float] = []
    for value in values[np.argsort(-number, kind="stable")].tolist():
        if all(abs(value - other) > 0.03 for other in chosen) and len(chosen) < SCALES:
            near = np.abs(factor - value) <= 0.015
            chosen.append(float(np.median(factor[near])) if near.any() else value)
    choices = np.stack([view.predicted, *((value - 1) * part + view.predicted for value in chosen)])
    best = np.abs(view.sample.evaluation - choices).argmin(axis=0)
    explained = view.explained(choices[best, np.arange(len(best))], SCALED_ROUNDING - ROUNDING)
    if explained is None:
        return ()
    text = ", ".join(f"{value:.2f}" for value in sorted(chosen))
    return (Fault("scale", "", f"In {100 * view.differs.mean():.1f} % of the rows the engine multiplies {stages[-1]} by a factor "
                               f"(the most common: {text}). Print it as scale in these rows.", explained),)
