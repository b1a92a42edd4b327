"""What the tests of matches share: players of both games that follow a script."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from games.record import Choice, Control, Forfeit, find
from tuner.options.match import MatchSettings
from tuner.play.game import Course, play_out
from tuner.play.openings import Opening
from tuner.play.rules import GameRules
from tuner.results.match import MatchResult, PointResults
from tuner.statistics.pentanomial import Results
from tuner.statistics.sprt import Sprt

CHESS, TICTACTOE = find("chess"), find("tictactoe")
DEPTH = Control(depth=1)
NO_RULES = GameRules()


class Scripted:
    """Plays moves by name, one after another; a Forfeit in their place is raised. `scores` are what
    it thinks."""

    def __init__(
        self, game, moves: Sequence[str | Forfeit] = (), scores: Sequence[float | None] = ()
    ) -> None:
        self.game, self.moves, self.scores, self.seeds, self.left = (
            game,
            list(moves),
            list(scores),
            [],
            [],
        )

    def begin(self, seed: str, start) -> None:
        self.seeds.append(seed)

    def choose(self, line, moves, left) -> Choice:
        self.left.append(left)
        named = self.moves.pop(0)
        if isinstance(named, Forfeit):
            raise named
        return Choice(
            self.game.move_named(line[-1], named), self.scores.pop(0) if self.scores else None
        )

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass


def game_of(
    moves: str,
    game=CHESS,
    scores=((), ()),
    rules=NO_RULES,
    controls=(DEPTH, DEPTH),
    opening=(),
    start=None,
    clock=None,
    replies=None,
):
    """Play a game whose moves are written one after another; returns it and the players."""
    words = moves.split()
    first = (start is not None and game.second_to_move(start)) + len(opening)
    players = [
        Scripted(game, replies[i] if replies else words[(i + first) % 2 :: 2], scores[i])
        for i in (0, 1)
    ]
    more = {"clock": clock} if clock else {}
    course = Course(game, Opening(game.start() if start is None else start, opening))
    ending = play_out(
        course,
        players,
        rules.judges(game),
        lambda: False,
        ("seed/0", "seed/1"),
        controls,
        **more,
    )
    return course.played(ending), players


def match_result(counts: Results, names=("a", "b"), test: Sprt | None = None) -> MatchResult:
    """The result of a match with these counts."""
    return MatchResult(
        settings=MatchSettings(game="chess", a="a", b="b", names=names, games=2),
        openings="8 random plies",
        in_points=False,
        counts=counts,
        points=PointResults(counts.pairs, Counter(), np.zeros((0, 2), int), None),
        test=test,
    )


def points_result(points: PointResults) -> MatchResult:
    """The result of a match of a game that wins several points."""
    wins, losses = (sum(n for won, n in points.games.items() if sign * won > 0) for sign in (1, -1))
    counts = Results(points.pairs, wins, losses, points.games[0])
    return replace(match_result(counts), in_points=True, points=points)
