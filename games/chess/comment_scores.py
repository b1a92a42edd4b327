"""The compiled parser of scores in PGN comments.

    {+0.31/6 0.006s}  {-M5/12 ...}    cutechess, fastchess, XBoard: pawns/depth or moves to mate, for the side that moved
    {[%eval 0.36]}  {[%eval #-3,22]}  Lichess: pawns or moves to mate, for White, of the position after the move
    {[%eval 36,22]}                   ChessBase: the same in centipawns, without a decimal point
    {d=33, ..., wv=0.60, ...}         TCEC: pawns or M5, for White

The first and the last form are of the search that chose the move: the score belongs to the position before it. Scores are noted
in centipawns for White; mates, and scores of DECIDED or more, are infinite.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.chess.fen import bytes_type
from games.chess.game_row import note_score, row_type, scores_type
from games.chess.tokens import BRACKET_BYTE, DIGIT, SPACE, class_of, packed, packed_word
from games.chess.unit import inner

DECIDED = 20000.0  # centipawns: engines write mates and wins in tablebases as large numbers too
EVAL, VALUE = packed_word("%eval"), packed_word("wv=")
_MINUS, _PLUS, _DOT, _SLASH, _COMMA, _M, _HASH, _CLOSE, _W = (ord(c) for c in "-+./,M#]w")
_0 = ord("0")
NOTHING = -1


@inner(types.float64(types.float64))
def decided(score):
    """Return a score in centipawns, infinite if it is DECIDED or more."""
    if score >= DECIDED:
        return np.inf
    return -np.inf if score <= -DECIDED else score


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _digit_at(text, i, end):
    return i < end and class_of(np.int64(text[i])) == DIGIT


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _blank_at(text, i, end):
    return i < end and class_of(np.int64(text[i])) == SPACE


@inner(types.int64(bytes_type, types.int64, types.int64))
def _score_end(text, i, end):
    """Return the index after the score at i: signed digits with or without a point, or moves to mate (M5, -M5, #5, #-5);
    NOTHING if there is none."""
    signed = i < end and (text[i] == _MINUS or text[i] == _PLUS)
    if signed:
        i += 1
    mate = i < end and (text[i] == _M or text[i] == _HASH)
    if mate:
        i += 1
        if not signed and i < end and (text[i] == _MINUS or text[i] == _PLUS):
            i += 1
    begin, dots = i, 0
    while _digit_at(text, i, end) or (not mate and dots == 0 and i < end and text[i] == _DOT):
        dots += text[i] == _DOT
        i += 1
    return i if i - begin > dots else NOTHING


@inner(types.float64(bytes_type, types.int64, types.int64, types.boolean))
def _score(text, i, end, whole_is_centipawns):
    """Return the score text[i:end], which `_score_end` delimits, in centipawns; NaN for a mate in zero, which has no side.

    `whole_is_centipawns`: a number without a point is in centipawns, not in pawns.
    """
    sign, value, unit, mate, dot = 1.0, 0.0, 1.0, False, False
    for k in range(i, end):
        if text[k] == _MINUS:
            sign = -1.0
        elif text[k] == _M or text[k] == _HASH:
            mate = True
        elif text[k] == _DOT:
            dot = True
        elif text[k] != _PLUS:
            value = value * 10.0 + (np.int64(text[k]) - _0)
            if dot:
                unit *= 10.0
    if mate:
        return sign * np.inf if value > 0.0 else np.nan
    if dot or not whole_is_centipawns:
        value *= 100.0
    return decided(sign * value / unit)


@inner(types.void(bytes_type, types.int64, types.int64, types.int64, types.boolean, row_type, scores_type))
def read_comment(text, i, end, ply, black, game, scores):
    """Note the scores of the comment text[i:end] after `ply` plies of a game; `black` is to move there."""
    while _blank_at(text, i, end):
        i += 1
    if ply:
        stop = _score_end(text, i, end)
        if stop != NOTHING and stop < end and text[stop] == _SLASH and _digit_at(text, stop + 1, end):
            mate_or_pawns = False
            for k in range(i, stop):
                mate_or_pawns = mate_or_pawns or text[k] == _DOT or text[k] == _M or text[k] == _HASH
            if mate_or_pawns:  # otherwise a fraction, such as 1/2
                score = _score(text, i, stop, False)
                if not np.isnan(score):
                    note_score(game, scores, ply - 1, score if black else -score)
                return
    k = i
    while True:
        while k < end and text[k] != BRACKET_BYTE and text[k] != _W:
            k += 1
        if k == end:
            return
        if text[k] == BRACKET_BYTE and k + 7 < end and packed(text, k + 1, k + 6) == EVAL and _blank_at(text, k + 6, end):
            k += 7
            while _blank_at(text, k, end):
                k += 1
            stop = _score_end(text, k, end)
            if stop != NOTHING and stop < end and (text[stop] == _CLOSE or text[stop] == _COMMA):
                score = _score(text, k, stop, True)
                if not np.isnan(score):
                    note_score(game, scores, ply, score)
                return
        elif ply and text[k] == _W and k + 3 < end and packed(text, k, k + 3) == VALUE and (
                k == i or text[k - 1] == _COMMA or _blank_at(text, k - 1, end)):
            k += 3
            stop = _score_end(text, k, end)
            if stop != NOTHING and (stop == end or text[stop] == _COMMA or _blank_at(text, stop, end)):
                score = _score(text, k, stop, False)
                if not np.isnan(score):
                    note_score(game, scores, ply - 1, score)
                return
        k += 1
