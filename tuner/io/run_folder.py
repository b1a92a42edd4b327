"""Folders of runs: the settings that repeat them, and a lock that allows one process at a time."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

from tuner.core.records import NOTHING, InputError, Settings, make
from tuner.core.store import DATABASE, FILES, is_ours
from tuner.io.files import CONFIG, LOCK, NOW, read_whole, replace_file
from tuner.io.files import HISTORY as HISTORY
from tuner.version import __version__

S = TypeVar("S", bound=Settings)
CHECKPOINTS = "checkpoints"  # folder of what had learned whenever strength was measured
# folder of a run of tune for its files until it is complete, and the file there that says so
WORK, MARK = "unfinished", "made-by-tuner"
# what a process that was killed leaves before its run is complete: files by their beginnings, those
# of a folder with our lock by their names, and temporary ones, which nobody touches
LOCKED = b"locked by tuner\n"
BEGINNINGS, TEMPORARY = (
    re.compile(text) for text in (r"(start|luck|[ab]|\d+)\.(yaml|npz)", r"\..*\.\d+\.tmp")
)
LEFT = {LOCK: LOCKED, NOW: b'{"state": "', **dict.fromkeys(FILES, b"")}
# sections of CONFIG
KINDS = re.compile(
    rb"^(match|tournament|selfplay|games|options|network|improve|optimize):", re.MULTILINE
)
COMMANDS = {"options": "tune", "network": "selfplay"}  # of sections with different names
MAX_BYTES, MAX_NESTING = 4 << 20, 12  # limits of settings: bytes, and depth of nesting


def write_config(
    folder: Path, section: str, settings: Settings, command: str | None = None
) -> None:
    """Write the settings under the name `section`. They are written last: a folder without them is
    not a run. Without a command, the command of the existing settings is kept, except its number of
    games."""
    import yaml

    plain = settings.plain
    if command is None:
        command = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))["command"]
        games = f"--games {plain['games']}"
        command, found = re.subn(r"--games[ =]\S+", games, command)
        command += "" if found else f" {games}"
    replace_file(
        folder / CONFIG,
        yaml.safe_dump(
            {"command": command, "version": __version__, section: plain},
            sort_keys=False,
            allow_unicode=True,
        ),
    )


def read_plain(path: Path) -> Any:
    """Read a file of settings as plain data; FileNotFoundError if there is none, InputError for
    what no run writes."""
    import yaml

    loader = yaml.SafeLoader  # libyaml rejects the escapes in names that are not UTF-8
    try:
        text, depth = read_whole(path, MAX_BYTES, "settings").decode("utf-8"), 0
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
                event, yaml.CollectionEndEvent
            )
            if isinstance(event, yaml.AliasEvent) or depth > MAX_NESTING:
                line = event.start_mark.line + 1 if event.start_mark else 0
                raise InputError(
                    f"{path}:{line}: an alias or deep nesting; expected settings of a run"
                )
        return yaml.safe_load(text)
    except (FileNotFoundError, NotADirectoryError, InputError):
        raise
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as problem:
        raise InputError(f"{path}: cannot be read: {str(problem).partition(chr(10))[0]}") from None


def read_config(folder: Path, section: str, kind: type[S]) -> S:
    """Read the settings of the run in a folder as a `kind` of settings; InputError if there are
    none."""
    path = folder / CONFIG
    try:
        plain = read_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        command = COMMANDS.get(section, section)
        raise InputError(
            f"{folder}: contains no {section} run (no {CONFIG}); start one with tuner {command}"
        ) from None
    found = (
        plain.get(section)
        if isinstance(plain, dict) and isinstance(plain.get("command"), str)
        else None
    )
    known = kind.recorded()
    needed = {name for name, usual in known.items() if usual not in NOTHING}
    if not isinstance(found, dict) or not needed <= set(found) <= set(known):
        raise InputError(
            f"{path}: not the settings of a {section} of this version; start another with --run"
        )
    try:
        return make(kind, found, str(path))
    except InputError as problem:
        raise InputError(f"{problem}; restore it, or start another with --run") from None


def require_fresh(folder: Path, section: str | None = None) -> None:
    """Raise InputError unless a new run may begin in a folder: it does not exist, is empty, or was
    left by a process that was killed before its run was there. `section` names the kind of runs
    that can be resumed."""
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
    kind = kind_of(folder) if CONFIG in names else None
    if kind is not None and kind == section:
        raise InputError(
            f"{folder}: contains a run already; continue it with --resume"
            f" {shlex.quote(str(folder))}, or choose another folder"
        )
    if kind is not None:
        raise InputError(
            f"{folder}: contains a run of `tuner {kind}` already; choose another folder, or remove"
            " that run"
        )
    of_kind = {LOCK, NOW} if section else {*LEFT, WORK}
    ours = {name for name in of_kind.intersection(names) if _left_by_us(folder / name)}
    begun = section and LOCK in ours and (folder / LOCK).stat().st_size
    foreign = [
        name
        for name in names
        if not (name in ours or TEMPORARY.fullmatch(name) or begun and BEGINNINGS.fullmatch(name))
    ]
    if foreign:
        shown = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
        raise InputError(
            f"{folder}: contains unrelated files ({shown}), expected a new or empty folder; choose"
            " another name"
        )


def _left_by_us(path: Path) -> bool:
    """Return whether a process of this program left a file or folder when it was killed."""
    if path.name == WORK:
        return (path / MARK).is_file()
    if path.name in FILES:
        return is_ours(path.parent / DATABASE)
    if not path.is_file():
        return False
    with open(path, "rb") as stream:
        start = stream.read(len(LEFT[path.name]))
    return start == LEFT[path.name] or path.name == LOCK and not start


def kind_of(folder: Path) -> str | None:
    """Return the command of the run in a folder, if its settings show it."""
    if not (folder / CONFIG).is_file():  # a pipe may have no end
        return None
    try:
        found = KINDS.search(read_whole(folder / CONFIG, MAX_BYTES, "settings"))
    except (InputError, OSError):
        return None
    return COMMANDS.get(kind := found[1].decode(), kind) if found else None


def begin_folder(folder: Path, section: str | None = None) -> Path:
    """Make the folder of a new run, and return it; locked until this one ends
    or takes the lock by `locked`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder}: cannot create this folder: {problem.strerror}") from None
    require_fresh(folder, section)  # another process may have written there
    stream = locked(folder)
    try:
        require_fresh(folder, section)
    except InputError:
        stream.close()
        raise
    stream.write(LOCKED)
    stream.flush()
    _begun[os.path.realpath(folder)] = stream
    return folder


def begin_numbered(base: str, section: str) -> Path:
    """Make the folder of a new run, the first of base-1, base-2, ... that does not exist; locked
    like those of `begin_folder`. Runs that begin at the same time get one each."""
    for number in itertools.count(1):
        folder = Path(f"{base}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        except OSError as problem:
            raise InputError(f"{folder}: cannot create this folder: {problem.strerror}") from None
        begin_folder(folder, section)
        return folder
    raise AssertionError("there is always another number")


_begun: dict[str, IO[bytes]] = {}  # locks of new folders, until `locked` takes them


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder for the files of a run, which move to the folder of the run after the block;
    locked during the block. If the block fails, they are removed; the store of searches stays."""
    there, lock_there = folder.is_dir(), (folder / LOCK).exists()
    require_fresh(folder)
    begin_folder(folder)
    work = folder / WORK
    with locked(folder):
        shutil.rmtree(work, ignore_errors=True)  # of a process that was killed
        try:
            work.mkdir()
            (work / MARK).touch()
            yield work
            (work / MARK).unlink()
            for path in work.iterdir():
                if os.path.lexists(folder / path.name):
                    raise InputError(f"{folder / path.name}: is new in the folder of this run")
                os.rename(path, folder / path.name)
            work.rmdir()
        except BaseException:  # interrupts too
            shutil.rmtree(work, ignore_errors=True)
            (folder / NOW).unlink(missing_ok=True)
            if not lock_there and not (folder / DATABASE).exists():
                (folder / LOCK).unlink(missing_ok=True)
            if not there:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise


def locked(folder: Path) -> IO[bytes]:
    """Lock a folder; returns the file that holds the lock while it is open. InputError if another
    process has locked it."""
    if stream := _begun.pop(os.path.realpath(folder), None):
        return stream
    try:
        stream = open(folder / LOCK, "ab")
    except OSError as problem:
        raise InputError(
            f"{folder}: cannot be written: {problem.strerror}; choose another folder"
        ) from None
    try:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # this system has no such locks
        pass
    except OSError:
        stream.close()
        raise InputError(
            f"{folder}: another process is using this folder; wait for it, or stop it"
        ) from None
    return stream


def write_all(stream: IO[bytes], data: bytes) -> int:
    """Write all data to an unbuffered file, in one call unless the system interrupts it; return the
    length."""
    done = 0
    while done < len(data):
        done += stream.write(data[done:])
    return done
