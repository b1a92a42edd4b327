"""Counts of terms as inputs of networks, against the coefficients of evaluations."""

import re

import numpy as np
import pytest

from evalterms.framework.compose import compose, load_terms
from evalterms.framework.encoding import encoding_named
from games.record import find
from tests.support import refusal
from tests.tuner.evaluation.networks.support import network
from tests.tuner.play.selfplay.test_networks import random_line
from tuner.evaluation.engine import Counter
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile
from tuner.evaluation.networks.model import counts_of

BOARDS = {"chess": "compressed100", "shogi": "men2282", "backgammon": "tesauro198"}
OF_THE_BOARD = {
    "chess": {"material", "piece_square"},
    "shogi": {"material", "promoted", "hand", "piece_square", "king_relative"},
    "backgammon": {"points"},
}


def coefficients(game: str, terms, positions: np.ndarray) -> np.ndarray:
    """Counts of the first player minus the second's (n, columns)."""
    composition = compose(game, terms)
    rows = Counter(composition).count(positions)
    found = np.zeros((len(positions), composition.size), int)
    np.add.at(found, (rows.of, rows.index), rows.count)
    return found


@pytest.mark.parametrize(
    "game", ["chess", "backgammon", pytest.param("shogi", marks=pytest.mark.long)]
)
def test_counts_of_both_sides_differ_by_the_coefficients(game):
    positions, rules = random_line(game, 120), find(game)
    second = np.array([rules.second_to_move(words) for words in positions])
    assert 0.4 < second.mean() < 0.6
    linear = [term for term in load_terms(game) if term.linear]
    beside = [term for term in linear if term.name not in OF_THE_BOARD[game]]
    for name, terms in (("terms", linear), (f"{BOARDS[game]}+terms", beside)):
        encoding = encoding_named(game, name)
        counts = counts_of(encoding, positions).toarray()
        of_terms = 2 * sum(term.size for term in terms)
        board, ours, theirs = np.split(
            counts, [counts.shape[1] - of_terms, counts.shape[1] - of_terms // 2], axis=1
        )
        sign = np.where(second & encoding.for_mover, -1, 1)[:, None]
        assert (sign * (ours - theirs) == coefficients(game, terms, positions)).all()
        assert (ours != 0).any(0).sum() > 10
        if board.size:
            alone = counts_of(encoding_named(game, BOARDS[game]), positions).toarray()
            assert (board == alone).all()
        assert len(encoding.units) == counts.shape[1]
        assert np.abs(counts[:, -of_terms:] * encoding.units[-of_terms:]).max() <= 18


@pytest.mark.parametrize("game", BOARDS)
@pytest.mark.parametrize("form", ["terms", "{}+terms"])
def test_compiled_values_of_networks_are_those_of_numpy(game, form):
    name, positions = form.format(BOARDS[game]), random_line(game, 60)
    made = network(encoding_named(game, name).size, [(8, "relu"), (1, "sigmoid")])
    found = evaluation_of(NetworkFile(game, name, made, find(game).points, "a test", 0.003))
    np.testing.assert_allclose(found.compiled(positions), found.values(positions), atol=0.02)
    assert np.ptp(found.values(positions)) > 1


@pytest.mark.parametrize("name", ["bitboard768+pawns", "+terms", "squares+terms", "terms+terms"])
def test_other_names_are_refused(name):
    assert re.search(
        "available: mailbox64|available: bitboard768",
        refusal(encoding_named, "chess", name, error=ValueError),
    )
