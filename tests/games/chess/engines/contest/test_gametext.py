"""Games as text: python-chess reads the same moves and results without errors; the last comment has
the reason."""

import io
import random

import chess
import chess.pgn
import numpy as np
import pytest

from games.chess.engines.gametext import is_chess960, reason, score_text, text
from games.record import (
    CRASH,
    DRAW_RULE,
    ILLEGAL,
    PLIES,
    RESIGN_RULE,
    RESIGNS,
    RULES,
    STALL,
    TIME,
    Choice,
    PlayedGame,
    find,
)

GAME = find("chess")
STARTS = [
    chess.STARTING_FEN,
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 17",
    "4k3/P7/8/8/8/8/7p/4K3 w - - 0 40",
    "bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w FCfc - 0 1",
]


def played(
    start: str = chess.STARTING_FEN,
    moves: list[str] = (),
    seed: int | None = None,
    plies: int = 300,
    **more,
) -> PlayedGame:
    """A game with these moves, or one at random."""
    line, chosen, dice = [GAME.position(start)], [], random.Random(seed)
    if seed is None:
        for name in moves:
            chosen.append(GAME.move_named(line[-1], name))
            line.append(GAME.play(line[-1], chosen[-1]))
    else:
        while len(chosen) < plies and GAME.result(line) is None:
            chosen.append(dice.choice(GAME.legal_moves(line[-1])))
            line.append(GAME.play(line[-1], chosen[-1]))
    outcome = GAME.result(line)
    given = {
        "outcome": outcome or 0,
        "end": PLIES if outcome is None else RULES,
        "book": 2 if seed is not None else 0,
    } | more
    thoughts = [
        Choice(m, (31.0, -250.0, 0.4, -0.4)[m % 4], None, m % 9) for m in chosen[given["book"] :]
    ]
    return PlayedGame(
        np.array(line), chosen, choices=thoughts, seconds=[0.006] * len(thoughts), **given
    )


@pytest.mark.parametrize("seed", range(40))
def test_python_chess_reads_what_was_written(seed):
    game = played(
        STARTS[seed % len(STARTS)],
        seed=seed,
        players=('A "quoted" \\ name', "B\n[Result]"),
        round=f"{seed}.1",
    )
    back = chess.pgn.read_game(io.StringIO(text(game)))
    assert back.errors == []
    board, words = back.board(), game.line[0]
    assert len(list(back.mainline_moves())) == len(game.moves)
    for ours, theirs, after in zip(game.moves, back.mainline_moves(), game.line[1:], strict=True):
        assert GAME.move_named(words, theirs.uci()) == ours
        board.push(theirs)
        words = after
        assert GAME.text(words).split()[0] == board.board_fen()
    # escaped as the standard wants; python-chess keeps the escapes
    assert back.headers["White"] == r"A \"quoted\" \\ name"
    assert back.headers["Black"] == "B [Result]"
    assert back.headers["Result"] == ("1/2-1/2", "1-0", "0-1")[game.outcome]
    assert back.headers.get("Variant", "") == ("Chess960" if seed % len(STARTS) == 3 else "")
    assert board.fullmove_number == int(GAME.text(words).split()[5])
    if game.end == RULES:
        ended = board.outcome(claim_draw=True)
        assert ended is not None and ended.result() == back.headers["Result"]


def test_two_games_in_a_file_stay_two():
    both = text(played(seed=1)) + text(played(seed=2))
    stream = io.StringIO(both)
    for seed in (1, 2):
        assert len(list(chess.pgn.read_game(stream).mainline_moves())) == len(
            played(seed=seed).moves
        )
    assert chess.pgn.read_game(stream) is None


def test_our_own_reader_reads_what_was_written(tmp_path):
    from games.record import ReadOptions, ReadReport

    (tmp_path / "a.pgn").write_text("".join(text(played(STARTS[s % 3], seed=s)) for s in range(12)))
    report = ReadReport()
    list(
        GAME.files.read(
            str(tmp_path / "a.pgn"),
            ReadOptions(positions="all", duplicates="keep"),
            report,
            pytest.fail,
        )
    )
    assert (report.games, report.bad, report.used) == (12, 0, 12)


def test_comments_are_those_of_fastchess():
    game = played(moves=["e2e4", "e7e5", "g1f3"], book=2)
    game.choices[0] = Choice(game.moves[2], 31.0, None, 6)
    assert (
        "1. e4 {book} e5 {book} 2. Nf3 {+0.31/6 0.006s, Draw by adjudication after 3 plies} 1/2-1/2"
        in text(game)
    )
    assert [score_text(Choice(0, None, w, 7)) for w in (1, 3, -2, -4)] == [
        "+M1/7 ",
        "+M2/7 ",
        "-M1/7 ",
        "-M2/7 ",
    ]
    assert (score_text(Choice(0)), score_text(Choice(0, -0.4, None, 1))) == ("", "-0.00/1 ")


@pytest.mark.parametrize(
    ("start", "moves", "said"),
    [
        (chess.STARTING_FEN, "f2f3 e7e5 g2g4 d8h4", "Black mates"),
        (
            chess.STARTING_FEN,
            "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8",
            "Draw by 3-fold repetition",
        ),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7", "Draw by stalemate"),
        ("7k/8/8/8/8/8/1p6/K7 w - - 0 1", "a1b2", "Draw by insufficient mating material"),
        ("7k/8/8/8/8/8/8/KR6 w - - 99 90", "b1b2", "Draw by fifty moves rule"),
        ("6k1/5ppp/8/8/8/8/8/KR6 w - - 99 90", "b1b8", "White mates"),
    ],
)
def test_ends_by_the_rules_are_named(start, moves, said):
    assert reason(played(start, moves.split())) == said


@pytest.mark.parametrize(
    ("end", "loser", "said"),
    [
        (ILLEGAL, 0, "White makes an illegal move: e2e5"),
        (CRASH, 1, "Black disconnects"),
        (TIME, 1, "Black loses on time"),
        (STALL, 0, "White's connection stalls"),
        (RESIGNS, 1, "Black resigns"),
        (RESIGN_RULE, 1, "White wins by adjudication"),
        (DRAW_RULE, None, "Draw by adjudication"),
    ],
)
def test_other_ends_are_named_and_are_in_the_text(end, loser, said):
    outcome = 0 if loser is None else 1 if loser else -1
    game = played(
        moves=["e2e4"],
        end=end,
        loser=loser,
        outcome=outcome,
        detail="e2e5" if end == ILLEGAL else "",
    )
    assert reason(game) == said and said + "}" in text(game).replace("\n", " ")
    assert reason(played(moves=[], end=end, loser=loser, outcome=outcome)).startswith(
        said.partition(":")[0]
    )


def test_a_game_without_a_move_is_still_a_game():
    back = chess.pgn.read_game(io.StringIO(text(played(moves=[], end=CRASH, loser=0, outcome=-1))))
    assert (
        back.errors == []
        and back.headers["Result"] == "0-1"
        and back.headers["Termination"] == "abandoned"
    )


def test_chess960_is_distinguished_from_chess():
    assert not any(is_chess960(GAME.position(start)) for start in STARTS[:3])
    assert is_chess960(GAME.position(STARTS[3])) and is_chess960(
        GAME.position("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1")
    )
    assert is_chess960(GAME.position("5k2/8/8/8/8/8/8/R4K2 w Q - 0 1"))
