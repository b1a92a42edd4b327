"""The compiled search of Othello."""

from __future__ import annotations

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


def searcher(
    function: int, weights: int, playing: bool, margin: float, megabytes: int = 16
) -> AlphaBetaSearcher:
    """Return a search with the evaluation and weights at these addresses, see
    games.search.alphabeta_searcher."""
    return AlphaBetaSearcher(SEARCH.dtype, deepen, function, weights, playing, margin, megabytes)
