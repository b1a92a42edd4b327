"""The protocol of xboard as an engine: what each order of commands is answered, and whole games of
python-chess, of our matches and of engines that learn."""

import json
import re
import shutil
import sys

import chess
import chess.engine
import pytest

from games.chess.engines.xboard_server import serve
from tests.commands.support import done
from tests.games.chess.engines.uci.support import Small
from tests.games.protocol import talk
from tuner.evaluation.loading import parameter_path
from tuner.play.selfplay.folder import read_history

COMMAND = [sys.executable, "-m", "tuner", "xboard"]
MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
PATIENCE = 120.0  # seconds: the first run on a machine compiles


class Talk(talk.Talk):
    """A conversation with the engine."""

    def ask(self, *lines: str) -> list[str]:
        self.say(*lines, "ping 77")
        self.hear("pong 77")
        return self.heard[:-1]


@pytest.fixture(scope="module")
def talking():
    found = Talk(serve, Small(), "classic")
    yield found
    found.leave()


MOVE = r"move [a-h][1-8][a-h][1-8][qrbn]?"
START = ("new", "sd 1", "nopost")
ILLEGAL = "Illegal move: "
CASES = {
    # what is said after START, and all that is answered, as patterns
    "xboard": (["xboard"], []),
    "protover": (["protover 2"], ["feature .*done=1"]),
    "go": (["go"], [MOVE]),
    "go twice": (["go", "ping 1", "go"], [MOVE, "pong 1", MOVE]),
    "a move": (["usermove e2e4"], [MOVE]),
    "a move without its command": (["e2e4"], [MOVE]),
    "two moves": (["usermove e2e4", "ping 1", "usermove a2a3"], [MOVE, "pong 1", MOVE]),
    "force": (["force", "usermove e2e4"], []),
    "force both sides": (["force", "usermove e2e4", "usermove e7e5"], []),
    "force then go": (["force", "usermove e2e4", "go"], [MOVE]),
    "playother with our side to move": (["force", "playother", "usermove e2e4"], [MOVE]),
    "playother with the other": (["force", "usermove e2e4", "playother", "usermove e7e5"], [MOVE]),
    "illegal": (["usermove e2e5"], [ILLEGAL + "e2e5"]),
    "illegal then legal": (["usermove e2e5", "usermove e2e4"], [ILLEGAL + "e2e5", MOVE]),
    "no square": (["usermove z9z9"], [ILLEGAL + "z9z9"]),
    "no move": (["usermove"], [ILLEGAL]),
    "a move of the wrong side": (["usermove e7e5"], [ILLEGAL + "e7e5"]),
    "a move into check": (
        ["force", "setboard 4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "usermove e1d2"],
        [ILLEGAL + "e1d2"],
    ),
    "promotion": (["force", "setboard 8/P6k/8/8/8/8/8/K7 w - - 0 1", "usermove a7a8q"], []),
    "promotion without its piece": (
        ["force", "setboard 8/P6k/8/8/8/8/8/K7 w - - 0 1", "usermove a7a8"],
        [ILLEGAL + "a7a8"],
    ),
    "castling": (["force", "setboard 4k3/8/8/8/8/8/8/4K2R w K - 0 1", "usermove e1g1"], []),
    "undo in force": (["force", "usermove e2e4", "undo", "usermove d2d4"], []),
    "undo of nothing": (["undo"], ["Error .no move to take back."]),
    "undo too often": (["force", "usermove e2e4", "undo", "undo"], ["Error .no move"]),
    "remove": (["usermove e2e4", "ping 1", "remove", "usermove d2d4"], [MOVE, "pong 1", MOVE]),
    "remove of nothing": (["remove"], ["Error .no move to take back."]),
    "remove of one": (["force", "usermove e2e4", "remove"], ["Error .no move to take back."]),
    "setboard": (["force", "setboard 4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "go"], [MOVE]),
    "setboard is no position": (["setboard x"], ["tellusererror Illegal position: .*"]),
    "setboard without kings": (
        ["setboard 8/8/8/8/8/8/8/8 w - - 0 1"],
        ["tellusererror Illegal position: .*"],
    ),
    "setboard is refused and the game goes on": (
        ["force", "usermove e2e4", "setboard x", "usermove e7e5"],
        ["tellusererror .*"],
    ),
    "our mate": (
        ["sd 2", "force", f"setboard {MATE_IN_1}", "go"],
        ["move a1a8", "1-0 .White mates."],
    ),
    "their mate": (
        ["force", f"setboard {MATE_IN_1}", "playother", "usermove a1a8"],
        ["1-0 .White mates."],
    ),
    "mate in force is no claim": (["force", f"setboard {MATE_IN_1}", "usermove a1a8"], []),
    "go where the game is over": (["force", f"setboard {MATED}", "go"], ["1-0 .White mates."]),
    "stalemate": (
        ["force", "setboard k7/8/1Q6/8/8/8/8/K7 w - - 0 1", "playother", "usermove b6c7"],
        ["1/2-1/2 .Drawn by the rules."],
    ),
    "result": (["result 1-0 {White mates}"], []),
    "result in play": (["sd 60", "st 50", "go", "result 0-1 {resigns}"], []),
    "result and a move": (["result * {}", "usermove e2e4"], []),
    "new in play": (["sd 60", "st 50", "go", "new", "sd 1", "usermove e2e4"], [MOVE]),
    "force in play": (["sd 60", "st 50", "go", "force"], []),
    "new ends force": (["force", "new", "sd 1", "usermove e2e4"], [MOVE]),
    "new resets the board": (["force", "usermove e2e4", "new", "force", "usermove e2e4"], []),
    "level": (["level 40 5 0", "time 100", "otim 100", "go"], [MOVE]),
    "level with seconds": (["level 0 0:02 0.1", "time 200", "go"], [MOVE]),
    "level with little": (["level 0"], ["Error .too few parameters.: level"]),
    "level of nonsense": (["level a b c"], ["Error .bad level.*"]),
    "no time left": (["level 0 1 0", "time 0", "go"], [MOVE]),
    "less than no time": (["level 0 1 0", "time -50", "go"], [MOVE]),
    "st": (["st 1", "go"], [MOVE]),
    "st of nonsense": (["st x"], ["Error .bad time.*"]),
    **{
        f"st {number}": ([f"st {number}"], ["Error .bad time.*"])
        for number in ("inf", "-inf", "nan", "")
    },
    "st 1e308": (["st 1e308", "sd 1", "go"], [MOVE]),
    "st -1": (["st -1", "go"], [MOVE]),
    **{
        f"level {number}": ([f"level {number}"], ["Error .bad level.*"])
        for number in ("0 inf 0", "0 nan 0", "0 5 inf", "0 5:nan 0", "1e9 5 0")
    },
    "level -1": (["level -1 -1 -1", "go"], [MOVE]),
    "level 1e300": (["level 0 1e300 1e308", "sd 1", "go"], [MOVE]),
    "time of many digits": (["level 0 5 0", f"time {'9' * 18}", "sd 1", "go"], [MOVE]),
    "variant": (["variant crazyhouse"], ["Error .unsupported variant.: 'crazyhouse'"]),
    "variant normal": (["variant normal", "usermove e2e4"], [MOVE]),
    "nodes": (["nps 1", "st 200", "go"], [MOVE]),
    "nodes of many digits": (["nps 99999999999", "st 1e300", "sd 1", "go"], [MOVE]),
    "new ends nodes": (
        ["nps 1", "st 50", "new", "sd 60", "go", "usermove e7e5", "force"],
        ["Error .not your move.: 'e7e5'"],
    ),
    "sd of nonsense": (["sd x"], ["sd 'x' is not a whole number"]),
    "sd 0": (["sd 0"], ["sd 0 is not 1 or more"]),
    "time of nonsense": (["time x"], [".*is not a whole number"]),
    "memory": (["memory 2"], []),
    "memory 0": (["memory 0"], ["memory 0 is not from 1 to .*"]),
    "post": (["post", "go"], [r"1 -?\d+ \d+ \d+ [a-h].*", MOVE]),
    "draw": (["draw", "usermove e2e4"], [MOVE]),
    "what needs no answer": (
        ["random", "hard", "easy", "computer", "name x", "rating 1 2", "ics -", "accepted ping"],
        [],
    ),
    "hint and book": (["hint", "bk"], []),
    "unknown": (["foo bar"], ["Error .unknown command.: 'foo bar'"]),
    "empty": (["", "   "], []),
    "pings": (["ping 1", "ping 2"], ["pong 1", "pong 2"]),
    "move now without a search": (["?"], []),
    "a move while we think": (
        ["sd 60", "st 50", "go", "usermove e7e5", "force"],
        ["Error .not your move.: 'e7e5'"],
    ),
    "exit without analysis": (["exit", "usermove e2e4"], [MOVE]),
    "a long line": (["x" * (1 << 18)], ["Error .line too long.*"]),
}


@pytest.mark.parametrize("case", CASES)
def test_each_order_is_answered_as_the_protocol_says(talking, case):
    said, expected = CASES[case]
    found = talking.ask(*START, *said)
    assert len(found) == len(expected), found
    for text, pattern in zip(found, expected, strict=True):
        assert re.fullmatch(f"{pattern}.*", text), (text, pattern)


def test_analysis_goes_on_until_it_is_left_and_follows_moves(talking):
    talking.say(*START, "post", "analyze")
    assert re.match(r"\d+ -?\d+ \d+ \d+ ", talking.hear("4 "))
    talking.say("usermove e2e4", ".")
    first = talking.hear("3 ").split()[4]
    assert first[1] in "78"  # a move of Black
    talking.say("undo")
    assert talking.hear("3 ").split()[4][1] in "12"
    assert not [line for line in talking.ask("exit") if line.startswith("move")]
    assert re.fullmatch(MOVE, talking.ask("nopost", "sd 1", "go")[-1])


def test_move_now_plays_at_once(talking):
    talking.say(*START, "sd 90", "st 1000", "go", "?")
    assert re.fullmatch(MOVE, talking.hear("move", 30))


@pytest.mark.parametrize(
    "limit",
    [
        chess.engine.Limit(depth=2),
        pytest.param(chess.engine.Limit(time=0.01), marks=pytest.mark.long),
        chess.engine.Limit(white_clock=0.4, black_clock=0.4, white_inc=0.01, black_inc=0.01),
    ],
    ids=["depth", "time", "clock"],
)
def test_python_chess_plays_whole_games(limit):
    engine = chess.engine.SimpleEngine.popen_xboard(COMMAND, timeout=PATIENCE)
    try:
        for game in range(2):
            board = chess.Board()
            while not board.is_game_over(claim_draw=True) and board.ply() < 40:
                board.push(engine.play(board, limit, game=game).move)
            assert board.ply() > 10
        info = engine.analyse(chess.Board(MATE_IN_1), chess.engine.Limit(depth=3))
        assert info["score"].white() == chess.engine.Mate(1)
    finally:
        engine.quit()


@pytest.mark.parametrize(
    "limit",
    [
        ("--depth", 2),
        pytest.param(("--nodes", 200), marks=pytest.mark.long),
        pytest.param(("--tc", "0.3+0.01", "--timemargin", 30), marks=pytest.mark.long),
    ],
)
def test_our_matches_play_it(limit):
    command = f"xboard:{sys.executable} -m tuner xboard classic"
    ran = done("match", command, "material", *limit, "--games", 2, "--plies", 50, "--json")
    found = json.loads(ran.out)
    assert found["games"] == 2 and not found["forfeits"]


def test_it_learns_nothing_from_a_game_that_is_broken_off(tmp_path):
    path = shutil.copy(parameter_path("material"), tmp_path / "mine.yaml")
    with chess.engine.SimpleEngine.popen_xboard(
        [*COMMAND, str(path), "--learn"], timeout=PATIENCE
    ) as engine:
        board = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
        board.push(engine.play(board, chess.engine.Limit(depth=2), game=0).move)
        engine.protocol.send_line("result * {Game aborted}")
        engine.quit()
    assert read_history(tmp_path / "mine-games") == []


def test_it_learns_with_the_result_that_xboard_says(tmp_path):
    path = shutil.copy(parameter_path("material"), tmp_path / "mine.yaml")
    command = [*COMMAND, str(path), "--learn"]
    with chess.engine.SimpleEngine.popen_xboard(command, timeout=PATIENCE) as engine:
        board = chess.Board()
        for move in ("e2e4", "d2d4", "g1f3"):
            board.push_uci(move)
            board.push(engine.play(board, chess.engine.Limit(depth=2), game=0).move)
        engine.protocol.send_line("result 1-0 {Black resigns}")
        engine.quit()
    (line,) = read_history(tmp_path / "mine-games")
    assert line["broken_off"] == 0 and line["draws"] == 0
    assert '[Result "1-0"]' in (tmp_path / "mine-games" / "games.pgn").read_text()
