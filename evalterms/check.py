"""Check a user's file of terms before it is compiled, because compiled code checks no index.

    python -m evalterms.check GAME FILE

plays random games in plain Python and calls the terms on every position, with an emitter that checks its arguments. The first
fault is printed as one line, with exit status 2. `verify` also lets Numba infer the types.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from evalterms.term import Term
from evalterms.types import complaints
from evalterms.userfile import line_of, message_of, terms_of_file
from games import cache, jit
from games.record import Dice, Game, find

GAMES, PLIES = 16, 160  # random games, and the longest
LOWEST, HIGHEST = -128, 127  # coefficients are int8
LARGEST = 8e6  # centipawns of a stage that fit into the packed score
SECONDS = 60  # time limit, for loops that never end


class WrongCount(Exception):
    """A term emits an invalid index or count."""


class CheckingEmitter:
    """Collects coefficients in `row`; WrongCount for an index outside the term or outside its parameter."""

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
        """Return the name of the parameter that an index belongs to."""
        for parameter in self.term.parameters:
            if index < parameter.size:
                return parameter.name
            index -= parameter.size
        return "none"


def random_positions(game: Game, games: int = GAMES, plies: int = PLIES, seed: int = 1) -> Iterator[np.ndarray]:
    """Yield every position of random games."""
    random = np.random.default_rng(seed)
    for number in range(games):
        dice = Dice(seed, number)
        line = [game.rolled(game.start(), dice)]
        while True:
            yield line[-1]
            if len(line) > plies or game.result(line) is not None:
                break
            moves = game.legal_moves(line[-1])
            line.append(game.after(line[-1], moves[random.integers(len(moves))], dice))


def count_checked(term: Term, view: ModuleType, position: np.ndarray) -> np.ndarray:
    """Return the coefficients (size,) of a term in a position; WrongCount for invalid ones. Plain Python only."""
    first, second = view.first_side(position), view.second_side(position)
    ours, theirs = CheckingEmitter(term), CheckingEmitter(term)
    for us, them, emit in ((first, view.across(second), ours), (second, view.across(first), theirs)):
        for function, reads in term.counting:
            sides = (us, them) if reads is None else (view.kept_side(us), view.kept_side(them))
            try:
                if function(*sides, emit) is not None:
                    raise WrongCount("it returns something, expected only calls of emit(index, count)")
            except AttributeError as problem:
                if reads is None or all(problem.obj is not side for side in sides):
                    raise
                text = (f"{function.__name__} is declared with reads={reads!r}, so its sides have no {problem.name}, "
                        f"only {', '.join(sides[0]._fields)}")
                raise WrongCount(text).with_traceback(problem.__traceback__) from None
    row = np.array(ours.row) - np.array(theirs.row)
    for index in np.flatnonzero((row < LOWEST) | (row > HIGHEST)):
        raise WrongCount(f"{ours.of(int(index))} adds up to {row[index]}, expected {LOWEST} to {HIGHEST}; count in larger units")
    return row


def check_curve(term: Term) -> None:
    """Raise WrongCount unless the function of a nonlinear term returns finite numbers, and zero for zero. Plain Python only."""
    takes = len(inspect.signature(term.curve).parameters)
    if takes != term.parts:
        raise WrongCount(f"its function takes {takes} sum{'s' if takes > 1 else ''}, expected {term.parts}: its parameters have "
                         f"{'parts 0 and 1' if term.parts > 1 else 'one part'}")
    for total in (0.0, 1.0, -1.0, 0.5, 300.0, -300.0, 20_000.0, -20_000.0):
        value = term.curve(*[total] * takes)
        if not isinstance(value, (float, int, np.floating)) or not -LARGEST < value < LARGEST:
            raise WrongCount(f"its function returns {value!r} for {total:g} centipawns, expected a number of centipawns below "
                             f"{LARGEST:,.0f}")
        if total == 0.0 and value != 0:
            raise WrongCount(f"its function returns {value!r} for nothing counted, expected 0")


def try_out(game: str, path: Path) -> str | None:
    """Return the first fault of the terms of a file in one line, or None. Plain Python only."""
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
            return _fault(problem, path, term)
    for position in random_positions(record):
        for term in terms:
            try:
                count_checked(term, view, position)
            except Exception as problem:
                return f"{_fault(problem, path, term)} (in {record.text(position)!r})"
    return None


def _fault(problem: Exception, path: Path, term: Term) -> str:
    text = str(problem) if isinstance(problem, WrongCount) else message_of(problem)
    return f"{line_of(problem, path)}: term {term.name}: {text}"


def _try_out_apart(game: str, path: Path) -> str | None:
    """Run `try_out` in another process, without Numba."""
    roots = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, roots))}
    command = [sys.executable, "-m", "evalterms.check", game, str(path)]
    try:
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"{path}: not done after {SECONDS} s in plain Python; does a loop never end?"
    if done.returncode == 0:
        return None
    lines = (done.stdout if done.returncode == 2 else done.stderr).strip().splitlines() or ["no output"]
    return lines[-1] if done.returncode == 2 else f"{path}: trying its terms ended with status {done.returncode}: {lines[-1]}"


def verify(game: str, path: Path, terms: Sequence[Term]) -> None:
    """Check the terms of a file, once per version of it; ValueError with one line for the first fault."""
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
    with contextlib.suppress(OSError):  # otherwise it is checked again at the next start
        passed.touch()


def main() -> int:
    game, path = sys.argv[1:]
    wrong = try_out(game, Path(path))
    if wrong:
        print(wrong, flush=True)
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
