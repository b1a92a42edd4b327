"""Write datasets: to a temporary folder, which then replaces the target as a whole; merge them,
copy and split games."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from games.streams import InputError
from tuner.datasets.dataset import Dataset, Rows
from tuner.datasets.files import (
    ARRAYS,
    FILES,
    FORMAT,
    LARGE,
    LARGEST_MANIFEST,
    MANIFEST,
    NARROW,
    OPTIONAL,
    WIDE,
    ArrayWriter,
    is_dataset,
    only,
)
from tuner.datasets.reader import open_dataset
from tuner.io.files import read_whole, require_other


class DatasetWriter:
    """Writes a dataset to a temporary folder and renames it when it is complete.

    Use as a context manager and call `finish`; leaving it without `finish` removes the temporary
    folder."""

    def __init__(self, target: Path, kinds: Mapping[str, type] = ARRAYS) -> None:
        self.target, self._kinds = Path(target), kinds
        self._folder = self.target.with_name(f".{self.target.name}.{os.getpid()}.tmp")
        self._finished = False
        self._informed: set[str] = set()  # optional arrays with information

    def __enter__(self) -> DatasetWriter:
        require_replaceable(self.target)  # before writing anything
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            self._arrays = {
                name: ArrayWriter(self._folder / f"{name}.npy", kind)
                for name, kind in self._kinds.items()
            }
            self._arrays["row"].append(np.zeros(1))
        except OSError as problem:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise InputError(f"{self.target}: cannot be written: {problem.strerror}") from None
        self._nonzeros = 0
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._finished:
            for array in self._arrays.values():
                array.abandon()
            shutil.rmtree(self._folder, ignore_errors=True)
        if isinstance(value, OSError):  # the disk is full
            raise InputError(f"{self.target}: cannot be written: {value.strerror}") from None

    def add_positions(self, rows: Rows) -> None:
        """Append positions with their outcomes; those without weights have weight 1."""
        arrays = self._arrays
        arrays["index"].append(rows.index)
        arrays["count"].append(rows.count)
        arrays["row"].append(rows.row[1:] - rows.row[0] + self._nonzeros)
        arrays["phase"].append(rows.phase)
        arrays["outcome"].append(rows.outcome)
        arrays["weight"].append(
            np.ones(len(rows.phase), np.float32) if rows.weight is None else rows.weight
        )
        self._nonzeros += len(rows.index)

    def add_optional(self, name: str, values: np.ndarray, informs: bool) -> None:
        """Append values of an optional array; it is written if any of them `informs`."""
        self._arrays[name].append(values)
        if informs:
            self._informed.add(name)

    def add_games(self, first: np.ndarray, game: np.ndarray, opening: np.ndarray) -> None:
        """Append games by the index of their first position in the dataset."""
        self._arrays["first"].append(first)
        self._arrays["game"].append(game)
        self._arrays["opening"].append(opening)

    @property
    def positions(self) -> int:
        return self._arrays["phase"].length

    def finish(self, manifest: dict) -> None:
        """Close the files and rename the folder to the target, replacing an older dataset. Optional
        arrays without information are left out."""
        for name in [
            name for name in self._arrays if name in OPTIONAL and name not in self._informed
        ]:
            self._arrays.pop(name).abandon()
            (self._folder / f"{name}.npy").unlink()
        games, nonzeros = self._arrays["first"].length, self._nonzeros
        self._arrays["first"].append(np.array([self.positions]))
        for array in self._arrays.values():
            array.close()
        wide = self._arrays["count"].dtype == WIDE["count"]
        manifest = {
            **manifest,
            "format": FORMAT,
            "wide": wide,
            "games": games,
            "positions": self.positions,
            "nonzeros": nonzeros,
            "optional": [name for name in OPTIONAL if name in self._arrays],
            "checks": {name: array.checks for name, array in self._arrays.items()},
        }
        (self._folder / MANIFEST).write_text(
            json.dumps(manifest, indent=1) + "\n", encoding="utf-8"
        )
        replace_folder(self._folder, self.target)
        self._finished = True


def require_replaceable(target: Path, reads: Sequence[str] = ()) -> None:
    """InputError for a target that exists and is not a dataset, or that the command `reads`."""
    require_other(target, reads)
    if os.path.lexists(target) and not _is_ours(target):
        raise InputError(f"{target}: exists and is not a dataset; choose another name")
    if os.path.islink(target):
        raise InputError(
            f"{target}: is a link to a dataset; links are not replaced, name the folder itself"
        )


def _is_ours(folder: Path) -> bool:
    """Return whether a folder holds a dataset and nothing else, so that it may be removed."""
    if not is_dataset(folder) or any(name not in FILES for name in os.listdir(folder)):
        return False
    try:
        manifest = json.loads(read_whole(folder / MANIFEST, LARGEST_MANIFEST, "a manifest"))
    except (InputError, OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and str(manifest.get("program")).startswith("evaltune ")


def replace_folder(new: Path, target: Path) -> None:
    """Rename a folder to the target, which must be a dataset or absent."""
    require_replaceable(target)
    if target.exists():
        old = target.with_name(f".{target.name}.{os.getpid()}.old")
        os.rename(target, old)
        os.rename(new, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(new, target)


MOST_CODES = 1 << 16  # pairs of phase and scale: values of a wide phase
PIECE = 1 << 20  # numbers converted at a time


class WideWriter(DatasetWriter):
    """A writer of rows whose `phase` are steps of the phase; the scale of the last stage, the rest,
    evaluations, scores and texts are optional. `finish` leaves out arrays without information, and
    makes counts and phases as small as they fit."""

    def __init__(self, target: Path, columns: int) -> None:
        self._large = columns > NARROW
        super().__init__(target, {**ARRAYS, **(LARGE if self._large else WIDE), **OPTIONAL})
        self._codes: dict[tuple[int, float], int] = {}
        self._narrow, self._text_bytes = True, 0

    def add_rows(
        self,
        rows: Rows,
        scale: np.ndarray,
        evaluation: np.ndarray,
        score: np.ndarray,
        text: Sequence[str] | None,
    ) -> None:
        """Append positions, whose arrays are those of `tuner.datasets.rows.values.RowBatch`.
        InputError for too many different scales."""
        n = len(rows.phase)
        pairs = np.stack([rows.phase.astype(np.float64), scale.astype(np.float64)], axis=1)
        kinds, of = np.unique(pairs, axis=0, return_inverse=True)
        codes = [
            self._codes.setdefault((int(step), factor), len(self._codes))
            for step, factor in kinds.tolist()
        ]
        if len(self._codes) > MOST_CODES:
            raise InputError(
                f"more than {MOST_CODES:,} different pairs of phase and scale; round the scale,"
                " such as to 1/128"
            )
        small = rows.count.astype(np.int8)
        self._narrow &= bool((rows.count == small).all())
        self.add_positions(rows._replace(phase=np.array(codes, np.uint16)[of.ravel()]))
        for name, values in (("evaluation", evaluation), ("score", score)):
            self.add_optional(name, values, not np.isnan(values).all())
        rest = np.zeros(n, np.float32) if rows.rest is None else rows.rest
        self.add_optional("rest", rest, bool(rest.any()))
        texts = (
            [some.encode("utf-8", "replace") for some in text] if text is not None else [b""] * n
        )
        ends = self._text_bytes + np.cumsum([len(some) for some in texts], dtype=np.int64)
        self._text_bytes = int(ends[-1]) if n else self._text_bytes
        self.add_optional("text", np.frombuffer(b"".join(texts), np.uint8), self._text_bytes > 0)
        self.add_optional("text_end", ends, self._text_bytes > 0)

    def finish(self, manifest: dict) -> None:
        """Close the files and rename the folder to the target, replacing an older dataset."""
        pairs = sorted(self._codes)
        plain = all(factor == 1 for _, factor in pairs)
        new = {pair: pair[0] if plain else place for place, pair in enumerate(pairs)}
        recoded = np.array([new[pair] for pair in self._codes], np.uint16)
        narrow = self._narrow and not self._large and int(recoded.max(initial=0)) <= 255
        self._convert(
            "phase", ARRAYS["phase"] if narrow else WIDE["phase"], lambda codes: recoded[codes]
        )
        if narrow:
            self._convert("count", ARRAYS["count"], lambda counts: counts)
        super().finish(
            manifest
            if plain
            else {**manifest, "shares": [[step, factor] for step, factor in pairs]}
        )

    def _convert(self, name: str, kind: type, function) -> None:
        """Replace an array by a function of it, with items of another type."""
        self._arrays[name].close()
        old, path = self._folder / f"{name}.old", self._folder / f"{name}.npy"
        os.rename(path, old)
        values, writer = np.load(old, mmap_mode="r"), ArrayWriter(path, kind)
        self._arrays[name] = writer
        for begin in range(0, len(values), PIECE):
            writer.append(function(values[begin : begin + PIECE]))
        del values
        old.unlink()


def merge(datasets: Sequence[Dataset], target: Path) -> Dataset:
    """Merge datasets into one; a game that occurs in several is copied once."""
    first = datasets[0].manifest
    for data in datasets[1:]:
        for key in ("game", "layout", "terms", "phases", "stages", "spans"):
            if data.manifest.get(key) != first.get(key):
                raise InputError(
                    f"{data.path}: differs in {key} from {datasets[0].path}; build both with the"
                    " same terms"
                )
    seen, chosen = np.zeros(0, np.uint64), []
    for data in datasets:
        _, place = np.unique(data.game, return_index=True)
        place = place[~np.isin(data.game[place], seen)]
        seen = np.union1d(seen, data.game[place])
        chosen.append((data, np.sort(place)))
    checks = [data.manifest.get("row_check") for data in datasets]
    check = next(
        (check for check in checks if isinstance(check, dict) and not check.get("fits")), checks[0]
    )
    checked = {"row_check": check} if check else {}
    copy_games(
        chosen,
        target,
        {
            **_common(first),
            **checked,
            "sources": _sources(datasets),
            "options": {"merged": [data.manifest["options"] for data in datasets]},
        },
    )
    return open_dataset(target, check=False)


def part(data: Dataset, games: np.ndarray, target: Path, what: str) -> Dataset:
    """Copy some games (indices, ascending) of a dataset into a new dataset."""
    if len(games) == 0:
        raise InputError(f"{target}: would hold no game; choose another share or seed")
    copy_games(
        [(data, games)],
        target,
        {
            **_common(data.manifest),
            "sources": data.manifest["sources"],
            "options": {**data.manifest["options"], "part": what},
        },
    )
    return open_dataset(target, check=False)


def _common(manifest: dict) -> dict:
    always, sometimes = (
        ("program", "game", "layout", "terms", "phases", "stages"),
        ("apart", "row_check", "spans"),
    )
    return {key: manifest[key] for key in (*always, *(key for key in sometimes if key in manifest))}


def _sources(datasets: Sequence[Dataset]) -> list[dict]:
    return [source for data in datasets for source in data.manifest["sources"]]


def copy_games(sources: Iterable[tuple[Dataset, np.ndarray]], target: Path, manifest: dict) -> None:
    """Write the chosen games (indices, ascending) of datasets of one layout as a new dataset."""
    chosen = list(sources)
    with writer_for([data for data, _ in chosen], target) as writer:
        for data, games in chosen:
            for run in np.split(games, np.flatnonzero(np.diff(games) != 1) + 1):
                if len(run):
                    _copy_run(writer, data, int(run[0]), int(run[-1]) + 1)
        writer.finish(manifest)


def _copy_run(
    writer: DatasetWriter, data: Dataset, begin: int, end: int, most: int = 1 << 16
) -> None:
    first = data.first[begin:end]
    writer.add_games(
        first - first[0] + writer.positions, data.game[begin:end], data.opening[begin:end]
    )
    for a in range(int(first[0]), int(data.first[end]), most):
        b = min(a + most, int(data.first[end]))
        copy_positions(writer, data, a, b)


def writer_for(datasets: Sequence[Dataset], target: Path) -> DatasetWriter:
    """Return a writer of positions of these datasets."""
    return (
        WideWriter(target, datasets[0].columns)
        if any(data.counted_elsewhere for data in datasets)
        else DatasetWriter(target)
    )


def copy_positions(
    writer: DatasetWriter, data: Dataset, begin: int, end: int, keep: np.ndarray | None = None
) -> None:
    """Append positions begin to end of a dataset, or those of them that `keep` (n,) bool marks."""
    rows = data.rows(begin, end)
    chosen = np.arange(begin, end) if keep is None else begin + np.flatnonzero(keep)
    if keep is not None:
        rows = only(rows, keep)
    if not isinstance(writer, WideWriter):
        writer.add_positions(rows)
        return
    steps, scale = data.phase_scale[rows.phase].T
    unknown = np.full(len(chosen), np.nan, np.float32)
    evaluation, score = (
        array[chosen] if len(array) else unknown for array in (data.evaluation, data.score)
    )
    writer.add_rows(
        rows._replace(phase=steps, rest=rows.rest if len(rows.rest) else None),
        scale,
        evaluation,
        score,
        data.texts(chosen),
    )


def split_games(data: Dataset, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the games to learn from and the held-out games; no opening is on both sides."""
    held = held_out_games(data.game, data.opening, share, seed)
    return np.flatnonzero(~held), np.flatnonzero(held)


def held_out_games(game: np.ndarray, opening: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return which games (g,) are held out, by the identities of games and openings, so that none
    is on both sides."""
    mixed = opening ^ np.uint64(seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    held = (mixed >> np.uint64(11)).astype(np.float64) / 2**53 < share
    # a game can occur twice in a merged dataset, under two openings: connected games and openings
    # are all learned from
    while (both := held & (np.isin(game, game[~held]) | np.isin(opening, opening[~held]))).any():
        held &= ~both
    return held
