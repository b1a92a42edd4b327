"""Commands as functions: their options are keywords, and what they print is returned."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from tuner.api.arguments import paths_of, takes
from tuner.api.evaluation import Evaluation, Games, Network, Player, load_network
from tuner.cli import capture
from tuner.core.records import InputError, Settings
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.datasets.reader import open_dataset
from tuner.options.option import Option, all_in, as_field
from tuner.report.page import render_inline

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class CommandResult:
    """The result of a command: `result`, what it prints with --json, and `lines`, its text."""

    result: dict[str, Any]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        """What a notebook shows: the page of the run if it has a folder, else its text."""
        return render_inline(self.result.get("run"), str(self))


@dataclass(frozen=True, repr=False)
class TrainedNetwork(CommandResult):
    """A `network` that was trained, and the result of `tuner network`."""

    network: Network

    def __repr__(self) -> str:
        return (
            f"<TrainedNetwork {self.network.name}: {plural(self.result['positions'], 'position')}>"
        )


def _options_of(command: str, without: str) -> Callable[[F], F]:
    """Return a decorator that makes the options of a command keywords of a function; `without`
    names those that are its arguments."""
    found = [
        (each.name, _type_of(each), as_field(each))
        for each in all_in(importlib.import_module(f"tuner.commands.{command}").TABLE)
        if each.names[0].startswith("-") and each.name not in without.split()
    ]
    return takes(make_dataclass(command, found, bases=(Settings,), frozen=True, kw_only=True))


def _type_of(option: Option) -> Any:
    """Return the type of an option's value in Python."""
    if option.action == "append":
        return str | tuple[str, ...]
    return option.kind if option.choices is None else Annotated[option.kind, option.choices]


@_options_of("wdl", "")
def fit_wdl(games: Games, **options: Any) -> CommandResult:
    """Fit the probabilities of a win, draw and loss to the search scores of games, as `tuner wdl`
    does. InputError names a mistake in one line."""
    return _perform("wdl", _names(games), options)


@_options_of("network", "output")
def train_network(
    start: Player | str | Path, games: Games, output: str | Path, **options: Any
) -> TrainedNetwork:
    """Train a network on values of positions, as `tuner network` does, and write it to `output`
    (.yaml, its weights in an .npz). `start` searches the positions, and is compared with the
    network on held-out games; `lambda_` is --lambda."""
    words = [_file_of(start), *_names(games), f"--output={output}"]
    found = _perform("network", words, options, start)
    return TrainedNetwork(found.result, found.lines, load_network(output))


@_options_of("dataset", "output params held_out cluster")
def build_rows(
    sources: Games, output: str | Path, evaluation: Evaluation | str | Path, **options: Any
) -> Dataset:
    """Build a dataset in the folder `output` of rows: files of rows, or with `engine` those that
    your engine, a command, prints for the positions of games. The weights of the evaluation are
    compared with the rows. The options are those of `tuner dataset`; without `engine` and rows the
    terms of the evaluation are counted in games."""
    words = [*_names(sources), f"--output={output}", f"--params={_file_of(evaluation)}"]
    _perform("dataset", words, options, evaluation)
    return open_dataset(output)


@_options_of("trace", "output")
def write_trace(
    evaluation: Evaluation | str | Path, output: str | Path, **options: Any
) -> CommandResult:
    """Write the header, or the module, with which your engine prints its feature counts, for the
    `language` "c" or "rust", as `tuner trace` does."""
    return _perform("trace", [_file_of(evaluation), f"--output={output}"], options, evaluation)


@_options_of("export", "into sources format output")
def write_into_source(
    evaluation: Evaluation | str | Path, sources: Games, **options: Any
) -> CommandResult:
    """Replace the numbers in sources of an engine by those of an evaluation, as `tuner export
    --into` does; with `check` nothing is written, and `result["differences"]` lists the numbers
    that differ."""
    words = [_file_of(evaluation), *(f"--into={path}" for path in paths_of(sources))]
    return _perform("export", words, options, evaluation)


@_options_of("export", "into sources format output check scale_to decimals")
def read_from_source(
    evaluation: Evaluation | str | Path, sources: Games, output: str | Path, **options: Any
) -> CommandResult:
    """Write the parameter file `output`: that of an evaluation with the numbers that sources of an
    engine have, as `tuner export --from` does."""
    words = [_file_of(evaluation), *(f"--from={path}" for path in paths_of(sources))]
    return _perform("export", [*words, f"--output={output}"], options, evaluation)


def _file_of(start: Player | str | Path) -> str:
    """Return the file of an evaluation, which the results of commands name."""
    path = start.path if isinstance(start, Player) else str(start)
    if path is None:
        raise InputError(f"{start!r} is in no file; write it with save, and load that")
    return _names(path)[0]


def _names(paths: Games) -> list[str]:
    """Return paths as words that are no options."""
    return [f"./{path}" if re.match("-.", path) else path for path in paths_of(paths)]


def _perform(
    command: str,
    words: Iterable[str],
    options: Mapping[str, Any],
    start: Player | str | Path = "",
) -> CommandResult:
    """Perform a command with options by name, and with the terms of an evaluation."""
    table = importlib.import_module(f"tuner.commands.{command}").TABLE
    given = {**({"terms": start.terms} if isinstance(start, Player) else {}), **options}
    more = [
        word
        for each in all_in(table)
        if each.name in given
        for word in _words_of(each, given[each.name])
    ]
    result, text = capture([command, *words, *more])
    return CommandResult(result, tuple(text.splitlines()))


def _words_of(option: Option, value: Any) -> Iterator[str]:
    """Yield an option with its value as it is typed; nothing for None."""
    flag = option.names[-1]
    if option.action == "store_true" or value is None:
        yield from [flag] * bool(value)
    elif option.action == "append":
        yield from (f"{flag}={each}" for each in paths_of(value))
    elif isinstance(value, tuple | list):
        yield f"{flag}={','.join(map(str, value))}"
    else:
        yield f"{flag}={value}"
