"""Explain the evaluation of one position, term by term; or evaluate all positions of a file, one
score per line.

A network is evaluated as a whole.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from games.streams import InputError
from tuner.core.records import PositiveCount
from tuner.options.option import (
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    device,
    flag,
    no_use,
    params,
)
from tuner.results.result import CommandResult

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from rich.console import Console

    from games.record import Game
    from games.search.searcher import Limits
    from tuner.evaluation.evaluation import Evaluation

USAGE = "PARAMS POSITION|FILE [options]"
EXAMPLE = """examples:
  tuner eval classic "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
  tuner eval my.yaml positions.epd.zst > scores.txt
  tuner eval my.yaml sts.epd --nodes 20000      share of a suite that is solved
  tuner eval backgammon/classic 4HPwATDgc/ABMA
"""


TABLE: Table = (
    params("parameter file, a bundled one, or a network"),
    Option(
        ("position",),
        "a position, quoted or not (FEN, SFEN for shogi, position ID or XGID for backgammon); or a"
        " file with one position per line (also .gz, .bz2, .zst), or - for standard input; scores"
        " are in the unit of the weights (centipawns, for backgammon hundredths of a point), first"
        " player's view",
        metavar="POSITION|FILE",
        nargs="+",
    ),
    OneOf(
        (
            Option(
                ("--nodes",),
                "FILE is a suite of chess positions with a best move (bm) or one to avoid (am), as"
                " EPD: search each within N nodes, and say how many are solved",
                PositiveCount,
                metavar="N",
            ),
            Option(("--depth",), "the same with searches of N plies", PositiveCount, metavar="N"),
        )
    ),
    flag("--all", "show each parameter that applies, not only the terms"),
    device("cpu", "where the positions of a file are evaluated"),
    TERMS,
)


def run(arguments: Arguments) -> CommandResult:
    from tuner.evaluation.evaluation import load_evaluation
    from tuner.evaluation.own_numbers import require_linear

    linear = [f"--terms {file}" for file in arguments.terms] + ["--all"] * arguments.all
    require_linear(arguments.params, linear)
    evaluation = load_evaluation(arguments.params, arguments.terms)
    game, source = evaluation.game, _file_of(arguments)
    if arguments.nodes or arguments.depth:
        return _suite(evaluation, source, arguments)
    score = evaluation.scorer(arguments.device)
    if source is not None:
        return _scores(game, score, source, arguments.json)
    words = _position(game, arguments)
    explained = evaluation.explain(words)

    def show(console: Console) -> None:
        print(game.draw(words) + "\n")
        evaluation.show(console, explained, arguments.all)

    return CommandResult(explained, show=show)


def _suite(evaluation: Evaluation, source: str | None, arguments: Arguments) -> CommandResult:
    """Return how many positions of a suite are solved."""
    from dataclasses import asdict

    from games.search.searcher import UNLIMITED, Limits
    from tuner.commands.display import TerminalDisplay

    given = "--nodes" if arguments.nodes else "--depth"
    if arguments.all or "device" in arguments.given:
        other = "--all" if arguments.all else f"--device {arguments.device}"
        raise InputError(no_use(other, f"{given} searches the positions of a suite"))
    if source is None:
        raise InputError(
            f"{' '.join(arguments.position)}: no such file, expected one of positions with moves to"
            f" find, for {given}"
        )
    limits = Limits(nodes=arguments.nodes or UNLIMITED)
    if arguments.depth:
        limits = Limits(depth=arguments.depth)
    with TerminalDisplay() as display:
        display.begin("searching")
        solved = solve_suite(evaluation, source, limits, display.counting)
    return CommandResult({"file": source, **asdict(solved)}, solved.lines)


def _file_of(arguments: Arguments) -> str | None:
    """Return the file of positions, None if the argument is a position."""
    only = arguments.position[0]
    return only if len(arguments.position) == 1 and (only == "-" or os.path.isfile(only)) else None


def _position(game: Game, arguments: Arguments) -> np.ndarray:

    text = " ".join(arguments.position)
    try:
        return game.position(text)
    except ValueError as problem:
        if os.path.isdir(text):
            raise InputError(
                f"{text}: is a folder, expected a position or a file of positions"
            ) from None
        missing = _like_file(text) and not os.path.lexists(text)
        raise InputError(
            f"{text}: no such file, nor a position: {problem}" if missing else str(problem)
        ) from None


def _like_file(text: str) -> bool:
    """Whether a text has the look of a file name: a suffix or a path separator, and no spaces."""
    return re.fullmatch(r"\S+", text) is not None and (
        os.sep in text or re.search(r"\.[A-Za-z]\w*$", text) is not None
    )


def _scores(
    game: Game, values: Callable[[np.ndarray], np.ndarray], source: str, as_json: bool
) -> CommandResult:
    """Print one score per line as they are known; with --json return them all."""
    from tuner.evaluation.explain import scores_of

    rounded = []
    for scores in scores_of(game, values, source):
        if as_json:
            rounded += [round(score, 2) for score in scores.tolist()]
        else:
            print("\n".join(f"{score:.2f}" for score in scores.tolist()))
    return CommandResult({"file": source, "scores": rounded})


@dataclass(frozen=True)
class SuiteResult:
    """What a search solved of a suite; `points` of `most` are None without any; `seconds` is the
    mean of the CPU time of a search."""

    positions: int
    solved: int
    unsolved: list[str]
    seconds: float
    points: int | None = None
    most: int | None = None

    @property
    def lines(self) -> list[str]:
        """As lines of text."""
        share = 100 * self.solved / self.positions
        parts = [
            f"solved {self.solved:,} of {self.positions:,} positions ({share:.1f} %),"
            f" {1000 * self.seconds:.1f} CPU ms each"
        ]
        if self.points is not None and self.most:
            share = 100 * self.points / self.most
            parts.append(f"points: {self.points:,} of {self.most:,} ({share:.1f} %)")
        return parts


def solve_suite(
    evaluation: Evaluation, source: str, limits: Limits, solved: Callable[[int], None]
) -> SuiteResult:
    """Search the positions of a suite; `solved` is called with the number of those searched."""
    searcher, game = evaluation.searcher(), evaluation.game
    unsolved, points, most, number, seconds = [], 0, 0, 0, 0.0
    if game.files.suite is None:
        raise InputError(f"{source}: suites of {game.name} are not read here, only of chess")
    for number, position in enumerate(game.files.suite(source), 1):
        searcher.clear()
        begun = time.process_time()
        searched = searcher.search(position.words[None], limits)
        seconds += time.process_time() - begun
        move = "" if searched.move is None else game.move_name(position.words, searched.move)
        if not position.is_solved(move):
            unsolved.append(position.name)
        points += position.points.get(move, 0)
        most += max(position.points.values(), default=0)
        solved(number)
    if not number:
        raise InputError(f"{source}: holds no position")
    scored = (points, most) if most else (None, None)
    return SuiteResult(number, number - len(unsolved), unsolved, seconds / number, *scored)
