"""`tuner uci` as chess programs use it: a process with which python-chess plays and analyses."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

import chess
import chess.engine
import pytest

from evalterms.framework.encoding import encoding_named
from tests.commands.support import done, refused, tuner, without_compiling
from tests.games.support import REPOSITORY
from tests.support import file_with
from tuner.cli import COMMANDS
from tuner.evaluation.networks.files import NetworkFile, write_network
from tuner.evaluation.networks.model import random_network

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
        # as are the moves of its variations: python-chess reads them on the board
        assert played.move in board.legal_moves
        board.push(played.move)
        assert played.ponder is None or played.ponder in board.legal_moves


def test_it_plays_whole_games_by_the_clock(engine):
    board = chess.Board()
    play(engine, board, 1.0, 0.01)
    assert len(board.move_stack) > 20


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
        + b"\n"
        + b"position startpos moves d2d4 " * 9000
        + b"\nposition startpos moves e2e4\n"
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


@pytest.fixture(scope="module")
def chess_network(tmp_path_factory):
    """A random network for chess."""
    path = tmp_path_factory.mktemp("network") / "net.yaml"
    size = encoding_named("chess", "bitboard768").size
    made = random_network(size, [(8, "relu"), (1, "sigmoid")], 3)
    write_network(path, NetworkFile("chess", "bitboard768", made, 1, "a test", 0.00255))
    return path


@pytest.mark.long
def test_a_network_plays_whole_games_and_evaluates_as_tuner_eval_does(chess_network):
    command = [*COMMAND, str(chess_network)]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=PATIENCE, cwd=REPOSITORY) as engine:
        board = chess.Board()
        play(engine, board, 1.0, 0.01)
        assert len(board.move_stack) > 20
    fen = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 4 4"
    answers = spoken("uci", f"position fen {fen}", "eval", params=chess_network)
    found = next(line for line in answers if "static evaluation" in line)
    value = json.loads(done("eval", chess_network, fen, "--json").out)["evaluation"]
    assert float(found.split()[-4]) == pytest.approx(value, abs=0.006)


def test_a_network_has_the_constants_of_its_search_as_options(chess_network):
    answers = spoken("uci", params=chess_network, more=["--options"])
    names = [line.split(" name ")[1].split(" type ")[0] for line in answers if "option" in line]
    assert "Search.LmrDivisor" in names and not any(name.startswith("material") for name in names)


def spoken(*lines: str, params, more: Iterable[str] = ()) -> list[str]:
    """What an engine answers."""
    text = "".join(f"{line}\n" for line in (*lines, "quit")).encode()
    return done("uci", params, *more, stdin=text).out.splitlines()


@pytest.mark.long
def test_networks_of_another_game_and_files_of_terms_are_refused(chess_network, tmp_path):
    other = REPOSITORY / "params" / "backgammon" / "network.yaml"
    line = refused("uci", other, stdin=b"isready\nquit\n")
    assert line.endswith("network.yaml: an evaluation of backgammon, expected chess")
    terms = file_with(tmp_path / "terms.py", "")
    line = refused("uci", chess_network, "--terms", terms, stdin=b"isready\nquit\n")
    assert line == f"tuner: --terms {terms}: {chess_network} is a network; leave it out"
