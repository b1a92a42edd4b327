"""Names of moves: USI (7g7f, 8h2b+, P*5e) and Western notation with numbers (P-76, Bx22+, P*55)."""

from __future__ import annotations

import re

import numpy as np

from games.shogi.attacks import GOLD, PROMOTED
from games.shogi.movegen import moves_of
from games.shogi.moves import CAPTURED_SHIFT, KIND_SHIFT, NOWHERE, PROMOTION, SOURCE_SHIFT
from games.shogi.position import STATE
from games.shogi.sfen import LETTERS, square_name
from games.shogi.squares import RANKS

_TARGET = re.compile(r"[-x*]([1-9]{2})[+=]?\Z", re.ASCII)  # of a move in Western notation


def source_of(move: int) -> int:
    """Return the source square of a move; NOWHERE for a drop."""
    return move >> SOURCE_SHIFT & 127


def kind_of(move: int) -> int:
    """Return the kind of the man that moves."""
    return move >> KIND_SHIFT & 15


def move_name(words: np.ndarray | None, move: int) -> str:
    """Return a move in USI; it does not depend on the position."""
    target = square_name(move & 127)
    if source_of(move) == NOWHERE:
        return f"{LETTERS[kind_of(move)]}*{target}"
    return f"{square_name(source_of(move))}{target}{'+' if move & PROMOTION else ''}"


def _digits(square: int) -> str:
    return f"{square // RANKS + 1}{square % RANKS + 1}"


def move_text(words: np.ndarray, move: int, moves: list[int] | None = None) -> str:
    """Return a legal move in Western notation with numbers. `=` declines a promotion; the source square is given if another man
    of the kind could move there too."""
    source, target, kind = source_of(move), move & 127, kind_of(move)
    plain = kind & 7 if kind > PROMOTED else kind
    man = ("+" if kind > PROMOTED else "") + LETTERS[plain]
    if source == NOWHERE:
        return f"{man}*{_digits(target)}"
    alike = [other for other in (moves_of(words) if moves is None else moves)
             if other & 127 == target and kind_of(other) == kind and source_of(other) not in (source, NOWHERE)]
    promotion = ""
    if move & PROMOTION:
        promotion = "+"
    elif kind < GOLD and _may_promote(words, source, target):
        promotion = "="
    step = "x" if move >> CAPTURED_SHIFT & 15 else "-"
    return f"{man}{_digits(source) if alike else ''}{step}{_digits(target)}{promotion}"


def _may_promote(words: np.ndarray, source: int, target: int) -> bool:
    if int(words[STATE]) & 1:
        return max(source % RANKS, target % RANKS) >= 6
    return min(source % RANKS, target % RANKS) <= 2


def move_named(words: np.ndarray, name: str) -> int:
    """Return the legal move of that name, USI or Western; ValueError if there is none."""
    legal = moves_of(words)
    for move in legal:
        if move_name(words, move) == name:
            return move
    target = _TARGET.search(name)
    for move in legal:
        if target and _digits(move & 127) == target[1] and move_text(words, move, legal) == name:
            return move
    raise ValueError(f"illegal move {name!r}")


