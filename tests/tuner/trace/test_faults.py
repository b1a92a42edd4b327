"""Mistakes planted in two small engines are named by the row check, whatever games and weights."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from games.record import ReadOptions
from games.streams import pieces
from tests.tuner.trace.support import (
    ENGINES,
    FAULTS,
    NUMBERS,
    SAMPLES,
    compile_mini,
    folder_of,
    mini_parameters,
)
from tuner.datasets.rows.check import RowCheck
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine, parameter_path
from tuner.export.into.plan import plan
from tuner.export.into.write import new_texts, write_sources
from tuner.export.numbers import rounded
from tuner.learn.engine_rows import build_engine_rows
from tuner.parameters.parameters import Parameters

SEEDS = 20
GAMES, PER_GAME = 60, 10
# what the check has to say first: its kind, the name of the term, and words of the sentence
EXPECTED = {
    "perspective": (
        "perspective",
        "",
        "The evaluations are of the side to move, the counts of the first player's view",
    ),
    "swapped": ("stages", "mobility.knight", "The stages of mobility.knight are exchanged"),
    "doubled": ("term", "bishop.pair", "bishop.pair is counted twice in the rows"),
    "missing": ("missing", "pawns.passed", "pawns.passed"),
}


@dataclass(frozen=True)
class Faulty:
    """The command of a compiled engine with a fault, and its weights."""

    command: str
    parameters: Parameters


SHORT = [("c", "perspective")]


@cache
def quiescence() -> WeightsEvaluation:
    return WeightsEvaluation(*load_engine(parameter_path("classic")))


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> list[Path]:
    """A file of games for each seed."""
    text = b"".join(pieces(SAMPLES)).split(b"[Event ")[1:]
    folder = tmp_path_factory.mktemp("games")
    files = [folder / f"{seed}.pgn" for seed in range(SEEDS)]
    for seed, file in enumerate(files):
        file.write_bytes(
            b"".join(b"[Event " + game for game in text[seed * GAMES : (seed + 1) * GAMES])
        )
    return files


@pytest.fixture(
    params=[
        pytest.param(case, marks=() if case in SHORT else pytest.mark.long)
        for case in itertools.product(NUMBERS, FAULTS)
    ],
    ids=[f"{language}-{fault}" for language in NUMBERS for fault in FAULTS],
)
def faulty(request, tmp_path) -> Faulty:
    """An engine with other weights than those of its source."""
    language, fault = request.param
    name, names, flipped = NUMBERS[language]
    source, p = folder_of(language, tmp_path) / name, mini_parameters()
    shutil.copy(ENGINES / names, tmp_path)
    random = np.random.default_rng(FAULTS.index(fault))
    changed = p.with_weights(np.round(p.weights * random.uniform(0.7, 1.3, p.weights.shape)))
    r = rounded(changed, flipped=flipped)
    write_sources(new_texts(plan(r, [source], tmp_path / names), r))
    return Faulty(f"{compile_mini(language, tmp_path, fault).program} trace", changed)


def checked(faulty: Faulty, games: Path, seed: int) -> RowCheck:
    """Let an engine print rows for positions of some games, and check them."""
    options = ReadOptions(per_game=PER_GAME, seed=seed)
    _, check, totals, _ = build_engine_rows(
        faulty.command,
        [str(games)],
        games.with_suffix(".ds"),
        faulty.parameters,
        options,
        quiescence(),
        None,
        lambda text: None,
        lambda done: None,
    )
    assert check is not None and check.checked == totals.rows > 0.9 * GAMES * PER_GAME
    return check


def test_planted_faults_are_named(faulty, games, request):
    _, fault = request.node.callspec.params["faulty"]
    kind, name, words = EXPECTED[fault]
    checks = [checked(faulty, file, seed) for seed, file in enumerate(games)]
    found = [check.faults[0] if check.faults else None for check in checks]
    wrong = [
        (seed, one)
        for seed, one in enumerate(found)
        if one is None or (one.kind, one.name) != (kind, name) or words not in one.text
    ]
    assert not wrong, f"{len(found) - len(wrong)} of {len(found)}"
    assert not any(check.fits for check in checks)
