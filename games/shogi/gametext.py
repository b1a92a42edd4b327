"""Played games as text in CSA format."""

from __future__ import annotations

import numpy as np

from games.contest import PLIES, TIME, Choice, PlayedGame
from games.shogi import csa
from games.shogi.endings import DECLARATION, MATE, PERPETUAL_CHECK, REPETITION, ending
from games.shogi.gamefile import DECIDED
from games.shogi.position import STATE


def _white_to_move(words: np.ndarray) -> bool:
    return bool(int(words[STATE]) & 1)


def end_of(game: PlayedGame) -> str:
    """Return the statement with which the game ends: %TORYO."""
    if game.outcome is None:
        return "%CHUDAN"
    found = ending(game.line)
    how = found[1] if found and found[0] == game.outcome else None
    if game.outcome == 0:
        return "%SENNICHITE" if how == REPETITION else "%MAX_MOVES" if game.end == PLIES else "%HIKIWAKE"
    mover_lost = (game.outcome > 0) == _white_to_move(game.line[-1])
    if mover_lost and how != PERPETUAL_CHECK:
        return "%TSUMI" if how == MATE else "%TIME_UP" if game.end == TIME else "%TORYO"
    if how == DECLARATION:
        return "%KACHI"
    return "%-ILLEGAL_ACTION" if game.outcome > 0 else "%+ILLEGAL_ACTION"


def reason(game: PlayedGame) -> str:
    """Return why a game ended by the rules, in words."""
    found = ending(game.line)
    if found is None:
        return game.end
    winner = "Black" if found[0] > 0 else "White"
    return {MATE: f"{winner} mates", DECLARATION: f"{winner} declares a win by 27 points", REPETITION: "fourfold repetition",
            PERPETUAL_CHECK: f"{'White' if found[0] > 0 else 'Black'} gives perpetual check"}[found[1]]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _score(choice: Choice, white: bool) -> int:
    """Return a player's score in centipawns, for Black; DECIDED for a forced win."""
    score = choice.score or 0.0
    if choice.win_in is not None:
        score = DECIDED if choice.win_in > 0 else -DECIDED
    return round(-score if white else score)


def game_text(game: PlayedGame) -> str:
    """Return a game in CSA format 2.2, with the players' scores, for Black, in comments."""
    rows = ["V2.2", f"N+{_plain(game.players[0])}", f"N-{_plain(game.players[1])}", f"$EVENT:{_plain(game.event)}",
            f"'round {_plain(game.round)}, {_plain(game.control)}", *csa.position_lines(game.line[0])]
    for ply, move in enumerate(game.moves):
        white = _white_to_move(game.line[ply])
        rows.append(csa.move_text(move, white))
        choice = game.choices[ply - game.book] if game.choices and ply >= game.book else None
        if choice and (choice.score is not None or choice.win_in is not None):
            rows.append(f"'** {_score(choice, white)}")
    return "\n".join([*rows, end_of(game), "/", ""])
