"""Versions of an engine: copies of its folder with other numbers, built."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from games.process import kill_group
from games.streams import InputError, one_line
from tuner.improve.plan import LoopPlan, command_in, words_of
from tuner.io.files import sha256_of

BUILD_SECONDS = 3600.0
BUILT, LOG, PARAMS, TREE = "built", "build.log", "params.yaml", "engine"
LARGEST_FOLDER = 4 << 30  # bytes
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
        head, colon, rest = self.plan.plays.partition(":")
        protocol, text = (head, rest) if colon and head.isalpha() else ("uci", self.plan.plays)
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
        """The files of the copy that the command `plays` or `rows` names, at least its program.
        InputError if one is not there."""
        command = self.rows if key == "rows" else self.player.partition(":")[2]
        words = shlex.split(command)
        files = [Path(word) for word in words if word.startswith(f"{self.tree}{os.sep}")]
        first = shutil.which(words[0])
        if first is None or not all(path.is_file() for path in files):
            raise InputError(
                f"{key}: {getattr(self.plan, key)}: no such program after `{self.plan.build}` in"
                f" {self.tree}; its output is in {self.folder / LOG}"
            )
        return files or [Path(first)]


def copy_folder(folder: Path, into: Path, run: Path) -> None:
    """Copy an engine's folder, without its history and without the run. The copy is whole or not
    there. InputError for what cannot be copied."""
    aside = into.with_name(f".{into.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)

    def left_out(place: str, names: list[str]) -> Iterable[str]:
        for name in names:
            path = Path(place, name)
            mode = path.lstat().st_mode
            if (
                name in NOT_COPIED
                or path.resolve() == run.resolve()
                or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
            ):
                yield name

    size = sum(path.lstat().st_size for path in files_in(folder, run))
    if size > LARGEST_FOLDER:
        raise InputError(
            f"{folder}: {size >> 20:,} MB, expected the folder of an engine of at most"
            f" {LARGEST_FOLDER >> 20:,} MB, since every round copies it; name a smaller one"
        )
    try:
        shutil.copytree(folder, aside, symlinks=True, ignore=lambda p, n: set(left_out(p, n)))
        os.replace(aside, into)
    except (OSError, shutil.Error) as problem:
        first = problem.args[0][0][2] if isinstance(problem, shutil.Error) else problem
        raise InputError(f"{folder}: cannot be copied to {into}: {first}") from None


def files_in(folder: Path, run: Path) -> Iterator[Path]:
    """Yield the files of a folder that are copied."""
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if name not in NOT_COPIED and Path(place, name).resolve() != run.resolve()
        ]
        yield from (Path(place, name) for name in names)


def build(version: Version) -> None:
    """Build a version. InputError, with the last line of the build, if that fails, or if the
    programs are not there afterwards."""
    log = version.folder / LOG
    with open(log, "wb") as stream:
        process = subprocess.Popen(
            version.plan.build,
            shell=True,
            cwd=version.tree,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(BUILD_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            kill_group(process.pid)
            process.wait()
    if status != 0:
        how = f"ended with status {status}" if status else f"took more than {BUILD_SECONDS:g} s"
        raise InputError(
            f"the build of {version.name}, `{version.plan.build}`, {how}: {_last_line(log)}; all of"
            f" it is in {log}"
        )
    for key in ("plays", "rows"):
        version.programs(key)


def _last_line(log: Path) -> str:
    """The last line of a build that says something about an error, or else the last."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if "error" in line.lower() and not line.startswith("make")]
    return one_line((errors or lines or ["it printed nothing"])[0 if errors else -1])[:200]


def same_sources(version: Version, before: Version) -> bool:
    """Return whether two versions have the same numbers."""
    pairs = zip(version.sources, before.sources, strict=True)
    return all(ours.read_bytes() == theirs.read_bytes() for ours, theirs in pairs)


def require_new_program(version: Version, before: Version) -> None:
    """InputError if a version with other numbers has the same program that plays."""
    now, then = ([sha256_of(path) for path in each.programs("plays")] for each in (version, before))
    if now == then:
        raise InputError(
            f"`{version.plan.build}` left {version.plan.plays} as it was although"
            f" {', '.join(version.plan.source.files)} changed: does the build know that the program"
            " depends on them? Build everything, as with `make clean && make`"
        )


def patch_between(before: Version, after: Version, inside: Path) -> bytes:
    """Return the change of the sources, whose folder is `inside` a repository, as `git apply` and
    `patch -p1` read it."""
    return b"".join(
        _diff((inside / name).as_posix(), old.read_bytes(), new.read_bytes())
        for name, old, new in zip(
            before.plan.source.files, before.sources, after.sources, strict=True
        )
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
