"""Everything that a match is told, as plain data: what `config.yaml` of its folder holds."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from games.contest import Control
from games.streams import InputError, pieces
from tuner import __version__
from tuner.files import replace_file, sha256_of
from tuner.match.journal import CONFIG, HISTORY

DEFAULT_DEPTH = 4
DEFAULT_GAMES = 100
DEFAULT_RANDOM_PLIES = 8


@dataclass(frozen=True)
class Settings:
    """The options of `tuner match` by their names, but for those that change nothing about its games.

    `controls` are those of a and b, `evaluation` a hash of the terms and the program. `files` names what else a match depends
    on, with the sha256 of it.
    """

    a: str
    b: str
    names: tuple[str, str]
    games: int | None
    sprt: tuple[float, float] | None
    model: str
    alpha: float
    beta: float
    controls: tuple[dict, dict]
    openings: str | None
    order: str
    random_plies: int
    seed: int
    plies: int
    resign: tuple[str, ...] | None
    draw: tuple[str, ...] | None
    hash: int | None
    option_a: tuple[str, ...]
    option_b: tuple[str, ...]
    terms: tuple[str, ...]
    files: dict[str, str]
    evaluation: str | None = None

    def control(self, side: int) -> Control:
        return Control(**self.controls[side])


def hash_of(path: str | Path) -> str:
    """The sha256 of a file's bytes as they are; InputError says what is wrong with one that cannot be read."""
    try:
        return sha256_of(path)
    except OSError:
        next(pieces(path), None)
        raise


def changed_files(settings: Settings) -> list[str]:
    """Files that a match depends on and that are not what they were."""
    return [path for path, sha256 in settings.files.items() if not os.path.isfile(path) or hash_of(path) != sha256]


def write_settings(folder: Path, settings: Settings, command: str) -> None:
    """Make a folder the folder of a match. The settings come last: a folder without them holds no match."""
    import yaml

    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(settings).items()}
    replace_file(folder / CONFIG, yaml.safe_dump({"command": command, "version": __version__, "match": plain},
                                                 sort_keys=False, allow_unicode=True))


def read_settings(folder: Path) -> Settings:
    """The settings of the match in a folder; InputError if there is none."""
    import yaml

    path = folder / CONFIG
    try:
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder}: holds no match (no {CONFIG}); start one with --run {folder}") from None
    except (OSError, ValueError, yaml.YAMLError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
    match = plain.get("match") if isinstance(plain, dict) else None
    if not isinstance(match, dict) or set(match) != {field.name for field in fields(Settings)}:
        raise InputError(f"{path}: not the settings of a match of this version; start another with --run")
    return Settings(**{key: tuple(value) if isinstance(value, list) else value for key, value in match.items()})


def begin_folder(folder: Path) -> None:
    """Make the folder of a match."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder}: cannot be made a folder: {problem.strerror}") from None


def require_fresh(folder: Path) -> None:
    """InputError if a folder holds a run already."""
    if (folder / CONFIG).exists() or (folder / HISTORY).exists():
        raise InputError(f"{folder}: holds a run already; go on with it by --resume {folder}, or choose another folder")
