"""Write rows as text: svmlight, JSON lines, CSV. Numbers have the fewest digits that give the same float32."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from tuner.io.files import replaced
from tuner.rows.batch import RowBatch
from tuner.rows.names import FIELDS
from tuner.rows.values import Expected


def texts_of(values: np.ndarray) -> list[str]:
    """Return each number's shortest decimal text; equal numbers are converted once."""
    known, inverse = np.unique(values, return_inverse=True)
    texts = [np.format_float_positional(value, trim="-") if known.dtype.kind == "f" else str(value) for value in known]
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
    return [("rest", texts_of(batch.rest), batch.rest != 0), ("scale", texts_of(batch.scale), batch.scale != 1),
            ("eval", texts_of(batch.evaluation), ~np.isnan(batch.evaluation)),
            ("score", texts_of(batch.score), ~np.isnan(batch.score)),
            ("opening", texts_of(batch.openings), batch.openings != batch.game)]


def write_svmlight(path: Path, batches: Iterable[RowBatch], expected: Expected) -> int:
    """Write `share qid:game 0:phase column:count ... # text; key=value ...`; games as signed numbers, for scikit-learn."""

    def lines(batch: RowBatch) -> list[str]:
        pairs = [f" {column}:{count}" for column, count in zip((batch.index + 1).tolist(), texts_of(batch.count), strict=True)]
        fields, found = _fields(batch), []
        rows, games = batch.row.tolist(), batch.game.view(np.int64).tolist()
        for i, (share, phase) in enumerate(zip(shares_text(batch.outcome), batch.phase.tolist(), strict=True)):
            stage = f" 0:{phase}" if expected.stages > 1 else ""
            extra = " ".join(f"{name}={text[i]}" for name, text, there in fields if there[i])
            text = batch.text[i] if batch.text else ""
            if ";" in text and "=" in text:  # what follows the last semicolon would be read as numbers
                extra = extra or "rest=0"
            comment = f" # {text}" * bool(text or extra) + f"; {extra}" * bool(extra)
            found.append(f"{share} qid:{games[i]}{stage}{''.join(pairs[rows[i]:rows[i + 1]])}{comment}\n")
        return found

    return _lines(path, "", map(lines, batches))


def write_jsonl(path: Path, batches: Iterable[RowBatch], expected: Expected) -> int:
    """Write an object for each row, with full names of what is counted."""
    labels = [json.dumps(label) for label in expected.layout.labels()]

    def lines(batch: RowBatch) -> list[str]:
        pairs = [f"{labels[column]}:{count}" for column, count in zip(batch.index.tolist(), texts_of(batch.count), strict=True)]
        fields, found = _fields(batch), []
        rows, games = batch.row.tolist(), batch.game.tolist()
        known = ~np.isnan(batch.outcome)
        for i, (share, phase) in enumerate(zip(shares_text(batch.outcome), batch.phase.tolist(), strict=True)):
            parts = [f'"fen":{json.dumps(batch.text[i], ensure_ascii=False)}'] if batch.text and batch.text[i] else []
            parts.append(f'"game":{games[i]}')
            if known[i]:
                parts.append(f'"result":{share}')
            if expected.stages > 1:
                parts.append(f'"phase":{phase}')
            parts += [f'"{name}":' + (f'"{text[i]}"' if text[i].endswith("inf") else text[i]) for name, text, there in fields
                      if there[i]]
            found.append(f'{{{",".join(parts)},"counts":{{{",".join(pairs[rows[i]:rows[i + 1]])}}}}}\n')
        return found

    return _lines(path, "", map(lines, batches))


def columns_of(expected: Expected) -> list[str]:
    """Return the names of the columns of a table of rows."""
    return [*(name for name in FIELDS if name != "phase" or expected.stages > 1), *expected.layout.labels()]


def write_csv(path: Path, batches: Iterable[RowBatch], expected: Expected) -> int:
    """Write a header and a line for each row; unknown numbers are empty."""
    zeros = ["0"] * expected.layout.size

    def rows(batch: RowBatch) -> Iterator[list[str]]:
        counts, columns, row = texts_of(batch.count), batch.index.tolist(), batch.row.tolist()
        fields = {name: text for name, text, _ in _fields(batch)}
        fields["result"], fields["phase"] = shares_text(batch.outcome), texts_of(batch.phase)
        fields["game"] = texts_of(batch.game)
        fields["fen"] = batch.text or [""] * len(row[1:])
        order = [fields[name] for name in columns_of(expected)[:-len(zeros)]]
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
