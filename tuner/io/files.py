"""Files that appear whole or not at all, what may be written over, and reading no more than there should be."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import re
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from games.streams import InputError

BUNDLED = Path(__file__).resolve().parents[2] / "params"
QUIESCENCE = "classic"  # every game comes with parameters of this name
HISTORY, CONFIG, LOCK = "history.jsonl", "config.yaml", "lock"  # of the folder of a run
GAMES_MARK = re.compile(rb'\[Event "tuner (match|selfplay)"\]')
SPSA_LINE = re.compile(rb"[\w-]+\.[\w.\[\]-]+, (int|float)(, -?[\d.e+-]+){5}\r?\n")


def temporary_name(path: Path) -> Path:
    """Where a file is written before it is put in place."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary name to write to; put in place of `path` once the block is done, and removed if it fails. A link stays and
    leads to the new file. InputError if the file cannot be written."""
    place = Path(os.path.realpath(path))
    temporary = temporary_name(place)
    try:
        yield temporary
        os.replace(temporary, place)
    except OSError as problem:
        raise unwritable(path, problem) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def unwritable(path: Path | str, problem: OSError, advice: str = "choose another place") -> InputError:
    """What is said of a file that cannot be written: no room, no permission, too large."""
    return InputError(f"{path}: cannot be written: {problem.strerror or problem}; {advice}")


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file as a whole; text as UTF-8, its line ends as they are, bytes of names that are no text as escapes."""
    with replaced(path) as temporary:
        temporary.write_bytes(plain_text(content).encode("utf-8") if isinstance(content, str) else content)


def plain_text(text: str) -> str:
    """The same text with what UTF-8 cannot hold, as names of files may, written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def sha256_of(path: str | Path) -> str:
    """The hash of a file's bytes; OSError if it cannot be read."""
    state = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(1 << 20):
            state.update(piece)
    return state.hexdigest()


_piped: dict[tuple[int, int], bytes] = {}  # what pipes held, by device and inode: they can be read once only


def read_whole(path: str | Path, most: int, what: str) -> bytes:
    """The bytes of a file or pipe, of which there may be `most`; FileNotFoundError, other trouble as InputError."""
    try:
        with open(path, "rb", buffering=0) as stream:
            found = os.fstat(stream.fileno())
            if stat.S_ISDIR(found.st_mode):  # where opening one is not refused
                raise IsADirectoryError(21, "Is a directory")
            key = found.st_dev, found.st_ino
            if key in _piped:
                return _piped[key]
            pieces, size = [], 0
            while size <= most and (piece := stream.read(min(1 << 20, most + 1 - size))):
                pieces.append(piece)
                size += len(piece)
            if size > most:
                told = f"{found.st_size:,}" if found.st_size > most else f"more than {most:,}"
                raise InputError(f"{path}: {told} bytes, expected {what} of at most {most:,}")
            content = b"".join(pieces)
            if stat.S_ISFIFO(found.st_mode):
                _piped[key] = content
            return content
    except NotADirectoryError:
        raise FileNotFoundError(2, "No such file or directory", str(path)) from None
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from None
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{path}: cannot be read: {problem}") from None


Content = bytes | mmap.mmap  # of a file that is there; below, what tells that it is one that a command wrote


def _is_learned(content: Content) -> bool:
    return all(re.search(rb"^" + key, content, re.MULTILINE) for key in (b"game: ", b"weights:", b"learned:"))


def _is_games(content: Content) -> bool:
    """PGN, every game of which was played here: others may have been added to such a file."""
    events = re.findall(rb"^\[Event .*?\r?$", content, re.MULTILINE)
    return content[:7] == b"[Event " and all(GAMES_MARK.match(event) for event in events)


def _is_page(content: Content) -> bool:
    return b'<meta name="generator" content="evaltune ' in content[:4096]


def _is_export(content: Content) -> bool:
    return b"exported by evaltune" in content[:4096] or SPSA_LINE.match(content) is not None


LEARNED, GAMES, PAGE, EXPORT = "a learned parameter file", "games of `tuner match`", "a page of `tuner report`", "an export"
MADE_HERE: dict[str, Callable[[Content], bool]] = {LEARNED: _is_learned, GAMES: _is_games, PAGE: _is_page, EXPORT: _is_export}


def require_writable(output: Path, kind: str, reads: Iterable[str | None], run: Path | None = None) -> None:
    """InputError, now rather than after a long computation, for an output that cannot be written or must not be.

    A file that is there is replaced only if it is empty or of the `kind` that is written (a key of MADE_HERE), and neither one
    of those that the command `reads` (named as the user did: files, folders, engines, bundled names) nor in the folder of a
    run, this `run` or another. Pages may lie in the folder of their run.
    """
    require_other(output, reads)
    folder = output.parent
    if os.path.isdir(output):
        raise InputError(f"{output}: is a folder, expected the name of a file to write")
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: no such folder to write {output.name} in; make it first")
    place = Path(os.path.realpath(output))
    if place.is_relative_to(BUNDLED):
        raise InputError(f"{output}: lies among the bundled parameter files; choose another place")
    if kind != PAGE and (run is not None and os.path.realpath(run) == str(place.parent) or is_run(place.parent)):
        raise InputError(f"{output}: in the folder where a run keeps its own files; choose another place")
    if os.path.lexists(place):
        if not os.path.isfile(place):
            raise InputError(f"{output}: is a device or a pipe, expected the name of a file to write")
        if not _made_here(place, kind):
            raise InputError(f"{output}: exists and is not {kind}, so it is not replaced; choose another name, or remove it")
    probe = temporary_name(place)
    try:
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise unwritable(output, problem) from None


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run of ours."""
    return os.path.isfile(folder / CONFIG) and os.path.isfile(folder / HISTORY)


def require_other(output: Path, reads: Iterable[str | None]) -> None:
    """InputError for an output that is one of the files that a command reads, under whatever name."""
    if "\0" in str(output):
        raise InputError(f"{output}: a name cannot hold a zero byte; choose another name")
    for name in filter(None, reads):
        if any(_same_file(output, word) for word in _words(str(name))):
            raise InputError(f"{output}: is read by this command and would be replaced; choose another name")


def _words(name: str) -> list[str]:
    """The files that a name may mean: of an engine those of its command."""
    protocol, _, command = name.partition(":")
    if protocol not in ("uci", "xboard"):
        return [name]
    try:
        return [name, *shlex.split(command)]
    except ValueError:  # an unfinished quotation, which is told where the engine is started
        return [name]


def _same_file(a: Path, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except (OSError, ValueError):  # one of them is not there, or no name of a file at all
        return False


def _made_here(path: Path, kind: str) -> bool:
    if os.path.getsize(path) == 0:
        return True
    try:
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return MADE_HERE[kind](content)
    except (OSError, ValueError):
        return False
