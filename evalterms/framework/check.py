"""Read a user's file of terms, and tell its author what is wrong with it.

Numba's type inference is translated into messages. Mixing a set of squares (uint64) with a Python
integer is legal, but a trap: in compiled code `set & 1` is signed, so that a later `>>` extends the
sign, and `set < 1` compares floating-point numbers.
"""

import contextlib
import importlib
import inspect
import operator
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numba.core import errors, ir, types
from numba.core.dispatcher import Dispatcher

from evalterms.framework.emit import EmitterType, count_emitter_type, sources_of
from evalterms.term import Term
from games.compile import cache, jit
from games.record import Dice, Game, find
from games.system import ended_by_limit, limit_processor


def line_of(problem: BaseException, path: Path) -> str:
    """Return `path:line` of the last line of the file in the traceback; the path alone if there is
    none."""
    if isinstance(problem, SyntaxError) and problem.filename == str(path):
        return f"{path}:{problem.lineno}"
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        if frame.filename == str(path):
            return f"{path}:{frame.lineno}"
    return str(path)


def place_of(module: str) -> str | None:
    """Return where a module of games or terms is that had this name once: the module of that name
    anywhere in the same folder."""
    *folders, name = module.split(".")
    root = Path(__file__).parents[2].joinpath(*folders[:2])
    path = (
        next(root.rglob(f"{name}.py"), None) if folders[:1] in (["games"], ["evalterms"]) else None
    )
    return (
        ".".join(path.relative_to(Path(__file__).parents[2]).with_suffix("").parts)
        if path
        else None
    )


def message_of(problem: BaseException) -> str:
    """Return an exception as one line."""
    text = problem.msg if isinstance(problem, SyntaxError) else " ".join(str(problem).split())
    if (
        isinstance(problem, ModuleNotFoundError)
        and problem.name
        and (place := place_of(problem.name))
    ):
        text += f"; it is {place} now"
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def terms_of_file(path: Path) -> list[Term]:
    """Return every `Term` at the top level of a file; ValueError with one line if the file is not
    usable."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file; --terms takes a Python file with terms")
    name = "evaltune_user_terms_" + cache.digest([path])
    if name not in sys.modules:
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = str(path)
        try:
            # not by an import, whose bytecode cache misses edits within the same second
            exec(compile(path.read_bytes(), path, "exec"), vars(module))
        except (Exception, SystemExit) as problem:
            del sys.modules[name]
            raise ValueError(f"{line_of(problem, path)}: {message_of(problem)}") from None
    values = {
        id(value): value for value in vars(sys.modules[name]).values() if isinstance(value, Term)
    }
    if not values:
        raise ValueError(f'{path}: defines no term; start with `my_term = Term("my_term")`')
    for term in values.values():
        if not term.counting:
            raise ValueError(
                f"{path}: term {term.name!r} has no function that counts; decorate one with"
                f" @{term.name}.counts"
            )
    return list(values.values())


# the result has the type of the left operand
_SHIFTS = {
    operator.lshift,
    operator.rshift,
    operator.ilshift,
    operator.irshift,
}
_HINTS = (
    (
        r"Untyped global name '(\w+)'.*<class 'function'>",
        (
            r"\1 is not compiled; a helper function needs a decorator with its types, such as"
            r" @inner('uint64(uint64)')"
        ),
    ),
    (
        r"make_function",
        "a function, lambda or comprehension inside a term cannot be compiled; write a loop",
    ),
    (r"Cannot cast (\w+) to (\w+):", r"\1 where \2 is expected"),
    (r"Unknown attribute '(\w+)' of type (\w+)\(.*", r"\2 has no field \1"),
)


def complaints(term: Term, view: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield pairs of `file:line` and message: why a term cannot be compiled, or each trap in it and
    in its callees."""
    sides = [view.side_type if reads is None else view.kept_type for _, reads in term.counting]
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (each.function, (side, side, count_emitter_type))
        for each, side in zip(term.counting, sides, strict=True)
    ]
    if term.curve is not None:
        calls.append((term.curve, (types.float64,) * term.parts))
    if term.phase is not None:
        calls.append((term.phase.function, (view.side_type, view.side_type)))
    for function, arguments in calls:
        try:
            function.compile(arguments)
        except (
            errors.NumbaError,
            errors.UnsupportedBytecodeError,
            TypeError,
            ValueError,
        ) as problem:
            yield _located(problem, function.py_func.__code__.co_filename)
            return
    if term.curve is not None:
        (returned,) = [compiled.signature.return_type for compiled in term.curve.overloads.values()]
        if returned != types.float64:
            code = term.curve.py_func.__code__
            yield (
                f"{code.co_filename}:{code.co_firstlineno}",
                f"{code.co_name} returns {returned}, expected float64 for any float64",
            )
            return
    own = [] if term.phase is None else [term.phase.function]
    for function in _reached([*own, *(each.function for each in term.counting)]):
        for compiled in function.overloads.values():
            for line, text in _traps(compiled.type_annotation):
                yield f"{function.py_func.__code__.co_filename}:{line}", text


def _located(problem: Exception, file: str) -> tuple[str, str]:
    """Extract the line number and the decisive sentence from Numba's message."""
    whole = str(problem)
    place = re.search(re.escape(Path(file).name) + r"\"?,? (?:line |\()(\d+)", whole)
    location = getattr(problem, "loc", None)
    line = location.line if location else place and place[1]
    lines = [text for text in whole.splitlines() if text and not text.startswith("Failed in ")]
    text = re.sub(r"\.? Raised from .*", "", lines[0]) if lines else type(problem).__name__
    if "No implementation of function" in text and (
        call := re.search(r">>> (\w+)\((.*?)\)\n", whole)
    ):
        text = f"{call[1].strip('_')} is not defined for {call[2].replace(', ', ' and ')}"
    for pattern, hint in _HINTS:
        if re.search(pattern, text):
            text = re.sub(f".*{pattern}.*", hint, text)
            break
    return f"{file}:{line}" if line else file, f"cannot be compiled: {text}"


def _reached(functions: list[Dispatcher]) -> list[Dispatcher]:
    """Return the functions and all their callees."""
    reached, pending = {}, list(functions)
    while pending:
        one = pending.pop()
        if id(one) not in reached:
            reached[id(one)] = one
            code, known = one.py_func.__code__, one.py_func.__globals__
            pending += [
                known[name] for name in code.co_names if isinstance(known.get(name), Dispatcher)
            ]
    return list(reached.values())


def _traps(annotation) -> Iterator[tuple[int, str]]:
    for block in annotation.blocks.values():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop"):
                kinds = [annotation.typemap[operand.name] for operand in (value.lhs, value.rhs)]
                if (
                    value.fn not in _SHIFTS
                    and _mixed(kinds)
                    and not _compares_with_zero(value.fn, kinds)
                ):
                    shown = " and ".join(
                        "a set of squares (uint64)" if _unsigned(kind) else "a plain integer"
                        for kind in kinds
                    )
                    yield (
                        statement.loc.line,
                        f"mixes {shown}; use np.uint64(...) or a constant of games.bits",
                    )
            elif (
                isinstance(value, ir.Expr)
                and value.op == "call"
                and _emits(annotation.typemap[value.func.name])
            ):
                for what, operand in zip(("index", "count"), value.args, strict=True):
                    kind = annotation.typemap[operand.name]
                    if not isinstance(kind, (types.Integer, types.IntegerLiteral, types.Boolean)):
                        yield (
                            statement.loc.line,
                            f"the emitted {what} is a {kind}, expected a whole number",
                        )


def _emits(kind) -> bool:
    return isinstance(kind, EmitterType)


def _unsigned(kind) -> bool:
    return isinstance(kind, types.Integer) and not kind.signed


def _mixed(kinds) -> bool:
    signed = [
        isinstance(kind, types.IntegerLiteral) or isinstance(kind, types.Integer) and kind.signed
        for kind in kinds
    ]
    return any(signed) and any(_unsigned(kind) for kind in kinds)


def _compares_with_zero(function, kinds) -> bool:
    zero = any(isinstance(kind, types.IntegerLiteral) and kind.literal_value == 0 for kind in kinds)
    return zero and function in (operator.eq, operator.ne)


GAMES, PLIES = 16, 160  # random games, and the longest
LOWEST, HIGHEST = -128, 127  # coefficients are int8
MAX_STAGE_SCORE = 8e6  # centipawns of a stage that fit into the packed score
SECONDS = 60  # of the processor, for loops that never end
WAITING = 600  # of a clock, where nothing limits the processor, or a term waits


class WrongCount(Exception):
    """A term emits an invalid index or count."""


class CheckingEmitter:
    """Collects coefficients in `row`; WrongCount for an index outside the term or outside its
    parameter."""

    def __init__(self, term: Term) -> None:
        self.term = term
        self.row = [0] * term.size

    def __call__(self, index, count) -> None:
        for what, value in (("index", index), ("count", count)):
            if not isinstance(value, (int, np.integer, np.bool_)):
                raise WrongCount(f"the {what} {value!r} is not a whole number")
        numbers = getattr(index, "numbers", range(self.term.size))
        if int(index) not in numbers:
            name = (
                f"{self.term.name}.{self.of(numbers.start)}"
                if hasattr(index, "numbers")
                else self.term.name
            )
            raise WrongCount(
                f"index {index - numbers.start} is outside {name}, expected 0 to {len(numbers) - 1}"
            )
        if not LOWEST <= count <= HIGHEST:
            raise WrongCount(
                f"count {count} does not fit into eight bits, expected {LOWEST} to {HIGHEST}; "
                "count in larger units"
            )
        self.row[int(index)] += int(count)

    def of(self, index: int) -> str:
        """Return the name of the parameter that an index belongs to."""
        for parameter in self.term.parameters:
            if index < parameter.size:
                return parameter.name
            index -= parameter.size
        return "none"


def random_positions(
    game: Game, games: int = GAMES, plies: int = PLIES, seed: int = 1
) -> Iterator[np.ndarray]:
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
    """Return the coefficients (size,) of a term in a position; WrongCount for invalid ones. Plain
    Python only."""
    first, second = view.first_side(position), view.second_side(position)
    ours, theirs = CheckingEmitter(term), CheckingEmitter(term)
    for us, them, emit in (
        (first, view.across(second), ours),
        (second, view.across(first), theirs),
    ):
        for function, reads in term.counting:
            sides = (us, them) if reads is None else (view.kept_side(us), view.kept_side(them))
            try:
                if function(*sides, emit) is not None:
                    raise WrongCount(
                        "it returns something, expected only calls of emit(index, count)"
                    )
            except AttributeError as problem:
                if reads is None or all(problem.obj is not side for side in sides):
                    raise
                text = (
                    f"{function.__name__} is declared with reads={reads!r}, so its sides have no"
                    f" {problem.name}, only {', '.join(sides[0]._fields)}"
                )
                raise WrongCount(text).with_traceback(problem.__traceback__) from None
    row = np.array(ours.row) - np.array(theirs.row)
    for index in np.flatnonzero((row < LOWEST) | (row > HIGHEST)):
        raise WrongCount(
            f"{ours.of(int(index))} adds up to {row[index]}, expected {LOWEST} to {HIGHEST}; count"
            " in larger units"
        )
    return row


def check_curve(term: Term) -> None:
    """Raise WrongCount unless the function of a nonlinear term returns finite numbers, and zero for
    zero. Plain Python only."""
    takes = len(inspect.signature(term.curve).parameters)
    if takes != term.parts:
        raise WrongCount(
            f"its function takes {takes} sum{'s' if takes > 1 else ''}, expected {term.parts}: its"
            f" parameters have {'parts 0 and 1' if term.parts > 1 else 'one part'}"
        )
    for total in (0.0, 1.0, -1.0, 0.5, 300.0, -300.0, 20_000.0, -20_000.0):
        value = term.curve(*[total] * takes)
        if (
            not isinstance(value, (float, int, np.floating))
            or not -MAX_STAGE_SCORE < value < MAX_STAGE_SCORE
        ):
            raise WrongCount(
                f"its function returns {value!r} for {total:g} centipawns, expected a number of"
                f" centipawns below {MAX_STAGE_SCORE:,.0f}"
            )
        if total == 0.0 and value != 0:
            raise WrongCount(f"its function returns {value!r} for nothing counted, expected 0")


def check_phase(term: Term, view: ModuleType, position: np.ndarray) -> None:
    """Raise WrongCount unless a term's phase of a position is a whole number in its range, the same
    from both sides. Plain Python only."""
    assert term.phase is not None, "asked for terms with phases"
    function, steps = term.phase
    first, second = view.first_side(position), view.second_side(position)
    phases = function(first, view.across(second)), function(second, view.across(first))
    for value in phases:
        if not isinstance(value, (int, np.integer, np.bool_)) or not 0 <= value <= steps:
            raise WrongCount(f"its phase is {value!r}, expected a whole number from 0 to {steps}")
    if phases[0] != phases[1]:
        raise WrongCount(
            f"its phase is {phases[0]} for one side and {phases[1]} for the opponent, expected the"
            " same if us and them change places"
        )


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
                if term.phase is not None:
                    check_phase(term, view, position)
            except Exception as problem:
                return f"{_fault(problem, path, term)} (in {record.text(position)!r})"
    return None


def _fault(problem: Exception, path: Path, term: Term) -> str:
    text = str(problem) if isinstance(problem, WrongCount) else message_of(problem)
    return f"{line_of(problem, path)}: term {term.name}: {text}"


def _try_out_apart(game: str, path: Path) -> str | None:
    """Run `try_out` in another process, without Numba."""
    roots = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, roots)),
    }
    command = [sys.executable, "-m", "evalterms.framework.check", game, str(path), str(SECONDS)]
    try:
        done = subprocess.run(
            command, check=False, env=environment, capture_output=True, text=True, timeout=WAITING
        )
    except subprocess.TimeoutExpired:
        return f"{path}: not done after {WAITING} s in plain Python; does a loop never end?"
    if done.returncode == 0:
        return None
    if ended_by_limit(done.returncode):
        return f"{path}: not done after {SECONDS} CPU s in plain Python; does a loop never end?"
    lines = (done.stdout if done.returncode == 2 else done.stderr).strip().splitlines() or [
        "no output"
    ]
    return (
        lines[-1]
        if done.returncode == 2
        else f"{path}: trying its terms ended with status {done.returncode}: {lines[-1]}"
    )


def verify(game: str, path: Path, terms: Sequence[Term]) -> None:
    """Check the terms of a file, once per version of it; ValueError with one line for the first
    fault."""
    view = importlib.import_module(f"evalterms.{game}.view")
    sources = [path, *sources_of(Path(__file__).parents[1] / game)]
    passed = cache.folder("checked", cache.digest(sources, salt=view.CORE.name)) / "passed"
    if passed.exists():
        return
    wrong = try_out(game, path) if jit.PLAIN else _try_out_apart(game, path)
    if wrong is None and not jit.PLAIN:
        wrong = next(
            (
                f"{place}: term {term.name}: {text}"
                for term in terms
                for place, text in complaints(term, view)
            ),
            None,
        )
    if wrong:
        raise ValueError(wrong)
    with contextlib.suppress(OSError):  # otherwise it is checked again at the next start
        passed.touch()


def main() -> int:
    game, path, seconds = sys.argv[1:]
    limit_processor(int(seconds))
    wrong = try_out(game, Path(path))
    if wrong:
        print(wrong, flush=True)
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
