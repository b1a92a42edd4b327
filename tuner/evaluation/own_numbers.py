"""The numbers of our own players by the names that they have as options of an engine: weights such
as material.knight.mg, and constants of the search such as Search.LmrDivisor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from games.record import Game
from games.streams import InputError
from tuner.evaluation.loading import load_parameters, parameter_path
from tuner.evaluation.networks.files import holds_network
from tuner.export.numbers import each_number, rounded
from tuner.options.option import refuse
from tuner.options.parser import nearest
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters


class OwnNumbers(NamedTuple):
    """Parameters, None for a player that has none, and values of constants of its search."""

    parameters: Parameters | None
    constants: dict[str, int]


def require_linear(name: str | Path, options: Iterable[str], more: str = "") -> None:
    """InputError for options, as they were typed, that have no use with a network; it says `more`
    about networks."""
    path = parameter_path(name)
    refuse((option, holds_network(path), f"{path} is a network{more}") for option in options)


def require_terms(files: Iterable[str], terms: Iterable[str | Path]) -> None:
    """InputError for files of terms if none of the evaluations of some files has terms."""
    unused = all(holds_network(Path(file)) for file in files)
    refuse((f"--terms {each}", unused, "no player has terms") for each in terms)


def named_weights(name: str | Path, terms: Sequence[str | Path] = ()) -> Parameters | None:
    """Read the weights that have names as options, without compiling anything; None for a network,
    whose weights have none."""
    path = parameter_path(name)
    return None if holds_network(path) else load_parameters(path, terms)


def weight_places(parameters: Parameters) -> dict[str, tuple[int, int]]:
    """Return stage and column of each weight by its name as an option."""
    return {name: (s, column) for name, s, column in each_number(rounded(parameters))}


def with_numbers(
    game: Game, parameters: Parameters | None, values: Mapping[str, str], place: str
) -> OwnNumbers:
    """Return the parameters with other weights, and the constants, that `values` name. InputError,
    which begins with `place`, for names that are neither and for texts that are no such numbers."""
    constants = {constant.name: constant for constant in game.contest.constants}
    places = weight_places(parameters) if parameters is not None else {}
    weights = parameters.weights.copy() if parameters is not None else None
    chosen: dict[str, int] = {}
    for name, text in values.items():
        if name not in constants and name not in places:
            known = [*constants, *places]
            raise InputError(
                f"{place} {name}: {game.name} has no such weight, nor such a constant of its search"
                + (nearest(name, known) or "; see tuner optimize PLAYER --list")
            )
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if name in places and weights is not None:
            if not abs(value) <= LARGEST_WEIGHT:
                raise InputError(f"{place} {name}={text}: expected a number of centipawns")
            weights[places[name]] = value
        else:
            constant = constants[name]
            if not (value.is_integer() and constant.low <= value <= constant.high):
                raise InputError(
                    f"{place} {name}={text}: expected a whole number from {constant.low} to"
                    f" {constant.high}"
                )
            chosen[name] = int(value)
    if parameters is not None and weights is not None:
        parameters = parameters.with_weights(weights)
    return OwnNumbers(parameters, chosen)
