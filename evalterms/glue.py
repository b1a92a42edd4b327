"""The source text of a composed evaluation: a module that calls every term and is compiled as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evalterms.emit import UNIT
from evalterms.kept import kept_text
from evalterms.term import Term

_GLUE = '''"""Written by evalterms.compose: the evaluation of {game} with the terms {names}."""

import numpy as np
from numba.core import types

from evalterms.compose import unit
from evalterms.emit import (
    count_at, count_emitter, count_emitter_type, score_add, score_apart, score_at, score_emitter, score_emitter_type,
    score_total, value_at, value_emitter, value_emitter_type, value_total)
from evalterms.pointers import nonzero, numbers_at, row_at, row_function, words_at
from evalterms.{game}.view import PHASES, WORDS, across, first_side, phase_of, second_side, second_to_move, side_type
from games.bits import lowest, without_lowest

{imports}{kept_imports}

UNIT = unit({key!r})
words_type = types.Array(types.uint64, 1, "C")
rows_type = types.Array(types.uint64, 2, "C")
weights_type = types.CPointer(types.int64)
floats_type = types.CPointer(types.float64)
vector_type = types.Array(types.float64, 1, "C")
row_of = row_function(WORDS)
{curves}


@UNIT.inner(types.void(side_type, side_type, score_emitter_type), forceinline=True)
def add_up(us, them, emit):
{score_calls}


@UNIT.inner(types.void(side_type, side_type, count_emitter_type, count_emitter_type), forceinline=True)
def count(us, them, emit, emit_both):
{count_calls}


@UNIT.inner(types.float64(types.int64, side_type, side_type, floats_type, types.float64), forceinline=True)
def value_of_side(term, us, them, weights, share):
    """Return centipawns of one side by one term; the first stage has weight `share`."""
    emit = value_emitter(weights)
    early, late = 0.0, 0.0
{value_calls}
    return share * early + (1.0 - share) * late


@UNIT.inner(types.float64(types.int64, side_type, side_type, side_type, side_type, floats_type, types.float64))
def value_of_term(term, first, first_across, second, second_across, weights, share):
    """Return centipawns for the first player by one term."""
    total = 0.0
    for turn in range(2):
        if turn == 0:
            us, them, sign = first, second_across, 1.0
        else:
            us, them, sign = second, first_across, -1.0
        total += sign * value_of_side(term, us, them, weights, share)
    return total


@UNIT.inner(types.int64(words_type, types.int64), forceinline=True)
def tapered(words, total):
    """Return the value of a packed sum in a position."""
    early = (total + 0x80000000) >> 32
    late = total - (early << 32)
    phase = phase_of(words)
    return (early * phase + late * (PHASES - phase)) // PHASES


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
    return tapered(words, total)
{kept_functions}


@UNIT.entry(types.int64(types.CPointer(types.uint64), weights_type, types.int64))
def score(words, weights, sums):
    """Evaluate the position at an address for the side to move, in steps of 1/256 centipawn.

    `sums`: the address of a table of zeros, for these weights and this thread alone, in which sums are kept; 0: keep none.
    """
    words = row_of(words)
    value = {kept_value}
    return -value if second_to_move(words) else value


@UNIT.entry(types.void(rows_type, types.Array(types.int64, 1, "C"), types.Array(types.int64, 1, "C")))
def scores(positions, weights, out):
    """Evaluate positions (n, words) for the first player, in steps of 1/256 centipawn."""
    for i in range(len(positions)):
        out[i] = evaluate(positions[i], words_at(weights))


@UNIT.entry(types.int64(rows_type, types.int64, types.Array(types.int32, 2, "C"), types.Array(types.uint16, 1, "C"),
                        types.Array(types.int8, 1, "C"), types.Array(types.int64, 1, "C"), types.Array(types.uint8, 1, "C")))
def coefficients(positions, start, rows, index, counts, ends, phases):
    """Count the terms of positions[start:] while there is room for nonzeros; returns the position to continue with, or -1 for a
    count outside eight bits.

    `rows` are dense rows of zeros, their length a multiple of 64. A block of positions is counted before its rows are read back,
    because wide loads right after narrow stores stall the CPU. The nonzeros of position i end at ends[i].
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
                count(us, them, count_emitter(row, sign), count_emitter(row, 1))
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


@UNIT.entry(types.void(rows_type, vector_type, types.int64, vector_type))
def values(positions, weights, terms, out):
    """Evaluate positions (n, words) for the first player in centipawns, in double precision, with interleaved weights."""
    for i in range(len(positions)):
        words = positions[i]
        first, second = first_side(words), second_side(words)
        first_across, second_across = across(first), across(second)
        share = phase_of(words) / PHASES
        total = 0.0
        for term in range(terms):
            total += value_of_term(term, first, first_across, second, second_across, numbers_at(weights), share)
        out[i] = total


@UNIT.entry(types.void(rows_type, types.Array(types.int64, 1, "C"), types.Array(types.uint16, 1, "C"),
                       types.Array(types.int64, 1, "C"), types.int64, vector_type, types.float64, vector_type))
def moved(positions, ends, index, term_of, stages, weights, step, changes):
    """Write to `changes` how the evaluation changes if one weight at a time moves by `step` centipawns, up and down: 2 * stages
    numbers per nonzero of the positions (which end at `ends`), first stage first.

    Only the term of the weight, term_of[column], is evaluated. With one stage both weights of a column move together.
    """
    begin = 0
    for i in range(len(positions)):
        words = positions[i]
        first, second = first_side(words), second_side(words)
        first_across, second_across = across(first), across(second)
        share = phase_of(words) / PHASES
        for k in range(begin, ends[i]):
            column = np.int64(index[k])
            term = term_of[column]
            here = value_of_term(term, first, first_across, second, second_across, numbers_at(weights), share)
            for stage in range(stages):
                early, late = weights[2 * column], weights[2 * column + 1]
                for down in range(2):
                    change = -step if down == 1 else step
                    if stage == 0:
                        weights[2 * column] = early + change
                    if stage == stages - 1:
                        weights[2 * column + 1] = late + change
                    there = value_of_term(term, first, first_across, second, second_across, numbers_at(weights), share)
                    changes[2 * stages * k + 2 * stage + down] = there - here
                weights[2 * column], weights[2 * column + 1] = early, late
        begin = ends[i]
'''

_CURVE = '''

@UNIT.inner(types.int64(types.int64))
def packed_curve_{i}(total):
    """Apply the function of term {i} to both stages of its packed sum."""
    early = (total + 0x80000000) >> 32
    late = total - (early << 32)
    early_steps = np.int64(np.floor(curve_{i}(early / {unit}.0) * {unit}.0 + 0.5))
    late_steps = np.int64(np.floor(curve_{i}(late / {unit}.0) * {unit}.0 + 0.5))
    return (early_steps << 32) + late_steps
'''


def plain_function(function: Callable) -> Callable:
    """Return the Python function behind a compiled one."""
    return getattr(function, "py_func", function)


def glue_text(game: str, terms: Sequence[Term], key: str) -> str:
    """Return the source text of the evaluation with these terms; `key` names its compile unit."""
    imports, curves, score_calls, kept_calls, count_calls, value_calls, base = [], [], [], [], [], [], 0
    rest_calls: list[str] = []  # of `score_calls`, those whose sums are not kept
    for i, term in enumerate(terms):
        calls, kept = [], []  # of the functions, but for their emitters
        for k, (function, reads) in enumerate(term.counting):
            function = plain_function(function)
            imports.append(f"from {function.__module__} import {function.__name__} as term_{i}_{k}")
            calls.append(f"term_{i}_{k}(" + ("us, them" if reads is None else "kept_side(us), kept_side(them)"))
            kept.append(reads is not None)
        value_calls.append(f"    {'el' if i else ''}if term == {i}:")
        value_calls += [f"        {call}, value_at(emit, {base}))" for call in calls]
        if term.curve is None:
            score_calls += [f"    {call}, score_at(emit, {base}))" for call in calls]
            rest_calls += [f"    {call}, score_at(emit, {base}))" for k, call in enumerate(calls) if not kept[k]]
            kept_calls += [f"    term_{i}_{k}(us, them, score_at(emit, {base}))" for k in range(len(calls)) if kept[k]]
            count_calls += [f"    {call}, count_at(emit, {base}))" for call in calls]
            value_calls.append("        early, late = value_total(emit, 0), value_total(emit, 1)")
        else:
            curve = plain_function(term.curve)
            imports.append(f"from {curve.__module__} import {curve.__name__} as curve_{i}")
            curves.append(_CURVE.format(i=i, unit=UNIT))
            curved = [f"    apart_{i} = score_apart(emit, {base})", *(f"    {call}, apart_{i})" for call in calls),
                      f"    score_add(emit, packed_curve_{i}(score_total(apart_{i})))"]
            score_calls += curved
            rest_calls += curved
            # the sum of both sides, not the difference: nonzero wherever the parameters matter
            count_calls += [f"    {call}, count_at(emit_both, {base}))" for call in calls]
            value_calls.append(f"        early, late = curve_{i}(value_total(emit, 0)), curve_{i}(value_total(emit, 1))")
        base += term.size
    kept_imports, kept_functions, kept_value = kept_text(game, kept_calls, rest_calls)
    return _GLUE.format(game=game, key=key, names=", ".join(term.name for term in terms), imports="\n".join(imports),
                        kept_imports=kept_imports, kept_functions=kept_functions, kept_value=kept_value,
                        curves="\n".join(curves), score_calls="\n".join(score_calls),
                        count_calls="\n".join(count_calls), value_calls="\n".join(value_calls))
