"""Folders of long commands: settings enough to repeat them, and one process at a time."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from types import UnionType
from typing import IO, Any, get_args, get_origin, get_type_hints

from games.streams import InputError
from tuner import __version__
from tuner.io.files import CONFIG, LOCK, read_whole, replace_file, replaced
from tuner.io.files import HISTORY as HISTORY

BEGINNINGS = re.compile(r"lock|start\.yaml|[ab]\.yaml|\..*\.tmp")  # what is in the folder before it is that of a run
KINDS = re.compile(rb"^(match|selfplay|options):", re.MULTILINE)  # sections of CONFIG; options are those of tune
MADE = re.compile(r"lock|games|merged|(results|positions)\.npy|(start|params|config)\.yaml|history\.jsonl|findings\.json|"
                  r"\..*\.(tmp|old)")  # by tune
LARGEST, DEEPEST = 4 << 20, 12  # bytes of settings, and how deep they may be nested


def write_config(folder: Path, section: str, settings: Any, command: str | None = None) -> None:
    """Make a folder the folder of a run: the fields of a dataclass under the name of its kind. They come last: a folder
    without them holds no run. Without a command, that of the settings before stays."""
    import yaml

    if command is None:
        command = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))["command"]
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(settings).items()}
    replace_file(folder / CONFIG, yaml.safe_dump({"command": command, "version": __version__, section: plain},
                                                 sort_keys=False, allow_unicode=True))


def read_plain(path: Path) -> Any:
    """The plain data of a file of settings; FileNotFoundError if there is none, InputError for what no run has written."""
    import yaml

    loader = yaml.SafeLoader  # libyaml refuses the escapes of names that are not UTF-8
    try:
        text, depth = read_whole(path, LARGEST, "settings").decode("utf-8"), 0
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
                raise InputError(f"{path}:{event.start_mark.line + 1}: an alias, or nested too deep; expected settings of a run")
        return yaml.safe_load(text)
    except (FileNotFoundError, NotADirectoryError, InputError):
        raise
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as problem:
        raise InputError(f"{path}: cannot be read: {str(problem).partition(chr(10))[0]}") from None


def read_config(folder: Path, section: str, kind: type) -> Any:
    """The settings of the run in a folder, as the dataclass `kind`, whose `require_sense` raises ValueError for values that its
    types allow and the command does not; InputError if there is none."""
    path = folder / CONFIG
    try:
        plain = read_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder}: holds no {section} (no {CONFIG}); start one with --run {folder}") from None
    found = plain.get(section) if isinstance(plain, dict) and isinstance(plain.get("command"), str) else None
    if not isinstance(found, dict) or set(found) != {field.name for field in fields(kind)}:
        raise InputError(f"{path}: not the settings of a {section} of this version; start another with --run")
    hints = get_type_hints(kind)
    for name, value in found.items():
        if not _fits(value, hints[name]):
            expected = next(field.type for field in fields(kind) if field.name == name)
            raise InputError(f"{path}: {name} is {_shown(value)}, expected {expected}; put it back, or start another with --run")
    settings = kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in found.items()})
    try:
        settings.require_sense()
    except ValueError as problem:
        raise InputError(f"{path}: {problem}; put it back, or start another with --run") from None
    return settings


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of YAML is of a type; lists are tuples there, and whole numbers may stand for others."""
    parts = get_args(hint)
    if get_origin(hint) is UnionType:
        return any(_fits(value, part) for part in parts)
    if get_origin(hint) is tuple:
        hints = parts[:1] * len(value) if parts[-1] is ... and isinstance(value, list) else parts
        return isinstance(value, list) and len(value) == len(hints) and all(map(_fits, value, hints))
    if get_origin(hint) is dict:
        return isinstance(value, dict) and all(_fits(k, parts[0]) and _fits(v, parts[1]) for k, v in value.items())
    if hint is float:
        return type(value) is int and abs(value) < 1e300 or type(value) is float and math.isfinite(value)
    return type(value) is hint


def _shown(value: Any) -> str:
    """A value of YAML in an error; lists and mappings may be without end."""
    return {list: "a list", dict: "a mapping"}.get(type(value)) or ascii(value)[:40]


def require_within(name: str, value: float | None, low: float, high: float) -> None:
    """ValueError for a number that is given and not from `low` to `high`."""
    if value is not None and not low <= value <= high:
        raise ValueError(f"{name} is {_shown(value)}, expected a number from {low:g} to {high:g}")


def require_among(name: str, value: str, choices: Iterable[str]) -> None:
    """ValueError for a word that is not among these."""
    if value not in (known := list(choices)):
        raise ValueError(f"{name} is {_shown(value)}, expected {' or '.join(known)}")


def require_fresh(folder: Path, section: str | None = None) -> None:
    """InputError unless a new run may begin in a folder: it is not there, or empty, or a process was killed that began one
    there. `section` is that of runs that can be resumed."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        if os.path.islink(folder):
            raise InputError(f"{folder}: a link that leads nowhere; choose another folder") from None
        return
    except NotADirectoryError as problem:
        why = "File exists" if os.path.lexists(folder) else problem.strerror
        raise InputError(f"{folder}: cannot be made a folder: {why}") from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{folder}: cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    kind = _kind_of(folder) if CONFIG in names else None
    if kind is not None and kind == section:
        raise InputError(f"{folder}: holds a run already; go on with it by --resume {shlex.quote(str(folder))}, or choose "
                         "another folder")
    if kind is not None:
        raise InputError(f"{folder}: holds a run of `tuner {kind}` already; choose another folder, or remove that one")
    if names and LOCK not in names:
        raise InputError(f"{folder}: holds other files ({shown}), expected a new or empty folder; choose another name")
    if not all(BEGINNINGS.fullmatch(name) if section else name == LOCK for name in names):
        raise InputError(f"{folder}: holds what another run left ({shown}), from which nothing goes on; remove it, or choose "
                         "another folder")


def _kind_of(folder: Path) -> str | None:
    """The command whose run a folder holds, if its settings tell."""
    try:
        found = KINDS.search(read_whole(folder / CONFIG, LARGEST, "settings"))
    except (InputError, OSError):
        return None
    return {"options": "tune"}.get(kind := found[1].decode(), kind) if found else None


def begin_folder(folder: Path, section: str | None = None) -> None:
    """Make the folder of a new run, and keep other processes from it until this one ends or has asked for the lock."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder}: cannot be made a folder: {problem.strerror}") from None
    require_fresh(folder, section)  # there may be something by now
    stream = locked(folder)
    try:
        require_fresh(folder, section)
    except InputError:
        stream.close()
        raise
    _begun[os.path.realpath(folder)] = stream


_begun: dict[str, IO[bytes]] = {}  # locks of folders that were begun, until they are asked for


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """The folder of a run that cannot be resumed, held while the block runs; if that fails it is as it was before."""
    there = folder.is_dir()
    require_fresh(folder)
    begin_folder(folder)
    with locked(folder):
        try:
            yield folder
        except BaseException:  # interrupts too: nothing could go on from what is there
            for path in folder.iterdir():
                if MADE.fullmatch(path.name):
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            if not there:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise


def locked(folder: Path) -> IO[bytes]:
    """A file that is held as long as a process works here; InputError if another does."""
    if stream := _begun.pop(os.path.realpath(folder), None):
        return stream
    try:
        stream = open(folder / LOCK, "ab")
    except OSError as problem:
        raise InputError(f"{folder}: cannot be written: {problem.strerror}; choose another folder") from None
    try:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such thing on this system
        pass
    except OSError:
        stream.close()
        raise InputError(f"{folder}: another process works here; wait for it, or end it") from None
    return stream


def write_all(stream: IO[bytes], data: bytes) -> int:
    """All of it to an unbuffered file, at once unless the system is interrupted; returns the length."""
    done = 0
    while done < len(data):
        done += stream.write(data[done:])
    return done


def keep_beside(path: Path, start: int = 0) -> Path:
    """Copy a file from a byte on to the first free name of PATH.damaged-1, ...; returns that."""
    number = 1
    while os.path.lexists(f"{path}.damaged-{number}"):
        number += 1
    target = Path(f"{path}.damaged-{number}")
    with replaced(target) as temporary, open(path, "rb") as source, open(temporary, "wb") as out:
        source.seek(start)
        shutil.copyfileobj(source, out)
        out.flush()
        os.fsync(out.fileno())
    return target
