"""How often the readers access bytes of rubbish, counted in plain Python: prints {reader: {kind:
[few, many]}} as JSON.

NUMBA_DISABLE_JIT=1 python -m tests.games.chess.work
"""

import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from games.chess.files import epd, pgn
from games.record import ReadOptions, ReadReport
from games.streams import InputError
from tests.games.chess.rubbish import RUBBISH

SIZES = (2000, 4000)
PIECE, WINDOW = 100, 256  # bytes read at once: so few that the rubbish takes many


class Counted:
    """An array that counts how often its entries are read."""

    looks = 0

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Counted(self.values[key])
        Counted.looks += 1
        return self.values[key]

    def __bytes__(self) -> bytes:
        return bytes(self.values)


def looks(reader, path: Path) -> int:
    """How many bytes were looked at to read a file."""
    Counted.looks = 0
    options = ReadOptions(positions="all", skip_start=0)
    content = path.read_bytes()
    stream = (content[begin : begin + PIECE] for begin in range(0, len(content), PIECE))
    try:
        for _ in reader.read(str(path), stream, options, ReadReport(), lambda text: None):
            pass
    except InputError:
        pass  # more rubbish than any file may hold
    return Counted.looks


def main() -> None:
    """Count and print."""
    from_buffer = np.frombuffer
    pgn.np = SimpleNamespace(
        **{**vars(np), "frombuffer": lambda held, kind: Counted(from_buffer(held, kind))}
    )
    pgn.WINDOW = WINDOW
    found: dict[str, dict[str, list[int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rubbish"
        for reader in (pgn, epd):
            of_reader = found.setdefault(reader.__name__, {})
            for kind, make in RUBBISH.items():
                for size in SIZES:
                    path.write_bytes(make(size))
                    of_reader.setdefault(kind, []).append(looks(reader, path))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
