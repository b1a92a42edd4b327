"""Files of rows for tests: written, read, compared, refused."""

from pathlib import Path

import numpy as np

from tests.support import refusal
from tests.tuner.datasets.rows.support import PHASES, SMALL, joined
from tuner.datasets.rows import formats
from tuner.datasets.rows.values import ExpectedRows, RowBatch
from tuner.parameters.parameters import Layout


def write_rows(path, batches, layout: Layout, stages: int = 2) -> int:
    return formats.write_jsonl(Path(path), batches, ExpectedRows(layout, stages))


def write(folder, *batches: RowBatch, layout: Layout = SMALL, stages: int = 2) -> str:
    path = folder / "rows.jsonl"
    assert write_rows(path, batches, layout, stages) == sum(len(batch.phase) for batch in batches)
    return str(path)


def read(
    path: str, layout: Layout = SMALL, stages: int = 2, phases: int | None = PHASES
) -> RowBatch:
    return joined(list(formats.read(path, layout, stages, phases)))


def same(one: RowBatch, other: RowBatch) -> None:
    for name in RowBatch._fields:
        a, b = getattr(one, name), getattr(other, name)
        if name == "text":
            assert a == b
        else:
            assert a.dtype == b.dtype and a.shape == b.shape, name
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), name


def text_file(folder, name: str, text: str | bytes) -> str:
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return str(folder / name)


def error(path: str, layout: Layout = SMALL, stages: int = 2, phases: int | None = PHASES) -> str:
    message = refusal(list, formats.read(path, layout, stages, phases))
    assert message.startswith(path) and "\n" not in message and message.isprintable()
    return message.removeprefix(path)
