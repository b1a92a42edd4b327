"""The compilation unit of networks: an edit to any of its sources compiles all of it again."""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from llvmlite import ir
from numba.core import types

from games.bits import lowest, without_lowest
from games.compile import jit
from games.compile.jit import DATA

SOURCES = [
    *jit.modules("games", "bits"),
    *jit.modules("tuner.evaluation.networks", "compiled model players td"),
]
NETWORKS = jit.Unit("networks", lambda: SOURCES)
inner = NETWORKS.inner
entry = NETWORKS.entry


LINEAR, RELU, TANH, SIGMOID = range(4)
LANES = 64
floats = types.Array(types.float32, 1, "C")
pointer = types.CPointer(types.float32)
numbers = types.Array(types.int64, 1, "C")
counts_type = types.Array(types.int32, 1, "C")

# exp(x) = 2^n * 2^f with f in [-1/2, 1/2]; the coefficients of 2^f are ln(2)^k / k!
LOG2_E = np.float32(1.4426950408889634)
C1, C2, C3, C4, C5, C6 = (
    np.float32(0.6931471805599453**k / factorial)
    for k, factorial in zip(range(1, 7), (1, 2, 6, 24, 120, 720), strict=True)
)
ONE, TWO, ZERO = np.float32(1), np.float32(2), np.float32(0)
HIGHEST = np.float32(30)  # beyond it a sigmoid is 0 or 1 in single precision
# a float32 plus this one is rounded to a whole number, which is in its lowest bits
ROUNDS = np.float32(3 << 22)

_I32 = ir.IntType(32)


def _power(builder, values):
    bits = builder.shl(builder.bitcast(values[0], _I32), _I32(23))
    return builder.bitcast(builder.add(bits, _I32(127 << 23)), ir.FloatType())


@jit.intrinsic(types.float32, (types.float32,), _power)
def power_of_two(rounded):
    """Return 2^n for n + ROUNDS: n moves into the exponent. Loops with it are vectorized, unlike
    those with exp or floor."""
    return np.float32(2.0 ** (float(rounded) - float(ROUNDS)))


@inner(types.float32(types.float32), forceinline=True)
def sigmoid(x):
    """Return 1 / (1 + exp(-x)) to the precision of float32."""
    t = -min(max(x, -HIGHEST), HIGHEST) * LOG2_E
    rounded = t + ROUNDS
    f = t - (rounded - ROUNDS)
    power = ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
    return ONE / (ONE + power * power_of_two(rounded))


@inner(types.void(pointer, types.int64, types.int64))
def activate(outs, width, kind):
    """Apply an activation in place."""
    if kind == SIGMOID:
        for j in range(width):
            outs[j] = sigmoid(outs[j])
    elif kind == TANH:
        for j in range(width):
            outs[j] = TWO * sigmoid(TWO * outs[j]) - ONE
    elif kind == RELU:
        for j in range(width):
            outs[j] = max(outs[j], ZERO)


@inner(types.void(pointer, types.float32, pointer, types.int64), forceinline=True)
def add_times(target, factor, row, width):
    """Add factor times a row to the target."""
    for j in range(width):
        target[j] += factor * row[j]


@inner(types.float32(pointer, pointer, types.int64), fastmath={"reassoc"})
def dot(a, b, n):
    total = ZERO
    for i in range(n):
        total += a[i] * b[i]
    return total


@inner(
    types.void(
        numbers, floats, floats, counts_type, types.int64, counts_type, types.int64, floats, floats
    )
)
def first_sums(shape, units, weights, base, base_start, row, start, base_sums, sums):
    """Write the sums of the first layer for a row from those of `base`. The rows begin at the
    starts."""
    inputs, width = shape[0], shape[1]
    for j in range(width):
        sums[j] = base_sums[j]
    for chunk in range(0, inputs, LANES):
        changed = different(row, base, start + chunk, base_start + chunk)
        while changed:
            i = chunk + lowest(changed)
            step = np.float32(row[start + i] - base[base_start + i]) * units[i]
            add_times(floats_at(sums, 0), step, floats_at(weights, i * width), width)
            changed = without_lowest(changed)


@inner(types.float32(numbers, floats, floats))
def follow(shape, weights, outs):
    """Continue from the sums of the first layer at the start of `outs`; return the first output of
    the last layer."""
    width = shape[1]
    activate(floats_at(outs, 0), width, shape[2])
    # where the outputs of the last layer are, and the weights of the next
    first, at = 0, (shape[0] + 1) * width
    for k in range(3, len(shape), 2):
        before, width = width, shape[k]
        then = first + before
        biases = at + before * width
        if width == 1:
            outs[then] = weights[biases] + dot(
                floats_at(outs, first), floats_at(weights, at), before
            )
        else:
            for j in range(width):
                outs[then + j] = weights[biases + j]
            for i in range(before):
                add_times(
                    floats_at(outs, then),
                    outs[first + i],
                    floats_at(weights, at + i * width),
                    width,
                )
        activate(floats_at(outs, then), width, shape[k + 1])
        first, at = then, biases + width
    return outs[first]


@inner(
    types.float32(numbers, floats, floats, counts_type, types.int64, counts_type, floats, floats)
)
def forward(shape, units, weights, row, start, zeros, outs, biases):
    """Return the first output for a row of counts, and write all outputs; `zeros` is a row of
    zeros, `biases` scratch."""
    width = shape[1]
    for j in range(width):
        biases[j] = weights[shape[0] * width + j]
    first_sums(shape, units, weights, zeros, 0, row, start, biases, outs)
    return follow(shape, weights, outs)


@entry(
    types.void(
        numbers,
        floats,
        floats,
        counts_type,
        counts_type,
        floats,
        floats,
        types.Array(types.float32, 2, "C"),
    )
)
def outputs(shape, units, weights, rows, zeros, outs, biases, out):
    """Write the outputs (n, outputs) for rows of counts, each padded like `zeros`."""
    n, width = out.shape
    for i in range(n):
        forward(shape, units, weights, rows, i * len(zeros), zeros, outs, biases)
        for j in range(width):
            out[i, j] = outs[len(outs) - width + j]


@inner(types.float32(types.float32, types.int64), forceinline=True)
def slope(out, kind):
    """Return the derivative of an activation from its value."""
    if kind == SIGMOID:
        return out * (ONE - out)
    if kind == TANH:
        return ONE - out * out
    if kind == RELU:
        return ONE if out > ZERO else ZERO
    return ONE


@inner(types.void(numbers, floats, floats, floats))
def backward(shape, weights, outs, errors):
    """Write the derivatives of the only output by the sums of every layer to `errors`, in the order
    of `outs`."""
    last = len(shape) - 2
    first, at = len(outs) - 1, len(weights)
    errors[first] = slope(outs[first], shape[last + 1])
    for k in range(last, 1, -2):
        width, before, kind = shape[k], shape[k - 2], shape[k - 1]
        at -= (before + 1) * width
        then = first
        first -= before
        for i in range(before):
            error = dot(floats_at(errors, then), floats_at(weights, at + i * width), width)
            errors[first + i] = error * slope(outs[first + i], kind)


@inner(
    types.void(
        numbers,
        floats,
        floats,
        floats,
        counts_type,
        types.int64,
        counts_type,
        types.float32,
        floats,
    )
)
def add_gradient(shape, units, outs, errors, row, start, zeros, factor, target):
    """Add factor times the gradient to `target`, which has the order of the weights; `errors` are
    those of `backward`."""
    inputs, width = shape[0], shape[1]
    for chunk in range(0, inputs, LANES):
        present = different(row, zeros, start + chunk, chunk)
        while present:
            i = chunk + lowest(present)
            step = factor * np.float32(row[start + i]) * units[i]
            add_times(floats_at(target, i * width), step, floats_at(errors, 0), width)
            present = without_lowest(present)
    at = inputs * width
    add_times(floats_at(target, at), factor, floats_at(errors, 0), width)
    at += width
    first = 0
    for k in range(3, len(shape), 2):
        before, width = shape[k - 2], shape[k]
        then = first + before
        for i in range(before):
            add_times(
                floats_at(target, at), factor * outs[first + i], floats_at(errors, then), width
            )
            at += width
        add_times(floats_at(target, at), factor, floats_at(errors, then), width)
        at += width
        first = then


I64 = types.int64
_I64, _INT32 = ir.IntType(64), ir.IntType(32)

call_start = jit.address_call(I64, (I64, I64, I64))  # position, seed, game: the first roll
call_way = jit.address_call(I64, (I64, I64, I64))  # seed, game, ply: a roll
# position, roll, positions, scratch: how many
call_afterstates = jit.address_call(I64, (I64, I64, I64, I64))
# position: points of the first player, 0 before the end
call_points = jit.address_call(I64, (I64,))
call_write = jit.address_call(I64, (I64, I64))  # position, row: how many counts
# position, afterstates, how many, data: the index of one
call_choose = jit.address_call(I64, (I64, I64, I64, I64))


class WholeGames(Protocol):
    """A game with chance as compiled loops call it: compiled functions, see the calls above, and
    their sizes."""

    start: Any
    way: Any
    afterstates: Any
    points: Any
    words: int  # of a position
    scratch: int  # words of memory for afterstates, and as many for its own use
    ways: np.ndarray  # (n,) int64, rolls that differ, and
    chances: np.ndarray  # (n,) float64, how likely each is
    first_chances: np.ndarray  # (n,) float64, how likely each is at the start
    most_points: int
    players: dict[
        str, Any
        # players of the game by name, see `call_choose`; that of `random` takes a seed as data
    ]


def address_of(function: Any) -> Any:
    """Return the address of a compiled function; in plain Python the function."""
    return function if jit.PLAIN else function.address()


def memory_of(array: np.ndarray) -> Any:
    """Return the address of an array, which the caller keeps alive; in plain Python the array."""
    return array if jit.PLAIN else array.ctypes.data


class GameMemory(NamedTuple):
    """A game as compiled loops call it, `start` to `points` at their addresses, and memory for a
    position and its afterstates."""

    start: Any
    way: Any
    afterstates: Any
    points: Any
    words: int
    ways: np.ndarray
    chances: np.ndarray
    first_chances: np.ndarray
    position: np.ndarray
    found: np.ndarray
    scratch: np.ndarray


words_type = types.Array(types.uint64, 1, "C")
chances_type = types.Array(types.float64, 1, "C")
game_type = jit.record(
    GameMemory,
    *(I64, I64, I64, I64, I64, numbers, chances_type, chances_type),
    *(words_type, words_type, words_type),
)


def memory_of_game(games: WholeGames) -> GameMemory:
    """Return the memory of a loop over whole games, for one thread."""
    return GameMemory(
        address_of(games.start),
        address_of(games.way),
        address_of(games.afterstates),
        address_of(games.points),
        games.words,
        games.ways,
        games.chances,
        games.first_chances,
        np.zeros(games.words, np.uint64),
        np.zeros(games.scratch, np.uint64),
        np.zeros(games.scratch, np.uint64),
    )


def _number(builder, values):
    return builder.ptrtoint(builder.gep(builder.extract_value(values[0], DATA), [values[1]]), _I64)


def _at(kind):
    def place(array, offset):
        """Return the address of an entry of an array as a number; in plain Python the rest of the
        array."""
        return array[offset:]

    return jit.intrinsic(I64, (types.Array(kind, 1, "C"), I64), _number)(place)


words_at, row_at = _at(types.uint64), _at(types.int32)


@inner(types.void(I64, I64, I64, counts_type, I64), forceinline=True)
def write_inputs(write, more, position, rows, start):
    """Write the counts of a position to the row that begins at `start`, and if there are `more`,
    those after them."""
    written = call_write(write, position, row_at(rows, start))
    if more:
        call_write(more, position, row_at(rows, start + written))


def _array(kind, size: int):
    def build(builder, values):
        pointer = ir.IntType(8).as_pointer()
        item = {
            types.uint64: _I64,
            types.int64: _I64,
            types.int32: _INT32,
            types.float32: ir.FloatType(),
        }[kind]
        one = ir.ArrayType(_I64, 1)
        shape = builder.insert_value(ir.Constant(one, ir.Undefined), values[1], 0)
        array = ir.Constant(
            ir.LiteralStructType([pointer, pointer, _I64, _I64, item.as_pointer(), one, one]),
            ir.Undefined,
        )
        parts = (
            pointer(None),
            pointer(None),
            values[1],
            _I64(size),
            builder.inttoptr(values[0], item.as_pointer()),
            shape,
            ir.Constant(one, [size]),
        )
        for place, value in enumerate(parts):
            array = builder.insert_value(array, value, place)
        return array

    @jit.intrinsic(types.Array(kind, 1, "C"), (I64, I64), build)
    def array_of(address, length):
        """Return the numbers at an address as an array; in plain Python the array itself."""
        return address

    return array_of


words_of, numbers_of, row_of, floats_of = (
    _array(kind, size)
    for kind, size in ((types.uint64, 8), (types.int64, 8), (types.int32, 4), (types.float32, 4))
)


def _load(builder, values):
    return builder.load(builder.gep(builder.inttoptr(values[0], _I64.as_pointer()), [values[1]]))


@jit.intrinsic(I64, (I64, I64), _load)
def number_of(address, i):
    """Return number i of those at an address; in plain Python item i of a list."""
    return address[i]


class NetworkArrays(NamedTuple):
    """A network in compiled code: `write`, `more` (see `write_inputs`) and `points` at their
    addresses, whether outputs are for the side to move, the words of a position, the points of an
    output of 1, the network, memory, and two numbers, see `of_share`."""

    write: Any
    more: Any
    for_mover: Any
    words: Any
    points: Any
    most: Any
    shape: np.ndarray
    units: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    zeros: np.ndarray
    sums: np.ndarray
    outs: np.ndarray
    shares: np.ndarray


network_type = jit.record(
    NetworkArrays,
    *(I64, I64, I64, I64, I64, I64, numbers, floats, floats),
    *(counts_type, counts_type, floats, floats, floats),
)


def packed(network: NetworkArrays) -> Any:
    """Return numbers, and addresses and lengths of arrays, in memory, as `network_at` reads them;
    in plain Python the record."""
    if jit.PLAIN:
        return network
    addresses: list[int] = []
    for value in network:
        addresses += (value.ctypes.data, len(value)) if isinstance(value, np.ndarray) else (value,)
    return np.array(addresses, np.int64)


@inner(network_type(I64), forceinline=True)
def _unpacked(data):
    return NetworkArrays(
        number_of(data, 0),
        number_of(data, 1),
        number_of(data, 2),
        number_of(data, 3),
        number_of(data, 4),
        number_of(data, 5),
        numbers_of(number_of(data, 6), number_of(data, 7)),
        floats_of(number_of(data, 8), number_of(data, 9)),
        floats_of(number_of(data, 10), number_of(data, 11)),
        row_of(number_of(data, 12), number_of(data, 13)),
        row_of(number_of(data, 14), number_of(data, 15)),
        floats_of(number_of(data, 16), number_of(data, 17)),
        floats_of(number_of(data, 18), number_of(data, 19)),
        floats_of(number_of(data, 20), number_of(data, 21)),
    )


def _itself(data):
    return data


network_at = _itself if jit.PLAIN else _unpacked


def _different(builder, values):
    lanes = ir.VectorType(_INT32, 64)
    rows = [
        builder.load(
            builder.bitcast(
                builder.gep(builder.extract_value(each, DATA), [start]), lanes.as_pointer()
            ),
            align=4,
        )
        for each, start in zip(values[:2], values[2:], strict=True)
    ]
    return builder.bitcast(builder.icmp_unsigned("!=", *rows), _I64)


_row_type = types.Array(types.int32, 1, "C")


@jit.intrinsic(types.uint64, (_row_type, _row_type, I64, I64), _different)
def different(a, b, a_start, b_start):
    """Return in which of 64 numbers two rows differ, each from its own start, as a bit set."""
    return np.uint64(sum(1 << i for i in range(64) if a[a_start + i] != b[b_start + i]))


@jit.intrinsic(
    types.CPointer(types.float32),
    (types.Array(types.float32, 1, "C"), I64),
    lambda builder, values: builder.gep(builder.extract_value(values[0], DATA), [values[1]]),
)
def floats_at(array, offset):
    """Return the address of an entry of an array: loops over it are vectorized, since no index can
    be negative. In plain Python the rest of the array."""
    return array[offset:]


# in steps: the search clamps evaluations, and larger ones would not fit
MAX_SCORE, HALF = np.float32(1 << 28), np.float32(0.5)
TURN = np.uint64(1)


@inner(types.float32(types.float32, types.float32, types.float32))
def of_share(half_logit, share, steps):
    """Return atanh(share * tanh(half_logit)) * steps."""
    value = np.float64(share * (TWO * sigmoid(TWO * half_logit) - ONE))
    return np.float32(0.5 * math.log((1.0 + value) / (1.0 - value)) * steps)


@inner(I64(I64, I64))
def steps_of(position, data):
    """Return the evaluation of the position at an address for the side to move, in steps of 1/256
    centipawn. `data`: see `network_at`."""
    net = network_at(data)
    write_inputs(net.write, net.more, position, net.rows, 0)
    found = forward(net.shape, net.units, net.weights, net.rows, 0, net.zeros, net.outs, net.sums)
    shares = net.shares
    if shares[0] < ONE:
        found = of_share(found, shares[0], shares[1])
    if not net.for_mover and words_of(position, net.words)[net.words - 1] & TURN:
        found = -found
    return np.int64(np.floor(min(max(found, -MAX_SCORE), MAX_SCORE) + HALF))


@entry(I64(I64, I64, I64))
def score(position, data, sums):
    """Evaluate the position at an address for the side to move; `sums`, memory of a different kind
    of evaluation, is not used."""
    return steps_of(position, data)


@entry(types.void(types.Array(types.uint64, 1, "C"), I64, I64, types.Array(types.int64, 1, "C")))
def scores(positions, words, data, out):
    """Evaluate positions for the side to move in each."""
    for i in range(len(out)):
        out[i] = steps_of(words_at(positions, i * words), data)
