"""Read files of backgammon into batches of positions.

Learning takes play without the cube: the outcome of a game is the points that it is won by, 1, 2 for a gammon or 3 for a
backgammon, divided by 3, whatever the cube shows and whatever the score of the match. A game that ends with a dropped double has
no such outcome: it was not played to its end, nor did the sides agree on its points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from games.backgammon import content, labels, mat, sgf
from games.backgammon.board import STATE, swapped, turn_of
from games.backgammon.gamerecord import DROPPED, Found, GameRecord
from games.backgammon.rules import HIGHEST_POINTS, points
from games.faults import Faults
from games.record import PositionBatch, ReadOptions, ReadReport
from games.streams import InputError, lines

OPENING_PLIES = 2  # with their dice: more than 300 rolls, and as many openings as one can hold out
WITHOUT_OUTCOME = "ended by a dropped double, so without points of play: the others are a selection"
POSITIONS = ("auto", "all")


def read(source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield the positions of a file: those before each roll. InputError if it cannot be read, and for the first fault under
    `strict`. Default: all positions of games but the last, in which the game is over; all labelled positions."""
    if options.positions not in POSITIONS:
        raise InputError(f"--positions {options.positions}: backgammon has no quiescence, which tells quiet positions from "
                         f"others; choose {' or '.join(POSITIONS)}")
    form, stream = content.opened(str(source))
    counted = _counted(stream, report)
    if form == content.LABELS:
        faults = Faults(str(source), "line", options.strict, report, note)
        yield from _labelled(labels.parse(str(source), lines(source, counted)), faults, options, report)
    else:
        faults = Faults(str(source), "game", options.strict, report, note)
        games = mat.parse(str(source), lines(source, counted)) if form == content.MAT else sgf.parse(str(source), counted)
        yield from _played(games, faults, options, report)
    faults.end()


def _counted(stream: Iterator[bytes], report: ReadReport) -> Iterator[bytes]:
    for piece in stream:
        report.bytes += len(piece)
        yield piece


def hashed(game: GameRecord, plies: int | None = None) -> np.uint64:
    """Return a hash of the first plies of a game: dice and moves."""
    rolled = np.array(game.rolled[:plies], np.uint64).tobytes()
    return _hash(rolled + np.array(game.moves[:plies], np.uint64).tobytes())


def _from_either_side(game: GameRecord) -> np.uint64:
    """Return a hash of a game that is the same if the sides are swapped."""
    if game.rolled and turn_of(game.rolled[0]):
        return hashed(replace(game, rolled=list(swapped(np.array(game.rolled)))))
    return hashed(game)


def _hash(found: bytes) -> np.uint64:
    return np.frombuffer(blake2b(found, digest_size=8).digest(), np.uint64)[0]


def _played(games: Iterator[Found], faults: Faults, options: ReadOptions, report: ReadReport) -> Iterator[PositionBatch]:
    memory = report.memory.setdefault("backgammon", set())
    for number, (place, game, fault) in enumerate(games, 1):
        report.games += 1
        if fault is not None:
            faults.add(place, fault, fault.kind)
        elif game.end == DROPPED:
            report.undecided += 1
            report.faults[WITHOUT_OUTCOME] = report.faults.get(WITHOUT_OUTCOME, 0) + 1
        elif game.value is None:
            report.undecided += 1
        elif options.min_elo:
            report.below_elo += 1  # games have no ratings
        elif (once := _from_either_side(game)) in memory and options.duplicates != "keep":
            report.duplicate_games += 1
        else:
            memory.add(once)
            identity = hashed(game)
            positions = _chosen(game.line, options, identity, memory, report)
            report.used += 1
            report.positions += len(positions)
            outcome = np.float32(game.value / HIGHEST_POINTS)
            yield PositionBatch(positions, np.full(len(positions), outcome), np.zeros(1, np.int64), np.array([identity]),
                                np.array([hashed(game, OPENING_PLIES)]), np.array([number]))


def _chosen(line: np.ndarray, options: ReadOptions, identity: np.uint64, memory: set, report: ReadReport) -> np.ndarray:
    """Return the wanted positions of a game."""
    ended = options.positions == "auto" and points(line[-1]) != 0
    kept = line[options.skip_start:max(0, len(line) - max(options.skip_end, ended))]
    if options.per_game and len(kept) > options.per_game:
        draw = np.random.default_rng([int(identity), options.seed])
        kept = kept[np.sort(draw.choice(len(kept), options.per_game, replace=False))]
    return kept[_new(kept, memory, report)] if options.duplicates == "positions" else kept


def _new(positions: np.ndarray, memory: set, report: ReadReport) -> np.ndarray:
    """Return which positions (n,) were not seen before, whatever their plies; they are from now on."""
    keys = [words[:STATE].tobytes() + bytes([int(words[STATE]) & 1]) for words in positions]
    found = np.ones(len(keys), bool)
    for i, key in enumerate(keys):
        found[i] = key not in memory
        memory.add(key)
    report.duplicate_positions += int((~found).sum())
    return found


def _labelled(parts: Iterator[labels.Labels], faults: Faults, options: ReadOptions,
              report: ReadReport) -> Iterator[PositionBatch]:
    """Yield labelled positions; each is a game of its own, and equal boards are held out together.

    The side that rolls is the first player in about half of them, by a hash of the board, and the second in the others:
    otherwise the roll could not be told from an advantage of the first player.
    """
    memory, number = report.memory.setdefault("backgammon", set()), 0
    for positions, chances, bad in parts:
        for line, fault in bad:
            faults.add(line, fault, fault.kind)
        outcomes = (labels.points_of(chances) / HIGHEST_POINTS).astype(np.float32)
        report.games += len(positions) + len(bad)
        numbers = number + 1 + np.arange(len(positions))
        number += len(positions)
        if options.min_elo:
            report.below_elo += len(positions)
            continue
        if options.duplicates == "positions":
            found = _new(positions, memory, report)
            report.duplicate_games += int((~found).sum())
            positions, outcomes, numbers = positions[found], outcomes[found], numbers[found]
        report.used += len(positions)
        report.positions += len(positions)
        if len(positions):
            identities = np.array([_hash(words[:STATE].tobytes()) for words in positions])
            other = identities & np.uint64(1) != 0
            positions[other] = swapped(positions[other])
            outcomes[other] *= -1
            yield PositionBatch(positions, outcomes, np.arange(len(positions)), identities, identities.copy(), numbers)
