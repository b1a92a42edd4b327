"""Sums that the search keeps: those of functions declared to read only some pieces, such as pawns and kings.

A game's view says what such functions read (`KEPT`), which fields their sides have (`kept_type`, `kept_side`), and which two
words name these pieces (`kept_key`). The sum over both sides is kept in a table of the search, under both words in full, so that
it is the same whether it is found there or not. A game without `KEPT` keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from evalterms.term import Term

_SUMS = '''

@UNIT.inner(types.void(side_type, side_type, score_emitter_type), forceinline=True)
def add_up_rest(us, them, emit):
{rest}


@UNIT.inner(types.void(kept_type, kept_type, score_emitter_type), forceinline=True)
def add_up_kept(us, them, emit):
{kept}


@UNIT.inner(types.int64(kept_type, kept_type, kept_type, kept_type, weights_type))
def sum_to_keep(first, first_across, second, second_across, weights):
    total = np.int64(0)
    for turn in range(2):
        emit = score_emitter(weights)
        if turn == 0:
            us, them = first, second_across
        else:
            us, them = second, first_across
        add_up_kept(us, them, emit)
        total += score_total(emit) if turn == 0 else -score_total(emit)
    return total


@UNIT.inner(types.int64(words_type, weights_type, types.int64))
def evaluate_keeping(words, weights, sums):
    """Evaluate with sums kept in the table at an address, or anew if it is 0; the same as `evaluate`."""
    first, second = first_side(words), second_side(words)
    first_across, second_across = across(first), across(second)
    one, other = kept_key(words)
    place = np.int64((one * FACTOR ^ other) * FACTOR >> SUMS_SHIFT) << 2
    if sums != 0 and word_at(sums, place) == one and word_at(sums, place + 1) == other:
        total = np.int64(word_at(sums, place + 2))
    else:
        total = sum_to_keep(kept_side(first), kept_side(first_across), kept_side(second), kept_side(second_across), weights)
        if sums != 0:
            put_word(sums, place, one)
            put_word(sums, place + 1, other)
            put_word(sums, place + 2, np.uint64(total))
    for turn in range(2):
        emit = score_emitter(weights)
        if turn == 0:
            us, them = first, second_across
        else:
            us, them = second, first_across
        add_up_rest(us, them, emit)
        total += score_total(emit) if turn == 0 else -score_total(emit)
    return finish(total, words, first, first_across, second, second_across, weights)
'''
_IMPORTS = '''
from evalterms.{game}.view import kept_key, kept_side, kept_type
from games.hashset import FACTOR
from games.search.context import SUMS
from games.search.memory import put_word, word_at

SUMS_SHIFT = np.uint64(64 - (SUMS.bit_length() - 1))
'''


def kept_text(game: str, kept: Sequence[str], rest: Sequence[str]) -> tuple[str, str, str]:
    """Return imports, functions and the expression of an evaluation with kept sums; given the calls of functions of terms whose
    sums are kept, and of the rest."""
    if not kept:
        return "", "", "evaluate(words, weights)"
    texts = (_IMPORTS.format(game=game), _SUMS.format(kept="\n".join(kept), rest="\n".join(rest or ["    pass"])))
    return *texts, "evaluate_keeping(words, weights, sums)"


def require_known(term: Term, view: ModuleType) -> None:
    """Raise ValueError with one line if a function of the term is declared to read what the game does not know."""
    known = getattr(view, "KEPT", None)
    for each in term.counting:
        if each.reads not in (None, known):
            expected = f"expected {known!r}, or leave it out" if known else "this game has no such declarations; leave it out"
            raise ValueError(f"term {term.name}: {each.function.__name__} is declared with reads={each.reads!r}; {expected}")
