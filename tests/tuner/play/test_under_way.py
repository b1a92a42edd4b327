"""Games under way are told while they are played, and no longer."""

import pytest

from games.record import Choice, Forfeit, find
from tuner.play.game import (
    UNDER_WAY,
    Course,
    Stopped,
    games_under_way,
    play_out,
)
from tuner.play.openings import Opening
from tuner.play.rules import by_length, by_rules


class Telling:
    """Plays the first legal move, and keeps what is told of games before it."""

    def __init__(self, game, act=lambda: None) -> None:
        self.game, self.act, self.told = game, act, []

    def begin(self, seed: str, start) -> None:
        pass

    def choose(self, line, moves, clock) -> Choice:
        self.told.append(games_under_way())
        self.act()
        return Choice(self.game.legal_moves(line[-1])[0])


def played(game, act=lambda: None, stopped=lambda: False, plies=3):
    player = Telling(game, act)
    course = Course(game, Opening(game.start(), []))
    course.names = ("one", "two")
    play_out(course, [player, player], (by_rules, by_length(plies)), stopped, ["", ""])
    return player.told, course


@pytest.mark.parametrize("name", ["chess", "shogi", "tictactoe"])
def test_the_position_and_the_last_move_are_told(name):
    game = find(name)
    told, course = played(game)
    assert [[now.plies for now in each] for each in told] == [[0], [1], [2]]
    for ply, (now,) in enumerate(told):
        assert (now.game, now.players) == (name, ["one", "two"])
        assert now.position == game.text(course.line[ply])
        assert now.last == (
            game.move_text(course.line[ply - 1], course.moves[ply - 1]) if ply else ""
        )
    assert games_under_way() == [] and not UNDER_WAY


def test_a_game_that_is_lost_by_a_fault_or_stopped_is_not_under_way():
    def fault():
        raise Forfeit("crash")

    told, _ = played(find("chess"), fault)
    assert len(told) == 1 and not UNDER_WAY
    stops = iter([False, True])
    with pytest.raises(Stopped):
        played(find("chess"), stopped=lambda: next(stops))
    assert not UNDER_WAY
