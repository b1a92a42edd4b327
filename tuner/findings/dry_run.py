"""Identifiability and expected errors before a fit: `tuner tune --dry-run`."""

import numpy as np

from games.record import wording_of
from tuner.core.estimates import reach_of
from tuner.core.records import round_finite, to_json
from tuner.core.text import listed
from tuner.datasets.dataset import Dataset
from tuner.datasets.writing import split_games
from tuner.findings.findings import ratios_of
from tuner.findings.identifiability import identify
from tuner.fit.datafit import Datafit
from tuner.fit.errors import standard_errors, vectors_needed
from tuner.fit.null_space import find_null_space
from tuner.fit.scale import fit_scale
from tuner.fit.setup import FitOptions, make_problem
from tuner.parameters.parameters import Parameters

MAX_NAMES = 8  # names in a line


def dry_run_findings(data: Dataset, parameters: Parameters, options: FitOptions) -> dict:
    """Return, as plain data, what the games identify and the approximate width of 95 % intervals
    without a prior.

    Errors are those at the starting values, for the results of the games: the fitted values are not
    known yet."""
    words = wording_of(parameters.game)
    train, held = split_games(data, options.held_out, options.seed)
    problem = make_problem(
        data, parameters, options, train if len(train) else held, parameters.scale
    )
    if options.fit_scale and parameters.weights.any() and (scale := fit_scale(problem)):
        problem = make_problem(
            data, parameters, options, train if len(train) else held, scale.value
        )
    datafit = problem.datafit
    curvature = datafit.curvature(problem.start)
    null_space = find_null_space(problem, problem.start, curvature, data.layout.places)
    uncertainty = standard_errors(problem, problem.start, curvature, null_space)
    reach = reach_of(uncertainty.games) * uncertainty.standard_errors[:, : data.layout.size]
    seconds, memory = cost_of(datafit)
    return {
        "games": len(datafit.games),
        "positions": datafit.positions,
        "held_out_games": len(held),
        **to_json(identify(problem, curvature, null_space, data.layout, parameters.stages)),
        "expected": [
            {"parameter": place.path}
            | {
                stage: round_finite(value, 2)
                for stage, value in zip(parameters.stages, reach[:, place.first], strict=True)
            }
            for place in (data.layout.headline if words.ratios else [])
        ],
        "ratios": to_json(
            ratios_of(uncertainty, problem.start, data.layout) if words.ratios else []
        ),
        "cpu_seconds": round(seconds),
        "megabytes": round(memory),
        "unit": words.unit,
        "median": (
            round_finite(np.nanmedian(np.where(reach > 0, reach, np.nan)), 2)
            if (reach > 0).any()
            else None
        ),
    }


def cost_of(datafit: Datafit) -> tuple[float, float]:
    """Return about how many CPU seconds a fit takes, and how many megabytes, from measurements on
    one machine."""
    data, free = datafit.data, int(np.count_nonzero(datafit.free))
    nonzeros = len(data.index) * datafit.stages
    if not datafit.has_many_weights:
        return 6e-10 * free**3 + 1e-7 * nonzeros, 200 + 5e-5 * free**2
    if datafit.forms_matrix:
        products = nonzeros**2 / max(1, data.positions)
        return 2.6e-10 * (products + free**3), 200 + 5e-5 * free**2
    return 5e-6 * nonzeros + 1.4e-4 * free, 200 + 6e-5 * free * vectors_needed(datafit)


def dry_run_lines(found: dict) -> list[str]:
    """Return the findings as lines of text."""
    identified = (
        "; whether the games tell all of them apart was not looked for, but for sums of lists and"
        " tables"
        if found["rank"] is None
        else ", all identified by the games"
        if found["rank"] == found["free"]
        else (f"; the games identify {found['rank']:,} independent combinations of them")
    )
    lines = [f"{found['free']:,} free weights{identified}"]
    if found["never"]:
        lines.append(
            f"never apply, so not identified: {listed(_grouped(found['never']), MAX_NAMES)}"
        )
    if found["rare"]:
        lines.append(
            "hardly ever apply: "
            + listed(
                [f"{line['parameter']} ({line['positions']})" for line in found["rare"]], MAX_NAMES
            )
        )
    directions = [line["text"] for line in found["null_directions"]]
    if directions:
        many = len(directions) > 1
        lines.append(
            f"{len(directions)} combination{'s' * many} of weights change{'s' * (not many)} no"
            " evaluation, so that games cannot tell them apart (without a prior lists and tables"
            " keep their means):"
        )
        more = [f"  and {len(directions) - MAX_NAMES} more"] if len(directions) > MAX_NAMES else []
        lines += [f"  {text}" for text in directions[:MAX_NAMES]] + more
    for line in found["collinear"]:
        lines.append(
            f"hard to tell apart: {line['a']} and {line['b']} (estimates correlate by"
            f" {line['correlation']:+.2f})"
        )
    if found["condition"]:
        lines.append(f"condition number {found['condition']:,.0f}")
    lines.append(
        f"a fit takes about {found['cpu_seconds'] + 3:,} CPU seconds and {found['megabytes']:,} MB"
    )
    other = (
        ""
        if found["method"] == "logistic"
        else f"; those of {found['method']}, the method used here, will differ"
    )
    lines.append(
        "expected 95 % intervals of a fit to the results without a prior, in"
        f" {found['unit']}{other}:"
    )
    for line in found["expected"]:
        name, *values = line.items()
        lines.append(
            f"  {name[1]}  " + "  ".join(f"{stage} +/- {_text(value)}" for stage, value in values)
        )
    if found["median"] is not None:
        lines.append(f"  median of all weights  +/- {_text(found['median'])}")
    return lines


def _grouped(names: list[str]) -> list[str]:
    """Return the names with the names of one list or table combined."""
    counts: dict[str, int] = {}
    for name in names:
        path, _, rest = name.partition("[")
        _, _, stage = rest.rpartition(" ") if " " in rest else ("", "", "")
        key = f"{path} {stage}".strip() if rest else name
        counts[key] = counts.get(key, 0) + 1
    return [name if count == 1 else f"{name} ({count})" for name, count in counts.items()]


def _text(value: float | None) -> str:
    return "not identified" if value is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"
