"""Compose terms into one evaluation: write a module that calls every term, import it, compile it on
first use.

The module is in a cache folder named by a hash of all its dependencies: the core of the game, the
terms and their sources, the compiler. An edit to a term therefore recompiles the evaluation, but
not the core.

Sums that the search keeps are those of functions declared to read only some pieces, such as pawns
and kings. A game's view says what such functions read (`KEPT`), which fields their sides have
(`kept_type`, `kept_side`), and which two words name these pieces (`kept_key`). The sum over both
sides is kept in a table of the search, under both words in full, so that it is the same whether it
is found there or not. A game without `KEPT` keeps nothing."""

import importlib
import importlib.util
import inspect
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from evalterms.framework.check import terms_of_file, verify
from evalterms.framework.emit import UNIT, sources_of
from evalterms.term import Form, Phase, Term, form_of
from games.compile import jit

_SUMS = '''

@UNIT.inner(types.void(side_type, side_type, score_emitter_type), forceinline=True)
def add_up_rest(us, them, emit):
{rest}


@UNIT.inner(types.void(kept_type, kept_type, score_emitter_type), forceinline=True)
def add_up_kept(us, them, emit):
{kept}


@UNIT.inner(types.int64(kept_type, kept_type, kept_type, kept_type, weights_type))
def sum_to_keep(first, first_across, second, second_across, weights):
    total = np.int64(0)
    for turn in range(2):
        emit = score_emitter(weights)
        if turn == 0:
            us, them = first, second_across
        else:
            us, them = second, first_across
        add_up_kept(us, them, emit)
        total += score_total(emit) if turn == 0 else -score_total(emit)
    return total


@UNIT.inner(types.int64(words_type, weights_type, types.int64))
def evaluate_keeping(words, weights, sums):
    """Evaluate with sums kept in the table at an address, or anew if it is 0; the same as
    `evaluate`."""
    first, second = first_side(words), second_side(words)
    first_across, second_across = across(first), across(second)
    one, other = kept_key(words)
    place = np.int64((one * FACTOR ^ other) * FACTOR >> SUMS_SHIFT) << 2
    if sums != 0 and word_at(sums, place) == one and word_at(sums, place + 1) == other{same_row}:
        total = np.int64(word_at(sums, place + 2))
    else:
        total = sum_to_keep(kept_side(first), kept_side(first_across), kept_side(second),
                            kept_side(second_across), weights)
        if sums != 0:
            put_word(sums, place, one)
            put_word(sums, place + 1, other)
            put_word(sums, place + 2, np.uint64(total)){put_row}
    for turn in range(2):
        emit = score_emitter(weights)
        if turn == 0:
            us, them = first, second_across
        else:
            us, them = second, first_across
        add_up_rest(us, them, emit)
        total += score_total(emit) if turn == 0 else -score_total(emit)
    return finish(total, words, first, first_across, second, second_across, weights)
'''
_SAME_ROW = " \\\n            and np.int64(word_at(sums, place + 3)) == row_of_step(step_of(words))"
_PUT_ROW = "\n            put_word(sums, place + 3, np.uint64(row_of_step(step_of(words))))"
_IMPORTS = """
from evalterms.{game}.view import kept_key, kept_side, kept_type
from games.compile.hashset import FACTOR
from games.search.context import SUMS
from games.search.context import put_word, word_at

SUMS_SHIFT = np.uint64(64 - (SUMS.bit_length() - 1))
"""


def kept_text(
    game: str, kept: Sequence[str], rest: Sequence[str], staged: bool
) -> tuple[str, str, str]:
    """Return imports, functions and the name of an evaluation with kept sums; given the calls of
    functions of terms whose sums are kept, and of the rest. `staged`: sums are of a row of
    weights."""
    if not kept:
        return "", "", "evaluate(words, weights)"
    texts = (
        _IMPORTS.format(game=game),
        _SUMS.format(
            kept="\n".join(kept),
            rest="\n".join(rest or ["    pass"]),
            same_row=_SAME_ROW if staged else "",
            put_row=_PUT_ROW if staged else "",
        ),
    )
    return *texts, "evaluate_keeping(words, weights, sums)"


def require_known(term: Term, view: ModuleType) -> None:
    """Raise ValueError with one line if a function of the term is declared to read what the game
    does not know."""
    known = getattr(view, "KEPT", None)
    for each in term.counting:
        if each.reads not in (None, known):
            expected = f"{known!r} or nothing" if known else "nothing in this game"
            raise ValueError(
                f"term {term.name}: {each.function.__name__} is declared with reads={each.reads!r};"
                f" expected {expected}"
            )


STEP = 0.0009765625  # centipawns, of differences of a term's function: a power of two

_GLUE = '''"""Written by evalterms.framework.compose: the evaluation of {game}, terms
{names}.
"""

import numpy as np
from numba.core import types

from evalterms.framework.compose import unit
from evalterms.framework.emit import (
    count_at,
    count_emitter,
    count_emitter_type,
    score_at,
    score_emitter,
    score_emitter_type,
    score_total,
    weights_from,
)
from evalterms.term import nonzero, row_at, row_function, words_at
from evalterms.{game}.view import (
    WORDS, across, first_side, second_side, second_to_move, side_type)
from games.bits import lowest, without_lowest
from games.compile import jit

{imports}{kept_imports}

UNIT = unit({key!r})
words_type = types.Array(types.uint64, 1, "C")
rows_type = types.Array(types.uint64, 2, "C")
weights_type = types.CPointer(types.int64)
floats_type = types.CPointer(types.float64)
row_of = row_function(WORDS)
{phases}{helpers}


@UNIT.inner(types.void(side_type, side_type, score_emitter_type), forceinline=True)
def add_up(us, them, emit):
{score_calls}


@UNIT.inner(types.void(side_type, side_type, count_emitter_type, count_emitter_type, types.int64),
            forceinline=True)
def count(us, them, emit, apart, turn):
{count_calls}


@UNIT.inner(types.int64(types.int64, words_type, side_type, side_type, side_type, side_type,
                        weights_type), forceinline=True)
def finish(total, words, first, first_across, second, second_across, weights):
    """Return the value of a position in steps, from the packed sum of its linear terms."""
    phase = phase_of(words)
    early = (total + 0x80000000) >> 32
    late = total - (early << 32)
    value = (early * phase + late * (PHASES - phase)) // PHASES
{bent_calls}
{scale_calls}
    return value


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
    return finish(total, words, first, first_across, second, second_across, weights)
{kept_functions}


@UNIT.entry(types.float64(floats_type, floats_type))
def combine(sums, factors):
    """Return the evaluation in centipawns, first player's view, from tapered sums of
    weight * count; write its derivatives by the sums to `factors`. See `evalterms.term` for the
    order of the sums."""
    value = sums[0]
    factors[0] = 1.0
{combine_calls}
    return value


@UNIT.entry(types.int64(types.CPointer(types.uint64), weights_type, types.int64))
def score(words, weights, sums):
    """Evaluate the position at an address for the side to move, in steps of 1/256 centipawn.

    `sums`: the address of a table of zeros, for these weights and this thread alone, in which sums
    are kept; 0: keep none.
    """
    words = row_of(words){at_row}
    value = {kept_value}
    return -value if second_to_move(words) else value


@UNIT.entry(types.void(rows_type, types.Array(types.int64, 1, "C"),
                       types.Array(types.int64, 1, "C")))
def scores(positions, weights, out):
    """Evaluate positions (n, words) for the first player, in steps of 1/256 centipawn."""
    for i in range(len(positions)):
        out[i] = evaluate(positions[i], {weights_at})


@UNIT.entry(types.int64(types.CPointer(types.uint64), types.CPointer(types.int32)))
def write_counts(words, row):
    """Write the counts of the position at an address to a row: times the phase for the first
    stage, then times PHASES - phase for the last. For evaluations that are linear. Return the
    length of the row."""
    words = row_of(words)
    for i in range({columns}):
        row[i] = np.int32(0)
    first, second = first_side(words), second_side(words)
    first_across, second_across = across(first), across(second)
    for turn in range(2):
        if turn == 0:
            us, them, sign = first, second_across, 1
        else:
            us, them, sign = second, first_across, -1
        count(us, them, count_emitter(row, sign), count_emitter(row, 1), turn)
    phase = phase_of(words)
    for i in range({columns}):
        both = row[i]
        row[i] = np.int32(both * phase)
        row[{columns} + i] = np.int32(both * (PHASES - phase))
    return 2 * {columns}


@UNIT.inner(types.int64(types.CPointer(types.uint64), types.CPointer(types.int32), types.boolean))
def count_apart(words, row, by_mover):
    """Write the counts of both sides: the side to move first, or the first
    player. For evaluations that are linear. Return the length of the row."""
    words = row_of(words)
    for i in range(2 * {columns}):
        row[i] = np.int32(0)
    first, second = first_side(words), second_side(words)
    first_across, second_across = across(first), across(second)
    exchanged = by_mover and second_to_move(words)
    for turn in range(2):
        if turn == 0:
            us, them = first, second_across
        else:
            us, them = second, first_across
        emit = count_at(count_emitter(row, 1), {columns} if (turn == 1) != exchanged else 0)
        count(us, them, emit, emit, turn)
    return 2 * {columns}


@UNIT.entry(types.int64(types.CPointer(types.uint64), types.CPointer(types.int32)))
def write_players(words, row):
    return count_apart(words, row, False)


@UNIT.entry(types.int64(types.CPointer(types.uint64), types.CPointer(types.int32)))
def write_sides(words, row):
    return count_apart(words, row, True)


@UNIT.entry(types.int64(rows_type, types.int64, types.Array(types.int32, 2, "C"),
                        types.Array(types.uint16, 1, "C"), types.Array(types.int8, 1, "C"),
                        types.Array(types.int64, 1, "C"), types.Array(types.uint8, 1, "C")))
def coefficients(positions, start, rows, index, counts, ends, phases):
    """Count the terms of positions[start:] while there is room for nonzeros; returns the position
    to continue with, or -1 for a count outside eight bits.

    `rows` are dense rows of zeros, their length a multiple of 64. A block of positions is
    counted before its rows are read back, because wide loads right after narrow stores stall the
    CPU. The nonzeros of position i end at ends[i].
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
                row = row_at(rows[i - block])
                count(us, them, count_emitter(row, sign), count_emitter(row, 1), turn)
            phases[i] = step_of(words)
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

_OWN_PHASE = '''
STEPS = {steps}


@UNIT.inner(types.int64(words_type))
def step_of(words):
    """Return the phase of a position by a term's function, first player's view."""
    step = np.int64(own_phase(first_side(words), across(second_side(words))))
    return min(max(step, 0), STEPS)
'''

WHOLE = 1 << 20  # shares of stages that are more than two are whole numbers of its parts

_STAGED = '''
PHASES = {whole}
row_of_step = jit.table("{key}_rows", np.array({rows}, np.int64))
part_of_step = jit.table("{key}_parts", np.array({parts}, np.int64))


@UNIT.inner(types.int64(words_type))
def phase_of(words):
    """Return the share of the first of the two stages of a position's row of weights, in parts of
    PHASES."""
    return part_of_step(step_of(words))
'''

_TAPERED = '''

@UNIT.inner(types.float64(types.int64, types.int64))
def tapered(total, phase):
    """Return a packed sum in centipawns."""
    early = (total + 0x80000000) >> 32
    late = total - (early << 32)
    return (early * phase + late * (PHASES - phase)) / (PHASES * {unit}.0)
'''

_SUM = '''

@UNIT.inner(types.float64(side_type, side_type, weights_type, types.int64), forceinline=True)
def sum_{name}(us, them, weights, phase):
    """Return the tapered sum of one side by term {i}."""
    emit = score_at(score_emitter(weights), {base})
{calls}
    return tapered(score_total(emit), phase)
'''


Rows: TypeAlias = Sequence[tuple[int, float]]


def plain_function(function: Callable) -> Callable:
    """Return the Python function behind a compiled one."""
    return getattr(function, "py_func", function)


def phase_texts(game: str, terms: Sequence[Term], key: str, rows: Rows) -> tuple[str, str]:
    """Return imports and definitions of the phase of a position, and of its row of weights."""
    own = phase_in(terms)
    if own is None:
        text = f"from evalterms.{game}.view import PHASES as STEPS, phase_of as step_of"
        definition = ""
    else:
        function = plain_function(own.function)
        text = f"from {function.__module__} import {function.__name__} as own_phase"
        definition = _OWN_PHASE.format(steps=own.steps)
    if not rows:
        return text, definition + "PHASES, phase_of = STEPS, step_of\n"
    parts = [round(share * WHOLE) for _, share in rows]
    return text, definition + _STAGED.format(
        whole=WHOLE, key=key, rows=[row for row, _ in rows], parts=parts
    )


def phase_in(terms: Sequence[Term]) -> Phase | None:
    """Return the phase that one of the terms has in place of the game's; ValueError for several."""
    phased = [term for term in terms if term.phase is not None]
    if len(phased) > 1:
        raise ValueError(
            f"terms {phased[0].name} and {phased[1].name} both have phases; expected one of them"
        )
    return phased[0].phase if phased else None


def glue_text(game: str, terms: Sequence[Term], key: str, rows: Rows = ()) -> str:
    """Return the source text of the evaluation with these terms; `key` names its compile unit, and
    `rows` are as for `compose`."""
    form = form_of(terms)
    imports: list[str] = []
    sums: list[str] = []
    score_calls: list[str] = []
    kept_calls: list[str] = []
    rest_calls: list[str] = []
    count_calls: list[str] = []
    base = 0
    for i, term in enumerate(terms):
        calls = []  # of the counting functions, except their emitters
        for k, (function, reads) in enumerate(term.counting):
            function = plain_function(function)
            imports.append(f"from {function.__module__} import {function.__name__} as term_{i}_{k}")
            calls.append(
                f"term_{i}_{k}("
                + ("us, them" if reads is None else "kept_side(us), kept_side(them)")
            )
        if term.linear:
            score_calls += [f"    {call}, score_at(emit, {base}))" for call in calls]
            for k, each in enumerate(term.counting):
                (rest_calls if each.reads is None else kept_calls).append(
                    f"    term_{i}_{k}(us, them, score_at(emit, {base}))"
                )
            count_calls += [f"    {call}, count_at(emit, {base}))" for call in calls]
        else:
            if term.curve is not None:
                curve = plain_function(term.curve)
                imports.append(f"from {curve.__module__} import {curve.__name__} as curve_{i}")
            count_calls += [
                f"    {call}, count_at(apart, {base} + turn * {form.second[i] - base}))"
                for call in calls
            ]
            emitted = "\n".join(f"    {call}, emit)" for call in calls)
            sums += [
                _SUM.format(name=f"{i}_{part}", i=i, base=place, calls=emitted)
                for part, place in enumerate(form.weights[i])
            ]
        base += term.size
    curved = [i for i, term in enumerate(terms) if term.curve is not None]
    scaling = [i for i, term in enumerate(terms) if term.scales]
    kept_imports, kept_functions, kept_value = kept_text(game, kept_calls, rest_calls, bool(rows))
    phase_import, phases = phase_texts(game, terms, key, rows)
    end, row = len(form.packed(np.zeros(base))), "row_of_step(step_of({words}))"
    at_row = f"\n    weights = weights_from(weights, {end} * {row.format(words='words')})"
    of_position = f"{end} * {row.format(words='positions[i]')}"
    helpers = (_TAPERED.format(unit=UNIT) if sums else "") + "\n".join(sums)
    return _GLUE.format(
        game=game,
        key=key,
        columns=base,
        names=", ".join(term.name for term in terms),
        imports="\n".join([phase_import, *imports]),
        phases=phases,
        at_row=at_row if rows else "",
        weights_at=(
            f"weights_from(words_at(weights), {of_position})" if rows else "words_at(weights)"
        ),
        helpers=helpers,
        kept_imports=kept_imports,
        kept_functions=kept_functions,
        kept_value=kept_value,
        score_calls="\n".join(score_calls) or "    pass",
        count_calls="\n".join(count_calls),
        bent_calls=_bent(terms, curved),
        scale_calls=_scaled(scaling),
        combine_calls=_combined(terms, curved, scaling, form),
    )


def _bent(terms: Sequence[Term], curved: Sequence[int]) -> str:
    """Return statements that add what the terms with functions give both sides, in steps."""
    if not curved:
        return ""
    lines = [
        "    for turn in range(2):",
        "        if turn == 0:",
        "            us, them, sign = first, second_across, 1",
        "        else:",
        "            us, them, sign = second, first_across, -1",
    ]
    for i in curved:
        sums = ", ".join(
            f"sum_{i}_{part}(us, them, weights, phase)" for part in range(terms[i].parts)
        )
        lines.append(
            f"        value += sign * np.int64(np.floor(curve_{i}({sums}) * {UNIT}.0 + 0.5))"
        )
    return "\n".join(lines)


def _scaled(scaling: Sequence[int]) -> str:
    """Return statements that scale the value in steps by what the side ahead has."""
    if not scaling:
        return ""
    percent = " + ".join(f"sum_{i}_0(us, them, weights, phase)" for i in scaling)
    return f"""    if value >= 0:
        us, them, sign = first, second_across, 1
    else:
        us, them, sign = second, first_across, -1
    factor = min(max(1.0 + ({percent}) / 100.0, 0.0), 2.0)
    value = sign * np.int64(np.floor((sign * value) * factor + 0.5))"""


def _combined(
    terms: Sequence[Term], curved: Sequence[int], scaling: Sequence[int], form: Form
) -> str:
    """Return the statements of `combine`; derivatives of functions are central differences, exact
    to about 1e-9."""
    lines = []
    for i in curved:
        for side, sign in ((0, "+"), (1, "-")):
            places = [form.sums[i] + 2 * part + side for part in range(terms[i].parts)]
            lines.append(
                f"    value {sign}= curve_{i}({', '.join(f'sums[{place}]' for place in places)})"
            )
            for place in places:
                above, below = (
                    ", ".join(
                        f"sums[{p}] {step} {STEP}" if p == place else f"sums[{p}]" for p in places
                    )
                    for step in "+-"
                )
                lines.append(
                    f"    factors[{place}] = {sign}(curve_{i}({above}) - curve_{i}({below})) /"
                    f" {2 * STEP}"
                )
    if scaling:
        starts = [form.sums[i] for i in scaling]
        lines += [
            "    ahead = 0 if value >= 0.0 else 1",
            (
                f"    scale = 1.0 + ({' + '.join(f'sums[{start} + ahead]' for start in starts)}) /"
                " 100.0"
            ),
            "    share = 0.01 * value if 0.0 < scale < 2.0 else 0.0",
            "    scale = min(max(scale, 0.0), 2.0)",
            f"    for k in range({form.count}):",
            "        factors[k] *= scale",
        ]
        lines += [
            f"    factors[{start + side}] = share if ahead == {side} else 0.0"
            for start in starts
            for side in range(2)
        ]
        lines.append("    value *= scale")
    return "\n".join(lines)


_units: dict[str, jit.Unit] = {}
_composing = threading.Lock()


def unit(key: str) -> jit.Unit:
    """Return the compile unit of a glue module."""
    return _units[key]


MOST_COLUMNS = 1 << 16  # counts have columns of 16 bits


@dataclass(frozen=True)
class Composition:
    """Terms composed into one evaluation: their layout and the compiled functions (in `glue`)."""

    game: str
    terms: tuple[Term, ...]
    glue: ModuleType
    name: str  # a hash of all dependencies of the counts

    @property
    def size(self) -> int:
        """Number of parameters (per stage)."""
        return sum(term.size for term in self.terms)

    @property
    def curved(self) -> list[str]:
        """Names of the terms that are not linear in their parameters: their counts are not
        coefficients."""
        return [term.name for term in self.terms if not term.linear]

    @cached_property
    def form(self) -> Form:
        """How the evaluation depends on the counts."""
        return form_of(self.terms)

    @property
    def combine(self) -> Any:
        """The function `combine` of the glue as compiled code calls it: its address (in plain
        Python itself)."""
        return self.glue.combine if jit.PLAIN else self.glue.combine.address()


def load_terms(game: str, extra: Sequence[Path] = ()) -> tuple[Term, ...]:
    """Return the terms of a game, then the terms of the user's files (every `Term` at top level),
    which are checked."""
    terms = list(importlib.import_module(f"evalterms.{game}").TERMS)
    for path in map(Path, extra):
        own = terms_of_file(path)
        names = [term.name for term in terms + own]
        for term in own:
            if names.count(term.name) > 1:
                raise ValueError(f"{path}: two terms are named {term.name!r}; rename this one")
            try:
                require_known(term, importlib.import_module(f"evalterms.{game}.view"))
            except ValueError as problem:
                raise ValueError(f"{path}: {problem}") from None
        verify(game, path, own)
        terms += own
    return tuple(terms)


def compose(game: str, terms: Sequence[Term], rows: Rows = ()) -> Composition:
    """Compile these terms into one evaluation. `rows` if it has more stages than two: for each step
    of the phase the row of packed weights, which are those of two stages, and the share of the
    first of these."""
    view = importlib.import_module(f"evalterms.{game}.view")
    sources = sources_of(Path(__file__).parents[1] / game)
    sources |= {
        Path(inspect.getfile(plain_function(each.function)))
        for term in terms
        for each in term.counting
    }
    size = sum(term.size for term in terms)
    if size > MOST_COLUMNS:
        raise ValueError(
            f"the terms have {size:,} parameters, expected at most {MOST_COLUMNS:,}; count larger"
            " tables in your engine, as rows"
        )
    for term in terms:
        require_known(term, view)
    layout = " ".join(
        f"{term.name}:{parameter.name}{parameter.shape}"
        for term in terms
        for parameter in term.parameters
    )
    layout += "".join(
        f" {parameter.name} in part 1"
        for term in terms
        for parameter in term.parameters
        if parameter.part
    )
    layout += "".join(
        f" {term.name} through {plain_function(term.curve).__name__}"
        for term in terms
        if term.curve is not None
    )
    layout += "".join(f" {term.name} scales" for term in terms if term.scales)
    if own := phase_in(terms):
        layout += f" {plain_function(own.function).__name__} to {own.steps}"
    salt = view.CORE.name + layout
    counts = jit.Unit(f"terms-{game}", lambda: sources, salt=salt)
    composed = jit.Unit(f"terms-{game}", lambda: sources, salt=f"{salt} {rows}") if rows else counts
    key = composed.name
    module_name = f"evaltune_glue_{key}"
    with _composing:  # threads of a match may compose the same evaluation at the same time
        if module_name not in sys.modules:
            _units[key] = composed
            path = composed.folder / f"{module_name}.py"
            text = glue_text(game, terms, key, rows).encode()
            if not path.exists() or path.read_bytes() != text:
                temporary = path.with_suffix(f".{os.getpid()}.tmp")
                temporary.write_bytes(text)
                os.replace(temporary, path)
            spec = importlib.util.spec_from_file_location(module_name, path)
            assert spec is not None and spec.loader is not None, "there is a loader for .py"
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module
            spec.loader.exec_module(module)
    return Composition(game, tuple(terms), sys.modules[module_name], counts.name)
