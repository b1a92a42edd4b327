"""Backgammon as a record of functions."""

import numpy as np

from games.backgammon.engines.contest import PubevalPlayer, external, rater, reason
from games.backgammon.engines.contest import text as game_text
from games.backgammon.files import notation, reading
from games.backgammon.files.draw import draw, picture
from games.backgammon.files.ids import text_of
from games.backgammon.files.mat import made_here, one_session
from games.backgammon.rules.board import PLY_SHIFT, STATE, WORDS, start, turn_of, with_dice
from games.backgammon.rules.dice import rolled, rolls
from games.backgammon.rules.play import (
    HIGHEST_POINTS,
    WHOLE_GAMES,
    afterstates,
    legal_moves,
    play,
    points,
)
from games.backgammon.search import searcher
from games.record import Chance, Contest, Files, Game, Line, UsualSettings, Wording
from games.search.expectimax import MAX_DEPTH


def result(line: Line) -> float | None:
    """Return the points that the first player has won at the end of a line of positions, in thirds
    of a backgammon; None while the game continues."""
    won = points(line[-1])
    return won / HIGHEST_POINTS if won else None


def second_to_move(words: np.ndarray) -> bool:
    """Return whether the second player has the move, or the roll."""
    return bool(turn_of(words))


def plies(positions: np.ndarray) -> np.ndarray:
    """Return the plies played before positions (n, 5)."""
    return positions[:, STATE].astype(np.int64) >> PLY_SHIFT


def successors(words: np.ndarray) -> np.ndarray:
    """Return the positions (k, 5) that the moves of a roll lead to, before the next one."""
    return afterstates(words)[0]


def before_roll(words: np.ndarray) -> np.ndarray:
    """Return a position without its dice."""
    return with_dice(words, (0, 0))


GAME = Game(
    name="backgammon",
    words=WORDS,
    stages=("contact", "race"),
    start=start,
    legal_moves=legal_moves,
    play=play,
    result=result,
    second_to_move=second_to_move,
    plies=plies,
    position=notation.position,
    texts=lambda positions: [text_of(words) for words in positions],
    draw=draw,
    move_text=notation.move_text,
    move_name=notation.move_text,
    move_named=notation.move_named,
    files=Files(
        read=reading.read,
        suffixes=tuple(reading.SUFFIXES),
        of_games=lambda name: reading.of_file(str(name)) != reading.LABELS,
        holds_games=lambda name: reading.of_file(str(name)) is not None,
        game_text=game_text,
        session=one_session,
        made_here=made_here,
        picture=picture,
    ),
    contest=Contest(
        searcher=searcher,
        deepest=MAX_DEPTH,
        whole_games=WHOLE_GAMES,
        players={"pubeval": PubevalPlayer},
        external=external,
        protocols=("gnubg", "ubgi"),
        rater=rater,
        reason=reason,
    ),
    chance=Chance(rolled, rolls, successors, before_roll),
    points=HIGHEST_POINTS,
    scale=0.00333,
    wording=Wording("hundredths of a point", "expected points = 3 v", ("X", "O"), False, "checker"),
    usual=UsualSettings(
        match_depth=1,
        match_random_plies=0,
        judge=("network", "classic"),
        advice="--games 2000",
        method="td-leaf",
        selfplay_depth=1,
        selfplay_random_plies=0,
        selfplay_plies=2000,
        rates={"adam": 1.0},
        calibration_games=2000,
    ),
)
