"""Copies of an engine's folder, and what a build does in them."""

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from games.process import guard
from games.streams import InputError, one_line
from games.system import APART, is_writable_place, kill_group, split
from tuner.export.into.source import LANGUAGES
from tuner.io.files import is_run, sha256_of

BUILD_SECONDS, LOOK_SECONDS = 3600.0, 1.0
LARGEST_LOG, LARGEST_END = 64 << 20, 1 << 20  # bytes: of what a build prints, of what is read of it
LARGEST_FOLDER = 4 << 30  # bytes
SOURCES = {suffix for language in LANGUAGES for suffix in language.suffixes} | {".def"}
MEASURED, STATE = ".measured", "state"  # a folder in which counts are measured, and its file
NOT_COPIED = (".git", ".hg", ".svn")


def copy_folder(folder: Path, into: Path) -> None:
    """Copy an engine's folder, without its history and without runs. The copy is whole or not
    there. InputError for what cannot be copied."""
    aside = into.with_name(f".{into.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)

    def left_out(place: str, names: list[str]) -> Iterable[str]:
        for name in names:
            mode = (path := Path(place, name)).lstat().st_mode
            if _is_left_out(path) or not (
                stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
            ):
                yield name

    if not is_writable_place(str(folder)):
        raise InputError(
            f"{folder}: is made by the system, expected a folder with files of an engine"
        )
    size = 0
    for path in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            size += os.lstat(path).st_size
    if size > LARGEST_FOLDER:
        raise InputError(
            f"{folder}: {size >> 20:,} MB, expected the folder of an engine of at most"
            f" {LARGEST_FOLDER >> 20:,} MB, since every round copies it; name a smaller one"
        )
    try:
        shutil.copytree(folder, aside, symlinks=True, ignore=lambda p, n: set(left_out(p, n)))
        shutil.rmtree(into, ignore_errors=True)  # of a step that was killed as it ended
        os.replace(aside, into)
    except (OSError, shutil.Error) as problem:
        place, _, why = problem.args[0][0] if isinstance(problem, shutil.Error) else ("", "", "")
        raise InputError(
            f"{place or folder}: cannot be copied to {into}: {why or problem}"
        ) from None


def _is_left_out(path: Path) -> bool:
    measured = path.name.endswith(MEASURED) and (path / STATE).exists()
    return path.name in NOT_COPIED or measured or is_run(path)


@contextlib.contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """InputError if the content or the mode of a file of a folder changes during the block, in
    which a copy of it is built, successfully or not."""
    before = _contents(folder)
    try:
        yield
    finally:
        after = _contents(folder)
        if changed := [path for path in before | after if before.get(path) != after.get(path)]:
            raise InputError(
                f"{min(changed)} changed during the build, which may write into its copy alone: it"
                " names an absolute path, perhaps in what cmake or configure left in the folder;"
                " undo the change, and make that relative"
            )


def words_in(tree: Path, command: str) -> list[str]:
    """Return the words of a command with the files of a folder that it names: its program if it is
    there, and every word that begins with `./`."""
    return [
        str(tree / word) if word.startswith("./") or (i == 0 and (tree / word).is_file()) else word
        for i, word in enumerate(split(command))
    ]


class BuildFault(InputError):
    """A build failed."""


def build_in(
    tree: Path,
    command: str,
    log: Path,
    what: str,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a build in a copy, its output in `log`. BuildFault, with the last line of it, if that
    fails."""
    problem = ""
    guard()
    with open(log, "wb") as stream:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=tree,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            **APART,
        )
        end = time.monotonic() + BUILD_SECONDS
        try:
            while not problem:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_SECONDS)
                    break
                if time.monotonic() > end:
                    problem = f"took more than {BUILD_SECONDS:g} s"
                elif log.stat().st_size > LARGEST_LOG:
                    problem = f"printed more than {LARGEST_LOG >> 20} MB"
        finally:
            kill_group(process.pid)
            status = process.wait()
    if problem or status:
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        raise BuildFault(
            f"the build of {what}, `{command}`, {problem or how}:"
            f" {_last_line(log)}; all of it is in {log}"
        )


def touch_sources(tree: Path) -> None:
    """Make all sources newer than what was built from them, and remove classes of Java, which javac
    does not compile again: a build may not know which files depend on one that changed."""
    for path in map(Path, _files(tree)):
        suffix = path.suffix.lower()
        if path.is_file() and not path.is_symlink():
            if suffix in SOURCES:
                os.utime(path)
            elif suffix == ".class":
                path.unlink()


def _files(folder: Path) -> Iterator[str]:
    """Yield what is in a folder, without its history and runs."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_left_out(Path(place, name))]
        yield from (os.path.join(place, name) for name in [*folders, *names])


def _contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Return the mode and the hash, or where links lead to, of what is in a folder."""
    contents = {}
    for path in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            mode = os.lstat(path).st_mode
            content = (
                os.readlink(path)
                if stat.S_ISLNK(mode)
                else sha256_of(Path(path))
                if stat.S_ISREG(mode)
                else ""
            )
            contents[path] = (mode, content)
    return contents


def state_of(folder: Path, suffixes: Collection[str] | None = None) -> str:
    """Return a hash of what is in a folder, or of its files with some suffixes."""
    listed = sorted(
        (os.path.relpath(path, folder), *of)
        for path, of in _contents(folder).items()
        if suffixes is None or Path(path).suffix.lower() in suffixes
    )
    return hashlib.sha256(repr(listed).encode()).hexdigest()[:16]


def _last_line(log: Path) -> str:
    """The last line of a build that mentions an error, or else the last."""
    with open(log, "rb") as stream:
        stream.seek(max(0, log.stat().st_size - LARGEST_END))
        text = stream.read().decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if "error" in line.lower() and not line.startswith("make")]
    return one_line((errors or lines or ["it printed nothing"])[0 if errors else -1])[:200]
