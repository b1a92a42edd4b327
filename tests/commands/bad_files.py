"""Files with everything that a user can get wrong in them, for test_bad_input."""

import bz2
import gzip
import json
import os
import shutil
from pathlib import Path

import zstandard

from tuner.datasets.dataset import Dataset
from tuner.evaluation.loading import parameter_path

MOVES = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nc3 Nc6 4. Nb1 Nb8 5. e4 e5 6. d4 d5 7."
GRID = "        - [ 98, 134,  61,  95,  68, 126,  34, -11]"


def game(result: str, move: str = "Nf3") -> str:
    return f'[Event "?"]\n[Result "{result}"]\n\n{MOVES} {move} {result}\n\n'


def params(old: str, new: str) -> str:
    """The bundled parameters with a first occurrence changed."""
    text = parameter_path("classic").read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new, 1)


def bomb() -> str:
    lines = ["a: &a [x, x, x]"] + [
        f"{b}: &{b} [{', '.join(['*' + a] * 9)}]"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    return "\n".join(lines)


# where a case needs a file: its name and content, from the bytes of some good games
FILES = {
    "empty.pgn": b"",
    "words.pgn": b"dear reader,\nthis is a letter\n",
    "page.pgn": b"<!DOCTYPE html><html>404</html>",
    "binary.pgn": bytes(range(256)) * 20,
    "open.pgn": game("*").encode(),
    "one.pgn": game("1-0").encode(),
    "same.pgn": game("1-0").encode() * 5,
    "draws.pgn": "".join(game("1/2-1/2", m) for m in ("a3", "b3", "c3")).encode(),
    "wins.pgn": "".join(game("0-1", m) for m in ("a3", "b3", "c3")).encode(),
    "illegal.pgn": game("1-0", "Qxh7").encode(),
    "broken\nname.pgn": b"",
    "nan.yaml": params("pawn: {mg: 82", "pawn: {mg: .nan"),
    "inf.yaml": params("pawn: {mg: 82", "pawn: {mg: .inf"),
    "true.yaml": params("pawn: {mg: 82", "pawn: {mg: true"),
    "text.yaml": params("pawn: {mg: 82", "pawn: {mg: many"),
    "twice.yaml": params("    knight:", "    pawn:"),
    "term.yaml": params("  material:", "  matter:"),
    "parameter.yaml": params("    knight:", "    horse:"),
    "shape.yaml": params(GRID, GRID.replace(" 98, ", "")),
    "row.yaml": params(GRID + "\n", ""),
    "game.yaml": params("game: chess", "game: chss"),
    "other.yaml": params("game: chess", "game: tictactoe"),
    "cycle.yaml": "game: chess\nweights: &w [*w]\n",
    "bomb.yaml": bomb(),
    "huge.yaml": "# " + "x" * (5 << 20) + "\n" + params("mg", "mg"),
    "deep.yaml": "game: chess\nweights: " + "[" * 100,
    "tabs.yaml": "game: chess\n\tscale: 1\n",
    "empty.yaml": "",
    "latin.yaml": b"game: sch\xe4ch\n",
    "escape.yaml": "game: \x1b[31m\n",
    "code.yaml": params("scale: 0.00255", "scale: !!python/object/apply:os.system ['touch owned']"),
    "stage.yaml": params("[mg, eg]", "[mg, late]"),
    "bounds.yaml": params("weights:", "bounds: {material.pawn: [9, 1]}\nweights:"),
    "outside.yaml": params("weights:", "bounds: {material.pawn: [150, 200]}\nweights:"),
    "prior.yaml": params("weights:", "prior: {material.pawn: {sd: 0}}\nweights:"),
    "fixed.yaml": params("weights:", "fixed: ['*']\nweights:"),
    "missing.yaml": params("    knight: {mg: 337, eg: 281}\n", ""),
    "notes.txt": b"keep me",
    "syntax.py": "def broken(:\n",
    "a.ttt": b"1-0 a1 b1 a2 b2 a3\n0-1 b1 a1 c1 a2 b2 a3\n",
}


def fill(folder: Path, small_pgn: Path, small_dataset: Dataset) -> None:
    """Write all good and bad files to a folder."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    games = small_pgn.read_bytes()
    (folder / "good.pgn").write_bytes(games)
    for suffix, packed in (
        (".gz", gzip.compress(games)),
        (".bz2", bz2.compress(games)),
        (".zst", zstandard.ZstdCompressor(write_checksum=True).compress(games)),
    ):
        (folder / f"cut.pgn{suffix}").write_bytes(packed[:30000])
        (folder / f"bad.pgn{suffix}").write_bytes(
            packed[:20000] + bytes(b ^ 0x55 for b in packed[20000:20100]) + packed[20100:]
        )
    (folder / "hollow").mkdir()
    os.mkfifo(folder / "pipe")
    for name in ("good.ds", "damaged.ds", "wild.ds", "wider.ds", "older.ds"):
        shutil.copytree(small_dataset.path, folder / name)
    for name, change in (
        ("wider.ds", {"layout": [*small_dataset.manifest["layout"], ["mine.n", []]]}),
        ("older.ds", {"terms": "older"}),
    ):
        (folder / name / "manifest.json").write_text(json.dumps(small_dataset.manifest | change))
    counts = folder / "damaged.ds" / "count.npy"
    counts.write_bytes(counts.read_bytes()[:-1])
    with open(folder / "wild.ds" / "index.npy", "r+b") as stream:
        stream.seek(128)
        stream.write(b"\xff\xff")
