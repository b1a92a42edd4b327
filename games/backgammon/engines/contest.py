"""Backgammon in matches: players of its own, why a game ended, and games as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from games.backgammon.files.mat import PLAYED, RESIGNED, UNFINISHED, GameRecord, mat_text
from games.backgammon.rules.board import swapped
from games.backgammon.rules.play import (
    HIGHEST_POINTS,
    STEPS,
    afterstates,
    legal_moves,
    pubeval_move,
)
from games.protocol.player import EnginePlayer
from games.record import FAULTS, RULES, Choice, Control, PlayedGame, Player, Rater
from games.streams import InputError

SIDES = "X", "O"
KINDS = {1: "a single game", 2: "a gammon", 3: "a backgammon"}


class PubevalPlayer:
    """Gerald Tesauro's pubeval: the afterstate with its highest score."""

    def begin(self, seed: str, start: np.ndarray) -> None:
        """Nothing is random."""

    def choose(
        self, line: np.ndarray, moves: Sequence[int], left: tuple[float, float] | None
    ) -> Choice:
        words = np.ascontiguousarray(line[-1])
        after, _ = afterstates(words)
        return Choice(legal_moves(words)[pubeval_move(words, after)])

    def abort(self) -> None:
        """A move takes microseconds."""

    def close(self) -> None:
        """There is nothing to release."""


def reason(game: PlayedGame) -> str:
    """Return the reason for the end of a game as a short sentence."""
    if game.outcome is None:
        return f"Unfinished after {len(game.moves)} plies"
    if game.end == RULES:
        return f"{SIDES[game.outcome < 0]} wins {KINDS[abs(round(game.outcome * HIGHEST_POINTS))]}"
    if game.loser is None:
        return game.end
    why = (
        f"{SIDES[game.loser]} loses by {game.end}"
        if game.end in FAULTS
        else f"{SIDES[game.loser]} {game.end}"
    )
    return f"{why}: {game.detail}" if game.detail else why


def text(game: PlayedGame) -> str:
    """Return a game as a session of one game in .mat format; `named_first` has the left column."""
    first = game.named_first
    record = GameRecord(players=(_named(game.players[first]), _named(game.players[1 - first])))
    for words, move in zip(swapped(game.line) if first else game.line, game.moves, strict=False):
        record.rolled.append(np.asarray(words))
        record.moves.append(move & STEPS)
    if game.outcome is None:
        record.end = UNFINISHED
    else:
        record.points = round(game.outcome * HIGHEST_POINTS) * (-1 if first else 1)
        record.end = PLAYED if game.end == RULES else RESIGNED
    return mat_text([record])


def _named(name: str) -> str:
    return "".join(c if c.isprintable() and c != ":" else " " for c in name)[:30]


def rater(text: str) -> Rater:
    """Start gnubg as `gnubg:PLIES`; InputError for another program, or if that fails."""
    from games.backgammon.engines.players import GnubgEngine, gnubg_plies

    protocol, _, plies = text.partition(":")
    if protocol != "gnubg":
        raise InputError(
            f"{text}: says no values of moves, expected gnubg:PLIES, such as --teacher gnubg:0"
        )
    return GnubgEngine(gnubg_plies(plies))


def external(
    protocol: str, command: str, options: Mapping[str, str], control: Control, megabytes: int | None
) -> Player:
    """Start gnubg or a UBGI engine, see `games.backgammon.engines.players`; InputError if that
    fails."""
    from games.backgammon.engines.players import GnubgEngine, UbgiEngine, gnubg_plies

    if options:
        raise InputError(
            f"{protocol}:{command}: has no option {next(iter(options))!r}; leave it out"
        )
    plies = gnubg_plies(command) if protocol == "gnubg" else None
    return EnginePlayer(
        lambda values: UbgiEngine(command) if plies is None else GnubgEngine(plies), {}, control
    )
