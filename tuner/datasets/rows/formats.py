"""The formats of files of rows, by suffix; reading, scanning and writing any of them."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from games.streams import InputError, beginning, pieces, plain_name
from tuner.datasets.dataset import Dataset
from tuner.datasets.rows import jsonl
from tuner.datasets.rows.values import OWN_GAME, ExpectedRows, FoundRows, RowBatch
from tuner.io.files import replaced
from tuner.parameters.parameters import Layout

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
            numbers = game[named].tolist()
            before = len(self._seen)
            self._seen.update(numbers)
            self.again += len(numbers) - (len(self._seen) - before)


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


def _fields(batch: RowBatch) -> list[tuple[str, list[str], np.ndarray]]:
    """Return name, text and presence of the optional numbers of each row."""
    return [
        ("rest", texts_of(batch.rest), batch.rest != 0),
        ("scale", texts_of(batch.scale), batch.scale != 1),
        ("eval", texts_of(batch.evaluation), ~np.isnan(batch.evaluation)),
        ("score", texts_of(batch.score), ~np.isnan(batch.score)),
        ("opening", texts_of(batch.openings), batch.openings != batch.game),
    ]


def write_jsonl(path: Path, batches: Iterable[RowBatch], expected: ExpectedRows) -> int:
    """Write an object for each row, with full names of what is counted; return their number. An
    existing file is replaced at the end."""
    labels = [json.dumps(label) for label in expected.layout.labels()]

    def lines(batch: RowBatch) -> list[str]:
        pairs = [
            f"{labels[column]}:{count}"
            for column, count in zip(batch.index.tolist(), texts_of(batch.count), strict=True)
        ]
        fields, written = _fields(batch), []
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
            written.append(
                f'{{{",".join(parts)},"counts":{{{",".join(pairs[rows[i] : rows[i + 1]])}}}}}\n'
            )
        return written

    n = 0
    with replaced(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as stream:
        for batch in batches:
            stream.writelines(lines(batch))
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


SUFFIXES = (".jsonl", ".ndjson")
NOT_READ = (".csv", ".svm", ".svmlight", ".libsvm", ".parquet", ".pq")


def is_rows(source: str) -> bool:
    """Whether a file's name says that it contains rows."""
    return plain_name(source.lower()).endswith(SUFFIXES)


def require_rows(source: str) -> None:
    """InputError for a file that is none of rows, by its suffix or else its first line."""
    if source == "-" or is_rows(source):  # standard input can be read only once
        return
    if plain_name(source.lower()).endswith(NOT_READ):
        raise InputError(
            f"{source}: rows are not read from {Path(source).suffix}; expected a name that ends"
            f" with {', '.join(SUFFIXES)}; write the rows as JSON lines"
        )
    text = beginning(pieces(source), 1 << 12).removeprefix(b"\xef\xbb\xbf")
    lines = [line.strip() for line in text.split(b"\n")]
    first = next((line for line in lines if line and not line.startswith((b"#", b"//"))), b"")
    if not first.startswith(b"{"):
        raise InputError(
            f"{source}: no known format of rows; expected a name that ends with"
            f" {', '.join(SUFFIXES)}; rename it"
        )


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
    require_rows(source)
    for batch in jsonl.read(source, ExpectedRows(layout, stages, phases)):
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
    require_rows(source)
    return jsonl.scan(source)


def require_written(path: Path | str) -> None:
    """InputError for a name that is none of rows."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path}: no known format of rows to write; expected a name that ends with "
            f"{', '.join(SUFFIXES)}; rename it"
        )
