"""Engines as plain data: made again elsewhere, they evaluate the same."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from games.streams import InputError
from tests.games.support import REPOSITORY
from tuner.evaluation import loading as spec_module
from tuner.evaluation.loading import EngineSpec, engine_of, evaluation_spec, load_engine, spec_of


@pytest.mark.parametrize(
    "terms",
    [(), pytest.param((REPOSITORY / "examples" / "rook_terms.py",), marks=pytest.mark.long)],
)
def test_an_engine_that_is_made_again_evaluates_the_same(monkeypatch, terms):
    engine, parameters = load_engine("classic", terms, add_missing=True)
    spec = pickle.loads(pickle.dumps(evaluation_spec(engine, parameters)))
    assert engine_of(spec.engine) is engine  # this process has it
    monkeypatch.setattr(spec_module, "_engines", type(spec_module._engines)())
    again = engine_of(spec.engine)
    assert again is not engine and again.layout == engine.layout and again is engine_of(spec.engine)
    boards = np.array([engine.game.start()])
    weights = parameters.with_weights(
        np.random.default_rng(1).normal(0, 50, parameters.weights.shape)
    )
    for move in engine.game.legal_moves(boards[0])[:5]:
        boards = np.concatenate(
            [
                boards,
                engine.game.play(boards[-1], engine.game.legal_moves(boards[-1])[move % 3])[None],
            ]
        )
    assert again.evaluate(boards, weights).tolist() == engine.evaluate(boards, weights).tolist()


def test_a_file_of_terms_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "own.py"
    path.write_bytes((REPOSITORY / "examples" / "rook_terms.py").read_bytes())
    engine, _ = load_engine("classic", (path,), add_missing=True)
    assert spec_of(engine).files[0].content == Path(path).read_bytes()
    path.write_text("# nothing")
    with pytest.raises(InputError, match="has changed since its terms were read"):
        spec_of(engine)


def test_a_term_that_is_unknown_here_is_named():
    with pytest.raises(InputError, match="chess has no term 'telepathy' here"):
        engine_of(EngineSpec("chess", ("telepathy",)))
