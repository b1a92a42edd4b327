"""What `tuner tune` starts from: parameters, and what counts their terms."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from games.record import Game, available, find
from games.streams import InputError
from tuner.datasets.files import is_dataset
from tuner.datasets.rows.build import of_rows
from tuner.datasets.rows.formats import is_rows
from tuner.evaluation.engine import Engine
from tuner.evaluation.loading import load_engine, load_parameters
from tuner.options.tune import TuneSettings
from tuner.parameters.parameters import Parameters, require_names, untapered


class Start(NamedTuple):
    """The parameters to start from, and the engine that counts their terms; None if the sources are
    rows. `game` is None if the learned file cannot play."""

    engine: Engine | None
    game: Game | None
    parameters: Parameters


def started(start: str, sources: Sequence[str], options: TuneSettings) -> Start:
    """Return what a run starts from. InputError if the sources are not what the parameter file
    needs."""
    rows = [source for source in sources if _holds_rows(source)]
    parameters = load_parameters(start, options.terms)
    others = [source for source in sources if source not in rows]
    if others and parameters.of_rows:
        raise InputError(
            f"{others[0]}: not rows, but another program counts the terms of {start}; name rows, or"
            f" let it count: tuner dataset {shlex.quote(others[0])} --engine COMMAND --params"
            f" {shlex.quote(str(start))} -o rows.ds"
        )
    if others and rows:
        raise InputError(
            f"{rows[0]}: rows, beside {others[0]}, which is not; name one or the other"
        )
    if rows:
        playable = not parameters.of_rows and parameters.game in available()
        engine, game = None, find(parameters.game) if playable else None
    else:
        engine, parameters = load_engine(start, options.terms)
        game = engine.game
    if options.untapered:
        parameters = untapered(parameters)
        require_names(parameters, start, "--untapered there is one number for all stages")
    if options.scale is not None:
        parameters = parameters.with_weights(parameters.weights, scale=options.scale)
    _check_names(parameters, options)
    return Start(engine, game, parameters)


def _holds_rows(source: str) -> bool:
    """Return whether a source is a file or dataset of rows."""
    return source != "-" and (of_rows(source) if is_dataset(source) else is_rows(source))


def _check_names(parameters: Parameters, options: TuneSettings) -> None:
    for option, names in (("--fixed", options.fixed), ("--only", options.only)):
        for name in names:
            if not parameters.mask((name,)).any():
                raise InputError(
                    f"{option} {name}: names no parameter; try a glob such as 'material.*'"
                )
    free = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free &= parameters.mask(options.only)
    if not free.any():
        raise InputError(
            "every parameter is fixed, by --fixed, --only or `fixed` in the file: nothing to learn;"
            " free some"
        )
