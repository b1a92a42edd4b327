"""`tuner eval PARAMS FILE`: a score for each line, the same as of each position by itself."""

import bz2
import json

import numpy as np
import pytest

from tests.commands.support import done, tuner
from tuner.evaluation import explain as evaluate_file
from tuner.evaluation.loading import load_engine


@pytest.fixture(scope="module")
def lines(small_pgn, chess):
    """Positions of games, as text."""
    engine, _, _ = chess()
    from games.record import ReadOptions, ReadReport

    batch, *_ = engine.game.files.read(
        str(small_pgn), ReadOptions(positions="all"), ReadReport(), print
    )
    return [engine.game.text(words) for words in batch.positions[:3000:3]]


@pytest.mark.parametrize("name", ["positions.epd", "positions.txt", "positions.fen.bz2"])
def test_each_line_has_its_score(lines, tmp_path, monkeypatch, name):
    monkeypatch.setattr(evaluate_file, "LINES", 300)
    engine, parameters = load_engine("classic")
    text = "# some positions\n\n" + "\r\n".join(
        f'{line} c9 "1-0"; hmvc 3;' if i % 2 else line for i, line in enumerate(lines)
    )
    path = tmp_path / name
    path.write_bytes(bz2.compress(text.encode()) if name.endswith("bz2") else text.encode())
    scores = np.array(done("eval", "classic", path).out.split(), float)
    expected = engine.evaluate(np.array([engine.game.position(line) for line in lines]), parameters)
    assert len(scores) == len(lines) and np.abs(scores - expected).max() < 0.02
    assert json.loads(done("eval", "classic", path, "--json").out)["scores"] == scores.tolist()


def test_standard_input_too(lines):
    assert done("eval", "classic", "-", stdin="\n".join(lines[:5]).encode()).out.count("\n") == 5


def test_any_number_of_threads_gives_the_same_bits(lines):
    engine, parameters = load_engine("pesto")
    positions = np.tile(np.array([engine.game.position(line) for line in lines]), (40, 1))
    one, three = (engine.evaluate_many(positions, parameters, workers) for workers in (1, 3))
    assert (one == three).all() and len(one) == len(positions) > 2 * (1 << 14)
    assert len(engine.evaluate_many(positions[:0], parameters)) == 0


def test_a_wrong_line_is_named(lines, tmp_path):
    (tmp_path / "a.epd").write_text(f"{lines[0]}\n\n8/8/8/8 w\n")
    ran = tuner("eval", "classic", tmp_path / "a.epd")
    assert ran.status == 2 and f"{tmp_path / 'a.epd'}:3: the piece placement" in ran.err
    assert "expected a position on each line" in ran.err and ran.err.count("\n") == 1
