"""What readers of all games do alike: faults of a file, and files of other games."""

import os
import re
import threading

import pytest
import zstandard

from games.reading import MOST_NOTES, Faults
from games.record import ReadOptions, ReadReport, available, find
from games.streams import pieces
from tests.conftest import SAMPLES
from tests.support import file_with, refusal
from tuner.io.files import bundled


@pytest.mark.parametrize(
    ("game", "name", "bad"),
    [
        ("shogi", "bad.csa", "V2.2\nPI\n+\n+5544FU\n%TORYO\n/\n"),
        ("tictactoe", "bad.ttt", "1-0 a1 a1\n"),
    ],
)
def test_many_bad_games_are_counted_and_a_thousand_noted(tmp_path, game, name, bad):
    path = file_with(tmp_path / name, bad * (MOST_NOTES + 7))
    notes, report = [], ReadReport()
    read = find(game).files.read(str(path), ReadOptions(positions="all"), report, notes.append)
    assert sum(len(batch.positions) for batch in read) == 0
    assert report.bad == report.games == sum(report.faults.values()) == MOST_NOTES + 7
    assert len(notes) == MOST_NOTES + 1 and notes[-1] == f"{path}: 7 more bad games skipped"


def test_the_first_fault_ends_a_strict_reading():
    assert re.search(
        "^a.csa:3: no such move; fix it, or leave out --strict to skip such games$",
        refusal(
            Faults("a.csa", "game", True, ReadReport(), pytest.fail).add, 3, "no such move", "move"
        ),
    )


PGN = '[Event "?"]\n\n1. e4 e5 1-0\n'
OWN = {"chess": PGN, "tictactoe": "1-0 a1 b1 a2 b2 a3\n"}
SAMPLES_OF = {
    "chess": (SAMPLES, ".pgn"),
    "shogi": (SAMPLES.with_name("fairy400.csa.zst"), ".csa"),
    "backgammon": (SAMPLES.with_name("pubeval.mat.zst"), ".mat"),
}


def read(game: str, path) -> tuple[ReadReport, list[str]]:
    report, notes = ReadReport(), []
    list(find(game).files.read(str(path), ReadOptions(positions="all"), report, notes.append))
    return report, notes


FOREIGN = {
    "a.ki2": ("開始日時：2020/01/01\n▲７六歩 △３四歩\n", "KI2"),
    "a.txt": ("手合割：平手\n▲７六歩 △３四歩\n", "KI2"),
    "a.sgf": ("(;FF[4]GM[6]CA[UTF-8])", "SGF"),
    "b.txt": ("(;FF[4]GM[6]CA[UTF-8])", "SGF"),
    "c.txt": ("XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:0:10\n", "XGID"),
    "a.jsonl": ('{"fen":"8/8/8/4k3/8/4K3/8/8 w - -","evals":[{"depth":9}]}\n', "CSV"),
    "a.binpack": ("BINP\0\0", "plain"),
}


@pytest.mark.parametrize("game", SAMPLES_OF)
@pytest.mark.parametrize("name", FOREIGN)
def test_formats_that_no_game_reads_are_refused_by_their_name(name, game, tmp_path):
    content, word = FOREIGN[name]
    (tmp_path / name).write_text(content)
    assert re.search(f"{name}: is .*{word}", refusal(read, game, tmp_path / name))


def cases() -> list[tuple[str, str]]:
    return [(own, other) for own in OWN for other in SAMPLES_OF if own != other]


@pytest.mark.parametrize(("own", "other"), cases())
def test_a_sample_of_another_game_is_refused_by_its_suffix(own, other):
    path, suffix = SAMPLES_OF[other]
    said = refusal(read, own, path)
    files = ", ".join(find(own).files.suffixes)
    assert (
        said
        == f"{path}: is named as a file of {other} ({suffix}) and does not begin as one of {own};"
        f" give parameters of {other}, such as {other}/classic, or files of {own} ({files})"
    )


@pytest.mark.parametrize(("own", "other"), cases())
def test_it_is_refused_by_its_beginning_without_a_suffix(own, other, tmp_path):
    path, compressed = tmp_path / "games", tmp_path / "games.txt.zst"
    path.write_bytes(next(iter(pieces(SAMPLES_OF[other][0])))[:20_000])
    compressed.write_bytes(zstandard.compress(path.read_bytes()))
    for source in (path, compressed):
        assert re.search(
            f"begins as a file of {other}, not of {own}; give parameters of {other}, such as ",
            refusal(read, own, source),
        )


@pytest.mark.parametrize("name", ["a.csa", "a.mat", "a.kif", "a.bin", "a.csv", "a.ttt", "a.pgn"])
@pytest.mark.parametrize("own", OWN)
def test_a_file_of_the_game_is_read_whatever_its_suffix(own, name, tmp_path):
    path = file_with(tmp_path / name, OWN[own])
    report, notes = read(own, path)
    assert (report.used, notes) == (1, [])


@pytest.mark.parametrize("name", ["a.mat", "a.csa"])
def test_games_of_chess_without_tags_or_after_remarks_are_read(name, tmp_path):
    path = tmp_path / name
    for text in (
        "1. e4 e5 1-0\n",
        "; by hand\n\n1.e4 e5 1-0\n",
        f"% escaped\n{PGN}",
        "{of Saturday}\n1. Nf3 d5 1-0\n",
    ):
        path.write_text(text)
        assert read("chess", path)[0].used == 1, text


def test_a_suffix_of_the_game_and_files_of_no_game_are_left_to_the_reader(tmp_path):
    for name in ("a.pgn", "a.txt"):
        (tmp_path / name).write_text("dear reader,\nthis is a letter\n")
        assert read("chess", tmp_path / name)[0].bad == 1


def test_a_pipe_is_not_looked_at(tmp_path):
    path = tmp_path / "pipe.mat"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(PGN,))
    writer.start()
    report, _ = read("chess", path)
    writer.join()
    assert report.used == 1


def test_every_game_whose_parameters_are_advised_has_them():
    assert {f"{game}/classic" for game in available()} <= set(bundled())
