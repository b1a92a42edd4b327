"""The store of a self-play run: a record of each batch, and the checkpoint of the learner after the
last, stored together, so that the run can continue after any interruption."""

import base64
import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from tuner.core.records import Amount, Count, InputError, convert
from tuner.core.store import Store, naming, read_records
from tuner.io.files import replaced, unwritable
from tuner.io.run_folder import write_all
from tuner.play.selfplay.games import Episode, tree_of
from tuner.play.selfplay.learner import Untold

CHECKPOINT, START = "checkpoint", "start.yaml"
KEYS = "keys"  # the kind of records with the keys of the games of a batch
EPISODES, GAME, ARRAYS = "episodes", "game", "arrays"  # a kind of records, and their keys
UNTOLD, GAMES, WEIGHTS = "untold", "games", "weights"  # another kind, and its keys
WRITTEN = "written"  # the file of an engine, and the weights that were written into it last


class SavedLearning(Protocol):
    """The learner of a checkpoint."""

    batches: int

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that the learner needs to continue, apart from `batches`."""

    def take(self, saved: dict[str, np.ndarray]) -> None:
        """Continue from a checkpoint."""


@dataclass(frozen=True)
class BatchLine:
    """What a run needs of the record of a batch to continue."""

    batch: Count
    games: Amount
    cpu_seconds: Amount


def require_begun_with(folder: Path, known: Any, settings: Any, names: Iterable[str]) -> None:
    """InputError if some settings are not those that the run in a folder was begun with."""
    for name in names:
        had, value = getattr(known, name), getattr(settings, name)
        if had != value:
            raise InputError(
                f"{folder}: was begun with {name.rstrip('_')} {had}, not {value}; expected the"
                " same options, or another folder with --run"
            )


def read_history(folder: Path) -> list[dict[str, Any]]:
    """Return the records of all batches so far; InputError for a damaged one."""
    lines = read_records(folder)
    for number, line in enumerate(lines):
        with naming(folder, number):
            if convert(line, BatchLine, "").batch != number + 1:
                raise ValueError(f"expected batch {number + 1}")
    return lines


def read_keys(folder: Path) -> set[int]:
    """Return the keys of all games so far."""
    keys: set[int] = set()
    for number, line in enumerate(read_records(folder, KEYS)):
        with naming(folder, number, KEYS):
            keys.update(convert(line.get(KEYS), list[int], "", KEYS))
    return keys


def read_episodes(folder: Path, words: int) -> dict[int, Episode]:
    """Return the games that were kept to be learned from later, by their numbers; positions have
    `words` words."""
    episodes: dict[int, Episode] = {}
    for place, line in enumerate(read_records(folder, EPISODES)):
        with naming(folder, place, EPISODES):
            number = convert(line.get(GAME), int, "", GAME)
            if ARRAYS not in line:
                episodes.pop(number, None)
                continue
            episodes[number] = _episode_of(number, convert(line[ARRAYS], str, "", ARRAYS), words)
    return episodes


def read_untold(folder: Path) -> list[Untold]:
    """Return what batches with games of unknown outcomes were learned from, in their order."""
    untold: dict[int, Untold] = {}
    for place, line in enumerate(read_records(folder, UNTOLD)):
        with naming(folder, place, UNTOLD):
            games = convert(line.get(GAMES), int, "", GAMES)
            text = convert(line.get(WEIGHTS), str, "", WEIGHTS)
            try:
                weights = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
            except (ValueError, EOFError):
                raise ValueError(f"{WEIGHTS} are no array") from None
            untold[games] = Untold(weights, games)
    return [untold[games] for games in sorted(untold)]


def _arrays_of(episode: Episode) -> dict[str, np.ndarray]:
    """Return a game, without trees of searches, as arrays; those of what it lacks are left out."""
    values = {each.name: getattr(episode, each.name) for each in fields(episode)}
    return {k: np.asarray(v) for k, v in values.items() if v is not None and k != "tree"}


def _episode_of(number: int, text: str, words: int) -> Episode:
    """Return a game of arrays that were written as text; ValueError if they are none of a game."""
    try:
        with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as file:
            plain = {k: v.item() if v.ndim == 0 else v for k, v in file.items()}
        known = {"outcome": None, **plain, "number": number, "moves": plain["moves"].tolist()}
        return Episode(**known, tree=tree_of([], words))
    except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile):
        raise ValueError(f"{ARRAYS} are not those of a game of this version of tuner") from None


class Folder:
    """The store of a run, and the file of its games, if they have texts. `learned` is the file from
    which another run can start."""

    def __init__(self, store: Store, learned: str, games: str | None) -> None:
        self._go_on = f"the run cannot continue, but a new one can start from {learned}"
        self.path, self._store = store.folder, store
        self._games: IO[bytes] | None = None
        if games is not None:
            path = store.folder / games
            with replaced(path) as temporary, open(temporary, "wb") as out:
                for number in range(len(read_history(store.folder))):
                    out.writelines(text.encode() for text in store.texts(number))
            self._games = open(path, "ab", buffering=0)

    def keep(self, episode: Episode) -> None:
        """Store a game to be learned from later."""
        content = io.BytesIO()
        np.savez_compressed(content, **_arrays_of(episode))  # type: ignore[arg-type]
        text = base64.b64encode(content.getvalue()).decode()
        self._store.append({GAME: episode.number, ARRAYS: text}, kind=EPISODES)

    def drop(self, number: int) -> None:
        """Forget a game that was kept; another one has its number from now on."""
        self._store.append({GAME: number}, kind=EPISODES)

    def note_untold(self, untold: Untold) -> None:
        """Store what a batch with games of unknown outcomes is learned from."""
        content = io.BytesIO()
        np.save(content, untold.weights)
        text = base64.b64encode(content.getvalue()).decode()
        self._store.append({GAMES: untold.games, WEIGHTS: text}, kind=UNTOLD)

    def note_written(self, path: Path, weights: np.ndarray) -> None:
        """Store the file of an engine, and the weights that were written into it."""
        content = io.BytesIO()
        np.savez(content, path=str(path.absolute()), weights=weights)
        self._store.put(WRITTEN, content.getvalue())

    def written(self) -> tuple[Path, np.ndarray] | None:
        """Return the file of an engine, and the weights that were written into it last."""
        if (content := self._store.blob(WRITTEN)) is None:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return Path(str(file["path"])), file["weights"]

    def restore(self, learner: SavedLearning) -> bool:
        """Set a new learner to the state of the checkpoint; return whether there is one."""
        lines, content = read_history(self.path), self._store.blob(CHECKPOINT)
        if content is None:
            if lines:
                raise InputError(f"{self._store.path}: lacks its checkpoint; {self._go_on}")
            return False
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            saved = {name: file[name] for name in file.files}
        if saved["weights"].shape != learner.arrays()["weights"].shape:
            raise InputError(
                f"{self.path / START}: was changed, its weights are other ones than those that"
                f" learn; {self._go_on}"
            )
        learner.take(saved)
        return True

    def append(
        self, learner: SavedLearning, line: dict[str, Any], text: str, keys: list[int]
    ) -> None:
        """Store a batch, with the texts and the keys of its games, and the checkpoint after it."""
        with self._store.together():
            self._store.append(line, [text] if text else [])
            if keys:
                self._store.append({KEYS: keys}, kind=KEYS)
            self.checkpoint(learner)
        if self._games is not None:
            try:
                write_all(self._games, text.encode())
            except OSError as problem:
                raise unwritable(self._games.name, problem, "the batch is kept") from None

    def checkpoint(self, learner: SavedLearning) -> None:
        """Store the state of the learner."""
        content = io.BytesIO()
        np.savez(content, **learner.arrays(), batches=learner.batches)  # type: ignore[arg-type]
        self._store.put(CHECKPOINT, content.getvalue())

    def close(self) -> None:
        """Close the file of games."""
        if self._games is not None:
            self._games.close()
