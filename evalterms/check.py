"""Try the terms of a user's own file before they run compiled, where nothing checks an index.

    python -m evalterms.check GAME FILE

plays random games in plain Python and calls the terms on every position, with an emitter that checks what it is given.
One line on standard output and exit status 2 say what is wrong. Then `verify` has Numba infer the types.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from evalterms.term import Term
from evalterms.types import complaints
from evalterms.userfile import line_of, said, terms_of_file
from games import cache, jit
from games.record import Game, find

GAMES, PLIES = 16, 160  # random games that are played, and their longest
LOWEST, HIGHEST = -128, 127  # a coefficient has eight bits
LARGEST = 8e6  # centipawns of a stage, for which the packed score has room
SECONDS = 60  # a term that takes longer than this has a loop without end


class WrongCount(Exception):
    """A term emits what it must not."""


class CheckingEmitter:
    """Collects coefficients in `row`; WrongCount for an index that belongs to no parameter or to the next one."""

    def __init__(self, term: Term) -> None:
        self.term = term
        self.row = [0] * term.size

    def __call__(self, index, count) -> None:
        for what, value in (("index", index), ("count", count)):
            if not isinstance(value, (int, np.integer, np.bool_)):
                raise WrongCount(f"the {what} {value!r} is not a whole number")
        numbers = getattr(index, "numbers", range(self.term.size))
        if int(index) not in numbers:
            name = f"{self.term.name}.{self.of(numbers.start)}" if hasattr(index, "numbers") else self.term.name
            raise WrongCount(f"index {index - numbers.start} is outside {name}, expected 0 to {len(numbers) - 1}")
        if not LOWEST <= count <= HIGHEST:
            raise WrongCount(f"count {count} does not fit into eight bits, expected {LOWEST} to {HIGHEST}; "
                             "count in larger units")
        self.row[int(index)] += int(count)

    def of(self, index: int) -> str:
        """Name of the parameter to which a number belongs."""
        for parameter in self.term.parameters:
            if index < parameter.size:
                return parameter.name
            index -= parameter.size
        return "none"


def random_positions(game: Game, games: int = GAMES, plies: int = PLIES, seed: int = 1) -> Iterator[np.ndarray]:
    """Every position of games played at random."""
    random = np.random.default_rng(seed)
    for _ in range(games):
        line = [game.start()]
        while True:
            yield line[-1]
            if len(line) > plies or game.result(line) is not None:
                break
            moves = game.legal_moves(line[-1])
            line.append(game.play(line[-1], moves[random.integers(len(moves))], random))


def count_checked(term: Term, view: ModuleType, position: np.ndarray) -> np.ndarray:
    """Coefficients (size,) of a term in a position, checked; in plain Python only."""
    first, second = view.first_side(position), view.second_side(position)
    ours, theirs = CheckingEmitter(term), CheckingEmitter(term)
    for us, them, emit in ((first, view.across(second), ours), (second, view.across(first), theirs)):
        if term.function(us, them, emit) is not None:
            raise WrongCount("it returns something, expected only calls of emit(index, count)")
    row = np.array(ours.row) - np.array(theirs.row)
    for index in np.flatnonzero((row < LOWEST) | (row > HIGHEST)):
        raise WrongCount(f"{ours.of(index)} adds up to {row[index]}, expected {LOWEST} to {HIGHEST}; count in larger units")
    return row


def check_curve(term: Term) -> None:
    """WrongCount unless the function that a side's weighted counts go through gives finite numbers, zero for zero; in plain
    Python only."""
    for total in (0.0, 1.0, -1.0, 0.5, 300.0, -300.0, 20_000.0, -20_000.0):
        value = term.curve(total)
        if not isinstance(value, (float, int, np.floating)) or not abs(value) < LARGEST:
            raise WrongCount(f"its function gives {value!r} for {total:g} centipawns, expected a number of centipawns below "
                             f"{LARGEST:,.0f}")
        if total == 0.0 and value != 0:
            raise WrongCount(f"its function gives {value!r} for nothing counted, expected 0")


def try_out(game: str, path: Path) -> str | None:
    """What is wrong with the terms of a file, if anything, in one line; in plain Python only."""
    record, view = find(game), importlib.import_module(f"evalterms.{game}.view")
    try:
        terms = terms_of_file(path)
    except ValueError as problem:
        return str(problem)
    for term in terms:
        try:
            if term.curve is not None:
                check_curve(term)
        except Exception as problem:
            return f"{line_of(problem, path)}: term {term.name}: {problem if isinstance(problem, WrongCount) else said(problem)}"
    for position in random_positions(record):
        for term in terms:
            try:
                count_checked(term, view, position)
            except Exception as problem:
                text = str(problem) if isinstance(problem, WrongCount) else said(problem)
                return f"{line_of(problem, path)}: term {term.name}: {text} (in {record.text(position)!r})"
    return None


def _try_out_apart(game: str, path: Path) -> str | None:
    """`try_out` in a process of its own, without Numba."""
    roots = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, roots))}
    command = [sys.executable, "-m", "evalterms.check", game, str(path)]
    try:
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"{path}: not done after {SECONDS} s in plain Python; does a loop of it end?"
    if done.returncode == 0:
        return None
    lines = (done.stdout if done.returncode == 2 else done.stderr).strip().splitlines() or ["no output"]
    return lines[-1] if done.returncode == 2 else f"{path}: trying its terms ended with status {done.returncode}: {lines[-1]}"


def verify(game: str, path: Path, terms: Sequence[Term]) -> None:
    """Try the terms of a file, once for each version of it; ValueError says in one line what is wrong."""
    view = importlib.import_module(f"evalterms.{game}.view")
    here = Path(__file__).parent
    sources = [path, *here.glob("*.py"), *(here / game).glob("*.py")]
    passed = cache.folder("checked", cache.digest(sources, salt=view.CORE.name)) / "passed"
    if passed.exists():
        return
    wrong = try_out(game, path) if jit.PLAIN else _try_out_apart(game, path)
    if wrong is None and not jit.PLAIN:
        wrong = next((f"{place}: term {term.name}: {text}" for term in terms for place, text in complaints(term, view)), None)
    if wrong:
        raise ValueError(wrong)
    with contextlib.suppress(OSError):  # else it is tried again at the next start
        passed.touch()


def main() -> int:
    game, path = sys.argv[1:]
    wrong = try_out(game, Path(path))
    if wrong:
        print(wrong, flush=True)
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
