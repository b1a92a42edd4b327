"""Damaged games: no crash, no wrong moves accepted, and every fault reported."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from games.chess import faults
from tests.games.chess.mutation import EXPLAINED, mutate, originals, trials
from tests.games.support import games_of_bytes, oracle_games


@pytest.mark.long
def test_damaged_games_that_are_accepted_have_the_moves_that_python_chess_reads(tmp_path):
    accepted, refused = 0, Counter()
    for trial in trials(31, 2000, tmp_path):
        for game in trial.differing:
            assert trial.cause(game) in EXPLAINED, trial.content
        accepted += len(trial.accepted)
        refused.update(faults.kind_of(game.fault) for game in trial.ours if game.reason is not None)
    assert accepted > 200
    assert sum(refused.values()) > 1000
    assert len(refused) > 10


def test_every_error_that_python_chess_finds_in_damaged_games_is_reported(tmp_path):
    """Or we know why not."""
    for trial in trials(32, 500, tmp_path):
        if any(errors for _, _, errors in trial.theirs) and not any(game.reason for game in trial.ours):
            assert trial.differing, trial.content
            assert {trial.cause(game) for game in trial.differing} <= EXPLAINED


def test_games_around_a_damaged_one_are_read_unless_it_takes_their_tags_for_its_own(tmp_path):
    rng, games = random.Random(33), originals(33, 40)
    for _ in range(300):
        before, damaged, behind = rng.choice(games), mutate(rng, rng.choice(games)), rng.choice(games)
        found = games_of_bytes(before + damaged.rstrip() + b"\n\n" + behind, tmp_path)
        wanted = [(start, moves) for start, moves, _ in oracle_games(before + behind)]
        assert (found[0].start, found[0].moves) == wanted[0]
        assert (found[-1].start, found[-1].moves) == wanted[1], damaged
