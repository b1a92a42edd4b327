"""What tests in several folders share: games from the samples, and the dataset that they make, built once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["tests.skips"]
REPOSITORY = Path(__file__).resolve().parents[1]
SAMPLES = REPOSITORY / "games" / "samples" / "stockfish400.pgn.zst"
SMALL = 300  # games


@pytest.fixture(scope="session")
def small_pgn(tmp_path_factory) -> Path:
    """The first games of the samples, as a plain PGN file."""
    from games.streams import pieces

    text = b""
    for piece in pieces(SAMPLES):
        text += piece
        if text.count(b"[Event ") > SMALL:
            break
    games = text.split(b"[Event ")[1:SMALL + 1]
    path = tmp_path_factory.mktemp("small") / "small.pgn"
    path.write_bytes(b"".join(b"[Event " + game for game in games))
    return path


@pytest.fixture(scope="session")
def small_dataset(small_pgn):
    """The quiet positions of those games, counted with all terms."""
    from games.record import ReadOptions
    from tuner.engine.loading import load_engine, quiescence_of
    from tuner.ingest.build import build

    engine, _ = load_engine("classic")
    options = ReadOptions(skip_start=8)
    return build(engine, [str(small_pgn)], small_pgn.with_name("small.ds"), options, quiescence_of(engine, "classic"), print)[0]


@pytest.fixture(scope="session")
def chess(small_dataset):
    """A function that gives engine, bundled parameters (tapered or not) and the small dataset."""
    from tuner.engine.loading import load_engine
    from tuner.parameters.parameters import untapered

    engine, parameters = load_engine("classic")

    def given(one_stage: bool = False):
        return engine, untapered(parameters) if one_stage else parameters, small_dataset

    return given

