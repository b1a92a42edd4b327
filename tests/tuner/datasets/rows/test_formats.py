"""Every format of rows gives back what was written, and other programs read it."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.support import file_with, refusal
from tests.tuner.datasets.rows.files import error, read, same, text_file, write
from tests.tuner.datasets.rows.support import PHASES, SMALL, batch_of, joined, random_rows
from tuner.datasets.rows import formats, jsonl
from tuner.datasets.rows.values import ExpectedRows, Names, game_of, layout_of_names


def test_what_is_written_is_read_again(tmp_path):
    rows = random_rows(1, 300)
    same(
        read(write(tmp_path, rows, random_rows(2, 10)._replace(text=None))),
        joined([rows, random_rows(2, 10)._replace(text=[""] * 10)]),
    )
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_rows_of_one_stage_have_no_phase(tmp_path):
    rows = random_rows(3, 40)._replace(phase=np.zeros(40, np.int64))
    path = write(tmp_path, rows, stages=1)
    same(read(path, stages=1), rows)
    assert "phase" in error(path)


def test_no_rows_are_written_and_read(tmp_path):
    path = write(tmp_path)
    assert list(formats.read(path, SMALL)) == []


def test_names_and_shapes_are_found(tmp_path):
    path = write(tmp_path, random_rows(4, 300))
    found = formats.scan(path)
    assert (found.rows, found.phases) == (300, PHASES)
    assert sorted(found.layout.describe()) == sorted(SMALL.describe())


def test_text_may_be_compressed_and_have_other_line_ends(tmp_path):
    rows = random_rows(5, 50)
    path = write(tmp_path, rows)
    content = Path(path).read_bytes()
    same(read(text_file(tmp_path, "packed.jsonl.gz", gzip.compress(content))), rows)
    noisy = b"\xef\xbb\xbf# a comment\r\n\r\n" + content.replace(b"\n", b"\r\n").removesuffix(
        b"\r\n"
    )
    same(read(text_file(tmp_path, "noisy.jsonl", noisy)), rows)
    same(read(text_file(tmp_path, "utf16.jsonl", content.decode().encode("utf-16"))), rows)


def test_formats_are_recognised_without_suffix(tmp_path):
    rows = random_rows(6, 20)
    path = write(tmp_path, rows)
    same(read(text_file(tmp_path, "nameless", Path(path).read_bytes())), rows)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"phase": np.full(4, 25)}, "phase is 25; expected a whole number of 0 to 24"),
        ({"rest": np.float32([0, 0, 2e6, 0])}, "rest is 2e+06; expected centipawns"),
        ({"scale": np.float32([1, 1, 17, 1])}, "scale is 17; expected a factor of 0 to 16"),
        ({"evaluation": np.float32([1, 1, -2e6, 1])}, "eval is -2e+06; expected centipawns"),
        ({"score": np.float32([1, 1, 3e6, 1])}, "score is 3e+06; expected centipawns"),
        (
            {"count": np.float32([1, 1, 2e6, 1])},
            "the count of material.pawn is 2e+06; expected a number between",
        ),
    ],
)
def test_numbers_out_of_range_are_refused_with_their_place(change, words, tmp_path):
    rows = batch_of(
        np.eye(4, SMALL.size)[[0, 0, 0, 0]], phase=np.full(4, 3), evaluation=np.zeros(4, np.float32)
    )
    rows = rows._replace(**change)
    line = 1 if "phase" in change else 3
    place = f": line {line}: "
    message = error(write(tmp_path, rows))
    assert message.startswith(place + words), message


LINES = [
    ("{", "not a row in JSON"),
    ("[1]", "not a row in JSON (it is no object): [1]"),
    ("[" * 100000, "not a row in JSON"),
    ('{"phase":3}', "no counts; expected an object"),
    ('{"phase":3,"counts":[]}', "counts is []"),
    ('{"counts":{}}', "no phase; expected a whole number"),
    (
        '{"phase":3,"counts":{"material.pawm":1}}',
        "'material.pawm' is not a number of the parameter file; did you mean material.pawn",
    ),
    (
        '{"phase":3,"counts":{"pawn":1}}',
        "'pawn' is in several terms; write material.pawn or squares.pawn",
    ),
    ('{"phase":3,"counts":{"queen":1,"queen":2}}', "'queen' is there twice"),
    ('{"phase":3,"counts":{"queen":1,"material.queen":2}}', "material.queen is there twice"),
    ('{"phase":3,"phase":3,"counts":{}}', "'phase' is there twice"),
    ('{"phase":3,"counts":{"queen":true}}', "the count of queen is True"),
    ('{"phase":3,"counts":{"queen":"1"}}', "the count of queen is 1; expected a number"),
    ('{"phase":3,"counts":{"queen":1' + "0" * 400 + "}}", "the count of queen is 1000"),
    (
        '{"phase":3,"counts":{"squares.pawn":[1]}}',
        "'squares.pawn' is not a number of the parameter file; did you mean",
    ),
    (
        '{"phase":3,"counts":{},"evaluation":3}',
        "the key 'evaluation'; expected fen, game, opening, result, eval",
    ),
    ('{"phase":3,"counts":{},"eval":"x"}', "eval is x; expected a number"),
    ('{"phase":3,"counts":{},"eval":NaN}', "eval is NaN"),
    ('{"phase":3,"counts":{},"result":"2-0"}', "result is 2-0; expected the first player's share"),
    ('{"phase":3,"counts":{},"result":2}', "result is 2; expected"),
    ('{"phase":3,"counts":{},"game":[1]}', "game is [1]; expected"),
    ('{"phase":3,"counts":{},"fen":1}', "fen is 1; expected a text"),
    ('{"phase":3,"counts":{},"fen":"a\\nb"}', "contains a control character"),
    ('{"phase":-1,"counts":{}}', "phase is -1"),
]


@pytest.mark.parametrize("line, words", LINES)
def test_a_wrong_line_is_named_and_explained(line, words, tmp_path):
    message = error(text_file(tmp_path, "rows.jsonl", f'{{"phase":3,"counts":{{}}}}\n\n{line}\n'))
    assert message.startswith(": line 3: ") and words in message, message


def test_results_and_games_have_several_forms(tmp_path):
    results = ["1-0", "1/2-1/2", "0-1", 1, 0.5, 0, "0.25", None]
    games = ["a", "a", 12, "12", None, None, -1, "b"]
    lines = [
        f'{{"result":{"null" if result is None else repr(result)},"phase":3,'
        f'"game":{"null" if game is None else repr(game)},"counts":{{}}}}\n'
        for result, game in zip(results, games, strict=True)
    ]
    found = read(text_file(tmp_path, "rows.jsonl", "".join(lines).replace("'", '"')))
    assert found.outcome[:7].tolist() == [1, 0, -1, 1, 0, -1, -0.5] and np.isnan(found.outcome[7])
    assert (
        found.game[0] == found.game[1]
        and found.game[2] == found.game[3] == 12
        and found.game[6] == 2**64 - 1
    )
    assert len(set(found.game.tolist())) == 6


def test_games_whose_rows_are_apart_are_noted(tmp_path):
    path = text_file(
        tmp_path,
        "rows.jsonl",
        "".join(
            f'{{"phase":3,"result":1{game},"counts":{{}}}}\n'
            for game in (',"game":1', ',"game":2', ',"game":1', "", "")
        ),
    )
    notes: list[str] = []
    list(formats.read(path, SMALL, note=notes.append))
    assert notes == [
        f"{path}: 1 games continue after rows of a different game, and each run of rows counts as a"
        " game"
        " of its own; sort the rows by game"
    ]


def test_names_need_no_term_where_there_is_no_parameter_file(tmp_path):
    path = text_file(
        tmp_path, "rows.jsonl", '{"phase":3,"counts":{"pair":1,"squares.pawn[1][2]":2}}\n'
    )
    found = formats.scan(path)
    assert found.layout.describe() == [["rows.pair", []], ["squares.pawn", [2, 3]]]
    assert read(path, found.layout).count.tolist() == [1, 2]
    for name in ("a.b.c", "a b", "a[1][x]", "3a", ""):
        assert "expected the form term.name" in refusal(
            formats.scan, text_file(tmp_path, "bad.jsonl", f'{{"counts":{{"{name}":1}}}}\n')
        )
    assert "no index in 'a.b' and 1 index elsewhere" in refusal(
        formats.scan,
        text_file(tmp_path, "bad.jsonl", '{"counts":{"a.b[0]":1}}\n{"counts":{"a.b":1}}\n'),
    )


def test_texts_that_name_games_are_hashed_and_whole_numbers_are_kept():
    assert game_of("x") == game_of("x") != game_of("y")
    assert game_of("x") < 1 << 63
    assert [game_of(value) for value in (7, "7", -1, True, 1.5, None, 1 << 64)] == [
        7,
        7,
        (1 << 64) - 1,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    "name, words",
    [
        ("rows.xml", "no known format of rows"),
        ("rows.parquet", "rows are not read from .parquet; expected a name that ends with .jsonl"),
        ("rows.svm", "not read"),
        ("rows.csv", "not read"),
        ("rows.npz", "no known format of rows"),
        ("none.jsonl", "no such file"),
    ],
)
def test_files_that_are_no_rows_are_refused(name, words, tmp_path):
    if not name.startswith("none"):
        (tmp_path / name).write_bytes(b"<xml/>")
    assert words in error(str(tmp_path / name))


def test_an_unknown_format_is_not_written(tmp_path):
    for name in ("rows.txt", "rows.svm", "rows.csv", "rows.parquet"):
        assert "expected a name that ends with .jsonl" in refusal(
            formats.require_written, tmp_path / name
        )


def test_single_numbers_have_an_index_and_tables_are_counted_through():
    columns = Names(SMALL).columns
    assert columns["material.pawn[0]"] == columns["material.pawn"]
    assert columns["queen[0]"] == columns["material.queen"]
    assert columns["squares.pawn[4]"] == columns["squares.pawn[1][1]"]
    assert "mobility.knight[4]" not in columns and "pawn[0]" not in columns


def test_a_factor_applies_to_counts_and_rest(tmp_path):
    rows = file_with(
        tmp_path / "rows.jsonl",
        '{"result": 1, "phase": 24, "rest": 8, "factor": 0.25, "counts": {"a.x": 4, "a.y": -2}}\n'
        '{"result": 1, "phase": 24, "rest": 8, "counts": {"a.x": 4}}\n',
    )
    (batch,) = jsonl.read(str(rows), ExpectedRows(layout_of_names(["a.x", "a.y"], "rows")))
    assert batch.count.tolist() == [1.0, -0.5, 4.0] and batch.rest.tolist() == [2.0, 8.0]
    rows.write_text('{"result": 1, "phase": 24, "factor": "half", "counts": {"a.x": 4}}\n')
    assert "line 1: factor is half; expected a number" in refusal(
        list, jsonl.read(str(rows), ExpectedRows(layout_of_names(["a.x"], "rows")))
    )
