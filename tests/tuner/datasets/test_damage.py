"""Damage to a dataset is reported as one clear error."""

import io
import json
import pickle
import zipfile
import zlib

import numpy as np
import pytest

from games.streams import InputError
from tests.support import refusal
from tests.tuner.datasets.support import COLUMNS, refused, with_manifest
from tests.tuner.support import PHASES, random_coefficients, write_sample
from tuner.datasets import files as array_files
from tuner.datasets import reader as integrity
from tuner.datasets.files import ARRAYS, MANIFEST, is_dataset
from tuner.datasets.reader import open_dataset


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 3}, "dataset format 3, expected 2; build it again"),
        ({"format": None}, "dataset format None, expected 2"),
        ({"games": None}, "games is missing"),
        ({"positions": "many"}, "positions is damaged"),
        ({"games": 0}, "games is damaged"),
        ({"positions": -5}, "positions is damaged"),
        ({"nonzeros": 1.5}, "nonzeros is damaged"),
        ({"positions": 10**9}, "entries, expected"),
        ({"nonzeros": 1}, "entries, expected 1;"),
        ({"games": 29}, "expected 30;"),
        ({"layout": None}, "layout is missing"),
        ({"layout": "abc"}, "layout is damaged"),
        ({"layout": [["man"]]}, "layout is damaged"),
        ({"layout": [["a", []]]}, "layout is damaged"),
        ({"layout": [["a.b", [-1]]]}, "layout is damaged"),
        ({"layout": [["a.b", 3]]}, "layout is damaged"),
        ({"layout": [["a.b", [2]]]}, "expected a column below 2"),
        ({"phases": 3}, "expected a phase of at most 3"),
        ({"phases": None}, "phases is missing"),
        ({"sources": ["file"]}, "sources is damaged"),
        ({"options": []}, "options is damaged"),
        ({"stages": None}, "stages is missing"),
    ],
    ids=str,
)
def test_a_manifest_that_lacks_something_or_contradicts_the_arrays_is_refused(copy, changes, said):
    assert said in refused(with_manifest(copy, **changes))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "3", '"text"', "[" * 100_000, "\xff", "{}"]
)
def test_an_invalid_manifest_is_refused(copy, text):
    (copy / MANIFEST).write_bytes(text.encode("latin-1"))
    assert ("dataset format None, expected 2" if text == "{}" else "damaged") in refused(copy)


def test_a_folder_without_manifest_is_not_a_dataset(copy, tmp_path):
    (copy / MANIFEST).unlink()
    assert (
        "not a dataset (no manifest.json); make one with `tuner dataset GAMES -o DIR`"
        in refused(copy)
    )
    assert not is_dataset(copy)
    assert "not a dataset" in refused(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ARRAYS)
def test_a_truncated_or_missing_array_is_named(copy, name):
    path = copy / f"{name}.npy"
    whole = path.read_bytes()
    for length in (0, 1, 5, 8, 50, 127, 128, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert f"{name}.npy: " in refused(copy)
    path.write_bytes(whole)
    assert open_dataset(copy).positions
    path.unlink()
    assert f"{name}.npy: damaged (No such file or directory); build the dataset again" in refused(
        copy
    )


def test_whatever_happens_to_the_header_of_an_array_the_file_is_read_as_it_was_or_refused(
    copy, sample
):
    path, random = copy / "phase.npy", np.random.default_rng(3)
    whole, refusals = path.read_bytes(), 0
    for _ in range(400):
        damaged = bytearray(whole)
        for place in random.integers(0, 128, random.integers(1, 4)):
            damaged[place] = random.choice(
                [*b"0123456789{}()[]'\"\\,:\n\0 \xff", *random.integers(0, 256, 5)]
            )
        path.write_bytes(bytes(damaged))
        try:
            found = open_dataset(copy)
            assert (found.phase == sample.data.phase).all()
        except InputError as problem:
            assert "phase.npy: " in str(problem) and "\n" not in str(problem)
            refusals += 1
    assert refusals > 200


@pytest.mark.parametrize(
    ("name", "place", "value", "said"),
    [
        ("row", 0, 1, "runs from 1 to"),
        ("row", -1, 5, "runs from 0 to 5"),
        ("row", 3, 10**12, "expected numbers in ascending order"),
        ("row", 3, -1, "expected numbers in ascending order"),
        ("first", 4, 10**12, "expected numbers in ascending order"),
        ("first", -1, 7, "runs from 0 to 7"),
        ("index", 9, COLUMNS, f"entry 9 is damaged, expected a column below {COLUMNS}"),
        ("index", -1, 65535, "expected a column below"),
        ("phase", 2, PHASES + 1, "entry 2 is damaged, expected a phase of at most"),
        ("outcome", 5, np.nan, "expected an outcome from -1 to 1"),
        ("outcome", 5, 1.5, "expected an outcome from -1 to 1"),
        ("weight", 0, -1, "expected a weight of 0 or more"),
        ("weight", 0, np.inf, "expected a weight"),
        ("weight", 0, np.nan, "expected a weight"),
    ],
)
def test_numbers_out_of_range_are_refused_before_compiled_code_reads_them(
    copy, monkeypatch, name, place, value, said
):
    monkeypatch.setattr("tuner.datasets.reader.PART", 32)
    manifest = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(
        json.dumps({key: value for key, value in manifest.items() if key != "checks"})
    )
    assert open_dataset(copy).positions
    array = np.load(copy / f"{name}.npy")
    array[place] = value
    np.save(copy / f"{name}.npy", array)
    assert f"{name}.npy: " in (text := refused(copy)) and said in text


class Payload:
    """Runs code when it is read by pickle."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was read",))


def test_arrays_of_another_kind_are_refused_and_pickles_never_read(copy):
    path, phase = copy / "phase.npy", np.load(copy / "phase.npy")
    length = len(phase)
    np.save(path, np.array([Payload()] * length), allow_pickle=True)
    assert "phase.npy: damaged" in refused(copy)
    path.write_bytes(pickle.dumps(Payload()))
    assert "phase.npy: damaged" in refused(copy)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "y")
    assert "phase.npy: damaged" in refused(copy)
    for array, said in (
        (np.zeros(length, np.uint16), "holds uint16 of 1 dimensions, expected uint8 of 1"),
        (np.zeros((length, 1), np.uint8), "holds uint8 of 2 dimensions"),
        (np.zeros((), np.uint8), "phase.npy"),
    ):
        np.save(path, array)
        assert said in refused(copy)
    stream = io.BytesIO()
    np.save(stream, phase.astype(">u1"))
    path.write_bytes(stream.getvalue())
    assert open_dataset(copy).positions == length  # a byte has no byte order


def test_a_changed_byte_is_found_and_its_part_named(tmp_path, monkeypatch):
    """Any count is valid: only a checksum detects a wrong one."""
    for place in (array_files, integrity):
        monkeypatch.setattr(place, "PART", 4096)
    random = np.random.default_rng(1)
    write_sample(
        tmp_path / "data", random_coefficients(random, 6000, 6), np.zeros(6000), np.full(600, 10)
    )
    checks = open_dataset(tmp_path / "data").manifest["checks"]
    path = tmp_path / "data" / "count.npy"
    text = bytearray(path.read_bytes())
    assert checks["count"][1] == zlib.crc32(text[128 + 4096 : 128 + 8192])
    text[128 + 5000] ^= 1
    path.write_bytes(text)
    assert "count.npy: damaged between bytes 4224 and 8320; build the dataset again" in refusal(
        open_dataset, tmp_path / "data"
    )


def test_a_missing_checksum_is_refused(copy):
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest["checks"]["count"].pop()
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert "count.npy: 1 parts, expected 0; build the dataset again" in refused(copy)
