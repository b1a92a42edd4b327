"""Time and memory to read what is no game, against its size, as PGN, as labelled positions and from
archives.

    python -m tests.benchmarks.rubbish [KIND...]

prints CPU seconds for 1, 5 and 10 MB of each kind of rubbish, and by how many megabytes the process
grew. It is stopped after LIMIT seconds."""

import bz2
import gzip
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from tests.games.chess.rubbish import RUBBISH
from tests.games.support import REPOSITORY

SIZES = (1_000_000, 5_000_000, 10_000_000)
LIMIT = 120.0  # CPU seconds
GAME = b'[Event "x"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'


def zipped(*members: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A .zip that holds these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for i, member in enumerate(members):
            archive.writestr(f"{i}.pgn", member)
    return packed.getvalue()


def long_window(content: bytes, log: int) -> bytes:
    """A .zst that wants 2 ** log bytes of memory."""
    parameters = zstandard.ZstdCompressionParameters(window_log=log, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return packer.compress(content) + packer.flush()


def nested(content: bytes, depth: int = 5) -> bytes:
    """An archive in an archive in an archive."""
    for _ in range(depth):
        content = zipped(content, content)
    return content


# of archives the size is that of what they hold
ARCHIVES: dict[str, Callable[[int], bytes]] = {
    "zip of NULs": lambda n: zipped(bytes(n)),
    "zip of random bytes": lambda n: zipped(RUBBISH["random bytes"](n)),
    "zip of many small files": lambda n: zipped(*[GAME] * (n // 1000)),
    "zip within a zip": lambda n: nested(bytes(n)),
    "zip of bzip2": lambda n: zipped(bytes(n), method=zipfile.ZIP_BZIP2),
    "gz of NULs": lambda n: gzip.compress(bytes(n)),
    "gz of é": lambda n: gzip.compress(RUBBISH["one line of é"](n)),
    "bz2 of NULs": lambda n: bz2.compress(bytes(n)),
    "bz2 of é": lambda n: bz2.compress(RUBBISH["one line of é"](n)),
    "zst of NULs": lambda n: zstandard.compress(bytes(n)),
    "zst of é": lambda n: zstandard.compress(RUBBISH["one line of é"](n)),
    "zst with a window of 128 MiB": lambda n: long_window(bytes(n), 27),
    "zst with a window of 2 GiB": lambda n: long_window(bytes(n), 31),
    "bomb: gz, a hundred times as many NULs": lambda n: gzip.compress(bytes(100 * n)),
    "bomb: bz2, a hundred times as many NULs": lambda n: bz2.compress(bytes(100 * n)),
    "bomb: zst, a hundred times as many NULs": lambda n: zstandard.compress(bytes(100 * n)),
    "bomb: zip, a hundred times as many NULs": lambda n: zipped(bytes(100 * n)),
    "bomb: gz, the same game all the time": lambda n: gzip.compress(GAME * (10 * n // len(GAME))),
    "good games": lambda n: GAME * (n // len(GAME)),
}
DEVICES = ("/dev/zero", "/dev/urandom")


def peak() -> float:
    """Megabytes that this process has had at most; getrusage would include the process that started
    it."""
    (line,) = [
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    ]
    return int(line.split()[1]) / 1024


def measure(kind: str, paths: list[str]) -> None:
    """Read files and print what each took, as JSON; `kind` is the reader's."""
    from games.chess.files import epd, pgn
    from games.record import ReadOptions, ReadReport
    from games.streams import InputError, pieces

    options, reader = ReadOptions(positions="all", skip_start=0), {"pgn": pgn, "epd": epd}[kind]

    def read(stream: Iterator[bytes]) -> str:
        try:
            for _ in reader.read("it", stream, options, ReadReport(), lambda text: None):
                pass
        except InputError as problem:
            return str(problem)
        return ""

    read(iter([b"1. e4 *\n"]))  # compiles
    resource.setrlimit(resource.RLIMIT_CPU, (int(LIMIT), int(LIMIT)))
    before = peak()
    for path in paths:
        started = time.process_time()
        said = read(pieces(path))
        seconds = time.process_time() - started
        print(
            json.dumps({"seconds": seconds, "megabytes": peak() - before, "said": said}), flush=True
        )


def row(name: str, kind: str, paths: list[str]) -> str:
    """A line of the table: seconds for each file, memory for the last, and what was said. Another
    process reads."""
    finished = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.rubbish", "--read", kind, *paths],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    results = [json.loads(line) for line in finished.stdout.splitlines()]
    cells = "".join(f"{result['seconds']:8.2f}" for result in results)
    if len(results) < len(paths):
        return f"{name:42}{kind:5}{cells}  more than {LIMIT:.0f}"
    return f"{name:42}{kind:5}{cells}{results[-1]['megabytes']:8.0f}  {results[-1]['said'][:120]}"


def main(chosen: list[str]) -> None:
    """Print the table."""
    sizes = "".join(f"{size // 1_000_000:>5} MB" for size in SIZES)
    print(f"{'CPU seconds':47}{sizes}  MB more  said")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{size}" for size in SIZES]
        for name, make in {**RUBBISH, **ARCHIVES}.items():
            if chosen and name not in chosen:
                continue
            for path, size in zip(paths, SIZES, strict=True):
                path.write_bytes(make(size))
            for kind in ("pgn", "epd") if name in RUBBISH else ("pgn",):
                print(row(name, kind, [str(path) for path in paths]), flush=True)
    for device in DEVICES:
        for kind in ("pgn", "epd"):
            if not chosen or device in chosen:
                print(row(device, kind, [device]), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        measure(sys.argv[2], sys.argv[3:])
    else:
        main(sys.argv[1:])
