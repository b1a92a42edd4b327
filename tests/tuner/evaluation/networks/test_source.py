"""Networks as C: compiled, it finds the values of our own code."""

import subprocess
from itertools import islice

import numpy as np
import pytest

from evalterms.framework.encoding import encoding_named
from games.record import find
from tests.evalterms.chess.test_counts import played_boards
from tests.games.backgammon.support import rolls_of_games
from tests.tools import tool
from tests.tuner.evaluation.networks.support import counts_of_positions, network
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile, c_text

POSITIONS = 1000
PROGRAM = """
#include <stdio.h>
#include "net.h"
int main(void)
{
    static int counts[NETWORK_INPUTS];
    float outputs[NETWORK_OUTPUTS];
    int i;
    for (;;) {
        for (i = 0; i < NETWORK_INPUTS; i++)
            if (scanf("%d", &counts[i]) != 1)
                return 0;
        network_outputs(counts, outputs);
        for (i = 0; i < NETWORK_OUTPUTS; i++)
            printf("%.9g ", outputs[i]);
        printf("%.9g\\n", CENTIPAWNS);
    }
}
"""


def printed(tmp_path, text: str, counts: np.ndarray, centipawns: str) -> np.ndarray:
    """What the C code finds: outputs, then the evaluation."""
    compiler = tool("cc", "gcc")
    if compiler is None:
        pytest.skip("no C compiler; install the Debian package gcc")
    (tmp_path / "net.h").write_text(text)
    (tmp_path / "main.c").write_text(PROGRAM)
    command = [
        compiler,
        "-O2",
        "-Wall",
        "-Werror",
        "-std=c99",
        f"-DCENTIPAWNS={centipawns}",
        "main.c",
        "-o",
        "main",
        "-lm",
    ]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    given = "\n".join(" ".join(map(str, row)) for row in counts.tolist())
    out = subprocess.run(
        [tmp_path / "main"], input=given, capture_output=True, text=True, check=True
    ).stdout
    return np.array([line.split() for line in out.splitlines()], float)


@pytest.mark.parametrize(
    "name, layers",
    [
        ("bitboard768", [(64, "relu"), (1, "sigmoid")]),
        ("mailbox64", [(16, "tanh"), (8, "sigmoid"), (1, "tanh")]),
        ("compressed100", [(1, "sigmoid")]),
    ],
)
def test_c_finds_the_values_of_a_thousand_positions(tmp_path, name, layers):
    encoding = encoding_named("chess", name)
    file = NetworkFile("chess", name, network(encoding.size, layers), 1, "made */ \\ up", 0.0025)
    positions = np.array(
        [find("chess").position(board.fen()) for board in played_boards(POSITIONS)]
    )
    counts = counts_of_positions(encoding, positions)
    found = printed(
        tmp_path, c_text(file, encoding, "net.yaml"), counts, "network_centipawns(counts)"
    )
    assert found.shape == (POSITIONS, 2)
    assert found[:, 0] == pytest.approx(
        file.network.outputs(counts * encoding.units)[:, 0], abs=2e-6
    )
    evaluation = evaluation_of(file)
    mover = np.array([-1 if find("chess").second_to_move(words) else 1 for words in positions])
    assert found[:, 1] == pytest.approx(mover * evaluation.values(positions), abs=2e-3)
    assert found[:, 1] == pytest.approx(mover * evaluation.compiled(positions), abs=5e-3)


@pytest.mark.parametrize("name", ["tesauro198", "perspective196"])
def test_c_knows_that_a_network_learned_wins_alone(tmp_path, name):
    """Evaluations in hundredths of a point, for the first player or for the side to roll as the
    outputs are."""
    encoding, game = encoding_named("backgammon", name), find("backgammon")
    file = NetworkFile(
        "backgammon",
        name,
        network(encoding.size, [(5, "sigmoid"), (1, "sigmoid")]),
        1,
        "a test",
        0.00333,
    )
    positions = np.array(list(islice(rolls_of_games(5, 200), 200)))
    positions[:, 4] &= np.uint64(1)
    text = c_text(file, encoding, "net.yaml")
    assert (
        "/* The evaluation in hundredths of a point, for the " in text and "centipawn" not in text
    )
    found = printed(
        tmp_path,
        text,
        counts_of_positions(encoding, positions),
        "network_hundredths_of_a_point(counts)",
    )
    second = np.array([game.second_to_move(words) for words in positions])
    expected = np.where(second & encoding.for_mover, -1, 1) * evaluation_of(file).values(positions)
    assert found[:, 1] == pytest.approx(expected, abs=2e-3) and abs(expected).max() < 105


def test_a_network_without_scale_has_outputs_alone(tmp_path):
    encoding = encoding_named("backgammon", "tesauro198")
    file = NetworkFile(
        "backgammon", "tesauro198", network(198, [(5, "sigmoid"), (6, "linear")]), 3, "made up"
    )
    counts = np.random.default_rng(1).integers(-2, 4, (50, 198))
    text = c_text(file, encoding, "net.yaml")
    assert "The evaluation in" not in text and "outputs are for the first player" in text
    found = printed(tmp_path, text, counts, "0.0")
    assert found[:, :6] == pytest.approx(file.network.outputs(counts * encoding.units), abs=2e-5)
