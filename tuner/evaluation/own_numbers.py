"""The numbers of evaluations as text for engines; and those of our own players by the names that
they have as options of an engine: weights such as material.knight.mg, and constants of the search
such as Search.LmrDivisor."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalterms.framework.encoding import encoding_named
from games.record import Game
from games.streams import InputError
from tuner.core.text import plural
from tuner.evaluation.loading import load_parameters, parameter_path
from tuner.evaluation.networks.files import c_text, holds_network, read_network, weights_path
from tuner.export.numbers import each_number, heading, rounded, rounding_errors, rounding_line
from tuner.export.text import FORMATS, exported
from tuner.options.option import refuse
from tuner.options.parser import nearest
from tuner.parameters.parameters import LARGEST_WEIGHT, Parameters


class OwnNumbers(NamedTuple):
    """Parameters, None for a player that has none, and values of constants of its search."""

    parameters: Parameters | None
    constants: dict[str, int]


def require_linear(name: str | Path, options: Iterable[str], more: str = "") -> None:
    """InputError for options, as they were typed, that have no use with a network; `more` is about
    networks."""
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
    """Return the parameters with the weights, and the constants, that `values` name. InputError,
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


class Exported(NamedTuple):
    """A text with the files that it was made from, how much it holds in words and as plain data,
    how it was rounded, if it was, and notes that the text itself has no place for."""

    text: str
    files: tuple[str, ...]
    holds: str
    plain: dict[str, Any]
    rounding: str = ""
    notes: Sequence[str] = ()


def exported_file(
    path: Path,
    name: str,
    form: str,
    scale_to: float | None,
    decimals: int,
    flip: bool,
    terms: Sequence[str],
) -> Exported:
    """Return the evaluation of a file, called `name`, in a format; InputError for options that the
    format has no use for."""
    if holds_network(path):
        network = read_network(path, lambda game, encoding: encoding_named(game, encoding).size)
        text = c_text(network, encoding_named(network.game, network.encoding), name)
        size = network.network.size
        files = (str(path), str(weights_path(path)))
        return Exported(text, files, f"{plural(size, 'weight')} for {form}", {"numbers": size})
    text, r = exported(load_parameters(path, terms), name, form, scale_to, decimals, flip)
    rounding = rounding_line(r)
    return Exported(
        text,
        (str(path), *terms),
        f"{plural(r.weights.size, 'number')} for {form}, {rounding}",
        {"numbers": int(r.weights.size), **rounding_errors(r)},
        rounding,
        () if FORMATS[form].heading else heading(r, name, tables=False),
    )
