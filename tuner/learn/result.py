"""The result of a fit, as a record and as lines of text."""

import shlex
from pathlib import Path

import numpy as np

from games.record import Game, Wording, available, find
from tuner.core.estimates import Estimate, estimate_of
from tuner.core.records import round_finite
from tuner.datasets.rows.build import TERMS
from tuner.datasets.summary import is_labelled
from tuner.findings.findings import (
    advice,
    better_targets,
    draws_of,
    error_in_points,
    held_out_change,
    held_out_results,
    loss_as_given,
    noise_found,
    ratios_of,
    reversed_results,
)
from tuner.fit.choices import Choices
from tuner.fit.datafit import Datafit
from tuner.fit.result import FitResult
from tuner.fit.scale import SlopedDataset
from tuner.learn.moves import TEMPERATURE
from tuner.learn.rounds import Fitted
from tuner.learn.targets import Start
from tuner.options.tune import TuneSettings
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.results.fit import AsGiven, ChoiceLosses, DataSource, Result
from tuner.version import __version__

ENGINE_NODES, MATCH_GAMES = 5000, 400  # of the match that is suggested to engines


def choices_of(result: FitResult) -> ChoiceLosses:
    """Return what the choices before and after a fit to moves lose."""
    held = result.held_out if result.held_out is not None else result.problem.datafit
    assert isinstance(held, Choices), "moves are choices"
    before, after = (
        TEMPERATURE * held.lost(weights) for weights in (result.reference, result.weights)
    )

    def mean(lost: np.ndarray) -> Estimate:
        error = float(lost.std() / len(lost) ** 0.5)
        return estimate_of(float(lost.mean()), error).rounded(5)

    return ChoiceLosses(
        before=mean(before),
        best_before=round(float((before == 0).mean()), 4),
        after=mean(after),
        best_after=round(float((after == 0).mean()), 4),
        rolls=len(before),
        held_out=result.held_out is not None,
    )


def describe(
    start: str,
    output: Path,
    fitted: Fitted,
    begun: Start,
    on_results: tuple[Datafit, Datafit | None] | None,
    command: str,
) -> Result:
    """Return the result of a fit."""
    read, _, result, options = fitted
    data, game, score_scale = read.data, begun.game, read.scale
    moves = options.method == "moves"  # their losses are of choices, not of positions
    on_own = None if moves else held_out_change(result)
    change = held_out_results(result, on_results) if on_results else on_own
    rows = data.manifest["terms"] == TERMS
    counted, scored = not rows and not read.games, len(data.score) > 0
    words = game.wording if game else Wording()
    labelled = not rows and data.games == data.positions and is_labelled(data)
    centipawn = read.centipawn if result.parameters.game == DEFAULT_GAME else None
    noise = noise_found(result, centipawn) if options.gradient == "analytic" else None
    moved = result.step is None or result.share > 0
    match = _match_command(start, output, options, result.parameters.game, game) if moved else None
    if match and options.run:
        match += f" --run {shlex.quote(f'{options.run}-match')}"
    datafit, step, slopes = result.problem.datafit, result.step, result.problem.datafit.data
    return Result(
        command=command,
        version=__version__,
        seed=options.seed,
        start=str(start),
        output=str(output),
        run=str(options.run) if options.run else None,
        data=[DataSource(**source) for source in data.manifest["sources"]],
        method=options.method,
        targets=options.targets,
        teacher=options.teacher,
        nodes=options.nodes,
        depth=options.depth,
        lambda_=options.lambda_,
        max_difference=options.max_difference,
        score_scale=score_scale and round(score_scale.value, 8),
        gradient=options.gradient if options.gradient != "analytic" else None,
        step=options.step,
        loss="choices" if moves else datafit.objective.name,
        learner=options.learner,
        iterations=len(result.history) - 1,
        converged=result.convergence.converged,
        gradient_norm=float(f"{result.convergence.gradient_norm:.3g}"),
        games=result.games,
        positions=result.positions,
        loss_before=round_finite(result.loss_before),
        loss_after=round_finite(result.loss_after),
        held_out_games=result.held_out_games,
        held_out_positions=result.held_out_positions,
        held_out_before=round_finite(result.held_out_before),
        held_out_after=round_finite(result.held_out_after),
        held_out_results=change,
        held_out_as_given=None if moves else _as_given(result, on_results, begun.parameters.scale),
        scale=round(result.parameters.scale, 8),
        intercept=[round(float(value), 2) for value in result.intercept],
        prior=options.prior or "none",
        file_prior=bool(begun.parameters.prior) or None,
        design_effect=round(result.problem.penalty.design_effect, 3),
        null_directions=result.null_space.dimension,
        never_applied=int((datafit.use[0].sum(axis=0) == 0).sum()),
        error_draws=(result.uncertainty.draws or None) if result.uncertainty else None,
        held_out_change=on_own,
        noise=noise,
        play={"share": round(step.share, 3), "change": round(step.change, 1)} if step else None,
        slopes=(
            [round(slope, 6) for slope in slopes.slopes]
            if step and isinstance(slopes, SlopedDataset)
            else None
        ),
        draws=draws_of(result, result.parameters.stages),
        ratios=(
            ratios_of(result.uncertainty, result.weights, result.parameters.layout)
            if words.ratios and result.parameters.optimum is None
            else []
        ),
        labelled=labelled or None,
        unit=words.unit if words.unit != Wording().unit else None,
        points=(
            error_in_points(result, on_results, game.points)
            if game and game.in_points and not moves
            else None
        ),
        choices=choices_of(result) if moves else None,
        rows=rows or None,
        scores=scored or None,
        counted=counted or None,
        advice=advice(
            result,
            change,
            noise,
            options.method,
            better_targets(rows, scored, game is None or not game.has_dice, counted),
            words,
            labelled,
            not moves and reversed_results(result, on_results),
        ),
        compare=_command("diff", start, output, options),
        match=match,
        into=(
            f"tuner export {shlex.quote(str(output))} --into SOURCE"
            if moved and game is None
            else None
        ),
    )


def _as_given(
    result: FitResult, on_results: tuple[Datafit, Datafit | None] | None, scale: float
) -> AsGiven | None:
    """Return the loss of the starting values with the `scale` of their file; None where
    the fit changed weights alone, or the loss is not known."""
    beside = [
        name
        for name, there in (
            ("scale", result.problem.datafit.scale != scale),
            ("slopes by phase", result.step is not None),
            ("intercept", result.intercept.any()),
        )
        if there
    ]
    loss = loss_as_given(result, on_results, scale)
    return None if loss is None or not beside else AsGiven(loss, beside)


def _match_command(
    start: str, output: Path, options: TuneSettings, name: str, game: Game | None
) -> str | None:
    """Return the match that is suggested; None where no program here can play it. Without a `game`
    that is evaluated here, the engine of the rows plays, if engines of the game of that `name`
    can."""
    if game is not None and game.contest.searcher:
        return f"{_command('match', output, start, options)} {game.usual.advice}"
    protocols = find(name).contest.protocols if game is None and name in available() else ()
    if not protocols:
        return None
    how = protocols[0]
    return f"tuner match {how}:NEW {how}:OLD --nodes {ENGINE_NODES} --games {MATCH_GAMES}"


def _command(name: str, a: object, b: object, options: TuneSettings) -> str:
    """Return a command line on two parameter files, with the term files that they need."""
    return shlex.join(
        [
            "tuner",
            name,
            str(a),
            str(b),
            *(word for path in options.terms for word in ("--terms", str(path))),
        ]
    )
