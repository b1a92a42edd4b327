"""Faults of rows that are changes of the weights: one regression finds the few that explain how
evaluations differ from rest + counts · weights.

An engine that has half of a term, exchanges its stages, reads a table from the other end or has one
number more evaluates as the rows with other weights would: the fault is a direction in the space of
weights. Constants, and tables that are turned for one side alone, are columns of their own. The
directions are chosen one after another by orthogonal least squares (Chen, Billings and Luo, 1989),
and each is chosen again once the others are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, diags_array

from tuner.datasets.rows.sample import EXPLAINED, RowFault, Trial
from tuner.parameters.parameters import Layout, Place

MOST_SEARCHED = 8192  # rows in which changes are looked for before they are verified in all
SNAPPED = (-1.0, 0.0, 1 / 3, 0.5, 1.5, 2.0, 3.0)  # factors that have a plain cause
NEAR = 0.04  # of those
NEAR_ONE = 0.3  # of the size of a change that happens or does not, while others are not known
NEAR_WHOLE = 0.25  # of a weight that is corrected, since engines have whole weights
LEAST_FACTOR = 0.005  # from 1: less is rounding
LEAST_CONSTANT = 1.0  # centipawns
ALIKE, SLACK = 1.02, 0.01  # squares that remain, by which changes are as good
INDEPENDENT = 1e-6  # share of the squares of a direction that others do not have
MOST_PASSES = 4  # of choosing changes again
LONG = 3  # axes of tables that can be turned
ONE_SIDED = 0.5  # rows where both sides have the same count hide a table turned for one of them


class ColumnGroup(NamedTuple):
    """Columns whose counts may be wrong together: a parameter, a term of several, or all."""

    name: str
    columns: np.ndarray
    place: Place | None = None

    @property
    def single(self) -> bool:
        """Whether it is one number."""
        return len(self.columns) == 1


Unused = Sequence[tuple[str, np.ndarray]]  # names and columns of what no row counts
Direction = np.ndarray | Callable[[Trial], np.ndarray]


class Change(NamedTuple):
    """A possible fault: its kind, its group, and a size to find for each of its directions: a
    change (stages, k) of the weights of the group, or a function to what is added to the
    evaluations (n,). `whole`: it happens or does not, so that its size is 1. `what` is for its
    sentence, `least` the share of the rows that it has to explain."""

    kind: str
    group: ColumnGroup
    directions: tuple[Direction, ...]
    whole: bool = False
    what: str = ""
    least: float = EXPLAINED

    @property
    def is_unit(self) -> bool:
        """Whether it multiplies the whole evaluation."""
        return self.kind == "factor" and not self.group.name

    def added(self, trial: Trial, sizes: Sequence[float]) -> np.ndarray:
        """Return what it adds to the evaluations (n,) with these sizes."""
        total = np.zeros(len(trial.difference))
        counts = trial.sample.counts[:, self.group.columns]
        for size, direction in zip(sizes, self.directions, strict=True):
            if callable(direction):
                total += size * direction(trial)
            else:
                total += size * (trial.sample.factors * (counts @ direction.T).T).sum(axis=0)
        return total


def groups_of(layout: Layout) -> list[ColumnGroup]:
    """Return a group for each parameter, one for each term of several parameters, and one of
    all."""

    def columns(places: Sequence[Place]) -> np.ndarray:
        return np.concatenate(
            [np.arange(place.first, place.first + place.size) for place in places]
        )

    terms: dict[str, list[Place]] = {}
    for place in layout.places:
        terms.setdefault(place.term, []).append(place)
    return [
        *(ColumnGroup(place.path, columns([place]), place) for place in layout.places),
        *(ColumnGroup(term, columns(few)) for term, few in terms.items() if len(few) > 1),
        ColumnGroup("", np.arange(layout.size)),
    ]


def _only(values: np.ndarray, stage: int) -> np.ndarray:
    """Return values (stages, k) of one stage, and 0 for the others."""
    return np.where(np.arange(len(values))[:, None] == stage, values, 0.0)


def changes_of(trial: Trial, layout: Layout) -> list[Change]:
    """Return the possible changes, the plainest first: of those that are as good, that is named."""
    stages, groups = range(len(trial.weights)), groups_of(layout)
    weights = [(group, trial.weights[:, group.columns]) for group in groups]
    # a list of which one number is not 0 is that number
    of = [
        (group, own)
        for group, own in weights
        if group.single or np.count_nonzero(own.any(axis=0)) > 1
    ]
    found = [
        *(Change("factor", group, (own,)) for group, own in of),
        Change("constant", groups[-1], (lambda trial: np.ones(len(trial.difference)),)),
        Change("tempo", groups[-1], (lambda trial: trial.sample.side.astype(np.float64),)),
    ]
    if len(stages) > 1:
        found += [Change("exchanged", group, (own[::-1] - own,), True) for group, own in of]
        found += [
            Change("one stage", group, (_only(own[other] - own, stage),), True, f"{other} {stage}")
            for group, own in of
            for other in stages
            for stage in stages
            if other != stage and not group.single
        ]
        found += [
            Change("factors", group, tuple(_only(own, stage) for stage in stages))
            for group, own in of
        ]
    for group, own in weights:
        if group.place is not None and not group.single:
            shifts = tuple(_only(np.ones_like(own), stage) for stage in stages)
            found += [Change("shift", group, shifts), *_turns(group, group.place, own)]
    return found + weights_of(trial, layout)


def weights_of(trial: Trial, layout: Layout) -> list[Change]:
    """Return a change for each weight."""
    stages = len(trial.weights)
    one = tuple(_only(np.ones((stages, 1)), stage) for stage in range(stages))
    return [
        Change("weight", ColumnGroup(name, np.array([column])), one)
        for column, name in enumerate(layout.labels())
    ]


def _turns(group: ColumnGroup, place: Place, own: np.ndarray) -> Iterator[Change]:
    """Yield how the weights (stages, k) of a list or table may be read differently."""
    table = own.reshape(-1, *place.shape)
    for axis, length in enumerate(place.shape):
        if length < LONG:
            continue
        index = f"{('first ', 'second ', 'third ')[axis]}" * (len(place.shape) > 1)
        what, change = (
            f"with its {index}index reversed",
            np.flip(table, axis + 1).reshape(own.shape),
        )
        yield Change("turned", group, (change - own,), True, what)
        for sign, side in ((1, "first"), (-1, "second")) if index else ():
            column, side = _of_side(sign, group, change - own), f"{what} for the {side} player"
            yield Change("turned", group, (column,), True, side, ONE_SIDED)
    if len(place.shape) == 2 and place.shape[0] == place.shape[1]:
        change = table.swapaxes(1, 2).reshape(own.shape)
        yield Change("turned", group, (change - own,), True, "with its two indices exchanged")
    for step, where in ((1, "back"), (-1, "further on")) if place.size >= LONG else ():
        change = np.roll(own, step, axis=1)
        yield Change("turned", group, (change - own,), True, f"one number {where}")


def _of_side(sign: int, group: ColumnGroup, change: np.ndarray) -> Callable[[Trial], np.ndarray]:
    """Return what a change of the weights adds by the counts of one side, which have this sign."""

    def column(trial: Trial) -> np.ndarray:
        counts = (sign * trial.sample.counts[:, group.columns]).maximum(0) * sign
        added: np.ndarray = (trial.sample.factors * (counts @ change.T).T).sum(axis=0)
        return added

    return column


class Search:
    """The columns (n, k) of all directions of changes, in rows that are searched."""

    def __init__(self, trial: Trial, changes: Sequence[Change]) -> None:
        self.trial, self.changes = trial, changes
        sizes = [len(change.directions) for change in changes]
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        self.columns = _columns(trial, changes)
        # engines that divide whole numbers round towards 0: no change is found in that
        sign = np.sign(trial.sample.evaluation)
        self.rounding = sign / max(float(np.linalg.norm(sign)), 1.0)
        self.whole = np.array([change.whole for change in changes])
        # changes of as many directions are compared together: which, their columns and products
        self.alike = []
        for k in set(sizes):
            which = np.flatnonzero(np.array(sizes) == k)
            at = self.first[which][:, None] + np.arange(k)
            gram = np.empty((len(which), k, k))
            for a, b in np.ndindex(k, k):
                both = self.columns[:, at[:, a]].multiply(self.columns[:, at[:, b]])
                gram[:, a, b] = np.asarray(both.sum(axis=0)).ravel()
            self.alike.append((which, at, gram))

    def best(self, others: Sequence[int]) -> list[int]:
        """Return the changes that leave the smallest squares beside others, or hardly more, the
        plainest first; nothing if none leaves less than these alone."""
        left, basis = self._left(others)
        total = float(left @ left)
        product, inside = self.columns.T @ left, (self.columns.T @ basis).T
        remains = np.full(len(self.changes), np.inf)
        for which, at, gram in self.alike:
            part = inside[:, at]  # (others, changes, k)
            normal = gram - np.einsum("acx,acy->cxy", part, part)
            scale = np.sqrt(np.einsum("cxx->cx", gram))
            usable = (np.einsum("cxx->cx", normal) > INDEPENDENT * scale**2).all(axis=1)
            scale = np.where(scale > 0, scale, 1.0)
            normal /= scale[:, :, None] * scale[:, None, :]
            usable &= np.linalg.det(normal) > INDEPENDENT**2
            normal[~usable] = np.eye(at.shape[1])
            slope = product[at] / scale
            sizes = np.linalg.solve(normal, slope[:, :, None])[:, :, 0]
            gain = (sizes * slope).sum(axis=1)
            whole = self.whole[which]
            once = 2 * product[at[:, 0]] - scale[:, 0] ** 2 * normal[:, 0, 0]
            near = np.abs(sizes[:, 0] / scale[:, 0] - 1) < NEAR_ONE
            gain = np.where(whole, np.where(near, once, 0.0), gain)
            remains[which] = np.where(usable & (gain > 0), total - gain, np.inf)
        remains[list(others)] = np.inf
        least = float(remains.min())
        if not least < total:
            return []
        return [int(c) for c in np.flatnonzero(remains <= ALIKE * least + SLACK * len(left))]

    def _design(self, chosen: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the differences (n,) without the changes that are whole, and the columns (n, a) of
        the rounding and the others."""
        left, columns = self.trial.difference, [self.rounding[:, None]]
        for c in chosen:
            own = self.columns[:, np.arange(self.first[c], self.first[c + 1])].toarray()
            if self.whole[c]:
                left = left - own[:, 0]
            else:
                columns.append(own)
        return left, np.concatenate(columns, axis=1)

    def _left(self, chosen: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the differences (n,) that changes leave, and an orthonormal basis (n, a) of their
        directions."""
        left, columns = self._design(chosen)
        basis = np.linalg.qr(columns)[0]
        return left - basis @ (basis.T @ left), basis

    def sizes(self, chosen: Sequence[int]) -> list[tuple[float, ...]]:
        """Return the sizes of changes that together leave the smallest squares; those that are near
        a plain number are that."""
        left, columns = self._design(chosen)
        numbers = iter(np.linalg.lstsq(columns, left, rcond=None)[0][1:].tolist())
        changes = [self.changes[c] for c in chosen]
        found = [
            (1.0,) if change.whole else tuple(next(numbers) for _ in change.directions)
            for change in changes
        ]
        # the other changes are in the unit of the rows, as the whole evaluation is multiplied
        unit = next(
            (1 + own[0] for change, own in zip(changes, found, strict=True) if change.is_unit), 1.0
        )
        return [
            own if change.whole else tuple(_plain(change, number, unit) for number in own)
            for change, own in zip(changes, found, strict=True)
        ]


def _plain(change: Change, number: float, unit: float) -> float:
    """Return the size of a change, or a plain number that is near, 0 for one that is less than
    rounding; where the whole evaluation is in another `unit`, factors are plain in that."""
    if change.kind in ("factor", "factors"):
        if abs(number) < LEAST_FACTOR:
            return 0.0
        plain = [(unit ** (not change.is_unit)) * (value - 1) for value in SNAPPED]
        near = min(plain, key=lambda value: abs(value - number))
        return near if abs(near - number) <= NEAR else number
    if change.kind == "weight":
        return round(number) if abs(round(number) - number) <= NEAR_WHOLE else number
    return round(number, 1) if change.kind == "shift" or abs(number) > LEAST_CONSTANT else 0.0


def _columns(trial: Trial, changes: Sequence[Change]) -> Any:
    """Return the columns (n, k) of the directions of changes, sparse."""
    stages, size = trial.weights.shape
    directions = [(change.group, each) for change in changes for each in change.directions]
    shape = (size, len(directions))
    total: Any = csc_array((len(trial.difference), len(directions)))
    for stage in range(stages):
        parts = [
            np.stack([group.columns, np.full(len(group.columns), at), direction[stage]])
            for at, (group, direction) in enumerate(directions)
            if not callable(direction)
        ]
        columns, places, values = np.concatenate(parts, axis=1)
        weights = csc_array((values, (columns.astype(int), places.astype(int))), shape=shape)
        total = total + diags_array(trial.sample.factors[stage]) @ (trial.sample.counts @ weights)
    for at, (_, direction) in enumerate(directions):
        if callable(direction):
            rows, column = np.arange(len(trial.difference)), direction(trial)
            total = total + csc_array((column, (rows, np.full_like(rows, at))), shape=total.shape)
    total.eliminate_zeros()
    return total.tocsc()


class Found(NamedTuple):
    """A change with its sizes, others that these rows do not tell apart, and the share of the
    differing rows that agree with all changes found."""

    change: Change
    sizes: tuple[float, ...]
    also: list[str]
    share: float


def find_changes(view: Trial, changes: Sequence[Change], most: int) -> list[Found]:
    """Return the fewest changes that explain the differences, up to a number of them; nothing if
    none do."""
    search = Search(view.part(MOST_SEARCHED), changes)
    chosen: list[list[int]] = []  # of each change those that are as good
    found: list[Found] = []
    while len(chosen) < most and (new := search.best([few[0] for few in chosen])):
        chosen = _choose_again(search, [*chosen, new])
        sizes = search.sizes([few[0] for few in chosen])
        if not all(map(any, sizes)):  # one changes nothing: the rest is no change of weights
            break
        now = [changes[few[0]] for few in chosen]
        added = [change.added(view, own) for change, own in zip(now, sizes, strict=True)]
        share = view.explained(
            view.predicted + sum(added),
            # an engine that converts its evaluation to another unit rounds twice
            float(any(change.is_unit for change in now)),
            min(change.least for change in now),
        )
        # one more change has to explain half of what is left
        if share is None or found and 1 - share > (1 - found[0].share) / 2:
            if found:
                break
            continue
        also = [
            [other.group.name for c in few[1:] if _is_apart(other := changes[c], change)]
            for few, change in zip(chosen, now, strict=True)
        ]
        found = [
            Found(change, own, names, share)
            for change, own, names in zip(now, sizes, also, strict=True)
        ]
        if share == 1:
            break
    return found


def _is_apart(other: Change, change: Change) -> bool:
    """Whether a change is of the same kind as another, or adds to a number what that adds to all of
    a list, and is of other columns."""
    adds = (each.kind in ("weight", "shift") or each.group.single for each in (other, change))
    alike = (other.kind, other.what) == (change.kind, change.what) or all(adds)
    return alike and not set(other.group.columns) & set(change.group.columns)


def _choose_again(search: Search, chosen: list[list[int]]) -> list[list[int]]:
    """Return the changes after each was chosen again beside the others, until none differs."""
    for _ in range(MOST_PASSES * (len(chosen) > 1)):
        before = [few[0] for few in chosen]
        for k in range(len(chosen)):
            others = [few[0] for few in chosen[:k] + chosen[k + 1 :]]
            chosen[k] = search.best(others) or chosen[k]
        if [few[0] for few in chosen] == before:
            break
    return chosen


def closest_group(trial: Trial, layout: Layout) -> tuple[str, float]:
    """Return the parameter or term of which another factor explains most of the variance of the
    differences, and that share."""
    best, most = "", 0.0
    total = float(trial.difference @ trial.difference)
    for group in groups_of(layout)[:-1]:
        own = trial.weights[:, group.columns]
        part = Change("factor", group, (own,)).added(trial, (1.0,))
        size = float(part @ part)
        share = float(part @ trial.difference) ** 2 / size / total if size and total else 0.0
        if share > most:
            best, most = group.name, share
    return best, most


def faults_of(
    found: Sequence[Found], trial: Trial, stages: Sequence[str], unused: Unused
) -> tuple[RowFault, ...]:
    """Return changes as faults with their sentences."""
    unit = next((1 + each.sizes[0] for each in found if each.change.is_unit), 1.0)
    faults = []
    for each in found:
        change, group = each.change, each.change.group
        other = f" (or {', '.join(each.also)}: these rows do not tell them apart)" * bool(each.also)
        sizes = [size / (1.0 if change.is_unit else unit) for size in each.sizes]
        name = (group.name or "the whole evaluation") + other
        kind, text = _describe(change, name, sizes, trial, stages, unused)
        faults.append(RowFault(kind, group.name, text, each.share))
    return tuple(faults)


def _describe(
    change: Change,
    name: str,
    sizes: Sequence[float],
    trial: Trial,
    stages: Sequence[str],
    unused: Unused,
) -> tuple[str, str]:
    """Return the kind of a fault and its sentence."""
    kind, group, first, last = change.kind, change.group, stages[0], stages[-1]
    own = trial.weights[:, group.columns[0]]
    if kind in ("constant", "tempo"):
        what, advice = (
            ("in every row", "Add it to rest")
            if kind == "constant"
            else (
                "for the side to move (a tempo)",
                "Add it to rest, with minus where the second player is to move",
            )
        )
        return "constant", (
            f"The engine's evaluation has {sizes[0]:+g} centipawns more {what}. {advice}, or give"
            " it a parameter and count it."
        )
    if kind == "exchanged":
        return "stages", (
            f"The stages of {name} are exchanged: the engine uses its {first} weights where the"
            f" file has {last}. Exchange them in the parameter file, or in the engine."
        )
    if kind == "one stage":
        used, stage = (stages[int(part)] for part in change.what.split())
        return "stages", (
            f"The engine uses the {used} weights of {name} for {stage}, too. Correct the weights in"
            " the parameter file, or the engine."
        )
    if kind == "turned":
        return "term", (
            f"The engine reads {name} {change.what}. Correct the index with which the rows count"
            " it, or the order of the numbers in the parameter file."
        )
    if kind == "shift":
        return "term", _shift_text(name, sizes, stages, _same_weights(sizes, trial, unused))
    if len(set(sizes)) == 1 and kind != "weight":
        return "term", _factor_text(name, 1 + sizes[0])
    if kind == "weight" or group.single:
        more = sizes if kind == "weight" else (own * sizes).tolist()
        text = _weight_text(group.name, own.tolist(), more, stages)
        return "weight", text + f" Or it is {name.partition(' (or ')[2][:-1]}." * (
            name != group.name
        )
    factors = " and ".join(
        f"{1 + size:.3g} times its {stage} part" for size, stage in zip(sizes, stages, strict=True)
    )
    return "term", (
        f"The engine's evaluation has {factors} of {name}. Correct the weights of {name} in the"
        " parameter file, or its counts."
    )


def _weight_text(
    name: str, own: Sequence[float], change: Sequence[float], stages: Sequence[str]
) -> str:
    texts = [
        f"{name}{f'.{stage}' * (len(stages) > 1)} is {ours:g} in the parameter file,"
        f" {ours + more:.4g} in the engine"
        for stage, ours, more in zip(stages, own, change, strict=True)
        if abs(more) > NEAR_WHOLE
    ]
    return f"{'; '.join(texts)}. Correct the weight in the file, or the counts of {name}."


def _same_weights(sizes: Sequence[float], trial: Trial, unused: Unused) -> list[str]:
    """Return the numbers that no row counts and whose weights are those that a shift adds."""
    return [
        name
        for name, columns in unused
        if len(columns) == 1 and (np.abs(trial.weights[:, columns[0]] - sizes) <= 1).all()
    ]


def _shift_text(
    name: str, sizes: Sequence[float], stages: Sequence[str], same: Sequence[str]
) -> str:
    numbers = ", ".join(f"{size:+g} {stage}" for size, stage in zip(sizes, stages, strict=True))
    hint = f" {' or '.join(same)}, which no row counts, has just these weights." if same else ""
    return (
        f"Every number of {name} differs between engine and parameter file by {numbers}"
        f" centipawns.{hint} Correct the weights in the file, or count in the rows what is missing."
    )


def _factor_text(name: str, factor: float) -> str:
    known = {
        0.5: f"{name} is counted twice in the rows: the engine's evaluation has half of it. Count"
        " it once, or halve its weights in the parameter file if the engine's are half.",
        2.0: f"The engine adds {name} twice: its evaluation is twice the rows'. Count it twice, or"
        " double its weights in the parameter file if the engine's are double.",
        -1.0: f"The sign of {name} is wrong: the engine's evaluation is minus the rows'. Count the"
        " first player minus the second (for chess White minus Black), or negate its weights in the"
        " parameter file.",
        0.0: f"The engine's evaluation does not contain {name}, although the rows count it. Leave"
        " it out of the rows, or set its weights in the parameter file to 0.",
    }
    return known.get(
        round(factor, 6),
        f"The engine's evaluation has {factor:.4g} times {name}. Multiply its weights in the"
        f" parameter file by {factor:.4g}, or print evaluations in its unit.",
    )
