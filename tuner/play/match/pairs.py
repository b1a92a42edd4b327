"""Pairs of games as work for any process: players, play, and messages."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from games.record import FAULTS, Dice, Game, PlayedGame, Player, find
from games.streams import InputError
from games.system import bind_thread
from tuner.parallel import JobState
from tuner.play.game import Course, Luck, Rolling, Stopped, play_out
from tuner.play.match.journal import PairLine
from tuner.play.openings import Opening
from tuner.play.players import PlayerSpec, make_player, searcher_of
from tuner.play.rules import GameRules

Item = TypeVar("Item")
PAIRS_OF_LEG = 1 << 40  # more than a leg has
LUCK_DIGITS = 9  # after the point
BLOCK = 5  # pairs that engines play in one process where they are restarted
THREADS = itertools.count()  # that have a core of their own
MOST_OPEN = 16  # players of a thread: of more, the one that has waited the longest is closed


@dataclass(frozen=True, kw_only=True)
class MatchSpec:
    """Everything that the games of a match depend on, except openings. `legs` are the pairings;
    `text`: keep the games as text, with this `date`."""

    game: str
    rules: GameRules
    legs: tuple[tuple[PlayerSpec, PlayerSpec], ...]
    text: bool = False
    date: str = ""
    luck: PlayerSpec | None = None  # measures the luck of games with dice
    affinity: bool = False  # each thread, with its engines, has a core of its own
    event: str = "tuner match"


class PairTask(NamedTuple):
    """A pair of games to play: the leg, the number of the pair, and its opening."""

    leg: int
    number: int
    opening: Opening


def luck_by(game: Game, judge: PlayerSpec) -> Luck:
    """Return the measure by the evaluation of a player that searches. InputError if the search of
    the game has no values of rolls."""
    searcher = searcher_of(judge, False, 1)
    if not isinstance(searcher, Rolling):
        raise InputError(f"{game.name} has no search over dice to measure luck with")
    return Luck(game, searcher)


class MatchPlayers(JobState):
    """The players of one thread, its measure of luck and its judges. Each player is made when it is
    first needed, once for all legs."""

    def __init__(self, spec: MatchSpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.game, self.stopped = spec, find(spec.game), stopped
        self.luck = luck_by(self.game, spec.luck) if spec.luck else None
        self.judges = spec.rules.judges(self.game)
        self._players: dict[int, Player] = {}
        self._is_bound = not spec.affinity

    def player(self, leg: int, side: int) -> Player:
        """Return a player of a leg."""
        spec = self.spec.legs[leg][side]
        player = self._players.pop(id(spec), None) or make_player(spec, self.game)
        self._players[id(spec)] = player  # the last in order
        if len(self._players) > MOST_OPEN:
            self._players.pop(next(iter(self._players))).close()
        return player

    def bind(self) -> bool:
        """Bind this thread, and the engines that it starts, to the next core; return False if that
        was done, or is not wanted."""
        if self._is_bound:
            return False
        self._is_bound = True
        bind_thread(next(THREADS))
        return True

    def ready(self) -> None:
        """Start all players; InputError for one that does not start."""
        for leg in range(len(self.spec.legs)):
            for side in (0, 1):
                self.player(leg, side)

    def abort(self) -> None:
        for player in list(self._players.values()):
            player.abort()

    def close(self) -> None:
        for player in self._players.values():
            player.close()


def pair_text(task: PairTask) -> str:
    """Name a pair as the numbers of its games, as they are in a file of games."""
    return f"pair {task.number + 1} (rounds {task.number + 1}.1 and {task.number + 1}.2)"


def block_text(tasks: Sequence[PairTask]) -> str:
    """Name pairs that are played one after another."""
    return ", ".join(map(pair_text, tasks))


class Pair(NamedTuple):
    """Two games from one opening with colors swapped: their line of the journal, and their texts,
    if kept or if one was lost by a fault."""

    line: PairLine
    texts: list[str]


def play_block(state: MatchPlayers, tasks: Sequence[PairTask]) -> list[Pair] | None:
    """Play pairs of games one after another, with engines that begin anew if they are restarted;
    None if the match was stopped."""
    if state.bind() or state.spec.rules.restart:
        state.close()  # the next game starts them
    pairs = [play_pair(state, task) for task in tasks]
    whole = [pair for pair in pairs if pair is not None]
    return whole if len(whole) == len(tasks) else None


def play_pair(state: MatchPlayers, task: PairTask) -> Pair | None:
    """Play a pair of games; None if the match was stopped."""
    try:
        first, second = (play_game(state, task, turn) for turn in (0, 1))
    except Stopped:
        return None

    def both(of: Callable[[PlayedGame], Item]) -> tuple[Item, Item]:
        return of(first), of(second)

    game, opening = state.game, task.opening
    line = PairLine(
        task.leg,
        task.number,
        both(lambda played: _points_of_a(game, played)),
        both(lambda played: len(played.moves)),
        both(lambda played: played.end),
        both(lambda played: reason_of(game, played)),
        both(_forfeit_of),
        both(_luck_of_a) if state.luck else None,
        opening.place,
    )
    text = game.files.game_text if state.spec.text or any(line.forfeits) else None
    return Pair(line, list(map(text, (first, second))) if text else [])


def play_game(state: MatchPlayers, task: PairTask, turn: int) -> PlayedGame:
    """Play a game of a pair, in which player a is the first player (turn 0) or the second. Raises
    Stopped."""
    spec, order = state.spec, (turn, 1 - turn)
    named = [spec.legs[task.leg][side] for side in order]
    controls = [player.control for player in named]
    # both games have the same dice, with sides exchanged; each leg has its own, or a player would
    # be lucky against several opponents at once
    course = Course(
        state.game,
        task.opening,
        Dice(spec.rules.seed, task.number + task.leg * PAIRS_OF_LEG),
        state.luck.begun() if state.luck else None,
    )
    course.names = (named[0].name, named[1].name)
    ending = play_out(
        course,
        [state.player(task.leg, side) for side in order],
        state.judges,
        state.stopped,
        [f"{spec.rules.seed}/{task.number}/{turn}/{side}" for side in (0, 1)],
        controls,
    )
    texts = list(dict.fromkeys(control.text for control in controls))
    return replace(
        course.played(ending),
        players=course.names,
        named_first=turn,
        round=f"{task.number + 1}.{turn + 1}",
        date=spec.date,
        event=spec.event,
        control=" : ".join(texts),
        luck=state.luck.total if state.luck else None,
    )


def _points_of_a(game: Game, played: PlayedGame) -> int:
    assert played.outcome is not None, "every game of a match is finished"
    points = game.points_of(played.outcome)
    return -points if played.named_first else points


def _luck_of_a(played: PlayedGame) -> float:
    assert played.luck is not None, "measured in all games or none"
    return round(-played.luck if played.named_first else played.luck, LUCK_DIGITS)


def _forfeit_of(played: PlayedGame) -> str | None:
    """Return the side that lost a game by a fault, and the fault: "b crash"."""
    if played.end not in FAULTS or played.loser is None or not played.outcome:
        return None
    return f"{'ab'[played.loser ^ played.named_first]} {played.end}"


def reason_of(game: Game, played: PlayedGame) -> str:
    """Return why a game ended, in the game's own terms if it has any."""
    if game.contest.reason:
        return game.contest.reason(played)
    if played.loser is None:
        return played.end
    return f"{('first', 'second')[played.loser]} player loses by {played.end}" + (
        f": {played.detail}" if played.detail else ""
    )
