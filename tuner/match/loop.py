"""Play one game between two players."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from games.contest import PLIES, RESIGN_RULE, RULES, TIME, Choice, Control, Forfeit, PlayedGame, Player
from games.record import Dice, Game
from tuner.match.adjudicate import NONE, Adjudication
from tuner.match.luck import Luck

ROOM = 256  # positions of a game, at first


class Abandoned(Exception):
    """The match was stopped during this game."""


@dataclass(frozen=True)
class Rules:
    """When games end apart from the rules of the game: as a draw after `plies` (0: never), or by adjudication."""

    plies: int = 0
    adjudication: Adjudication = NONE


class Table:
    """One thread's games, in a buffer that is reused."""

    def __init__(self, game: Game, rules: Rules, stopped: Callable[[], bool], luck: Luck | None = None) -> None:
        """`luck` measures that of games with dice; None: it is not measured."""
        self._game, self._rules, self._stopped, self._luck = game, rules, stopped, luck
        self._room = np.zeros((ROOM, game.words), np.uint64)

    def play(self, start: np.ndarray, opening: Sequence[int], players: Sequence[Player], controls: Sequence[Control],
             seed: str, clock: Callable[[], float] = time.perf_counter, dice: Dice | None = None) -> PlayedGame:
        """Play a game from an opening: `players` and `controls` are those of the first player and the second. `dice` are
        for games with dice.

        The `line` of the result is valid until the next game. Raises Abandoned if the match is stopped.
        """
        game, rules = self._game, self._rules
        second = game.second_to_move
        moves: list[int] = []
        choices: list[Choice] = []
        seconds: list[float] = []
        left = [control.base for control in controls]
        self._given = 0.0  # by the dice
        self._place(0, start, dice)
        for move in opening:
            self._add(moves, move, dice)

        def ended(end: str, outcome: float = 0, loser: int | None = None, detail: str = "") -> PlayedGame:
            if loser is not None:
                outcome = game.forfeited(loser)
            return PlayedGame(self._room[:len(moves) + 1], moves, len(opening), choices, seconds, outcome, end, loser, detail,
                              luck=None if self._luck is None else self._given)

        if self._stopped():
            raise Abandoned
        turn = 0
        try:
            for turn, player in enumerate(players):
                player.begin(f"{seed}/{turn}")
            turn = int(second(self._room[len(moves)]))
            while True:
                line = self._room[:len(moves) + 1]
                outcome = game.result(line)
                if outcome is not None:
                    return ended(RULES, outcome)
                if rules.plies and len(moves) >= rules.plies:
                    return ended(PLIES)
                if self._stopped():
                    raise Abandoned
                own, other = left[turn], left[1 - turn]
                clocks = None if own is None else (own, other or own)
                begun = clock()
                choice = players[turn].choose(line, moves, clocks)
                used = clock() - begun
                if own is not None:
                    own -= used
                    left[turn] = own
                    if own < 0:
                        return ended(TIME, loser=turn)
                    left[turn] = own + controls[turn].increment
                self._add(moves, choice.move, dice)
                choices.append(choice)
                seconds.append(used)
                if (rules.adjudication.resign or rules.adjudication.draw) and game.result(self._room[:len(moves) + 1]) is None:
                    verdict = rules.adjudication.judge(choices, len(moves))
                    if verdict:
                        return ended(verdict, loser=turn if verdict == RESIGN_RULE else None)
                turn = int(second(self._room[len(moves)]))
        except Forfeit as fault:
            if self._stopped():
                raise Abandoned from None
            return ended(fault.kind, loser=turn, detail=fault.detail)

    def _add(self, moves: list[int], move: int, dice: Dice | None) -> None:
        n = len(moves)
        if n + 1 == len(self._room):
            self._room = np.concatenate([self._room, np.zeros_like(self._room)])
        self._place(n + 1, self._game.play(self._room[n], move), dice)
        moves.append(move)

    def _place(self, i: int, words: np.ndarray, dice: Dice | None) -> None:
        """Roll the dice of a position, and make it number i of the line."""
        self._room[i] = rolled = self._game.rolled(words, dice)
        if self._luck is not None and rolled is not words:
            self._given += self._luck.of(words, rolled)
