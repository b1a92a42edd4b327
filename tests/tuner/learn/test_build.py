"""Several files read into one dataset."""

from __future__ import annotations

import gzip
import json
import random

import numpy as np
import pytest

from tests.commands.support import done, refused, tuner
from tests.games.support import random_boards
from tests.support import file_with
from tests.tuner.datasets.rows.support import SMALL, STAGES, random_rows
from tuner.datasets.files import only
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows.build import build_rows
from tuner.datasets.rows.formats import batches_of
from tuner.learn.build import selected
from tuner.parameters.parameters import Parameters

GAME = '[Event "?"]\n[Result "{result}"]\n\n{moves} {result}\n\n'
OPENING = "1. {first} e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O"


def games(*firsts: str, result: str = "1-0") -> str:
    return "".join(
        GAME.format(moves=OPENING.format(first=first), result=result) for first in firsts
    )


def test_a_game_in_two_files_is_used_once(tmp_path):
    (tmp_path / "a.pgn").write_text(games("e4", "e3"))
    (tmp_path / "b.pgn").write_text(games("e3") + games("e4", result="0-1"))
    ran = done(
        "dataset",
        tmp_path / "a.pgn",
        tmp_path / "b.pgn",
        "-o",
        tmp_path / "both",
        "--positions",
        "all",
    )
    assert "read 4 games, used 2, 2 duplicates" in ran.err
    kept = done(
        "dataset",
        tmp_path / "a.pgn",
        tmp_path / "b.pgn",
        "-o",
        tmp_path / "all",
        "--positions",
        "all",
        "--duplicates",
        "keep",
    )
    assert "read 4 games, used 4" in kept.err


def test_a_bad_game_is_named_by_its_number_in_its_own_file(tmp_path):
    (tmp_path / "a.pgn").write_text(games("e4", "e3"))
    (tmp_path / "b.pgn").write_text(games("d4").replace("2. Nf3", "2. Nf9"))
    ran = tuner("dataset", tmp_path / "a.pgn", tmp_path / "b.pgn", "-o", tmp_path / "both")
    assert f"{tmp_path / 'b.pgn'}: game 1 (byte" in ran.err


def labelled(n: int, seed: int = 1) -> str:
    boards = list(random_boards(seed, 2 + n // 40, 40))[:n]
    return "".join(
        f"{board.fen()} [{'0.0' if i % 3 else '1.0'}]\n" for i, board in enumerate(boards)
    )


def folder_of(path, **files: bytes | str):
    path.mkdir()
    for name, content in files.items():
        (path / name.replace("_", ".")).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    return path


def test_of_a_folder_the_files_with_games_are_read(tmp_path):
    folder = folder_of(
        tmp_path / "games",
        a_pgn=games("e4"),
        b_book=labelled(5),
        c_csv="fen,result\n" + labelled(3, 2).replace(" [", ",").replace("]", ""),
        d_pgn_gz=gzip.compress(games("e3").encode()),
        README_md="# Games\n\nof Saturday\n",
        params_yaml="game: chess\n",
        notes_txt="bring milk\n",
    )
    (folder / ".hidden.pgn").write_text("x")
    (folder / "inner.pgn").mkdir()
    ran = done("dataset", folder, "-o", tmp_path / "out", "--positions", "all", "--skip-start", "0")
    assert "read 10 games, used 10" in ran.err
    assert "skipped" not in ran.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [source["file"] for source in manifest["sources"]] == [
        "a.pgn",
        "b.book",
        "c.csv",
        "d.pgn.gz",
    ]


def test_an_unreadable_file_of_a_folder_is_noted_and_skipped(tmp_path):
    folder = folder_of(
        tmp_path / "games",
        a_pgn_gz=b"no archive",
        b_pgn=games("e4", "e3").encode("utf-16"),
        c_pgn=bytes(40_000_000),
        d_pgn=games("e4"),
    )
    ran = done("dataset", folder, "-o", tmp_path / "out", "--positions", "all")
    notes = [line for line in ran.err.splitlines() if "skipped" in line]
    assert [note.split(": ")[0] for note in notes] == [
        str(folder / "a.pgn.gz"),
        str(folder / "c.pgn"),
    ]
    assert all(note.endswith("; file skipped") for note in notes)
    assert "read 3 games, used 2, 1 duplicates" in ran.err


def many(n: int, seed: int = 1) -> str:
    """n games that differ."""
    rng = random.Random(seed)
    openings = [
        f"{white} {black}"
        for white in ("b3", "d3", "e3", "g3")
        for black in ("a6", "b6", "d6", "e6", "g6", "h6")
    ]
    line = "1. {} 2. Nf3 Nf6 3. Ng1 Ng8 4. Nf3 Nf6 5. Ng1 Ng8 6. {} 1-0"
    lines = [line.format(openings[i % 24], rng.choice(["Nc3", "Na3", "Nh3"])) for i in range(n)]
    return "".join(f'[Event "{rng.random()}"]\n[Result "1-0"]\n\n{line}\n\n' for line in lines)


def test_of_a_truncated_file_of_a_folder_the_complete_games_are_kept_with_a_note(tmp_path):
    whole = gzip.compress(many(3000).encode())
    folder = folder_of(tmp_path / "games", a_pgn_gz=whole[: len(whole) * 2 // 3], b_pgn=games("e4"))
    ran = done(
        "dataset", folder, "-o", tmp_path / "out", "--positions", "all", "--duplicates", "keep"
    )
    (note,) = [line for line in ran.err.splitlines() if "truncated gz archive" in line]
    kept = int(
        note.rsplit("only the first ", 1)[1]
        .removesuffix(" games of this file were read")
        .replace(",", "")
    )
    assert 1500 < kept < 2500
    assert f"read {kept + 1:,} games, used {kept + 1:,}" in ran.err
    alone = file_with(tmp_path / "alone.pgn", many(kept))
    done(
        "dataset",
        alone,
        tmp_path / "games" / "b.pgn",
        "-o",
        tmp_path / "same",
        "--positions",
        "all",
        "--duplicates",
        "keep",
    )
    one, other = open_dataset(tmp_path / "out"), open_dataset(tmp_path / "same")
    assert np.array_equal(one.index, other.index)
    assert np.array_equal(one.game, other.game)


@pytest.mark.parametrize("strict", [True, False])
def test_a_truncated_file_is_refused_if_named_or_read_strictly(strict, tmp_path):
    folder = folder_of(
        tmp_path / "games", a_pgn_gz=gzip.compress(games("e4").encode())[:-4], b_pgn=games("d4")
    )
    what = [folder, "--strict"] if strict else [folder / "a.pgn.gz", folder]
    said = refused("dataset", *what, "-o", tmp_path / "out")
    assert said.startswith(f"tuner: {folder / 'a.pgn.gz'}: truncated gz archive")


def test_a_folder_without_games_is_refused(tmp_path):
    folder = folder_of(tmp_path / "games", README_md="# Games\n", params_yaml="game: chess\n")
    ran = tuner("dataset", folder, "-o", tmp_path / "out")
    kinds = ".pgn or .epd or .fen or .plain"
    assert (ran.status, ran.err) == (
        2,
        f"tuner: {folder}: holds no {kinds} file and is not a dataset\n",
    )


def test_labelled_positions_are_read_from_standard_input(tmp_path):
    text = labelled(500)
    (tmp_path / "a.book").write_text(text)
    done("dataset", "-", "-o", tmp_path / "one", stdin=text.encode())
    done("dataset", tmp_path / "a.book", "-o", tmp_path / "other")
    one, other = open_dataset(tmp_path / "one"), open_dataset(tmp_path / "other")
    assert one.positions == other.positions == 500
    assert np.array_equal(one.index, other.index)


def test_everything_that_rows_hold_is_selected(tmp_path):
    """The rest, fractions of counts, scales, scores and texts as well."""
    batch = random_rows(1, 300)
    batch = only(batch, np.isfinite(batch.outcome))
    parameters = Parameters("chess", SMALL, STAGES, np.zeros((2, SMALL.size)))
    data, _, _ = build_rows([batch], tmp_path / "all", parameters, [])
    keep = np.random.default_rng(2).random(data.positions) < 0.6
    chosen = selected(data, keep, tmp_path / "some")
    (wanted,), (found,) = list(batches_of(data)), list(batches_of(chosen))
    wanted = only(wanted, keep)
    assert (wanted.count != np.rint(wanted.count)).any() and wanted.rest.any() and any(wanted.text)
    for name in wanted._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    assert chosen.game.tolist() == list(dict.fromkeys(wanted.game.tolist()))
