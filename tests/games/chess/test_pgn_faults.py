"""Bad games: each is reported with file, number, byte and reason, and the games around it are
read."""

from pathlib import Path

import chess
import numpy as np
import pytest

from games.chess.files import faults
from games.chess.files.fen import position
from games.chess.files.pgn import parsed
from games.chess.files.tokens import BLACK_ELO, FAULT, PLIES, RESULT, WHITE_ELO
from tests.games.support import games_of_bytes, oracle_games, read
from tests.support import file_with, refusal

GOOD = '[Event "good"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'


def game(moves: str, *tags: str) -> str:
    return '[Event "bad"]\n' + "".join(f"[{tag}]\n" for tag in tags) + f"\n{moves}\n\n"


def read_text(folder: Path, text: str) -> tuple:
    """Batches, report and notes of a file with this text."""
    (folder / "a.pgn").write_text(text, newline="")
    return read(folder / "a.pgn")


def start(fen: str) -> str:
    return game("1. Ke2 *", f'FEN "{fen}"')


# fault: a game (or the last one of a file) with it, and the place that is reported
BAD = [
    (faults.FEN_PLACEMENT, start("4k3/8/8/8/8/8/4K3 w - - 0 1"), "4k3/8"),
    (faults.FEN_SIDE, start("4k3/8/8/8/8/8/8/4K3 white - - 0 1"), "4k3/8"),
    (faults.FEN_CASTLING, start("4k3/8/8/8/8/8/8/4K3 w K - 0 1"), "4k3/8"),
    (faults.FEN_EN_PASSANT, start("4k3/8/8/8/8/8/8/4K3 w - e5 0 1"), "4k3/8"),
    (faults.FEN_KINGS, start("8/8/8/8/8/8/8/4K3 w - - 0 1"), "8/8/8"),
    (faults.FEN_PAWNS, start("4k2p/8/8/8/8/8/8/4K3 w - - 0 1"), "4k2p"),
    (faults.FEN_MATERIAL, start("4k3/8/8/8/8/PP6/PPPPPPPP/4K3 w - - 0 1"), "4k3/8"),
    (faults.FEN_CHECK, start("4k3/8/8/8/8/8/8/K3R3 w - - 0 1"), "4k3/8"),
    (faults.FEN_COUNTS, start("4k3/8/8/8/8/8/8/4K3 w - - 3+3 0 1"), "4k3/8"),
    (faults.FEN_SHORT, start("4k3/8/8/8/8/8/8/4K3 w -"), "4k3/8"),
    (faults.TAG, game("1. e4 *", 'White "A'), '[White "A'),
    (faults.TAG, game("1. e4 *", 'White A"'), '[White A"'),
    (faults.TAG, game("1. e4 *", '"White"'), '["White"'),
    (faults.VARIANT, game("1. e4 d5 2. exd5 Qxd5 3. P@e4 *", 'Variant "Crazyhouse"'), "Crazyhouse"),
    (faults.VARIANT, game("1. e4 *", 'Variant "Atomic"'), "Atomic"),
    (faults.NOT_A_MOVE, game("1. e4 xyzzy e5 *"), "xyzzy"),
    (faults.NOT_A_MOVE, game("1. e4 e5 2. N@f3 *"), "N@f3"),
    (faults.NOT_A_MOVE, game("1. e4 e5 2. \u2658f3 *"), "\u2658f3"),
    (faults.NOT_A_MOVE, game("1. e4 e5 2. Sf3 *"), "Sf3"),
    (faults.NOT_A_MOVE, game("1. e4 \0 e5 *"), "\0"),
    (faults.NOT_A_MOVE, game("1. e4 e5 1/3"), "1/3"),
    (faults.NOT_A_MOVE, game("1. e4 } e5 *"), "}"),
    (faults.ILLEGAL, game("1. e4 e5 2. Bb6 *"), "Bb6"),
    (faults.ILLEGAL, game("1. e4 e5 2. Ke2 Ke7 3. Ke4 *"), "Ke4"),
    (faults.ILLEGAL, game("1. e4 f6 2. Qh5+ a6 *"), "a6"),
    (faults.ILLEGAL, game("1. f3 e5 2. g4 Qh4# 3. a3 *"), "a3"),
    (faults.AMBIGUOUS, game("1. Nf3 Nf6 2. d3 d6 3. Nd2 *"), "Nd2"),
    (faults.PROMOTION, game("1. a8 *", 'FEN "7k/P7/8/8/8/8/8/K7 w - - 0 1"'), "a8 "),
    (faults.NULL_MOVE, game("1. e4 -- 2. d4 *"), "--"),
    (faults.NULL_MOVE, game("1. e4 0000 2. d4 *"), "0000"),
    (faults.CLOSING, game("1. e4 ) e5 *"), ")"),
    (faults.VARIATION, game("1. e4 (1. d4 (1. c4) e5 *"), None),
    (faults.COMMENT, game("1. e4 {and so on e5 *"), "{"),
    (faults.NO_RESULT, game("1. e4 e5"), None),
    (faults.NO_RESULT, game(""), None),
    (faults.RESULTS, game("1. e4 e5 0-1", 'Result "1-0"'), "0-1"),
    (faults.RESULTS, game("1. e4 (1. d4 1-0) e5 1/2-1/2", 'Result "1-0"'), "1/2-1/2"),
    (faults.AFTER_RESULT, game("1. e4 e5 1-0 0-1"), "0-1\n"),
    (faults.AFTER_RESULT, game("1. e4 e5 1-0 *"), "*\n"),
    (faults.AFTER_RESULT, game("1. e4 e5 1-0 2. Nf3"), "2. Nf3"),
]
EXAMPLES = pytest.mark.parametrize(("fault", "text", "place"), BAD)


@EXAMPLES
def test_a_bad_game_is_reported_with_file_number_byte_and_reason(fault, text, place, tmp_path):
    path = tmp_path / "games.pgn"
    content = (GOOD * 2 + text + GOOD).encode()
    path.write_bytes(content)
    at = content.index(place.encode(), 2 * len(GOOD)) if place else len(content) - len(GOOD)
    batches, report, notes = read(path)
    (note,) = notes
    assert note.startswith(f"{path}: game 3 (byte {at}): ")
    assert note.endswith("; game skipped")
    assert (report.games, report.used, report.bad, report.faults) == (
        4,
        3,
        1,
        {faults.kind_of_fault(fault): 1},
    )
    assert report.bytes == len(content)
    assert [len(batch.first) for batch in batches] == [3]


@EXAMPLES
def test_the_last_game_of_a_file_is_reported_as_any_other(fault, text, place, tmp_path):
    games = games_of_bytes((GOOD + text.rstrip()).encode(), tmp_path)
    assert [game.fault for game in games] == [faults.OK, fault]


@EXAMPLES
def test_strict_reading_stops_at_the_first_bad_game(fault, text, place, tmp_path):
    path = file_with(tmp_path / "games.pgn", GOOD + text + GOOD + text)
    said = refusal(read, path, strict=True)
    assert f"{path}: game 2 (byte " in said
    assert "fix it, or leave out --strict to skip such games" in said


def test_every_fault_of_a_game_has_an_example_here():
    assert {fault for fault, _, _ in BAD} == set(
        range(faults.FEN_PLACEMENT, faults.AFTER_RESULT + 1)
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1. e4 e5 2. Bb6 *", "illegal move 'Bb6' at ply 3"),
        ("1. e4 e5 2. \u2658f3 *", "'\u2658f3 *' at ply 3 is not a move"),
        (f"1. {'e' * 70} *", f"'{'e' * 37}...' at ply 1 is not a move"),
        ("1. e4 0-0-0-0 *", "'0-0-0-0' at ply 2 is not a move"),
        ("1. e4 O-O *", "illegal move 'O-O' at ply 2"),
        ("1. e4 e5", "the moves end at ply 2 without a result (1-0, 0-1, 1/2-1/2 or *)"),
        ("1. e4 (1. d4", "a variation is never closed"),
    ],
)
def test_the_reason_names_the_token_and_the_ply(text, reason, tmp_path):
    (bad,) = games_of_bytes(game(text).encode(), tmp_path)
    assert bad.reason == reason


def test_every_bad_move_is_one_that_python_chess_refuses_too(tmp_path):
    for fault, text, _ in BAD:
        if fault in (
            faults.ILLEGAL,
            faults.AMBIGUOUS,
            faults.PROMOTION,
            faults.FEN_PLACEMENT,
            faults.FEN_SIDE,
        ):
            ((_, _, errors),) = oracle_games(text.encode())
            assert errors, text


def test_bad_starts_are_those_that_python_chess_calls_impossible():
    for fault, text, _ in BAD:
        if faults.FEN_CASTLING <= fault <= faults.FEN_CHECK:
            fen = text.split('"')[3]
            assert refusal(position, fen, error=ValueError)
            try:
                board = chess.Board(fen, chess960=True)
            except ValueError:
                continue
            assert not board.is_valid(), fen


def test_a_comment_that_is_never_closed_takes_one_game_with_it(tmp_path):
    text = GOOD + game("1. e4 {never closed e5 *") + GOOD + game("1. d4 {closed} *")
    games = games_of_bytes(text.encode(), tmp_path)
    assert [game.fault for game in games] == [faults.OK, faults.COMMENT, faults.OK, faults.OK]
    assert text[games[2].begin :].startswith(GOOD)


@pytest.mark.parametrize("line", ['Site "?"]', "x", ' "B"]', "{", ")", '"?"]', "=2"])
def test_a_broken_line_among_the_tags_does_not_lose_the_start(line, tmp_path):
    """Read on from there, the game would begin at the usual start."""
    text = (
        GOOD
        + f'[Event "bad"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n{line}\n[White "A"]\n\n1. e4'
        " *\n\n" + GOOD
    )
    games = games_of_bytes(text.encode(), tmp_path)
    assert [game.reason is None for game in games] == [True, False, True]


def test_text_before_the_first_game_is_one_bad_game(tmp_path):
    games = games_of_bytes(b"<html><body>404</body></html>\n" + GOOD.encode(), tmp_path)
    assert [game.fault for game in games] == [faults.NOT_A_MOVE, faults.OK]


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n   \n\t\r\n", b"% x", b"\xef\xbb\xbf"])
def test_a_file_without_games_gives_none(content, tmp_path):
    assert games_of_bytes(content, tmp_path) == []


def test_faults_are_counted_by_kind(tmp_path):
    path = file_with(
        tmp_path / "games.pgn",
        game("1. e5 *") + game("1. e4 e4 *") + GOOD + game("1. xyz *") + game("1. e4 *"),
    )
    _, report, notes = read(path)
    assert report.faults == {"illegal move": 2, "text that is not a move": 1}
    assert (report.games, report.bad, report.used, report.undecided) == (5, 3, 1, 1)
    assert [note.split("game ")[1].split()[0] for note in notes] == ["1", "2", "4"]


def test_no_two_faults_are_counted_as_one():
    kinds = [faults.kind_of_fault(fault) for fault in faults.SENTENCES]
    assert len(set(kinds)) == len(kinds)
    assert not any("{" in kind for kind in kinds)


START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
ODDS = START_FEN.replace("/RNBQKBNR w KQkq", "/RNB1KBNR w KQkq")


@pytest.mark.parametrize(
    "tags",
    [
        '[SetUp "1"] [FEN "{}"]\n[WhiteElo "2600"] [BlackElo "2500"]\n[Result "1-0"]\n',
        '[FEN "{}"][WhiteElo "2600"][BlackElo "2500"][Result "1-0"]\n\n',
        '[Event "a"]\t[FEN "{}" ]  [Result "1-0" ] [BlackElo "2500"] [WhiteElo "2600"]\r\n\r\n',
        '[Event "a "b" [c]"] [FEN "{}"] [WhiteElo "2600"]\n[BlackElo "2500"] [Result "1-0"] ',
        '[Site "C:\\"] [FEN "{}"] [Result "1-0"] [WhiteElo "2600"] [BlackElo "2500"] {{a}}\n',
        '[WhiteElo "2600"] [Result "1-0"] [BlackElo "2500"]\n\n[FEN "{}"]\n\n',
    ],
)
def test_every_tag_of_a_line_counts(tags, tmp_path):
    (tmp_path / "a.pgn").write_text(tags.format(ODDS) + "1. e4 e5 2. Nf3 1-0\n", newline="")
    found, _ = next(iter(parsed(tmp_path / "a.pgn")))
    (row,) = found.rows[: found.count].tolist()
    names = (FAULT, RESULT, PLIES, WHITE_ELO, BLACK_ELO)
    assert [row[name] for name in names] == [faults.OK, 1, 3, 2600, 2500]
    assert (found.starts[0] == position(ODDS)).all()


def test_a_variant_behind_another_tag_is_refused(tmp_path):
    text = '[Event "a"] [Variant "Atomic"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n'
    _, report, notes = read_text(tmp_path, text)
    assert report.bad == 1 and "variant 'Atomic' is not chess" in notes[0]


MARK = "\ufeff"


@pytest.mark.parametrize(
    "between", ["\n\n" + MARK, "\n" + MARK, "\n\n" + MARK + "\n", "\n" + MARK + MARK, "\r\n" + MARK]
)
@pytest.mark.parametrize("end", ["1-0", ""])
def test_a_byte_order_mark_before_a_later_game_is_no_text(between, end, tmp_path):
    second = f'[FEN "{ODDS}"]\n[Result "0-1"]\n\n1. e4 e5 0-1\n'
    text = f'{MARK}[Event "a"]\n[Result "1-0"]\n\n1. e4 e5 {end}{between}{second}'
    batches, report, notes = read_text(tmp_path, text)
    assert (report.games, report.used, report.bad, notes) == (2, 2, 0, [])
    outcomes = np.concatenate([batch.outcomes for batch in batches])
    assert {*outcomes.tolist()} == {1.0, -1.0}


@pytest.mark.parametrize(
    "tag, moves, outcome",
    [
        ("1-0", "1. e4 e5 2. Nf3 *", 1),
        ("1-0", "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#", 1),
        ("0-1", "1. f3 e5 2. g4 Qh4#", -1),
        ("1/2-1/2", "1. e4 e5 2. Nf3", 0),
        ("0-1", "1. e4 {lost on time}", -1),
        ("*", "1. e4 e5 1-0", 1),
    ],
)
def test_a_decided_result_tag_counts_where_the_moves_have_no_result(tag, moves, outcome, tmp_path):
    text = f'[Event "a"]\n[Result "{tag}"]\n\n{moves}\n\n'
    batches, report, notes = read_text(tmp_path, text + GOOD)
    assert (report.used, report.bad, report.undecided, notes) == (2, 0, 0, [])
    assert batches[0].outcomes[0] == outcome
    assert report.by_tag == (tag != "*")


def test_games_of_tags_alone_are_told_apart(tmp_path):
    starts = [ODDS, START_FEN, ODDS.replace(" w ", " b ")]
    for tags in ('[FEN "{}"]', '[White "A"]\n[FEN "{}"]', '[Result "*"]\n[FEN "{}"]\n[Site "x"]'):
        text = "\n\n".join(tags.format(start) for start in starts) + "\n"
        (tmp_path / "a.pgn").write_text(text)
        found, _ = next(iter(parsed(tmp_path / "a.pgn")))
        assert found.count == 3
        assert (found.starts[:3] == [position(start) for start in starts]).all()
