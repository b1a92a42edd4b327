"""The folder of a run: what the run was told, and the files that it begins with.

A run is there once its settings are in its store. Files are made aside before, so that a process
that is killed leaves no part of a run, and the next one knows what was left."""

import contextlib
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, TypeVar

from games.system import user
from tuner.core.records import NOTHING, InputError, Settings, make, plain_json
from tuner.core.store import (
    DATABASE,
    FILES,
    RESTORE,
    Store,
    is_ours,
    read_blob,
    read_record,
    remove_store,
)
from tuner.io.files import CONFIG, replace_file
from tuner.version import __version__

S = TypeVar("S", bound=Settings)
CHECKPOINTS = "checkpoints"  # folder of what had learned whenever strength was measured
# folder for files until all are there; what a killed process leaves of others, which nobody touches
WORK, TEMPORARY = "unfinished", re.compile(r"\..*\.\d+\.tmp")
# names in the store: of what the run was told, of what it is told while it cannot be resumed as a
# run, and of the files that came from WORK
SEARCHES = "searches/"  # beginning of names of searches, which outlive a run that failed
SETTINGS, BEGUN, MOVED = "settings", f"{SEARCHES}command", "files"
COMMANDS = {"options": "tune", "network": "selfplay"}  # of sections with different names
# settings of self-play, as earlier versions call them
RENAMED = {"trace": "lambda_", "rate": "learning_rate", "rule": "learner"}
CODE, ENGINE = {"terms", "build", "plays", "rows", "teacher"}, re.compile(r"[a-z]{3,}:")
HEADING = f"# settings of a run, to be read: it keeps them in its {DATABASE}\n"


@dataclass(frozen=True)
class Told:
    """What a run was told: the name of its section of CONFIG with its `settings`, the command that
    was typed, and the version of the program; `place` stands for the machine and the user; `start`
    is what a fit started from."""

    section: str
    settings: dict[str, Any]
    command: str
    version: str = __version__
    place: str = ""
    start: str = ""

    @property
    def content(self) -> bytes:
        """As the store has it."""
        return json.dumps(asdict(self)).encode()

    @property
    def name(self) -> str:
        """The name of its command."""
        return COMMANDS.get(self.section, self.section)


def this_place() -> str:
    """Return a text that stands for this machine and its user."""
    import platform

    names = f"{user()} {platform.node()}"
    return hashlib.blake2b(names.encode(), digest_size=8).hexdigest()


def find_programs(plain: object, key: str = "") -> Iterator[str]:
    """Yield the engines, terms and commands of a plan that plain settings name: they run code."""
    if isinstance(plain, dict):
        for name, value in plain.items():
            yield from find_programs(value, name)
    elif isinstance(plain, list):
        for value in plain:
            yield from find_programs(value, key)
    elif isinstance(plain, str) and (key in CODE or ENGINE.match(plain)):
        yield plain


def note_foreign(told: Told | None, note: Callable[[str], None]) -> None:
    """Say what a run starts if it began on another machine, or as another user: its settings may be
    somebody else's."""
    if told and told.place != this_place() and (programs := [*find_programs(told.settings)]):
        programs = list(dict.fromkeys(programs))
        note(f"begun on another machine or by another user; it runs: {', '.join(programs)}")


def write_settings(
    store: Store, section: str, settings: Settings, command: str, start: str = ""
) -> None:
    """Store what a run was told, and write it for people."""
    _write(store, Told(section, settings.plain, command, place=this_place(), start=start))


def change_settings(store: Store, settings: Settings) -> None:
    """Store other settings of the run, if they are; its command names their number of games."""
    told, plain = read_told(store.folder), settings.plain
    assert told is not None, "of a run that is resumed"
    if told.settings == plain:
        return
    command = told.command
    if "games" in plain:
        games = f"--games {plain['games']}"
        command, found = re.subn(r"--games[ =]\S+", games, command)
        command += "" if found else f" {games}"
    _write(store, replace(told, settings=plain, command=command))


def _write(store: Store, told: Told) -> None:
    import yaml

    shown: dict[str, Any] = {"command": told.command, "version": told.version}
    shown |= {"start": told.start} if told.start else {}
    shown[told.section] = told.settings
    text = yaml.safe_dump(shown, sort_keys=False, allow_unicode=True)
    store.put(SETTINGS, told.content)
    replace_file(store.folder / CONFIG, HEADING + text)


def read_told(folder: Path, name: str = SETTINGS) -> Told | None:
    """Return what the run in a folder was told, None if there is none; InputError for damage."""
    told = read_record(folder, name, Told)
    if told is None or told.name != "selfplay":
        return told
    settings = {RENAMED.get(key, key): value for key, value in told.settings.items()}
    return replace(told, settings=settings)


def read_settings(folder: Path, section: str, kind: type[S]) -> S:
    """Return the settings of the run in a folder as a `kind` of settings; InputError if there are
    none."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected that of a run")
    told, command = read_told(folder), COMMANDS.get(section, section)
    if told is None or told.section != section:
        another = "another kind of " if told is not None and told.name == command else "a "
        what = "no run" if told is None else f"{another}run of `tuner {told.name}`"
        raise InputError(
            f"{folder}: contains {what}, expected one of `tuner {command}`; start one with tuner"
            f" {command}"
        )
    known = kind.recorded()
    needed = {name for name, usual in known.items() if usual not in NOTHING}
    if not needed <= set(told.settings) <= set(known):
        raise InputError(
            f"{folder}: not the settings of a {section} of this version; start another with --run"
        )
    try:
        return make(kind, told.settings, f"{folder / DATABASE}: {SETTINGS}")
    except InputError as problem:
        raise InputError(
            f"{problem}; if another version of tuner began this run, start another with --run"
        ) from None


def kind_of(folder: Path) -> str | None:
    """Return the command of the run in a folder, if there is one."""
    with contextlib.suppress(InputError):
        told = read_told(folder)
        return told.name if told else None
    return None


def require_fresh(folder: Path, command: str | None = None, begun: bytes | None = None) -> None:
    """Raise InputError unless a new run may begin in a folder: it does not exist, is empty, or was
    left by a process that was killed before its run was there. `command` names the kind of runs
    that can be resumed; `begun` is what the run is told, if it may go on with what was left."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        if os.path.islink(folder):
            raise InputError(f"{folder}: a broken link; choose another folder") from None
        return
    except NotADirectoryError as problem:
        why = "File exists" if os.path.lexists(folder) else problem.strerror
        raise InputError(f"{folder}: cannot create this folder: {why}") from None
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{folder}: cannot be read: {getattr(problem, 'strerror', None) or problem}"
        ) from None
    ours: set[str] = set()
    path, again = folder / DATABASE, shlex.quote(str(folder))
    if DATABASE in names and path.is_file() and (not path.stat().st_size or is_ours(path)):
        told, left = read_told(folder), read_blob(folder, BEGUN)
        if told is not None and told.name == command:
            raise InputError(
                f"{folder}: contains a run already; continue it with --resume {again}, or choose"
                " another folder"
            )
        if told is not None:
            raise InputError(
                f"{folder}: contains a run of `tuner {told.name}` already; choose another folder,"
                " or remove that run"
            )
        if left not in (None, begun):
            raise InputError(
                f"{folder}: holds the searches of another command that was interrupted; continue"
                f" it with: tuner tune --resume {again}, or choose another folder"
            )
        ours = {*FILES, *_list_made(folder)}
    foreign = [name for name in names if name not in ours and not TEMPORARY.fullmatch(name)]
    if foreign:
        shown = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
        raise InputError(
            f"{folder}: contains unrelated files ({shown}), expected a new or empty folder; choose"
            " another name"
        )


def mark_of(path: Path) -> list[int]:
    """Return the inode of a file and when it was changed, in nanoseconds: it keeps both as it
    moves, and another file of its name has others."""
    status = path.lstat()
    return [status.st_ino, status.st_mtime_ns]


def _list_made(folder: Path) -> list[str]:
    """Return the names of what a run made in its folder and may remove: WORK, and the files that
    came from there, which are still the same ones."""
    try:
        moved = plain_json(read_blob(folder, MOVED) or b"{}")
    except ValueError as problem:
        raise InputError(f"{folder / DATABASE}: {MOVED}: {problem}; {RESTORE}") from None
    made = [WORK] if (folder / WORK).is_dir() and not (folder / WORK).is_symlink() else []
    for name, mark in moved.items():
        path = folder / name
        if path.name == name and os.path.lexists(path) and mark_of(path) == mark:
            made.append(name)
    return made


def _remove_files(folder: Path) -> None:
    """Remove the files of a run that is not there."""
    for name in _list_made(folder):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def begin_folder(folder: Path, command: str | None = None, begun: bytes | None = None) -> Store:
    """Make the folder of a new run, without what an earlier one left that was killed before it was
    there; return its store."""
    require_fresh(folder, command, begun)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder}: cannot create this folder: {problem.strerror}") from None
    store = Store(folder)
    with contextlib.ExitStack() as opened:
        opened.push(store)
        require_fresh(folder, command, begun)  # another process may have ended
        _remove_files(folder)
        store.clear(f"{SEARCHES}*")
        opened.pop_all()
    return store


def begin_numbered(base: str) -> Store:
    """Make the folder of a new run, the first of base-1, base-2, ... that does not exist. Runs that
    begin at the same time get one each."""
    for number in itertools.count(1):
        folder = Path(f"{base}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        except OSError as problem:
            raise InputError(f"{folder}: cannot create this folder: {problem.strerror}") from None
        return begin_folder(folder)
    raise AssertionError("there is always another number")


@contextlib.contextmanager
def make_files(store: Store) -> Iterator[Path]:
    """Yield a folder for the first files of a run, which move to the folder of the run after the
    block."""
    work = store.folder / WORK
    work.mkdir()
    yield work
    names = os.listdir(work)
    for name in names:
        if os.path.lexists(store.folder / name):
            raise InputError(f"{store.folder / name}: is new in the folder of this run")
    moved = {name: mark_of(work / name) for name in names}
    store.put(MOVED, json.dumps(moved).encode())
    for name in names:
        os.rename(work / name, store.folder / name)
    work.rmdir()


@contextlib.contextmanager
def begin_or_remove(folder: Path, begun: bytes) -> Iterator[Store]:
    """Yield the store of a new run. If the block fails, all that the run made is removed again,
    unless searches are kept in its store."""
    there = folder.is_dir()
    with begin_folder(folder, None, begun) as store:
        try:
            yield store
        except BaseException:  # interrupts too
            if store.blob(SETTINGS) is not None:
                raise
            _remove_files(folder)
            if store.blob(BEGUN) is None:
                remove_store(folder)
                if not there:
                    with contextlib.suppress(OSError):
                        folder.rmdir()
            raise


def write_all(stream: IO[bytes], data: bytes) -> int:
    """Write all data to an unbuffered file, in one call unless the system interrupts it; return the
    length."""
    done = 0
    while done < len(data):
        done += stream.write(data[done:])
    return done
