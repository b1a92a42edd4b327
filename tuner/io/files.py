"""Files: atomic writes, checks of output paths, and reads of limited size."""

import contextlib
import hashlib
import mmap
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import games
from games.system import split
from tuner.core.records import InputError

BUNDLED = Path(__file__).resolve().parents[2] / "params"
QUIESCENCE = "classic"  # every game comes with parameters of this name
CONFIG = "config.yaml"
SPSA_LINE = re.compile(rb"[\w-]+\.[\w.\[\]-]+, (int|float)(, -?[\d.e+-]+){5}\r?\n")


def bundled() -> dict[str, Path]:
    """Return the bundled parameter files by name, `chess/classic`; your own games have theirs in
    `params` next to their folder of `games`."""
    folders = [BUNDLED, *(Path(folder).parent / "params" for folder in games.__path__[1:])]
    return {
        f"{path.parent.name}/{path.stem}": path
        for folder in reversed(folders)
        for path in sorted(folder.glob("*/*.yaml"))
    }


def temporary_name(path: Path) -> Path:
    """Return the path to which a file is written before it is renamed to `path`."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which replaces `path` after the block, with the mode of the old file,
    and is removed if the block fails. If `path` is a link, the file that it points to is replaced.
    InputError if the file cannot be written."""
    place = Path(os.path.realpath(path))
    temporary = temporary_name(place)
    try:
        yield temporary
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
        os.replace(temporary, place)
    except OSError as problem:
        raise unwritable(path, problem) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def unwritable(
    path: Path | str, problem: OSError, advice: str = "choose another place"
) -> InputError:
    """Return the error for a file that cannot be written: disk full, no permission, too large."""
    return InputError(f"{path}: cannot be written: {problem.strerror or problem}; {advice}")


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file atomically. Text is written as UTF-8 with its own line ends; what UTF-8 cannot
    encode becomes escapes."""
    with replaced(path) as temporary:
        temporary.write_bytes(
            plain_text(content).encode("utf-8") if isinstance(content, str) else content
        )


def plain_text(text: str) -> str:
    """Return the text with escapes for what UTF-8 cannot encode, such as some names of files."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes; OSError if it cannot be read."""
    state = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(1 << 20):
            state.update(piece)
    return state.hexdigest()


def file_entry(path: str | Path) -> dict[str, str]:
    """Return the name of a file and its SHA-256 as plain data, with "-" for one that cannot be read
    again, such as standard input and pipes, or not at all."""
    known = os.path.isfile(path) and os.access(path, os.R_OK)
    return {"file": Path(path).name, "sha256": sha256_of(path) if known else "-"}


_piped: dict[
    tuple[int, int], bytes
] = {}  # contents of pipes by device and inode, because a pipe can be read only once


def read_whole(path: str | Path, most: int, what: str) -> bytes:
    """Read a file or pipe of at most `most` bytes. FileNotFoundError if there is none; InputError
    for other problems."""
    try:
        with open(path, "rb", buffering=0) as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISDIR(status.st_mode):  # some systems open folders as files
                raise IsADirectoryError(21, "Is a directory")
            key = status.st_dev, status.st_ino
            if key in _piped:
                return _piped[key]
            pieces, size = [], 0
            while size <= most and (piece := stream.read(min(1 << 20, most + 1 - size))):
                pieces.append(piece)
                size += len(piece)
            if size > most:
                size_text = (
                    f"{status.st_size:,}" if status.st_size > most else f"more than {most:,}"
                )
                raise InputError(f"{path}: {size_text} bytes, expected {what} of at most {most:,}")
            content = b"".join(pieces)
            if stat.S_ISFIFO(status.st_mode):
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


# of an existing file; the functions below recognize what a command wrote
Content = bytes | mmap.mmap


def _is_learned(content: Content) -> bool:
    return all(
        re.search(rb"^" + key, content, re.MULTILINE)
        for key in (b"game: ", b"weights:", b"learned:")
    )


def _is_games(content: Content) -> bool:
    """Whether a game knows this as games that were played here."""
    from games.record import available, find

    return any(find(name).files.made_here(content) for name in available())


def _is_page(content: Content) -> bool:
    return b'<meta name="generator" content="evaltune ' in content[:4096]


def _is_export(content: Content) -> bool:
    return b"exported by evaltune" in content[:4096] or SPSA_LINE.match(content) is not None


def _is_network(content: Content) -> bool:
    return all(
        re.search(rb"^" + key, content, re.MULTILINE)
        for key in (b"game: ", b"encoding: ", b"layers: ", b"origin: ")
    )


def _is_weights(content: Content) -> bool:
    return content[:4] == b"PK\x03\x04" and content[30:42] == b"weights0.npy"


LEARNED, GAMES, PAGE, EXPORT = (
    "a learned parameter file",
    "games of `tuner match`",
    "a page of `tuner report`",
    "an export",
)


def _is_log(content: Content) -> bool:
    from games.process import LOG  # not before it is needed: engines answer at once

    return content[: len(LOG)] == LOG.encode()


NETWORK, WEIGHTS = "a network", "the weights of a network"
LOGFILE = "a log of engines"
MADE_HERE: dict[str, Callable[[Content], bool]] = {
    LEARNED: _is_learned,
    GAMES: _is_games,
    PAGE: _is_page,
    EXPORT: _is_export,
    NETWORK: _is_network,
    WEIGHTS: _is_weights,
    LOGFILE: _is_log,
}


def require_writable(
    output: Path,
    kind: str,
    reads: Iterable[str | None],
    run: Path | None = None,
    ours: Callable[[Path], bool] = lambda path: False,
) -> None:
    """Raise InputError before a long computation if its output cannot or must not be written.

    An existing file is replaced only if it is empty or of the `kind` that is written (a key of
    MADE_HERE). It must not be one that the command `reads` (as the user named them: files, folders,
    engines, bundled names), nor be in the folder of this `run` or of another; only pages may be in
    the folder of their run. `ours` recognizes files of no such kind that the command wrote."""
    require_other(output, reads)
    folder = output.parent
    if str(output) == "-":
        raise InputError("-: is not standard output here, expected the name of a file to write")
    if os.path.isdir(output):
        raise InputError(f"{output}: is a folder, expected the name of a file to write")
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: no such folder to write {output.name} in; make it first")
    place = Path(os.path.realpath(output))
    if place.is_relative_to(BUNDLED):
        raise InputError(
            f"{output}: is in the folder of the bundled parameter files; choose another place"
        )
    if kind != PAGE and (
        run is not None and os.path.realpath(run) == str(place.parent) or is_run(place.parent)
    ):
        raise InputError(f"{output}: is in the folder of a run; choose another place")
    if os.path.lexists(place):
        if not os.path.isfile(place):
            raise InputError(
                f"{output}: is a device or a pipe, expected the name of a file to write"
            )
        if not _made_here(place, kind) and not ours(place):
            raise InputError(
                f"{output}: exists and is not {kind}, so it is not replaced; choose another name,"
                " or remove it"
            )
    probe = temporary_name(place)
    try:
        probe.touch()
    except OSError as problem:
        raise unwritable(output, problem) from None
    finally:  # also where a signal ends the command
        with contextlib.suppress(OSError):
            probe.unlink()


def is_run(folder: Path) -> bool:
    """Whether a folder contains a run."""
    from tuner.core.store import DATABASE, is_ours

    return is_ours(folder / DATABASE)


def require_other(output: Path, reads: Iterable[str | None]) -> None:
    """Raise InputError for an output that is an input of the command, perhaps under another
    name."""
    if "\0" in str(output):
        raise InputError(f"{output}: a file name cannot contain a zero byte; choose another name")
    for name in filter(None, reads):
        if any(_same_file(output, word) for word in _words(str(name))):
            raise InputError(
                f"{output}: is an input of this command and would be overwritten; choose another"
                " name"
            )


def _words(name: str) -> list[str]:
    """Return the files that a name may mean; for an engine, the words of its command."""
    protocol, _, command = name.partition(":")
    if not protocol.isalpha():
        return [name]
    try:
        return [name, *split(command)]
    except ValueError:  # an unfinished quotation: an error when the engine is started
        return [name]


def _same_file(a: Path, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except (OSError, ValueError):  # one of them does not exist or is not the name of a file
        return False


def _made_here(path: Path, kind: str) -> bool:
    if os.path.getsize(path) == 0:
        return True
    try:
        with (
            open(path, "rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return MADE_HERE[kind](content)
    except (OSError, ValueError):
        return False
