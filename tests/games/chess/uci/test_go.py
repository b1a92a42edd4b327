"""Arguments of `go`, and the answers."""

from __future__ import annotations

import chess
import pytest

from games.chess.uci.go import Go, parse_go
from games.chess.uci.thinking import limits_of_go, score_text
from games.search.searcher import Found
from tests.games.chess.uci.support import board_of, check_info

MATED = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1 moves a1a8"
KIWIPETE = "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1"
STALEMATE = "7k/5Q2/8/8/8/8/8/K7 b - - 0 1"


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
    talk.hear("bestmove (none)")


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


def test_a_mate_that_is_not_there_is_searched_for_to_a_depth_and_answered(talk):
    move, *_ = talk.best("position startpos", "go mate 1")
    assert chess.Move.from_uci(move) in chess.Board().legal_moves and talk.heard[-2].startswith("info depth 5 ")
    talk.say("go mate 1 infinite")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.best("stop")
    assert limits_of_go(asked("mate 1 nodes 7"), True, 0.0).depth > 20


def asked(text: str) -> Go:
    go, faults = parse_go(text.split())
    assert faults == []
    return go


def test_words_that_are_wrong_are_left_out_each_with_its_fault():
    go, faults = parse_go(["depth", "0", "nodes", "5", "movetime", "wtime", "3", "winc", "x", "forth", "searchmoves", "infinite"])
    assert go == Go(nodes=5, wtime=3, infinite=True)
    assert [fault.split()[0] for fault in faults] == ["depth", "movetime", "winc", "go:", "searchmoves"]


def test_what_go_asks_for_is_understood():
    assert asked("wtime 1 btime -2 winc 3 binc 4 movestogo 5 ponder") == Go(
        wtime=1, btime=-2, winc=3, binc=4, movestogo=5, ponder=True)
    assert asked("searchmoves e2e4 d2d4 depth 6 infinite") == Go(
        depth=6, infinite=True, searchmoves=("e2e4", "d2d4"))
    white, black = (limits_of_go(asked("wtime 60000 btime 1000"), side, 0.0) for side in (True, False))
    assert white.soft_seconds > 20 * black.soft_seconds
    assert limits_of_go(asked("infinite wtime 10 btime 10"), True, 0.0).seconds is None
    assert limits_of_go(asked("depth 999999 nodes 999999999999999999"), True, 0.0).depth <= 60
