"""Versions of an engine: copies of its folder with different weights, built."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from games.process import guard
from games.process import words_of as words_of_command
from games.record import find
from games.streams import InputError, one_line
from games.system import APART, is_writable_place, kill_group, split
from tuner.export.into.source import LANGUAGES
from tuner.improve.plan import LoopPlan, command_in, player_of, words_of
from tuner.io.files import is_run, sha256_of
from tuner.parameters.reader import game_of
from tuner.play.players import OURS, understood

BUILD_SECONDS, LOOK_SECONDS = 3600.0, 1.0
LARGEST_LOG, LARGEST_END = 64 << 20, 1 << 20  # bytes: of what a build prints, of what is read of it
BUILT, LOG, PARAMS, TREE = "built", "build.log", "params.yaml", "engine"
LARGEST_FOLDER = 4 << 30  # bytes
SOURCES = {suffix for language in LANGUAGES for suffix in language.suffixes} | {".def"}
NOT_COPIED = (".git", ".hg", ".svn")


@dataclass(frozen=True)
class Version:
    """A version of the engine in a folder of the run: its sources and programs in `tree`, its
    numbers in `params`."""

    name: str
    folder: Path
    plan: LoopPlan

    @property
    def tree(self) -> Path:
        """The copy of the engine's folder."""
        return self.folder / TREE

    @property
    def params(self) -> Path:
        """The parameter file with the numbers of the sources."""
        return self.folder / PARAMS

    @property
    def sources(self) -> list[Path]:
        """The files with the numbers."""
        return [self.tree / name for name in self.plan.source.files]

    @property
    def player(self) -> str:
        """The engine as a player: `uci:COMMAND` unless the plan names another protocol."""
        protocol, text = player_of(self.plan.plays)
        return f"{protocol}:{command_in(self.tree, text)}"

    @property
    def rows(self) -> str:
        """The command of the program that prints rows."""
        return command_in(self.tree, self.plan.rows)

    @property
    def numbers(self) -> list[str]:
        """The options of `tuner export` about the sources."""
        source = self.plan.source
        return words_of({"map": source.map, "flip": source.flip})

    def programs(self, key: str) -> list[Path]:
        """The files of the copy that the command `plays` or `rows` names, at least its program; of
        folders, such as those of classes, all files. InputError if one is not there."""
        command = self.rows if key == "rows" else self.player.partition(":")[2]
        words = split(command)
        named = [Path(word) for word in words if word.startswith(f"{self.tree}{os.sep}")]
        files = [file for path in named for file in _files_at(path)]
        first = shutil.which(words[0])
        if first is None or not all(map(_files_at, named)):
            is_file = Path(words[0]).is_file()
            raise InputError(
                f"{key}: {getattr(self.plan, key)}:"
                f" {'is not executable' if is_file else 'no such program'} after"
                f" `{self.plan.build}` in {self.tree}; its output is in {self.folder / LOG}"
            )
        return files or [Path(first)]


def _files_at(path: Path) -> list[Path]:
    """Return the file at a path, or all files in the folder there."""
    return [file for file in (path, *sorted(path.rglob("*"))) if file.is_file()]


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
    return path.name in NOT_COPIED or is_run(path)


def require_players(version: Version) -> None:
    """InputError for players that do not play the game of the numbers, or are not there."""
    plan, game = version.plan, find(game_of(Path(version.plan.params)))
    for key, text in (("plays", version.player), *(("against", one) for one in plan.against)):
        try:
            named = understood(text)
            if named.kind not in OURS:
                named.protocol_in(game)
                if key == "against":
                    words_of_command(named.what, f"a {named.kind} engine")
            elif named.game not in (None, game.name):
                raise InputError(f"{text}: plays {named.game}, expected {game.name}")
        except InputError as problem:
            raise InputError(f"the plan, {key}: {problem}") from None


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


def build(version: Version) -> None:
    """Build a version. InputError, with the last line of the build, if that fails, or if the
    programs are not there afterwards."""
    log, problem = version.folder / LOG, ""
    guard()
    with open(log, "wb") as stream:
        process = subprocess.Popen(
            version.plan.build,
            shell=True,
            cwd=version.tree,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
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
        raise InputError(
            f"the build of {version.name}, `{version.plan.build}`, {problem or how}:"
            f" {_last_line(log)}; all of it is in {log}"
        )
    for key in ("plays", "rows"):
        version.programs(key)


def touch_sources(tree: Path) -> None:
    """Make all sources newer than what was built from them: a build may not know which files
    depend on one that changed."""
    for path in map(Path, _files(tree)):
        if path.suffix.lower() in SOURCES and path.is_file() and not path.is_symlink():
            os.utime(path)


def require_own(version: Version) -> None:
    """InputError for a file with numbers that is a link, or in a folder that is one."""
    for path in version.sources:
        if path.resolve() != version.tree.resolve() / path.relative_to(version.tree):
            raise InputError(
                f"{path}: leads by a link to {path.resolve()}, where nothing may be written; name"
                " the file itself in source.files"
            )


def _files(folder: Path) -> Iterator[str]:
    """Yield what is in a folder, without its history and runs."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_left_out(Path(place, name))]
        yield from (os.path.join(place, name) for name in [*folders, *names])


def _contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Return the mode and the hash, or where links lead to, of what is in a folder."""
    found = {}
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
            found[path] = (mode, content)
    return found


def state_of(folder: Path) -> str:
    """Return a hash of what is in a folder."""
    found = sorted((os.path.relpath(path, folder), *of) for path, of in _contents(folder).items())
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]


def _last_line(log: Path) -> str:
    """The last line of a build that mentions an error, or else the last."""
    with open(log, "rb") as stream:
        stream.seek(max(0, log.stat().st_size - LARGEST_END))
        text = stream.read().decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if "error" in line.lower() and not line.startswith("make")]
    return one_line((errors or lines or ["it printed nothing"])[0 if errors else -1])[:200]


def require_new_program(version: Version, before: Version) -> None:
    """InputError if a version with different weights has the same program that plays."""
    now, then = ([sha256_of(path) for path in each.programs("plays")] for each in (version, before))
    if now == then:
        raise InputError(
            f"`{version.plan.build}` left {version.plan.plays} as it was although"
            f" {', '.join(version.plan.source.files)} changed: does the build know that the program"
            " depends on them? Build everything, as with `make clean && make`"
        )


def patch_of(version: Version, source: Path, inside: Path) -> bytes:
    """Return what differs between the files with numbers of a version and those in `source`, whose
    folder is `inside` a repository, as `git apply` and `patch -p1` read it."""
    return b"".join(
        _diff((inside / name).as_posix(), (source / name).read_bytes(), path.read_bytes())
        for name, path in zip(version.plan.source.files, version.sources, strict=True)
    )


def _diff(name: str, old: bytes, new: bytes) -> bytes:
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(old),
        _lines(new),
        b"a/" + os.fsencode(name),
        b"b/" + os.fsencode(name),
    )
    return b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    )


def _lines(text: bytes) -> list[bytes]:
    """Lines that end with a line feed, whatever else is in them."""
    parts = text.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
