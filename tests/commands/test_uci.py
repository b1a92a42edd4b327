"""`tuner uci` as chess programs use it: a process with which python-chess plays and analyses."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator

import chess
import chess.engine
import pytest

from tests.commands.support import done, refused, tuner, without_compiling
from tests.games.support import REPOSITORY
from tuner.cli import COMMANDS

COMMAND = [sys.executable, "-m", "tuner", "uci"]
PATIENCE = 120.0  # seconds: the first run on a machine compiles
MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"


@pytest.fixture(scope="module")
def engine() -> Iterator[chess.engine.SimpleEngine]:
    engine = chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=PATIENCE, cwd=REPOSITORY)
    engine.configure({"Hash": 4})
    engine.ping()
    yield engine
    engine.quit()


def play(
    engine: chess.engine.SimpleEngine, board: chess.Board, seconds: float, increment: float
) -> None:
    """Let it play a game against itself to its end. A busy machine may take its time: an empty
    clock ends nothing here."""
    clocks = {chess.WHITE: seconds, chess.BLACK: seconds}
    game = object()
    while not board.is_game_over(claim_draw=True) and len(board.move_stack) < 300:
        started, side = time.perf_counter(), board.turn
        limit = chess.engine.Limit(
            white_clock=clocks[True],
            black_clock=clocks[False],
            white_inc=increment,
            black_inc=increment,
        )
        played = engine.play(board, limit, game=game, info=chess.engine.INFO_ALL)
        clocks[side] = max(clocks[side] - (time.perf_counter() - started), 0.01) + increment
        assert (
            played.move in board.legal_moves
        )  # as are the moves of its variations: python-chess reads them on the board
        board.push(played.move)
        assert played.ponder is None or played.ponder in board.legal_moves


def test_it_plays_whole_games_by_the_clock(engine):
    board = chess.Board()
    play(engine, board, 1.0, 0.01)
    assert len(board.move_stack) > 20


def test_it_plays_chess960(engine):
    rng = random.Random(960)
    castled = 0
    for _ in range(3):
        board = chess.Board.from_chess960_pos(rng.randrange(960))
        play(engine, board, 0.1, 0.005)
        replay = board.root()
        for move in board.move_stack:
            castled += replay.is_castling(move)
            replay.push(move)
    assert castled


def test_it_analyses_and_its_variations_are_legal(engine):
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3")
    info = engine.analyse(board, chess.engine.Limit(depth=8))
    assert info["depth"] == 8 and len(info["pv"]) > 1 and abs(info["score"].relative.score()) < 300
    assert info["nodes"] > 100 and info["nps"] > 0 and "hashfull" in info and "time" in info
    info = engine.analyse(
        board, chess.engine.Limit(depth=3), root_moves=[chess.Move.from_uci("a7a6")]
    )
    assert info["pv"][0] == chess.Move.from_uci("a7a6")
    mate = engine.analyse(
        chess.Board("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"), chess.engine.Limit(mate=2)
    )
    assert mate["score"].relative == chess.engine.Mate(2)


def test_it_stops_on_command(engine):
    for _ in range(5):
        with engine.analysis(chess.Board()) as analysis:
            next(iter(analysis))
            analysis.stop()  # else it would go on for ever
            assert analysis.wait().move is not None


def test_it_ponders(engine):
    board = chess.Board()
    for expected in (True, False, True):
        played = engine.play(board, chess.engine.Limit(time=0.02), ponder=True)
        board.push(played.move)
        reply = (
            played.ponder
            if expected and played.ponder
            else next(m for m in board.legal_moves if m != played.ponder)
        )
        board.push(reply)
    assert engine.play(board, chess.engine.Limit(time=0.02)).move in board.legal_moves


@pytest.mark.parametrize(
    "limit",
    [
        {"depth": 0},
        {"depth": -1},
        {"nodes": 0},
        {"nodes": -5},
        {"mate": 0},
        {"mate": -3},
        {"time": -1.0},
        {"time": 0.0},
        {"white_clock": -1.0, "black_clock": -1.0},
        {"white_clock": 0.0, "black_clock": 0.0, "white_inc": -1.0, "black_inc": -1.0},
        {"white_clock": 1.0, "black_clock": 1.0, "remaining_moves": -1},
        {"black_clock": 1.0},
    ],
    ids=str,
)
def test_limits_that_make_no_sense_are_answered_by_a_legal_move(engine, limit):
    board = chess.Board()
    for _ in range(2):
        played = engine.play(board, chess.engine.Limit(**limit))
        assert played.move in board.legal_moves
        board.push(played.move)


def test_no_legal_move_to_search_among_is_answered_too(engine):
    board = chess.Board()
    for moves in ([], [chess.Move.from_uci("e2e5")]):
        assert (
            engine.play(board, chess.engine.Limit(depth=1), root_moves=moves).move
            in board.legal_moves
        )


def test_the_game_that_is_over_has_no_move():
    ran = done("uci", stdin=f"uci\nposition fen {MATED}\ngo depth 3\nquit\n".encode())
    assert ran.out.splitlines()[-2:] == ["info depth 0 score mate 0", "bestmove (none)"]


def test_bytes_that_are_no_text_between_commands_never_harm():
    rng = random.Random(7)
    text = b"uci\n"
    for _ in range(300):
        noise = bytes(
            rng.choice(b"\xff\xc3\x28\x00\r\t go") for _ in range(rng.randrange(300))
        ).strip()
        text += (noise if not noise.startswith(b"go") else b"x" + noise) + b"\n"
    text += (
        b"y" * 3_000_000
        + b"\nposition startpos moves e2e4\n"
        + b"position startpos moves d2d4 " * 9000
    )
    ran = done("uci", stdin=text + b"\ngo depth 2\nquit\ngo depth 2\n")
    assert "info string a line of more than" in ran.out
    (best,) = [line.split()[1] for line in ran.out.splitlines() if line.startswith("bestmove")]
    board = chess.Board()
    board.push_uci("e2e4")
    assert chess.Move.from_uci(best) in board.legal_moves


def test_a_program_that_stops_listening_is_no_error_of_ours():
    process = subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    process.stdin.write(b"isready\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"readyok\n"
    process.stdout.close()
    process.stdin.write(b"go depth 5\n")
    process.stdin.flush()
    time.sleep(0.3)
    process.stdin.close()
    error = without_compiling(process.stderr.read().decode())
    process.stderr.close()
    assert (process.wait(PATIENCE), error) in ((0, ""), (1, ""))


def test_wrong_parameters_are_reported_and_other_games_have_no_uci():
    assert tuner("uci", "nowhere.yaml", stdin=b"uci\nisready\n").status == 2
    ran = tuner("uci", "tictactoe/classic", stdin=b"isready\n")
    assert (ran.status, ran.err.count("\n")) == (2, 1) and "tictactoe, expected chess" in ran.err
    ran = done("uci", "pesto", stdin=b"setoption name EvalFile value tictactoe/classic\nisready\n")
    assert ran.out.splitlines()[0].startswith("info string ") and ran.out.splitlines()[1:] == [
        "readyok"
    ]


def test_terms_of_the_user_s_play_too(tmp_path):
    assert "none.py" in refused("uci", "--terms", tmp_path / "none.py", stdin=b"isready\nquit\n")


def test_uci_is_among_the_commands_and_its_answer_needs_no_library():
    assert "uci" in COMMANDS
    code = (
        "import io, sys; from tuner.cli import main; sys.stdin ="
        " io.TextIOWrapper(io.BytesIO(b'uci\\nsetoption name Hash value 3\\nquit\\n'));"
        " main(['uci']); print([name for name in ('numpy', 'numba', 'yaml') if name in"
        " sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=REPOSITORY,
    )
    assert out.stdout.splitlines()[-2:] == ["uciok", "[]"], out.stderr
