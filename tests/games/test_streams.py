"""Reading files: archives are unpacked, and errors about damaged ones name the byte."""

import bz2
import gzip
import io
import random
import re
import struct
import tracemalloc
import zipfile
from collections import deque

import pytest
import zstandard

from games import streams
from games.streams import InputError, compression_of, lines, pieces
from tests.support import file_with, refusal

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}
# the program `zstd` does so
CHECKED = COMPRESS | {".zst": zstandard.ZstdCompressor(write_checksum=True).compress}
KINDS = pytest.mark.parametrize("suffix", COMPRESS)
TEXT = random.Random(1).randbytes(20_000) + b"e4 e5 Nf3 " * 20_000


def unpacked(folder, name: str, content: bytes) -> bytes:
    path = file_with(folder / name, content)
    return b"".join(pieces(path))


@KINDS
def test_an_archive_gives_what_was_packed(suffix, tmp_path):
    packed = COMPRESS[suffix](TEXT)
    assert unpacked(tmp_path, f"a{suffix}", packed) == TEXT
    assert unpacked(tmp_path, "without_a_suffix", packed) == TEXT
    assert unpacked(tmp_path, f"nothing{suffix}", COMPRESS[suffix](b"")) == b""


def test_a_plain_file_comes_through(tmp_path):
    assert unpacked(tmp_path, "a.pgn", TEXT) == TEXT
    assert unpacked(tmp_path, "b.pgn", b"") == b""
    assert all(len(piece) <= streams.PIECE for piece in pieces(tmp_path / "a.pgn"))


@KINDS
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_the_size_of_the_pieces_changes_nothing(suffix, piece, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "COMPRESSED_PIECE", piece)
    assert unpacked(tmp_path, f"a{suffix}", COMPRESS[suffix](TEXT[:3000]) * 2) == TEXT[:3000] * 2


@KINDS
def test_archives_behind_one_another_are_one(suffix, tmp_path):
    packed = COMPRESS[suffix](TEXT) + COMPRESS[suffix](b"") + COMPRESS[suffix](b"end")
    assert unpacked(tmp_path, f"a{suffix}", packed) == TEXT + b"end"


@pytest.mark.parametrize("padding", [1, 512, 70_000])
def test_zeros_behind_a_gzip_archive_are_padding(padding, tmp_path):
    packed = gzip.compress(TEXT) + bytes(padding)
    assert unpacked(tmp_path, "a.gz", packed) == TEXT
    assert unpacked(tmp_path, "b.gz", packed + gzip.compress(b"end")) == TEXT + b"end"


def test_skippable_frames_of_zstandard_are_skipped(tmp_path):
    skipped = struct.pack("<II", 0x184D2A50, 5) + b"hello"
    packed = skipped + zstandard.compress(TEXT) + skipped + zstandard.compress(b"end") + skipped
    assert unpacked(tmp_path, "a.zst", packed) == TEXT + b"end"


@KINDS
def test_a_truncated_archive_names_the_byte(suffix, tmp_path):
    packed = COMPRESS[suffix](TEXT)
    for length in [1, 2, 3, 4, 10, 20, len(packed) // 2, len(packed) - 5, len(packed) - 1]:
        assert (
            refusal(unpacked, tmp_path, f"a{suffix}", packed[:length])
            == f"{tmp_path / 'a'}{suffix}: truncated {suffix[1:]} archive: it ends at byte {length}"
            " before its last block is complete; download or compress it again"
        )


@KINDS
def test_a_truncated_archive_gives_what_it_holds_before_it_fails(suffix, tmp_path):
    path = file_with(tmp_path / f"a{suffix}", COMPRESS[suffix](TEXT) + COMPRESS[suffix](TEXT)[:-1])
    got = b""
    with pytest.raises(InputError, match="truncated"):
        for piece in pieces(path):
            got += piece
    assert got.startswith(TEXT)


@KINDS
def test_a_corrupt_archive_names_the_bytes_between_which_it_is_corrupt(suffix, tmp_path):
    rng, packed, caught_at_all = random.Random(2), CHECKED[suffix](TEXT), 0
    for _ in range(40):
        at = rng.randrange(len(packed))
        damaged = bytearray(packed)
        damaged[at] ^= 1 << rng.randrange(8)
        try:
            # a bit of no importance
            assert unpacked(tmp_path, f"a{suffix}", bytes(damaged)) == TEXT
        except InputError as problem:
            said = re.fullmatch(
                r".*/a\.\w+: (corrupt \w+ archive between bytes (\d+) and (\d+) \(.*\)|truncated"
                r" .*); "
                "download or compress it again",
                str(problem),
            )
            assert said, problem
            assert said[2] is None or int(said[2]) <= int(said[3]) <= len(packed)
            caught_at_all += 1
    assert caught_at_all > 30


@KINDS
@pytest.mark.parametrize("content", [b"1. e4 e5 1-0\n", b"<html>not found</html>", b"\0\0\0"])
def test_a_file_that_is_no_archive_but_has_the_name_of_one_is_refused(suffix, content, tmp_path):
    assert re.search(
        f"(corrupt|truncated) {suffix[1:]} archive|empty",
        refusal(unpacked, tmp_path, f"a{suffix}", content),
    )


@KINDS
def test_an_empty_archive_is_refused(suffix, tmp_path):
    assert re.search(
        f"empty, expected a {suffix[1:]} archive", refusal(unpacked, tmp_path, f"a{suffix}", b"")
    )


@KINDS
def test_bytes_after_an_archive_are_an_error(suffix, tmp_path):
    assert re.search(
        f"{suffix[1:]} archive",
        refusal(unpacked, tmp_path, f"a{suffix}", COMPRESS[suffix](TEXT) + b"more text"),
    )


def test_a_file_that_cannot_be_read_is_the_users_mistake(tmp_path):
    assert "nowhere.pgn: no such file" in refusal(list, pieces(tmp_path / "nowhere.pgn"))
    assert "cannot be read: Is a directory" in refusal(list, pieces(tmp_path))


@pytest.mark.parametrize("compress", [bytes, *COMPRESS.values()])
def test_a_dash_is_standard_input(compress, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(compress(TEXT))))
    assert b"".join(pieces("-")) == TEXT


def test_a_damaged_archive_on_standard_input_is_reported_as_such(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT)[:-1])))
    assert "standard input: truncated gz archive" in refusal(list, pieces("-"))


def test_first_bytes_go_before_the_name():
    assert compression_of("games.pgn", gzip.compress(b"")) == ".gz"
    assert compression_of("games.pgn.bz2", b"") == ".bz2"
    assert compression_of("games.pgn", b"[Event") is None


def test_lines_do_not_depend_on_the_pieces(tmp_path, monkeypatch):
    path = file_with(tmp_path / "lines", b"one\n\ntwo and more\nlast")
    for piece in (1000, 3, 1):
        monkeypatch.setattr(streams, "COMPRESSED_PIECE", piece)
        monkeypatch.setattr(streams, "PIECE", piece)
        assert list(lines(path)) == [b"one", b"", b"two and more", b"last"]
    monkeypatch.setattr(streams, "LONGEST_LINE", 8)
    assert "a line of more than 8 bytes; expected lines of text" in refusal(list, lines(path))


@pytest.mark.long
@pytest.mark.parametrize("line", [b"\n", b"#\n", b" \r\n"])
def test_lines_of_an_archive_of_empty_lines_need_little_memory_and_end(line, tmp_path):
    path = file_with(tmp_path / "lines.zst", zstandard.compress(line * ((17 << 20) // len(line))))
    assert path.stat().st_size < 20_000
    tracemalloc.start()
    assert (
        "lines.zst: more than 16,777,216 bytes of empty lines; expected lines of text"
        in refusal(deque, lines(path), maxlen=0)
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20


@pytest.mark.parametrize("line", [b"\n", b"#\n", b" \r\n"])
def test_empty_lines_end(line, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LONGEST_LINE", 1000)
    (tmp_path / "lines").write_bytes(line * (900 // len(line)) + b"a\n")
    assert list(lines(tmp_path / "lines"))[-1] == b"a"
    (tmp_path / "lines").write_bytes(line * 1200)
    assert "lines: more than 1,000 bytes of empty lines; expected" in refusal(
        deque, lines(tmp_path / "lines"), maxlen=0
    )


def test_an_error_quotes_no_more_than_a_reader_reads():
    text = str(InputError(f"a.yaml:1: game is {'x' * 4_000_000!r}, expected chess"))
    assert (
        len(text) <= 2000
        and text.startswith("a.yaml:1: game is 'xxx")
        and text.endswith("xxx', expected chess")
    )


@pytest.mark.parametrize("piece", [1, 3, 1000])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_becomes_utf_8(encoding, piece, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "PIECE", piece)
    monkeypatch.setattr(streams, "COMPRESSED_PIECE", piece)
    text = '[White "B\u00e9noni \U0001f600"]\n' * 3
    content = (b"" if encoding == "utf-16" else b"\xfe\xff") + text.encode(encoding)
    assert unpacked(tmp_path, "a.pgn", content) == text.encode()
    assert unpacked(tmp_path, "a.pgn.gz", gzip.compress(content)) == text.encode()
    assert unpacked(tmp_path, "a.pgn", content[:-1]) == text[:-1].encode() + "\ufffd".encode()


def zipped(*members: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for i, member in enumerate(members):
            archive.writestr(f"{i}.pgn", member)
    return packed.getvalue()


def test_the_files_of_a_zip_follow_each_other_on_lines_of_their_own(tmp_path):
    packed = zipped(b"one", b"", b"\xef\xbb\xbftwo\n", "three".encode("utf-16"))
    assert unpacked(tmp_path, "a.zip", packed).split() == [b"one", b"two", b"three"]


@pytest.mark.parametrize("inner", [gzip.compress, bz2.compress, zstandard.compress, zipped])
@pytest.mark.parametrize("outer", [gzip.compress, bz2.compress, zstandard.compress, zipped])
def test_an_archive_within_an_archive_is_refused(inner, outer, tmp_path):
    assert re.search(
        "a.pgn.*contains an archive within an archive; unpack it first",
        refusal(unpacked, tmp_path, "a.pgn", outer(inner(TEXT))),
    )


def test_a_zip_packed_otherwise_is_refused(tmp_path):
    """Python gives no way to bound what comes out of bzip2 and LZMA in a zip."""
    assert "'0.pgn' in this zip archive is not stored or deflated" in refusal(
        unpacked, tmp_path, "a.zip", zipped(TEXT, method=zipfile.ZIP_BZIP2)
    )


BOMBS = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress, ".zip": zipped}
LARGEST = {".zst": (1 << 17) * streams.ZSTANDARD_PIECE // 4}


@pytest.mark.parametrize("suffix", BOMBS)
def test_pieces_are_of_bounded_size_however_much_an_archive_holds(suffix, tmp_path):
    size = 100_000_000
    path = file_with(tmp_path / f"a{suffix}", BOMBS[suffix](bytes(size)))
    lengths = [len(piece) for piece in pieces(path)]
    assert size <= sum(lengths) <= size + 1
    assert max(lengths) <= LARGEST.get(suffix, streams.PIECE)


def test_an_archive_that_wants_too_much_memory_is_refused(tmp_path):
    def packed(log: int) -> bytes:
        parameters = zstandard.ZstdCompressionParameters(window_log=log)
        packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        return packer.compress(TEXT) + packer.flush()

    assert unpacked(tmp_path, "a.zst", packed(27)) == TEXT
    assert (
        refusal(unpacked, tmp_path, "b.zst", packed(28))
        == f"{tmp_path / 'b.zst'}: this zst archive needs a window of more than 128 MiB of memory; "
        "unpack it with zstd -d --long=31, or compress it again without --long and --ultra"
    )


def test_damaged_zips_are_errors_and_nothing_else(tmp_path):
    rng, packed = random.Random(3), zipped(TEXT[:2000], b"more", TEXT[:50])
    refused = 0
    for _ in range(2000):
        damaged = bytearray(packed)
        for _ in range(rng.randint(1, 4)):
            at = (
                rng.randrange(4, len(packed))
                if rng.random() < 0.3
                else rng.randrange(packed.index(b"PK\x01\x02"), len(packed))
            )
            damaged[at] = rng.randrange(256)
        try:
            unpacked(tmp_path, "a.zip", bytes(damaged))
        except InputError as problem:
            assert "\n" not in str(problem)
            refused += 1
    assert refused > 200
