"""What a run of self-play says of opponents that are not the learner: the points against them, and
their mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from tuner.evaluation.evaluation import Evaluation
from tuner.play.selfplay.games import Episode
from tuner.play.selfplay.learner import WON

PLAYED, MISTAKES = "played", "mistakes"  # of a line of the history
LEAST = 100.0  # centipawns that a mistake gives away


def points_of(episodes: Iterable[Episode]) -> list[dict[str, Any]]:
    """Return the games that the learner played as one player, as plain data: `points` from 0 to 1
    are its own, None without a result; `opponent` and `rating` are None where they are unknown."""
    return [
        {
            "game": episode.number,
            "opponent": episode.opponent,
            "rating": episode.rating,
            "points": _points(episode),
        }
        for episode in episodes
        if episode.side is not None
    ]


def _points(episode: Episode) -> float | None:
    if episode.outcome is None or episode.side is None:
        return None
    own = episode.outcome * (1 - 2 * episode.side)
    return (1 + max(-1.0, min(own, 1.0))) / 2


def noted_mistakes(evaluation: Evaluation, episodes: Iterable[Episode]) -> dict[str, Any]:
    """Return what a line of the history has of mistakes of opponents: nothing without any."""
    found = mistakes_of(evaluation, episodes)
    return {MISTAKES: found} if found else {}


def mistakes_of(evaluation: Evaluation, episodes: Iterable[Episode]) -> list[dict[str, Any]]:
    """Return moves of opponents that the learner's search had not expected, and after which its
    next search was LEAST better for it, as plain data: the `position` in which `move` was played,
    the `answer`, and the scores `before` and `after` in centipawns of the learner's view, None for
    a forced win; `gain` is the difference of expected scores from 0 to 1, of values v =
    tanh(scale * score). The rule for mistakes of opponents leaves these differences out."""
    game, scale = evaluation.game, evaluation.scale
    return [
        {
            "game": episode.number,
            "ply": ply + 1,
            "position": game.texts(episode.line[ply + 1 : ply + 2])[0],
            "move": game.move_text(episode.line[ply + 1], episode.moves[ply + 1]),
            "answer": game.move_text(episode.line[ply + 2], episode.moves[ply + 2]),
            "before": round(before, 1),
            "after": round(after, 1) if after < WON else None,
            "gain": round((math.tanh(scale * after) - math.tanh(scale * before)) / 2, 4),
        }
        for episode in episodes
        for ply, before, after in _mistakes(episode)
    ]


def _mistakes(episode: Episode) -> Iterator[tuple[int, float, float]]:
    """Yield the plies of the searches before mistakes, and the scores there and at the next search
    in the learner's view. A draw by the rules is none: a search takes it from the first repetition
    of a position."""
    if episode.side is None:
        return
    drawn = episode.known == 0
    plies, scores = episode.ply.tolist(), ((1 - 2 * episode.side) * episode.scores).tolist()
    for i, (ply, following) in enumerate(zip(plies, plies[1:], strict=False)):
        before, after = scores[i], scores[i + 1]
        unseen = not (episode.predicted[i] or episode.explored[i] or drawn[i + 1])
        known = following == ply + 2 < len(episode.moves) and abs(before) < WON
        if unseen and known and after - before >= LEAST:
            yield ply, before, after
