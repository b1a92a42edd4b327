"""Passes over a dataset: loss and gradient, the Gauss-Newton matrix, scores of games, the equation
of TD(lambda).

The phase takes few values, so a pass keeps one row of weights per phase (`table`) instead of one
per stage: a nonzero then costs one multiplication, whatever the number of stages. Likewise it sums
one gradient or matrix per phase and distributes them over the stages at the end. Column `columns`
is the intercept: an advantage of the first player that is not part of the evaluation. One more
column, if present, is the width of a draw (see `tuner.objectives.ordered`), with coefficient 1 in
every position.

If the last stage of a position is scaled, `phase` is an index of pairs of phase and scale (see
`tuner.datasets.files`), and a table has a row for each. `rest` (n,), if it is not empty, is a part
of the evaluations that is not tuned.

`ranges` (m, 2) int64 are the positions to visit. Passes read one row of the sparse matrix at a time
and make no dense copy."""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types

from games.compile import jit
from games.compile.jit import address_of_arrays, record
from tuner.datasets.files import (
    KINDS,
    Rows,
    count_type,
    cube_type,
    index_type,
    matrix_type,
    order_type,
    outcome_type,
    phase_type,
    ranges_type,
    row_type,
    vector_type,
)
from tuner.objectives.base import BLOCK, SIGNATURE, WIDTH_SIGNATURE
from tuner.unit import entry, inner

# rows of a dataset, of a wide and of a large one
ROWS = tuple(
    record(Rows, index, count, row_type, phase, outcome_type, outcome_type, outcome_type)
    for index, count, phase in KINDS
)
# unsigned indices: Numba tests a signed index for negative values at every access
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(n) for n in range(5))


def _select(builder, values):
    """Select between a number and zero; a float32 as an integer, since LLVM would branch on
    floating-point numbers."""
    condition, number = values
    if number.type != ir.FloatType():
        return builder.select(condition, number, number.type(0))
    bits = builder.bitcast(number, ir.IntType(32))
    return builder.bitcast(builder.select(condition, bits, bits.type(0)), number.type)


@jit.intrinsic(lambda condition, number: number, None, _select)
def when(condition, number):
    """Return the number, a count, if the condition holds, else zero."""
    return number if condition else 0


call_objective = jit.address_call(types.float64, SIGNATURE.args)
call_draws = jit.address_call(types.float64, WIDTH_SIGNATURE.args)


numbers_at = address_of_arrays(types.float64)


class Block(NamedTuple):
    """Memory for BLOCK positions: evaluations, which residuals replace, outcomes, weights, and in
    the rows of `derivatives` (4, BLOCK) the derivative by the width of a draw, then the second
    derivatives by evaluation, by both and by width; without widths only row 1."""

    evaluation: np.ndarray
    outcomes: np.ndarray
    weights: np.ndarray
    derivatives: np.ndarray


block_type = record(Block, vector_type, vector_type, vector_type, matrix_type)


@inner(
    *(
        types.void(rows, matrix_type, types.int64, types.int64, types.int64, block_type)
        for rows in ROWS
    )
)
def _forward(rows, table, last, begin, n, block):
    """Compute evaluations, with the intercept in column `last`, and copy outcomes and weights of n
    positions from `begin` on."""
    index, count, row, phase, outcome, weight, rest = rows
    evaluation, outcomes, weights = block.evaluation, block.outcomes, block.weights
    with_rest = len(rest) > 0
    for i in range(n):
        position = begin + i
        line = table[phase[position]]
        # four sums: a single one would wait for each addition before starting the next
        k, end = np.uint64(row[position]), np.uint64(row[position + 1])
        a, b, c, d = line[last], 0.0, 0.0, 0.0
        if with_rest:
            a += rest[position]
        while k + FOUR <= end:
            a += line[index[k]] * count[k]
            b += line[index[k + ONE]] * count[k + ONE]
            c += line[index[k + TWO]] * count[k + TWO]
            d += line[index[k + THREE]] * count[k + THREE]
            k += FOUR
        # up to three are left: always three are added, some multiplied by zero, because the CPU
        # would mispredict a branch on their number more often than not
        left = end - k
        if k + THREE <= np.uint64(len(index)):
            a += line[index[k]] * np.float64(when(left > ZERO, count[k]))
            b += line[index[k + ONE]] * np.float64(when(left > ONE, count[k + ONE]))
            c += line[index[k + TWO]] * np.float64(when(left > TWO, count[k + TWO]))
        else:
            while k < end:
                a += line[index[k]] * count[k]
                k += ONE
        evaluation[i] = (a + b) + (c + d)
        outcomes[i] = outcome[position]
        weights[i] = weight[position]


@inner(
    *(
        types.void(index, count, types.uint64, types.uint64, types.float64, vector_type)
        for index, count, _ in KINDS
    ),
    forceinline=True,
)
def _scatter(index, count, k, end, error, line):
    """Add error * count to the columns of nonzeros k:end; as in `_forward`, the last three without
    branches."""
    while k + FOUR <= end:
        line[index[k]] += error * count[k]
        line[index[k + ONE]] += error * count[k + ONE]
        line[index[k + TWO]] += error * count[k + TWO]
        line[index[k + THREE]] += error * count[k + THREE]
        k += FOUR
    left = end - k
    if k + THREE <= np.uint64(len(index)):
        line[index[k]] += error * np.float64(when(left > ZERO, count[k]))
        line[index[k + ONE]] += error * np.float64(when(left > ONE, count[k + ONE]))
        line[index[k + TWO]] += error * np.float64(when(left > TWO, count[k + TWO]))
    else:
        while k < end:
            line[index[k]] += error * count[k]
            k += ONE


@inner(
    *(
        types.float64(
            rows,
            matrix_type,
            types.int64,
            types.int64,
            types.int64,
            types.int64,
            types.float64,
            block_type,
        )
        for rows in ROWS
    )
)
def _losses(rows, table, last, begin, n, objective, scale, block):
    """Return the sum of weight * loss of n positions; write residuals and derivatives."""
    _forward(rows, table, last, begin, n, block)
    evaluation, outcomes, weights, draw = block
    width, curvature, cross, bend = draw[0], draw[1], draw[2], draw[3]
    if table.shape[1] == last + 1:
        return call_objective(
            objective,
            n,
            scale,
            numbers_at(evaluation),
            numbers_at(outcomes),
            numbers_at(weights),
            numbers_at(curvature),
        )
    for i in range(n):
        width[i] = table[rows.phase[begin + i], last + 1]
    return call_draws(
        objective,
        n,
        scale,
        numbers_at(evaluation),
        numbers_at(width),
        numbers_at(outcomes),
        numbers_at(weights),
        numbers_at(curvature),
        numbers_at(cross),
        numbers_at(bend),
    )


@entry(
    *(
        types.float64(
            rows, matrix_type, types.int64, ranges_type, types.int64, types.float64, matrix_type
        )
        for rows in ROWS
    )
)
def loss_gradient(rows, table, last, ranges, objective, scale, gradient):
    """Return the sum of weight * loss over the ranges; add the gradient per phase, in the shape of
    `table`, to `gradient`."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    residual, draw = np.empty(BLOCK), np.empty((4, BLOCK))
    block = Block(residual, np.empty(BLOCK), np.empty(BLOCK), draw)
    loss, three = 0.0, table.shape[1] > last + 1
    for r in range(len(ranges)):
        for begin in range(ranges[r, 0], ranges[r, 1], BLOCK):
            n = min(BLOCK, ranges[r, 1] - begin)
            loss += _losses(rows, table, last, begin, n, objective, scale, block)
            for i in range(n):
                position = begin + i
                line = gradient[phase[position]]
                error = residual[i]
                line[last] += error
                if three:
                    line[last + 1] += draw[0, i]
                first, end = np.uint64(row[position]), np.uint64(row[position + 1])
                _scatter(index, count, first, end, error, line)
    return loss


@entry(
    *(
        types.float64(
            rows,
            matrix_type,
            types.int64,
            ranges_type,
            types.int64,
            types.float64,
            types.int64,
            matrix_type,
        )
        for rows in ROWS
    )
)
def position_terms(rows, table, last, ranges, objective, scale, base, terms):
    """Return the sum of weight * loss; column i - base of `terms` gets the derivatives for position
    i: the residual, the curvature, and with widths the derivative by the width and the second
    derivatives by both and by the width."""
    residual, draw = np.empty(BLOCK), np.empty((4, BLOCK))
    block = Block(residual, np.empty(BLOCK), np.empty(BLOCK), draw)
    loss, three = 0.0, table.shape[1] > last + 1
    for r in range(len(ranges)):
        for begin in range(ranges[r, 0], ranges[r, 1], BLOCK):
            n = min(BLOCK, ranges[r, 1] - begin)
            loss += _losses(rows, table, last, begin, n, objective, scale, block)
            for i in range(n):
                place = begin + i - base
                terms[0, place], terms[1, place] = residual[i], draw[1, i]
                if three:
                    terms[2, place], terms[3, place] = draw[0, i], draw[2, i]
                    terms[4, place] = draw[3, i]
    return loss


@entry(
    *(
        types.void(
            index,
            count,
            row_type,
            order_type,
            types.int64,
            matrix_type,
            types.int64,
            matrix_type,
        )
        for index, count, _ in KINDS
    )
)
def gram(index, count, row, order, base, terms, last, matrix):
    """Add the sum of curvature * x x' over the positions base + order to `matrix` (columns,
    columns); with widths their second derivatives too. `terms` are those of `position_terms`.

    Only one triangle is filled, with a row's earlier nonzero as first index: add the transpose,
    minus the diagonal."""
    three, curvature = matrix.shape[0] > last + 1, terms[1]
    places, values = np.empty(last + 1, np.uint64), np.empty(last + 1)
    for o in range(len(order)):
        position = base + order[o]
        c = curvature[order[o]]
        if c == 0.0:
            continue
        begin, n = np.uint64(row[position]), np.uint64(row[position + 1] - row[position])
        for k in range(n):
            places[k] = index[begin + k]
            values[k] = count[begin + k]
        places[n], values[n] = last, 1.0
        for a in range(n + ONE):
            line = matrix[places[a]]
            product = c * values[a]
            for b in range(a, n + ONE):
                line[places[b]] += product * values[b]
            if three:
                line[last + 1] += terms[3, order[o]] * values[a]
        if three:
            matrix[last + 1, last + 1] += terms[4, order[o]]


@entry(
    *(
        types.void(
            rows,
            ranges_type,
            order_type,
            types.int64,
            matrix_type,
            types.int64,
            matrix_type,
            matrix_type,
            cube_type,
        )
        for rows in ROWS
    )
)
def range_scores(rows, ranges, place, base, terms, last, shares, unscaled, scores):
    """Add the sum of residual * coefficients of each range r to scores[place[r]] of (n, stages,
    columns + 1 or 2). `terms` are those of `position_terms`; without widths only the residuals are
    used. Columns have `shares` (stages, codes), intercept and width of a draw `unscaled`."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    stages, three, residual = scores.shape[1], scores.shape[2] > last + 1, terms[0]
    for r in range(len(ranges)):
        for position in range(ranges[r, 0], ranges[r, 1]):
            error = residual[position - base]
            for stage in range(stages):
                share, whole = shares[stage, phase[position]], unscaled[stage, phase[position]]
                if whole != 0.0:
                    line = scores[place[r], stage]
                    line[last] += error * whole
                    if three:
                        line[last + 1] += terms[2, position - base] * whole
                    for k in range(np.uint64(row[position]), np.uint64(row[position + 1])):
                        line[index[k]] += error * share * count[k]


@inner(
    *(
        types.void(
            rows,
            types.int64,
            types.int64,
            matrix_type,
            matrix_type,
            vector_type,
            vector_type,
            matrix_type,
            cube_type,
        )
        for rows in ROWS
    )
)
def _spread(rows, position, last, shares, unscaled, line, draw, parts, sums):
    """Add coefficients times `line` (k,), and of the width of a draw times `draw`, to sums (columns
    + 1 or 2, stages, k). `parts` (stages, k) is work space."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    stages, k, three = sums.shape[1], sums.shape[2], sums.shape[0] > last + 1
    code = phase[position]
    for s in range(stages):
        share, whole = shares[s, code], unscaled[s, code]
        for j in range(k):
            parts[s, j] = share * line[j]
            sums[last, s, j] += whole * line[j]
        if three:
            for j in range(k):
                sums[last + 1, s, j] += whole * draw[j]
    for q in range(np.uint64(row[position]), np.uint64(row[position + 1])):
        column, number = index[q], np.float64(count[q])
        for s in range(stages):
            for j in range(k):
                sums[column, s, j] += number * parts[s, j]


@entry(
    *(
        types.void(
            rows,
            ranges_type,
            types.int64,
            matrix_type,
            types.int64,
            matrix_type,
            matrix_type,
            cube_type,
            cube_type,
        )
        for rows in ROWS
    )
)
def curvature_products(rows, ranges, base, terms, last, shares, unscaled, vectors, sums):
    """Add the sum of curvature * x (x' v) over the positions of the ranges to `sums`, for vectors
    (columns + 1 or 2, stages, k); with widths also their second derivatives. `terms` (1 or 3, n)
    are the curvatures, then those by both and by width, of the positions from `base` on."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    stages, k, three = vectors.shape[1], vectors.shape[2], vectors.shape[0] > last + 1
    parts, line, draw = np.empty((stages, k)), np.empty(k), np.empty(k)
    for r in range(len(ranges)):
        for position in range(ranges[r, 0], ranges[r, 1]):
            place, code = position - base, phase[position]
            curvature = terms[0, place]
            if curvature == 0.0 and not three:
                continue
            parts[:] = 0.0
            for q in range(np.uint64(row[position]), np.uint64(row[position + 1])):
                column, number = index[q], np.float64(count[q])
                for s in range(stages):
                    for j in range(k):
                        parts[s, j] += number * vectors[column, s, j]
            line[:] = 0.0
            draw[:] = 0.0
            for s in range(stages):
                share, whole = shares[s, code], unscaled[s, code]
                for j in range(k):
                    line[j] += share * parts[s, j] + whole * vectors[last, s, j]
                if three:
                    for j in range(k):
                        draw[j] += whole * vectors[last + 1, s, j]
            for j in range(k):
                of_value, of_width = line[j], draw[j]
                line[j] = curvature * of_value
                if three:
                    line[j] += terms[1, place] * of_width
                    draw[j] = terms[1, place] * of_value + terms[2, place] * of_width
            _spread(rows, position, last, shares, unscaled, line, draw, parts, sums)


@entry(
    *(
        types.void(
            rows,
            ranges_type,
            types.int64,
            matrix_type,
            types.int64,
            matrix_type,
            matrix_type,
            ranges_type,
            matrix_type,
        )
        for rows in ROWS
    )
)
def curvature_diagonal(rows, ranges, base, terms, last, shares, unscaled, leaders, sums):
    """Add the diagonal of the matrix of `curvature_products` to `sums` (stages, columns + 1 or 2).
    Weights with one flat index in `leaders` (stages, columns + 1 or 2) are equal: their
    coefficients are added."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    three, width = sums.shape[1] > last + 1, sums.shape[1]
    amounts, seen = np.zeros(sums.size), np.zeros(sums.size, np.int64)
    for r in range(len(ranges)):
        for position in range(ranges[r, 0], ranges[r, 1]):
            place, code, n = position - base, phase[position], 0
            for s in range(len(sums)):
                share, whole = shares[s, code], unscaled[s, code] ** 2
                sums[s, last] += terms[0, place] * whole
                if three:
                    sums[s, last + 1] += terms[2, place] * whole
                for q in range(np.uint64(row[position]), np.uint64(row[position + 1])):
                    leader = leaders[s, index[q]]
                    if amounts[leader] == 0.0:
                        seen[n] = leader
                        n += 1
                    amounts[leader] += share * np.float64(count[q])
            for i in range(n):
                leader = seen[i]
                sums[leader // width, leader % width] += terms[0, place] * amounts[leader] ** 2
                amounts[leader] = 0.0


@entry(
    *(
        types.void(
            rows,
            ranges_type,
            order_type,
            types.int64,
            matrix_type,
            types.int64,
            matrix_type,
            matrix_type,
            matrix_type,
            cube_type,
        )
        for rows in ROWS
    )
)
def signed_scores(rows, ranges, place, base, terms, last, shares, unscaled, signs, sums):
    """Add the sum of signs[place[r]] (k,) * residual * coefficients over the positions of each
    range r to `sums` (columns + 1 or 2, stages, k). `terms` are those of `range_scores`."""
    k, three = signs.shape[1], sums.shape[0] > last + 1
    parts, line, draw = np.empty((sums.shape[1], k)), np.empty(k), np.zeros(k)
    for r in range(len(ranges)):
        for position in range(ranges[r, 0], ranges[r, 1]):
            for j in range(k):
                line[j] = signs[place[r], j] * terms[0, position - base]
                if three:
                    draw[j] = signs[place[r], j] * terms[2, position - base]
            _spread(rows, position, last, shares, unscaled, line, draw, parts, sums)


@entry(*(types.void(rows, matrix_type, ranges_type, vector_type) for rows in ROWS))
def evaluations(rows, table, ranges, out):
    """Write the evaluations of the positions of the ranges to `out`, in their order."""
    values = np.empty(BLOCK)
    block = Block(values, np.empty(BLOCK), np.empty(BLOCK), np.empty((0, BLOCK)))
    done = 0
    for r in range(len(ranges)):
        for begin in range(ranges[r, 0], ranges[r, 1], BLOCK):
            n = min(BLOCK, ranges[r, 1] - begin)
            _forward(rows, table, table.shape[1] - 1, begin, n, block)
            for i in range(n):
                out[done + i] = values[i]
            done += n


@entry(
    *(
        types.void(
            rows,
            order_type,
            types.int64,
            matrix_type,
            types.int64,
            matrix_type,
            matrix_type,
            matrix_type,
        )
        for rows in ROWS
    )
)
def gram_of_stages(rows, order, base, terms, last, shares, unscaled, matrix):
    """Like `gram`, for all stages at once: `matrix` is (d, d), stage after stage, and positions may
    be of any phase and scale. It takes longer for each position, and needs no matrix of its own for
    each value of `phase`."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    stages, width, curvature = len(shares), matrix.shape[0] // len(shares), terms[1]
    three = width > last + 1
    places, values = np.empty(matrix.shape[0], np.uint64), np.empty(matrix.shape[0])
    for o in range(len(order)):
        position = base + order[o]
        code = phase[position]
        n = 0
        for stage in range(stages):
            share = shares[stage, code]
            if share != 0.0:
                for k in range(np.uint64(row[position]), np.uint64(row[position + 1])):
                    places[n] = stage * width + np.int64(index[k])
                    values[n] = share * np.float64(count[k])
                    n += 1
            places[n], values[n] = stage * width + last, unscaled[stage, code]
            n += 1
        for a in range(n):
            line = matrix[places[a]]
            product = curvature[order[o]] * values[a]
            for b in range(a, n):
                line[places[b]] += product * values[b]
        if three:
            for stage in range(stages):
                whole = unscaled[stage, code]
                for a in range(n):
                    matrix[places[a], stage * width + last + 1] += (
                        terms[3, order[o]] * whole * values[a]
                    )
                for other in range(stage, stages):
                    both = whole * unscaled[other, code]
                    matrix[stage * width + last + 1, other * width + last + 1] += (
                        terms[4, order[o]] * both
                    )


# Passes over whole games for TD(lambda). The positions of a game are in order; `decay` (n,) is
# lambda to the power of the plies to the next one. `slope` (n,) is dv/de, zero if the value is
# known. j_t = slope_t x_t is the derivative of a value, x_t the coefficients by stage.


@entry(types.void(ranges_type, vector_type, outcome_type, vector_type, vector_type))
def scan(ranges, values, outcome, decay, c):
    """Compute c_t = v_{t+1} - v_t + decay_t c_{t+1} for the positions of each range; the outcome
    follows the last value."""
    for r in range(len(ranges)):
        if ranges[r, 0] == ranges[r, 1]:
            continue
        later, following = 0.0, np.float64(outcome[ranges[r, 1] - 1])
        for t in range(ranges[r, 1] - 1, ranges[r, 0] - 1, -1):
            later = following - values[t] + decay[t] * later
            c[t] = later
            following = values[t]


@inner(*(types.void(rows, types.int64, matrix_type, types.float64, vector_type) for rows in ROWS))
def _add_row(rows, t, shares, factor, y):
    """Add factor * x_t to the dense vector y (stages * width)."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    width = len(y) // len(shares)
    for stage in range(len(shares)):
        share = factor * shares[stage, phase[t]]
        if share != 0.0:
            base = stage * width
            for k in range(row[t], row[t + 1]):
                y[base + np.int64(index[k])] += share * count[k]
            y[base + width - 1] += share


@entry(
    *(
        types.void(
            rows,
            ranges_type,
            vector_type,
            vector_type,
            vector_type,
            matrix_type,
            matrix_type,
        )
        for rows in ROWS
    )
)
def lambda_gram(rows, ranges, slope, decay, curvature, shares, matrix):
    """Add the sum of j_t y_t' + curvature_t x_t x_t' to `matrix` (d, d), with y_t = j_t - j_{t+1} +
    decay_t y_{t+1}. Stages have `shares` (stages, codes).

    That is minus the derivative of the sum of c_t j_t with respect to the weights (Bradtke and
    Barto 1996, for c linear)."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    size = matrix.shape[0]
    width = size // len(shares)
    y, whole = np.zeros(size), np.zeros(size)
    for r in range(len(ranges)):
        y[:] = 0.0
        begin, end = ranges[r, 0], ranges[r, 1]
        for t in range(end - 1, begin - 1, -1):
            y *= decay[t]
            if t + 1 < end:
                _add_row(rows, t + 1, shares, -slope[t + 1], y)
            _add_row(rows, t, shares, slope[t], y)
            if slope[t] == 0.0:
                continue
            whole[:] = slope[t] * y
            _add_row(rows, t, shares, curvature[t], whole)
            for stage in range(len(shares)):
                share = shares[stage, phase[t]]
                if share == 0.0:
                    continue
                for k in range(row[t], row[t + 1] + 1):
                    column, times = width - 1, share
                    if k < row[t + 1]:
                        column, times = np.int64(index[k]), share * count[k]
                    line = matrix[stage * width + column]
                    for i in range(size):
                        line[i] += times * whole[i]


# Evaluations that are not linear. See `evalterms.term` for inputs, sums and `combine`, which is
# called by its address.
bytes_type = types.Array(types.uint8, 1, "C", readonly=True)
places_type = types.Array(types.int64, 1, "C")
call_combine = jit.address_call(
    types.float64, (types.CPointer(types.float64), types.CPointer(types.float64))
)


# the counts of positions alone
bare_type = record(
    Rows, index_type, count_type, row_type, phase_type, types.none, types.none, types.none
)


class Curve(NamedTuple):
    """How an evaluation is made of its counts: the weight and the sum of each coefficient, the
    address of `combine`, and memory for sums and their factors."""

    column: np.ndarray
    sum_of: np.ndarray
    combine: Any
    sums: np.ndarray
    factors: np.ndarray


class LinearRows(NamedTuple):
    """Rows to write: columns and the derivatives of the evaluation by the column's weights, without
    the shares of stages; the end of each row; what the products of slopes and weights lack of the
    evaluations; and these, without intercept."""

    columns: np.ndarray
    slopes: np.ndarray
    ends: np.ndarray
    rest: np.ndarray
    evaluation: np.ndarray


singles_type = types.Array(types.float32, 1, "C")
curve_type = record(Curve, index_type, bytes_type, types.int64, vector_type, vector_type)
linear_type = record(
    LinearRows,
    types.Array(types.uint16, 1, "C"),
    singles_type,
    places_type,
    singles_type,
    vector_type,
)


@inner(types.void(bare_type, types.int64, vector_type, curve_type))
def _add_up(rows, position, line, curve):
    """Compute the sums of a position; `line` are the weights at its phase."""
    index, count, row = rows.index, rows.count, rows.row
    column, sum_of, sums = curve.column, curve.sum_of, curve.sums
    sums[:] = 0.0
    for k in range(np.uint64(row[position]), np.uint64(row[position + 1])):
        sums[sum_of[index[k]]] += line[column[index[k]]] * count[k]


@inner(types.float64(curve_type))
def _combine(curve):
    """Return the evaluation with these sums; write their factors."""
    return call_combine(curve.combine, numbers_at(curve.sums), numbers_at(curve.factors))


@entry(
    types.int64(
        bare_type, ranges_type, types.int64, matrix_type, curve_type, places_type, linear_type
    )
)
def linearise(rows, ranges, base, table, curve, place, linear_rows):
    """Write the rows of the positions of ranges, which begin at `base`; return the number of
    nonzeros. `place`, -1 for each column, is memory. Positions between ranges have empty rows."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    column, sum_of, factors = curve.column, curve.sum_of, curve.factors
    columns, slopes, ends, rest, evaluation = linear_rows
    n, done = 0, 0
    for r in range(len(ranges)):
        while done < ranges[r, 0] - base:
            ends[done + 1] = n
            done += 1
        for position in range(ranges[r, 0], ranges[r, 1]):
            line = table[phase[position]]
            _add_up(rows, position, line, curve)
            value = _combine(curve)
            linear, start = 0.0, n
            for k in range(np.uint64(row[position]), np.uint64(row[position + 1])):
                at, kind = column[index[k]], sum_of[index[k]]
                slope = factors[kind] * count[k]
                if slope == 0.0:
                    continue
                linear += slope * line[at]
                if place[at] >= start:  # counted for both sides
                    slopes[place[at]] += np.float32(slope)
                else:
                    columns[n] = at
                    slopes[n] = slope
                    place[at] = n
                    n += 1
            evaluation[done] = value
            rest[done] = value - linear
            done += 1
            ends[done] = n
    return n


@entry(types.void(bare_type, matrix_type, curve_type, vector_type))
def values(rows, table, curve, out):
    """Write the evaluations of positions in centipawns, first player's view; `table` has the
    weights at each phase."""
    phase = rows.phase
    for i in range(len(phase)):
        _add_up(rows, i, table[phase[i]], curve)
        out[i] = _combine(curve)


@entry(
    types.void(
        bare_type,
        matrix_type,
        matrix_type,
        curve_type,
        vector_type,
        index_type,
        row_type,
        types.float64,
        vector_type,
    )
)
def changes(rows, table, shares, curve, saved, chosen, ends, step, out):
    """Write to `out` how the evaluation changes if the weight of one stage moves by `step`
    centipawns, up and down: 2 * stages numbers for each of the columns `chosen`, which end at
    ends[i] for position i. `shares` (stages, phases + 1); `saved` is memory for sums."""
    index, count, row, phase = rows.index, rows.count, rows.row, rows.phase
    column, sum_of, sums = curve.column, curve.sum_of, curve.sums
    first = 0
    for i in range(len(phase)):
        begin, end = np.uint64(row[i]), np.uint64(row[i + 1])
        _add_up(rows, i, table[phase[i]], curve)
        saved[:] = sums
        here = _combine(curve)
        for c in range(first, ends[i]):
            for stage in range(len(shares)):
                for down in range(2):
                    change = (-step if down == 1 else step) * shares[stage, phase[i]]
                    sums[:] = saved
                    for k in range(begin, end):
                        if column[index[k]] == chosen[c]:
                            sums[sum_of[index[k]]] += change * count[k]
                    out[2 * (len(shares) * c + stage) + down] = _combine(curve) - here
        first = ends[i]
