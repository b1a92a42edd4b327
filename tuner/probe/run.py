"""`tuner probe`: from an engine and positions to rows, a parameter file, and a table of what is linear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from games.evaluators import EvaluationPattern, SearchLimits, chosen
from games.record import Game, PositionBatch
from games.streams import InputError
from tuner.export.option_names import settings_of
from tuner.ingest.external import evaluators
from tuner.io.progress import Display
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters
from tuner.probe.answers import Answers, way_of
from tuner.probe.fitting import fitter
from tuner.probe.jacobian import Kept, jacobian, layout_of_options
from tuner.probe.linearity import Linearity, examine
from tuner.probe.rounds import rounds
from tuner.probe.steps import Step, steps_of
from tuner.probe.thinning import thinned
from tuner.probe.write import parameters_of
from tuner.rows.formats import write

TESTED = 400  # positions of the tests of linearity


@dataclass(frozen=True)
class ProbeOptions:
    """How to probe: `engine` is `uci:COMMAND`, `options` are names or globs of the options to move, `fixed` values of others,
    `start` a file with the values to start from. `every`: rows of options that are not linear, too; before that, `rounds` of fits
    to the results, each probed at the values of the last."""

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
    kept: Kept
    parameters: Parameters


def probe(game: Game, options: ProbeOptions, read: Callable[[], Sequence[PositionBatch]], rows: Path, parameters: Path,
          learned: dict, display: Display) -> Probed:
    """Probe an engine on the positions that `read` returns, and write rows and the parameters of the options.

    InputError if no option matches, if none has an effect, if none is linear, or if the engine does not answer.
    """
    display.begin("starting")
    with evaluators(game, options.engine, options.fixed, options.workers, options.pattern) as engines:
        engine = engines[0]
        values, notes = settings_of(options.start, engine.options, engine.name) if options.start else ({}, [])
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
            fitted = fitter(parameters_of(game.name, layout, steps, {}), options.workers, display.note)

            def report(old: np.ndarray, new: np.ndarray) -> None:
                display.note("  " + ", ".join(f"{name} {before:g} -> {after:g}" for name, before, after in zip(
                    names, old.tolist(), new.tolist(), strict=True)))

            display.begin("probing and fitting")
            at, history = rounds(answers, engine.options, names, at, batches, game.text, fitted, options.rounds, options.delta,
                                 report)
            steps, done = steps_of(engine.options, names, at, options.delta), 0
            answers.base.update(at)
        positions = np.concatenate([batch.positions for batch in thinned(batches, TESTED, options.seed)])
        display.begin("testing what is linear")
        linearity = examine(answers, answers.asked(positions), steps, options.tolerance, options.seed)
        if answers.fresh:
            display.note(f"{engine.name} keeps evaluations by earlier values of its options: it is started again for each value")
        if linearity.idle:
            raise InputError(without_effect(options, steps, len(positions)))
        used = steps if options.every else linearity.linear
        if not used:
            raise InputError(f"{options.engine}: no option of {len(steps)} acts linearly within {linearity.tolerance:g} "
                             "centipawns; --tolerance allows more, --every probes at the current values regardless")
        layout, kept, done = layout_of_options(list(engine.options), used), Kept(), 0
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
    which = f"the option {steps[0].name!r} changes" if len(steps) == 1 else f"none of {len(steps)} options changes"
    what, other = ("score of a search whose PV stays the same", "") if options.limits else (
        "static evaluation", ", or --depth for scores of searches")
    return (f"{options.engine}: {which} {'no' if len(steps) == 1 else 'any'} {what} in {positions:,} positions, so that "
            f"there is nothing to learn; name other options{other}")


def kept_text(kept: Kept) -> str:
    """How many positions are rows, and why others are not, in a line."""
    parts = [(kept.unknown, "without an evaluation"), (kept.changed, "whose PV changed"), (kept.bent, "not linear there")]
    left = ", ".join(f"{n:,} {why}" for n, why in parts if n)
    return f"{kept.rows:,} rows" + (f"; left out: {left}" if left else "")
