"""The numbers of sources, each a column of its own, whatever it means."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import find
from games.streams import InputError
from tuner.core.text import listed
from tuner.export.into.definitions import Definition, definitions_of
from tuner.export.into.plan import Target, plan, read_source_file
from tuner.export.into.propose import ONE, Proposal, apart, marked, proposals, shapes_of
from tuner.export.into.source import SourceText
from tuner.export.into.write import with_numbers, with_symmetry
from tuner.export.numbers import rounded
from tuner.io.files import replace_file
from tuner.measured.table import Site
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import of_specs, zeros
from tuner.parameters.yaml_tree import YamlNode, read_tree


class Numbers(NamedTuple):
    """The numbers of sources: the map that names them, their parameters, of one stage, where each
    number is, and its column."""

    map: Path
    parameters: Parameters
    sites: list[Site]
    columns: np.ndarray
    sources: list[SourceText]
    definitions: list[Definition]

    @property
    def labels(self) -> list[str]:
        """The names of the numbers."""
        labels = self.parameters.layout.labels()
        return [labels[k] for k in self.columns]


def numbers_of(
    game: str, files: Sequence[Path], target: Path, names: Path | None, only: Sequence[str]
) -> Numbers:
    """Return the numbers of sources that may be parameters: those of a map `names`, or those that
    comments with markers name, or else all that are proposed, but `only` those with these names;
    the map of them is written to `target`. InputError without any."""
    sources = [read_source_file(path) for path in files]
    definitions, stages = definitions_of(sources), find(game).stages
    if names is not None:
        proposed = list(_of_map(names, stages))
    else:
        proposed = marked(sources, definitions, stages) or proposals(definitions, stages)[0]
    wanted = [p for p in apart(proposed, definitions, stages) if _is_wanted(p.name, only)]
    if not wanted:
        raise InputError(
            f"{listed(list(map(str, files)), 3)}: no definition with numbers"
            f"{f' that {only[0]} names' if only else ''}; expected the sources of an evaluation"
        )
    replace_file(target, "".join(f"{each.line()}\n" for each in wanted))
    return read_numbers(game, sources, definitions, target)


def _is_wanted(name: str, only: Sequence[str]) -> bool:
    return not only or any(
        name.partition(".")[0] == each or fnmatch.fnmatchcase(name, each) for each in only
    )


def _of_map(path: Path, stages: Sequence[str]) -> Iterable[Proposal]:
    """Yield what a map names."""
    root = read_tree(path)
    entries = root.value if isinstance(root.value, dict) else {}
    for name, node in entries.items():
        value = node.value
        if isinstance(value, dict) and set(value) <= set(stages):
            yield Proposal(name, {stage: _text(value.get(stage)) for stage in stages}, "", "")
        elif text := _text(node):
            yield Proposal(name, {None: text}, "", "")


def _text(node: YamlNode | None) -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def read_numbers(
    game: str, sources: list[SourceText], definitions: list[Definition], names: Path
) -> Numbers:
    """Return the numbers that a map of one stage names."""
    root = read_tree(names)
    assert isinstance(root.value, dict), "it was written here"
    specs = shapes_of(names, list(root.value), ONE, definitions)
    start = zeros(game, of_specs(specs), ONE, 1)
    targets = plan(rounded(start), [Path(source.path) for source in sources], names)
    parameters = with_symmetry(with_numbers(start, targets))
    sites = {target.column: site_of(target, definitions) for target in targets}
    columns = np.array(sorted(sites))
    return Numbers(
        names, parameters, [sites[k] for k in columns.tolist()], columns, sources, definitions
    )


def site_of(target: Target, definitions: Sequence[Definition]) -> Site:
    """Return the number of a target with the definition that holds it."""
    path, at = target.source.path, target.number.start
    own = [d for d in definitions if d.source.path == path and d.node.start <= at < d.node.end]
    return Site(target.number, own[-1])


def narrowed(
    numbers: Numbers, is_weight: np.ndarray, target: Path, reasons: Mapping[str, str]
) -> Numbers:
    """Return the numbers of those parameters that have weights, `is_weight` (n,), with their map;
    the others in these are fixed, and the map lists the `reasons` of all others."""
    layout, weighty = numbers.parameters.layout, set[str]()
    labels = layout.labels()
    for place in layout.places:
        own = (numbers.columns >= place.first) & (numbers.columns < place.first + place.size)
        if (own & is_weight).any():
            weighty.add(place.path)
    lines = numbers.map.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.partition(":")[0] in weighty]
    left_out = [f"#   {label}: {reason}" for label, reason in reasons.items()]
    left_out = ["", "# no weights:", *left_out] if left_out else []
    replace_file(target, "".join(f"{line}\n" for line in [*kept, *left_out]))
    game, definitions = numbers.parameters.game, numbers.definitions
    narrower = read_numbers(game, numbers.sources, definitions, target)
    free = {labels[k] for k in numbers.columns[is_weight].tolist()}
    fixed = [label for label in narrower.parameters.layout.labels() if label not in free]
    return narrower._replace(parameters=replace(narrower.parameters, fixed=tuple(fixed)))
