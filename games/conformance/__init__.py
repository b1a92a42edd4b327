"""Whether a game keeps what `games.record` and `games.contest` ask of it: checks over games played at random.

    from games.conformance import check_game, checks_of

    check_game(GAME)  # raises Fault, which names the game, the position and what is wrong

    @pytest.mark.parametrize("check", checks_of(GAME))  # or one test for each
    def test_the_game_keeps_its_contract(check):
        check()

With a function that gives an `Evaluation` phases and search are checked too; tests/games/test_conformance.py makes one of a
parameter file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from games.conformance import reading, rules, searching
from games.conformance.subject import OUTCOMES, SEED, Evaluation, Fault, Subject
from games.record import Game

__all__ = ["OUTCOMES", "Evaluation", "Fault", "check_game", "checks_of"]


class Check:
    """A check of one game, to be called; `__name__` says what of which."""

    def __init__(self, check: Callable[[Subject], None], subject: Subject) -> None:
        self.__name__ = f"{subject.game.name}-{check.__name__.removeprefix('check_')}"
        self._check, self._subject = check, subject

    def __call__(self) -> None:
        """Raise Fault for what the game does not keep."""
        try:
            self._check(self._subject)
        except Fault:
            raise
        except Exception as problem:
            raise Fault(f"{self.__name__} fails with {type(problem).__name__}: {problem}") from problem


def checks_of(game: Game, evaluation: Callable[[], Evaluation] | None = None, seed: int = SEED) -> list[Check]:
    """All checks that apply to a game."""
    subject = Subject(game, evaluation, seed)
    return [Check(check, subject) for check in _applicable(game, evaluation)]


def _applicable(game: Game, evaluation: Callable[[], Evaluation] | None) -> Iterator[Callable[[Subject], None]]:
    yield from (rules.check_start, rules.check_text, rules.check_names, rules.check_plies, rules.check_play, rules.check_result,
                rules.check_pictures)
    if game.contest:
        yield rules.check_turns
        if game.contest.text:
            yield from (reading.check_written_games, reading.check_choices, reading.check_duplicates, reading.check_broken_off)
            if game.contest.openings:
                yield reading.check_openings
    if evaluation:
        yield searching.check_phases
        if game.searcher and game.contest:
            yield searching.check_search


def check_game(game: Game, evaluation: Callable[[], Evaluation] | None = None, seed: int = SEED) -> None:
    """Raise Fault for the first thing that a game does not keep."""
    for check in checks_of(game, evaluation, seed):
        check()
