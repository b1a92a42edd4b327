"""Build datasets from files of rows, and open datasets of rows."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from games.record import available
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset, Rows, of_stages
from tuner.datasets.files import is_dataset, only
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows.check import RowCheck, check_rows
from tuner.datasets.rows.formats import read
from tuner.datasets.rows.sample import sample_of, tolerance
from tuner.datasets.rows.values import RowBatch
from tuner.datasets.writing import WideWriter, merge
from tuner.io.files import file_entry
from tuner.parameters.parameters import Parameters
from tuner.version import __version__

TERMS = "rows"  # in place of the name of the terms, in a manifest
Note = Callable[[str], None]


@dataclass
class Totals:
    """Numbers of what was read: rows, those without a result, those with more steps of the phase
    than there are and the largest of these steps, and games that were written; and of the part that
    is not linear, if one was named: rows that have it, and the sum of its squares in centipawns."""

    rows: int = 0
    without_result: int = 0
    above: int = 0
    largest: int = 0
    games: int = 0
    not_linear: int = 0
    squares: float = 0.0

    @property
    def remainder(self) -> dict[str, float]:
        """The part that is not linear: the share of the rows that have it, and how large it is in
        all of them, root mean square in centipawns."""
        rows = max(self.rows, 1)
        return {"share": self.not_linear / rows, "rms": (self.squares / rows) ** 0.5}


def of_rows(path: str | Path) -> bool:
    """Return whether a dataset, which is not damaged, holds rows that another program counted."""
    return open_dataset(path, check=False).manifest["terms"] == TERMS


def build_rows(
    batches: Iterable[RowBatch],
    target: Path,
    parameters: Parameters,
    sources: list[dict],
    not_linear: str | None = None,
    options: dict | None = None,
) -> tuple[Dataset, RowCheck | None, Totals]:
    """Write rows as a dataset and check them against the weights of `parameters`; None without any
    weight, which leaves nothing to compare with.

    Rows without a result are left out, and those with a phase above the largest: after promotions
    engines have more pieces than at the start. `not_linear` names a part of the evaluation that
    counts cannot express: what the rows lack then goes into `rest`. `options` are kept in the
    manifest. InputError if no row is left, or most have such a phase."""
    totals, last, stages = Totals(), None, parameters.staging
    phases = stages.phases
    writer = WideWriter(target, parameters.layout.size)
    with writer:

        def written() -> Iterator[RowBatch]:
            nonlocal last
            for batch in batches:
                totals.rows += len(batch.phase)
                above = batch.phase > phases
                if above.any():
                    totals.above += int(above.sum())
                    totals.largest = max(totals.largest, int(batch.phase.max()))
                    batch = only(batch, ~above)
                if not_linear is not None:
                    remainder = _remainder(batch, parameters)
                    totals.not_linear += int(np.count_nonzero(remainder))
                    totals.squares += float(remainder @ remainder)
                    batch = batch._replace(rest=(batch.rest + remainder).astype(np.float32))
                yield batch
                known = ~np.isnan(batch.outcome)
                totals.without_result += int((~known).sum())
                kept = batch if known.all() else only(batch, known)
                if not len(kept.phase):
                    continue
                starts = np.flatnonzero(np.append(True, kept.game[1:] != kept.game[:-1]))
                starts = starts[int(last == int(kept.game[0])) :]
                last = int(kept.game[-1])
                writer.add_games(
                    starts + writer.positions, kept.game[starts], kept.openings[starts]
                )
                totals.games += len(starts)
                writer.add_rows(
                    Rows(
                        kept.index, kept.count, kept.row, kept.phase, kept.outcome, None, kept.rest
                    ),
                    kept.scale,
                    kept.evaluation,
                    kept.score,
                    kept.text,
                )

        check = None
        if parameters.weights.any():
            known = parameters.game in available()
            letters = "".join(side[0].lower() for side in parameters.wording.sides)
            check = check_rows(
                written(), parameters.weights, parameters.layout, stages, letters if known else "wb"
            )
        else:
            for _ in written():
                pass
        if totals.above > totals.rows / 2:
            raise InputError(
                f"{', '.join(source['file'] for source in sources)}: {totals.above:,} of"
                f" {totals.rows:,} rows have a phase above {phases}, up to {totals.largest};"
                " expected steps of the first stage; write their number as `phases` into the"
                " parameter file"
            )
        if writer.positions == 0:
            where = ", ".join(source["file"] for source in sources)
            raise InputError(
                f"{where}: no row with a result among {totals.rows:,}; expected results such as 1,"
                " 0.5 and 0"
            )
        manifest = {
            "program": f"evaltune {__version__}",
            "game": parameters.game,
            "sources": sources,
            "options": {**(options or {}), **({"not_linear": not_linear} if not_linear else {})},
            "layout": parameters.layout.describe(),
            "terms": TERMS,
            **of_stages(stages),
            "row_check": _plain(check) if check else None,
        }
        writer.finish(manifest)
    return open_dataset(target, check=False), check, totals


def read_rows(sources: Sequence[str], parameters: Parameters, note: Note) -> Iterator[RowBatch]:
    """Yield the rows of several files in their order, with any number of steps."""
    for source in sources:
        if source != "-" and not os.path.isfile(source):
            raise InputError(
                f"{source}: {'a folder' if os.path.isdir(source) else 'no such file'}; expected a"
                " file of rows"
            )
        yield from read(source, parameters.layout, len(parameters.stages), None, note)


def rows_of_sources(
    sources: Sequence[str],
    folder: Path,
    parameters: Parameters,
    not_linear: str | None,
    note: Note,
) -> Dataset:
    """Return one dataset of files of rows and of datasets, built in `folder` where need be.
    InputError if the rows do not belong to the parameters, or do not agree with the evaluation of
    the engine."""
    ready = [source for source in sources if source != "-" and is_dataset(source)]
    if not_linear is not None and len(ready) == len(sources):
        raise InputError(
            f"--not-linear {not_linear}: the rows of a dataset were checked when it was built;"
            " build it again"
        )
    datasets = [matching(open_dataset(source), parameters) for source in ready]
    files = [source for source in sources if source not in ready]
    if files:
        data, check, totals = build_rows(
            read_rows(files, parameters, note),
            folder / "rows",
            parameters,
            list(map(file_entry, files)),
            not_linear,
        )
        for line in built_lines(check, totals, not_linear):
            note(line)
        datasets.append(data)
    for data in datasets:
        require_agreement(data)
    return datasets[0] if len(datasets) == 1 else merge(datasets, folder / "merged")


def built_lines(check: RowCheck | None, totals: Totals, not_linear: str | None) -> list[str]:
    """Return the totals and the row check as lines of text."""
    lines = [f"read {plural(totals.rows, 'row')} of {plural(totals.games, 'game')}"]
    if totals.without_result:
        lines[0] += f", left out {totals.without_result:,} without a result"
    if totals.above:
        lines.append(
            f"left out {plural(totals.above, 'row')} with a phase above the largest, up to"
            f" {totals.largest}: the parameter file ends at its `phases`"
        )
    if check is None:
        lines.append("row check: none; it needs a parameter file with the engine's weights")
    else:
        first, *more = check.lines()
        lines += [f"row check: {first}", *(f"  {line}" for line in more)]
    if not_linear is not None:
        remainder = totals.remainder
        lines.append(
            f"not tuned: {not_linear}, what the rows lack: in {remainder['share']:.0%} of the rows,"
            f" {remainder['rms']:.1f} centipawns root mean square"
        )
    return lines


def require_agreement(data: Dataset) -> None:
    """InputError for rows that were compared with the engine's evaluation and do not agree with
    it."""
    check = data.manifest.get("row_check")
    if not isinstance(check, dict) or not check.get("checked") or check.get("fits"):
        return
    raise InputError(
        f"{data.path}: {check.get('exact', 0):,} of {plural(check['checked'], 'row')} agree with"
        f" the engine's evaluation; fix the rows, or name the part of the"
        " evaluation that is not linear with --not-linear PART when they are read"
    )


def matching(data: Dataset, parameters: Parameters) -> Dataset:
    """Return the same dataset; InputError if it is of another game, or has different parameters."""
    manifest = data.manifest
    if manifest["game"] != parameters.game:
        raise InputError(
            f"{data.path}: a dataset of {manifest['game']}, expected {parameters.game}"
        )
    if manifest["layout"] != parameters.layout.describe():
        raise InputError(
            f"{data.path}: has different parameters than the parameter file ({data.columns} and"
            f" {parameters.layout.size}, or different names, or another order); build the dataset"
            " again with this parameter file"
        )
    if len(manifest["stages"]) == 1 < len(parameters.stages):
        raise InputError(
            f"{data.path}: has one stage, expected {' and '.join(parameters.stages)}; build it"
            " again from rows with phases"
        )
    if parameters.phases is not None and parameters.phases != data.phases:
        raise InputError(
            f"{data.path}: has {data.phases} steps of the phase, expected {parameters.phases}"
            " (phases in the parameter file); make them the same"
        )
    return data


def _remainder(batch: RowBatch, parameters: Parameters) -> np.ndarray:
    """Return what the rows lack beyond rounding, so that with it their evaluations are equal to the
    engine's."""
    sample = sample_of(batch, parameters.layout.size, parameters.staging)
    lacking = sample.evaluation - sample.predicted(parameters.weights)
    beyond = ~(np.abs(lacking) <= tolerance(sample.evaluation, sample.scale)) & ~np.isnan(lacking)
    return np.where(beyond, lacking, 0.0).astype(np.float64)


def _plain(check: RowCheck) -> dict:
    """Return a check as data for a manifest: numbers, and what is odd."""
    return {
        "rows": check.rows,
        "checked": check.checked,
        "exact": check.exact,
        "fits": check.fits,
        "largest": max((abs(each.engine - each.rows) for each in check.worst), default=0.0),
        "mean": check.mean,
        "faults": list(check.remarks),
    }
