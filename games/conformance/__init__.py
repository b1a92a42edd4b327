"""Conformance checks for authors of games: does a `Game` do what `games.record` and `games.contest` specify?

The checks play random games and test the functions of the record on their positions. Run all of them at once:

    from games.conformance import check_game

    check_game(GAME)  # raises Fault with the name of the game, the position and the problem

or as one pytest test per check:

    from games.conformance import checks_of

    @pytest.mark.parametrize("check", checks_of(GAME), ids=lambda check: check.__name__)
    def test_my_game_conforms(check):
        check()

Phases and the search are checked too if the argument `evaluation` is given: a function without arguments that returns an
`Evaluation`. tests/games/test_conformance.py shows how to make one from a parameter file. Random games depend on `seed` alone,
so that a failure can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from games.conformance import reading, rules, searching
from games.conformance.subject import SEED, Evaluation, Fault, Subject
from games.record import Game

__all__ = ["Evaluation", "Fault", "check_game", "checks_of"]


class Check:
    """One check of one game, a callable; `__name__` is for example `chess-start`."""

    def __init__(self, check: Callable[[Subject], None], subject: Subject) -> None:
        self.__name__ = f"{subject.game.name}-{check.__name__.removeprefix('check_')}"
        self._check, self._subject = check, subject

    def __call__(self) -> None:
        """Run the check; raises Fault for the first violation."""
        try:
            self._check(self._subject)
        except Fault:
            raise
        except Exception as problem:
            raise Fault(f"{self.__name__} fails with {type(problem).__name__}: {problem}") from problem


def checks_of(game: Game, evaluation: Callable[[], Evaluation] | None = None, seed: int = SEED) -> list[Check]:
    """Return the checks that apply to a game: those of its dice, contest, evaluation and search only if it has them."""
    subject = Subject(game, evaluation, seed)
    return [Check(check, subject) for check in _applicable(game, evaluation)]


def _applicable(game: Game, evaluation: Callable[[], Evaluation] | None) -> Iterator[Callable[[Subject], None]]:
    yield from (rules.check_start, rules.check_text, rules.check_names, rules.check_plies, rules.check_play, rules.check_result,
                rules.check_pictures, rules.check_turns)
    if game.roll:
        yield rules.check_dice
    if game.contest and game.contest.text:
        yield from (reading.check_written_games, reading.check_choices, reading.check_duplicates, reading.check_broken_off)
        if game.contest.openings:
            yield reading.check_openings
    if evaluation:
        yield searching.check_phases
        if game.searcher:
            yield searching.check_search if game.roll is None else searching.check_dice_search


def check_game(game: Game, evaluation: Callable[[], Evaluation] | None = None, seed: int = SEED) -> None:
    """Run all checks that apply to a game; raises Fault for the first violation."""
    for check in checks_of(game, evaluation, seed):
        check()
