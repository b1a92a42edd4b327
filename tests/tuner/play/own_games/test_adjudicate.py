"""Each rule of adjudication against its definition, position by position."""

import random

import chess
import numpy as np
import pytest

from games.record import find
from tuner.play.game import CERTAIN, DRAW, ENDING, RESIGN, TABLES, Adjudicator, Ending

CHESS = find("chess")
START = CHESS.start()
BARE = CHESS.position("8/3k4/8/8/5n2/8/2B5/4K3 w - - 0 90")


def resigned(scores: list[float], least: float, plies: int) -> int | None:
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


@pytest.mark.parametrize("seed", range(20))
def test_rules_of_scores_are_runs_at_the_end(seed):
    dice = random.Random(seed)
    resign = dice.choice([300.0, 600.0]), dice.randint(1, 5)
    draw = dice.choice([0.0, 10.0]), dice.randint(1, 5), dice.randint(0, 30)
    rules, seen = Adjudicator(resign, draw), set()
    values = [0.0, 4.0, -10.0, 10.0, 299.0, 300.0, 650.0, -650.0, 600.0, -CERTAIN]
    for _ in range(400):
        kind = dice.sample(values, 2)
        scores = [dice.choice(kind) for _ in range(dice.randint(0, 9))]
        plies = len(scores) + dice.randint(0, 40)
        side = resigned(scores, *resign)
        wanted = (
            Ending(RESIGN, side)
            if side is not None
            else Ending(DRAW, 0)
            if (plies >= draw[2] and level(scores, *draw[:2]))
            else None
        )
        assert rules.verdict(START, scores, plies) == wanted
        seen.add(wanted)
    assert {Ending(RESIGN, 1), Ending(RESIGN, -1), None} <= seen


def test_both_sides_have_to_agree():
    """Scores of both players count, so that a player who sees too much in its position wins
    nothing."""
    rules = Adjudicator((600.0, 4))
    assert rules.verdict(START, [700, 100, 700, 100, 700, 100], 40) is None
    assert rules.verdict(START, [100, 700, 700, 700, 700], 40) == Ending(RESIGN, 1)
    assert rules.verdict(START, [700, 700, 700], 40) is None


def test_a_drawn_ending_is_drawn_unless_a_search_sees_a_forced_win():
    rules = Adjudicator((600.0, 1), None, CHESS.contest.drawn_ending)
    assert rules.verdict(BARE, [700.0], 180) == Ending(ENDING, 0)
    assert rules.verdict(BARE, [-CERTAIN], 180) == Ending(RESIGN, -1)
    assert rules.verdict(BARE, [], 180) is None  # nobody has searched yet
    assert rules.verdict(START, [0.0], 180) is None


def test_tables_come_before_scores():
    asked = []

    def tables(words: np.ndarray) -> int | None:
        asked.append(chess.Board(CHESS.text(words)).piece_map())
        return -1 if len(asked[-1]) <= 4 else None

    rules = Adjudicator((600.0, 1), None, CHESS.contest.drawn_ending, tables)
    assert rules.verdict(BARE, [700.0], 180) == Ending(TABLES, -1) == rules.by_tables(BARE)
    assert (
        rules.verdict(START, [700.0], 180) == Ending(RESIGN, 1) and rules.by_tables(START) is None
    )
    assert len(asked) == 4


def test_a_player_without_scores_neither_wins_nor_draws_by_them():
    rules, none = Adjudicator((600.0, 2), (10.0, 2, 0), CHESS.contest.drawn_ending), float("nan")
    for scores in ([none, none], [none, 700.0], [700.0, none], [none, 0.0], [0.0, none]):
        assert rules.verdict(START, scores, 180) is None
    assert rules.verdict(BARE, [none], 180) is None
