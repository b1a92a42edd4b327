"""Labeled positions: results in three spellings, games by id, bad lines reported."""

import itertools
import math
import random
import re

import chess
import numpy as np
import pytest

from games import streams
from games.chess import game
from games.chess.files import content, epd, faults, pgn
from games.chess.files.fen import position
from games.record import ReadOptions, ReadReport
from games.streams import InputError
from tests.games.support import random_boards, read, rows
from tests.support import file_with, refusal

BOARD = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -"
LABELS = [
    ('c9 "1-0";', 1.0),
    ('c9 "0-1";', -1.0),
    ('c9 "1/2-1/2";', 0.0),
    ('hmvc 3; fmvn 7; c9 "1-0"; id "a 1";', 1.0),
    ('bm Nf3; ce 31; c9 "0-1";', -1.0),
    ('c9 "1.0";', 1.0),
    ('c9 "0.25";', -0.5),
    ("c9 0-1; ce 1.0;", -1.0),
    ('c9 "1/2";', 0.0),
    ('ce 0.35; c9 "1-0";', 1.0),
    ('c1 "0.35"; c9 "0-1";', -1.0),
    ('0 12; c9 "0-1";', -1.0),
    ("[1.0]", 1.0),
    ("[0.5]", 0.0),
    ("[0.0]", -1.0),
    ("0 12 [0.5]", 0.0),
    ("[0.5] 31", 0.0),
    ("[1]", 1.0),
    ("[0]", -1.0),
    ("[ 0.5 ]", 0.0),
    ("[.75]", 0.5),
    ("[0.6]", 0.2),
    ("[1-0]", 1.0),
    ("[1/2-1/2]", 0.0),
    ("[1/2]", 0.0),
    ("[\xbd-\xbd]", 0.0),
    ("; [1.0]", 1.0),
    ("0 12; [0.5]", 0.0),
    (";[0.0]", -1.0),
    ("7 [1.0]", 1.0),
    ("ce 0.35; [1.0]", 1.0),
    ("[1.0] 1", 1.0),
    ('c9 "1-0"; [1.0]', 1.0),
    ("| 35 | 1.0", 1.0),
    ("0 1 | -35 | 0.0", -1.0),
    ("0 1|0.35|0.5", 0.0),
    ("| 0.35 | 1.0", 1.0),
    ("| 1 | 0", -1.0),
    ("0 1 | +12 | 1-0", 1.0),
    ("| 0 | 1/2", 0.0),
    ("| 0 | [0.5]", 0.0),
]


def epd_file(folder, text: str):
    return file_with(folder / "positions.epd", text.encode("latin-1"))


@pytest.mark.parametrize(("label", "outcome"), LABELS)
def test_results_are_read_in_every_spelling(label, outcome, tmp_path):
    batches, report, notes = read(epd_file(tmp_path, f"{BOARD} {label}\n"))
    assert (notes, report.positions, report.games, report.bad) == ([], 1, 1, 0)
    assert batches[0].outcomes.tolist() == pytest.approx([outcome])
    numbers = list(itertools.takewhile(str.isdigit, re.split(r"[;|,]", label)[0].split()))
    counters = " ".join(numbers + ["0", "1"][len(numbers) :])
    if label.startswith("hmvc 3; fmvn 7"):
        counters = "3 7"
    assert rows(batches).tolist() == [position(f"{BOARD} {counters}").tolist()]


def test_positions_and_results_are_those_that_python_chess_reads(tmp_path):
    rng, text, wanted, outcomes = random.Random(41), "", [], []
    for board in random_boards(41, 10, 80):
        label = rng.choice(["1-0", "0-1", "1/2-1/2"])
        line = board.epd(
            c9=label, bm=list(board.legal_moves)[:1], id=f"{len(wanted)}", hmvc=board.halfmove_clock
        )
        read_back = chess.Board()
        assert read_back.set_epd(line)["c9"] == label
        wanted.append(position(" ".join(board.fen().split()[:5])))
        outcomes.append({"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}[label])
        text += line + "\n"
    batches, report, _ = read(epd_file(tmp_path, text))
    assert np.array_equal(rows(batches), wanted)
    assert np.concatenate([batch.outcomes for batch in batches]).tolist() == outcomes
    assert report.games == report.positions == len(wanted)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (BOARD, faults.EPD_RESULT),
        (f"{BOARD} 0 1", faults.EPD_RESULT),
        (f'{BOARD} bm e4; id "1-0";', faults.EPD_RESULT),
        (f"{BOARD} [0.5.5]", faults.EPD_RESULT),
        (f"{BOARD} []", faults.EPD_RESULT),
        (f"{BOARD} [win]", faults.EPD_RESULT),
        (f'{BOARD} c9 "white";', faults.EPD_RESULT),
        (f"{BOARD} | 0.5", faults.EPD_RESULT),
        (f"{BOARD} | 1-0", faults.EPD_RESULT),
        (f"{BOARD} | 1-0 | 0.35", faults.EPD_RESULT),
        (f"{BOARD} | e2e4 | 1.0", faults.EPD_RESULT),
        (f"{BOARD} | 35 | 1.0 | 0.5", faults.EPD_RESULT),
        (f"{BOARD} | 35 | w", faults.EPD_RESULT),
        (f"{BOARD} | 0.35 | ", faults.EPD_RESULT),
        (f"{BOARD},0.5", faults.EPD_RESULT),
        (f"{BOARD};w", faults.EPD_RESULT),
        (f"{BOARD} 1-0", faults.EPD_RESULT),
        (f"{BOARD} 0 1 0.35 1.0", faults.EPD_RESULT),
        (f"{BOARD} ; 1.0", faults.EPD_RESULT),
        (f'{BOARD} c8 "1-0";', faults.EPD_RESULT),
        (f'{BOARD} c9 "1-0"; [0.0]', faults.EPD_AMBIGUOUS),
        (f"{BOARD} [1.0] [*]", faults.EPD_AMBIGUOUS),
        ("nonsense [0.5]", faults.FEN_PLACEMENT),
        ("8/8/8/8/8/8/8/4K3 w - - [0.5]", faults.FEN_KINGS),
        ("4k3/8/8/8/8/8/8/4R1K1 w - - [0.5]", faults.FEN_CHECK),
        ("[0.5]", faults.FEN_PLACEMENT),
        ("\xff\x00", faults.FEN_PLACEMENT),
    ],
)
def test_a_bad_line_is_reported_with_its_number_and_the_rest_is_read(line, fault, tmp_path):
    good = f"{BOARD} [1.0]\n"
    path = epd_file(tmp_path, f"{good}\n# a remark\n{good}  {line}\n{good}")
    batches, report, notes = read(path)
    assert notes == [f"{path}:5: {faults.SENTENCES[fault]}; line skipped"]
    assert (report.positions, report.bad, report.faults) == (3, 1, {faults.SENTENCES[fault]: 1})
    assert batches[0].outcomes.tolist() == [1.0] * 3
    assert re.search(
        r"positions\.epd:5: .*; fix it, or leave out --strict", refusal(read, path, strict=True)
    )


def test_undecided_lines_are_counted_and_left_out(tmp_path):
    _, report, notes = read(epd_file(tmp_path, f'{BOARD} c9 "*";\n{BOARD} [1.0]\n{BOARD} [*]\n'))
    assert (report.undecided, report.positions, report.bad, notes) == (2, 1, 0, [])


def test_lines_with_the_same_id_are_one_game(tmp_path):
    names = ["a", "a", "b", None, None, "b", "c"]
    text = "".join(f"{BOARD} [1.0]" + (f'; id "{name}"' if name else "") + "\n" for name in names)
    (batch,), report, _ = read(epd_file(tmp_path, text))
    assert batch.first.tolist() == [0, 2, 3, 4, 5, 6]
    assert report.games == report.used == 6
    assert batch.identities[1] == batch.identities[4]  # b
    assert len(set(batch.identities.tolist())) == 5


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_numbers_and_games_do_not_depend_on_the_line_ends(end, tmp_path):
    lines = [f"{BOARD} [1.0]", "", "bad", f"{BOARD} [0.5]", "bad as well"]
    (batch,), report, notes = read(epd_file(tmp_path, end.join(lines) + end))
    assert [note.split(":")[1] for note in notes] == ["3", "5"]
    (plain,), _, _ = read(epd_file(tmp_path, "\n".join(lines)))
    assert batch.identities.tolist() == plain.identities.tolist()
    assert (report.games, report.bad) == (2, 2)


def shuffled_lines(seed: int) -> str:
    rng, text = random.Random(seed), ""
    for board in random_boards(seed, 6, 40):
        label = rng.choice(["[1.0]", '; c9 "0-1"', "; [0.5]", "[*]", "", "[x]"])
        name = f'; id "{rng.randrange(30)}"' if rng.random() < 0.5 else ""
        text += f"{board.fen()} {label}{name}" + rng.choice(["\n", "\r\n", "\n\n", "\r"])
    return text


@pytest.mark.parametrize(("window", "room"), [(4, 1 << 15), (60, 1), (500, 7)])
def test_the_size_of_the_reading_window_changes_nothing(window, room, tmp_path, monkeypatch):
    path = epd_file(tmp_path, "\xef\xbb\xbf" + shuffled_lines(42))

    def everything():
        batches, report, notes = read(path, duplicates="positions")
        identities = [
            np.repeat(batch.identities, np.diff([*batch.first, len(batch.positions)]))
            for batch in batches
        ]
        return (
            rows(batches).tolist(),
            np.concatenate([batch.outcomes for batch in batches]).tolist(),
            np.concatenate(identities).tolist(),
            report,
            notes,
        )

    whole = everything()
    assert whole[3].bad > 20
    for module, name, value in [
        (pgn, "WINDOW", window),
        (streams, "PIECE", window),
        (streams, "COMPRESSED_PIECE", window),
        (epd, "ROOM", room),
    ]:
        monkeypatch.setattr(module, name, value)
    assert everything() == whole


def test_duplicate_positions_are_dropped_even_where_a_whole_stretch_holds_nothing_else(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(epd, "ROOM", 4)
    text = f"{BOARD} [1.0]\n" * 10 + f"{chess.STARTING_FEN} [0.5]\n" + f"{BOARD} [0.0]\n" * 10
    batches, report, _ = read(epd_file(tmp_path, text), duplicates="positions")
    assert np.array_equal(rows(batches), [position(f"{BOARD} 0 1"), position(chess.STARTING_FEN)])
    assert (report.positions, report.duplicate_positions, report.games) == (2, 19, 2)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark\n"])
def test_a_file_without_positions_gives_none(text, tmp_path):
    assert read(epd_file(tmp_path, text))[0] == []


def test_a_header_names_the_column_of_the_result(tmp_path):
    text = (
        "# made by"
        f" hand\n\nFEN,eval,Result,depth\n{BOARD},0.35,1.0,12\n"
        f"{BOARD},-20,1/2-1/2,\n{BOARD},3,0,\n{BOARD},3\n{BOARD} [1.0]\n"
    )
    batches, report, notes = read(epd_file(tmp_path, text))
    assert np.concatenate([batch.outcomes for batch in batches]).tolist() == [1.0, 0.0, -1.0, 1.0]
    assert [note.split(":")[1] for note in notes] == ["7"]
    assert report.faults == {faults.SENTENCES[faults.EPD_RESULT]: 1}


@pytest.mark.parametrize(
    "labels",
    [
        *(["[1]", "[-1]", "[0]"], ["[0]", "[2]", "[1]"], ["[0]", "[100]", "[50]"]),
        *(["| 35 | 1", "| -35 | -1"], ["| 35 | 1", "| 35 | 2"], ["| 0 | 0.5", "| 35 | 35"]),
        *(['c9 "1";', 'c9 "-1.0";'], ["c9 0;", "c9 2.0;"], ["[0.5]", "[-0.5]"], ["[0]", "[+1]"]),
    ],
)
def test_results_of_another_scale_are_refused_with_the_first_line(labels, tmp_path):
    text = "".join(f"{BOARD} {label}\n" for label in labels)
    assert "positions.epd:2: results are of another scale" in refusal(
        read, epd_file(tmp_path, text)
    )


CSV_ROWS = [("1.0", "35.0", 1.0), ("0", "-20", -1.0), ("1/2-1/2", "", 0.0), ("0.25", "7", -0.5)]


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "columns", ["fen score wdl", "index result fen x score", "score Position outcome"]
)
def test_csv_is_read_by_its_header(columns, delimiter, quote, tmp_path):
    names = [name.replace("index", "") for name in columns.split()]
    text = (
        "# by hand, fen,result\n" + delimiter.join(f"{quote}{name}{quote}" for name in names) + "\n"
    )
    for number, (result, score, _) in enumerate(CSV_ROWS):
        fields = {"fen": BOARD, "position": BOARD, "score": score, "": str(number), "x": "a, b"}
        fields = [fields.get(name.lower(), result) for name in names]
        text += delimiter.join(
            f'"{field}"' if quote or delimiter in field else field for field in fields
        )
        text += "\n"
    (batch,), report, notes = read(epd_file(tmp_path, text))
    assert notes == [] and report.bytes == len(text)
    assert batch.outcomes.tolist() == [outcome for *_, outcome in CSV_ROWS]
    assert batch.scores.tolist() == pytest.approx([35, -20, math.nan, 7], nan_ok=True)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            f"{BOARD},0.35,1",
            "positions.epd:3: the score is '0.35', expected a whole number of centip",
        ),
        (f"{BOARD},mate soon,1", "positions.epd:3: the score is 'mate soon', expected a whole"),
        (f"{BOARD},35,-1", "positions.epd:3: results are of another scale"),
        (f'{BOARD},35,"' + "x" * 200_000, "positions.epd:3: not a row of CSV"),
    ],
)
def test_faults_of_csv_are_named(row, message, tmp_path):
    assert message in refusal(read, epd_file(tmp_path, f"fen,score,result\n{BOARD},35,1\n{row}\n"))


def test_clocks_are_read_from_operations(tmp_path):
    lines = [
        ("hmvc 90; fmvn 70; [1.0]", "90 70"),
        ('fmvn 70; c9 "1-0"; hmvc 3;', "3 70"),
        ('c9 "1-0"; c0 "hmvc 90; fmvn 2";', "0 1"),
        ("[1.0]; hmvc  300;", "255 1"),
        ("hmvc x; fmvn; [1.0]", "0 1"),
        ("5 6 hmvc 90; [1.0]", "5 6"),
    ]
    (batch,), _, notes = read(epd_file(tmp_path, "".join(f"{BOARD} {text}\n" for text, _ in lines)))
    assert notes == []
    assert batch.positions.tolist() == [
        position(f"{BOARD} {clocks}").tolist() for _, clocks in lines
    ]


@pytest.mark.parametrize("header", ["FEN,Evaluation", "fen,score"])
def test_a_header_that_names_no_result_is_refused(header, tmp_path):
    assert re.search(
        "positions.epd: columns .*; expected fen,result",
        refusal(read, epd_file(tmp_path, f"{header}\n{BOARD},0\n")),
    )


def test_a_header_that_names_two_results_is_refused(tmp_path):
    assert "several columns of results (result, wdl); keep one" in refusal(
        read, epd_file(tmp_path, f"fen,result,wdl\n{BOARD},0,0\n")
    )


@pytest.mark.parametrize(
    ("score", "centipawns"),
    [
        *(("#3", math.inf), ("#-3", -math.inf), ("-M5", -math.inf), ("M12", math.inf)),
        *(("mate 2", math.inf), ("mate -2", -math.inf), ("#0", math.nan), ("25000", math.inf)),
    ],
)
def test_mates_in_the_column_of_scores_are_read_as_in_pgn(score, centipawns, tmp_path):
    (batch,), _, notes = read(epd_file(tmp_path, f"fen,result,score\n{BOARD},1.0,{score}\n"))
    assert notes == []
    assert batch.scores.tolist() == pytest.approx([centipawns], nan_ok=True)


RECORDS = [  # side to move, score, ply, result, as Stockfish's tools write them
    *(("w", 54, 10, 1), ("b", -32, 11, -1), ("w", 32000, 14, 1)),  # a game that White wins
    *(("b", 100, 3, 1), ("w", -100, 4, -1)),  # and one of Black
    *(("b", 0, 5, 0), ("b", 7, 5, 0)),  # two drawn ones
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_records_of_stockfish_are_those_of_the_side_to_move(end, tmp_path):
    text = "".join(
        end.join([f"fen 4k3/8/8/8/8/8/4P3/4K3 {side} - - 0 1", "move e1d1", f"score {score}"])
        + end.join(["", f"ply {ply}", f"result {result}", "e", ""])
        for side, score, ply, result in RECORDS
    )
    (tmp_path / "a.plain").write_text(text + f"fen {BOARD}{end}score 1{end}e{end}", newline="")
    (batch,), report, notes = read(tmp_path / "a.plain")
    sign = {"w": 1, "b": -1}
    assert batch.outcomes.tolist() == [sign[side] * result for side, _, _, result in RECORDS]
    assert batch.scores.tolist() == [
        math.inf if score == 32000 else sign[side] * score for side, score, _, _ in RECORDS
    ]
    assert batch.first.tolist() == [0, 3, 5, 6]
    assert report.bad == len(notes) == 1 and "no result" in notes[0]


@pytest.mark.parametrize("side", "wb")
@pytest.mark.parametrize("fields", [4, 6])
@pytest.mark.parametrize(
    ("label", "outcome"),
    [(" [1.0]", 1.0), (" [0.0]", -1.0), (" | -5 | 1.0", 1.0)],
)
def test_results_are_those_of_white_whoever_is_to_move(side, fields, label, outcome, tmp_path):
    fen = " ".join(f"4k3/8/8/8/8/8/8/4K2R {side} - - 12 34".split()[:fields])
    (batch,), _, _ = read(epd_file(tmp_path, f"{fen}{label}\n"))
    assert batch.outcomes.tolist() == [outcome]
    assert batch.positions.tolist() == [position(fen if fields == 6 else f"{fen} 0 1").tolist()]


def test_a_line_longer_than_the_limit_is_an_error_behind_the_lines_before_it(tmp_path, monkeypatch):
    monkeypatch.setattr(pgn, "WINDOW", 500)
    monkeypatch.setattr(pgn, "MAX_GAME_BYTES", 2000)
    monkeypatch.setattr(streams, "COMPRESSED_PIECE", 500)
    monkeypatch.setattr(streams, "PIECE", 500)
    good = f"{BOARD} [1.0]\n"
    report, positions = ReadReport(), 0
    with pytest.raises(
        InputError,
        match=f"byte {2 * len(good)}: more than 2,000 bytes without the end of a game or line",
    ):
        for batch in game.read(
            str(epd_file(tmp_path, good * 2 + "x" * 9000)),
            ReadOptions(positions="all"),
            report,
            print,
        ):
            positions += len(batch.positions)
    assert positions == 2


@pytest.mark.parametrize("rubbish", [b"\n" * 40_000, b"x\n" * 20_000, b"# x\n" * 10_000])
def test_a_file_is_given_up_where_no_position_comes_for_long(rubbish, tmp_path, monkeypatch):
    monkeypatch.setattr(pgn, "WINDOW", 500)
    monkeypatch.setattr(epd, "MAX_GAME_BYTES", 5000)
    monkeypatch.setattr(content, "START", 500)
    monkeypatch.setattr(epd, "START", 500)
    monkeypatch.setattr(streams, "COMPRESSED_PIECE", 500)
    monkeypatch.setattr(streams, "PIECE", 500)
    path = tmp_path / "positions.epd"
    good = f"{BOARD} [1.0]\n".encode()
    path.write_bytes(good + rubbish)
    assert re.search(
        r"byte \d+: no position in 5,000 bytes; expected lines of EPD or FEN", refusal(read, path)
    )
    path.write_bytes((rubbish[:4000] + good) * 5)
    assert read(path)[1].positions == 5
