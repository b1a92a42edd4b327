"""Each rule of adjudication against its definition, position by position."""

import random
from dataclasses import replace

import chess
import numpy as np
import pytest

from games.record import DRAW_RULE, RESIGN_RULE, TABLES, Choice, find
from tuner.play.game import Course, Ending
from tuner.play.openings import Opening
from tuner.play.rules import CERTAIN, ENDING, Draw, GameRules, Resign

CHESS = find("chess")
START = CHESS.start()
BARE = CHESS.position("8/3k4/8/8/5n2/8/2B5/4K3 w - - 0 90")


def judged(rules: GameRules, words: np.ndarray, scores: list[float | None], plies: int):
    """What judges say of a game that reached a position after a number of plies, where the last
    moves had these scores, first player's view."""
    course = Course(CHESS, Opening(words))
    course.moves = [0] * plies
    course.mover = (plies - 1) % 2
    views = [1 if (plies - len(scores) + i) % 2 == 0 else -1 for i in range(len(scores))]
    course.choices = [
        Choice(0, None if score is None else view * score)
        if score is None or abs(score) < CERTAIN
        else Choice(0, None, win_in=int(view * score))
        for view, score in zip(views, scores, strict=True)
    ]
    course._room = np.repeat(words[None], plies + 1, 0)
    judges = rules.judges(CHESS)[1:]  # the positions are no game of their own
    return next((ending for judge in judges if (ending := judge(course)) is not None), None)


def resigned(side: int) -> Ending:
    return Ending(RESIGN_RULE, side, int(side > 0))


def side_ahead(scores: list[float], least: float, plies: int) -> int | None:
    """The side in whose favor the run of scores at the end is long enough, counted one by one."""
    for side in (1, -1):
        length = 0
        for score in reversed(scores):
            if side * score < least:
                break
            length += 1
        if length >= plies:
            return side
    return None


def level(scores: list[float], most: float, plies: int) -> bool:
    length = 0
    for score in reversed(scores):
        if abs(score) > most:
            break
        length += 1
    return length >= plies


@pytest.mark.parametrize("twosided", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_rules_of_scores_are_runs_at_the_end(seed, twosided):
    dice = random.Random(seed)
    resign = Resign(dice.randint(1, 3), dice.choice([300, 600]), twosided)
    draw = Draw(dice.randint(1, 15), dice.randint(1, 3), dice.choice([1, 10]))
    rules, seen = GameRules(resign=resign, draw=draw), set()
    values = [0.0, 4.0, -10.0, 10.0, 299.0, 300.0, 650.0, -650.0, 600.0, -CERTAIN]
    for _ in range(800):
        kind = dice.sample(values, 2)
        scores = [dice.choice(kind) for _ in range(dice.randint(0, 9))]
        plies = len(scores) + dice.randint(0, 40)
        if twosided:
            side = side_ahead(scores, resign.score, 2 * resign.movecount)
        else:  # the scores of the player who moved last alone, which are all against it
            side = side_ahead(scores[::-2][::-1], resign.score, resign.movecount)
            side = side if side == (1 if plies % 2 == 0 else -1) else None
        drawn = plies >= 2 * draw.movenumber and level(scores, draw.score, 2 * draw.movecount)
        wanted = resigned(side) if side is not None else Ending(DRAW_RULE, 0) if drawn else None
        assert judged(rules, START, scores, plies) == wanted, (scores, plies)
        seen.add(wanted)
    assert {resigned(1), resigned(-1), None} <= seen


def test_both_sides_have_to_agree():
    """Scores of both players count, so that a player who sees too much in its position wins
    nothing."""
    rules = GameRules(resign=Resign(2, 600, True))
    assert judged(rules, START, [700, 100, 700, 100, 700, 100], 40) is None
    assert judged(rules, START, [100, 700, 700, 700, 700], 40) == resigned(1)
    assert judged(rules, START, [700, 700, 700], 40) is None
    alone = replace(rules, resign=Resign(2, 600))
    assert judged(alone, START, [100, 700, 100, 700], 40) == resigned(1)


def test_a_drawn_ending_is_drawn_unless_a_search_sees_a_forced_win():
    rules = GameRules(resign=Resign(1, 600), endings=True)
    assert judged(rules, BARE, [700.0], 180) == Ending(ENDING, 0)
    assert judged(rules, BARE, [-CERTAIN], 181) == resigned(-1)
    assert judged(rules, BARE, [], 180) is None  # nobody has searched yet
    assert judged(rules, START, [0.0], 180) is None


def test_tables_come_before_scores(monkeypatch):
    asked = []

    def tables(words: np.ndarray) -> int | None:
        asked.append(chess.Board(CHESS.text(words)).piece_map())
        return -1 if len(asked[-1]) <= 4 else None

    contest = replace(CHESS.contest, tablebase=lambda folder: tables)
    monkeypatch.setattr(
        "tests.tuner.play.own_games.test_adjudicate.CHESS", replace(CHESS, contest=contest)
    )
    rules = GameRules(resign=Resign(1, 600), endings=True, syzygy="tables")
    assert judged(rules, BARE, [700.0], 180) == Ending(TABLES, -1)
    assert judged(rules, START, [700.0], 180) == resigned(1)
    assert len(asked) == 2


def test_a_player_without_scores_neither_wins_nor_draws_by_them():
    for twosided in (True, False):
        rules = GameRules(resign=Resign(1, 600, twosided), draw=Draw(1, 1, 10), endings=True)
        for scores in ([None, None], [700.0, None], [0.0, None], [None, 0.0]):
            assert judged(rules, START, scores, 180) is None
        assert judged(rules, BARE, [None], 180) is None
