"""Measure what the numbers of an engine's sources count."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from games.record import find
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.rows.sample import sides_of
from tuner.io.files import replace_file, replaced
from tuner.measured.copies import SOURCES, STATE, build_in, copy_folder, state_of, untouched
from tuner.measured.counts import NOTHING, Count, Sample, count, steps_of
from tuner.measured.evals import PAWNS, Evals, EvalsFault, evaluate
from tuner.measured.numbers import Numbers, numbers_of
from tuner.measured.plan import EvalsPlan, evals_of
from tuner.measured.programs import Program, WithBuilds, WithLines, in_tree, table_of

CHECKED = 500  # positions that are evaluated twice before anything is changed
FIRST_SECONDS = 120.0  # of evaluations whose pace is not known
CACHES = 0.01  # share of them that may have another evaluation in another order
FEWEST_SECONDS, SLOWER = 10.0, 10.0  # of one evaluation of all positions: times the usual
OWN = 0.5  # share of positions, from which evaluations are of the side to move
ROUNDED = 2.0  # centipawns, by which the exchange may differ: of divisions
EXCHANGED = 1000  # positions whose exchange is evaluated, too
TRIED = 3  # numbers that show what all take
ALL_NAMES = "all.yaml"
OURS = "evaltune measurement "  # at the beginning of the state of a folder
CANARIES = 5  # of the largest numbers, one of which has to act


class Base:
    """An engine as it is: its program, and what positions say of it. `own_view`: it evaluates for
    the side to move."""

    def __init__(self, game: str, evals: Evals, texts: Sequence[str]) -> None:
        self.game, self.evals = find(game), evals
        self._letters = "".join(side[0].lower() for side in self.game.wording.sides)
        some = list(texts[:CHECKED])
        evaluate(evals, some[:1], FIRST_SECONDS)
        begun = time.monotonic()
        evaluate(evals, some[:1], FIRST_SECONDS)
        started = time.monotonic()
        first = evaluate(evals, some, FIRST_SECONDS)
        self._start = started - begun  # seconds
        took = time.monotonic() - started - self._start
        self.pace = max(took, 0.0) / max(len(some), 1)  # seconds of a position, without the start
        if (again := evaluate(evals, some) != first).any():
            at = int(again.argmax())
            raise InputError(
                f"{evals.command}: {again.sum():,} of {plural(len(some), 'position')} have another"
                f" evaluation the second time, the first of them {some[at]}; expected the same"
            )
        order = np.random.default_rng(1).permutation(len(some))
        shuffled = evaluate(evals, [some[k] for k in order]) != first[order]
        if shuffled.mean() > CACHES:
            at = int(order[shuffled.argmax()])
            raise InputError(
                f"{evals.command}: {shuffled.sum():,} of {plural(len(some), 'position')} have"
                f" another evaluation in another order, as {some[at]}: a cache knows too little of"
                " a position; clear it before each"
            )
        if 5 * len(some) >= CHECKED and np.abs(first).max() < PAWNS:
            raise InputError(
                f"{evals.command}: the largest of {len(some)} evaluations is"
                f" {np.abs(first).max():g}; expected centipawns"
            )
        self.checked = some, first
        self.own_view = False
        self.antisymmetric: float | None = None
        if self.game.exchanged is not None:
            other = evaluate(evals, [self.game.exchanged(text) for text in some])
            near = (np.abs(other + sign * first) <= ROUNDED for sign in (1, -1))
            shares = [float(share.mean()) for share in near]
            self.own_view = shares[1] > max(shares[0], OWN)
            self.antisymmetric = shares[self.own_view]

    def signs(self, texts: Sequence[str]) -> np.ndarray:
        """Return the signs (n,) from the program's view to the first player's."""
        n = len(texts)
        if not self.own_view:
            return np.ones(n)
        return sides_of(list(texts), n, self._letters).astype(np.float64)

    def evaluations(self, texts: Sequence[str]) -> np.ndarray:
        """Return evaluations (n,), first player's view."""
        return self.signs(texts) * evaluate(self.evals, texts, self.patience(len(texts)))

    def patience(self, n: int) -> float:
        """Return the seconds that one evaluation of n positions may take."""
        return FEWEST_SECONDS + SLOWER * (self._start + self.pace * n)

    @property
    def lines(self) -> list[str]:
        """What is odd about the engine, as text."""
        if self.antisymmetric is None or self.antisymmetric > 0.99:
            return []
        return [
            "with the colors exchanged, the side to move has the same evaluation in"
            f" {self.antisymmetric:.0%} of {plural(len(self.checked[0]), 'position')}: a fault of"
            " the engine, or terms of one color"
        ]


def measurement_in(
    folder: Path,
    plan: EvalsPlan,
    texts: Sequence[str],
    workers: int,
    note: Callable[[str], None],
    find_numbers: Callable[[Path], Numbers] | None = None,
) -> Measurement:
    """Copy and build the sources of a plan in a folder, which may have what an earlier call with
    the same sources measured there; `find_numbers` finds what is measured in the copy, if that is
    not what the plan names. InputError for a folder that has something else."""
    source, base, state = folder / "source", folder / "base", folder / STATE
    known = state.read_text() if state.exists() else ""
    if not known.startswith(OURS) and folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: exists, and was not made by this command; remove it")
    place = Path(plan.source.folder)
    now = OURS + hashlib.sha256(f"{plan} {state_of(place, SOURCES)}".encode()).hexdigest()
    if known and known != now:
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(state, now.encode())
    copy_folder(place, source)
    copy_folder(source, base)
    with untouched(place):
        build_in(base, plan.build, folder / "build.log", "the engine")
    engine = Base(plan.game, in_tree(evals_in(plan), base), texts)
    for line in engine.lines:
        note(line)
    if find_numbers is None:
        files, wanted = [source / name for name in plan.source.files], plan.source
        names = None if wanted.map is None else Path(wanted.map)
        numbers = numbers_of(plan.game, files, folder / ALL_NAMES, names, wanted.only)
    else:
        numbers = find_numbers(source)
    return Measurement(folder, plan, source, engine, numbers, workers, note)


def evals_in(plan: EvalsPlan) -> Evals:
    """Return the program of a plan."""
    return evals_of(plan.evals, plan.eval_line, plan.options, "the plan")


class Measurement:
    """The numbers of an engine's sources, and the programs that measure what they count."""

    def __init__(
        self,
        folder: Path,
        plan: EvalsPlan,
        source: Path,
        base: Base,
        numbers: Numbers,
        workers: int,
        note: Callable[[str], None],
    ) -> None:
        """Build programs for the numbers of `source`, a copy of the folder with them, in `folder`;
        `base` is the engine as it is."""
        self.folder, self.base, self.workers, self._note = folder, base, workers, note
        self._plan, self._source, self.numbers = plan, source, numbers
        self.programs = self._programs()

    def _programs(self) -> dict[int, Program]:
        """Return the program that changes each number."""
        numbers, folder, build = self.numbers, self.folder, self._plan.build
        sites, evals, source = numbers.sites, evals_in(self._plan), self._source
        lines = WithLines(self.base.evals, numbers.labels)
        if self._acts(lines):
            self._note(f"{plural(len(sites), 'number')} to measure, by lines `set NAME VALUE`")
            return dict.fromkeys(lines.possible, lines)
        checked = self.base.checked
        table = table_of(folder / "table", source, build, evals, numbers.sources, sites, checked)
        programs: dict[int, Program] = {}
        if table is not None:
            programs = dict.fromkeys(table.possible, table)
        left = [k for k in range(len(sites)) if k not in programs]
        if left:
            builds = WithBuilds(folder / "builds", source, build, evals, sites, self.workers)
            programs |= dict.fromkeys(left, builds)
        if not any(map(self._acts, {id(each): each for each in programs.values()}.values())):
            raise InputError(
                f"`{build}`: the program does not see the change of a number in"
                f" {', '.join(self._plan.source.files)}: does the build make it anew, and does"
                f" `{evals.command}` use them?"
            )
        ways = f"{len(sites) - len(left):,} in one build" if table is not None else ""
        ways += f"{', ' * bool(ways)}{len(left):,} by a build for each" if left else ""
        self._note(f"{plural(len(sites), 'number')} to measure: {ways}")
        return programs

    def _acts(self, program: Program) -> bool:
        """Return whether a program sees the change of one of the largest numbers."""
        texts, known = self.base.checked
        sites = self.numbers.sites
        usual = [k for k, site in enumerate(sites) if abs(site.number.value) < 2000]
        largest = sorted(usual, key=lambda k: -abs(sites[k].number.value))[:CANARIES]
        for k in largest:
            value = sites[k].number.value + steps_of(sites[k], self.numbers.sources)[0]
            try:
                if (
                    program.evaluate({k: value}, texts, self.base.patience(len(texts))) != known
                ).any():
                    return True
            except EvalsFault:
                if isinstance(program, WithLines):
                    return False
        return False

    def sample(self, texts: Sequence[str]) -> Sample:
        """Return positions with their evaluations."""
        base = self.base
        some = np.zeros(0, np.int64)
        exchanged: list[str] = []
        if base.game.exchanged is not None:
            n = min(len(texts), EXCHANGED)
            some = np.sort(np.random.default_rng(2).choice(len(texts), n, replace=False))
            exchanged = [base.game.exchanged(texts[k]) for k in some.tolist()]
        return Sample(
            list(texts),
            some,
            exchanged,
            base.evaluations(texts),
            base.evaluations(exchanged) if exchanged else np.zeros(0),
            base.signs(texts),
            base.signs(exchanged),
            base.patience(len(texts) + len(exchanged)),
        )

    def counts(
        self,
        sample: Sample,
        places: Sequence[int],
        progress: Callable[[int], None],
        known: bool = False,
    ) -> dict[int, Count]:
        """Measure the numbers at these places, on as many threads as there are workers; what an
        earlier call in the same folder measured of the same positions is taken from there. It is
        `known` that they are weights, or found out."""
        key = hashlib.sha256("\n".join(sample.texts).encode()).hexdigest()[:16]
        folder = self.folder / f"counts-{key}"
        folder.mkdir(exist_ok=True)
        sites, done = self.numbers.sites, 0

        def one(k: int) -> Count:
            if sites[k].number.decimals > self._plan.source.decimals:
                return Count(*NOTHING, "has more decimals than `decimals` of the source")
            file = folder / f"{k}.npz"
            if file.exists():
                with np.load(file) as kept:
                    return Count(kept["places"], kept["counts"], str(kept["reason"]))
            steps = steps_of(sites[k], self.numbers.sources)
            counted = count(self.programs[k], k, sites[k], steps, sample, known)
            with replaced(file) as temporary, open(temporary, "wb") as stream:
                np.savez(stream, **counted._asdict())
            return counted

        measured: dict[int, Count] = {}
        with ThreadPoolExecutor(self.workers) as pool:
            waiting = {k: pool.submit(one, k) for k in places}
            try:
                for k, each in waiting.items():
                    measured[k] = each.result()
                    done += 1
                    progress(done)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return measured

    def seconds(self, sample: Sample) -> float:
        """Return about how long all numbers take, by three of them."""
        by_program: dict[int, list[int]] = {}
        for k, program in self.programs.items():
            by_program.setdefault(id(program), []).append(k)
        total = 0.0
        for own in by_program.values():
            some = own[:: max(len(own) // TRIED, 1)][:TRIED]
            begun = time.monotonic()
            self.counts(sample, some, lambda done: None)
            total += (time.monotonic() - begun) / len(some) * (len(own) - len(some))
        return total
