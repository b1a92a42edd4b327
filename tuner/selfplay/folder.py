"""The folder of a run of self-play: what was played and learnt, so that it goes on where it stopped, whenever that was.

`checkpoint.npz` is replaced after every batch and says how long the files are that grow: `history.jsonl` with a line for
each batch, the games, and `games.keys`, eight bytes that name each game. What goes beyond is cut off.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.files import replace_file
from tuner.runs import HISTORY, locked, write_all
from tuner.selfplay.learner import Learner

CHECKPOINT, KEYS, START, PARAMS = "checkpoint.npz", "games.keys", "start.yaml", "params.yaml"
STATE = "state."


class Folder:
    """Writes batches; reads those of an earlier run."""

    def __init__(self, path: Path, games: str) -> None:
        self.path = path
        self._lock = locked(path)
        self._names = (HISTORY, games, KEYS)
        self._saved = self._read()
        sizes = self._saved["sizes"] if self._saved else np.zeros(len(self._names), np.int64)
        self._streams = [open(path / name, "ab", buffering=0) for name in self._names]
        for stream, size, name in zip(self._streams, sizes, self._names, strict=True):
            if os.fstat(stream.fileno()).st_size < size:
                raise InputError(f"{path / name}: is shorter than {CHECKPOINT} says; the run cannot go on")
            stream.truncate(int(size))
        self._sizes = [int(size) for size in sizes]
        self.keys = set(np.fromfile(path / KEYS, np.uint64).tolist())

    def history(self) -> list[dict]:
        """The lines of all batches so far."""
        return [json.loads(line) for line in (self.path / HISTORY).read_text(encoding="utf-8").splitlines()]

    def restore(self, learner: Learner) -> bool:
        """Bring a new learner to where the checkpoint is; whether there is one."""
        saved = self._saved
        if saved is None:
            return False
        learner.weights, learner.average, learner.batches = saved["weights"], saved["average"], int(saved["batches"])
        learner.state = {name: saved[STATE + name] for name in learner.rule.names}
        learner.kept = dict(zip(saved["kept_batches"].tolist(), saved["kept"], strict=True))
        return True

    def append(self, learner: Learner, line: dict, games: str, keys: list[int]) -> None:
        """A batch is learnt: what was played, and then the checkpoint that makes it count."""
        pieces = (json.dumps(line, separators=(",", ":")).encode() + b"\n", games.encode("utf-8", "replace"),
                  np.array(keys, np.uint64).tobytes())
        try:
            self._sizes = [size + write_all(stream, piece)
                           for size, stream, piece in zip(self._sizes, self._streams, pieces, strict=True)]
            self.checkpoint(learner)
        except OSError as problem:
            raise InputError(f"{self.path}: cannot be written: {problem.strerror}; what was learnt before is kept") from None
        self.keys.update(keys)

    def checkpoint(self, learner: Learner) -> None:
        """Where the learner is."""
        content = io.BytesIO()
        np.savez(content, weights=learner.weights, average=learner.average, batches=learner.batches,
                 kept=np.array(list(learner.kept.values())), kept_batches=np.array(list(learner.kept)),
                 sizes=np.array(self._sizes), **{STATE + name: array for name, array in learner.state.items()})
        replace_file(self.path / CHECKPOINT, content.getvalue())

    def close(self) -> None:
        for stream in (*self._streams, self._lock):
            stream.close()

    def _read(self) -> dict[str, np.ndarray] | None:
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as saved:
                return {name: saved[name] for name in saved.files}
        except Exception as problem:  # a damaged archive is read as anything: there is no end of what may be raised
            raise InputError(f"{path}: damaged ({str(problem).partition(chr(10))[0]}); the run cannot go on") from None
