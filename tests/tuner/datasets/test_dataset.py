"""Datasets on disk: what is written is read back, parts and unions hold the right games, damage is one clear error."""

from __future__ import annotations

import io
import json
import pickle
import resource
import shutil
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from games.streams import InputError
from tests.tuner.support import LAYOUT, PHASES, Sample, random_coefficients, write_sample
from tuner.datasets import array_files, integrity
from tuner.datasets import merge as module
from tuner.datasets.dataset import Dataset
from tuner.datasets.format import ARRAYS, MANIFEST, is_dataset
from tuner.datasets.merge import copy_games, merge, part
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows import Rows
from tuner.datasets.writer import DatasetWriter
from tuner.ingest.sources import checked, require_learnable

COLUMNS = LAYOUT.size


def sample_in(folder: Path, seed: int = 1, games: int = 30, **more) -> Sample:
    """Games of 0 to 9 positions with coefficients over the whole range of a byte."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 10, games)
    lengths[0] = 5
    n = int(lengths.sum())
    x = random_coefficients(random, n, COLUMNS, 100)
    x[0], x[1], x[2] = 127, -128, 0
    return write_sample(folder, x, random.choice([-1, -0.5, 0, 1], n), lengths, phase=random.integers(0, PHASES + 1, n),
                        weight=random.choice([0.5, 1, 3], n), layout=LAYOUT, **more)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return sample_in(tmp_path_factory.mktemp("dataset") / "data", openings=np.arange(30) % 7)


@pytest.fixture
def copy(sample, tmp_path):
    """A copy of the dataset to be damaged."""
    return Path(shutil.copytree(sample.data.path, tmp_path / "copy"))


def dense(data: Dataset) -> np.ndarray:
    found = np.zeros((data.positions, data.columns), np.int8)
    for i in range(data.positions):
        places = slice(data.row[i], data.row[i + 1])
        found[i, data.index[places]] = data.count[places]
    return found


def games_of(data: Dataset) -> dict[int, tuple]:
    """All that is known of each game, by its place: identity, opening, coefficients, and the rest of its positions."""
    x = dense(data)
    return {g: (int(data.game[g]), int(data.opening[g]), x[a:b].tolist(), data.phase[a:b].tolist(), data.outcome[a:b].tolist(),
                data.weight[a:b].tolist()) for g, (a, b) in enumerate(zip(data.first[:-1], data.first[1:], strict=True))}


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))


def with_manifest(folder: Path, **changes) -> Path:
    """The folder, its manifest changed; a change to None removes the entry."""
    manifest = {key: value for key, value in (manifest_of(folder) | changes).items() if value is not None}
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_rows_are_the_dense_coefficients_and_nothing_else_is_lost(sample):
    data = sample.data
    assert (dense(data) == sample.coefficients).all()
    assert (data.count != 0).all() and len(data.index) == (sample.coefficients != 0).sum()
    for name in ("phase", "outcome", "weight"):
        assert (getattr(data, name) == getattr(sample, name)).all()
    assert (np.repeat(data.game, np.diff(data.first)) == sample.group).all()
    assert (data.games, data.columns, data.positions) == (30, COLUMNS, len(sample.phase))
    assert data.layout == LAYOUT


def test_three_bytes_a_nonzero_and_types_as_promised(sample):
    for name, kind in ARRAYS.items():
        array = np.load(sample.data.path / f"{name}.npy")  # any program reads these files
        assert array.dtype == kind and array.ndim == 1
    assert sum(np.dtype(ARRAYS[name]).itemsize for name in ("index", "count")) == 3


def test_the_pieces_in_which_a_dataset_is_written_change_nothing(sample, tmp_path):
    data = sample.data
    with DatasetWriter(tmp_path / "pieces") as writer:
        for a in range(0, data.positions, 7):
            writer.add_positions(data.rows(a, min(a + 7, data.positions)))
        writer.add_games(data.first[:-1], data.game, data.opening)
        writer.finish({key: value for key, value in data.manifest.items() if key != "format"})
    assert sorted(path.name for path in (tmp_path / "pieces").iterdir()) == sorted(p.name for p in data.path.iterdir())
    for path in data.path.glob("*.npy"):
        assert path.read_bytes() == (tmp_path / "pieces" / path.name).read_bytes()


def test_the_last_column_that_an_index_can_name_is_kept(tmp_path):
    with DatasetWriter(tmp_path / "wide") as writer:
        writer.add_positions(Rows(np.array([0, 65535]), np.array([-128, 127]), np.array([0, 2]), np.zeros(1), np.ones(1)))
        writer.add_games(np.zeros(1), np.array([2**64 - 1], np.uint64), np.array([2**63], np.uint64))
        writer.finish({"program": "", "game": "none", "sources": [], "options": {}, "layout": [["a.b", [65536]]], "terms": "",
                       "phases": 24, "stages": ["mg", "eg"]})
    data = open_dataset(tmp_path / "wide")
    assert (data.index.tolist(), data.count.tolist()) == ([0, 65535], [-128, 127])
    assert (int(data.game[0]), int(data.opening[0]), float(data.weight[0])) == (2**64 - 1, 2**63, 1.0)


@pytest.mark.parametrize("most", [1 << 16, 3])
def test_a_part_holds_the_chosen_games_and_no_other(sample, tmp_path, monkeypatch, most):
    monkeypatch.setattr(module._copy_run, "__defaults__", (most,))
    chosen = np.flatnonzero(np.random.default_rng(2).random(30) < 0.5)
    found = part(sample.data, chosen, tmp_path / "part", "some")
    whole = games_of(sample.data)
    assert list(games_of(found).values()) == [whole[g] for g in chosen]
    assert found.manifest["options"] == {"part": "some"} and found.manifest["layout"] == sample.data.manifest["layout"]
    assert games_of(open_dataset(tmp_path / "part")) == games_of(found)


def test_a_part_without_games_is_refused(sample, tmp_path):
    with pytest.raises(InputError, match="would hold no game; choose another share or seed"):
        part(sample.data, np.zeros(0, np.int64), tmp_path / "part", "none")
    assert not (tmp_path / "part").exists()


def test_a_union_holds_every_game_once_in_the_order_of_the_datasets(sample, tmp_path):
    other = sample_in(tmp_path / "other", seed=2, identities=np.arange(20, 50)).data  # 20 to 30 are in both
    twice = sample_in(tmp_path / "twice", seed=3, identities=np.full(30, 99)).data  # the same game thirty times
    found = merge([sample.data, other, twice], tmp_path / "union")
    expected = [*games_of(sample.data).values(), *(g for g in games_of(other).values() if g[0] > 30), games_of(twice)[0]]
    assert list(games_of(found).values()) == expected
    assert [source["file"] for source in found.manifest["sources"]] == ["none"] * 3


def test_parts_put_together_are_the_whole(sample, tmp_path):
    parts = [part(sample.data, np.arange(*span), tmp_path / name, name) for name, span in (("a", (0, 11)), ("b", (11, 30)))]
    assert games_of(merge(parts, tmp_path / "union")) == games_of(sample.data)


@pytest.mark.parametrize(("key", "value"), [("game", "other"), ("layout", [["a.b", [COLUMNS]]]), ("terms", "other"),
                                            ("phases", 25)])
def test_datasets_of_different_terms_are_not_merged(sample, copy, tmp_path, key, value):
    other = open_dataset(with_manifest(copy, **{key: value}))
    with pytest.raises(InputError) as caught:
        merge([sample.data, other], tmp_path / "union")
    assert str(caught.value) == f"{copy}: differs in {key} from {sample.data.path}; build both with the same terms"
    assert not (tmp_path / "union").exists()


def test_a_dataset_counted_with_other_terms_than_the_engines_is_refused(chess):
    engine, _, data = chess()
    assert checked(data, engine) is data
    for change, said in (({"game": "tictactoe"}, "a dataset of tictactoe, expected chess"),
                         ({"layout": [["material.pawn", []]]}, "counted with other parameters (1 in place of 615)"),
                         ({"terms": "older"}, "counted by another version of the terms; build the dataset again")):
        with pytest.raises(InputError) as caught:
            checked(replace(data, manifest=data.manifest | change), engine)
        assert str(caught.value).startswith(f"{data.path}: {said}")


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        open_dataset(folder)
    text = str(caught.value)
    assert "\n" not in text and str(folder) in text
    return text


@pytest.mark.parametrize(("changes", "said"), [
    ({"format": 2}, "dataset format 2, expected 1; build it again"), ({"format": None}, "dataset format None, expected 1"),
    ({"games": None}, "games is missing"), ({"positions": "many"}, "positions is damaged"), ({"games": 0}, "games is damaged"),
    ({"positions": -5}, "positions is damaged"), ({"nonzeros": 1.5}, "nonzeros is damaged"),
    ({"positions": 10**9}, "entries, expected"), ({"nonzeros": 1}, "entries, expected 1;"), ({"games": 29}, "expected 30;"),
    ({"layout": None}, "layout is missing"), ({"layout": "abc"}, "layout is damaged"),
    ({"layout": [["man"]]}, "layout is damaged"),
    ({"layout": [["a", []]]}, "layout is damaged"), ({"layout": [["a.b", [-1]]]}, "layout is damaged"),
    ({"layout": [["a.b", 3]]}, "layout is damaged"), ({"layout": [["a.b", [2]]]}, "expected a column below 2"),
    ({"phases": 3}, "expected a phase of at most 3"), ({"phases": None}, "phases is missing"),
    ({"sources": ["file"]}, "sources is damaged"), ({"options": []}, "options is damaged"),
    ({"stages": None}, "stages is missing"),
], ids=str)
def test_a_manifest_that_lacks_something_or_contradicts_the_arrays_is_refused(copy, changes, said):
    assert said in refused(with_manifest(copy, **changes))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"text"', "[" * 100_000, "\xff", "{}"])
def test_a_manifest_that_is_none_is_refused(copy, text):
    (copy / MANIFEST).write_bytes(text.encode("latin-1"))
    assert ("dataset format None, expected 1" if text == "{}" else "damaged") in refused(copy)


def test_a_folder_without_manifest_is_no_dataset(copy, tmp_path):
    (copy / MANIFEST).unlink()
    assert "not a dataset (no manifest.json); make one with `tuner dataset GAMES -o DIR`" in refused(copy)
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
    assert f"{name}.npy: damaged (No such file or directory); build the dataset again" in refused(copy)


def test_whatever_happens_to_the_header_of_an_array_the_file_is_read_as_it_was_or_refused(copy, sample):
    path, random = copy / "phase.npy", np.random.default_rng(3)
    whole, refusals = path.read_bytes(), 0
    for _ in range(400):
        damaged = bytearray(whole)
        for place in random.integers(0, 128, random.integers(1, 4)):
            damaged[place] = random.choice([*b"0123456789{}()[]'\"\\,:\n\0 \xff", *random.integers(0, 256, 5)])
        path.write_bytes(bytes(damaged))
        try:
            found = open_dataset(copy)
            assert (found.phase == sample.data.phase).all()
        except InputError as problem:
            assert "phase.npy: " in str(problem) and "\n" not in str(problem)
            refusals += 1
    assert refusals > 200


@pytest.mark.parametrize(("name", "place", "value", "said"), [
    ("row", 0, 1, "runs from 1 to"), ("row", -1, 5, "runs from 0 to 5"), ("row", 3, 10**12, "expected numbers that never fall"),
    ("row", 3, -1, "expected numbers that never fall"), ("first", 4, 10**12, "expected numbers that never fall"),
    ("first", -1, 7, "runs from 0 to 7"), ("index", 9, COLUMNS, f"entry 9 is damaged, expected a column below {COLUMNS}"),
    ("index", -1, 65535, "expected a column below"), ("phase", 2, PHASES + 1, "entry 2 is damaged, expected a phase of at most"),
    ("outcome", 5, np.nan, "expected an outcome from -1 to 1"), ("outcome", 5, 1.5, "expected an outcome from -1 to 1"),
    ("weight", 0, -1, "expected a weight of 0 or more"), ("weight", 0, np.inf, "expected a weight"),
    ("weight", 0, np.nan, "expected a weight")])
def test_numbers_out_of_range_are_refused_before_compiled_code_reads_them(copy, monkeypatch, name, place, value, said):
    monkeypatch.setattr("tuner.datasets.integrity.PART", 32)
    manifest = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(json.dumps({key: value for key, value in manifest.items() if key != "checks"}))
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
    for array, said in ((np.zeros(length, np.uint16), "holds uint16 of 1 dimensions, expected uint8 of 1"),
                        (np.zeros((length, 1), np.uint8), "holds uint8 of 2 dimensions"), (np.zeros((), np.uint8), "phase.npy")):
        np.save(path, array)
        assert said in refused(copy)
    stream = io.BytesIO()
    np.save(stream, phase.astype(">u1"))
    path.write_bytes(stream.getvalue())
    assert open_dataset(copy).positions == length  # a byte has no byte order


def test_what_is_left_without_finishing_leaves_nothing(sample, tmp_path):
    with pytest.raises(ZeroDivisionError), DatasetWriter(tmp_path / "new") as writer:
        writer.add_positions(Rows(np.zeros(1), np.ones(1), np.arange(2), np.zeros(1), np.zeros(1)))
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", [0, 130, 300])
def test_a_disk_that_takes_no_more_is_told_in_one_line_and_leaves_what_was_there(sample, copy, tmp_path, limit):
    before, limits = games_of(sample.data), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        with pytest.raises(InputError, match="copy: cannot be written: File too large$"):
            copy_games([(sample.data, np.arange(20))], copy, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert games_of(open_dataset(copy)) == before
    assert list(tmp_path.iterdir()) == [copy]


def test_a_dataset_replaces_a_dataset_but_nothing_else(sample, copy, tmp_path):
    part(sample.data, np.arange(3), copy, "three")
    assert open_dataset(copy).games == 3
    assert list(tmp_path.iterdir()) == [copy]
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for name in ("letters", "file", "link"):
        with pytest.raises(InputError, match=f"{name}: exists and is not a dataset; choose another name"):
            part(sample.data, np.arange(3), tmp_path / name, "three")
    assert (tmp_path / "letters" / "dear.txt").read_text() == "dear" and (tmp_path / "file").read_text() == "text"
    assert len(list(tmp_path.iterdir())) == 4


def test_nothing_can_be_learned_from_one_game_or_from_games_with_one_result(tmp_path):
    def data(outcomes):
        lengths = np.array([2, 0, *[2] * (len(outcomes) - 1), 0])  # a game without positions says nothing, also at the end
        return write_sample(tmp_path / "data", np.ones((2 * len(outcomes), 1), np.int8), np.repeat(outcomes, 2), lengths).data

    require_learnable(data([1.0, -1.0]))
    require_learnable(data([0.0, 1.0]))
    for outcomes, said in (([1.0], "only 1 game to learn from"), ([0.0] * 3, "every one of the 3 games is a draw"),
                           ([1.0] * 3, "a win of the first player"), ([-1.0] * 3, "a loss of the first player")):
        with pytest.raises(InputError, match=said):
            require_learnable(data(outcomes))


def test_a_changed_byte_is_found_and_its_part_named(tmp_path, monkeypatch):
    """Counts may be any number: nothing but a checksum tells that one is wrong."""
    for place in (array_files, integrity):
        monkeypatch.setattr(place, "PART", 4096)
    random = np.random.default_rng(1)
    write_sample(tmp_path / "data", random_coefficients(random, 6000, 6), np.zeros(6000), np.full(600, 10))
    checks = open_dataset(tmp_path / "data").manifest["checks"]
    path = tmp_path / "data" / "count.npy"
    text = bytearray(path.read_bytes())
    assert checks["count"][1] == zlib.crc32(text[128 + 4096:128 + 8192])
    text[128 + 5000] ^= 1
    path.write_bytes(text)
    with pytest.raises(InputError, match=r"count.npy: damaged between bytes 4224 and 8320; build the dataset again"):
        open_dataset(tmp_path / "data")


def test_a_missing_checksum_is_no_way_round_it(copy):
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest["checks"]["count"].pop()
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert "count.npy: 1 parts, expected 0; build the dataset again" in refused(copy)
