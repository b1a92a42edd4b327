"""Lines that are wrong, damaged or noise."""

from __future__ import annotations

import io
import random

import chess

from games.chess.uci import lines_of
from games.chess.uci.server import COMMANDS, LONGEST_LINE
from tests.games.chess.uci.support import ONLY_MOVE, board_of

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
