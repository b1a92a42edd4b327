"""Reading PGN: whatever python-chess reads without complaint is read the same, however the bytes
arrive."""

import gzip
import io
import random
import re

import chess
import chess.pgn
import pytest
import zstandard

from games import streams
from games.chess.files import movetext, pgn
from tests.games.chess.mutation import annotated, originals
from tests.games.support import (
    REPOSITORY,
    games_of,
    games_of_bytes,
    oracle_games,
    packed,
    random_boards,
    random_lines,
    read,
)
from tests.support import file_with, refusal

TAGS = '[Event "?"]\n[Result "1-0"]\n\n'
GOOD = TAGS + "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n"
RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0, "*": 2}


def same_as_python_chess(content: bytes, folder, n: int) -> None:
    """All n games are accepted, with the start and the moves that python-chess finds."""
    ours = [(game.reason, game.start, game.moves) for game in games_of_bytes(content, folder)]
    theirs = oracle_games(content)
    assert [errors for _, _, errors in theirs] == [[]] * n
    assert ours == [(None, start, moves) for start, moves, _ in theirs]


def test_annotated_games_have_the_moves_and_results_that_python_chess_finds(tmp_path):
    texts = originals(11, 120)
    same_as_python_chess(b"".join(texts), tmp_path, 120)
    results = [chess.pgn.read_headers(io.StringIO(text.decode()))["Result"] for text in texts]
    assert [game.result for game in games_of_bytes(b"".join(texts), tmp_path)] == [
        RESULTS[result] for result in results
    ]


def test_the_bundled_games_have_the_moves_that_python_chess_finds(tmp_path):
    stream = zstandard.ZstdDecompressor().stream_reader(
        (REPOSITORY / "games/samples/stockfish400.pgn.zst").open("rb")
    )
    content = stream.read(200_000)
    content = content[: content.rindex(b"[Event ")]
    same_as_python_chess(content, tmp_path, content.count(b"[Event "))


def test_games_start_from_any_position_that_a_fen_tag_gives(tmp_path):
    rng, text = random.Random(12), ""
    boards = [board for board in random_boards(12, 20, 100) if any(board.legal_moves)]
    chosen = rng.sample(boards, 80) + [board for board in boards if board.ep_square][:20]
    for board in chosen:
        game = chess.pgn.Game.from_board(chess.Board(board.fen(), chess960=False))
        game.add_variation(next(iter(chess.Board(board.fen()).legal_moves)))
        text += f"{game}\n\n"
    same_as_python_chess(text.encode(), tmp_path, len(chosen))


VARIANTS = [
    "Chess960",
    "chess 960",
    "Fischerandom",
    "fischer random",
    "From Position",
    "Standard",
    None,
]


def tags_in_any_order(rng: random.Random) -> bytes:
    """A file of games by python-chess: some with a start of their own, tags in any order, with and
    without Event, and the white space that programs write."""
    text = ""
    boards = [board for board in random_boards(rng.randrange(1 << 30), 1, 30) if board.legal_moves]
    for board in rng.sample(boards, 4):
        start = rng.choice([chess.Board(), chess.Board(board.fen())])
        game = chess.pgn.Game.from_board(start)
        node = game
        for _ in range(rng.randrange(1, 4)):
            if moves := list(node.board().legal_moves):
                node = node.add_main_variation(rng.choice(moves))
        game.headers["Result"] = rng.choice(list(RESULTS))
        for name in rng.sample(["WhiteElo", "BlackElo", "ECO", "EventDate", "Opening"], 3):
            game.headers[name] = str(rng.randint(1000, 2800))
        tags, _, moves = str(game).partition("\n\n")
        lines = [tag for tag in tags.split("\n") if rng.random() < 0.9 or tag[:4] == "[FEN"]
        rng.shuffle(lines)
        lines[:0] = ['[ePGN "0.1"]'] * (rng.random() < 0.2)
        between = rng.choice(["\n\n", "\n", "\n \n"])
        text += "\n".join(lines) + between + moves + rng.choice(["\n\n", "\n\n\n", "\n\n\t\n"])
    return (
        (rng.choice(["", "\n", "\ufeff"]) + text).replace("\n", rng.choice(["\n", "\r\n"])).encode()
    )


def test_tags_in_any_order_have_the_games_that_python_chess_finds(tmp_path):
    rng = random.Random(14)
    for _ in range(60):
        same_as_python_chess(tags_in_any_order(rng), tmp_path, 4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_chess960_needs_a_fen_and_no_special_variant_tag(variant, tmp_path):
    for shredder in (False, True):
        text = ""
        for start, line in random_lines(13, 12, 60, chess960=True):
            board, tokens = start.copy(), []
            for move in line:
                tokens.append(board.san(move))
                board.push(move)
            tag = f'[Variant "{variant}"]\n' if variant else ""
            text += (
                f'[Event "?"]\n{tag}[FEN "{start.fen(shredder=shredder)}"]\n\n{" ".join(tokens)}'
                " *\n\n"
            )
        assert "O-O" in text
        same_as_python_chess(text.encode(), tmp_path, 12)


TEXTS = {
    "no tags at all": "1. e4 e5 1-0\n\n1. d4 d5 *\n\n",
    "no blank line before the moves": '[Event "?"]\n1. e4 e5 *\n\n',
    "tags that come twice or are unknown": (
        '[Event "?"]\n[White "a"]\n[White "b"]\n[Nonsense_1 "x"]\n[white "y"]\n\n1. e4 *\n\n'
    ),
    "quotes and brackets within a tag": '[Event "x \\"y\\" [z] \\\\"]\n[Site "]"]\n\n1. e4 *\n\n',
    "blanks behind a tag": '[Event "?"]  \t\n[Site   "?"]\n\n1. e4 *\n\n',
    "a tag of 5,000 bytes": f'[Event "{"x" * 5000}"]\n\n1. e4 *\n\n',
    "glyphs": TAGS + "1. e4! e5?? 2. Nf3 $1 $139 Nc6!? $1$2 3. Bb5?! ! a6 $ Ba4 1-0\n\n",
    "numbers in all styles": TAGS + "1.e4 1...e5 2 . Nf3 2. ... Nc6 3...Bb5 17. a6 1-0\n\n",
    "checks and mates wrongly marked": TAGS + "1. e4+ e5# 2. Nf3+ Nc6 1-0\n\n",
    "comments everywhere": (
        TAGS + "{a} 1. {b} e4 {c}{d} e5 {} 2. Nf3{e}Nc6 { 1. d4 (x) [y] ; \n\n z % } 1-0 {f}\n\n"
    ),
    "a tag within a comment": TAGS + '1. e4 {\n[Event "no"]\n} e5 1-0\n\n',
    "a comment of 70,000 bytes": TAGS + f"1. e4 {{{'x ' * 35000}}} e5 1-0\n\n",
    "comments to the end of the line": TAGS + "1. e4 ; 1. d4 {\ne5 ; )\n2. Nf3 Nc6;x\n1-0\n\n",
    "escaped lines": "% a\n" + TAGS + "1. e4 e5\n% 2. d4 {\n2. Nf3 1-0\n\n",
    "nested variations": (
        TAGS
        + "1. e4 (1. d4 d5 (1... Nf6 {(} 2. c4 (2. Nf3 e6)) 2. c4) (1. c4) 1... e5 2. Nf3 1-0\n\n"
    ),
    "a variation of nothing, and one of nonsense": (
        TAGS + "1. e4 () e5 (2. Ke2 xyzzy $3 ? (1-0)) 2. Nf3 1-0\n\n"
    ),
    "castling with zeros": TAGS + "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 5. d3 0-0 1-0\n\n",
    "en passant, said": (
        TAGS
        + "1. e4 d5 2. e5 f5 3. exf6 e.p. exf6 1-0\n\n"
        + TAGS
        + "1. e4 a5 2. e5 f5 3. exf6ep 1-0\n\n"
    ),
    "a result written twice": TAGS + "1. e4 e5 1-0 1-0\n\n" + TAGS + "1. e4 1-0 {x} 1-0\n\n",
    "punctuation behind the result": TAGS + "1. e4 e5 1-0`\n\n" + TAGS + "1. e4 1-0 '\n\n",
    "spaces outside ASCII": TAGS
    + "1.\u00a0e4\u200be5 2.\u2009Nf3\ufeff Nc6\u2060\u3000 1-0\u00a0\n\n",
    "a tag of an electronic board first": '[ePGN "0.1;DGT board"]\n' + GOOD,
    "Event last": '[Result "1-0"]\n[Event "?"]\n\n1. e4 1-0\n\n',
    "an empty line before Event": '[Result "1-0"]\n\n[Event "?"]\n\n1. e4 1-0\n\n',
    "promotions": "".join(
        f'[FEN "7k/P7/8/8/8/8/8/K7 w - - 0 1"]\n\n1. a8{to} *\n\n'
        for to in ("=Q", "Q", "=N+", "=r", "b")
    ),
    "long algebraic": TAGS + "1. e2-e4 e7e5 2. Ng1f3 Nb8-c6 3. Bf1-b5 1-0\n\n",
    "many blank lines between games": GOOD + "\n \n\t\n\n" + GOOD,
    "nothing behind the last result": GOOD.rstrip("\n"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_game_is_read_as_python_chess_reads_it_with(what, tmp_path):
    content = TEXTS[what].encode()
    same_as_python_chess(content, tmp_path, len(oracle_games(content)))


@pytest.mark.parametrize(
    "what", ["CR LF", "CR", "byte order mark", "Latin-1", "UTF-16", "UTF-16 BE", "trailing blanks"]
)
def test_the_same_games_are_found_whatever_the_encoding(what, tmp_path):
    text = "".join(original.decode() for original in originals(14, 40))
    content = {
        "CR LF": text.replace("\n", "\r\n").encode(),
        "CR": text.replace("\n", "\r").encode(),
        "byte order mark": text.encode("utf-8-sig"),
        "Latin-1": text.encode("latin-1"),
        "UTF-16": text.encode("utf-16"),
        "UTF-16 BE": b"\xfe\xff" + text.encode("utf-16-be"),
        "trailing blanks": text.replace("\n", " \t\n").encode(),
    }[what]
    wanted = [
        (game.start, game.moves, game.result, game.reason)
        for game in games_of_bytes(text.encode(), tmp_path)
    ]
    assert [
        (game.start, game.moves, game.result, game.reason)
        for game in games_of_bytes(content, tmp_path)
    ] == wanted
    if what not in ("UTF-16", "UTF-16 BE", "trailing blanks"):
        same_as_python_chess(content, tmp_path, 40)


@pytest.mark.parametrize(("window", "room"), [(4, 4096), (37, 1), (1000, 3), (50_000, 7)])
def test_the_size_of_the_reading_window_changes_nothing(window, room, tmp_path, monkeypatch):
    path = tmp_path / "games.pgn"
    bad = [
        TAGS + "1. e4 e5 2. Ke3 1-0\n\n",
        TAGS + "1. e4 {never closed\n\n",
        TAGS + "1. e4 (1. d4\n\n",
        '[Event "?]\n\n*\n\n',
    ]
    texts = (
        [text.decode() for text in originals(15, 8)]
        + bad
        + [text.replace("\n", "\r\n") for text in TEXTS.values()]
    )
    random.Random(15).shuffle(texts)
    path.write_bytes(b"\xef\xbb\xbf" + "".join(texts).encode())
    whole = games_of(path), read(path)[1:]
    for module, name, value in [
        (pgn, "WINDOW", window),
        (streams, "PIECE", window),
        (streams, "COMPRESSED_PIECE", window),
        (pgn, "ROOM", room),
    ]:
        monkeypatch.setattr(module, name, value)
    assert (games_of(path), read(path)[1:]) == whole
    assert len(whole[0]) >= len(texts)


def small_limits(monkeypatch, longest: int) -> None:
    for module, name, value in [
        (pgn, "WINDOW", 500),
        (pgn, "MAX_GAME_BYTES", longest),
        (streams, "PIECE", 500),
        (streams, "COMPRESSED_PIECE", 500),
    ]:
        monkeypatch.setattr(module, name, value)


def test_a_game_longer_than_the_limit_is_an_error_behind_the_games_before_it(tmp_path, monkeypatch):
    small_limits(monkeypatch, 2000)
    path = file_with(
        tmp_path / "games.pgn",
        (GOOD * 20 + TAGS + f"1. e4 {{{'x ' * 5000}}} e5 1-0\n\n" + GOOD * 2).encode(),
    )
    found = []
    assert (
        refusal(found.extend, (int(games.count) for games, _ in pgn.parsed(path)))
        == f"{path}: byte {20 * len(GOOD) - 2}: more than 2,000 bytes without the end of a game or"
        " line; expected games in PGN, or lines of labeled positions"
    )
    assert sum(found) == 20


@pytest.mark.parametrize("good", [0, 3])
def test_a_file_is_refused_after_a_long_stretch_without_games(good, tmp_path, monkeypatch):
    small_limits(monkeypatch, 20_000)
    path = file_with(
        tmp_path / "games.pgn",
        GOOD.encode() * good + random.Random(19).randbytes(10) + b"\n*\n[\n" * 10_000,
    )
    assert re.search(r"games\.pgn: byte \d+: no game in 20,000 bytes; exp", refusal(games_of, path))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends_is_given_up(device):
    assert re.search(rf"^{device}: byte \d+: (more|no game)", refusal(games_of, device))


@pytest.mark.long
def test_a_comment_is_never_closed_if_a_game_begins_in_it_and_it_goes_on_for_long(
    tmp_path, monkeypatch
):
    content = (TAGS + "1. e4 {never closed\n\n" + GOOD * 40_000).encode()
    assert len(content) > movetext.LONGEST_COMMENT * 2
    monkeypatch.setattr(pgn, "MAX_GAME_BYTES", movetext.LONGEST_COMMENT * 5 // 4)
    games = games_of_bytes(content, tmp_path)
    assert [game.reason for game in games[:2]] == ["a comment is never closed", None]
    assert len(games) == 40_001


def test_games_before_the_damage_of_an_archive_are_read(tmp_path):
    path = tmp_path / "games.pgn.gz"
    content = gzip.compress(b"".join(originals(20, 60)), 9)
    path.write_bytes(content[:-4])  # the length is missing, and nothing else
    found = []
    assert "truncated gz archive" in refusal(
        found.extend, (int(games.count) for games, _ in pgn.parsed(path))
    )
    assert sum(found) in (59, 60)


DRAWS = {
    "1/2": "1/2",
    "with a comment": "1/2-1/2 {agreed}",
    "with a comment at once": "1/2{agreed}",
    "half": "\u00bd-\u00bd",
    "at the end of the file": "1/2",
}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("what", DRAWS)
@pytest.mark.parametrize("tag", ["1/2", "1/2-1/2", "\u00bd-\u00bd", None])
def test_draws_are_read_in_every_spelling(what, tag, encoding, tmp_path):
    """The moves are those that python-chess reads of the same game with the usual result."""
    tags = '[Event "?"]\n' + (f'[Result "{tag}"]\n' if tag else "")
    text = f"{tags}\n1. e4 e5 2. Nf3 {DRAWS[what]}" + (
        "" if what == "at the end of the file" else "\n\n" + GOOD
    )
    games = games_of_bytes(text.encode(encoding), tmp_path)
    assert (games[0].reason, games[0].result) == (None, 0)
    (_, moves, errors), *_ = oracle_games(text.replace(DRAWS[what], "1/2-1/2").encode(encoding))
    assert (games[0].moves, errors) == (moves, [])
    assert [game.reason for game in games[1:]] == (
        [] if what == "at the end of the file" else [None]
    )


@pytest.mark.parametrize(
    "result", ["0.5-0.5", "1\u20130", "\u00bd", "1/2 - 1/2", "draw", "1-0-0", "\u00bd-0"]
)
def test_other_spellings_of_results_are_refused(result, tmp_path):
    games = games_of_bytes(f'[Event "?"]\n\n1. e4 e5 {result}\n\n{GOOD}'.encode(), tmp_path)
    assert [game.reason is None for game in games] == [False, True]


@pytest.mark.parametrize(
    ("tag", "result"),
    [("1-0", "1/2"), ("1/2", "1-0"), ("0-1", "\u00bd-\u00bd"), ("\u00bd-\u00bd", "0-1")],
)
def test_a_draw_contradicts_a_tag_that_says_something_else(tag, result, tmp_path):
    (game,) = games_of_bytes(
        f'[Event "?"]\n[Result "{tag}"]\n\n1. e4 e5 {result}\n'.encode(), tmp_path
    )
    assert game.reason == f"the Result tag contradicts the result '{result}' after the moves"


def test_moves_of_games_that_python_chess_wrote_come_back(tmp_path):
    """Independent of python-chess's reader: the moves that went into its writer."""
    rng, text, wanted = random.Random(18), "", []
    for start, line in random_lines(18, 30, 80):
        text += annotated(rng, start, line)
        board, moves = start.copy(), []
        for move in line:
            moves.append(packed(board, move))
            board.push(move)
        wanted.append(moves)
    assert [game.moves for game in games_of_bytes(text.encode(), tmp_path)] == wanted
