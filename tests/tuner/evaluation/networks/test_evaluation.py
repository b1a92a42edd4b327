"""Networks as evaluations: the compiled code, NumPy and the definition agree, and searches use
them."""

import re
from itertools import islice

import numpy as np
import pytest

from evalterms.framework.encoding import encodings_of
from games.backgammon.rules.play import afterstates
from games.record import Dice, find
from games.search.searcher import Limits
from tests.evalterms.chess.test_counts import played_boards
from tests.games.backgammon.support import rolls_of_games
from tests.support import refusal
from tests.tuner.evaluation.networks.support import counts_of_positions, network
from tuner.evaluation.networks.evaluation import NetworkEvaluation, evaluation_of
from tuner.evaluation.networks.files import NetworkFile

CHESS = find("chess")
LAYERS = [
    [(1, "sigmoid")],
    [(1, "tanh")],
    [(64, "relu"), (1, "sigmoid")],
    [(16, "tanh"), (8, "relu"), (1, "tanh")],
]
SCALE = 0.003


def evaluation(game: str, encoding: str, layers, seed: int = 1) -> NetworkEvaluation:
    made = network(encodings_of(game)[encoding].size, layers, seed)
    return evaluation_of(NetworkFile(game, encoding, made, 1, "a test", SCALE))


@pytest.fixture(scope="module")
def positions() -> np.ndarray:
    return np.array([CHESS.position(board.fen()) for board in played_boards(300)])


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
    assert np.tanh(SCALE * found.compiled(positions)) == pytest.approx(
        expected, abs=1e-6 + SCALE / 512
    )
    assert expected.std() > 0.05


@pytest.fixture(scope="module")
def rolled() -> np.ndarray:
    """Positions of backgammon before the roll, of both sides."""
    found = np.array(list(islice(rolls_of_games(7, 300), 300)))
    found[:, 4] &= np.uint64(1)
    return found


@pytest.mark.parametrize("layers", LAYERS, ids=str)
@pytest.mark.parametrize("points", [1, 3])
@pytest.mark.parametrize("encoding", encodings_of("backgammon"))
def test_evaluations_are_in_points_and_for_the_side_to_roll(rolled, encoding, points, layers):
    """By the definition: an output is for the first player or for the side to roll, and 1 stands
    for so many points."""
    game, known = find("backgammon"), encodings_of("backgammon")[encoding]
    found = evaluation_of(
        NetworkFile("backgammon", encoding, network(known.size, layers), points, "a test", SCALE)
    )
    out = found.network.outputs(counts_of_positions(known, rolled) * known.units)[:, 0]
    v = 2 * out - 1 if layers[-1][1] == "sigmoid" else out
    second = np.array([game.second_to_move(words) for words in rolled])
    expected = np.where(second & known.for_mover, -v, v) * points  # points of the first player
    assert 3 * np.tanh(SCALE * found.values(rolled)) == pytest.approx(expected, abs=1e-5)
    assert 3 * np.tanh(SCALE * found.compiled(rolled)) == pytest.approx(
        expected, abs=1e-5 + 3 * SCALE / 512
    )
    assert second.mean() == pytest.approx(0.5, abs=0.1) and expected.std() > 0.05


@pytest.mark.parametrize(
    ("encoding", "points"), [("tesauro198", 1), ("tesauro198", 3), ("perspective196", 1)]
)
def test_searches_choose_as_the_compiled_player_does(rolled, encoding, points):
    """One ply deep: the afterstate that is best for who moves, as in games of self-play."""
    game, known = find("backgammon"), encodings_of("backgammon")[encoding]
    made = network(known.size, LAYERS[2])
    searcher = evaluation_of(
        NetworkFile("backgammon", encoding, made, points, "a test", SCALE)
    ).searcher()
    for number, words in enumerate(rolled[:60]):
        here = game.rolled(words, Dice(3, number))
        after, _ = afterstates(here)
        found = searcher.search([here], Limits(depth=1))
        sign = -1 if game.second_to_move(here) else 1

        def liking(each, sign=sign):
            out = made.outputs(counts_of_positions(known, each[None]) * known.units)[0, 0]
            return (
                sign * (2 * out - 1) * (-1 if known.for_mover and game.second_to_move(each) else 1)
            )

        if not any(game.result([each]) for each in after):
            chosen = game.play(here, found.move)
            assert liking(chosen) > max(map(liking, after)) - 1e-5


def test_colours_can_be_exchanged():
    some = played_boards(60)
    found = evaluation("chess", "bitboard768", LAYERS[2])
    one, other = (
        found.values(np.array([CHESS.position(board.fen()) for board in each]))
        for each in (some, [board.mirror() for board in some])
    )
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


@pytest.mark.parametrize(
    "game, encoding, scale, layers, message",
    [
        (
            "chess",
            "mailbox64",
            None,
            LAYERS[0],
            "net.yaml: has no scale, so its outputs are no centipawns",
        ),
        (
            "chess",
            "mailbox64",
            SCALE,
            [(1, "linear")],
            "net.yaml: expected one output of a sigmoid or tanh, found 1 of linear",
        ),
    ],
)
def test_networks_that_evaluate_nothing_are_refused(game, encoding, scale, layers, message):
    made = network(encodings_of(game)[encoding].size, layers)
    assert re.search(
        message,
        refusal(evaluation_of, NetworkFile(game, encoding, made, 1, "a test", scale), "net.yaml"),
    )


def test_more_points_than_a_game_wins_are_refused():
    made = network(64, LAYERS[0])
    assert "net.yaml: points is 3, but a game of chess wins 1 at most; correct it" in refusal(
        evaluation_of, NetworkFile("chess", "mailbox64", made, 3, "a test", SCALE), "net.yaml"
    )
