"""Pairs of games as work for any process. The search releases Python's lock, and engines are processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from games.contest import FAULTS, Control, PlayedGame, Player
from games.record import Dice, Game, find
from tuner.match.entrants import PlayerSpec, make_player
from tuner.match.loop import Abandoned, Rules, Table
from tuner.match.luck import luck_by
from tuner.match.openings import Opening
from tuner.parallel import Job

Item = TypeVar("Item")
LUCK_DIGITS = 9  # after the point


@dataclass(frozen=True)
class MatchSpec:
    """All that the games of a match depend on apart from their openings. `legs` are the pairings; `text`: keep the games as text,
    with this `date`."""

    game: str
    rules: Rules
    legs: tuple[tuple[PlayerSpec, PlayerSpec], ...]
    seed: int
    text: bool
    date: str
    luck: PlayerSpec | None = None  # measures the luck of games with dice


class PairTask(NamedTuple):
    """A pair of games to play: the leg, the number of the pair, and its opening."""

    leg: int
    number: int
    opening: Opening


@dataclass(frozen=True)
class Pair:
    """Two games from one opening, with colours swapped: outcomes are points of the first named player."""

    leg: int
    number: int
    outcomes: tuple[int, int]
    ends: tuple[str, str]
    plies: tuple[int, int]
    reasons: tuple[str, str]
    forfeits: tuple[str | None, str | None]  # "b crash": who lost by a fault, and which
    opening: Opening
    texts: list[str]
    luck: tuple[float, float] | None = None  # points that the dice gave the first named player

    def line(self) -> dict:
        """For the journal."""
        line: dict = {"leg": self.leg, "pair": self.number, "outcomes": self.outcomes, "plies": self.plies, "ends": self.ends,
                "reasons": self.reasons}
        if any(self.forfeits):
            line["forfeits"] = self.forfeits
        if self.luck is not None:
            line["luck"] = self.luck
        return line if self.opening.place is None else line | {"opening": self.opening.place}


class MatchPlayers:
    """One thread's players, made when they are first needed, and its table."""

    def __init__(self, spec: MatchSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.game = spec, find(spec.game)
        self.table = Table(self.game, spec.rules, stopped, luck_by(self.game, spec.luck) if spec.luck else None)
        self._players: dict[tuple[int, int], Player] = {}

    def player(self, leg: int, side: int) -> Player:
        """Return a player of a leg."""
        key = (leg, side)
        if key not in self._players:
            self._players[key] = make_player(self.spec.legs[leg][side], self.game)
        return self._players[key]

    def ready(self) -> None:
        """Start both players; InputError for one that does not start."""
        for side in (0, 1):
            self.player(0, side)

    def abort(self) -> None:
        for player in list(self._players.values()):
            player.abort()

    def close(self) -> None:
        for player in self._players.values():
            player.close()


def play_pair(players: MatchPlayers, task: PairTask) -> Pair | None:
    """Play a pair of games; None if the match was stopped."""
    try:
        return _played(players, *task)
    except Abandoned:
        return None


def match_job(spec: MatchSpec) -> Job:
    """Return the work of a match."""
    return Job(MatchPlayers, play_pair, spec, pair_text)


def pair_text(task: PairTask) -> str:
    """Name a pair as the numbers of its games, as they are in a file of games."""
    return f"pair {task.number + 1} (rounds {task.number + 1}.1 and {task.number + 1}.2)"


def pair_tasks(numbers: Iterable[tuple[int, int]], opening: Callable[[int], Opening]) -> Iterator[PairTask]:
    """Yield the tasks of pairs, given as (leg, number)."""
    return (PairTask(leg, number, opening(number)) for leg, number in numbers)


def _played(state: MatchPlayers, leg: int, number: int, opening: Opening) -> Pair:
    spec, sides = state.spec, state.spec.legs[leg]
    outcomes: list[int] = []
    ends: list[str] = []
    plies: list[int] = []
    reasons: list[str] = []
    forfeits: list[str | None] = []
    texts: list[str] = []
    luck: list[float] = []
    dice = Dice(spec.seed, number)  # of both games: each side has in one what the other has in the other
    for turn in (0, 1):
        order = (turn, 1 - turn)  # who has the first move: a, then b
        named = [sides[i] for i in order]
        players = [state.player(leg, i) for i in order]
        game = state.table.play(opening.start, opening.moves, players, [player.control for player in named],
                                f"{spec.seed}/{number}/{turn}", dice=dice)
        game.players, game.named_first = (named[0].name, named[1].name), turn
        game.round, game.date = f"{number + 1}.{turn + 1}", spec.date
        game.control = _control_text(*(player.control for player in named))
        assert game.outcome is not None, "every game of a match is finished"
        points = state.game.points_of(game.outcome)
        outcomes.append(-points if turn else points)
        if game.luck is not None:
            luck.append(round(-game.luck if turn else game.luck, LUCK_DIGITS))
        ends.append(game.end)
        plies.append(len(game.moves))
        reasons.append(reason_of(state.game, game))
        at_fault = game.loser if game.end in FAULTS else None
        forfeits.append(None if at_fault is None else f"{'ab'[order[at_fault]]} {game.end}")
        if spec.text and state.game.matches.text:
            texts.append(state.game.matches.text(game))
    return Pair(leg, number, _both(outcomes), _both(ends), _both(plies), _both(reasons), _both(forfeits), opening, texts,
                _both(luck) if luck else None)


def _both(items: list[Item]) -> tuple[Item, Item]:
    """The two items of a list."""
    first, second = items
    return first, second


def reason_of(game: Game, played: PlayedGame) -> str:
    """Why a game ended, in the game's own words if it has some."""
    if game.matches.reason:
        return game.matches.reason(played)
    if played.loser is None:
        return played.end
    return f"{('first', 'second')[played.loser]} player loses by {played.end}" + (f": {played.detail}" if played.detail else "")


def _control_text(first: Control, second: Control) -> str:
    return first.text if first == second else f"{first.text} : {second.text}"


