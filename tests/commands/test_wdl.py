"""`tuner wdl`: what it prints, its page, its code in a compiler, and what it refuses."""

import json
import re

import chess
import numpy as np
import pytest
import yaml

from games.record import Choice, find
from tests.commands.export_support import by_compiler
from tests.commands.scored import CHANCES, scored_positions
from tests.commands.support import done, tuner
from tests.games.support import SHARED, random_boards
from tests.tools import tool
from tuner.play.game import Course, by_length, by_rules, play_out
from tuner.play.openings import Opening
from tuner.statistics.wdl import WdlModel

TCEC = SHARED / "tcec_commented.pgn.zst"
ASKED = [(score, material) for score in (-300, -1, 0, 50, 250) for material in (0, 17, 40, 78, 99)]


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    return scored_positions(tmp_path_factory.mktemp("scored") / "scored.epd", 3000)


@pytest.fixture(scope="module")
def found(scored):
    """What is found, and the model."""
    plain = json.loads(done("wdl", scored, "--json").out)
    return plain, WdlModel(*(np.array(plain[name]["coefficients"]) for name in "ab"))


def test_known_chances_are_found(found):
    plain, model = found
    assert plain["games"] == plain["positions"] == 3000
    for half in plain["half_won"]:
        share = min(max(half["material"], 17), 78) / 58
        assert abs(half["score"] - CHANCES.at(share)[0]) < 1.5 * half["error"]
    held = plain["held_out"]
    assert 450 < held["games"] < 750 and held["difference"]["mean"] < 0
    assert held["loss"]["mean"] < held["without_scores"]["mean"] - 0.1
    model.at(1.0)


def test_what_is_printed_is_what_is_found(scored, found):
    plain, model = found
    out = done("wdl", scored).out
    assert out.startswith("3,000 positions with scores within 10 pawns, of 3,000 games: ")
    for half in plain["half_won"]:
        assert (
            f"at material {half['material']} at {half['score']:.0f} +/- {half['error']:.0f} cent"
            in out
        )
    (row,) = re.findall(r"^ +\+1\.00 +(.*)", out, re.MULTILINE)
    for cell, half in zip(re.split(r" {2,}", row), plain["half_won"], strict=True):
        win, draw, loss = map(int, cell.split(" / "))
        chances = model.chances(100, half["material"] / 58)
        assert win + draw + loss == 1000 and abs(win - 1000 * chances.win) <= 0.5
        assert abs(loss - 1000 * chances.loss) <= 0.5
    assert f"this model     {plain['held_out']['loss']['mean']:.5f}" in out
    assert "Stockfish 17" in out and "its coefficients times" in out


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


def test_yaml_has_the_coefficients(tmp_path, scored, found):
    done("wdl", scored, "--format", "yaml", "-o", tmp_path / "wdl.yaml")
    plain = yaml.safe_load((tmp_path / "wdl.yaml").read_text())
    assert (
        plain["a"] == found[0]["a"]["coefficients"] and plain["b"] == found[0]["b"]["coefficients"]
    )
    assert plain["material"] == {"low": 17, "high": 78, "anchor": 58}


def test_the_page_shows_curves_and_the_table(tmp_path, scored):
    done("wdl", scored, "--page", tmp_path / "wdl.html")
    text = (tmp_path / "wdl.html").read_text()
    assert text.count('<svg class="chart"') == 5 and "In a thousand games" in text
    assert "material 17" in text and "http://" not in re.sub(r'xmlns[^"]*"[^"]*"', "", text)


class Guessing:
    """Plays any move, and has a score for the one who wins in the end."""

    def __init__(self, game, outcome: float, dice: np.random.Generator) -> None:
        self.game, self.outcome, self.dice = game, outcome, dice

    def begin(self, seed: str) -> None:
        pass

    def choose(self, line, moves, clock) -> Choice:
        view = -1 if self.game.second_to_move(line[-1]) else 1
        score = self.dice.normal(150 * view * self.outcome, 150)
        return Choice(int(self.dice.choice(self.game.legal_moves(line[-1]))), round(score))


def test_games_of_shogi_have_chances_without_material(tmp_path):
    game, dice, texts = find("shogi"), np.random.default_rng(1), []
    for number in range(90):
        outcome = (1, 0, -1)[number % 3]
        course = Course(game, Opening(game.start(), []))
        player = Guessing(game, outcome, dice)
        judges = (by_rules, by_length(12, outcome))
        ending = play_out(course, [player, player], judges, lambda: False, ["", ""])
        texts.append(game.files.game_text(course.played(ending)))
    (tmp_path / "games.csa").write_text("".join(texts))
    words = ("wdl", tmp_path / "games.csa", "--game", "shogi", "--skip-start", 0, "--held-out", 0.3)
    plain = json.loads(done(*words, "--json").out)
    assert plain["games"] > 50 and plain["material"] is None
    assert len(plain["a"]["coefficients"]) == 1 and plain["held_out"]["published"] is None
    assert plain["held_out"]["loss"]["mean"] < plain["held_out"]["without_scores"]["mean"]
    code = tmp_path / "wdl.h"
    out = done(*words, "-o", code).out
    assert "material" not in out + code.read_text() and "wdl_of(double score)" in code.read_text()


def refusal(*arguments: object) -> str:
    """The last line of a command that has to be refused, after what it read."""
    ran = tuner(*arguments)
    assert (ran.status, ran.out) == (2, ""), ran
    return ran.err.splitlines()[-1]


def test_games_without_scores_or_without_results_of_all_kinds_are_refusal(tmp_path):
    assert "has a score; expected PGN comments" in refusal("wdl", "samples", "--per-game", 1)
    assert "files of backgammon record none" in refusal("wdl", "samples", "--game", "backgammon")
    path = scored_positions(tmp_path / "won.epd", 200)
    lines = [line.rpartition("|")[0] + "| 1.0\n" for line in path.read_text().splitlines()]
    path.write_text("".join(lines))
    assert "no game of those to learn from is drawn" in refusal("wdl", path)


def test_options_that_have_no_use_are_refusal(tmp_path, scored):
    assert "--format c: is the kind of the file that -o names" in refusal(
        "wdl", scored, "--format", "c"
    )
    assert "expected the name of an HTML page" in refusal(
        "wdl", scored, "--page", tmp_path / "a.txt"
    )
    assert "unknown game 'x'" in refusal("wdl", scored, "--game", "x")
    assert "0 games with scores are held out" in refusal("wdl", scored, "--held-out", 0)


@pytest.mark.long
@pytest.mark.skipif(not TCEC.exists(), reason="../shared/data is not here")
def test_it_is_no_worse_than_the_published_form_on_games_of_a_tournament():
    for seed in (1, 2, 3):
        plain = json.loads(done("wdl", TCEC, "--seed", seed, "--json").out)
        assert plain["held_out"]["difference"]["mean"] < 0
