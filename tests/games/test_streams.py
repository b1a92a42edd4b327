"""Bytes of files: archives are unpacked, damaged ones are errors that name the place."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import re
import struct

import pytest
import zstandard

from games import streams
from games.streams import InputError, compression_of, lines, pieces

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}
CHECKED = COMPRESS | {".zst": zstandard.ZstdCompressor(write_checksum=True).compress}  # the program `zstd` does so
KINDS = pytest.mark.parametrize("suffix", COMPRESS)
TEXT = random.Random(1).randbytes(20_000) + b"e4 e5 Nf3 " * 20_000


def unpacked(folder, name: str, content: bytes) -> bytes:
    path = folder / name
    path.write_bytes(content)
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
        with pytest.raises(InputError) as caught:
            unpacked(tmp_path, f"a{suffix}", packed[:length])
        assert str(caught.value) == (f"{tmp_path / 'a'}{suffix}: truncated {suffix[1:]} archive: it ends at byte {length} before "
                                     "its last block is complete; download or compress it again")


@KINDS
def test_a_truncated_archive_gives_what_it_holds_before_it_fails(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(COMPRESS[suffix](TEXT) + COMPRESS[suffix](TEXT)[:-1])
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
            assert unpacked(tmp_path, f"a{suffix}", bytes(damaged)) == TEXT  # a bit of no importance
        except InputError as problem:
            said = re.fullmatch(r".*/a\.\w+: (corrupt \w+ archive between bytes (\d+) and (\d+) \(.*\)|truncated .*); "
                                "download or compress it again", str(problem))
            assert said, problem
            assert said[2] is None or int(said[2]) <= int(said[3]) <= len(packed)
            caught_at_all += 1
    assert caught_at_all > 30


@KINDS
@pytest.mark.parametrize("content", [b"1. e4 e5 1-0\n", b"<html>not found</html>", b"\0\0\0"])
def test_a_file_that_is_no_archive_but_has_the_name_of_one_is_refused(suffix, content, tmp_path):
    with pytest.raises(InputError, match=f"(corrupt|truncated) {suffix[1:]} archive|empty"):
        unpacked(tmp_path, f"a{suffix}", content)


@KINDS
def test_an_empty_archive_is_refused(suffix, tmp_path):
    with pytest.raises(InputError, match=f"empty, expected a {suffix[1:]} archive"):
        unpacked(tmp_path, f"a{suffix}", b"")


@KINDS
def test_what_stands_behind_an_archive_is_an_error(suffix, tmp_path):
    with pytest.raises(InputError, match=f"{suffix[1:]} archive"):
        unpacked(tmp_path, f"a{suffix}", COMPRESS[suffix](TEXT) + b"more text")


def test_a_file_that_cannot_be_read_is_the_users_mistake(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.pgn: no such file"):
        list(pieces(tmp_path / "nowhere.pgn"))
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        list(pieces(tmp_path))


@pytest.mark.parametrize("compress", [bytes, *COMPRESS.values()])
def test_a_dash_is_standard_input(compress, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(compress(TEXT))))
    assert b"".join(pieces("-")) == TEXT


def test_a_damaged_archive_on_standard_input_is_called_that(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT)[:-1])))
    with pytest.raises(InputError, match="standard input: truncated gz archive"):
        list(pieces("-"))


def test_first_bytes_go_before_the_name():
    assert compression_of("games.pgn", gzip.compress(b"")) == ".gz"
    assert compression_of("games.pgn.bz2", b"") == ".bz2"
    assert compression_of("games.pgn", b"[Event") is None


def test_lines_do_not_depend_on_the_pieces(tmp_path, monkeypatch):
    path = tmp_path / "lines"
    path.write_bytes(b"one\n\ntwo and more\nlast")
    for piece in (1000, 3, 1):
        monkeypatch.setattr(streams, "COMPRESSED_PIECE", piece)
        monkeypatch.setattr(streams, "PIECE", piece)
        assert list(lines(path)) == [b"one", b"", b"two and more", b"last"]
    monkeypatch.setattr(streams, "LONGEST_LINE", 8)
    with pytest.raises(InputError, match="a line of more than 8 bytes; expected lines of text"):
        list(lines(path))
