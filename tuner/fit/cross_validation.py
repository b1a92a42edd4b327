"""`--prior cv`: the width of the prior that predicts held-out games best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.writing import split_games
from tuner.fit.fit import fit
from tuner.fit.setup import FitOptions
from tuner.parameters.parameters import Parameters

WIDTHS = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)  # centipawns, of priors
SPLITS, SHARE = 4, 0.2  # of cross-validation


def choose_prior(
    data: Dataset,
    parameters: Parameters,
    options: FitOptions,
    watch: Callable[[str], None] = lambda text: None,
) -> tuple[float, dict[float, float]]:
    """Return the width of the prior in centipawns that predicts held-out games best, and the mean
    held-out loss of each width.

    Games are split several times, by whole openings; the games that `options` hold out are not
    used."""
    inside, _ = split_games(data, options.held_out, options.seed)
    losses: dict[float, float] = {}
    for width in WIDTHS:
        watch(f"prior of {width:g} {parameters.wording.unit}")
        found = []
        for number in range(SPLITS):
            trial = replace(
                options,
                prior=width,
                held_out=SHARE,
                seed=options.seed * 1000 + number + 1,
                errors=False,
            )
            result = fit(data, parameters, trial, games=inside)
            if result.held_out is None:
                raise InputError(
                    f"--prior cv: {len(inside)} games are too few to split; name a width, such as"
                    " --prior 50"
                )
            found.append(result.held_out_after)
        losses[width] = float(np.mean(found))
    return min(losses, key=lambda width: losses[width]), losses
