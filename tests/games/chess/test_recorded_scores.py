"""Scores of searches recorded in PGN comments and in lines of labeled positions; python-chess is
the oracle."""

import io
import math
import random
import re

import chess
import chess.engine
import chess.pgn
import numpy as np
import pytest

from games.streams import pieces
from tests.games.support import SHARED, random_lines, read, rows
from tests.support import file_with
from tuner.evaluation.loading import load_engine

INFINITE, NONE = math.inf, math.nan
BOARD = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -"
OTHER = BOARD.replace(" w ", " b ")


def scores_of(path, **options) -> list[float]:
    return [float(score) for batch in read(path, **options)[0] for score in batch.recorded]


def same(found: list[float], expected: list[float]) -> bool:
    return np.array_equal(np.float32(found), np.float32(expected), equal_nan=True)


def game_file(folder, movetext: str):
    return file_with(folder / "games.pgn", f'[Event "?"]\n[Result "1-0"]\n\n{movetext} 1-0\n')


# what a comment after 1. e4 and after 1... e5 says of the positions after 0, 1 and 2 plies
COMMENTS = {
    "{+0.31/6 0.006s}": ([31, NONE, NONE], [NONE, -31, NONE]),
    "{-1.05/12}": ([-105, NONE, NONE], [NONE, 105, NONE]),
    "{0.00/1 0s}": ([0, NONE, NONE], [NONE, 0, NONE]),
    "{ +0.31/6 0.006s, Draw by adjudication}": ([31, NONE, NONE], [NONE, -31, NONE]),
    "{+0.31/14 0.28s, n=300, sd=20}": ([31, NONE, NONE], [NONE, -31, NONE]),
    "{+M5/12 0.1s, White mates}": ([INFINITE, NONE, NONE], [NONE, -INFINITE, NONE]),
    "{-M6/12}": ([-INFINITE, NONE, NONE], [NONE, INFINITE, NONE]),
    "{M3/9}": ([INFINITE, NONE, NONE], [NONE, -INFINITE, NONE]),
    "{+327.50/20 1s}": ([INFINITE, NONE, NONE], [NONE, -INFINITE, NONE]),
    "{+199.99/20 1s}": ([19999, NONE, NONE], [NONE, -19999, NONE]),
    "{book}": ([NONE] * 3, [NONE] * 3),
    "{1/2 was offered}": ([NONE] * 3, [NONE] * 3),
    "{1.5 pawns up}": ([NONE] * 3, [NONE] * 3),
    "{+0.31 /6}": ([NONE] * 3, [NONE] * 3),
    "{2.5/5 was his score}": ([NONE] * 3, [NONE] * 3),
    "{7.5/9 won the tournament}": ([NONE] * 3, [NONE] * 3),
    "{1./40}": ([NONE] * 3, [NONE] * 3),
    "{-1.5/12}": ([-150, NONE, NONE], [NONE, 150, NONE]),
    "{0.311/12}": ([31.1, NONE, NONE], [NONE, -31.1, NONE]),
    "{+0.31/x}": ([NONE] * 3, [NONE] * 3),
    "{./6}": ([NONE] * 3, [NONE] * 3),
    "{M0/6}": ([NONE] * 3, [NONE] * 3),
    "{[%eval 0.36]}": ([NONE, 36, NONE], [NONE, NONE, 36]),
    "{ [%clk 0:01:00] [%eval -0.36,22] }": ([NONE, -36, NONE], [NONE, NONE, -36]),
    "{Good. [%eval #-3] [%eval 1.0]}": ([NONE, -INFINITE, NONE], [NONE, NONE, -INFINITE]),
    "{[%eval #4,30]}": ([NONE, INFINITE, NONE], [NONE, NONE, INFINITE]),
    "{[%eval 36,22]}": ([NONE, 36, NONE], [NONE, NONE, 36]),
    "{[%eval]}": ([NONE] * 3, [NONE] * 3),
    "{[%eval 0.36}": ([NONE] * 3, [NONE] * 3),
    "{[%evaluation 0.36]}": ([NONE] * 3, [NONE] * 3),
    "{[%eval #0]}": ([NONE] * 3, [NONE] * 3),
    "{d=33, pv=d4 e6, wv=0.60, R50=50,}": ([60, NONE, NONE], [NONE, 60, NONE]),
    "{wv=-M5}": ([-INFINITE, NONE, NONE], [NONE, -INFINITE, NONE]),
    "{d=1, wv=M23, }": ([INFINITE, NONE, NONE], [NONE, INFINITE, NONE]),
    "{wv=250.00,}": ([INFINITE, NONE, NONE], [NONE, INFINITE, NONE]),
    "{swv=1.00, wv=, wv=x, d=2}": ([NONE] * 3, [NONE] * 3),
    "{}": ([NONE] * 3, [NONE] * 3),
}


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_gives_the_score_of_its_position(comment, tmp_path):
    first, second = COMMENTS[comment]
    assert same(scores_of(game_file(tmp_path, f"1. e4 {comment} e5")), first)
    assert same(scores_of(game_file(tmp_path, f"1. e4 e5 {comment}")), second)


def test_comments_elsewhere_have_no_score(tmp_path):
    text = "{+0.10/3} 1. e4 (1. d4 {+0.20/3} d5 {[%eval 0.3]}) {+0.40/3} e5 ; {+0.50/3}\n 2. Nf3"
    assert same(scores_of(game_file(tmp_path, text)), [40, NONE, NONE, NONE])
    assert same(scores_of(game_file(tmp_path, "{[%eval 0.15]} 1. e4")), [15, NONE])
    (tmp_path / "after.pgn").write_text('[Event "?"]\n\n1. e4 1-0 {+0.10/3}\n')
    assert same(scores_of(tmp_path / "after.pgn"), [NONE, NONE])


def test_scores_of_one_game_do_not_reach_the_next(tmp_path):
    path = tmp_path / "games.pgn"
    game = '[Event "?"]\n[Result "1-0"]\n\n{} 1-0\n\n'
    path.write_text(
        game.format("1. e4 {+0.1/1} e5 {+0.2/1} 2. Nf3 {+0.3/1}")
        + game.format("1. d4 d5 {+0.4/1} 2. c4")
        + game.format("1. c4")
    )
    assert same(scores_of(path), [10, -20, 30, NONE, NONE, -40, NONE, NONE, NONE, NONE])


def test_scores_are_those_that_python_chess_reads(tmp_path):
    """Games with evaluations by python-chess, and the same in the form of cutechess; some moves
    without."""
    rng, expected, lichess, cutechess = random.Random(3), [], "", ""
    for start, moves in random_lines(3, 40, 60):
        game = chess.pgn.Game()
        game.setup(start)
        node, text = game, ""
        own = [NONE] * (len(moves) + 1)
        for ply, move in enumerate(moves):
            board = node.board()
            score = rng.choice(
                [
                    None,
                    chess.engine.Cp(rng.randint(-900, 900)),
                    chess.engine.Mate(rng.choice([-3, 2, 7])),
                ]
            )
            node.set_eval(
                None if score is None else chess.engine.PovScore(score, chess.WHITE),
                rng.choice([None, 12]),
            )
            found = node.eval()
            if found is not None:
                white = found.white()
                own[ply] = (
                    (INFINITE if white.mate() > 0 else -INFINITE)
                    if white.is_mate()
                    else white.score()
                )
            san = board.san(move)
            text += f"{board.fullmove_number}. {san} " if board.turn else f"{san} "
            if found is not None:
                mover = found.pov(board.turn)
                mate = mover.mate()
                said = (
                    f"{mover.score() / 100:+.2f}"
                    if mate is None
                    else f"{'+' if mate > 0 else '-'}M{abs(mate)}"
                )
                text += f"{{{said}/{rng.randint(1, 30)} 0.0{rng.randint(1, 9)}s}} "
            node = node.add_variation(move)
        game.headers["Result"] = "0-1"
        lichess += f"{game}\n\n"
        cutechess += f'[Event "?"]\n[Result "0-1"]\n\n{text}0-1\n\n'
        expected += own
    for name, content in (("lichess", lichess), ("cutechess", cutechess)):
        (tmp_path / f"{name}.pgn").write_text(content)
        assert same(scores_of(tmp_path / f"{name}.pgn"), expected), name
    assert np.isfinite(expected).sum() > 300


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")
def test_scores_of_a_tournament_are_those_in_its_comments(tmp_path):
    """A pattern reads the comments that python-chess finds."""
    text = b"".join(pieces(SHARED / "tcec_commented.pgn.zst"))[:600_000].decode()
    text = text[: text.rindex("\n[Event ")]
    (tmp_path / "games.pgn").write_text(text)
    stream, expected = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        own = []
        for node in game.mainline():
            found = re.search(r", wv=(-?)(M?)([\d.]+),", node.comment)
            value = NONE if not found else float(found[3]) * 100 if not found[2] else INFINITE
            own.append(
                (-1 if found and found[1] else 1) * (value if not abs(value) >= 20000 else INFINITE)
            )
        expected += [*own, NONE]
    found = scores_of(tmp_path / "games.pgn")
    assert np.allclose(found, expected, equal_nan=True)
    assert np.isfinite(found).sum() > 1000


def test_selections_keep_the_scores_of_their_positions(tmp_path):
    moves = [
        "e4",
        "e5",
        "Nf3",
        "Nc6",
        "Bb5",
        "a6",
        "Bxc6",
        "dxc6",
        "Nxe5",
        "Qd4",
        "Nf3",
        "Qxe4+",
        "Qe2",
        "Qxe2+",
    ]
    text = " ".join(f"{move} {{+{i}.10/5}}" for i, move in enumerate(moves))
    path = game_file(tmp_path, text)
    batches, *_ = read(path)
    score = {
        row[-1].item(): value for row, value in zip(rows(batches), scores_of(path), strict=True)
    }
    for options in ({"per_game": 5}, {"skip_start": 4, "skip_end": 3}, {"duplicates": "positions"}):
        (batch,), *_ = read(path, **options)
        assert same(batch.recorded.tolist(), [score[row[-1].item()] for row in batch.positions])
        assert len(batch.positions) < 15 or "duplicates" in options


def test_a_resolved_position_keeps_the_score_of_the_one_it_replaces(tmp_path):
    engine, parameters = load_engine("classic")
    path = game_file(tmp_path, "1. e4 {+0.10/5} d5 {+0.20/5} 2. Nf3 {+0.30/5} dxe4 {+0.40/5}")
    resolved, *_ = read(path, positions="resolve", evaluation=engine.evaluation(parameters))
    assert same(resolved[0].recorded.tolist(), [10, -20, 30, -40, NONE])
    assert not np.array_equal(resolved[0].positions, read(path)[0][0].positions)
    quiet, *_ = read(path, positions="quiet", evaluation=engine.evaluation(parameters))
    assert 0 < len(quiet[0].positions) < 5


LABELS = [
    ('ce 23; c9 "1-0";', 23),
    ('c9 "1-0"; ce -23', -23),
    ('bm Nf3; ce +7; c9 "0-1";', 7),
    ('dm 3; c9 "1-0";', INFINITE),
    ('dm -3; ce 12; c9 "1-0";', -INFINITE),
    ('ce 12; dm 3; c9 "1-0";', INFINITE),
    ('ce 32760; c9 "1-0";', INFINITE),
    ('ce -32760; c9 "1-0";', -INFINITE),
    ('acd 12; acs 5; c9 "1-0";', NONE),
    ('ce 0.35; c9 "1-0";', NONE),
    ('c0 "ce 12;"; c9 "1-0";', NONE),
    ('pv ce 5; c9 "1-0";', NONE),
    ('ce; c9 "1-0";', NONE),
    ('c9 "1-0"; id "ce 5";', NONE),
    ("[0.5] 31", NONE),
    ("[0.5]", NONE),
    ('hmvc 0; ce 1 2; c9 "1-0";', NONE),
    ('dm 0; c9 "1-0";', NONE),
    ('ce 12345678901; c9 "1-0";', NONE),
]
WHITES = [
    ("| 35 | 1.0", 35),
    ("0 1 | -35 | 0.0", -35),
    ("0 1|0|0.5", 0),
    ("| +12 | 1-0", 12),
    ("| 0.35 | 1.0", NONE),
    ("| 31000 | 1.0", INFINITE),
    ("| -20000 | 0.0", -INFINITE),
    ("| -19999 | 0.0", -19999),
]


@pytest.mark.parametrize(("label", "score"), LABELS)
def test_operations_of_epd_are_of_the_side_to_move(label, score, tmp_path):
    (tmp_path / "a.epd").write_text(f"{BOARD} {label}\n{OTHER} {label}\n")
    assert same(scores_of(tmp_path / "a.epd"), [score, -score])


@pytest.mark.parametrize(("label", "score"), WHITES)
def test_scores_between_bars_are_of_white(label, score, tmp_path):
    (tmp_path / "a.epd").write_text(f"{BOARD} {label}\n{OTHER} {label}\n")
    assert same(scores_of(tmp_path / "a.epd"), [score, score])


@pytest.mark.parametrize(
    ("header", "line", "score"),
    [
        ("fen,score,result", "{},-31,1-0", -31),
        ("fen,result,score", "{},0.5,31", 31),
        ("fen,depth,result", "{},31,0.5", NONE),
        ("fen,result", "{},0.5", NONE),
        ("fen,outcome,Score", "{},0.5,-99999", -INFINITE),
        ("fen,score,result", "{},,1-0", NONE),
    ],
)
def test_a_header_names_the_column_of_scores(header, line, score, tmp_path):
    (tmp_path / "a.csv").write_text(
        "\n".join([header, line.format(OTHER), line.format(BOARD)]) + "\n"
    )
    assert same(scores_of(tmp_path / "a.csv"), [score, score])


def test_operations_agree_with_python_chess(tmp_path):
    rng, text, expected = random.Random(9), "", []
    for start, moves in random_lines(9, 12, 30):
        board = start.copy()
        board.chess960 = False
        for move in moves:
            board.push(move)
            score = rng.choice([None, rng.randint(-2000, 2000)])
            operations = {"c9": "1-0", "id": f"ce {rng.randint(1, 9)};", "acd": 9} | (
                {} if score is None else {"ce": score}
            )
            line = board.epd(**dict(sorted(operations.items(), key=lambda item: rng.random())))
            text += line + "\n"
            parsed = chess.Board(None).set_epd(line)
            found = parsed.get("ce")
            expected.append(NONE if found is None else found if board.turn else -found)
    (tmp_path / "a.epd").write_text(text)
    assert same(scores_of(tmp_path / "a.epd"), expected)
