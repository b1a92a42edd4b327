"""Lines that are invalid, damaged or noise."""

from __future__ import annotations

import io
import random

import chess

from games.chess.uci import lines_of
from games.chess.uci.go import KNOWN
from games.chess.uci.server import COMMANDS
from games.protocol.lines import LONGEST_LINE
from tests.games.chess.uci.support import ONLY_MOVE, board_of

WRONG = [
    "joho", "UCI", "isready now", "stop it", "uci 2", "ucinewgame 1", "quit now", "ponderhit", "position", "position e2e4",
    "position startpos e2e4", "position startpos moves e2e5", "position startpos moves 0000",
    "position startpos moves e2e4 e7e5 e1e3", "position startpos moves e2e4 ...", "position fen",
    "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
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
WRONG_GO = {  # and a part of the message
    "go depth": "depth has no number; ignored", "go depth x": "depth 'x' is not a whole number; ignored",
    "go depth 0": "depth 0 is not 1 or more; ignored", "go depth -3": "depth -3 is not 1 or more; ignored",
    "go depth 3 4": "go: unknown argument '4'", "go nodes 1e5": "nodes '1e5' is not a whole number",
    "go nodes 0": "nodes 0 is not 1",
    "go nodes -7 depth 2": "nodes -7 is not 1 or more; ignored", "go mate 0": "mate 0 is not 1 or more; ignored",
    "go mate -2": "mate -2 is not 1 or more", "go movetime -1": "movetime -1 is not 0 or more; ignored",
    "go movetime": "movetime has no number", "go movetime 0.5": "movetime '0.5' is not a whole number",
    "go wtime": "wtime has no number", "go wtime btime 100": "wtime has no number",
    "go wtime x btime x": "wtime 'x' is not a whole number", "go wtime 100": "btime is missing",
    "go movestogo -1 wtime 60 btime 60": "movestogo -1 is not 0 or more; ignored",
    "go wtime 60 btime 60 winc -5 binc -5": "winc -5 is not 0 or more; ignored; binc -5 is not 0 or more; ignored",
    "go depth \u0663": "is not a whole number", "go depth " + "9" * 5000: "is not a whole number",
    "go searchmoves": "searchmoves names no move", "go searchmoves depth 3": "searchmoves names no move",
    "go searchmoves e2e5": "searchmoves: illegal move 'e2e5'", "go searchmoves e2e4 0000 depth 2": "searchmoves: illegal move",
    "go forth": "go: unknown argument 'forth'", "go " + "junk " * 20000: "go: unknown argument 'junk'",
    "go depth 1 \ufffd\x00": "go: unknown argument", "go " + "depth 1 " * LONGEST_LINE: "a line of more than",
}


def test_a_wrong_line_is_answered_by_one_line_and_changes_nothing(talk):
    assert talk.ask("position startpos moves e2e4") == []
    for line in WRONG:
        said = talk.ask(line)
        assert len(said) == 1 and said[0].startswith("info string ") and len(said[0]) < 400 and said[0].isprintable(), line[:80]
    assert talk.ask("", "   ", "\t\r\n") == []
    move, *_ = talk.best("go depth 2")
    assert chess.Move.from_uci(move) in board_of("startpos moves e2e4").legal_moves


def assert_one_answer(talk, board: chess.Board) -> str:
    """One legal `bestmove` is said, and nothing after it; returns what was said before it but for the search's own lines."""
    move = talk.hear("bestmove").split()[1]
    said = [line for line in talk.heard[:-1] if not line.startswith("info depth")]
    assert chess.Move.from_uci(move) in board.legal_moves
    assert talk.ask() == []
    return "\n".join(said)


def test_every_wrong_go_is_answered_by_a_legal_move_and_one_line_that_says_what_was_wrong(talk):
    assert talk.ask("position startpos moves e2e4") == []
    for line, wrong in WRONG_GO.items():
        talk.say(line)
        said = assert_one_answer(talk, board_of("startpos moves e2e4"))
        assert said.startswith("info string ") and wrong in said, (line[:80], said)
        assert len(said) < 400 and said.isprintable()


def test_random_words_after_go_have_one_answer_each(talk):
    rng = random.Random(11)
    words = [*sorted(KNOWN) * 2, "-1", "0", "1", "2", "50", "1e3", "x", "e2e4", "e7e5", "0000", "9" * 25, "\ufffd", "go"]
    talk.ask("position startpos moves e2e4")
    for _ in range(200):
        talk.say("go " + " ".join(rng.choice(words) for _ in range(rng.randrange(9))), "stop")
        assert_one_answer(talk, board_of("startpos moves e2e4"))


def test_what_is_right_in_a_wrong_go_holds(talk):
    for line, depth in (("go depth 4 nodes 0", "4"), ("go junk depth 3", "3"), ("go searchmoves a2a9 h2h3 depth 2", "2"),
                        ("go depth 0", "1")):
        move, *_ = talk.best("position startpos", line)
        assert talk.heard[-2].split()[:3] == ["info", "depth", depth]
        assert move == "h2h3" or "h2h3" not in line
    talk.say("go infinite depth 0")  # goes on until stop
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("stop")
    assert_one_answer(talk, board_of("startpos"))
    talk.say("go ponder movetime -1")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("ponderhit")
    assert_one_answer(talk, board_of("startpos"))


def test_a_wrong_go_where_there_is_no_move_has_its_answer_too(talk):
    for line in ("go depth 0", "go searchmoves e2e4", "go mate 0", "go movetime -1"):
        assert talk.best("position fen 7k/5Q2/8/8/8/8/8/K7 b - - 0 1", line) == ["(none)"]
        assert talk.ask() == []


def test_a_wrong_position_before_go_leaves_the_old_one_to_answer_from(talk):
    talk.say("position startpos moves e2e4", "position startpos moves e2e5", "go depth 0")
    assert_one_answer(talk, board_of("startpos moves e2e4"))


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
    first = text.split()[:1]
    return "x" + text if first == ["go"] or first == ["quit"] and "quit " not in text else text


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
