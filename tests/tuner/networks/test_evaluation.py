"""Networks as evaluations: the compiled code, NumPy and the definition agree, and searches use them."""

import numpy as np
import pytest

from evalterms.encoding import encodings_of
from games.record import find
from games.search.searcher import Limits
from games.streams import InputError
from tests.evalterms.chess.test_encodings import boards
from tests.tuner.networks.support import counts_of_positions, network
from tuner.networks.evaluation import NetworkEvaluation, evaluation_of
from tuner.networks.files import NetworkFile

CHESS = find("chess")
LAYERS = [[(1, "sigmoid")], [(1, "tanh")], [(64, "relu"), (1, "sigmoid")], [(16, "tanh"), (8, "relu"), (1, "tanh")]]
SCALE = 0.003


def evaluation(game: str, encoding: str, layers, seed: int = 1) -> NetworkEvaluation:
    made = network(encodings_of(game)[encoding].size, layers, seed)
    return evaluation_of(NetworkFile(game, encoding, made, 1, "a test", SCALE))


@pytest.fixture(scope="module")
def positions() -> np.ndarray:
    return np.array([CHESS.position(board.fen()) for board in boards(300)])


@pytest.mark.parametrize("layers", LAYERS, ids=str)
@pytest.mark.parametrize("encoding", encodings_of("chess"))
def test_compiled_evaluations_are_those_of_numpy(positions, encoding, layers):
    found = evaluation("chess", encoding, layers)
    counts = counts_of_positions(found.encoding, positions)
    out = found.network.outputs(counts * found.encoding.units)[:, 0]
    v = 2 * out - 1 if layers[-1][1] == "sigmoid" else out
    mover = np.array([-1 if text.split()[1] == "b" else 1 for text in CHESS.texts(positions)])
    expected = mover * v
    assert np.tanh(SCALE * found.values(positions)) == pytest.approx(expected, abs=1e-6)
    assert np.tanh(SCALE * found.compiled(positions)) == pytest.approx(expected, abs=1e-6 + SCALE / 512)
    assert expected.std() > 0.05


def test_colours_can_be_exchanged():
    some = boards(60)
    found = evaluation("chess", "bitboard768", LAYERS[2])
    one, other = (found.values(np.array([CHESS.position(board.fen()) for board in each]))
                  for each in (some, [board.mirror() for board in some]))
    assert one == pytest.approx(-other) and abs(one).max() > 10


def test_searches_find_the_value_of_the_leaf(positions):
    found = evaluation("chess", "bitboard768", LAYERS[2])
    searcher, checked = found.searcher(playing=False), 0
    for words in positions[1:40]:
        result = searcher.search([words], Limits(depth=1))
        leaf, sign = words, 1
        for move in result.pv:
            leaf, sign = CHESS.play(leaf, move), -sign
        if result.win_in is None and CHESS.result([leaf]) is None:
            own = -1 if CHESS.second_to_move(leaf) else 1
            assert sign * result.value == own * found.compiled(leaf[None])[0]
            checked += 1
    assert checked > 20


def test_a_thread_of_its_own_finds_the_same(positions):
    found = evaluation("chess", "compressed200", LAYERS[3])
    one, other = found.searcher(), found.searcher()
    for words in positions[1:4]:
        assert one.search([words], Limits(depth=3)).pv == other.search([words], Limits(depth=3)).pv


@pytest.mark.parametrize("game, encoding, scale, layers, message", [
    ("chess", "mailbox64", None, LAYERS[0], "net.yaml: has no scale, so its outputs are no centipawns"),
    ("chess", "mailbox64", SCALE, [(1, "linear")], "net.yaml: expected one output of a sigmoid or tanh, found 1 of linear"),
    ("backgammon", "tesauro198", SCALE, LAYERS[0], "tesauro198 has outputs for the first player, expected an"),
])
def test_networks_that_evaluate_nothing_are_refused(game, encoding, scale, layers, message):
    made = network(encodings_of(game)[encoding].size, layers)
    with pytest.raises(InputError, match=message):
        evaluation_of(NetworkFile(game, encoding, made, 1, "a test", scale), "net.yaml")
