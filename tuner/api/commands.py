"""Commands as functions: their options are keywords, and what they found is returned."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar

from tuner.api.arguments import paths_of, takes
from tuner.api.evaluation import Evaluation, Games, Network, Player, load_network
from tuner.commands import dataset, export, network, trace, wdl
from tuner.core.records import InputError, Settings
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset
from tuner.options.option import Arguments, Option, all_in, as_field
from tuner.results.result import CommandResult
from tuner.results.trained import Trained
from tuner.results.wdl import Wdl

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainedNetwork(Trained):
    """A `network` that was trained, and what `tuner network` found."""

    network: Network

    def __repr__(self) -> str:
        return f"<TrainedNetwork {self.network.name}: {plural(self.found.positions, 'position')}>"


def _options_of(command: str, without: str) -> Callable[[F], F]:
    """Return a decorator that makes the options of a command keywords of a function; `without`
    names those that are its arguments."""
    options = [
        (each.name, _type_of(each), as_field(each))
        for each in all_in(importlib.import_module(f"tuner.commands.{command}").TABLE)
        if each.names[0].startswith("-") and each.name not in without.split()
    ]
    return takes(make_dataclass(command, options, bases=(Settings,), frozen=True, kw_only=True))


def _type_of(option: Option) -> Any:
    """Return the type of an option's value in Python."""
    if option.action == "append":
        return str | tuple[str, ...]
    return option.kind if option.choices is None else Annotated[option.kind, option.choices]


@_options_of("wdl", "")
def fit_wdl(games: Games, **options: Any) -> Wdl:
    """Fit the probabilities of a win, draw and loss to the search scores of games, as `tuner wdl`
    does. InputError names a mistake in one line."""
    return wdl.run(_given(wdl, "fit_wdl", options, sources=paths_of(games)))


@_options_of("network", "output")
def train_network(
    start: Player | str | Path, games: Games, output: str | Path, **options: Any
) -> TrainedNetwork:
    """Train a network on values of positions, as `tuner network` does, and write it to `output`
    (.yaml, its weights in an .npz). `start` searches the positions, and is compared with the
    network on held-out games; `lambda_` is --lambda."""
    more = {"games": paths_of(games), "output": str(output)}
    trained = network.run(_given(network, "train_network", options, start, **more))
    return TrainedNetwork(**vars(trained), network=load_network(output))


@_options_of("dataset", "output params source engine not_linear held_out cluster")
def measure_counts(
    games: Games, output: str | Path, plan: str | Path, **options: Any
) -> CommandResult:
    """Measure what the numbers of an evaluation's sources count in the positions of games, as
    `tuner dataset --source` does, and write it as a dataset in the folder `output`; `plan` is a
    file that names the sources. `result["params"]` is the parameter file of those that are weights,
    `result["left_out"]` has the reasons of the others."""
    more = {"sources": paths_of(games), "output": [str(output)], "source": str(plan)}
    return dataset.run(_given(dataset, "measure_counts", options, None, **more))


@_options_of("dataset", "output params held_out cluster minutes")
def build_rows(
    sources: Games, output: str | Path, evaluation: Evaluation | str | Path, **options: Any
) -> Dataset:
    """Build a dataset in the folder `output` of rows: files of rows, or with `engine` those that
    your engine, a command, prints for the positions of games. The weights of the evaluation are
    compared with the rows. The options are those of `tuner dataset`; without `engine` and rows the
    terms of the evaluation are counted in games."""
    more = {"sources": paths_of(sources), "output": [str(output)]}
    dataset.run(_given(dataset, "build_rows", options, evaluation, **more))
    return open_dataset(output)


@_options_of("trace", "output")
def write_trace(
    evaluation: Evaluation | str | Path, output: str | Path, **options: Any
) -> CommandResult:
    """Write the header, or the module, with which your engine prints its feature counts, for the
    `language` "c" or "rust", as `tuner trace` does."""
    return trace.run(_given(trace, "write_trace", options, evaluation, output=str(output)))


@_options_of("export", "into sources format output")
def write_into_source(
    evaluation: Evaluation | str | Path, sources: Games, **options: Any
) -> CommandResult:
    """Replace the numbers in sources of an engine by those of an evaluation, as `tuner export
    --into` does; with `check` nothing is written, and `result["differences"]` lists the numbers
    that differ."""
    more = {"into": paths_of(sources)}
    return export.run(_given(export, "write_into_source", options, evaluation, **more))


@_options_of("export", "into sources format output check scale_to decimals")
def read_from_source(
    evaluation: Evaluation | str | Path, sources: Games, output: str | Path, **options: Any
) -> CommandResult:
    """Write the parameter file `output`: that of an evaluation with the numbers that sources of an
    engine have, as `tuner export --from` does."""
    more = {"sources": paths_of(sources), "output": str(output)}
    return export.run(_given(export, "read_from_source", options, evaluation, **more))


def _given(
    command: ModuleType,
    function: str,
    options: Mapping[str, Any],
    start: Player | str | Path | None = None,
    **more: Any,
) -> Arguments:
    """Return the arguments of a command for a function of this module, with the file and the terms
    of an evaluation."""
    given = {**more, **options}
    if start is not None:
        terms = list(start.terms) if isinstance(start, Player) else []
        given = {"terms": terms, **given, "params": _file_of(start)}
    for each in all_in(command.TABLE):
        if each.action == "append" and isinstance(given.get(each.name), str | tuple):
            given[each.name] = paths_of(given[each.name])
    return Arguments.by_name(command.TABLE, given, f"tuner.{function}")


def _file_of(start: Player | str | Path) -> str:
    """Return the file of an evaluation, which the results of commands name."""
    path = start.path if isinstance(start, Player) else str(start)
    if path is None:
        raise InputError(f"{start!r} is in no file; write it with save, and load that")
    return path
