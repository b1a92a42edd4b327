"""The formats of files of rows, by suffix; reading, scanning and writing any of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from games.streams import InputError, beginning, pieces, plain_name
from tuner.datasets.dataset import Dataset
from tuner.datasets.rows import jsonl, parquet
from tuner.datasets.rows.parquet import require_arrow
from tuner.datasets.rows.values import FIELDS, OWN_GAME, ExpectedRows, FoundRows, RowBatch
from tuner.io.files import replaced
from tuner.parameters.parameters import Layout

PARQUET = b"PAR1"
MOST_GAMES = 1 << 22  # whose identities are remembered


class _Games:
    """Counts games whose rows are not consecutive."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._last: int | None = None
        self.again = 0

    def add(self, game: np.ndarray) -> None:
        """Take the identities of the next rows."""
        starts = np.ones(len(game), np.bool_)
        starts[1:] = game[1:] != game[:-1]
        if len(game) and self._last == int(game[0]):
            starts[0] = False
        named = starts & (game >> np.uint64(48) != np.uint64(OWN_GAME >> 48))
        if len(game):
            self._last = int(game[-1])
        if len(self._seen) < MOST_GAMES:
            found = game[named].tolist()
            before = len(self._seen)
            self._seen.update(found)
            self.again += len(found) - (len(self._seen) - before)


PIECE = 1 << 20


def write_parquet(path: Path, batches: Iterable[RowBatch], expected: ExpectedRows) -> int:
    """Write a column for each field and each number of the layout; unknown numbers are null."""
    pa = require_arrow(str(path))
    import pyarrow.parquet

    names = columns_of(expected)
    own = {
        "fen": pa.string(),
        "game": pa.uint64(),
        "opening": pa.uint64(),
        "phase": pa.int32(),
        "result": pa.float64(),
    }
    schema = pa.schema([(name, own.get(name, pa.float32())) for name in names])
    n = 0
    with (
        replaced(path) as temporary,
        open(temporary, "wb") as stream,
        pyarrow.parquet.ParquetWriter(stream, schema) as writer,
    ):
        for batch in batches:
            if len(batch.phase):
                writer.write_table(pa.table(_columns(pa, batch, expected, names), schema=schema))
                n += len(batch.phase)
    return n


def _columns(pa: Any, batch: RowBatch, expected: ExpectedRows, names: list[str]) -> list[Any]:
    rows = len(batch.phase)
    dense = np.zeros((expected.layout.size, rows), np.float32)
    dense[batch.index, np.repeat(np.arange(rows), np.diff(batch.row))] = batch.count
    values = {
        "fen": batch.text or [""] * rows,
        "game": batch.game,
        "opening": batch.openings,
        "result": (batch.outcome.astype(np.float64) + 1) / 2,
        "eval": batch.evaluation,
        "score": batch.score,
        "phase": batch.phase.astype(np.int32),
        "rest": batch.rest,
        "scale": batch.scale,
    }
    fields = names[: len(names) - len(dense)]
    return [pa.array(values[name], from_pandas=True) for name in fields] + [
        pa.array(column) for column in dense
    ]


def texts_of(values: np.ndarray) -> list[str]:
    """Return each number's shortest decimal text; equal numbers are converted once."""
    known, inverse = np.unique(values, return_inverse=True)
    texts = [
        np.format_float_positional(value, trim="-") if known.dtype.kind == "f" else str(value)
        for value in known
    ]
    return [texts[i] for i in inverse.tolist()]


def shares_text(outcome: np.ndarray) -> list[str]:
    """Return results as the first player's share, `nan` if unknown."""
    return texts_of((outcome.astype(np.float64) + 1) / 2)


def _lines(path: Path, header: str, lines: Iterable[list[str]]) -> int:
    n = 0
    with replaced(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as stream:
        stream.write(header)
        for some in lines:
            stream.writelines(some)
            n += len(some)
    return n


def _fields(batch: RowBatch) -> list[tuple[str, list[str], np.ndarray]]:
    """Return name, text and presence of the optional numbers of each row."""
    return [
        ("rest", texts_of(batch.rest), batch.rest != 0),
        ("scale", texts_of(batch.scale), batch.scale != 1),
        ("eval", texts_of(batch.evaluation), ~np.isnan(batch.evaluation)),
        ("score", texts_of(batch.score), ~np.isnan(batch.score)),
        ("opening", texts_of(batch.openings), batch.openings != batch.game),
    ]


def write_svmlight(path: Path, batches: Iterable[RowBatch], expected: ExpectedRows) -> int:
    """Write `share qid:game 0:phase column:count ... # text; key=value ...`; games as signed
    numbers, for scikit-learn."""

    def lines(batch: RowBatch) -> list[str]:
        pairs = [
            f" {column}:{count}"
            for column, count in zip((batch.index + 1).tolist(), texts_of(batch.count), strict=True)
        ]
        fields, found = _fields(batch), []
        rows, games = batch.row.tolist(), batch.game.view(np.int64).tolist()
        for i, (share, phase) in enumerate(
            zip(shares_text(batch.outcome), batch.phase.tolist(), strict=True)
        ):
            stage = f" 0:{phase}" if expected.stages > 1 else ""
            extra = " ".join(f"{name}={text[i]}" for name, text, there in fields if there[i])
            text = batch.text[i] if batch.text else ""
            if (
                ";" in text and "=" in text
            ):  # what follows the last semicolon would be read as numbers
                extra = extra or "rest=0"
            comment = f" # {text}" * bool(text or extra) + f"; {extra}" * bool(extra)
            found.append(
                f"{share} qid:{games[i]}{stage}{''.join(pairs[rows[i] : rows[i + 1]])}{comment}\n"
            )
        return found

    return _lines(path, "", map(lines, batches))


def write_jsonl(path: Path, batches: Iterable[RowBatch], expected: ExpectedRows) -> int:
    """Write an object for each row, with full names of what is counted."""
    labels = [json.dumps(label) for label in expected.layout.labels()]

    def lines(batch: RowBatch) -> list[str]:
        pairs = [
            f"{labels[column]}:{count}"
            for column, count in zip(batch.index.tolist(), texts_of(batch.count), strict=True)
        ]
        fields, found = _fields(batch), []
        rows, games = batch.row.tolist(), batch.game.tolist()
        known = ~np.isnan(batch.outcome)
        for i, (share, phase) in enumerate(
            zip(shares_text(batch.outcome), batch.phase.tolist(), strict=True)
        ):
            parts = (
                [f'"fen":{json.dumps(batch.text[i], ensure_ascii=False)}']
                if batch.text and batch.text[i]
                else []
            )
            parts.append(f'"game":{games[i]}')
            if known[i]:
                parts.append(f'"result":{share}')
            if expected.stages > 1:
                parts.append(f'"phase":{phase}')
            parts += [
                f'"{name}":' + (f'"{text[i]}"' if text[i].endswith("inf") else text[i])
                for name, text, there in fields
                if there[i]
            ]
            found.append(
                f'{{{",".join(parts)},"counts":{{{",".join(pairs[rows[i] : rows[i + 1]])}}}}}\n'
            )
        return found

    return _lines(path, "", map(lines, batches))


def columns_of(expected: ExpectedRows) -> list[str]:
    """Return the names of the columns of a table of rows."""
    return [
        *(name for name in FIELDS if name != "phase" or expected.stages > 1),
        *expected.layout.labels(),
    ]


def write_csv(path: Path, batches: Iterable[RowBatch], expected: ExpectedRows) -> int:
    """Write a header and a line for each row; unknown numbers are empty."""
    zeros = ["0"] * expected.layout.size

    def rows(batch: RowBatch) -> Iterator[list[str]]:
        counts, columns, row = texts_of(batch.count), batch.index.tolist(), batch.row.tolist()
        fields = {name: text for name, text, _ in _fields(batch)}
        fields["result"], fields["phase"] = shares_text(batch.outcome), texts_of(batch.phase)
        fields["game"] = texts_of(batch.game)
        fields["fen"] = batch.text or [""] * len(row[1:])
        order = [fields[name] for name in columns_of(expected)[: -len(zeros)]]
        for i in range(len(row) - 1):
            cells = zeros.copy()
            for k in range(row[i], row[i + 1]):
                cells[columns[k]] = counts[k]
            yield [*("" if text[i] == "nan" else text[i] for text in order), *cells]

    n = 0
    with replaced(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns_of(expected))
        for batch in batches:
            writer.writerows(rows(batch))
            n += len(batch.phase)
    return n


BATCH = 1 << 15  # positions


def batches_of(data: Dataset) -> Iterator[RowBatch]:
    """Yield all positions of a dataset as rows. The weights of positions, which only merged data
    have, are left out. InputError if its evaluation is not linear."""
    if data.apart:
        raise InputError(
            f"{data.path}: term {data.apart[0]} is not linear in its weights, so that there are no"
            " rows of coefficients; build it with parameters that lack the term"
        )
    game, opening = (np.repeat(names, np.diff(data.first)) for names in (data.game, data.opening))
    steps, scales = (
        data.phase_scale[:, 0].astype(np.int64),
        data.phase_scale[:, 1].astype(np.float32),
    )
    for begin in range(0, data.positions, BATCH):
        end = min(begin + BATCH, data.positions)
        rows, n = data.rows(begin, end), end - begin
        unknown = np.full(n, np.nan, np.float32)
        evaluation, score = (
            array[begin:end] if len(array) else unknown for array in (data.evaluation, data.score)
        )
        yield RowBatch(
            index=rows.index.astype(np.int32),
            count=rows.count.astype(np.float32),
            row=rows.row - rows.row[0],
            phase=steps[rows.phase],
            outcome=np.asarray(rows.outcome),
            rest=rows.rest if len(rows.rest) else np.zeros(n, np.float32),
            scale=scales[rows.phase],
            evaluation=evaluation,
            score=score,
            game=game[begin:end],
            text=data.texts(np.arange(begin, end)) if len(data.text) else None,
            opening=opening[begin:end],
        )
        data.release()


class RowFormat(NamedTuple):
    """How files of one format are read, scanned for their names, and written."""

    suffixes: tuple[str, ...]
    compressed: bool  # may be .gz, .bz2, .zst
    read: Callable[[str, ExpectedRows], Iterator[RowBatch]]
    scan: Callable[[str], FoundRows]
    write: Callable[[Path, Iterable[RowBatch], ExpectedRows], int]


FORMATS = {
    "jsonl": RowFormat((".jsonl", ".ndjson"), True, jsonl.read, jsonl.scan, write_jsonl),
    "parquet": RowFormat((".parquet", ".pq"), False, parquet.read, parquet.scan, write_parquet),
}
SUFFIXES = [suffix for form in FORMATS.values() for suffix in form.suffixes]
Write = Callable[[Path, Iterable[RowBatch], ExpectedRows], int]
WRITTEN: dict[str, Write] = {  # for export: scikit-learn, spreadsheets; not read
    ".csv": write_csv,
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), write_svmlight),
}


def _by_suffix(name: str) -> RowFormat | None:
    lower = plain_name(name.lower())
    return next((found for found in FORMATS.values() if lower.endswith(found.suffixes)), None)


def is_rows(source: str) -> bool:
    """Whether a file's name says that it contains rows."""
    return _by_suffix(source) is not None


def format_of(source: str) -> RowFormat:
    """Return the format of a file, by its suffix or else its first bytes; InputError if it is none
    of them."""
    found = _by_suffix(source)
    if found is not None:
        packed = plain_name(source.lower()) != source.lower()
        if packed and not found.compressed:
            raise InputError(
                f"{source}: a compressed {found.suffixes[0]}; expected {found.suffixes[0]} alone;"
                " unpack it first"
            )
        return found
    if source == "-":  # can be read only once
        return FORMATS["jsonl"]
    if source.lower().endswith(tuple(WRITTEN)):
        raise InputError(
            f"{source}: rows are not read from {Path(source).suffix}; expected a name that ends"
            f" with {', '.join(SUFFIXES)}; write the rows as one of these"
        )
    found = _by_content(source)
    if found is None:
        raise InputError(
            f"{source}: no known format of rows; expected a name that ends with"
            f" {', '.join(SUFFIXES)}; rename it"
        )
    return found


def _by_content(source: str) -> RowFormat | None:
    try:
        with open(source, "rb") as stream:
            start = stream.read(4)
    except OSError:
        start = b""
    if start == PARQUET:
        return FORMATS["parquet"]
    text = beginning(pieces(source), 1 << 12).removeprefix(b"\xef\xbb\xbf")
    lines = [line.strip() for line in text.split(b"\n")]
    first = next((line for line in lines if line and not line.startswith((b"#", b"//"))), b"")
    return FORMATS["jsonl"] if first.startswith(b"{") else None


def read(
    source: str,
    layout: Layout,
    stages: int = 2,
    phases: int | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[RowBatch]:
    """Yield the rows of a file, or of standard input for `-` (JSON lines), in batches of at most
    32,768.

    With two stages each row needs a phase, of at most `phases` (None: any); with one, phases are 0.
    InputError, one line, for the first fault; `note` is called with remarks on what was read."""
    games = _Games()
    for batch in format_of(source).read(source, ExpectedRows(layout, stages, phases)):
        games.add(batch.game)
        yield batch
    if games.again:
        note(
            f"{source}: {games.again:,} games continue after rows of a different game, and each run"
            " of rows counts as a game of its own; sort the rows by game"
        )


def scan(source: str) -> FoundRows:
    """Return the content of a file, without a parameter file: names and shapes, the largest phase,
    the number of rows."""
    return format_of(source).scan(source)


def write(path: Path, batches: Iterable[RowBatch], layout: Layout, stages: int = 2) -> int:
    """Write rows in the format that the suffix of a name says; return their number. An existing
    file is replaced at the end."""
    return writer_of(path)(Path(path), batches, ExpectedRows(layout, stages))


def writer_of(path: Path | str) -> Write:
    """Return the function that writes a file of this name; InputError if the name does not say the
    format."""
    writers = {suffix: form.write for form in FORMATS.values() for suffix in form.suffixes}
    writers |= WRITTEN
    found = writers.get(Path(path).suffix.lower())
    if found is None:
        raise InputError(
            f"{path}: no known format of rows to write; expected a name that ends with "
            f"{', '.join(writers)}; rename it"
        )
    return found
