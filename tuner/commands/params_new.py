"""Start a parameter file: `tuner params --new` and `--from-rows`."""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import replace
from pathlib import Path

from games.record import available, find
from games.streams import InputError
from tuner.engine.loading import make_layout
from tuner.io.files import LEARNED, require_writable
from tuner.parameters.layout import Layout, Place
from tuner.parameters.new import STAGES, of_specs, zeros
from tuner.parameters.own_layout import NAME
from tuner.parameters.parameters import Parameters
from tuner.parameters.reader import PHASES
from tuner.parameters.summary import line, summary, terms_line
from tuner.parameters.writer import write_parameters


def start(new: str, arguments: argparse.Namespace) -> dict:
    """Write a new file to -o OUT; `new` is the option that asks for it."""
    if arguments.output is None:
        raise InputError(f"{new}: expected -o OUT, the file to write")
    output = Path(arguments.output)
    require_writable(output, LEARNED, (*(arguments.params if arguments.from_rows else ()), *arguments.terms))
    if os.path.lexists(output):
        raise InputError(f"{output}: exists; {new} overwrites no file, choose another name")
    parameters = _of_names(arguments) if arguments.new else _of_rows(arguments)
    write_parameters(output, parameters)
    if not arguments.json:
        print(f"wrote {shlex.quote(str(output))}: {line(parameters)}\n  {terms_line(parameters)}")
        name = shlex.quote(str(output))
        print("every number is 0: " + (
            f"read those of your engine with `tuner export {name} --from SOURCE -o start.yaml`, or learn them from results"
            if parameters.of_rows else f"learn them with `tuner tune {name} GAMES -o learned.yaml`"))
    return {"output": str(output), **summary(parameters)}


def _of_names(arguments: argparse.Namespace) -> Parameters:
    if any("." in name for name in arguments.params):
        if arguments.terms:
            raise InputError("--terms: parameters are named, which your engine counts; name terms, or leave out --terms")
        return zeros(_named_game(arguments), of_specs(arguments.params), _stages(arguments), arguments.phases or PHASES)
    if arguments.game not in available():
        raise InputError(f"--game {arguments.game}: its terms are not known; name parameters, such as 'mobility.knight[9]', or "
                         f"one of the games {', '.join(available())}")
    if arguments.phases:
        raise InputError(f"--phases {arguments.phases}: {arguments.game} has its own phase; leave it out")
    whole = make_layout(arguments.game, arguments.terms)
    names = list(dict.fromkeys(place.term for place in whole.places))
    for name in arguments.params:
        if name not in names:
            raise InputError(f"{name}: no term of {arguments.game}, which has {', '.join(names)}; a parameter that your engine "
                             "counts is named term.name")
    places: list[Place] = []
    for place in whole.places:
        if place.term in arguments.params:
            places.append(replace(place, first=places[-1].columns.stop if places else 0))
    stages = find(arguments.game).stages
    if arguments.stages and tuple(arguments.stages) != stages and len(arguments.stages) != 1:
        raise InputError(f"--stages {' '.join(arguments.stages)}: {arguments.game} has {' and '.join(stages)}; one name for all, "
                         "or leave it out")
    return zeros(arguments.game, Layout(tuple(places), whole.files), tuple(arguments.stages or stages))


def _of_rows(arguments: argparse.Namespace) -> Parameters:
    from tuner.rows.formats import scan

    if len(arguments.params) > 1:
        raise InputError(f"{arguments.params[1]}: a second file, expected one file of rows")
    if arguments.terms:
        raise InputError(f"--terms {arguments.terms[0]}: another program counts the terms of rows; leave it out")
    stages = _stages(arguments) if arguments.stages else None
    return scan(arguments.params[0]).parameters(_named_game(arguments), stages, arguments.phases)


def _stages(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the stages of parameters that another program counts."""
    stages = tuple(arguments.stages or STAGES)
    if len(stages) > 2 or len(set(stages)) < len(stages) or not all(stage.isidentifier() for stage in stages):
        raise InputError(f"--stages {' '.join(stages)}: expected one or two different names, such as mg eg")
    return stages


def _named_game(arguments: argparse.Namespace) -> str:
    """Return the game of parameters that another program counts."""
    if not NAME.fullmatch(arguments.game):
        raise InputError(f"--game {arguments.game}: not a name, expected a letter, then letters, digits, blanks, _ or -")
    return arguments.game
