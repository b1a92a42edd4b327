"""`tuner diff`: tables and JSON against the files themselves, what the data support, and
the largest changes first."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from tests.commands.support import done, refused, tuner
from tests.support import file_with
from tuner.evaluation.loading import load_parameters
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters

STAGES = ("mg", "eg")
RATIO = {"parameter": "material.knight", "to": "material.pawn"}


def written(path: Path, seed: int, **learned) -> Path:
    """A file as if learned from `classic`: a few numbers moved far, others by chance, some held or
    not identified."""
    start, random = load_parameters("classic"), np.random.default_rng(seed)
    errors = np.round(random.uniform(0.5, 15, start.weights.shape), 2)
    far = np.where(random.random(errors.shape) < 0.08, random.choice([-6, 6], errors.shape), 0)
    held, unknown = random.random(errors.shape) < 0.1, random.random(errors.shape) < 0.1
    for place in start.layout.places:  # of one table nothing is supported
        if place.path == "piece_square.queen":
            far[:, place.columns] = 0
    moves = np.where(held, 0, errors * (random.normal(0, 0.7, errors.shape) + far))
    errors = np.where(unknown, np.nan, np.where(held, 0, errors))
    weights = np.clip(np.round(start.weights + moves, 2), -20000, 20000)
    ratio = round(float(weights[:, 1].mean() / weights[:, 0].mean()), 4)
    ratios = [
        {**RATIO, "ratio": ratio, "low": round(ratio - 0.2, 4), "high": round(ratio + 0.3, 4)}
    ]
    write_parameters(
        path,
        start.with_weights(weights, standard_errors=errors, learned={"ratios": ratios, **learned}),
    )
    return path


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("diff") / "learned.yaml", 1)


def evidence(
    before: Parameters, after: Parameters, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(stages, columns): changes beyond their own interval, and those that statsmodels'
    Benjamini-Hochberg keeps."""
    change = after.weights - before.weights
    tested = ~np.isnan(error) & (error > 0)
    kept = np.zeros(tested.shape, bool)
    kept[tested] = multipletests(
        2 * norm.sf(np.abs(change[tested]) / error[tested]), 0.05, "fdr_bh"
    )[0]
    return tested & (np.abs(change) > 1.96 * np.nan_to_num(error)), kept


def cells_of(text: str) -> dict[tuple[str, str], list[str]]:
    """Rows of the table of all numbers by parameter and stage."""
    rows = [line.split() for line in text.partition("centipawns")[2].splitlines()]
    return {
        (row[0], row[1]): row[2:]
        for row in rows
        if len(row) > 3 and re.fullmatch(r"\w+\.\w+(\[\d+\])?", row[0])
    }


def grids_of(text: str) -> dict[str, dict[str, np.ndarray]]:
    """The boards of each table, as (8, 8) arrays of text by their headings."""
    grids, lines = {}, iter(text.splitlines())
    for line in lines:
        if name := re.fullmatch(r"(piece_square\.\w+ \w+)", line):
            blocks = grids.setdefault(name[1], {})
            for head in lines:
                if not head.strip() and blocks:
                    break
                if head.strip():
                    rows = [next(lines).split() for _ in range(8)]
                    for i, title in enumerate(head.split()):
                        blocks[title] = np.array([row[8 * i : 8 * i + 8] for row in rows])
    return grids


def board(numbers: np.ndarray, p: Parameters, path: str) -> np.ndarray:
    place = next(place for place in p.layout.places if place.path == path)
    return numbers[place.columns].reshape(8, 8)[::-1]


def test_table_and_json_of_a_difference_agree_with_the_files(learned):
    before, after = load_parameters("classic"), load_parameters(learned)
    beyond, kept = evidence(before, after, after.standard_errors)
    printed = json.loads(done("diff", "classic", learned, "--json").out)
    table = cells_of(done("diff", "classic", learned, "--show", 0).out)
    labels = before.layout.labels()
    single = [place for place in before.layout.places if len(place.shape) < 2]
    names = {label for place in single for label in place.labels()}
    assert {row["parameter"] for row in printed["rows"]} == names
    assert set(table) == {(name, stage) for name in names for stage in STAGES}
    shown_errors = set()
    for row in printed["rows"]:
        column = labels.index(row["parameter"])
        for s, stage in enumerate(STAGES):
            old, new, error = (
                p[s, column] for p in (before.weights, after.weights, after.standard_errors)
            )
            entry, tested = row[stage], after.standard_errors[s, column] > 0
            assert (entry["initial"], entry["learned"]) == (old, new)
            assert entry["change"] == pytest.approx(new - old, abs=1e-4)
            assert (
                entry["standard_error"]
                == entry["change_error"]
                == (None if np.isnan(error) else error)
            )
            assert entry["identified"] == (not np.isnan(error))
            assert (entry["significant"], entry["supported"]) == (
                (beyond[s, column], kept[s, column]) if tested else (None, None)
            )
            assert entry["percent"] == (
                pytest.approx(100 * (new - old) / abs(old), abs=0.01) if old else None
            )
            shown = table[row["parameter"], stage]
            assert [float(text) for text in shown[:2]] == pytest.approx([old, new], abs=0.0501)
            if abs(new - old) > 0.05:
                assert float(shown[2].rstrip("*")) == pytest.approx(new - old, abs=0.0501)
                assert shown[2].endswith("*") == beyond[s, column]
            if tested:
                assert float(shown[-1]) == pytest.approx(1.96 * error, abs=0.0501)
            else:
                assert shown[-1] == ("?" if np.isnan(error) else "held")
                shown_errors.add(shown[-1])
    assert shown_errors == {"?", "held"}
    for grid in printed["grids"]:
        s = STAGES.index(grid["stage"])
        for name, p in (("initial", before), ("learned", after)):
            assert grid[name] == board(p.weights[s], before, grid["parameter"]).tolist()
        errors = board(after.standard_errors[s], before, grid["parameter"])
        assert np.array(grid["standard_error"], float) == pytest.approx(errors, nan_ok=True)
        expected = board(beyond[s], before, grid["parameter"])
        assert (np.array(grid["significant"]) == np.where(errors > 0, expected, None)).all()


def test_significant_shows_what_the_data_support_and_nothing_else(learned):
    before, after = load_parameters("classic"), load_parameters(learned)
    beyond, kept = evidence(before, after, after.standard_errors)
    ran = done("diff", "classic", learned, "--show", "supported")
    said = json.loads(done("diff", "classic", learned, "--show", "supported", "--json").out)
    labels = before.layout.labels()
    columns = [
        i
        for place in before.layout.places
        if len(place.shape) < 2
        for i in range(place.first, place.first + place.size)
    ]
    rows = cells_of(ran.out)
    expected = {labels[i] for i in columns if kept[:, i].any()}
    assert {name for name, _ in rows} == expected == {row["parameter"] for row in said["rows"]}
    assert 5 < len(expected) < len({labels[i] for i in columns if beyond[:, i].any()})
    moved = {(labels[i], STAGES[s]) for s, i in np.argwhere(kept) if i in columns}
    assert set(rows) == moved and all(cells[2].endswith("*") for cells in rows.values())
    grids, found = grids_of(ran.out), set()
    for place in before.layout.places:
        for s, stage in enumerate(STAGES):
            if len(place.shape) == 2 and kept[s, place.columns].any():
                blocks, cells = grids[f"{place.path} {stage}"], board(kept[s], before, place.path)
                for block in ("learned", "change", "+/-"):
                    assert ((blocks[block] != ".") == cells).all()
                assert (blocks["initial"] != ".").all()
                found.add(f"{place.path} {stage}")
    assert set(grids) == found == {f"{grid['parameter']} {grid['stage']}" for grid in said["grids"]}
    assert "piece_square.queen mg" not in grids and len(grids) > 3
    tested = int((after.standard_errors > 0).sum())
    assert f"* the data support {kept.sum():,} of {tested:,} changes" in ran.out
    assert "Benjamini-Hochberg" in ran.out
    assert (said["tested"], said["supported"], said["significant"]) == (
        tested,
        kept.sum(),
        beyond.sum(),
    )


def test_files_without_errors_say_so_and_are_not_called_significant(learned):
    ran = done("diff", "classic", "pesto")
    sentence = "the files have no standard errors, so their changes cannot be tested"
    assert f"\n\n{sentence}\n\nthe 20 largest of " in ran.out
    assert ran.out.endswith("\nevery number: --show all\n") and ran.out.count("\n") < 40
    ran = done("diff", "classic", "pesto", "--show", "all")
    assert "+/-" not in ran.out
    assert ran.out.count("the files have no standard errors") == 1
    assert not [cells for cells in cells_of(ran.out).values() if any("*" in cell for cell in cells)]
    failed = tuner("diff", "classic", learned, "pesto", "--show", "supported")
    assert (
        failed.status == 2
        and "pesto: no standard_errors" in failed.err
        and failed.err.count("\n") == 1
    )
    assert not failed.out


def test_three_files_are_shown_side_by_side(learned, tmp_path):
    other = written(tmp_path / "other.yaml", 4)
    names = ("classic", learned, other)
    files = [load_parameters(name) for name in names]
    said = json.loads(done("diff", *names, "--json").out)
    assert said["files"] == [str(name) for name in names]
    labels = files[0].layout.labels()
    for row in said["rows"]:
        column = labels.index(row["parameter"])
        for s, stage in enumerate(STAGES):
            values = [p.weights[s, column] for p in files]
            assert row[stage]["values"] == values
            assert [part["change"] for part in row[stage]["changes"]] == pytest.approx(
                [value - values[0] for value in values[1:]], abs=1e-4
            )
            assert row[stage]["standard_errors"] == [
                None,
                *(
                    None if np.isnan(error) else error
                    for error in (p.standard_errors[s, column] for p in files[1:])
                ),
            ]
    for grid in said["grids"]:
        s = STAGES.index(grid["stage"])
        assert grid["values"] == [board(p.weights[s], p, grid["parameter"]).tolist() for p in files]
    ran = done("diff", *names, "--show", 0)
    assert f"C = {other}" in ran.out
    for s, stage in enumerate(STAGES):
        cells = cells_of(ran.out)["material.rook", stage]
        values = [p.weights[s, 3] for p in files]
        shown = [float(cells[at].strip("*")) for at in (0, 1, 2, 5, 6)]
        assert shown == pytest.approx(
            [*values[:2], values[1] - values[0], values[2], values[2] - values[0]], abs=0.0501
        )
    for name, blocks in grids_of(ran.out).items():
        path, stage = name.split()
        assert list(blocks) == ["A", "B", "B-A", "+/-", "C", "C-A"]
        for p, letter in zip(files, "ABC", strict=True):
            np.testing.assert_allclose(
                np.char.rstrip(blocks[letter], "*").astype(float),
                board(p.weights[STAGES.index(stage)], p, path),
                rtol=0,
                atol=0.5001,
            )
    assert "tictactoe/zero is for tictactoe, but classic is for chess" in refused(
        "diff", *names, "tictactoe/zero"
    )


def test_a_line_end_in_the_name_of_a_file_stays_out_of_the_tables(learned, tmp_path):
    odd = file_with(tmp_path / "two\nlines.yaml", learned.read_bytes())
    assert "two\\nlines.yaml" in done("diff", "classic", odd, "--show", "all").out
    assert "two\n" not in done("diff", "classic", odd, learned, "--show", "all").out


GREEN, RED = "\x1b[32m", "\x1b[31m"


def second_table(out: str) -> tuple[str, list[list[str]]]:
    """Title and rows of the table after that of piece values."""
    assert out.startswith("in units of material.pawn, mean of mg and eg\n")
    title, _, *rows = out.split("\n\n")[1].splitlines()
    return title, [row.split() for row in rows]


def supported_ones(before: Parameters, after: Parameters) -> list[tuple[str, str, float]]:
    """All supported changes, by an independent test, the largest first."""
    change = after.weights - before.weights
    places = np.argwhere(evidence(before, after, after.standard_errors)[1])
    labels = before.layout.labels()
    return sorted(
        ((labels[i], STAGES[s], change[s, i]) for s, i in places), key=lambda line: -abs(line[2])
    )


def test_the_twenty_largest_supported_changes_come_first(learned):
    before, after = load_parameters("classic"), load_parameters(learned)
    supported = supported_ones(before, after)
    title, rows = second_table(done("diff", "classic", learned).out)
    assert title == f"the 20 largest of {len(supported)} changes that the data support"
    assert [(name, stage) for name, stage, *_ in rows] == [line[:2] for line in supported[:20]]
    for (_, _, old, new, change, error), (name, stage, expected) in zip(
        rows, supported, strict=False
    ):
        s, i = STAGES.index(stage), before.layout.labels().index(name)
        assert [float(text) for text in (old, new, change, error)] == pytest.approx(
            [
                before.weights[s, i],
                after.weights[s, i],
                expected,
                1.96 * after.standard_errors[s, i],
            ],
            abs=0.051,
        )
    found = json.loads(done("diff", "classic", learned, "--json").out)["largest"]
    assert [(line["parameter"], line["stage"]) for line in found] == [
        line[:2] for line in supported[:20]
    ]


def test_numbers_that_are_not_centipawns_have_their_unit(tmp_path):
    p = load_parameters("modern")
    write_parameters(tmp_path / "moved.yaml", p.with_weights(p.weights + 7))
    text = done("diff", "modern", tmp_path / "moved.yaml", "--show", 0).out
    assert (
        re.search(r"late_scale\.rook_ending % \w\w  +", text) and "king_danger.base %" not in text
    )
    assert re.search(r"space\.tempo \w\w  +", text)


def test_the_rest_is_shown_with_all(learned):
    brief, whole = (done("diff", "classic", learned, *more).out for more in ((), ("--show", "all")))
    *shown, last = brief.splitlines()
    assert whole.splitlines()[: len(shown)] == shown and 25 < len(shown) < 40
    assert last == "every number: --show all"
    assert done("diff", "classic", learned, "--show", 1).out == whole
