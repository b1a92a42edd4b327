"""The chances of a win, a draw and a loss by score and material, from games with scores."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.writing import held_out_games
from tuner.io.terminal import Display
from tuner.learn.build import batches
from tuner.learn.reading import report_line
from tuner.learn.scores import unscored
from tuner.learn.sources import games_named
from tuner.results.wdl import Wdl
from tuner.statistics.wdl import (
    Judged,
    WdlModel,
    best_factor,
    constant_losses,
    fit_wdl,
    mean_by_game,
)

HIGHEST = 1000.0  # centipawns: higher scores say little of how scores become results
DEGREES = (0, 1, 2, 3)
MIN_GAMES = 10  # games on each side of the split


class Played(NamedTuple):
    """Positions with scores, and of each game its identity and opening."""

    data: Judged
    identities: np.ndarray
    openings: np.ndarray


def read_judged(
    game: Game, sources: Sequence[str], options: ReadOptions, display: Display
) -> Played:
    """Read all positions with scores within limits. InputError if there are none."""
    display.begin("reading")
    report, parts = ReadReport(), list[Played]()
    games = scores = 0
    named = games_named(sources, game, "wdl")
    for _, found in batches(game, named, options, report, display.note):
        for batch in found:
            parts.append(_scored(game, batch, games))
            games += len(batch.first)
            scores += int(np.count_nonzero(~np.isnan(batch.recorded)))
            display.reading(report)
    display.note(report_line(report))
    data = (
        Judged(
            *(np.concatenate(column) for column in zip(*(part.data for part in parts), strict=True))
        )
        if parts
        else None
    )
    if data is None or not len(data.x):
        if scores:
            raise InputError(
                f"{plural(scores, 'score')}, none within {HIGHEST / 100:g} pawns, as mates are;"
                " expected scores of all moves"
            )
        raise InputError(unscored(game, report.positions).found)
    return Played(
        data,
        np.concatenate([part.identities for part in parts]),
        np.concatenate([part.openings for part in parts]),
    )


def _scored(game: Game, batch: PositionBatch, before: int) -> Played:
    keep = np.abs(batch.recorded) <= HIGHEST  # NaN and forced wins are not
    sizes = np.diff(batch.first, append=len(batch.positions))
    number = np.repeat(np.arange(len(batch.first)), sizes) + before
    material = (
        game.stock.shares(game.stock.count(batch.positions[keep]))
        if game.stock
        else np.ones(int(keep.sum()))
    )
    scores = batch.recorded[keep].astype(np.float64)
    outcomes = batch.outcomes[keep].astype(np.float64)
    return Played(
        Judged(scores, material, outcomes, number[keep]), batch.identities, batch.openings
    )


def learn_wdl(
    game: Game, sources: Sequence[str], options: ReadOptions, share: float, display: Display
) -> Wdl:
    """Fit to games, of which a share is held out to compare with. InputError for games that do not
    say enough."""
    played = read_judged(game, sources, options, display)
    data = played.data
    held = held_out_games(played.identities, played.openings, share, options.seed)
    inside = held[data.game]
    train, test = data.only(~inside), data.only(inside)
    for part, what in ((train, "to learn from"), (test, "held out")):
        games = len(np.unique(part.game))
        if games < MIN_GAMES:
            raise InputError(
                f"{games} games with scores are {what}, expected at least {MIN_GAMES}: no opening"
                " is on both sides; give more games, or another --held-out"
            )
        shares = _shares(part)
        if min(shares) == 0:
            missing = ("won", "drawn", "lost")[shares.index(0.0)]
            raise InputError(
                f"no game of those {what} is {missing}; give more games or change --held-out"
            )
    stock = game.stock
    span = [1.0] if stock is None else [stock.share(i) for i in range(stock.low, stock.high + 1)]
    display.begin("fitting")
    fits = [
        fit
        for degree in (DEGREES if game.stock else DEGREES[:1])
        if (fit := fit_wdl(train, degree, span)) is not None
    ]
    if not fits:
        raise InputError("the scores do not separate wins from losses, so nothing can be fitted")
    best = min(fits, key=lambda fit: fit.criterion)
    final = fit_wdl(data, len(best.model.a) - 1, span) or best
    own = best.model.losses(test)
    published = factor = difference = None
    if game.stock:
        reference = WdlModel(*map(np.array, game.stock.published))
        factor = best_factor(reference, train)
        theirs = reference.scaled(factor).losses(test)
        published = mean_by_game(theirs, test.game)
        difference = mean_by_game(own - theirs, test.game)
    return Wdl(
        game=game,
        positions=len(data.x),
        games=len(np.unique(data.game)),
        held_out=len(np.unique(test.game)),
        outcomes=_shares(data),
        fit=final,
        own=mean_by_game(own, test.game),
        constant=mean_by_game(constant_losses(train, test), test.game),
        published=published,
        difference=difference,
        factor=factor,
    )


def _shares(data: Judged) -> tuple[float, float, float]:
    won, lost, drawn = np.maximum(data.z, 0), np.maximum(-data.z, 0), 1 - np.abs(data.z)
    return float(won.mean()), float(drawn.mean()), float(lost.mean())
