"""Games of which little needs to be said: no repetitions, a name for each number of a move, files
of lines of text.

A line of a file is a result and the names of the moves, `1-0 b2 a1 c1 a3`. Results are 1-0, 0-1,
1/2-1/2 and, for an unfinished game, *. Comments start with #."""

import mmap
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from games.reading import Faults, FileFault, FileGame, Policy, hash_of, require_own
from games.record import (
    Contest,
    Files,
    Game,
    Line,
    PlayedGame,
    PositionBatch,
    ReadOptions,
    ReadReport,
    find,
)
from games.search.plain import GOES_ON, MOVES, PlainCore
from games.streams import InputError, lines


def plain_game(
    core: PlainCore,
    *,
    name: str,
    suffix: str,
    names: Sequence[str],
    text: Callable[[np.ndarray], str],
    **more: Any,
) -> Game:
    """Return the record of a game whose moves are numbers below `MOVES` with one of `names` each,
    and whose files end in `suffix`; `more` are fields of `Game`."""

    def legal_moves(words: np.ndarray) -> list[int]:
        moves = np.empty(MOVES, np.uint32)
        legal: list[int] = moves[: core.write_moves(words, moves)].tolist()
        return legal

    def play(words: np.ndarray, move: int) -> np.ndarray:
        after = np.empty_like(words)
        core.write_play(words, move, after)
        return after

    def result(line: Line) -> int | None:
        outcome = core.outcome(line[-1])
        return (
            None if outcome == GOES_ON else -outcome if core.second_to_move(line[-1]) else outcome
        )

    def move_named(words: np.ndarray, named: str) -> int:
        for move in legal_moves(words):
            if names[move] == named:
                return move
        raise ValueError(f"illegal move {named!r}")

    def move_name(words: np.ndarray, move: int) -> str:
        return names[move]

    return Game(
        name=name,
        words=core.words,
        second_to_move=core.second_to_move,
        legal_moves=legal_moves,
        play=play,
        result=result,
        texts=lambda positions: [text(words) for words in positions],
        move_text=move_name,
        move_name=move_name,
        move_named=move_named,
        files=plain_files(name, suffix),
        contest=Contest(searcher=core.searcher),
        **more,
    )


RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0, "*": None}
OPENING_PLIES = 3  # that are hashed as the opening
# a line that `game_text` does not write
OTHER = re.compile(rb"^(?!(?:1-0|0-1|1/2-1/2|\*) [^#\n]* # .+ - .+, .+$).+$", re.MULTILINE)


def plain_files(game: str, suffix: str) -> Files:
    """Return the files of a game: read and written."""
    return Files(
        read=partial(read, game),
        suffixes=(suffix,),
        game_text=partial(game_text, game),
        made_here=made_here,
    )


def made_here(content: bytes | mmap.mmap) -> bool:
    """Whether every line of this is one of `game_text`."""
    return len(content) > 0 and OTHER.search(content) is None


def parse(game: Game, result: str, names: list[str]) -> np.ndarray:
    """Return the positions (plies + 1, words) of a game; Fault if it is not valid."""
    if result not in RESULTS:
        raise FileFault(
            f"unknown result {result[:20]!r}, expected {', '.join(RESULTS)}", "unknown result"
        )
    line = [game.start()]
    for ply, name in enumerate(names, 1):
        try:
            line.append(game.play(line[-1], game.move_named(line[-1], name)))
        except ValueError:
            raise FileFault(f"illegal move {name[:20]!r} at ply {ply}", "illegal move") from None
    if result != "*" and game.result(line) not in (RESULTS[result], None):
        raise FileFault(f"wrong result {result!r}, the moves lead to another", "wrong result")
    return np.array(line)


def games_of(game: Game, source: str, report: ReadReport) -> Iterator[FileGame]:
    """Yield the games of a file."""
    any_game = False
    for number, line in enumerate(lines(source), 1):
        report.bytes += len(line) + 1
        result, *names = line.decode("utf-8-sig", "replace").partition("#")[0].split() or [""]
        if not result:
            continue
        if not any_game and result not in RESULTS:
            require_own(source, game.name)
        any_game = True
        try:
            positions = parse(game, result, names)
        except FileFault as fault:
            yield FileGame(number, fault)
        else:
            identity, opening = (
                hash_of(" ".join(some).encode()) for some in (names, names[:OPENING_PLIES])
            )
            yield FileGame(
                number,
                None,
                positions,
                RESULTS[result],
                identity,
                opening,
                over=game.result(positions) is not None,
            )


def read(
    game: str, source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]
) -> Iterator[PositionBatch]:
    """Yield the positions of a file; InputError if it cannot be read, and for the first bad game
    under `strict`."""
    if options.positions not in ("auto", "all"):
        raise InputError(f"{game} has no {options.positions!r} positions; choose 'auto' or 'all'")
    policy = Policy(
        game,
        options,
        report,
        Faults(str(source), "game", options.strict, report, note),
        np.ndarray.tobytes,
    )
    yield from policy.batches(games_of(find(game), str(source), report))


def game_text(game: str, played: PlayedGame) -> str:
    """Return a game as a line of a file."""
    name = find(game).move_name
    names = " ".join(
        name(words, move) for words, move in zip(played.line, played.moves, strict=False)
    )
    result = "*" if played.outcome is None else ("1/2-1/2", "1-0", "0-1")[int(played.outcome)]
    return f"{result} {names}  # {played.players[0]} - {played.players[1]}, {played.end}\n"
