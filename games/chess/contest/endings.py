"""Endings that are drawn in practice although a mate is possible: for games that are adjudicated, not for the rules."""

from __future__ import annotations

import numpy as np

from games.chess.position import BISHOP, KING, KNIGHT


def drawn_ending(words: np.ndarray) -> bool:
    """Return whether each side has at most one knight or bishop beside its king, or one side two knights and the other nothing.

    A mate is then possible only if the losing side steps into it: a search of a few plies sees it.
    """
    white, black = int(words[0]), int(words[1])
    knights, bishops = int(words[1 + KNIGHT]), int(words[1 + BISHOP])
    minors = knights | bishops
    if (white | black) != minors | int(words[1 + KING]):
        return False
    ours, theirs = (white & minors).bit_count(), (black & minors).bit_count()
    return ours <= 1 and theirs <= 1 or minors == knights and min(ours, theirs) == 0 and ours + theirs == 2
