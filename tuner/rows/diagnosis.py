"""Find the fault that explains why rows · weights + rest differs from an engine's evaluation.

Every fault is tried as a correction: it is named only if the rows that differed agree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tuner.parameters.layout import Layout
from tuner.rows.column_faults import wrong_weights
from tuner.rows.faults import Fault, Trial
from tuner.rows.group_faults import group_faults
from tuner.rows.missing import Unused, missing_faults, never_counted
from tuner.rows.residuals import Sample
from tuner.rows.taper_faults import taper_faults

ENOUGH = 0.999  # share of rows within rounding with which the rows fit
FEWEST_SIDES = 0.9  # share of the rows whose side to move must be known
MOST_SEARCHED = 16_384  # rows in which faults are looked for before they are verified in all
CLEAR_CORRELATION = 0.1  # between evaluations and results
FEWEST_RESULTS = 500
SEED = 2


@dataclass(frozen=True)
class Base:
    """A view of the rows: the evaluation from another side, or the stages exchanged."""

    sample: Sample
    fault: tuple[str, str] | None  # kind and text


def diagnose(sample: Sample, weights: np.ndarray, phases: int, layout: Layout, stages: Sequence[str],
             used: np.ndarray) -> tuple[Fault, ...]:
    """Return the faults that explain the differences, first the one to mend first; `used` (columns,) counts all rows' nonzeros.

    If none does, say so, and name what comes closest.
    """
    trial = Trial(sample, weights)
    if (rounded := _rounded(trial)):
        return rounded
    unused = never_counted(layout, weights, used)
    for base in _bases(sample, stages):
        view = trial.of(base.sample)
        if base.fault and (explained := view.explained(base.sample.predicted(weights))) is not None:
            return (Fault(base.fault[0], "", base.fault[1], explained),)
        if found := _single(_searched(view), view, layout, stages, unused, phases):
            before = (Fault(base.fault[0], "", base.fault[1], found[0].explained),) if base.fault else ()
            return (*before, *found)
    if (explained := trial.explained_by_sign()) is not None:
        text = ("In many rows the evaluation agrees after its sign is changed: evaluations are of the side to move, or counts "
                "are. Print both of the first player's view (for chess White's).")
        return (Fault("perspective", "", text, explained),)
    return _unexplained(trial, layout, weights, unused)


def _rounded(trial: Trial) -> tuple[Fault, ...]:
    """Return the finding that the engine has the weights of the parameter file with fewer decimals, if
    that mends the rows that differ."""
    for decimals in (0, 1, 2):
        predicted = trial.sample.predicted(np.round(trial.weights, decimals))
        agrees = np.abs(trial.sample.evaluation - predicted) <= trial.sample.tolerance
        if agrees.mean() >= ENOUGH and (share := trial.explained(predicted)) is not None:
            what = "whole numbers" if decimals == 0 else f"{decimals} decimal{'s' * (decimals > 1)}"
            rest = ": nothing is wrong." if agrees.all() else "." if share == 1 else (
                f", except {100 * (1 - share):.2g} % of them, which are wrong in another way: see the "
                "largest difference.")
            return (Fault("rounded", "", f"With the weights of the parameter file rounded to {what}, as `tuner export --into` "
                          f"writes them, the rows that differ agree{rest}", share),)
    return ()


def _bases(sample: Sample, stages: Sequence[str]) -> Iterator[Base]:
    yield Base(sample, None)
    views: list[tuple[Sample, str, str]] = []
    if (sample.side != 0).mean() >= FEWEST_SIDES:
        turned = Sample(**{**vars(sample), "evaluation": sample.evaluation * np.where(sample.side == -1, -1, 1)})
        views.append((turned, "perspective", _perspective(sample)))
    if len(stages) > 1:
        for view, _, _ in [(sample, "", ""), *views]:
            if (view.scale == 1).all():
                views.append((Sample(**{**vars(view), "factors": view.factors[::-1]}), "stages", ""))
    for view, kind, text in views:
        if kind == "stages":
            text = (f"The stages are exchanged: phase counts steps of {stages[-1]}, or the weights of {stages[0]} and "
                    f"{stages[-1]} are exchanged in one of the two. phase counts steps of {stages[0]}, and 0 is all "
                    f"{stages[-1]}: correct it there.")
            if view.evaluation is not sample.evaluation:
                kind, text = "perspective", f"{_perspective(sample)} {text}"
        yield Base(view, (kind, text))


def _perspective(sample: Sample) -> str:
    """Say which of evaluations and counts are of the side to move, as the results show."""
    advice = "Negate {} where the second player (for chess Black) is to move."
    stated, turned = _correlations(sample)
    if stated - turned > CLEAR_CORRELATION:
        return ("The counts are of the side to move, while the evaluations, by the results, are of the first player's view. "
                + advice.format("counts and rest"))
    if turned - stated > CLEAR_CORRELATION:
        return "The evaluations are of the side to move, the counts of the first player's view. " + advice.format("eval")
    return ("The evaluations are of the side to move and the counts of the first player's view, or the reverse. "
            + advice.format("the one of the side to move"))


def _correlations(sample: Sample) -> tuple[float, float]:
    """Return how evaluations correlate with results, as they are and turned to the first player's view if by side to move."""
    known = np.flatnonzero(~np.isnan(sample.outcome) & (sample.side != 0))
    outcome, evaluation = sample.outcome[known], np.clip(sample.evaluation[known], -1000, 1000)
    turned = evaluation * sample.side[known]
    if len(known) < FEWEST_RESULTS or 0 in (outcome.std(), evaluation.std(), turned.std()):
        return 0.0, 0.0
    return float(np.corrcoef(evaluation, outcome)[0, 1]), float(np.corrcoef(turned, outcome)[0, 1])


def side_of_results(sample: Sample) -> tuple[Fault, ...]:
    """Return the fault of counts and evaluations that agree, but are both of the side to move, as the results show."""
    stated, turned = _correlations(sample)
    if stated > CLEAR_CORRELATION or turned - stated <= CLEAR_CORRELATION:
        return ()
    return (Fault("perspective", "", f"Counts and evaluations agree, but their correlation with the results is {stated:.2f}, and "
                  f"{turned:.2f} after the sign is changed where the second player is to move: results are of the first player's "
                  "view (for chess White's), counts and evaluations of the side to move. Negate both there.", 0.0),)


def _searched(view: Trial) -> Trial:
    """Return a view of fewer rows: half of them at random from those that differ."""
    if len(view.sample.phase) <= MOST_SEARCHED:
        return view
    random, half = np.random.default_rng(SEED), MOST_SEARCHED // 2
    differs = np.flatnonzero(view.differs)
    some = differs if len(differs) <= half else random.choice(differs, half, replace=False)
    rest = random.choice(len(view.sample.phase), MOST_SEARCHED - len(some), replace=False)
    return view.take(np.union1d(some, rest))


def _single(searched: Trial, view: Trial, layout: Layout, stages: Sequence[str], unused: Unused,
            phases: int) -> tuple[Fault, ...]:
    """Return the fault of one kind that explains the differences of a view, or nothing."""
    searches: list[Callable[[], tuple[Fault, ...]]] = [
        lambda: _constant(view),
        lambda: group_faults(searched, view, layout, stages, unused),
        lambda: missing_faults(view, layout, unused),
        lambda: taper_faults(view, phases, stages),
        lambda: wrong_weights(searched, view, layout, stages),
    ]
    return next((found for search in searches if (found := search())), ())


def _constant(view: Trial) -> tuple[Fault, ...]:
    """Return the fault of a constant, for all positions or for the side to move."""
    side = view.sample.side
    for sign, what, advice in (
            (np.ones(len(side)), "in every row", "Add it to rest"),
            (side.astype(np.float64), "for the side to move (a tempo)",
             "Add it to rest, with minus where the second player is to move"),
    ):
        if not sign.any():
            continue
        constant = float(np.round(np.median((view.difference * sign)[sign != 0]), 1))
        if abs(constant) > 1 and (explained := view.explained(view.predicted + constant * sign)) is not None:
            return (Fault("constant", "", f"The engine's evaluation has {constant:+g} centipawns more {what}. {advice}, or give "
                                          "it a parameter and count it.", explained),)
    return ()


def _unexplained(trial: Trial, layout: Layout, weights: np.ndarray, unused: Unused) -> tuple[Fault, ...]:
    """Say that no single fault explains the differences, and what comes closest."""
    found = []
    if unused:
        names = [name for name, _ in unused]
        more = f" and {len(names) - 4} others" if len(names) > 4 else ""
        found.append(Fault("missing", names[0], f"No row counts {', '.join(names[:4])}{more}, although the weights are not 0. If "
                                                "the engine evaluates it, count it in the rows; if not, take it out of the "
                                                "parameter file.", 0.0))
    name, share = trial.closest(layout)
    near = share >= 0.05
    text = f"No {'other ' * bool(unused)}single fault explains the differences."
    if near:
        text += f" Closest is {name}: another factor would explain {100 * share:.0f} % of their variance."
    found.append(Fault("unknown", name if near else "", f"{text} Print rest in each row, with what the engine adds and the rows "
                       "do not count; or check a position with a large difference term by term.", 0.0))
    return tuple(found)
