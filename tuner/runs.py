"""Folders of long commands: settings enough to repeat them, and one process at a time."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

from games.streams import InputError
from tuner import __version__
from tuner.files import replace_file

HISTORY, CONFIG, LOCK = "history.jsonl", "config.yaml", "lock"
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

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: {path.stat().st_size:,} bytes, expected settings of at most {LARGEST:,}")
        text, depth = path.read_text(encoding="utf-8"), 0
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
                raise InputError(f"{path}:{event.start_mark.line + 1}: an alias, or nested too deep; expected settings of a run")
        return yaml.load(text, Loader=loader)  # the safe loader, in C where there is one
    except (FileNotFoundError, NotADirectoryError, InputError):
        raise
    except (OSError, ValueError, yaml.YAMLError) as problem:
        raise InputError(f"{path}: cannot be read: {str(problem).partition(chr(10))[0]}") from None


def read_config(folder: Path, section: str, kind: type) -> Any:
    """The settings of the run in a folder, as the dataclass `kind`; InputError if there is none."""
    path = folder / CONFIG
    try:
        plain = read_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder}: holds no {section} (no {CONFIG}); start one with --run {folder}") from None
    found = plain.get(section) if isinstance(plain, dict) else None
    if not isinstance(found, dict) or set(found) != {field.name for field in fields(kind)}:
        raise InputError(f"{path}: not the settings of a {section} of this version; start another with --run")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in found.items()})


def begin_folder(folder: Path) -> None:
    """Make the folder of a run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder}: cannot be made a folder: {problem.strerror}") from None


def require_fresh(folder: Path) -> None:
    """InputError if a folder holds a run already."""
    if (folder / CONFIG).exists() or (folder / HISTORY).exists():
        raise InputError(f"{folder}: holds a run already; go on with it by --resume {folder}, or choose another folder")


def locked(folder: Path) -> IO[bytes]:
    """A file that is held as long as a process works here; InputError if another does."""
    stream = open(folder / LOCK, "ab")
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
