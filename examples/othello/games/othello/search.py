"""The compiled search of Othello."""

from __future__ import annotations

from functools import partial

from games.othello import rules
from games.othello.rules import CORE, WORDS, entry, position_type
from numba.core import types

from games.search.alphabeta import make_search
from games.search.alphabeta_searcher import AlphaBetaSearcher
from games.search.plain import plain_rules

SEARCH = make_search(
    plain_rules(
        CORE,
        position_type,
        WORDS,
        load=rules.load,
        store=rules.store,
        generate=rules.generate,
        make=rules.make,
        key=rules.key_of,
        outcome=rules.outcome,
    )
)
_deepen = SEARCH.deepen


@entry(types.int64(SEARCH.contexts_type, types.int64, types.int64, SEARCH.reports_type))
def deepen(contexts, first, last, reports):
    """Search the position of the first context from one depth to another, see
    games.search.alphabeta."""
    return _deepen(contexts[0], first, last, reports)


# of the addresses of an evaluation and its weights, see games.search.alphabeta_searcher
searcher = partial(AlphaBetaSearcher, SEARCH.dtype, deepen)
