"""Versions of an engine: copies of its folder with different weights, built."""

import difflib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from games.process import words_of as words_of_command
from games.record import find
from games.streams import InputError
from games.system import split
from tuner.improve.plan import LoopPlan, command_in, player_of, words_of
from tuner.io.files import sha256_of
from tuner.measured.copies import build_in
from tuner.measured.evals import UCI
from tuner.parameters.reader import game_of
from tuner.play.players import OURS, understood

EVALS = "evals.yaml"  # what is measured of a version
LOG, PARAMS, TREE = "build.log", "params.yaml", "engine"


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
    def counts(self) -> str:
        """The key of the program that prints evaluations or rows."""
        return "rows" if self.plan.evals is None else "evals"

    @property
    def rows(self) -> str:
        """The command of the program that prints evaluations or rows."""
        text = self.plan.rows if self.plan.evals is None else self.plan.evals
        assert text is not None, "checked as the plan was read"
        return command_in(self.tree, text.removeprefix(UCI))

    @property
    def numbers(self) -> list[str]:
        """The options of `tuner export` about the sources."""
        source = self.plan.source
        return words_of({"map": source.map, "flip": source.flip})

    def programs(self, key: str) -> list[Path]:
        """The files of the copy that the command `plays` or `rows` names, at least its program; of
        folders, such as those of classes, all files. InputError if one is not there."""
        command = self.rows if key == self.counts else self.player.partition(":")[2]
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


def require_players(version: Version) -> None:
    """InputError for players that do not play the game of the numbers, or are not there."""
    plan = version.plan
    game = find(plan.game if plan.params is None else game_of(Path(plan.params)))
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


def build(version: Version) -> None:
    """Build a version. InputError, with the last line of the build, if that fails, or if the
    programs are not there afterwards."""
    build_in(version.tree, version.plan.build, version.folder / LOG, version.name)
    for key in ("plays", version.counts):
        version.programs(key)


def require_own(version: Version) -> None:
    """InputError for a file with numbers that is a link, or in a folder that is one."""
    for path in version.sources:
        if path.resolve() != version.tree.resolve() / path.relative_to(version.tree):
            raise InputError(
                f"{path}: leads by a link to {path.resolve()}, where nothing may be written; name"
                " the file itself in source.files"
            )


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
