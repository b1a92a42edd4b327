"""The page of a run that may be under way: the report so far, made again when the run's files
change, and its present state. Making takes a share of one CPU that is fixed, however long the
history of the run is."""

import contextlib
import hashlib
import re
import shlex
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Generic, TypeVar

from games.record import available, find
from games.streams import InputError
from tuner.core.store import DATABASE, count_records, require_store
from tuner.core.text import duration
from tuner.io.files import plain_text
from tuner.io.now import ENDED, FAILED, INTERRUPTED, RUNNING, GameNow, Now, read_now
from tuner.io.run_folder import COMMANDS, kind_of
from tuner.report.charts import Chart, capital, own_names, percent, whole
from tuner.report.improve import IMPROVE
from tuner.report.page import Fragments, read_page, render
from tuner.report.run import LEARNED, NET, ShownRun
from tuner.report.run_charts import learning_curves
from tuner.report.sections import Page, Section
from tuner.results.fit import Iteration
from tuner.version import __version__

Made = TypeVar("Made")
FILES = (DATABASE, LEARNED, NET)  # what the report shows of a folder
INNER = (f"*/{DATABASE}", f"*/*/{DATABASE}", f"*/*/*/{DATABASE}")  # of the steps of a loop
SILENT = 15.0  # seconds without a sign of life after which a run is not under way
REPORT_SHARE, NOW_SHARE = 0.003, 0.02  # of the CPUs that a run uses, or of one
LEAST_CPUS = 0.25  # a run that waits for engines or machines is assumed to use this much
REPORT_LEAST, NOW_LEAST = 5.0, 1.0  # seconds from one to the next
POLLS = {RUNNING: 2, ENDED: 0}  # seconds between two questions of a page; 0: none follows
OTHERS = 10
GAMES_KIND = "games"  # of runs, which have no report
GONE, SILENCE, UNKNOWN, DAMAGED = "gone", "silent", "unknown", "damaged"
SECTION = re.compile(r'<section id="now".*?</section>\n?', re.DOTALL)


class Paced(Generic[Made]):
    """The result of a function, made again when its input has changed, but at most so often
    that it takes a share of the CPUs of a run. The first is made at once: it compiles and
    imports."""

    def __init__(self, make: Callable[[], Made], share: float, least: float) -> None:
        """`least` are the seconds between two at least."""
        self._make, self._share, self._least = make, share, least
        self._of: object = None
        self._next = 0.0
        self.made: Made | None = None

    def get(self, of: object, cpus: float, hurry: bool = False) -> Made:
        """Return what was made of this, or of something before it; `hurry`: of this."""
        first = self.made is None
        if self.made is None or of != self._of and (hurry or time.monotonic() >= self._next):
            begun = time.thread_time()
            self.made, self._of = self._make(), of
            share = self._share * min(1.0, max(LEAST_CPUS, cpus))
            cost = (time.thread_time() - begun) / share
            self._next = time.monotonic() + (self._least if first else max(self._least, cost))
        return self.made


@dataclass(frozen=True)
class Answer:
    """The answer to a page: the name of the report that there is, how many seconds to wait before
    the next question, the title of the window, and the section on the present state."""

    report: str
    wait: int
    title: str
    html: str


class LivePage:
    """The page of a folder, for any number of readers; nothing is made unless one asks."""

    def __init__(self, folder: Path) -> None:
        """InputError for a folder without a run."""
        self.folder, self.name = folder, plain_text(folder.resolve().name)
        require_store(folder)
        if not (folder / DATABASE).exists():
            what = "contains no run" if folder.is_dir() else "no such folder"
            raise InputError(
                f"{folder}: {what} (no {DATABASE}); expected the folder of a run, such as --run"
                " names"
            )
        self._fragments = Fragments()
        self._report = Paced(self._made_report, REPORT_SHARE, REPORT_LEAST)
        self._now = Paced(self._made_now, NOW_SHARE, NOW_LEAST)

    def page(self) -> str:
        """Return the whole page as HTML."""
        answer = self.now()
        report = self._report.made[1] if self._report.made else ""
        return plain_text(SECTION.sub(lambda _: answer.html, report))

    def now(self) -> Answer:
        """Return the present state of the run."""
        state, now = self._state()
        cpus, hurry = now.cpus if now else 1.0, state != RUNNING
        if self._report.made is None or state != GONE:  # of a folder that is gone, the last report
            self._report.get(_stamps(self.folder), cpus, hurry)
        return self._now.get((state, now, self._version), cpus, hurry)

    @property
    def _version(self) -> str:
        return self._report.made[0] if self._report.made else ""

    def _state(self) -> tuple[str, Now | None]:
        if not self.folder.is_dir():
            return GONE, None
        paths = [self.folder]
        try:
            require_files(self.folder)
            if kind_of(self.folder) == IMPROVE:
                paths += [path.parent for name in INNER for path in self.folder.glob(name)]
            states = [now for now in map(read_now, paths) if now is not None]
        except InputError as problem:
            return DAMAGED, Now(DAMAGED, 0.0, 0.0, note=str(problem))
        if not states:
            return UNKNOWN, None
        own, *steps = states
        if own.state == RUNNING and time.time() - own.written > SILENT:
            return SILENCE, own
        if own.state != RUNNING:
            return own.state, own
        # the step of a loop that plays or learns now; files of those that were killed are old
        playing = (
            step for step in steps if step.state == RUNNING and time.time() - step.written <= SILENT
        )
        inner = max(playing, key=lambda now: now.began, default=None)
        if inner is None:
            return RUNNING, own
        step = ": ".join(filter(None, (own.step, inner.step)))
        return RUNNING, replace(inner, step=step, note=own.note or inner.note)

    def _made_now(self) -> Answer:
        state, now = self._state()
        shown = f"{(_done(now) if now and state == RUNNING else None) or state} – {self.name}"
        return Answer(
            self._version,
            POLLS.get(state, OTHERS),
            shown,
            self._fragments.text(now_section(self.folder, state, now, self._version)),
        )

    def _made_report(self) -> tuple[str, str]:
        stamps = _stamps(self.folder)
        version = hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]
        now = now_section(self.folder, UNKNOWN, None, version)
        try:
            require_files(self.folder)
            return version, render(read_page(self.folder), now)[0]
        except InputError as problem:
            kind = kind_of(self.folder) or "run"
            text = (
                "Games to learn from have no report of their own."
                if kind == GAMES_KIND
                else f"The report begins when there is enough to report. For now: {problem}."
            )
            run = ShownRun(self.folder, kind, "", __version__, {}, [], [])
            waiting = Section("waiting", "Report", "waiting", {"text": text})
            return version, render(Page(run, self.name, [waiting]), now)[0]


def require_files(folder: Path) -> None:
    """InputError if what a page reads of a folder is there but no file: a pipe or a device may have
    no end."""
    for name in FILES:
        path = folder / name
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is no file; expected what a run writes")


def _stamps(folder: Path) -> list[object]:
    """Return the numbers of records, and times and sizes of the files that a report is made of."""
    stamps: list[object] = []
    with contextlib.suppress(InputError):
        stamps = [kind_of(folder), count_records(folder)]
    for name in FILES[1:]:
        try:
            state = (folder / name).stat()
            stamps.append((state.st_mtime_ns, state.st_size))
        except OSError:
            stamps.append(None)
    return stamps


def now_section(folder: Path, state: str, now: Now | None, report: str) -> Section:
    """Return the present state of a run as a section; `report` names the report that contains
    it."""
    data: dict = {"state": _sentence(state, now), "bad": state in (GONE, SILENCE, FAILED, DAMAGED)}
    running = state == RUNNING and now is not None
    data |= {"report": report, "command": "", "facts": [], "progress": None, "charts": []}
    if state in (INTERRUPTED, SILENCE) and (command := _resumed(folder)):
        data["command"] = command
    if now is not None and state != DAMAGED:
        data |= {"step": now.step, "facts": _facts(now, running), "charts": _curves(now)}
        if now.done is not None and now.total:
            data["progress"] = min(1.0, now.done / now.total)
        data["games"] = [_drawn(game, i) for i, game in enumerate(now.games)] if running else []
        data["playing"] = running and now.step.endswith("playing")
    return Section("now", "Now", "now", data)


def _sentence(state: str, now: Now | None) -> str:
    if now is None:
        return {
            GONE: "The folder of the run is not there any more; the page shows what it had.",
        }.get(state, "Nothing here says that the run is under way.")
    clock = _clock(now.written)
    match state:
        case "damaged":
            return f"The state of the run is unknown: {now.note}."
        case "running":
            step = now.step or now.note.partition(": ")[0] or "starting"
            return f"{capital(step)}."
        case "ended":
            return f"The run ended at {clock}."
        case "interrupted":
            return f"The run was interrupted at {clock}."
        case "failed":
            return f"The run failed at {clock}: {now.note}"
    return f"No word from the run since {clock}: it was killed, or its machine sleeps."


def _clock(seconds: float) -> str:
    """Return a time of this machine's clock, with the day if that is another one."""
    then = datetime.fromtimestamp(seconds)
    today = then.date() == datetime.now().date()
    return then.strftime("%H:%M:%S" if today else "%H:%M:%S on %d %B %Y")


def _facts(now: Now, running: bool) -> list[tuple[str, str]]:
    facts = [("begun", _clock(now.began))]
    if (done := _done(now)) is not None:
        facts.append(("done", done))
    if running and now.left is not None:
        facts.append(("time left", duration(now.left)))
    if now.text:
        facts.append(("so far", now.text))
    if now.note:
        facts.append(("last note", now.note))
    return facts


def _done(now: Now) -> str | None:
    """Return the share that is done of the step, or how much if its end is not known."""
    if now.done is None:
        return None
    return percent(min(1.0, now.done / now.total), 0) if now.total else whole(now.done)


def _curves(now: Now) -> list[Chart]:
    history = [Iteration(point.iteration, point.loss, point.held_out) for point in now.curve]
    return learning_curves(history) if len(history) > 1 else []


def _drawn(game: GameNow, number: int) -> dict:
    """Return what the page shows of a game: its picture, or its board as text if the game draws no
    pictures, or only the text of the position without rules."""
    shown: dict = {"picture": None, "board": None, "mover": None}
    rules = find(game.game) if game.game in available() else None
    if rules is not None:
        with contextlib.suppress(ValueError):
            words = rules.position(game.position)
            shown["mover"] = rules.wording.sides[int(rules.second_to_move(words))]
            if rules.files.picture is None:
                shown["board"] = rules.draw(words)
            else:
                # names within a picture must be unique on the page
                shown["picture"] = own_names(rules.files.picture(words), f"now{number}-0")
    return asdict(game) | shown


def _resumed(folder: Path) -> str:
    """Return the command that continues a run; nothing for one that begins again."""
    kind = kind_of(folder)
    if kind is None or kind == COMMANDS["options"]:
        return ""
    return f"tuner {kind} --resume {shlex.quote(str(folder))}"
