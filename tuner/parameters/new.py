"""Start a parameter file: from names of bundled terms, or from names and shapes of parameters that
another program counts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from games.record import scale_of
from games.streams import InputError
from tuner.parameters.layout import Layout, Place
from tuner.parameters.parameters import Parameters
from tuner.parameters.reader import MOST_COLUMNS, NAME, PHASES

STAGES = ("mg", "eg")  # of the evaluation of another program, unless it says otherwise
SPEC = re.compile(r"(?P<term>[^.\[\]]+)\.(?P<name>[^.\[\]]+)(?P<shape>(?:\[[0-9]{1,5}\])*)")


def of_specs(specs: Sequence[str]) -> Layout:
    """Return the layout of parameters given as `term.name`, `term.name[9]` or `term.name[8][8]`;
    InputError for another form. Those of one term follow each other."""
    places: list[Place] = []
    first = 0
    terms = {spec.partition(".")[0]: i for i, spec in reversed(list(enumerate(specs)))}
    for spec in sorted(specs, key=lambda spec: terms[spec.partition(".")[0]]):
        found = SPEC.fullmatch(spec)
        if not found or not NAME.fullmatch(found["term"]) or not NAME.fullmatch(found["name"]):
            raise InputError(
                f"{spec}: not a parameter, expected term.name, with its shape if it is a list or a"
                " table, such as 'mobility.knight[9]' or 'piece_square.pawn[8][8]'"
            )
        shape = tuple(int(size) for size in re.findall("[0-9]+", found["shape"]))
        if 0 in shape:
            raise InputError(f"{spec}: has a size of 0, expected 1 or more")
        if any((place.term, place.name) == (found["term"], found["name"]) for place in places):
            raise InputError(f"{spec}: {found['term']}.{found['name']} is named twice")
        places.append(Place(found["term"], found["name"], shape, first))
        first += math.prod(shape)
        if first > MOST_COLUMNS:
            raise InputError(
                f"{spec}: the parameters are {first:,} numbers, expected at most {MOST_COLUMNS:,}"
            )
    return Layout(tuple(places))


def usual_phases(largest: int) -> int:
    """Return the steps of the phase of an evaluation whose largest phase in some rows is this: the
    next usual number."""
    return next((steps for steps in (PHASES, 64, 128, 256) if largest <= steps), largest)


def zeros(
    game: str, layout: Layout, stages: tuple[str, ...], phases: int | None = None
) -> Parameters:
    """Return parameters of which every number is zero; `phases` if another program counts them."""
    return Parameters(
        game, layout, stages, np.zeros((len(stages), layout.size)), scale_of(game), phases=phases
    )
