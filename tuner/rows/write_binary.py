"""Write rows as arrays: .npz, which scipy.sparse.load_npz reads, and Parquet."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from tuner.io.files import ROWS_MARK, replaced
from tuner.rows.arrow import require_arrow
from tuner.rows.batch import RowBatch
from tuner.rows.values import Expected
from tuner.rows.write_text import columns_of
from tuner.version import __version__

PIECE = 1 << 20
# arrays that are written only if some row differs from this value
OPTIONAL = {"rest": 0.0, "scale": 1.0, "eval": np.nan, "score": np.nan}


class _Array:
    """An array that grows in a temporary file, because the header of a .npy says its length."""

    def __init__(self, stack: ExitStack, folder: Path, kind: type) -> None:
        self._file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
        self.kind, self.length = np.dtype(kind), 0

    def append(self, values: np.ndarray) -> None:
        self._file.write(np.ascontiguousarray(values, self.kind).tobytes())
        self.length += len(values)

    def into(self, archive: zipfile.ZipFile, name: str) -> None:
        """Write the array to an archive."""
        self._file.seek(0)
        with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
            np.lib.format.write_array_header_1_0(stream, {"descr": np.lib.format.dtype_to_descr(self.kind),
                                                          "fortran_order": False,
                                                          "shape": (self.length,)})
            shutil.copyfileobj(self._file, stream, PIECE)


class _Texts:
    """Texts that grow in a temporary file as lines, and become an array of fixed width."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
        self.length, self.widest = 0, 0

    def append(self, texts: list[str]) -> None:
        lines = [text.encode("utf-8") for text in texts]
        self.widest = max(self.widest, max(map(len, lines), default=0))
        self._file.write(b"\n".join([*lines, b""]))
        self.length += len(lines)

    def into(self, archive: zipfile.ZipFile, name: str) -> None:
        """Write the array to an archive."""
        self._file.seek(0)
        with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
            np.lib.format.write_array_header_1_0(stream, {"descr": f"|S{self.widest}", "fortran_order": False,
                                                          "shape": (self.length,)})
            for line in self._file:
                stream.write(line[:-1].ljust(self.widest, b"\0"))


def write_npz(path: Path, batches: Iterable[RowBatch], expected: Expected) -> int:
    """Write the matrix by rows as float32, and the fields of the positions beside it."""
    n = 0
    with replaced(path) as temporary, ExitStack() as stack:
        folder = temporary.parent
        kinds = {"data": np.float32, "indices": np.int32, "indptr": np.int64, "result": np.float64, "phase": np.int32,
                 "game": np.uint64, "opening": np.uint64, **dict.fromkeys(OPTIONAL, np.float32)}
        arrays = {name: _Array(stack, folder, kind) for name, kind in kinds.items()}
        texts, used = _Texts(stack, folder), set()
        arrays["indptr"].append(np.zeros(1))
        for batch in batches:
            arrays["indptr"].append(batch.row[1:] + arrays["data"].length)
            shares = (batch.outcome.astype(np.float64) + 1) / 2
            for name, values in (("data", batch.count), ("indices", batch.index), ("result", shares), ("phase", batch.phase),
                                 ("game", batch.game)):
                arrays[name].append(values)
            for (name, usual), values in zip(OPTIONAL.items(), (batch.rest, batch.scale, batch.evaluation, batch.score),
                                             strict=True):
                arrays[name].append(values)
                if not ((values == usual) | (np.isnan(values) & np.isnan(usual))).all():
                    used.add(name)
            arrays["opening"].append(batch.openings)
            if not (batch.openings == batch.game).all():
                used.add("opening")
            texts.append(batch.text or [""] * len(batch.phase))
            n += len(batch.phase)
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, array in arrays.items():
                if name not in (*OPTIONAL, "opening") and (name != "phase" or expected.stages > 1) or name in used:
                    array.into(archive, name)
            if texts.widest:
                texts.into(archive, "fen")
            for name, value in (("shape", np.array([n, expected.layout.size])), ("format", np.array(b"csr"))):
                held = io.BytesIO()
                np.lib.format.write_array(held, value, allow_pickle=False)
                archive.writestr(f"{name}.npy", held.getvalue())
            archive.comment = ROWS_MARK + b" " + __version__.encode()
    return n


def write_parquet(path: Path, batches: Iterable[RowBatch], expected: Expected) -> int:
    """Write a column for each field and each number of the layout; unknown numbers are null."""
    pa = require_arrow(str(path))
    import pyarrow.parquet

    names = columns_of(expected)
    own = {"fen": pa.string(), "game": pa.uint64(), "opening": pa.uint64(), "phase": pa.int32(), "result": pa.float64()}
    schema = pa.schema([(name, own.get(name, pa.float32())) for name in names])
    n = 0
    with replaced(path) as temporary, open(temporary, "wb") as stream, pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        for batch in batches:
            if len(batch.phase):
                writer.write_table(pa.table(_columns(pa, batch, expected, names), schema=schema))
                n += len(batch.phase)
    return n


def _columns(pa: Any, batch: RowBatch, expected: Expected, names: list[str]) -> list[Any]:
    rows = len(batch.phase)
    dense = np.zeros((expected.layout.size, rows), np.float32)
    dense[batch.index, np.repeat(np.arange(rows), np.diff(batch.row))] = batch.count
    values = {"fen": batch.text or [""] * rows, "game": batch.game, "opening": batch.openings,
              "result": (batch.outcome.astype(np.float64) + 1) / 2,
              "eval": batch.evaluation, "score": batch.score, "phase": batch.phase.astype(np.int32), "rest": batch.rest,
              "scale": batch.scale}
    fields = names[:len(names) - len(dense)]
    return [pa.array(values[name], from_pandas=True) for name in fields] + [pa.array(column) for column in dense]
