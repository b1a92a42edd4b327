"""`tuner wdl`: what it prints, its page, its code in a compiler, and what it refuses."""

import json
import re

import chess
import numpy as np
import pytest
import yaml

from games.record import find
from games.streams import lines
from tests.commands.export_support import by_compiler
from tests.commands.scored import scored_positions
from tests.commands.support import done, tuner
from tests.games.support import REPOSITORY, SHARED, random_boards
from tests.tools import tool
from tuner.core.estimates import Estimate
from tuner.learn.wdl import _shares
from tuner.statistics.wdl import Judged, WdlModel

TCEC = SHARED / "tcec_commented.pgn.zst"
ASKED = [(score, material) for score in (-300, -1, 0, 50, 250) for material in (0, 17, 40, 78, 99)]


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    return scored_positions(tmp_path_factory.mktemp("scored") / "scored.epd", 1000)


@pytest.fixture(scope="module")
def found(scored):
    """What is found, and the model."""
    plain = json.loads(done("wdl", scored, "--json").out)
    return plain, WdlModel(*(np.array([each["value"] for each in plain[name]]) for name in "ab"))


def test_what_is_printed_is_what_is_found(scored, found):
    plain, model = found
    out = done("wdl", scored).out
    assert out.startswith("1,000 positions with scores within 10 pawns, of 1,000 games: ")
    for half in plain["half_won"]:
        value, low, high = (half["score"][key] for key in ("value", "low", "high"))
        text = f"at material {half['material']} at {value:.0f} +/- {(high - low) / 2:.0f} cent"
        assert text in out
    (row,) = re.findall(r"^ +\+1\.00 +(.*)", out, re.MULTILINE)
    for cell, half in zip(re.split(r" {2,}", row), plain["half_won"], strict=True):
        win, draw, loss = map(int, cell.split(" / "))
        chances = model.chances(100, half["material"] / 58)
        assert win + draw + loss == 1000 and abs(win - 1000 * chances.win) <= 0.5
        assert abs(loss - 1000 * chances.loss) <= 0.5
    assert f"this model     {plain['held_out']['loss']['value']:.5f}" in out
    assert "Stockfish 17" in out and "its coefficients times" in out


def test_numbers_have_no_exponent():
    found = Estimate(12345.6, 50.0, 12245.3, 12445.9).leading_text()
    assert found == "12350 +/- 100"
    assert Estimate(0.01234, 0.001, 0.01034, 0.01434).leading_text() == "0.01234 +/- 0.002"


def test_material_is_that_of_python_chess():
    boards = [board.copy() for board in random_boards(3, 10, 100)][::5]
    game = find("chess")
    worth = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0}
    counts = game.stock.count(np.array([game.position(board.fen()) for board in boards]))
    assert counts.tolist() == [
        sum(worth[piece.symbol().lower()] for piece in board.piece_map().values())
        for board in boards
    ]
    assert game.stock.count(game.position(chess.STARTING_FEN)[None]) == [78]


def expected(model: WdlModel) -> np.ndarray:
    """The chances that are asked for, (asked, 3)."""
    score, material = np.array(ASKED).T
    return np.array(model.chances(score, np.clip(material, 17, 78) / 58)).T


@pytest.mark.parametrize("language", ["c", "rust"])
def test_the_code_of_an_engine_has_the_same_chances(tmp_path, scored, found, language):
    compilers, package = {"c": (("gcc", "cc"), "gcc"), "rust": (("rustc",), "rustc")}[language]
    compiler = tool(*compilers)
    if compiler is None:
        pytest.skip(f"no {compilers[0]}; install the Debian package {package}")
    code = tmp_path / "wdl.h"
    done("wdl", scored, "--format", language, "-o", code)
    if language == "c":
        prints = "".join(
            f"found = wdl_of({score}, {material});"
            'printf("%.17g %.17g %.17g\\n", found.win, found.draw, found.loss);'
            for score, material in ASKED
        )
        includes = '#include <stdio.h>\n#include "wdl.h"\n'
        main = f"{includes}int main(void) {{ wdl_chances found; {prints} return 0; }}\n"
        (tmp_path / "main.c").write_text(main)
        command = [
            compiler,
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-o",
            "main",
            "main.c",
            "-lm",
        ]
    else:
        prints = "".join(
            f"let c = wdl_of({score}.0, {material});"
            'println!("{} {} {}", c.win, c.draw, c.loss);'
            for score, material in ASKED
        )
        (tmp_path / "main.rs").write_text(code.read_text() + f"fn main() {{ {prints} }}\n")
        command = [compiler, "--deny", "warnings", "-o", "main", "main.rs"]
    printed = [[*map(float, line.split())] for line in by_compiler(command, tmp_path, "main")]
    assert np.allclose(printed, expected(found[1]), rtol=0, atol=1e-12)


def refusal(*arguments: object) -> str:
    """The last line of a command that has to be refused, after what it read."""
    ran = tuner(*arguments)
    assert (ran.status, ran.out) == (2, ""), ran
    return ran.err.splitlines()[-1]


def test_games_without_scores_or_without_results_of_all_kinds_are_refusal(tmp_path, small_pgn):
    assert "has a score; expected PGN comments" in refusal("wdl", small_pgn, "--per-game", 1)
    few = tmp_path / "few.mat"
    text = lines(str(REPOSITORY / "games/samples/pubeval.mat.zst"))
    few.write_bytes(b"\n".join(line for _, line in zip(range(600), text, strict=False)))
    assert "files of backgammon record none" in refusal("wdl", few, "--game", "backgammon")
    path = scored_positions(tmp_path / "won.epd", 200)
    won = [line.rpartition("|")[0] + "| 1.0\n" for line in path.read_text().splitlines()]
    path.write_text("".join(won))
    assert "no game of those to learn from is drawn" in refusal("wdl", path)


def test_games_that_are_all_decided_have_no_share_of_draws():
    for won in range(1, 50):
        outcome = np.repeat([1.0, -1.0], [won, 50])
        shares = _shares(Judged(outcome, outcome, outcome, outcome))
        assert shares[1] == 0 and sum(shares) == pytest.approx(1)


def test_coefficients_are_written_as_yaml(scored, tmp_path):
    found = json.loads(done("wdl", scored, "--format", "yaml", "-o", tmp_path / "a", "--json").out)
    plain = yaml.safe_load((tmp_path / "a").read_text())
    assert all(plain[name] == [each["value"] for each in found[name]] for name in "ab")
    assert plain["material"] == found["material"]


def test_options_that_have_no_use_are_refusal(tmp_path, scored):
    assert "--format c: is the kind of the file that -o names" in refusal(
        "wdl", scored, "--format", "c"
    )
    assert "expected the name of an HTML page" in refusal(
        "wdl", scored, "--page", tmp_path / "a.txt"
    )
    assert "unknown game 'x'" in refusal("wdl", scored, "--game", "x")
    assert "0 games with scores are held out" in refusal("wdl", scored, "--held-out", 0)
