"""`tuner probe`: from an engine and positions to rows, a parameter file, and a table of what is
linear."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import EngineOption, EvaluationPattern, Game, PositionBatch, SearchLimits, chosen
from games.streams import InputError
from tuner.datasets.rows.build import build_rows
from tuner.datasets.rows.formats import write
from tuner.datasets.rows.values import RowBatch
from tuner.export.numbers import settings_of
from tuner.fit.device.cpu.device import Cpu
from tuner.fit.regression import fit
from tuner.fit.setup import FitOptions
from tuner.io.terminal import Display
from tuner.learn.build import require_learnable
from tuner.learn.teacher import evaluators
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters
from tuner.probe.linearity import (
    Answers,
    KeptRows,
    Linearity,
    Step,
    examine,
    jacobian,
    layout_of_options,
    parameters_of,
    steps_of,
    way_of,
)

TESTED = 400  # positions of the tests of linearity


@dataclass(frozen=True)
class ProbeOptions:
    """How to probe: `engine` is `uci:COMMAND`, `options` are names or globs of the options to move,
    `fixed` values of others, `start` a file with the values to start from. `every`: rows of options
    that are not linear, too; before that, `rounds` of fits to the results, each probed at the
    values of the last."""

    engine: str
    options: tuple[str, ...]
    fixed: Mapping[str, str] = field(default_factory=dict)
    start: Path | None = None
    limits: SearchLimits | None = None
    pattern: EvaluationPattern | None = None
    delta: int | None = None
    tolerance: float | None = None
    every: bool = False
    rounds: int = 0
    sample: int | None = None
    workers: int = 1
    seed: int = 1


@dataclass(frozen=True)
class Probed:
    """The result of a probe."""

    name: str
    way: str
    linearity: Linearity
    kept: KeptRows
    parameters: Parameters


def probe(
    game: Game,
    options: ProbeOptions,
    read: Callable[[], Sequence[PositionBatch]],
    rows: Path,
    parameters: Path,
    learned: dict,
    display: Display,
) -> Probed:
    """Probe an engine on the positions that `read` returns, and write rows and the parameters of
    the options.

    InputError if no option matches, if none has an effect, if none is linear, or if the engine does
    not answer."""
    display.begin("starting")
    with evaluators(
        game, options.engine, options.fixed, options.workers, options.pattern
    ) as engines:
        engine = engines[0]
        values, notes = (
            settings_of(options.start, engine.options, engine.name) if options.start else ({}, [])
        )
        for note in notes:
            display.note(note)
        spins = [name for name, option in engine.options.items() if option.kind == "spin"]
        fixed = {name.lower() for name in options.fixed}
        names = [name for name in chosen(spins, options.options) if name.lower() not in fixed]
        numbers = {name: int(value) for name, value in values.items() if name in spins}
        for one in engines:
            one.set({name: value for name, value in values.items() if name not in names})
        steps = steps_of(engine.options, names, numbers, options.delta)
        way = way_of(engine, options.limits, options.engine)
        batches = read()
        if options.sample is not None:
            batches = thinned(batches, options.sample, options.seed)
        total = sum(len(batch.positions) for batch in batches)
        if not total:
            raise InputError("no position to probe with; expected games or positions")
        done = 0

        def count(positions: int) -> None:
            nonlocal done
            done += positions
            display.counting(done)

        answers = Answers(engines, options.limits, {step.name: step.value for step in steps}, count)
        if options.rounds:
            layout = layout_of_options(list(engine.options), steps)
            at = {step.name: step.value for step in steps}
            fitted = fitter(
                parameters_of(game.name, layout, steps, {}), options.workers, display.note
            )

            def report(old: np.ndarray, new: np.ndarray) -> None:
                display.note(
                    "  "
                    + ", ".join(
                        f"{name} {before:g} -> {after:g}"
                        for name, before, after in zip(
                            names, old.tolist(), new.tolist(), strict=True
                        )
                    )
                )

            display.begin("probing and fitting")
            at, history = rounds(
                answers,
                engine.options,
                names,
                at,
                batches,
                game.text,
                fitted,
                options.rounds,
                options.delta,
                report,
            )
            steps, done = steps_of(engine.options, names, at, options.delta), 0
            answers.base.update(at)
        positions = np.concatenate(
            [batch.positions for batch in thinned(batches, TESTED, options.seed)]
        )
        display.begin("testing what is linear")
        linearity = examine(
            answers, answers.asked(positions), steps, options.tolerance, options.seed
        )
        if answers.fresh:
            display.note(
                f"{engine.name} keeps evaluations by earlier values of its options: it is started"
                " again for each value"
            )
        if linearity.idle:
            raise InputError(without_effect(options, steps, len(positions)))
        used = steps if options.every else linearity.linear
        if not used:
            raise InputError(
                f"{options.engine}: no option of {len(steps)} acts linearly within"
                f" {linearity.tolerance:g} centipawns; --tolerance allows more, --every probes at"
                " the current values regardless"
            )
        layout, kept, done = layout_of_options(list(engine.options), used), KeptRows(), 0
        display.begin("probing", total * (1 + sum(len(step.moves) for step in used)))
        found = parameters_of(game.name, layout, used, {**learned, "engine": engine.name})
        tolerance = None if options.every else linearity.tolerance
        parts = list(jacobian(answers, used, batches, game.text, tolerance, kept))
        if not parts:
            raise InputError(f"{options.engine}: no position left of {total:,}: {kept_text(kept)}")
        write(rows, parts, layout, stages=1)
        write_parameters(parameters, found)
        return Probed(engine.name, way, linearity, kept, found)


def without_effect(options: ProbeOptions, steps: Sequence[Step], positions: int) -> str:
    """Say that none of the options changed an evaluation, and what to try."""
    which = (
        f"the option {steps[0].name!r} changes"
        if len(steps) == 1
        else f"none of {len(steps)} options changes"
    )
    what, other = (
        ("score of a search whose PV stays the same", "")
        if options.limits
        else ("static evaluation", ", or --depth for scores of searches")
    )
    return (
        f"{options.engine}: {which} {'no' if len(steps) == 1 else 'any'} {what} in {positions:,}"
        f" positions, so that there is nothing to learn; name other options{other}"
    )


def kept_text(kept: KeptRows) -> str:
    """How many positions are rows, and why others are not, in a line."""
    parts = [
        (kept.unknown, "without an evaluation"),
        (kept.changed, "whose PV changed"),
        (kept.bent, "not linear there"),
    ]
    left = ", ".join(f"{n:,} {why}" for n, why in parts if n)
    return f"{kept.rows:,} rows" + (f"; left out: {left}" if left else "")


Fit = Callable[
    [list[RowBatch], np.ndarray], np.ndarray
]  # rows and the values (options,) at which they hold, to new values


class Round(NamedTuple):
    """The values (options,) at which a round probed, and how many rows it got."""

    values: np.ndarray
    rows: int


def rounds(
    answers: Answers,
    options: Mapping[str, EngineOption],
    names: Sequence[str],
    values: Mapping[str, int],
    batches: Sequence[PositionBatch],
    text: Callable[[np.ndarray], str],
    fit: Fit,
    most: int,
    delta: int | None = None,
    report: Callable[[np.ndarray, np.ndarray], None] = lambda old, new: None,
) -> tuple[dict[str, int], list[Round]]:
    """Repeat probes and fits until the whole values no longer change, at most so many times; return
    the last values and the rounds. Values stay within the options' ranges. `report` is called with
    old and new values after each round."""
    current, history = dict(values), []
    for _ in range(most):
        steps = steps_of(options, names, current, delta)
        old = np.array([step.value for step in steps], float)
        rows = list(jacobian(answers, steps, batches, text))
        history.append(Round(old, sum(len(part.phase) for part in rows)))
        new = np.clip(
            np.round(fit(rows, old)), [step.low for step in steps], [step.high for step in steps]
        )
        current |= {step.name: int(value) for step, value in zip(steps, new, strict=True)}
        report(old, new)
        if (new == old).all():
            break
    return current, history


PHASES = 1  # rows of options have one stage


def fitter(parameters: Parameters, workers: int, note: Callable[[str], None]) -> Fit:
    """Return a function from rows and the values (options,) at which they hold to new values, by
    logistic regression of the results with an empirical prior around those values. The first fit
    sets the scale of the evaluation. InputError for rows from which nothing can be learned."""
    scale: float | None = None

    def fitted(rows: list[RowBatch], values: np.ndarray) -> np.ndarray:
        nonlocal scale
        at = parameters.with_weights(
            values[None, :].astype(float), **({} if scale is None else {"scale": scale})
        )
        if not rows:
            raise InputError(
                "no position is left to learn from; expected positions whose PV stays the same"
            )
        with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
            data, *_ = build_rows(
                rows,
                Path(folder) / "rows",
                replace(at, phases=PHASES),
                [{"file": "probe", "sha256": "-"}],
            )
            require_learnable(data)
            result = fit(
                data,
                at,
                FitOptions(
                    prior="auto",
                    held_out=0.0,
                    errors=False,
                    fit_scale=scale is None,
                    device=Cpu(workers),
                ),
            )
            scale = result.parameters.scale
        found: np.ndarray = result.parameters.weights[0]
        note(
            f"fitted to {result.positions:,} positions: loss {result.loss_before:.5f} ->"
            f" {result.loss_after:.5f}"
        )
        return found

    return fitted


def thinned(batches: Sequence[PositionBatch], most: int, seed: int) -> list[PositionBatch]:
    """At most so many positions, drawn at random from all; games keep their identities, those
    without a position left are dropped."""
    total = sum(len(batch.positions) for batch in batches)
    if total <= most:
        return list(batches)
    keep = np.zeros(total, np.bool_)
    keep[np.random.default_rng(seed).choice(total, most, replace=False)] = True
    result, done = [], 0
    for batch in batches:
        n = len(batch.positions)
        chosen = batch.only(keep[done : done + n])
        done += n
        some = np.diff(chosen.first, append=len(chosen.positions)) > 0
        result.append(
            replace(
                chosen,
                first=chosen.first[some],
                identities=chosen.identities[some],
                openings=chosen.openings[some],
                numbers=chosen.numbers[some],
            )
        )
    return result
