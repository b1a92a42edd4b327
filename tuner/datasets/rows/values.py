"""The common part of all formats of rows: blocks of lines, names of columns, and values,
checked."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

import numpy as np

from games.streams import LONGEST_LINE, UTF8_MARK, InputError, one_line, pieces
from tuner.parameters.parameters import MOST_COLUMNS, Layout, Parameters, Place, in_order
from tuner.parameters.writer import STAGES, usual_phases, zeros

BLOCK = 1 << 22  # bytes


def blocks(source: str, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the decompressed text of a file in blocks of about `size` bytes that end with a line
    end, without byte order mark.

    UTF-16 text is converted. InputError for damaged archives and lines of more than LONGEST_LINE
    bytes."""
    parts: list[bytes] = []
    held, begun = 0, False
    for piece in pieces(source):
        if not begun and piece:
            piece, begun = piece.removeprefix(UTF8_MARK), True
        parts.append(piece)
        held += len(piece)
        if held < size or b"\n" not in piece:
            if held > LONGEST_LINE:
                raise InputError(
                    f"{source}: a line of more than {LONGEST_LINE:,} bytes; expected lines of text,"
                    " one for each position; check that this file holds rows"
                )
            continue
        whole, end, rest = piece.rpartition(b"\n")
        yield b"".join([*parts[:-1], whole, end])
        parts, held = [rest], len(rest)
    if last := b"".join(parts):
        yield last if last.endswith(b"\n") else last + b"\n"


@dataclass(frozen=True)
class FoundRows:
    """Names and shapes of what rows count, the largest phase (None: the rows have no phases), and
    the number of rows."""

    layout: Layout
    phases: int | None
    rows: int

    def parameters(
        self, game: str, stages: tuple[str, ...] | None = None, phases: int | None = None
    ) -> Parameters:
        """Return parameters of these names with zeros; stages and steps of the phase are those that
        the rows suggest unless they are given."""
        usual = STAGES if self.phases is not None else ("all",)
        return zeros(game, self.layout, stages or usual, phases or usual_phases(self.phases or 0))


FIELDS = ("fen", "game", "opening", "result", "eval", "score", "phase", "rest", "scale", "factor")
DEFAULT_TERM = "rows"  # of names without a term, where there is no parameter file
LABEL = re.compile(r"(?:(\w+)\.)?(\w+)((?:\[\d{1,8}\])*)")
LONGEST_SHOWN = 60


def shown(value: object) -> str:
    """Return a value from a file for an error message: on one line, shortened."""
    text = one_line(value if isinstance(value, str) else repr(value))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


class Names:
    """The columns of a layout by the names that rows use: `term.name[i]`, or `name[i]` where one
    term alone has that name. A single number may be `name[0]`, and a table have one index: in
    `name[8][8]`, `name[12]` is `name[1][4]`."""

    def __init__(self, layout: Layout) -> None:
        self.labels = layout.labels()
        self.columns = {label: column for column, label in enumerate(self.labels)}
        terms: dict[str, set[str]] = {}
        for place in layout.places:
            terms.setdefault(place.name, set()).add(place.term)
        self.ambiguous = {name: sorted(found) for name, found in terms.items() if len(found) > 1}
        for place in layout.places:
            if len(place.shape) != 1:
                for k in range(place.size):
                    self.columns[f"{place.path}[{k}]"] = place.first + k
        self.columns |= {
            bare: column
            for label, column in self.columns.items()
            if (bare := label.partition(".")[2]).partition("[")[0] not in self.ambiguous
        }

    def unknown(self, name: str, fields: Iterable[str] = ()) -> str:
        """Return the error for a name that is neither a column of the layout nor one of these
        fields near."""
        bare = name.partition("[")[0]
        if bare in self.ambiguous:
            return (
                f"{shown(name)!r} is in several terms; write"
                f" {' or '.join(f'{term}.{bare}' for term in self.ambiguous[bare])}"
            )
        near = get_close_matches(name[:200], [*fields, *self.columns], 2, 0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return (
            f"{shown(name)!r} is not a number of the parameter"
            f" file{hint or '; correct the name, or add it to the file'}"
        )


def layout_of_names(names: Iterable[str], source: str) -> Layout:
    """Return the layout that names such as `term.name[i][j]` make up, in the order of their first
    occurrence.

    A name without a term belongs to the term `rows`. Arrays begin at 0. InputError for names of a
    different form."""
    shapes: dict[tuple[str, str], tuple[int, ...]] = {}
    for name in names:
        match = LABEL.fullmatch(name)
        if (
            not match
            or not (match[1] or DEFAULT_TERM).isidentifier()
            or not match[2].isidentifier()
        ):
            raise InputError(
                f"{source}: the name {shown(name)!r}; expected the form term.name or"
                " term.name[index]; rename it"
            )
        key = match[1] or DEFAULT_TERM, match[2]
        place = tuple(int(index) for index in re.findall(r"\d+", match[3]))
        shape = shapes.setdefault(key, (0,) * len(place))
        if len(shape) != len(place):
            raise InputError(
                f"{source}: {'.'.join(key)} has {_indices(len(place))} in {shown(name)!r} and"
                f" {_indices(len(shape))} elsewhere; expected as many in each row; rename one of"
                " them"
            )
        shapes[key] = tuple(max(most, index + 1) for most, index in zip(shape, place, strict=True))
    # names of one term are consecutive
    terms = {term: i for i, term in reversed(list(enumerate(term for term, _ in shapes)))}
    places, last = [], 0
    for (term, name), shape in sorted(shapes.items(), key=lambda item: terms[item[0][0]]):
        places.append(Place(term, name, shape))
        last += places[-1].size
        if last > MOST_COLUMNS:
            raise InputError(
                f"{source}: {term}.{name} has the shape {list(shape)}, which makes more than"
                f" {MOST_COLUMNS:,} numbers in all; expected indices that begin at 0; renumber them"
            )
    if not places:
        raise InputError(
            f"{source}: no counts; expected rows that count something; give at least one named"
            " column"
        )
    return Layout(in_order(places))


def _indices(number: int) -> str:
    return f"{number} {'index' if number == 1 else 'indices'}" if number else "no index"


LARGEST_COUNT = 1e6
LARGEST_CENTIPAWNS = 1e6
LARGEST_SCALE = 16.0  # of the last stage
LARGEST_PHASE, LARGEST_NAMED = 65535, "the `phases` of the parameter file"
DROP_IT = "leave it out"  # what to do about a field that rows need not have
LONGEST_TEXT = 1000  # characters of a position
OWN_GAME = 0xE5A1 << 48  # the highest bits of the identity of a row that names no game
OWN_FACTOR, OWN_MASK = 0x9E3779B97F4B, (1 << 48) - 1  # odd: no two rows get the same identity
RESULTS = {
    "1-0": 1.0,
    "0-1": -1.0,
    "1/2-1/2": 0.0,
    "1/2": 0.0,
    "½-½": 0.0,
    "1": 1.0,
    "0": -1.0,
    "0.5": 0.0,
    "1.0": 1.0,
    "0.0": -1.0,
    "": math.nan,
    "*": math.nan,
}
WHOLE = re.compile(r"-?\d{1,20}")
EXPECTED_RESULT = "expected the first player's share, 0 to 1, or 1-0, 1/2-1/2, 0-1"
EXPECTED_GAME = "expected a whole number of 64 bits or a text"
Where = Callable[[int], str]  # file and line of a row of a batch


@dataclass(frozen=True)
class ExpectedRows:
    """How to read the rows of a file: a layout, the number of stages, and the steps of the
    phase (None: any number)."""

    layout: Layout
    stages: int = 2
    phases: int | None = None


def own_games(first: int, n: int) -> np.ndarray:
    """Return identities (n,) uint64 of rows that belong to no named game; `first` is the index of
    the first row in its file."""
    numbers = np.arange(first, first + n, dtype=np.uint64) * np.uint64(OWN_FACTOR)
    return np.uint64(OWN_GAME) | (numbers & np.uint64(OWN_MASK))


def game_of(value: object) -> int | None:
    """Return the identity (64 bits) of the game that a number or text names; None for other values.

    Whole numbers are their own identity, negative ones in two's complement. Texts are hashed.
    """
    if isinstance(value, str):
        if not WHOLE.fullmatch(value) or not -(1 << 63) <= int(value) < 1 << 64:
            return (
                int.from_bytes(
                    hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=8).digest(),
                    "little",
                )
                >> 1
            )
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 64:
        return value & ((1 << 64) - 1)
    return None


def outcome_of(value: object) -> float | None:
    """Return the outcome in [-1, 1] for a result (a share, or 1-0 ...), NaN if it is unknown, None
    if this is no result."""
    if isinstance(value, str):
        word = value.strip()
        if word in RESULTS:
            return RESULTS[word]
        try:
            value = math.nan if "_" in word else float(word)
        except ValueError:
            return None
        if math.isnan(value):
            return math.nan if word.lower() == "nan" else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return 2.0 * value - 1.0


def checked(batch: RowBatch, expected: ExpectedRows, where: Where) -> RowBatch:
    """Return a valid batch: columns in ascending order, no zeros. InputError names the row of the
    first wrong number."""
    batch = _ordered(batch, expected, where)
    _check_counts(batch, expected, where)
    _check_numbers(batch, where)
    if expected.stages == 1:
        batch = batch._replace(phase=np.zeros_like(batch.phase))
    _check_phase(batch.phase, expected.phases, where)
    if batch.text is not None:
        _check_text(batch.text, where)
        if not any(batch.text):
            batch = batch._replace(text=None)
    if len(batch.count) and not batch.count.all():
        kept = batch.count != 0
        before = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(kept, out=before[1:])
        batch = batch._replace(
            index=batch.index[kept], count=batch.count[kept], row=before[batch.row]
        )
    return batch


def refuse(where: str, found: str, expected: str, advice: str) -> NoReturn:
    """Raise the InputError of a row."""
    raise InputError(f"{where}: {found}; expected {expected}; {advice}")


def _row_of(batch: RowBatch, nonzero: int) -> int:
    return int(np.searchsorted(batch.row, nonzero, "right")) - 1


def _ordered(batch: RowBatch, expected: ExpectedRows, where: Where) -> RowBatch:
    """Sort the columns of each row if need be, and refuse columns that the layout lacks and columns
    given twice."""
    index, columns = batch.index, expected.layout.size
    if len(index) == 0:
        return batch
    if int(index.min()) < 0 or int(index.max()) >= columns:
        at = int(np.argmax((index < 0) | (index >= columns)))
        refuse(
            where(_row_of(batch, at)),
            f"column {int(index[at])} (from 0)",
            f"columns below {columns}, the parameter file's",
            "use the parameter file that these rows were made for",
        )
    step = np.diff(index) > 0
    starts = batch.row[1:-1]
    step[starts[(starts > 0) & (starts < len(index))] - 1] = True
    if step.all():
        return batch
    of = np.repeat(np.arange(len(batch.phase)), np.diff(batch.row))
    order = np.lexsort((index, of))
    index, count = index[order], batch.count[order]
    twice = (np.diff(index) == 0) & (np.diff(of) == 0)
    if twice.any():
        at = int(np.argmax(twice))
        refuse(
            where(int(of[at])),
            f"{expected.layout.labels()[index[at]]} is there twice",
            "each column once in a row",
            "add the two counts up",
        )
    return batch._replace(index=index, count=count)


def _check_counts(batch: RowBatch, expected: ExpectedRows, where: Where) -> None:
    count = batch.count
    if len(count) and not max(count.max(), -count.min()) <= LARGEST_COUNT:  # also for NaN
        at = int(np.argmin(np.abs(count) <= LARGEST_COUNT))
        refuse(
            where(_row_of(batch, at)),
            f"the count of {expected.layout.labels()[batch.index[at]]} is {number_text(count[at])}",
            f"a number between {-LARGEST_COUNT:,.0f} and {LARGEST_COUNT:,.0f}",
            "correct it",
        )


def _check_numbers(batch: RowBatch, where: Where) -> None:
    centipawns = f"centipawns between {-LARGEST_CENTIPAWNS:,.0f} and {LARGEST_CENTIPAWNS:,.0f}"
    for name, values, wrong, expected in (
        ("result", batch.outcome, np.abs(batch.outcome) > 1, "a share of 0 to 1"),
        ("rest", batch.rest, ~(np.abs(batch.rest) <= LARGEST_CENTIPAWNS), centipawns),
        (
            "scale",
            batch.scale,
            ~((batch.scale >= 0) & (batch.scale <= LARGEST_SCALE)),
            f"a factor of 0 to {LARGEST_SCALE:g}",
        ),
        ("eval", batch.evaluation, np.abs(batch.evaluation) > LARGEST_CENTIPAWNS, centipawns),
        (
            "score",
            batch.score,
            (np.abs(batch.score) > LARGEST_CENTIPAWNS) & ~np.isinf(batch.score),
            f"{centipawns}, or inf or -inf for a mate",
        ),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            value = (values[at] + 1) / 2 if name == "result" else values[at]
            refuse(where(at), f"{name} is {number_text(value)}", expected, "correct it")


def _check_phase(phase: np.ndarray, phases: int | None, where: Where) -> None:
    most = LARGEST_PHASE if phases is None else phases
    if len(phase) and (phase.min() < 0 or phase.max() > most):
        at = int(np.argmax((phase < 0) | (phase > most)))
        refuse(
            where(at),
            f"phase is {phase[at]}",
            f"a whole number of 0 to {most if phases or phase[at] > most else LARGEST_NAMED}, steps"
            " of the first stage",
            (
                "limit the phase as the evaluation does, or correct the number of steps"
                if phases is not None
                else "correct it"
            ),
        )


def _check_text(text: list[str], where: Where) -> None:
    if max(map(len, text), default=0) > LONGEST_TEXT:
        at = next(i for i, word in enumerate(text) if len(word) > LONGEST_TEXT)
        refuse(
            where(at),
            f"a position of {len(text[at]):,} characters",
            f"at most {LONGEST_TEXT:,}",
            DROP_IT,
        )
    if not "".join(text).isprintable():
        at = next(i for i, word in enumerate(text) if not word.isprintable())
        refuse(
            where(at),
            f"the position {shown(text[at])!r} contains a control character",
            "one line of text",
            DROP_IT,
        )


def phases_from(values: np.ndarray, where: Where) -> np.ndarray:
    """Return phases as int64 from numbers that must be whole; NaN is a phase that is missing."""
    wrong = ~(values == np.floor(values)) | (np.abs(values) > 1e15)
    if wrong.any():
        at = int(np.argmax(wrong))
        problem = "no phase" if np.isnan(values[at]) else f"phase is {number_text(values[at])}"
        refuse(
            where(at),
            problem,
            f"a whole number of 0 to {LARGEST_PHASE}, steps of the first stage",
            (
                "write it, or use a parameter file of one stage"
                if np.isnan(values[at])
                else "correct it"
            ),
        )
    return values.astype(np.int64)


def number_text(value: float) -> str:
    """Return a number for an error message."""
    return f"{value:g}"


class RowBatch(NamedTuple):
    """n positions. The nonzeros of position i are row[i] to row[i + 1] of `index` and `count`.

    The evaluation is rest + share * (counts · first stage) + (1 - share) * scale * (counts · last
    stage), with share = phase / phases. All numbers are of the first player's view, in centipawns
    of the engine that counted."""

    index: Any  # (nonzeros,) int32 columns of the layout, ascending within a position
    count: Any  # (nonzeros,) float32, of the first player minus the second
    row: np.ndarray  # (n + 1,) int64, from 0
    phase: np.ndarray  # (n,) int64 steps of the first stage, at least 0
    outcome: np.ndarray  # (n,) float32 in [-1, 1], NaN if unknown
    rest: np.ndarray  # (n,) float32, the part of the evaluation that is not tuned
    scale: np.ndarray  # (n,) float32, factor of the last stage, at least 0
    evaluation: np.ndarray  # (n,) float32, the engine's static evaluation; NaN if unknown
    score: np.ndarray  # (n,) float32, the score of a search; NaN if unknown, infinite for a mate
    game: np.ndarray  # (n,) uint64 identity of the game; positions of a game are consecutive
    text: list[str] | None = None  # the positions, FEN for chess; "" where unknown
    # (n,) uint64 identity of the opening of the game; None: each game has its own
    opening: np.ndarray | None = None

    @property
    def openings(self) -> np.ndarray:
        """The identity of the opening (n,) of each position."""
        return self.game if self.opening is None else self.opening
