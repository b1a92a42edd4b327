"""Values of learned weights, or of a network, beside results, in games that they play against
themselves.

The games come after those of the run in the order of its seed, so that their dice or openings are
not those that it learned from. A value is that of the position, or leaf of the search, that a side
chose; the last one of a game, which its rules decide, is left out. Games that were broken off have
no result and are left out too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from games.record import Game
from games.search.searcher import Limits, Searcher
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.networks.evaluation import NET, network_evaluation
from tuner.io.run_folder import read_config
from tuner.io.terminal import Display
from tuner.options.selfplay import NETWORK_SECTION, SECTION, NetworkSettings, SelfplaySettings
from tuner.play.openings import Opening
from tuner.play.selfplay import network as network_settings
from tuner.play.selfplay.games import Episode, Plan, play_episode
from tuner.play.selfplay.setup import MEGABYTES, openings_of, plan_of


@dataclass(frozen=True)
class PlayedValues:
    """Values v (n,) of positions for the first player and the results (n,) of their games, both in
    [-1, 1] (where wins were learned, 1 is a win by whatever points, else by the most); the game
    (n,) of each as an index; and the number of games, with those that were broken off. `before`
    (n,) are the values of the same positions by the evaluation that the run started from, None if
    it has none."""

    value: np.ndarray
    result: np.ndarray
    game: np.ndarray
    games: int
    broken_off: int
    before: np.ndarray | None = None


@dataclass(frozen=True)
class Learned:
    """What a run learned, ready to play as it did in the run: a search whose values are tanh(scale
    * centipawns), the openings by the number of the game, the seed, and the number of games that
    the run played or was to play. `wins`: it learned that every win is one point. `start` evaluates
    positions (n, words) as before the run, in centipawns."""

    game: Game
    searcher: Searcher
    scale: float
    plan: Plan
    opening: Callable[[int], Opening]
    seed: int
    games: int
    wins: bool
    start: Callable[[np.ndarray], np.ndarray] | None = None


def learned_weights(
    path: Path, played: int, initial: np.ndarray, note: Callable[[str], None]
) -> Learned:
    """Return the weights that a run in the folder of the file learned, which played `played` games
    and started from the `initial` ones."""
    settings = read_config(path.parent, SECTION, SelfplaySettings)
    evaluation = load_evaluation(path, settings.terms)
    return Learned(
        evaluation.game,
        evaluation.searcher(False, MEGABYTES, lean=False),
        evaluation.scale,
        replace(plan_of(settings), explore=0.0),
        openings_of(evaluation.game, settings, note),
        settings.seed,
        max(settings.games, played),
        settings.wins,
        evaluation.with_weights(initial).compiled,
    )


def learned_network(folder: Path, played: int) -> Learned:
    """Return the network of a run in which `played` games were played."""
    settings = read_config(folder, NETWORK_SECTION, NetworkSettings)
    evaluation = network_evaluation(folder / NET)
    start = Opening(evaluation.game.start(), [])
    return Learned(
        evaluation.game,
        evaluation.searcher(False),
        evaluation.scale,
        Plan(Limits(depth=1), 0, 0.0, network_settings.LONGEST),
        lambda number: start,
        settings.seed,
        max(settings.games, played),
        settings.wins,
    )


def played_values(learned: Learned, number: int, display: Display) -> PlayedValues:
    """Play `number` games of what a run learned, and return their values and results as those that
    it learned from."""
    display.begin("playing", number)
    found: list[Episode] = []
    for k in range(learned.games, learned.games + number):
        episode = play_episode(
            learned.game, learned.searcher, learned.plan, k, learned.seed, learned.opening(k)
        )
        assert episode is not None, "nobody stops it"
        found.append(episode)
        display.counting(len(found))
    values = values_of(found, learned.scale, learned.start)
    return of_wins(values, learned.game.points) if learned.wins else values


def of_wins(values: PlayedValues, points: int) -> PlayedValues:
    """Return the same with 1 for a win by whatever points, in place of the most `points`."""
    before = None if values.before is None else np.clip(points * values.before, -1, 1)
    value = np.clip(points * values.value, -1, 1)
    return replace(values, value=value, before=before, result=np.sign(values.result))


def values_of(
    episodes: list[Episode], scale: float, start: Callable[[np.ndarray], np.ndarray] | None = None
) -> PlayedValues:
    """Return values and results of games: values that a search proved, which are results, are left
    out."""
    parts = [(episode, episode.wins == 0) for episode in episodes if episode.outcome is not None]
    sizes = [int(open_.sum()) for _, open_ in parts]
    value = np.concatenate(
        [np.zeros(0), *(np.tanh(scale * episode.scores[open_]) for episode, open_ in parts)]
    )
    leaves = [episode.leaves[open_] for episode, open_ in parts]
    before = np.tanh(scale * start(np.concatenate(leaves))) if start and leaves else None
    return PlayedValues(
        value,
        np.repeat([float(episode.outcome or 0.0) for episode, _ in parts], sizes),
        np.repeat(np.arange(len(parts)), sizes),
        len(parts),
        len(episodes) - len(parts),
        before,
    )
