"""One game: it ends by the rules, the number of plies, a fault, the clock or what the players
think, and tells which."""

import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest

from games.record import (
    CRASH,
    DRAW_RULE,
    ILLEGAL,
    PLIES,
    RESIGN_RULE,
    RULES,
    TIME,
    Control,
    Forfeit,
)
from tests.support import refusal
from tests.tuner.play.match.support import CHESS, TICTACTOE, Scripted, game_of
from tuner.play.game import (
    Course,
    Stopped,
    play_out,
)
from tuner.play.openings import Opening
from tuner.play.players import RandomPlayer
from tuner.play.rules import Draw, GameRules, Resign, by_rules, rule_of

SHUFFLE = "g1f3 g8f6 f3g1 f6g8 " * 2


def test_a_game_ends_by_the_rules_of_the_game():
    for moves, outcome in (
        ("f2f3 e7e5 g2g4 d8h4", -1),
        ("e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7", 1),
        (SHUFFLE, 0),
    ):
        game, players = game_of(moves)
        assert (game.outcome, game.end, len(game.moves)) == (outcome, RULES, len(moves.split()))
        assert len(game.line) == len(game.moves) + 1 and (game.line[0] == CHESS.start()).all()
        assert [player.seeds for player in players] == [["seed/0"], ["seed/1"]]


def test_the_second_player_begins_where_the_opening_says_so():
    start = CHESS.position("6k1/8/8/8/8/r7/1r6/6K1 b - - 0 1")
    game, _ = game_of("g8h8 g1f1 a3a1", start=start)
    assert (game.outcome, game.end) == (-1, RULES)
    opening = [CHESS.move_named(CHESS.start(), "e2e4")]
    game, _ = game_of("e7e5 d2d4", opening=opening, rules=GameRules(plies=3))
    assert (game.end, game.book, len(game.choices), len(game.seconds)) == (PLIES, 1, 2, 2)


def test_another_game_plays_in_the_same_loop():
    game, _ = game_of("a1 a2 b1 b2 c1", TICTACTOE)
    assert (game.outcome, game.end) == (1, RULES)


def test_long_games_find_room():
    knights = itertools.cycle(SHUFFLE.split()[:4])
    game, _ = game_of(" ".join(next(knights) for _ in range(8)))
    assert game.outcome == 0
    courses = [Course(CHESS, Opening(CHESS.start())) for _ in range(12)]
    for seed, course in enumerate(courses):
        play_out(
            course, [RandomPlayer(CHESS)] * 2, [by_rules], lambda: False, (f"{seed}/0", f"{seed}/1")
        )
    assert max(len(course.moves) for course in courses) > 300


@pytest.mark.parametrize("loser", [0, 1])
def test_who_breaks_the_rules_loses(loser):
    fault = Forfeit(CRASH if loser else ILLEGAL, "why")
    replies = [["e2e4", "d2d4", "c2c4"], ["e7e5", "d7d5", "c7c5"]]
    replies[loser][1] = fault
    game, _ = game_of("", replies=replies)
    assert (game.end, game.loser, game.outcome, game.detail) == (
        fault.kind,
        loser,
        1 if loser else -1,
        "why",
    )
    assert len(game.moves) == (3 if loser else 2)


def test_the_clock_runs_for_the_side_to_move_alone():
    ticks = itertools.accumulate([0, 1.0, 0, 0.5, 0, 1.0, 0, 0.5, 0, 2.75])
    controls = (Control(base=4.0, increment=0.25), Control(base=3.0))
    game, (first, second) = game_of(
        "e2e4 e7e5 d2d4 d7d5 c2c4", controls=controls, clock=lambda: next(ticks)
    )
    assert [left[:2] for left in first.left] == [(4.0, 3.0), (3.25, 2.5), (2.5, 2.0)]
    assert [left[:2] for left in second.left] == [(3.0, 3.25), (2.5, 2.5)]
    assert (game.end, game.loser, len(game.moves), len(game.seconds)) == (TIME, 0, 4, 4)


def test_overstepping_the_time_loses():
    ticks = itertools.accumulate([0, 1.0, 0, 3.5])
    game, _ = game_of(
        "e2e4 e7e5 d2d4", controls=(Control(base=3.0), Control(base=3.0)), clock=lambda: next(ticks)
    )
    assert (game.end, game.loser, game.outcome, len(game.moves)) == (TIME, 1, 1, 1)


def test_a_move_may_exceed_the_clock_by_the_margin():
    ticks = itertools.accumulate([0, 3.25, 0, 1.0, 0, 0.75])
    controls = (Control(base=3.0, margin=0.5), Control(base=3.0))
    game, (first, _) = game_of("e2e4 e7e5 d2d4", controls=controls, clock=lambda: next(ticks))
    assert [left[:2] for left in first.left] == [(3.0, 3.0), (0.0, 2.0)]
    assert (game.end, game.loser, len(game.moves)) == (TIME, 0, 2)


def test_byoyomi_begins_when_the_clock_has_run_out_and_is_whole_again_for_each_move():
    ticks = itertools.accumulate([0, 2.5, 0, 9.0, 0, 1.4, 0, 0.5, 0, 0.9, 0, 0.5, 0, 1.01])
    controls = (Control(base=3.0, byoyomi=1.0), Control(base=10.0, byoyomi=1.0))
    game, (first, second) = game_of(
        "e2e4 e7e5 d2d4 d7d5 c2c4 c7c5 b1c3", controls=controls, clock=lambda: next(ticks)
    )
    assert [left[:2] for left in first.left] == [(3.0, 10.0), (0.5, 1.0), (0.0, 0.5), (0.0, 0.0)]
    assert [left[:2] for left in second.left] == [(10.0, 0.5), (1.0, 0.0), (0.5, 0.0)]
    assert (game.end, game.loser, len(game.moves)) == (TIME, 0, 6)


def test_a_stopped_match_abandons_its_game():
    stop = threading.Event()
    stop.set()
    for moves in (["e2e4"], [Forfeit(CRASH)]):
        with pytest.raises(Stopped):
            play_out(
                Course(CHESS, Opening(CHESS.start())),
                [Scripted(CHESS, moves)] * 2,
                [by_rules],
                stop.is_set,
                ("", ""),
            )


MOVES = "g1f3 g8f6 f3g1 f6g8 e2e3 e7e6 g1f3 g8f6 f3g1 f6g8"


def test_who_sees_itself_lost_often_enough_resigns():
    rule = GameRules(resign=Resign(2, 400))
    game, _ = game_of(MOVES, scores=([0, -500, -300, -400, -401], [0] * 5), rules=rule)
    assert (game.end, game.loser, game.outcome, len(game.moves)) == (RESIGN_RULE, 0, -1, 9)
    game, _ = game_of(MOVES, scores=([0] * 5, [-400] * 5), rules=rule)
    assert (game.end, game.loser, game.outcome, len(game.moves)) == (RESIGN_RULE, 1, 1, 4)
    game, _ = game_of(MOVES, scores=([None] * 5, [-399] * 5), rules=replace(rule, plies=10))
    assert game.end == PLIES


def test_a_draw_that_both_have_seen_long_enough_is_one():
    rule = GameRules(draw=Draw(3, 2, 10))
    game, _ = game_of(MOVES, scores=([0] * 5, [10] * 5), rules=rule)
    assert (game.end, game.outcome, len(game.moves)) == (DRAW_RULE, 0, 6)
    game, _ = game_of(MOVES, scores=([0, 0, 11, 0, 0], [10] * 5), rules=rule)
    assert (game.end, len(game.moves)) == (DRAW_RULE, 9)  # the score of the fifth ply was 11
    game, _ = game_of(MOVES, scores=([None] * 5, [0] * 5), rules=replace(rule, plies=10))
    assert game.end == PLIES


def test_a_mate_counts_before_any_adjudication():
    rule = GameRules(resign=Resign(1, 1), draw=Draw(1, 1, 10**4))
    game, _ = game_of(
        "f2f3 e7e5 g2g4 d8h4",
        scores=([0, 0], [0, -100]),
        rules=GameRules(resign=rule.resign),
    )
    assert (game.end, game.outcome) == (RULES, -1)


def test_rules_of_adjudication_are_read_as_cutechess_writes_them():
    assert rule_of(Resign, "--resign", None) is None is rule_of(Draw, "--draw", ["off"])
    assert rule_of(Resign, "--resign", ["movecount=5", "score=600"]) == Resign(5, 600)
    assert rule_of(Resign, "--resign", ["twosided=true"]) == Resign(3, 400, True)
    assert rule_of(Draw, "--draw", ["movenumber=30"]) == Draw(30, 8, 20)
    for words in (["moves=3"], ["score"], ["score=-3"], ["score=x"], ["twosided=1"], ["score=0"]):
        assert "--resign" in refusal(rule_of, Resign, "--resign", words)
    assert "--draw" in refusal(rule_of, Draw, "--draw", ["count=3"])


def test_positions_of_a_game_are_those_of_its_moves():
    game, _ = game_of(SHUFFLE)
    line = [CHESS.start()]
    for move in game.moves:
        line.append(CHESS.play(line[-1], move))
    assert (np.array(line) == game.line).all()


def test_a_clock_of_some_moves_gets_its_time_again():
    """40 moves in 10 s as 2 moves in 10 s: each move of the first player takes 4 s."""
    ticks = iter(np.cumsum([0, 4, 0, 1] * 20).tolist())
    controls = (Control(base=10.0, increment=1.0, moves=2), Control(base=30.0))
    game, (first, second) = game_of(
        "e2e4 e7e5 d2d4 d7d5 c2c4 c7c5 b1c3 b8c6",
        controls=controls,
        clock=lambda: next(ticks),
        rules=GameRules(plies=8),
    )
    assert game.end == PLIES
    assert [(left.own, left.moves) for left in first.left[:4]] == [
        (10, 2),
        (7, 1),
        (14, 2),
        (11, 1),
    ]
    assert [left.moves for left in second.left] == [None] * len(second.left)
    assert controls[0].text == "2/10+1"
