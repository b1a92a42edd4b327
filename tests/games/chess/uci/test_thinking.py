"""Commands during a search: `stop`, `ponderhit` and all others."""

from __future__ import annotations

import time

import chess
import pytest

from tests.games.chess.uci.support import ONLY_MOVE, board_of


def test_infinite_goes_on_until_stop_and_is_answered_then(talk):
    talk.say("position startpos", "go infinite")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("stop")
    talk.hear("bestmove")
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
    talk.hear("bestmove")


def test_pondering_goes_on_until_the_hit_and_then_by_the_clock(talk):
    talk.say("position startpos moves e2e4", "go ponder wtime 1000 btime 1000")
    time.sleep(0.1)  # longer than the clock would have allowed
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("ponderhit")
    talk.hear("bestmove")
    talk.say("go ponder movetime 50")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("ponderhit")
    talk.hear("bestmove")
    talk.say("go ponder depth 1")
    talk.hear("info depth 1")
    talk.say("ponderhit")
    talk.hear("bestmove")
    talk.say("go ponder")
    talk.say("stop")
    talk.hear("bestmove")


def test_on_the_clock_an_only_move_is_played_at_once(talk):
    talk.say(f"position fen {ONLY_MOVE}", "go wtime 36000000 btime 36000000")  # ten hours
    talk.hear("bestmove h1g2")


def test_while_searching_only_what_concerns_the_search_is_obeyed(talk):
    talk.say("position startpos moves e2e4 e7e5", "go infinite")
    orders = ("ucinewgame", "setoption name Hash value 1", "ponderhit", "uci", "debug on")
    said = [line for line in talk.ask(*orders)
            if not line.startswith(("info depth", "option", "id"))]
    assert [line.split(";")[0] for line in said] == ["info string ucinewgame while searching",
                                                     "info string setoption while searching",
                                                     "info string ponderhit without go ponder", "uciok"]
    talk.say("stop", "position startpos moves e2e4", "go depth 2")  # does not wait for the answer
    for board in (board_of("startpos moves e2e4 e7e5"), board_of("startpos moves e2e4")):
        assert chess.Move.from_uci(talk.hear("bestmove").split()[1]) in board.legal_moves


@pytest.mark.parametrize("first", ["go infinite", "go ponder", "go ponder wtime 1000 btime 1000", "go", "go movetime 100000"])
def test_a_go_while_searching_ends_that_search_and_both_are_answered(talk, first):
    talk.say("position startpos moves e2e4 e7e5", first, "position startpos moves e2e4", "go depth 2")
    for board in (board_of("startpos moves e2e4 e7e5"), board_of("startpos moves e2e4")):
        assert chess.Move.from_uci(talk.hear("bestmove").split()[1]) in board.legal_moves
        if board.turn:
            assert "info string go while searching; the search before it is stopped" in talk.heard
    assert talk.ask() == []
