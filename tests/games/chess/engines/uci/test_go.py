"""What `position` and `go` ask for is done, and wrong lines have one answer each."""

import io
import random
import re

import chess
import pytest

from games.chess.engines.uci import COMMANDS, lines_of
from games.chess.engines.uci.thinking import (
    FLAGS,
    MOVES,
    NUMBERS,
    UciGo,
    limits_of_go,
    new_line,
    parse_go,
    score_text,
)
from games.chess.files.fen import position
from games.protocol.server import LONGEST_LINE
from games.search.searcher import Found
from tests.games.chess.engines.uci.support import ONLY_MOVE, board_of, check_info
from tests.games.support import random_lines
from tests.support import refusal

MATED = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1 moves a1a8"
KIWIPETE = "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1"
STALEMATE = "7k/5Q2/8/8/8/8/8/K7 b - - 0 1"


@pytest.mark.parametrize(
    "go",
    [
        "depth 5",
        "nodes 3000",
        "movetime 30",
        "wtime 200 btime 200",
        "wtime 90 btime 90 movestogo 1",
        "wtime -20 btime -20",
        "wtime 100 btime 100 winc 10 binc 10 movestogo 0",
        "depth 3 nodes 100000",
        "movetime 0",
        "nodes 1",
        "searchmoves e7e5 c7c5 depth 4",
        "searchmoves a7a6 movetime 20",
    ],
)
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
    talk.hear("bestmove (none)")


@pytest.mark.parametrize(
    "fen, score, moves",
    [
        ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "mate 1", 1),
        ("k7/8/1K6/8/8/8/7R/8 b - - 0 1", "mate -1", 2),
        ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "mate 2", 3),
        ("6k1/8/8/8/8/8/R7/1R4K1 b - - 0 1", "mate -3", 6),
    ],
)
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


def test_a_mate_that_is_not_there_is_searched_for_to_a_depth_and_answered(talk):
    move, *_ = talk.best("position startpos", "go mate 1")
    assert chess.Move.from_uci(move) in chess.Board().legal_moves and talk.heard[-2].startswith(
        "info depth 5 "
    )
    talk.say("go mate 1 infinite")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.best("stop")
    assert limits_of_go(asked("mate 1 nodes 7"), True, 0.0).depth > 20


def asked(text: str) -> UciGo:
    go, faults = parse_go(text.split())
    assert faults == []
    return go


def test_words_that_are_wrong_are_left_out_each_with_its_fault():
    go, faults = parse_go(
        [
            "depth",
            "0",
            "nodes",
            "5",
            "movetime",
            "wtime",
            "3",
            "winc",
            "x",
            "forth",
            "searchmoves",
            "infinite",
        ]
    )
    assert go == UciGo(nodes=5, wtime=3, infinite=True)
    assert [fault.split()[0] for fault in faults] == [
        "depth",
        "movetime",
        "winc",
        "go:",
        "searchmoves",
    ]


def test_what_go_asks_for_is_understood():
    assert asked("wtime 1 btime -2 winc 3 binc 4 movestogo 5 ponder") == UciGo(
        wtime=1, btime=-2, winc=3, binc=4, movestogo=5, ponder=True
    )
    assert asked("searchmoves e2e4 d2d4 depth 6 infinite") == UciGo(
        depth=6, infinite=True, searchmoves=("e2e4", "d2d4")
    )
    white, black = (
        limits_of_go(asked("wtime 60000 btime 1000"), side, 0.0) for side in (True, False)
    )
    assert white.soft_seconds > 20 * black.soft_seconds
    assert limits_of_go(asked("infinite wtime 10 btime 10"), True, 0.0).seconds is None
    assert limits_of_go(asked("depth 999999 nodes 999999999999999999"), True, 0.0).depth <= 60


def test_a_rejected_move_leaves_the_whole_old_line_as_it_was():
    line = new_line()
    line.set("8/8/8/8/8/8/k1K5/6R1 w - - 0 1", ["g1g2"])
    before = [words.copy() for words in line.positions]
    for start, names in (("8/8/8/8/8/8/k1K5/6R1 w - - 0 1", ["g1g2", "a2a9"]), ("junk", [])):
        assert refusal(line.set, start, names, error=ValueError)
        assert [list(words) for words in line.positions] == [list(words) for words in before]


@pytest.mark.parametrize("chess960", [False, True])
def test_lines_that_grow_shrink_and_branch_are_those_of_python_chess(chess960):
    rng, line = random.Random(3), new_line()
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
            while board.move_stack:
                board.pop()
                wanted.append(board.fen())
            assert [list(words) for words in line.positions] == [
                list(position(fen)) for fen in reversed(wanted)
            ]


def test_in_chess960_castling_is_written_and_read_as_king_takes_rook(talk):
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
    line, fen = new_line(), "1k6/8/8/8/8/8/8/5K1R w K - 0 1"
    for name, king, rook in (("f1g1", chess.G1, chess.H1), ("f1h1", chess.G1, chess.F1)):
        line.set(fen, [name])
        board = chess.Board(fen, chess960=True)
        board.push(chess.Move.from_uci(name))
        assert (board.piece_type_at(king), board.piece_type_at(rook)) == (chess.KING, chess.ROOK)
        assert list(line.positions[-1]) == list(position(board.fen()))


def test_repetitions_in_the_game_are_known_to_the_search(talk):
    """White is lost but for the third occurrence of the position."""
    start = "fen 7k/8/8/8/8/8/q7/7K b - - 0 1"
    talk.best(f"position {start} moves a2b2 h1g1 b2a2 g1h1 a2b2 h1g1 b2a2", "go depth 5")
    assert "score cp 0" in talk.heard[-2]


WRONG = [
    "joho",
    "UCI",
    "isready now",
    "stop it",
    "uci 2",
    "ucinewgame 1",
    "quit now",
    "ponderhit",
    "position",
    "position e2e4",
    "position startpos e2e4",
    "position startpos moves e2e5",
    "position startpos moves 0000",
    "position startpos moves e2e4 e7e5 e1e3",
    "position startpos moves e2e4 ...",
    "position fen",
    "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 junk",
    "position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - x y",
    "setoption",
    "setoption name",
    "setoption Hash 3",
    "setoption name Hash",
    "setoption name Hash value",
    "setoption name Hash value many",
    "setoption name Hash value 0",
    "setoption name Hash value 99999999",
    "setoption name Contempt value 3",
    "setoption name UCI_Chess960 value maybe",
    "setoption name Ponder value",
    "setoption name Move Overhead value -1",
    "setoption name Clear Hash value 1",
    "setoption name EvalFile value nowhere.yaml",
    "\x00\x01",
    "\ufffd" * 99,
    "go\x00 depth 3",
    "position startpos moves \ufffd",
    "x" * (LONGEST_LINE + 1),
    "position startpos moves " + "g1f3 " * 30000,
    "position fen " + "1" * 50000 + " w - - 0 1",
    "info depth 3",
    "bestmove e2e4",
    "readyok",
    "setoption value name",
]
WRONG_GO = {  # and a part of the message
    "go depth": "depth has no number; ignored",
    "go depth x": "depth 'x' is not a whole number; ignored",
    "go depth 0": "depth 0 is not 1 or more; ignored",
    "go depth -3": "depth -3 is not 1 or more; ignored",
    "go depth 3 4": "go: unknown argument '4'",
    "go nodes 1e5": "nodes '1e5' is not a whole number",
    "go nodes 0": "nodes 0 is not 1",
    "go nodes -7 depth 2": "nodes -7 is not 1 or more; ignored",
    "go mate 0": "mate 0 is not 1 or more; ignored",
    "go mate -2": "mate -2 is not 1 or more",
    "go movetime -1": "movetime -1 is not 0 or more; ignored",
    "go movetime": "movetime has no number",
    "go movetime 0.5": "movetime '0.5' is not a whole number",
    "go wtime": "wtime has no number",
    "go wtime btime 100": "wtime has no number",
    "go wtime x btime x": "wtime 'x' is not a whole number",
    "go wtime 100": "btime is missing",
    "go movestogo -1 wtime 60 btime 60": "movestogo -1 is not 0 or more; ignored",
    "go wtime 60 btime 60 winc -5 binc -5": (
        "winc -5 is not 0 or more; ignored; binc -5 is not 0 or more; ignored"
    ),
    "go depth \u0663": "is not a whole number",
    "go depth " + "9" * 5000: "is not a whole number",
    "go searchmoves": "searchmoves names no move",
    "go searchmoves depth 3": "searchmoves names no move",
    "go searchmoves e2e5": "searchmoves: illegal move 'e2e5'",
    "go searchmoves e2e4 0000 depth 2": "searchmoves: illegal move",
    "go forth": "go: unknown argument 'forth'",
    "go " + "junk " * 20000: "go: unknown argument 'junk'",
    "go depth 1 \ufffd\x00": "go: unknown argument",
    "go " + "depth 1 " * LONGEST_LINE: "a line of more than",
}


def test_a_wrong_line_is_answered_by_one_line_and_changes_nothing(talk):
    assert talk.ask("position startpos moves e2e4") == []
    for line in WRONG:
        said = talk.ask(line)
        assert (
            len(said) == 1
            and said[0].startswith("info string ")
            and len(said[0]) < 400
            and said[0].isprintable()
        ), line[:80]
    assert talk.ask("", "   ", "\t\r\n") == []
    assert talk.ask("position startpos moves e2e4") == []
    move, *_ = talk.best("go depth 2")
    assert chess.Move.from_uci(move) in board_of("startpos moves e2e4").legal_moves


def assert_one_answer(talk, board: chess.Board) -> str:
    """One legal `bestmove` is said, and nothing after it; returns what was said before it but for
    the search's own lines."""
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
    words = [
        *sorted({*NUMBERS, *FLAGS, MOVES}) * 2,
        "-1",
        "0",
        "1",
        "2",
        "50",
        "1e3",
        "x",
        "e2e4",
        "e7e5",
        "0000",
        "9" * 25,
        "\ufffd",
        "go",
    ]
    talk.ask("position startpos moves e2e4")
    for _ in range(200):
        talk.say("go " + " ".join(rng.choice(words) for _ in range(rng.randrange(9))), "stop")
        assert_one_answer(talk, board_of("startpos moves e2e4"))


def test_what_is_right_in_a_wrong_go_holds(talk):
    for line, depth in (
        ("go depth 4 nodes 0", "4"),
        ("go junk depth 3", "3"),
        ("go searchmoves a2a9 h2h3 depth 2", "2"),
        ("go depth 0", "1"),
    ):
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


@pytest.mark.parametrize("moves", ["e2e5", "e2e4 " * LONGEST_LINE])
def test_a_wrong_position_is_not_answered_by_a_move_of_the_old_one(talk, moves):
    talk.say("position startpos moves e2e4", f"position startpos moves {moves}", "go depth 1")
    assert talk.hear("bestmove") == "bestmove (none)"
    assert talk.ask("eval") == ["info string no position: the last one was refused"]
    talk.say("position startpos", "go depth 1")
    assert_one_answer(talk, chess.Board())


def test_the_best_lines_are_those_of_searches_of_single_moves(talk):
    place = "position startpos moves e2e4 e7e5"
    alone = {}
    for move in board_of(place.removeprefix("position ")).legal_moves:
        talk.say("ucinewgame", place, f"go depth 3 searchmoves {move}")
        talk.hear("bestmove")
        alone[move.uci()] = int(re.findall(r"score cp (-?\d+)", "\n".join(talk.heard))[-1])
    talk.say("setoption name MultiPV value 4", "ucinewgame", place, "go depth 3")
    talk.hear("bestmove")
    form = r"info depth 3 multipv (\d) score cp (-?\d+) .* pv (\S+)"
    found = re.findall(form, "\n".join(talk.heard))
    talk.say("setoption name MultiPV value 1")
    assert [int(number) for number, *_ in found] == [1, 2, 3, 4]
    scores = [int(score) for _, score, _ in found]
    assert scores == sorted(alone.values(), reverse=True)[:4]
    assert len({move for *_, move in found}) == 4


def test_lines_are_cut_whatever_bytes_they_hold():
    stream = io.BytesIO(b"uci\r\n\xff\xfe\x00\n" + b"y" * (3 * LONGEST_LINE) + b"\nquit")
    first, second, third, last = lines_of(stream)
    assert (first, second, last) == ("uci\r\n", "\ufffd\ufffd\x00\n", "quit")
    assert len(third) == LONGEST_LINE + 1
    assert list(lines_of(io.BytesIO(b"y" * LONGEST_LINE + b"\nquit\n"))) == [
        "y" * LONGEST_LINE + "\n",
        "quit\n",
    ]


def garbage(rng: random.Random) -> str:
    """A line that is damaged, cut short, mixed up or noise; never one that starts or ends
    anything."""
    words = [
        *COMMANDS,
        "depth",
        "3",
        "-1",
        "startpos",
        "moves",
        "e2e4",
        "fen",
        "name",
        "Hash",
        "value",
        "\ufffd",
        "9" * 30,
    ]
    kind = rng.randrange(4)
    if kind == 0:
        text = (
            bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
            .decode("utf-8", "replace")
            .replace("\n", " ")
        )
    elif kind == 1:
        text = " ".join(rng.choice(words) for _ in range(rng.randrange(1, 9)))
    elif kind == 2:
        text = rng.choice(
            [
                "position startpos moves e2e4 e7e5",
                "setoption name Hash value 16",
                "go wtime 100 btime 100",
            ]
        )
        text = text[: rng.randrange(len(text))] + rng.choice(["", "\x00", "x"])
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
