"""Rows in a .npz: a matrix as scipy.sparse.save_npz writes it, and an array for each field of the positions beside it.

All arrays are read side by side in pieces, so that memory stays bounded whatever the file claims.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np

from games.streams import InputError
from tuner.parameters.layout import Layout, Place
from tuner.rows.batch import RowBatch
from tuner.rows.found import Found
from tuner.rows.names import MOST_COLUMNS, shown
from tuner.rows.values import LARGEST_PHASE, LONGEST_TEXT, Expected, checked, game_of, outcome_of, own_games, phases_from, refuse

MATRIX = ("data", "indices", "indptr", "shape")
FIELDS = ("result", "phase", "game", "opening", "rest", "scale", "eval", "score", "fen")
TEXTS = ("fen", "game", "opening", "result")  # fields that may hold texts
LARGEST_HEADER = 1 << 14
MOST_ROWS = 1 << 15  # of a batch
MOST_NONZEROS = 1 << 21  # of a batch, unless one row has more
PIECE = 1 << 20
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


class _Member:
    """One array of the archive, read from its beginning to its end."""

    def __init__(self, source: str, name: str, stream: IO[bytes], dimensions: int = 1) -> None:
        self.source, self.name, self._stream = source, name, stream
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
        if read is None:
            raise ValueError(f"version {version} of the array")
        try:
            shape, _, self.kind = read(stream, max_header_size=LARGEST_HEADER)
        except Exception as problem:  # NumPy parses it as Python, which fails in many ways
            raise ValueError(f"the header of {name}: {problem}") from None
        if len(shape) != dimensions:
            raise InputError(f"{source}: {name} has {len(shape)} dimensions; expected {dimensions}; save it as a flat array")
        self.length = shape[0] if shape else 1
        if self.kind.hasobject or self.kind.itemsize == 0 or self.kind.itemsize > 4 * LONGEST_TEXT:
            raise InputError(f"{source}: {name} is of the type {shown(str(self.kind))}; expected numbers, or short texts as U or "
                             "S; convert it with astype")

    def take(self, n: int) -> np.ndarray:
        """Return the next n items, which the caller has made sure to be few."""
        size, parts = n * self.kind.itemsize, []
        while size > 0:
            part = self._stream.read(min(size, PIECE))
            if not part:
                raise InputError(f"{self.source}: {self.name} ends early: its header says {self.length:,} items; expected a "
                                 "whole file; save it again")
            parts.append(part)
            size -= len(part)
        return np.frombuffer(b"".join(parts), self.kind)


class _Archive:
    """The arrays of a file, opened side by side."""

    def __init__(self, source: str, stack: ExitStack) -> None:
        self.source = source
        stream = stack.enter_context(open(source, "rb"))
        self._zip = stack.enter_context(zipfile.ZipFile(stream))
        members = self._zip.infolist()
        if sum(member.compress_size for member in members) > os.fstat(stream.fileno()).st_size:
            raise InputError(f"{source}: the arrays in this archive overlap; expected a .npz; save it again")
        self.names = {member.filename.removesuffix(".npy"): member for member in members}
        for name in self.names:
            if name not in (*MATRIX, *FIELDS, "format", "_is_array"):
                raise InputError(f"{source}: an array named {shown(name)!r}; expected {', '.join((*MATRIX, *FIELDS))}; leave it "
                                 "out")
        if len(self.names) < len(members):
            raise InputError(f"{source}: two arrays of one name; expected each once; save it again")
        self._stack = stack
        for name in MATRIX:
            if name not in self.names:
                raise InputError(f"{source}: no array named {name}; expected a sparse matrix by rows beside the other arrays; "
                                 "write it with scipy.sparse.save_npz, and add the others")
        if "format" in self.names:
            found = self.open("format", 0).take(1)
            if found[0] not in (b"csr", "csr"):
                raise InputError(f"{source}: format is {shown(str(found[0]))}; expected a matrix by rows (csr); convert it with "
                                 "tocsr()")
        shape = self.open("shape")
        if shape.length != 2 or shape.kind.kind not in "iu":
            raise InputError(f"{source}: shape is not two whole numbers; expected rows and columns; save the matrix again")
        self.rows, self.columns = (int(n) for n in shape.take(2))
        if not 0 <= self.rows < 1 << 48 or self.columns < 0:
            raise InputError(f"{source}: shape is {self.rows} by {self.columns}; expected rows and columns; save it again")

    def open(self, name: str, dimensions: int = 1) -> _Member:
        member = self.names[name]
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or member.flag_bits & 1:
            raise InputError(f"{self.source}: {name} is encrypted, or neither stored nor deflated; expected .npz; save it again")
        # without a buffer, small pieces of a stored array cost as much as large ones
        stream = io.BufferedReader(self._stack.enter_context(self._zip.open(member)), PIECE)  # type: ignore[type-var]
        return _Member(self.source, name, stream, dimensions)

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
        """Yield indices, counts and row pointers (from 0) of some rows, and their fields."""
        data, indices, indptr = self.open("data"), self.open("indices"), self.open("indptr")
        fields = {name: self.open(name) for name in FIELDS if name in self.names}
        lengths = [(indptr, self.rows + 1), (indices, data.length), *((field, self.rows) for field in fields.values())]
        for member, length in lengths:
            if member.length != length:
                raise InputError(f"{self.source}: {member.name} has {member.length:,} items; expected {length:,}; save all "
                                 "arrays of the same rows")
        allowed = [(indices, "iu"), (indptr, "iu"), (data, "iufb")]
        allowed += [(field, "iufSU" if name in TEXTS else "iuf") for name, field in fields.items()]
        for member, kinds in allowed:
            if member.kind.kind not in kinds:
                raise InputError(f"{self.source}: {member.name} is of the type {shown(str(member.kind))}; expected "
                                 f"{'whole numbers' if kinds == 'iu' else 'numbers'}; convert it with astype")
        done, last = 0, int(indptr.take(1)[0])
        if last != 0:
            raise InputError(f"{self.source}: indptr begins with {last}; expected 0; save the matrix again")
        widest = max((field.kind.itemsize for field in fields.values()), default=1)
        most = min(MOST_ROWS, max(64, (1 << 24) // widest))
        ahead = np.zeros(0, np.int64)  # row ends that were read and not yet used
        while done < self.rows:
            if len(ahead) == 0:
                ahead = indptr.take(min(most, self.rows - done)).astype(np.int64)
                fall = np.diff(ahead, prepend=last)
                if fall.min() < 0 or fall.max() > self.columns or ahead[-1] > data.length:
                    at = int(np.argmax((fall < 0) | (fall > self.columns) | (ahead > data.length)))
                    refuse(f"{self.source}: row {done + at + 1}", f"{int(fall[at]):,} numbers", f"at most {self.columns:,}",
                           "save the matrix again after sum_duplicates()")
            n = max(1, int(np.searchsorted(ahead, last + MOST_NONZEROS, "right")))
            row, ahead = np.concatenate([[last], ahead[:n]]) - last, ahead[n:]
            nonzeros = int(row[-1])
            yield indices.take(nonzeros), data.take(nonzeros), row, {name: field.take(n) for name, field in fields.items()}
            done, last = done + n, last + nonzeros
        if last != data.length:
            raise InputError(f"{self.source}: indptr ends with {last:,}, but data has {data.length:,} items; expected the same; "
                             "save the matrix again")


def _opened(source: str, work: Callable[[_Archive], Iterator[Any]]) -> Iterator[Any]:
    """Yield from what `work` does with the archive; damage of the file becomes an InputError."""
    if source == "-":
        raise InputError("standard input: a .npz cannot be read from a pipe; expected the name of a file; save it first")
    try:
        with ExitStack() as stack:
            yield from work(_Archive(source, stack))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{source}: no such file") from None
    except DAMAGED as problem:
        raise InputError(f"{source}: damaged, or not a .npz ({shown(str(problem))}); expected arrays as numpy.savez writes them; "
                         "save it again") from None


def _each(values: np.ndarray, of: Callable[[object], Any], kind: type, what: str, where: Callable[[int], str]) -> np.ndarray:
    """Convert an array of texts value by value, each different one once."""
    texts, inverse = np.unique(values, return_inverse=True)
    found = [of(_text(text)) for text in texts.tolist()]
    if None in found:
        at = int(np.argmax(inverse == found.index(None)))
        refuse(where(at), f"{what} is {shown(_text(values[at]))!r}", "the first player's share, 0 to 1", "correct it")
    return np.array(found, kind)[inverse]


def _text(value: object) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def _batch(done: int, parts: tuple, expected: Expected, where: Callable[[int], str]) -> RowBatch:
    index, count, row, fields = parts
    n = len(row) - 1

    def numbers(name: str, default: float) -> np.ndarray:
        return fields[name].astype(np.float32) if name in fields else np.full(n, default, np.float32)

    def identities(name: str, missing: np.ndarray) -> np.ndarray:
        values = fields.get(name)
        if values is None:
            return missing
        if values.dtype.kind in "SU":
            return _each(values, game_of, np.uint64, name, where)
        if values.dtype.kind == "f":
            raise InputError(f"{where(0)}: {name} is a number with a fraction; expected whole numbers or texts; convert it with "
                             "astype")
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
    phase = phases_from(phase, where) if phase.dtype.kind == "f" else phase.clip(-1, LARGEST_PHASE + 1)
    text = None if "fen" not in fields else [_text(value) for value in fields["fen"].tolist()]
    most = expected.layout.size  # larger numbers of columns become the first that the layout lacks
    return RowBatch(index.clip(-1, most).astype(np.int32), count.astype(np.float32), row, phase.astype(np.int64), outcome,
                    numbers("rest", 0), numbers("scale", 1), numbers("eval", np.nan), numbers("score", np.nan), games, text,
                    opening)


def read(source: str, expected: Expected, note: Callable[[str], None]) -> Iterator[RowBatch]:
    """Yield the rows of a file in batches; InputError names the row (from 1) of a fault."""

    def rows(archive: _Archive) -> Iterator[RowBatch]:
        if archive.columns != expected.layout.size:
            raise InputError(f"{source}: {archive.columns:,} columns; expected {expected.layout.size:,}, as the parameter file "
                             "has; use the parameter file that these rows were made for")
        done = 0
        for parts in archive.batches():
            begin = done

            def where(row: int, begin: int = begin) -> str:
                return f"{source}: row {begin + row + 1}"

            with np.errstate(over="ignore", invalid="ignore"):
                batch = _batch(done, parts, expected, where)
            yield checked(batch, expected, where)
            done += len(batch.phase)

    return _opened(source, rows)


def scan(source: str) -> Found:
    """Return what a file contains: columns of one parameter, `columns.weight`."""

    def found(archive: _Archive) -> Iterator[Found]:
        if not 0 < archive.columns <= MOST_COLUMNS:
            raise InputError(f"{source}: {archive.columns:,} columns; expected 1 to {MOST_COLUMNS:,}; save the matrix again")
        phases = 0
        for *_, fields in archive.batches():
            if "phase" in fields and fields["phase"].dtype.kind in "iuf":
                phases = max(phases, int(np.nan_to_num(fields["phase"].max()).clip(0, LARGEST_PHASE)))
        yield Found(Layout((Place("columns", "weight", (archive.columns,), 0),)), phases if "phase" in archive.names else None,
                    archive.rows)

    (only,) = _opened(source, found)
    return only
