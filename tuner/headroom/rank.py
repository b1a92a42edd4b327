"""A yardstick without matches: how closely parameter files agree with values of positions, each up
to one slope.

The excess cross-entropy of a file is that of the values given scale * evaluation, with the scale
that suits the file best, above the entropy of the values. All files are measured on the same
positions, so their differences are known much better than the excess of each."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.record import available, find
from games.streams import InputError
from tuner.datasets.files import is_dataset
from tuner.datasets.rows.formats import holds_rows
from tuner.evaluation.loading import load_engine, parameter_path, sources_for
from tuner.findings.records import Interval
from tuner.headroom.losses import ResampledSums, cross_entropy, entropy, fitted_scale
from tuner.headroom.measure import interval_text
from tuner.headroom.sample import ValuedSample, read_sample
from tuner.io.terminal import Display
from tuner.learn.targets import Unscored
from tuner.options.tune import RankOptions, TuneSettings
from tuner.parameters.reader import heading_of

# Spearman's, of excess and Elo against `classic` at depth 4; docs/headroom.md says how they were
# measured
CORRELATIONS = "0.80 over 17 files and 0.89 over 7 others"
TEACHER_METHODS = ("scores",)


class Ranked(NamedTuple):
    """A parameter file: its scale, and the losses (n,) of the positions, each counted as often as
    it counts."""

    name: str
    scale: float
    loss: np.ndarray
    learned: dict


@dataclass(frozen=True)
class RankedFile:
    """A parameter file with its excess, and how far that is behind the first's, None of the
    first."""

    file: str
    excess: Interval
    scale: float
    behind: Interval | None


@dataclass(frozen=True)
class Ranking:
    """Files in the order of their excess, and what it does and does not say about them."""

    values: str
    positions: int
    games: int
    entropy: float
    files: list[RankedFile]
    sentences: list[str]


def require_comparable(files: Sequence[str]) -> None:
    """InputError for files of different games, for one named twice, and for files whose terms
    another program counts."""
    for i, name in enumerate(files):
        if name in files[:i]:
            raise InputError(f"{name}: named twice; leave one out")
    headings = [heading_of(parameter_path(name)) for name in files]
    for name, heading in zip(files, headings, strict=True):
        if heading.of_rows:
            raise InputError(
                f"{name}: another program counts its terms, so positions cannot be evaluated here"
            )
        if heading.game != headings[0].game:
            raise InputError(
                f"{name} is for {heading.game}, but {files[0]} is for {headings[0].game}"
            )


def require_positions(sources: Sequence[str]) -> None:
    """InputError for datasets and rows, which hold the counts of one evaluation."""
    for source in sources:
        if source != "-" and (is_dataset(source) or holds_rows(source)):
            raise InputError(
                f"{source}: holds counts of one evaluation, not positions that each file could"
                " evaluate; name games or labelled positions"
            )


def targets_for(files: Sequence[str], sources: Sequence[str]) -> str:
    """Return what to rank by: scores; in a game whose positions cannot be searched, the labels of
    labelled positions. InputError for files of its games, which have results alone."""
    name = heading_of(parameter_path(files[0])).game
    game = find(name) if name in available() else None
    if game is None or game.searchable:
        return "scores"
    for source in sources:
        if source != "-" and (os.path.isdir(source) or game.files.of_games(source)):
            raise InputError(
                f"{source}: games of {name} have results, but no scores of positions to rank by;"
                " name labelled positions"
            )
    return "results"


def ranking(
    files: Sequence[str], games: Sequence[str], options: RankOptions, folder: Path, display: Display
) -> Ranking:
    """Return parameter files in the order of their agreement with values of positions of games."""
    sources = sources_for(files[0], games)
    require_comparable(files)
    require_positions(sources)
    # positions are evaluated, not counted: terms need not be linear
    settings = options.tuning(
        options.terms, targets=targets_for(files, sources), gradient="central-difference"
    )
    sample = sample_to_rank(files, sources, settings, options.sample, folder, display)
    return ranking_of(files, sample, settings.terms, display)


def sample_to_rank(
    files: Sequence[str],
    sources: Sequence[str],
    options: TuneSettings,
    most: int,
    folder: Path,
    display: Display,
) -> ValuedSample:
    """Read positions with values to rank files by. InputError without them: there are no other
    targets to choose."""
    try:
        return read_sample(files[0], sources, options, most, folder, display)
    except Unscored as error:
        raise error.without_targets() from None


def ranking_of(
    files: Sequence[str], sample: ValuedSample, terms: Sequence[str], display: Display
) -> Ranking:
    """Return the files in the order of their excess."""
    positions, q, mass = np.asarray(sample.read.positions)[sample.place], sample.q, sample.mass
    own, found = entropy(q), []
    display.begin("evaluating", len(files))
    for done, name in enumerate(files, 1):
        engine, parameters = load_engine(name, terms)
        evaluation = engine.evaluate_many(positions, parameters, sample.options.workers)
        scale = fitted_scale(evaluation, q, mass)
        loss = mass * (cross_entropy(2 * scale * evaluation, q) - own)
        found.append(
            Ranked(
                name,
                scale,
                loss,
                parameters.learned if isinstance(parameters.learned, dict) else {},
            )
        )
        display.counting(done)
    found.sort(key=lambda one: float(one.loss.sum()))
    sums = ResampledSums(
        sample.opening,
        {str(i): one.loss for i, one in enumerate(found)} | {"mass": mass},
        sample.options.seed,
    )
    lines = [
        RankedFile(
            file=one.name,
            excess=sums.interval(partial(_mean, str(i))),
            scale=round(one.scale, 8),
            behind=sums.interval(partial(_behind, str(i))) if i else None,
        )
        for i, one in enumerate(found)
    ]
    return Ranking(
        values=sample.values,
        positions=len(q),
        games=len(sample.games),
        entropy=round(float(mass @ own / mass.sum()), 6),
        files=lines,
        sentences=_sentences(found, lines, sample),
    )


def _mean(name: str, sums: dict) -> np.ndarray:
    return sums[name] / sums["mass"]


def _behind(name: str, sums: dict) -> np.ndarray:
    return (sums[name] - sums["0"]) / sums["mass"]


def _sentences(found: list[Ranked], lines: list[RankedFile], sample: ValuedSample) -> list[str]:
    """Return what the ranking does and does not say about these files."""
    said = []
    sources = {source["sha256"] for source in sample.data.manifest["sources"]} - {"-"}
    same = [
        one.name
        for one in found
        if sources
        & {
            source.get("sha256")
            for source in one.learned.get("data") or []
            if isinstance(source, dict)
        }
    ]
    if same:
        said.append(f"learned from these same games, so ranked too high: {', '.join(same)}")
    taught = [
        one.name
        for one in found
        if one.learned.get("method") in TEACHER_METHODS and not one.learned.get("own_games")
    ]
    if taught:
        said.append(
            "fitted to scores of searches, so ranked too high if these are of the same engine:"
            f" {', '.join(taught)}"
        )
    flat = [one.name for one in found if one.scale == 0]
    if flat:
        said.append(f"evaluations that do not rise with the values (slope 0): {', '.join(flat)}")
    near = [line.file for line in lines if line.behind and not line.behind.certain]
    if near:
        said.append(f"not behind {lines[0].file} beyond chance: {', '.join(near)}")
    if sample.options.targets == "results":
        said.append(
            "closer values are not better moves, which small differences between similar positions"
            " decide: a match tells which file plays better"
        )
    else:
        said.append(
            "useful to choose among many files, not instead of a match: the rank correlation of"
            f" this measure with Elo was {CORRELATIONS}; files that were fitted to such values rank"
            " too high"
        )
    if len(lines) > 1:
        said.append(f"next: {shlex.join(['tuner', 'match', *(line.file for line in lines[:2])])}")
    return said


def lines_of(found: Ranking) -> list[str]:
    """Return a ranking as lines of text for a terminal."""
    width = max(len("file"), *(len(line.file) for line in found.files)) + 2
    games = "" if found.games == found.positions else f" of {found.games:,} games"
    lines = [
        f"excess cross-entropy of {found.positions:,} positions{games}; values: {found.values}",
        f"  {'file':<{width}}{'excess':<26}{'behind the first':<28}scale",
    ]
    for line in found.files:
        behind = interval_text(line.behind, 5) if line.behind else ""
        lines.append(
            f"  {line.file:<{width}}{interval_text(line.excess):<26}{behind:<28}{line.scale:.5f}"
        )
    return lines + found.sentences
