"""Compose terms into one evaluation: write a glue module, compile it, import it.

The glue lies in a cache folder named by everything that it depends on: the game's core, the terms and their sources,
the compiler. An edit to a term therefore compiles the evaluation anew and leaves the core alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from evalterms.check import verify
from evalterms.term import Term
from evalterms.userfile import terms_of_file
from games import jit

_GLUE = '''"""Written by evalterms.compose: the evaluation of {game} with the terms {names}."""

import numpy as np
from numba.core import types

from evalterms.compose import unit
from evalterms.emit import count_at, count_emitter, count_emitter_type, score_at, score_emitter, score_emitter_type, score_total
from evalterms.pointers import row_at, nonzero, row_function, words_at
from evalterms.{game}.view import PHASES, WORDS, across, first_side, phase_of, second_side, second_to_move, side_type
from games.bits import lowest, without_lowest

{imports}

UNIT = unit({key!r})
words_type = types.Array(types.uint64, 1, "C")
rows_type = types.Array(types.uint64, 2, "C")
weights_type = types.CPointer(types.int64)
row_of = row_function(WORDS)


@UNIT.inner(types.void(side_type, side_type, score_emitter_type), forceinline=True)
def add_up(us, them, emit):
{score_calls}


@UNIT.inner(types.void(side_type, side_type, count_emitter_type), forceinline=True)
def count(us, them, emit):
{count_calls}


@UNIT.inner(types.int64(words_type, weights_type))
def evaluate(words, weights):
    first, second = first_side(words), second_side(words)
    first_across, second_across = across(first), across(second)
    total = np.int64(0)
    for turn in range(2):
        emit = score_emitter(weights)
        if turn == 0:
            us, them = first, second_across
        else:
            us, them = second, first_across
        add_up(us, them, emit)
        total += score_total(emit) if turn == 0 else -score_total(emit)
    early = (total + 0x80000000) >> 32
    late = total - (early << 32)
    phase = phase_of(words)
    return (early * phase + late * (PHASES - phase)) // PHASES


@UNIT.entry(types.int64(types.CPointer(types.uint64), weights_type))
def score(words, weights):
    """Evaluation of the position at an address, for the side to move, in steps of 1/256 centipawn."""
    words = row_of(words)
    value = evaluate(words, weights)
    return -value if second_to_move(words) else value


@UNIT.entry(types.void(rows_type, types.Array(types.int64, 1, "C"), types.Array(types.int64, 1, "C")))
def scores(positions, weights, out):
    """Evaluations of positions (n, words) for the first player, in steps of 1/256 centipawn."""
    for i in range(len(positions)):
        out[i] = evaluate(positions[i], words_at(weights))


@UNIT.entry(types.int64(rows_type, types.int64, types.Array(types.int32, 2, "C"), types.Array(types.uint16, 1, "C"),
                        types.Array(types.int8, 1, "C"), types.Array(types.int64, 1, "C"), types.Array(types.uint8, 1, "C")))
def coefficients(positions, start, rows, index, counts, ends, phases):
    """Count the terms of positions[start:] while the room for nonzeros lasts; returns the position to go on with, or -1
    for a count that does not fit into eight bits.

    `rows` are dense rows of zeros, a multiple of 64 long. A block of positions is counted before it is read back:
    reading many numbers at once just after single ones were written would stall. Position i's nonzeros end at ends[i].
    """
    n = ends[start - 1] if start else 0
    for block in range(start, len(positions), len(rows)):
        stop = min(block + len(rows), len(positions))
        if n + (stop - block) * rows.shape[1] > len(index):
            return block
        for i in range(block, stop):
            words = positions[i]
            first, second = first_side(words), second_side(words)
            first_across, second_across = across(first), across(second)
            for turn in range(2):
                if turn == 0:
                    us, them, sign = first, second_across, 1
                else:
                    us, them, sign = second, first_across, -1
                count(us, them, count_emitter(row_at(rows[i - block]), sign))
            phases[i] = phase_of(words)
        for i in range(block, stop):
            row = rows[i - block]
            for start_of_chunk in range(0, len(row), 64):
                present = nonzero(row_at(row), start_of_chunk)
                while present:
                    at = start_of_chunk + lowest(present)
                    value = row[at]
                    if value != np.int8(value):
                        return -1
                    index[n] = at
                    counts[n] = value
                    n += 1
                    present = without_lowest(present)
            row[:] = 0
            ends[i] = n
    return len(positions)
'''

_units: dict[str, jit.Unit] = {}
_composing = threading.Lock()


def unit(key: str) -> jit.Unit:
    """The compile unit that a glue module belongs to."""
    return _units[key]


@dataclass(frozen=True)
class Composition:
    """Terms of one game, composed: their layout and the compiled functions."""

    game: str
    terms: tuple[Term, ...]
    glue: ModuleType
    name: str  # a hash of everything that the counts depend on

    @property
    def size(self) -> int:
        """Number of parameters (per stage)."""
        return sum(term.size for term in self.terms)


def load_terms(game: str, extra: Sequence[Path] = ()) -> tuple[Term, ...]:
    """The terms of a game, then those of the user's own files (every `Term` at a file's top level), which are tried."""
    terms = list(importlib.import_module(f"evalterms.{game}").TERMS)
    for path in map(Path, extra):
        own = terms_of_file(path)
        names = [term.name for term in terms + own]
        for term in own:
            if names.count(term.name) > 1:
                raise ValueError(f"{path}: two terms are named {term.name!r}; rename this one")
        verify(game, path, own)
        terms += own
    return tuple(terms)


def compose(game: str, terms: Sequence[Term]) -> Composition:
    """Compile these terms into one evaluation."""
    view = importlib.import_module(f"evalterms.{game}.view")
    sources = {Path(__file__), *Path(__file__).parent.glob("*.py"), *(Path(__file__).parent / game).glob("*.py")}
    sources |= {Path(inspect.getsourcefile(_plain(term))) for term in terms}
    layout = " ".join(f"{term.name}:{parameter.name}{parameter.shape}" for term in terms for parameter in term.parameters)
    composed = jit.Unit(f"terms-{game}", lambda: sources, salt=view.CORE.name + layout)
    key = composed.name
    module_name = f"evaltune_glue_{key}"
    with _composing:  # threads of a match may ask for the same evaluation at once
        if module_name not in sys.modules:
            _units[key] = composed
            path = composed.folder / f"{module_name}.py"
            text = _write_glue(game, terms, key)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                temporary = path.with_suffix(f".{os.getpid()}.tmp")
                temporary.write_text(text, encoding="utf-8")
                os.replace(temporary, path)
            spec = importlib.util.spec_from_file_location(module_name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module
            spec.loader.exec_module(module)
    return Composition(game, tuple(terms), sys.modules[module_name], key)


def _plain(term: Term):
    return getattr(term.function, "py_func", term.function)


def _write_glue(game: str, terms: Sequence[Term], key: str) -> str:
    imports, score_calls, count_calls, base = [], [], [], 0
    for i, term in enumerate(terms):
        function = _plain(term)
        imports.append(f"from {function.__module__} import {function.__name__} as term_{i}")
        score_calls.append(f"    term_{i}(us, them, score_at(emit, {base}))")
        count_calls.append(f"    term_{i}(us, them, count_at(emit, {base}))")
        base += term.size
    return _GLUE.format(game=game, key=key, names=", ".join(term.name for term in terms), imports="\n".join(imports),
                        score_calls="\n".join(score_calls), count_calls="\n".join(count_calls))
