"""Rows in a .npz: a matrix as scipy.sparse.save_npz writes it, and an array for each field of the
positions beside it."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from games.streams import InputError
from tuner.datasets.rows.values import (
    LARGEST_PHASE,
    LONGEST_TEXT,
    MOST_COLUMNS,
    ExpectedRows,
    FoundRows,
    RowBatch,
    checked,
    game_of,
    outcome_of,
    own_games,
    phases_from,
    refuse,
    shown,
)
from tuner.parameters.layout import Layout, Place

MATRIX = ("data", "indices", "indptr", "shape")
FIELDS = ("result", "phase", "game", "opening", "rest", "scale", "eval", "score", "fen")
TEXTS = ("fen", "game", "opening", "result")  # fields that may hold texts
LARGEST_HEADER = 1 << 14
LARGEST_RATIO = (
    64  # of the arrays to the file, which may be compressed: no file fills the memory with zeros
)
MOST_ROWS = 1 << 15  # of a batch


def _arrays(source: str) -> dict[str, np.ndarray]:
    """Return all arrays of a file; InputError for one that is damaged, or unpacks to much more than
    it has."""
    if source == "-":
        raise InputError(
            "standard input: a .npz cannot be read from a pipe; expected the name of a file; save"
            " it first"
        )
    try:
        with zipfile.ZipFile(source) as archive:
            unpacked, packed = (
                sum(member.file_size for member in archive.infolist()),
                os.path.getsize(source),
            )
        if unpacked > LARGEST_RATIO * packed + (1 << 24):
            raise InputError(
                f"{source}: {unpacked:,} bytes in an archive of {packed:,}; expected at most "
                f"{LARGEST_RATIO} times its size; save it with numpy.savez"
            )
        with np.load(source, allow_pickle=False, max_header_size=LARGEST_HEADER) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{source}: no such file") from None
    except Exception as problem:  # NumPy parses headers as Python, which fails in many ways
        raise InputError(
            f"{source}: damaged, or not a .npz ({shown(str(problem))}); expected arrays as"
            " numpy.savez writes them; save it again"
        ) from None


def _matrix(source: str) -> tuple[csr_array, dict[str, np.ndarray]]:
    """Return the matrix by rows and the fields of its rows; InputError for arrays that are not
    those of rows."""
    arrays = _arrays(source)
    for name in arrays:
        if name not in (*MATRIX, *FIELDS, "format", "_is_array"):
            raise InputError(
                f"{source}: an array named {shown(name)!r}; expected"
                f" {', '.join((*MATRIX, *FIELDS))}; remove it"
            )
    for name in MATRIX:
        if name not in arrays:
            raise InputError(
                f"{source}: no array named {name}; expected a sparse matrix by rows beside the"
                " other arrays; write it with scipy.sparse.save_npz, and add the others"
            )
    form = arrays.get("format", np.array(b"csr"))
    if form.tolist() not in (b"csr", "csr"):
        raise InputError(
            f"{source}: format is {shown(str(form))}; expected a matrix by rows (csr); convert it"
            " with tocsr()"
        )
    kinds = {"data": "iufb", "indices": "iu", "indptr": "iu", "shape": "iu"}
    kinds |= {name: "iufSU" if name in TEXTS else "iuf" for name in FIELDS}
    for name, array in arrays.items():
        if name not in kinds:
            continue
        if (
            array.ndim != 1
            or array.dtype.kind not in kinds[name]
            or array.dtype.itemsize > 4 * LONGEST_TEXT
        ):
            raise InputError(
                f"{source}: {name} has {array.ndim} dimensions of the type"
                f" {shown(str(array.dtype))}; expected a flat array of"
                f" {'whole numbers' if kinds[name] == 'iu' else 'numbers'}; convert it with astype"
            )
    try:
        rows, columns = arrays["shape"].tolist()
        matrix = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), (rows, columns))
        matrix.check_format(full_check=True)
        if (np.diff(matrix.indptr) > columns).any():
            raise ValueError("more numbers in a row than columns")
    except (ValueError, TypeError, OverflowError) as problem:
        raise InputError(
            f"{source}: no matrix by rows ({shown(str(problem))}); expected what"
            " scipy.sparse.save_npz writes; save it again after sum_duplicates()"
        ) from None
    fields = {name: arrays[name] for name in FIELDS if name in arrays}
    for name, array in fields.items():
        if len(array) != rows:
            raise InputError(
                f"{source}: {name} has {len(array):,} items; expected {rows:,}; save all arrays of"
                " the same rows"
            )
    return matrix, fields


def _each(
    values: np.ndarray,
    of: Callable[[object], Any],
    kind: type,
    what: str,
    where: Callable[[int], str],
) -> np.ndarray:
    """Convert an array of texts value by value, each different one once."""
    texts, inverse = np.unique(values, return_inverse=True)
    found = [of(_text(text)) for text in texts.tolist()]
    if None in found:
        at = int(np.argmax(inverse == found.index(None)))
        refuse(
            where(at),
            f"{what} is {shown(_text(values[at]))!r}",
            "the first player's share, 0 to 1",
            "correct it",
        )
    return np.array(found, kind)[inverse]


def _text(value: object) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def _batch(
    matrix: csr_array,
    fields: dict[str, np.ndarray],
    done: int,
    expected: ExpectedRows,
    where: Callable[[int], str],
) -> RowBatch:
    n = matrix.shape[0]

    def numbers(name: str, default: float) -> np.ndarray:
        return (
            fields[name].astype(np.float32) if name in fields else np.full(n, default, np.float32)
        )

    def identities(name: str, missing: np.ndarray) -> np.ndarray:
        values = fields.get(name)
        if values is None:
            return missing
        if values.dtype.kind in "SU":
            return _each(values, game_of, np.uint64, name, where)
        if values.dtype.kind == "f":
            raise InputError(
                f"{where(0)}: {name} is a number with a fraction; expected whole numbers or texts;"
                " convert it with astype"
            )
        return values.astype(np.int64 if values.dtype.kind == "i" else np.uint64).view(np.uint64)

    games = identities("game", own_games(done, n))
    opening = identities("opening", games) if "opening" in fields else None
    result = fields.get("result")
    if result is None:
        outcome = np.full(n, np.nan, np.float32)
    elif result.dtype.kind in "SU":
        outcome = _each(result, outcome_of, np.float64, "result", where).astype(np.float32)
    else:
        outcome = (2 * result.astype(np.float64) - 1).astype(np.float32)
    phase = fields.get("phase", np.full(n, np.nan) if expected.stages > 1 else np.zeros(n))
    phase = (
        phases_from(phase, where) if phase.dtype.kind == "f" else phase.clip(-1, LARGEST_PHASE + 1)
    )
    text = None if "fen" not in fields else [_text(value) for value in fields["fen"].tolist()]
    return RowBatch(
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float32),
        matrix.indptr.astype(np.int64),
        phase.astype(np.int64),
        outcome,
        numbers("rest", 0),
        numbers("scale", 1),
        numbers("eval", np.nan),
        numbers("score", np.nan),
        games,
        text,
        opening,
    )


def read(source: str, expected: ExpectedRows) -> Iterator[RowBatch]:
    """Yield the rows of a file in batches; InputError names the row (from 1) of a fault."""
    matrix, fields = _matrix(source)
    if matrix.shape[1] != expected.layout.size:
        raise InputError(
            f"{source}: {matrix.shape[1]:,} columns; expected {expected.layout.size:,}, as the"
            " parameter file has; use the parameter file that these rows were made for"
        )
    for begin in range(0, matrix.shape[0], MOST_ROWS):
        some = slice(begin, begin + MOST_ROWS)

        def where(row: int, begin: int = begin) -> str:
            return f"{source}: row {begin + row + 1}"

        with np.errstate(over="ignore", invalid="ignore"):
            batch = _batch(
                matrix[some],
                {name: array[some] for name, array in fields.items()},
                begin,
                expected,
                where,
            )
        yield checked(batch, expected, where)


def scan(source: str) -> FoundRows:
    """Return what a file contains: columns of one parameter, `columns.weight`."""
    matrix, fields = _matrix(source)
    rows, columns = matrix.shape
    if not 0 < columns <= MOST_COLUMNS:
        raise InputError(
            f"{source}: {columns:,} columns; expected 1 to {MOST_COLUMNS:,}; save the matrix again"
        )
    phases = (
        int(np.nan_to_num(fields["phase"].max(initial=0)).clip(0, LARGEST_PHASE))
        if "phase" in fields
        else None
    )
    return FoundRows(Layout((Place("columns", "weight", (columns,), 0),)), phases, rows)
