"""Games as they are finished: saved in whole parts, and played again if need be."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import TypeVar

from games.streams import InputError
from tuner.io.terminal import Display
from tuner.parallel import Running, run
from tuner.play.openings import Book
from tuner.play.own_games.parts import Parts
from tuner.play.own_games.play import GameTask, Generated

Item = TypeVar("Item")
MOST_FAULTS = 5  # games in a row that an engine did not finish
MOST_ATTEMPTS = 10  # to play a game that is not the same as another


def finished(
    parts: Parts,
    book: Book | None,
    playing: Running,
    interrupted: threading.Event,
    display: Display,
    at_once: int,
) -> Iterator[int]:
    """Save each part, in order, when its last game is finished; yield the number of games finished
    so far. A game that an engine did not finish, or that is the same as one before, is played
    again. InputError if that does not help. `at_once` games are one task."""

    def task(number: int, attempt: int = 0) -> GameTask:
        return GameTask(number, book.opening(number) if book else None, attempt)

    def again(part: int, games: list[Generated]) -> None:
        for game in games:
            parts.drop(part, game)
            if game.attempt == MOST_ATTEMPTS:
                why = game.fault or "was the same as another one each time"
                raise InputError(
                    f"game {game.number + 1} was played {MOST_ATTEMPTS + 1} times, and {why};"
                    " choose more openings, --random-plies, or a larger --vary"
                )
        for some in in_lots(games):
            playing.submit([task(game.number, game.attempt + 1) for game in some])

    def in_lots(several: Sequence[Item]) -> Iterator[Sequence[Item]]:
        for begin in range(0, len(several), at_once):
            yield several[begin : begin + at_once]

    left = parts.missing()
    tasks = (
        [task(number) for number in some]
        for part in tuple(left)
        for some in in_lots(parts.numbers(part))
    )
    found: dict[int, dict[int, Generated]] = {part: {} for part in left}
    faults = done = 0
    said: set[str] = set()
    for game in itertools.chain.from_iterable(run(playing, tasks, interrupted)):
        part = parts.part_of(game.number)
        faults = faults + 1 if game.fault else 0
        if faults == MOST_FAULTS:
            raise InputError(
                f"{MOST_FAULTS} games in a row were not finished, the last because of"
                f" {game.fault}; the games before are kept"
            )
        if game.fault:
            if game.fault not in said:
                said.add(game.fault)
                display.note(
                    f"game {game.number + 1} was not finished: {game.fault}; it is played again"
                )
            again(part, [game])
            continue
        found[part][game.number] = game
        done += 1
        while left and len(found[left[0]]) == len(parts.numbers(left[0])):
            games = found[left[0]]
            repeated = parts.repeated(left[0], games.values())
            again(left[0], repeated)
            for each in repeated:
                del games[each.number]
            done -= len(repeated)
            if repeated:
                break
            parts.save(left[0], [games[number] for number in sorted(games)])
            del found[left.pop(0)]
        yield done
