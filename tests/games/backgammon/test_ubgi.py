"""UBGI both ways: what the engine answers, and matches against it."""

import sys

import numpy as np
import pytest

from games.backgammon.engines.ubgi import plain_move, serve
from games.backgammon.files.ids import fibs_board, from_fibs
from games.backgammon.rules.board import counts_of, dice_of, with_dice
from games.record import Dice, find
from games.search.searcher import Limits
from tests.commands.match_support import play
from tests.commands.support import done, refused
from tests.games.backgammon.support import rolls_of_games
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.loading import load_engine

GAME = find("backgammon")


class Served:
    def __init__(self, name: str = "backgammon/classic") -> None:
        self.engine, self.parameters = load_engine(name)

    def searcher(self, name):
        return self.engine.searcher(self.parameters)


def answers(*lines: str, depth: int = 1) -> list[str]:
    found: list[str] = []
    serve(Served(), lines, found.append, "evaltune 1.2", "classic", depth)
    return found


def test_boards_are_read_back_as_seen_by_the_side_to_move():
    for words in rolls_of_games(3, 300):
        again = from_fibs(fibs_board(words))
        turn = int(GAME.second_to_move(words))
        assert (counts_of(again) == counts_of(words)[[turn, 1 - turn]]).all() and dice_of(
            again
        ) == dice_of(words)


def test_the_engine_says_who_it_is_and_answers_boards():
    start = with_dice(GAME.rolled(GAME.start(), Dice(1, 1)), (3, 1))
    found = answers("ubgi\n", fibs_board(start), "stop", "nonsense", "quit", fibs_board(start))
    assert found == [
        "id name evaltune classic",
        "id author the authors of evaltune",
        "id version 1.2",
        "readyok",
        "8/5 6/5",
        "sorry",
    ]
    assert answers("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", depth=2) == ["8/5 6/5"]


def test_moves_are_those_of_the_search_written_step_by_step():
    served, some = Served(), list(rolls_of_games(5, 60))
    found = answers(*map(fibs_board, some))
    for words, answer in zip(some, found, strict=True):
        mine = from_fibs(fibs_board(words))
        move = served.searcher(None).search([mine], Limits(depth=1)).move
        assert answer == plain_move(move)
        assert not set(answer) & set("()*") and len(answer.split()) <= 4
        if answer:
            assert GAME.move_named(mine, answer.replace(" ", ",")) == move
        else:
            assert len(GAME.legal_moves(words)) == 1


def test_damaged_boards_are_answered_by_sorry():
    random = np.random.default_rng(1)
    board = fibs_board(next(iter(rolls_of_games(3, 5))))
    lines = []
    for _ in range(300):
        fields = board.split(":")
        for _ in range(random.integers(1, 4)):
            fields[random.integers(len(fields))] = random.choice(
                ["", "x", "-1", "16", "7", "9" * 9, "1"]
            )
        lines.append(":".join(fields[: random.integers(40, 60)]).replace("\n", ""))
    found = answers(*lines)
    assert len(found) == len([line for line in lines if line.strip()]) and "sorry" in found


@pytest.mark.long
def test_a_match_against_the_engine_has_no_fault():
    found = play(
        f"ubgi:{sys.executable} -m tuner ubgi backgammon/classic", "backgammon/zero", "--games", 2
    )
    assert found["forfeits"] == {} and found["wins"] == 2


@pytest.mark.parametrize("command", ["cat", "false"])
def test_programs_that_do_not_speak_ubgi_are_refused_in_one_line(command, monkeypatch):
    monkeypatch.setattr("games.backgammon.engines.contest.UBGI_START_SECONDS", 1.0)
    assert "is it a ubgi engine?" in refused("match", f"ubgi:{command}", "pubeval", "--games", 2)


def test_the_bundled_network_answers_with_the_moves_of_its_search():
    some = list(rolls_of_games(5, 20))
    text = "".join(f"{fibs_board(words)}\n" for words in some).encode()
    found = done("ubgi", "backgammon/network", stdin=text).out.splitlines()
    searcher = load_evaluation("backgammon/network").searcher()
    assert found == [
        plain_move(searcher.search([from_fibs(fibs_board(words))], Limits(depth=1)).move)
        for words in some
    ]
