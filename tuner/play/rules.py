"""When games end before they are played out: the same words mean the same in matches, tournaments
and own games. Self-play has the judges alone.

`GameRules` names what is in force; judges look at a game before each move, and the first that ends
it decides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from games.record import DRAW_RULE, PLIES, RESIGN_RULE, RULES, TABLES, Choice, Game
from games.streams import InputError
from tuner.options.games import GamesSettings
from tuner.options.match import GameOptions
from tuner.options.option import no_use
from tuner.play.game import Course, Ending, Judge

ENDING = "drawn ending"  # how games end that endings decide
CERTAIN = 30_000.0  # centipawns: the score of a forced win
MOST = 10**6  # of a number in the words of a rule


@dataclass(frozen=True)
class Resign:
    """A player loses after `movecount` moves in a row with a score of -`score` centipawns or less;
    `twosided`: and if the opponent's moves between them have scores of `score` or more."""

    movecount: int = 3
    score: int = 400
    twosided: bool = False


@dataclass(frozen=True)
class Draw:
    """A draw after `movenumber` moves of each side, if all scores of the last `movecount` moves of
    each side are within +/- `score`."""

    movenumber: int = 40
    movecount: int = 8
    score: int = 20


Rule = TypeVar("Rule", Resign, Draw)


def rule_of(kind: type[Rule], option: str, words: Sequence[str] | None) -> Rule | None:
    """Make a rule from words such as `movecount=3 score=400`, or several in one; None without
    words, and for `off`. InputError for unknown or wrong ones."""
    if words is None or list(words) == ["off"]:
        return None
    values: dict[str, Any] = {}
    known = {field.name: isinstance(field.default, bool) for field in fields(kind)}
    for word in " ".join(words).split():
        name, _, value = word.partition("=")
        if name not in known:
            shown = ", ".join(f"{n}={'true' if known[n] else 'N'}" for n in known)
            raise InputError(f"{option} {word}: unknown, expected {shown}")
        if known[name]:
            if value not in ("true", "false"):
                raise InputError(f"{option} {word}: expected true or false after {name}=")
            values[name] = value == "true"
        elif not value.isdecimal() or not 0 < int(value) <= MOST:
            raise InputError(f"{option} {word}: expected a whole number of 1 or more after {name}=")
        else:
            values[name] = int(value)
    return kind(**values)


@dataclass(frozen=True, kw_only=True)
class GameRules:
    """The rules in force in games, in addition to those of the game; by default none.

    Games are drawn after `plies` plies, 0: never. `endings`: in endings that the game knows as
    drawn. `syzygy` is a folder of tables of endings. `seed` is that of all random choices, and
    `restart` starts engines before each pair. A player without scores neither resigns nor agrees
    to a draw."""

    plies: int = 0
    resign: Resign | None = None
    draw: Draw | None = None
    syzygy: str | None = None
    endings: bool = False
    restart: bool = False
    seed: int = 1

    def judges(self, game: Game) -> tuple[Judge, ...]:
        """Return the judges of games, the first one first. InputError for tables that the game does
        not have, or that cannot be read."""
        return (*self.sure_judges(game), *self.judges_by_scores(game), by_length(self.plies))

    def sure_judges(self, game: Game) -> tuple[Judge, ...]:
        """Return those that are never wrong."""
        return (by_rules, *([] if self.syzygy is None else [by_tables(game, self.syzygy)]))

    def judges_by_scores(self, game: Game) -> tuple[Judge, ...]:
        """Return those that may be wrong."""
        known = self.endings and game.contest.drawn_ending is not None
        judges = [by_endings if known else None, *map(_judge_of, (self.resign, self.draw))]
        return tuple(filter(None, judges))


def rules_of(settings: GameOptions | GamesSettings, restart: bool = False) -> GameRules:
    """Return the rules that settings name; InputError for words that no rule has."""
    return GameRules(
        plies=settings.plies,
        resign=rule_of(Resign, "--resign", settings.resign),
        draw=rule_of(Draw, "--draw", settings.draw),
        syzygy=settings.syzygy,
        restart=restart,
        seed=settings.seed,
    )


def _judge_of(rule: Resign | Draw | None) -> Judge | None:
    if rule is None:
        return None
    return by_resignation(rule) if isinstance(rule, Resign) else by_agreement(rule)


def by_rules(course: Course) -> Ending | None:
    """End a game by its rules."""
    outcome = course.game.result(course.line)
    return None if outcome is None else Ending(RULES, outcome)


def by_length(plies: int, outcome: float | None = 0) -> Judge:
    """Return the judge that ends games after a number of plies, as draws unless another outcome is
    given; 0: never."""
    return lambda course: Ending(PLIES, outcome) if plies and len(course.moves) >= plies else None


def by_tables(game: Game, folder: str) -> Judge:
    """Return the judge that ends games by the tables in a folder. InputError for tables that the
    game does not have, or that cannot be read."""
    if game.contest.tablebase is None:
        raise InputError(no_use(f"--syzygy {folder}", f"{game.name} has no tables of endings"))
    tables = game.contest.tablebase(folder)

    def judge(course: Course) -> Ending | None:
        outcome = tables(course.line[-1])
        return None if outcome is None else Ending(TABLES, outcome)

    return judge


def by_endings(course: Course) -> Ending | None:
    """Draw endings that the game knows as drawn, where the last move saw no forced win."""
    drawn_ending = course.game.contest.drawn_ending
    assert drawn_ending is not None, "see GameRules.judges_by_scores"
    seen = course.choices and abs(score_of(course.choices[-1], math.nan)) < CERTAIN
    return Ending(ENDING, 0) if seen and drawn_ending(course.line[-1]) else None


def by_resignation(rule: Resign) -> Judge:
    """Return the judge of players who resign: the one who moved last, or if the rule is two-sided,
    either."""

    def judge(course: Course) -> Ending | None:
        if rule.twosided:
            own = [
                score if i % 2 == 0 else -score
                for i, score in enumerate(_last_scores(course, 2 * rule.movecount))
            ]
            if len(own) == 2 * rule.movecount:
                if all(score <= -rule.score for score in own):
                    return course.forfeited(course.mover, RESIGN_RULE)
                if all(score >= rule.score for score in own):
                    return course.forfeited(1 - course.mover, RESIGN_RULE)
            return None
        own = _last_scores(course, 2 * rule.movecount - 1)[::2]
        lost = len(own) == rule.movecount and all(score <= -rule.score for score in own)
        return course.forfeited(course.mover, RESIGN_RULE) if lost else None

    return judge


def by_agreement(rule: Draw) -> Judge:
    """Return the judge of games that are level."""

    def judge(course: Course) -> Ending | None:
        if len(course.moves) < 2 * rule.movenumber:
            return None
        last = _last_scores(course, 2 * rule.movecount)
        level = len(last) == 2 * rule.movecount and all(abs(x) <= rule.score for x in last)
        return Ending(DRAW_RULE, 0) if level else None

    return judge


def _last_scores(course: Course, number: int) -> list[float]:
    """Return the scores of the last moves, the last first, each from the view of the player who
    chose it; NaN of players without scores."""
    return [score_of(choice, math.nan) for choice in course.choices[: -number - 1 : -1]]


def score_of(choice: Choice, unknown: float) -> float:
    """Return the score of a move in centipawns, from the point of view of the player who chose it;
    `unknown` for a player without scores."""
    if choice.win_in is not None:
        return CERTAIN if choice.win_in > 0 else -CERTAIN
    return unknown if choice.score is None else choice.score
