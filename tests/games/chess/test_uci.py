"""The UCI side of the engine, spoken to line by line; python-chess judges the moves."""

from __future__ import annotations

import io
import queue
import random
import re
import threading
import time

import chess
import pytest

from games.chess.fen import position
from games.chess.uci import lines_of, serve
from games.chess.uci.go import Go, parse_go
from games.chess.uci.line import Line
from games.chess.uci.server import COMMANDS, LONGEST_LINE
from games.chess.uci.thinking import limits_of_go, score_text
from games.search.searcher import Found
from games.streams import InputError
from tests.games.support import random_lines
from tuner.engine import load_engine

PATIENCE = 30.0  # seconds until a test gives up
SOON = 1.0  # what is answered at once takes no longer, even on a busy machine
MATED = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1 moves a1a8"
INFO = re.compile(r"info depth \d+ score (?:cp|mate) -?\d+ nodes \d+ nps \d+ hashfull (?P<full>\d+) time \d+ pv (?P<pv>.+)")
KIWIPETE = "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1"
STALEMATE = "7k/5Q2/8/8/8/8/8/K7 b - - 0 1"
ONLY_MOVE = "k7/8/8/8/8/8/6q1/7K w - - 0 1"


def searchers():
    """A function that makes a small search of a parameter file."""
    engine, parameters = load_engine("classic")

    def make(name: str | None):
        return engine.searcher(load_engine(name)[1] if name else parameters, megabytes=1)

    return make


class Talk:
    """A conversation with an engine that runs in another thread of this process."""

    def __init__(self, make=None) -> None:
        self._in: queue.Queue[str | None] = queue.Queue()
        self._out: queue.Queue[str | None] = queue.Queue()
        self.heard: list[str] = []
        self._thread = threading.Thread(target=self._serve, args=(make or searchers(),), daemon=True)
        self._thread.start()

    def _serve(self, make) -> None:
        self.searches = serve(make, iter(self._in.get, None), self._out.put, "it", "classic")
        self._out.put(None)

    def say(self, *lines: str) -> None:
        for line in lines:
            self._in.put(line)

    def hear(self, start: str, within: float = PATIENCE) -> str:
        """The next line that starts so; those before it are kept in `heard`."""
        self.heard, end = [], time.monotonic() + within
        while True:
            line = self._out.get(timeout=max(0.0, end - time.monotonic()))
            assert line is not None, "the engine has quit"
            self.heard.append(line)
            if line.startswith(start):
                return line

    def ask(self, *lines: str) -> list[str]:
        """What the engine says to these lines before it is ready."""
        self.say(*lines, "isready")
        self.hear("readyok")
        return self.heard[:-1]

    def best(self, *lines: str) -> list[str]:
        """The words after `bestmove` that follow these lines."""
        self.say(*lines)
        return self.hear("bestmove").split()[1:]

    def leave(self, line: str | None = "quit") -> list[str]:
        """Quit, or end the input; what was still said."""
        self._in.put(line)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return list(iter(self._out.get_nowait, None))


@pytest.fixture(scope="module")
def shared():
    talk = Talk()
    yield talk
    assert talk.leave() == []


@pytest.fixture
def talk(shared):
    """The engine with nothing running, all options as at the start, and the starting position."""
    shared.ask("stop")  # a test that failed may have left it searching
    shared.ask("position startpos")
    assert shared.ask("setoption name UCI_Chess960 value false", "setoption name EvalFile value classic", "ucinewgame",
                      "position startpos") == []
    return shared


def board_of(text: str, chess960: bool = False) -> chess.Board:
    """The board of what stands behind `position `."""
    start, _, moves = text.partition(" moves ")
    board = chess.Board(chess960=chess960) if start == "startpos" else chess.Board(start.removeprefix("fen "), chess960=chess960)
    for move in moves.split():
        board.push_uci(move)
    return board


def check_info(lines: list[str], board: chess.Board, chess960: bool = False) -> None:
    """Every line of information is complete, and its variation legal in the notation of the game."""
    for line in lines:
        found = INFO.fullmatch(line)
        assert found, line
        assert int(found["full"]) <= 1000
        after = board.copy()
        for name in found["pv"].split():
            move = chess.Move.from_uci(name)
            assert move in after.legal_moves, line
            assert after.uci(move, chess960=chess960) == name
            after.push(move)


def test_uci_is_answered_without_making_a_search():
    talk = Talk(make=lambda name: pytest.fail("made a search"))
    talk.say("uci", "setoption name Hash value 2", "debug on", "stop")
    talk.hear("uciok", SOON)
    options = [line.split(" type ")[0].removeprefix("option name ") for line in talk.heard if line.startswith("option")]
    assert options == ["Hash", "Clear Hash", "Ponder", "Move Overhead", "UCI_Chess960", "EvalFile"]
    assert talk.leave() == []


@pytest.mark.parametrize("line", ["quit", None])
def test_quit_and_the_end_of_the_input_end_it_and_a_search_still_answers_once(line):
    talk = Talk()
    talk.ask()
    talk.say("go infinite")
    talk.hear("info depth 3")
    rest = talk.leave(line)
    assert [text.split()[0] for text in rest].count("bestmove") == 1 and rest[-1].startswith("bestmove")
    assert talk.searches == 1


def test_a_wrong_file_on_the_command_line_is_the_caller_s_error():
    def make(name):
        raise InputError("nowhere.yaml: no such file")

    with pytest.raises(InputError, match="nowhere.yaml"):
        serve(make, ["uci", "isready", "quit"], lambda line: None, "it", "nowhere.yaml")


@pytest.mark.parametrize("go", ["depth 5", "nodes 3000", "movetime 30", "wtime 200 btime 200", "wtime 90 btime 90 movestogo 1",
                                "wtime -20 btime -20", "wtime 100 btime 100 winc 10 binc 10 movestogo 0", "depth 3 nodes 100000",
                                "movetime 0", "nodes 1", "searchmoves e7e5 c7c5 depth 4", "searchmoves a7a6 movetime 20"])
@pytest.mark.parametrize("where", ["startpos moves e2e4", KIWIPETE])
def test_every_way_to_go_ends_in_a_legal_move_and_tells_of_legal_ones(talk, go, where):
    if "searchmoves" in go and "startpos" not in where:
        go = go.replace("e7e5 c7c5", "e8g8 e8c8").replace("a7a6", "h3g2")
    move, *ponder = talk.best(f"position {where}", f"go {go}")
    board = board_of(where)
    check_info(talk.heard[:-1], board)
    assert chess.Move.from_uci(move) in board.legal_moves
    if "searchmoves" in go:
        assert move in go.split()
    board.push_uci(move)
    assert not ponder or chess.Move.from_uci(ponder[1]) in board.legal_moves


def test_depth_and_nodes_are_kept(talk):
    talk.best("go depth 4")
    assert [line.split()[2] for line in talk.heard[:-1]] == ["1", "2", "3", "4"]
    talk.best("go nodes 5000")
    assert 5000 <= int(talk.heard[-2].split(" nodes ")[1].split()[0]) < 5200


@pytest.mark.parametrize("where, score", [(f"fen {MATED}", "mate 0"), (f"fen {STALEMATE}", "cp 0")])
@pytest.mark.parametrize("go", ["depth 3", "movetime 10", "infinite", "ponder"])
def test_where_there_is_no_move_that_is_the_answer(talk, where, score, go):
    talk.say(f"position {where}", f"go {go}")
    if go in ("infinite", "ponder"):
        assert talk.hear("info") == f"info depth 0 score {score}"
        assert talk.ask() == []
        talk.say("stop")
    talk.hear("bestmove (none)", SOON)


@pytest.mark.parametrize("fen, score, moves", [
    ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "mate 1", 1), ("k7/8/1K6/8/8/8/7R/8 b - - 0 1", "mate -1", 2),
    ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "mate 2", 3), ("6k1/8/8/8/8/8/R7/1R4K1 b - - 0 1", "mate -3", 6)])
def test_mates_are_counted_in_moves(talk, fen, score, moves):
    talk.best(f"position fen {fen}", "go depth 8")
    assert f" score {score} " in talk.heard[-2]
    assert len(talk.heard[-2].split(" pv ")[1].split()) == moves


def test_the_plies_of_the_search_are_the_moves_of_uci():
    plies = {1: "mate 1", 2: "mate 1", 3: "mate 2", 5: "mate 3"}
    assert {n: score_text(Found(1e6, n, (), 1, 1, 1.0)) for n in plies} == plies
    plies = {0: "mate 0", -1: "mate -1", -2: "mate -1", -3: "mate -2", -4: "mate -2", -6: "mate -3"}
    assert {n: score_text(Found(-1e6, n, (), 1, 1, 1.0)) for n in plies} == plies
    assert score_text(Found(-12.6, None, (), 1, 1, 1.0)) == "cp -13"


def test_a_mate_that_was_asked_for_ends_the_search(talk):
    move, *_ = talk.best("position fen 6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "go mate 1")
    assert move == "a1a8"
    talk.best("position fen 7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "go mate 2")
    assert " score mate 2 " in talk.heard[-2]


def test_infinite_goes_on_until_stop_and_answers_at_once(talk):
    talk.say("position startpos", "go infinite")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("stop")
    talk.hear("bestmove", SOON)
    assert talk.ask("stop") == []


def test_a_stop_that_comes_at_once_is_not_missed(talk):
    for _ in range(50):
        assert talk.best("position startpos moves d2d4", "go infinite", "stop")[0] != "(none)"
    assert talk.ask() == []


def test_without_any_limit_a_finished_search_waits_for_stop(talk):
    talk.say(f"position fen {ONLY_MOVE}", "go infinite depth 2")
    talk.hear("info depth 2")
    assert talk.ask() == []
    talk.say("stop")
    talk.hear("bestmove", SOON)


def test_pondering_goes_on_until_the_hit_and_then_by_the_clock(talk):
    talk.say("position startpos moves e2e4", "go ponder wtime 1000 btime 1000")
    time.sleep(0.1)  # longer than the clock would have allowed
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("ponderhit")
    talk.hear("bestmove", SOON)
    talk.say("go ponder movetime 50")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("ponderhit")
    talk.hear("bestmove", SOON)
    talk.say("go ponder depth 1")
    talk.hear("info depth 1")
    talk.say("ponderhit")
    talk.hear("bestmove", SOON)
    talk.say("go ponder")
    talk.say("stop")
    talk.hear("bestmove", SOON)


def test_on_the_clock_an_only_move_is_played_at_once(talk):
    talk.say(f"position fen {ONLY_MOVE}", "go wtime 600000 btime 600000")
    talk.hear("bestmove h1g2", SOON)


def test_while_searching_only_what_concerns_the_search_is_obeyed(talk):
    talk.say("position startpos moves e2e4 e7e5", "go infinite")
    orders = ("position startpos", "go depth 1", "ucinewgame", "setoption name Hash value 1", "uci", "debug on")
    said = [line for line in talk.ask(*orders)
            if not line.startswith(("info depth", "option", "id"))]
    assert [line.split(";")[0] for line in said] == [
        f"info string {word} while searching" for word in ("position", "go", "ucinewgame", "setoption")] + ["uciok"]
    talk.say("stop", "position startpos moves e2e4", "go depth 2")  # does not wait for the answer
    for board in (board_of("startpos moves e2e4 e7e5"), board_of("startpos moves e2e4")):
        assert chess.Move.from_uci(talk.hear("bestmove").split()[1]) in board.legal_moves


WRONG = [
    "joho", "UCI", "go depth", "go depth x", "go depth 0", "go depth -3", "go depth 3 4", "go nodes 1e5", "go nodes 0",
    "go mate 0", "go movetime -1", "go wtime", "go movestogo -1", "go depth ٣", "go depth " + "9" * 5000,
    "go searchmoves", "go searchmoves e2e5", "go searchmoves depth 3", "go forth", "go infinite now", "isready now",
    "stop it", "uci 2", "ucinewgame 1", "quit now", "ponderhit", "position", "position e2e4", "position startpos e2e4",
    "position startpos moves e2e5", "position startpos moves 0000", "position startpos moves e2e4 e7e5 e1e3",
    "position startpos moves e2e4 ...", "position fen", "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 junk",
    "position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - x y", "setoption", "setoption name",
    "setoption Hash 3", "setoption name Hash", "setoption name Hash value", "setoption name Hash value many",
    "setoption name Hash value 0", "setoption name Hash value 99999999", "setoption name Contempt value 3",
    "setoption name UCI_Chess960 value maybe", "setoption name Ponder value", "setoption name Move Overhead value -1",
    "setoption name Clear Hash value 1", "setoption name EvalFile value nowhere.yaml", "\x00\x01", "\ufffd" * 99,
    "go\x00 depth 3", "position startpos moves \ufffd", "x" * (LONGEST_LINE + 1),
    "position startpos moves " + "g1f3 " * 30000, "position fen " + "1" * 50000 + " w - - 0 1", "info depth 3",
    "bestmove e2e4", "readyok", "setoption value name",
]


def test_a_wrong_line_is_answered_by_one_line_and_changes_nothing(talk):
    assert talk.ask("position startpos moves e2e4") == []
    for line in WRONG:
        said = talk.ask(line)
        assert len(said) == 1 and said[0].startswith("info string ") and len(said[0]) < 400 and said[0].isprintable(), line[:80]
    assert talk.ask("", "   ", "\t\r\n") == []
    move, *_ = talk.best("go depth 2")
    assert chess.Move.from_uci(move) in board_of("startpos moves e2e4").legal_moves


def test_a_table_too_large_for_memory_is_told_whenever_it_is_asked_for():
    class Small:
        """A search whose table cannot grow."""

        def __init__(self, searcher) -> None:
            self._searcher = searcher

        def __getattr__(self, name: str):
            return getattr(self._searcher, name)

        def resize(self, megabytes: int) -> None:
            if megabytes > 16:
                raise MemoryError
            self._searcher.resize(1)

    make = searchers()
    talk = Talk(lambda name: Small(make(name)))
    talk.say("setoption name Hash value 17")
    assert talk.ask() == ["info string not enough memory for Hash 17; using 16"]
    assert talk.ask("setoption name Hash value 99") == ["info string not enough memory for Hash 99"]
    assert talk.ask("setoption name Hash value 9", "ucinewgame") == []
    talk.best("go depth 2")
    assert talk.leave() == []


def test_a_rejected_move_leaves_the_whole_old_line_as_it_was():
    line = Line()
    line.set("8/8/8/8/8/8/k1K5/6R1 w - - 0 1", ["g1g2"])
    before = [words.copy() for words in line.playable()]
    for start, names in (("8/8/8/8/8/8/k1K5/6R1 w - - 0 1", ["g1g2", "a2a9"]), ("junk", [])):
        with pytest.raises(ValueError):
            line.set(start, names)
        assert [list(words) for words in line.playable()] == [list(words) for words in before]


@pytest.mark.parametrize("chess960", [False, True])
def test_lines_that_grow_shrink_and_branch_are_those_of_python_chess(chess960):
    rng, line = random.Random(3), Line()
    for start, moves in random_lines(3, 6, 80, chess960):
        names, board = [], start.copy()
        for move in moves:
            names.append(board.uci(move, chess960=chess960))
            board.push(move)
        for _ in range(4):
            n = rng.randrange(len(moves) + 1)
            line.set(start.fen(), names[:n])
            board = start.copy()
            for move in moves[:n]:
                board.push(move)
            wanted = [board.fen()]
            while board.halfmove_clock and board.move_stack:
                board.pop()
                wanted.append(board.fen())
            assert [list(words) for words in line.playable()] == [list(position(fen)) for fen in reversed(wanted)]


def test_in_chess960_castling_is_told_and_read_as_the_king_that_takes_its_rook(talk):
    fen = "4k3/8/8/8/8/8/7P/5KRQ w G - 0 1"  # f1g1 can mean castling alone
    talk.ask("setoption name UCI_Chess960 value true")
    assert talk.best(f"position fen {fen}", "go depth 3 searchmoves f1g1")[0] == "f1g1"
    step = "rk5r/8/8/8/8/8/8/R4K1R w Hha - 0 1"
    assert talk.best(f"position fen {step}", "go depth 3 searchmoves f1g1")[0] == "f1g1"
    assert talk.best(f"position fen {step}", "go depth 3 searchmoves f1h1")[0] == "f1h1"
    check_info(talk.heard[:-1], chess.Board(step, chess960=True), chess960=True)
    usual = "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert talk.best(f"position {usual}", "go depth 3 searchmoves e1h1")[0] == "e1h1"
    talk.ask("setoption name UCI_Chess960 value false")
    assert talk.best(f"position {usual}", "go depth 3 searchmoves e1h1")[0] == "e1g1"


def test_where_a_king_may_step_or_castle_the_name_means_the_step():
    line, fen = Line(), "1k6/8/8/8/8/8/8/5K1R w K - 0 1"
    for name, king, rook in (("f1g1", chess.G1, chess.H1), ("f1h1", chess.G1, chess.F1)):
        line.set(fen, [name])
        board = chess.Board(fen, chess960=True)
        board.push(chess.Move.from_uci(name))
        assert (board.piece_type_at(king), board.piece_type_at(rook)) == (chess.KING, chess.ROOK)
        assert list(line.playable()[-1]) == list(position(board.fen()))


def test_another_evaluation_gives_other_scores_and_a_wrong_one_leaves_the_old(talk):
    def score() -> str:
        talk.best("ucinewgame", "position startpos moves e2e4", "go depth 1")
        return talk.heard[0].split(" nodes")[0]

    classic = score()
    assert talk.ask("setoption name EvalFile value zero") == []
    assert score() == "info depth 1 score cp 0" != classic
    (said,) = talk.ask("setoption name EvalFile value nowhere.yaml")
    assert said.startswith("info string nowhere.yaml: no such file")
    assert score() == "info depth 1 score cp 0"
    assert talk.ask("setoption name evalfile value <empty>") == []
    assert score() == classic


def test_repetitions_in_the_game_are_known_to_the_search(talk):
    """White is lost but for the third occurrence of the position."""
    start = "fen 7k/8/8/8/8/8/q7/7K b - - 0 1"
    talk.best(f"position {start} moves a2b2 h1g1 b2a2 g1h1 a2b2 h1g1 b2a2", "go depth 5")
    assert "score cp 0" in talk.heard[-2]


def asked(text: str) -> Go:
    return parse_go(text.split())


def test_what_go_asks_for_is_understood():
    assert asked("wtime 1 btime -2 winc 3 binc 4 movestogo 5 ponder") == Go(
        wtime=1, btime=-2, winc=3, binc=4, movestogo=5, ponder=True)
    assert asked("searchmoves e2e4 d2d4 depth 6 infinite") == Go(
        depth=6, infinite=True, searchmoves=("e2e4", "d2d4"))
    white, black = (limits_of_go(asked("wtime 60000 btime 1000"), side, 0.0) for side in (True, False))
    assert white.enough > 20 * black.enough
    assert limits_of_go(asked("infinite wtime 10 btime 10"), True, 0.0).seconds is None
    assert limits_of_go(asked("depth 999999 nodes 999999999999999999"), True, 0.0).depth <= 60


def test_lines_are_cut_whatever_bytes_they_hold():
    stream = io.BytesIO(b"uci\r\n\xff\xfe\x00\n" + b"y" * (3 * LONGEST_LINE) + b"\nquit")
    first, second, third, last = lines_of(stream)
    assert (first, second, last) == ("uci\r\n", "\ufffd\ufffd\x00\n", "quit")
    assert len(third) == LONGEST_LINE + 1
    assert list(lines_of(io.BytesIO(b"y" * LONGEST_LINE + b"\nquit\n"))) == ["y" * LONGEST_LINE + "\n", "quit\n"]


def garbage(rng: random.Random) -> str:
    """A line that is damaged, cut short, mixed up or noise; never one that starts or ends anything."""
    words = [*COMMANDS, "depth", "3", "-1", "startpos", "moves", "e2e4", "fen", "name", "Hash", "value", "\ufffd", "9" * 30]
    kind = rng.randrange(4)
    if kind == 0:
        text = bytes(rng.randrange(256) for _ in range(rng.randrange(200))).decode("utf-8", "replace").replace("\n", " ")
    elif kind == 1:
        text = " ".join(rng.choice(words) for _ in range(rng.randrange(1, 9)))
    elif kind == 2:
        text = rng.choice(["position startpos moves e2e4 e7e5", "setoption name Hash value 16", "go wtime 100 btime 100"])
        text = text[:rng.randrange(len(text))] + rng.choice(["", "\x00", "x"])
    else:
        text = rng.choice(words) * rng.randrange(1, 3000)
    return text if text.split()[:1] not in (["go"], ["quit"]) or "quit " in text else "x" + text


def test_garbage_between_commands_never_harms(talk):
    rng = random.Random(5)
    for where in ("startpos moves e2e4", f"fen {ONLY_MOVE}", "startpos"):
        talk.ask(*(garbage(rng) for _ in range(150)))
        move, *_ = talk.best(f"position {where}", "go depth 2")
        assert chess.Move.from_uci(move) in board_of(where).legal_moves
        talk.say("go infinite")
        said = talk.ask(*(garbage(rng).replace("stop", "st0p") for _ in range(50)))
        assert not [line for line in said if line.startswith("bestmove")]
        talk.best("stop")
