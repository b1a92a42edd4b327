"""Damaged files of rows are read as valid rows or refused with one line.

EVALTUNE_FUZZ=10000 sets the number of damaged files of each format.
"""

import os
from pathlib import Path

import numpy as np

from games.streams import InputError
from tests.tuner.datasets.rows.support import PHASES, SMALL, random_rows
from tests.tuner.datasets.rows.test_formats import write
from tuner.datasets.rows import formats

FILES = int(os.environ.get("EVALTUNE_FUZZ", "300"))


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """Change, remove, repeat or insert some bytes."""
    data = bytearray(content)
    for _ in range(random.integers(1, 4)):
        at = int(random.integers(len(data) + 1))
        size = int(random.integers(1, 9))
        match random.integers(6):
            case 0:
                data[at : at + size] = random.bytes(size)
            case 1:
                del data[at : at + size]
            case 2:
                del data[at:]
            case 3:
                data[at:at] = data[max(0, at - 40) : at]
            case 4:
                data[at : at + 1] = random.choice(
                    [
                        b"9" * 20,
                        b"-",
                        b"e",
                        b'"',
                        b",",
                        b":",
                        b"\n",
                        b"{",
                        b"nan",
                        b"1e999",
                        b"\0",
                        b"\r",
                    ]
                )
            case 5 if at < len(data):
                data[at] ^= 1 << int(random.integers(8))
    return bytes(data)


def test_damaged_files_are_read_or_refused_with_one_line(tmp_path):
    content = Path(write(tmp_path, random_rows(1, 12))).read_bytes()
    random, path = np.random.default_rng(2), tmp_path / "damaged.jsonl"
    refused = 0
    for _ in range(FILES):
        path.write_bytes(damaged(content, random))
        try:
            for rows in formats.read(str(path), SMALL, 2, PHASES):
                n = len(rows.phase)
                assert (
                    rows.row[0] == 0
                    and rows.row[-1] == len(rows.index) == len(rows.count)
                    and (np.diff(rows.row) >= 0).all()
                )
                assert len(rows.row) == n + 1 and all(
                    len(getattr(rows, name)) == n
                    for name in ("outcome", "rest", "scale", "evaluation", "score", "game")
                )
                assert ((rows.index >= 0) & (rows.index < SMALL.size)).all() and (
                    np.abs(rows.count) <= 1e6
                ).all()
                assert ((rows.phase >= 0) & (rows.phase <= PHASES)).all() and not (
                    np.abs(rows.outcome) > 1
                ).any()
                assert (np.abs(rows.rest) <= 1e6).all() and (
                    (rows.scale >= 0) & (rows.scale <= 16)
                ).all()
                assert not (np.abs(rows.evaluation) > 1e6).any()
                assert rows.text is None or len(rows.text) == n and "".join(rows.text).isprintable()
        except InputError as problem:
            refused += 1
            assert str(problem).isprintable() and len(str(problem)) < 1000
        try:
            formats.scan(str(path))
        except InputError as problem:
            assert str(problem).isprintable()
    assert refused > FILES / 4
