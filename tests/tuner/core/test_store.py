"""Databases: whole after any kill, shared, and refused in one line where they are not ours."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys

import pytest

from games.streams import InputError
from tests.support import refusal
from tuner.core.store import Store, is_ours, open_database, read_records, using
from tuner.io.files import is_run
from tuner.io.run_folder import begin_folder, mark_of

SCHEMA = "CREATE TABLE numbers (number INTEGER PRIMARY KEY, text TEXT)"
WRITER = f"""
import sys
from pathlib import Path
from tuner.core.store import open_database
database = open_database(Path(sys.argv[1]), {SCHEMA!r}, 1, "")
for number in range(10**9):
    database.execute("INSERT INTO numbers VALUES (?, ?)", (number, "x" * 1000))
    print(number, flush=True)
"""


def numbers(path):
    database = open_database(path, SCHEMA, 1, "")
    try:
        return database.execute("SELECT * FROM numbers ORDER BY number").fetchall()
    finally:
        database.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_stored_before_a_kill_is_there(tmp_path, number):
    path = tmp_path / "a.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    lines = [next(writer.stdout) for _ in range(200)]
    # a reader neither waits nor is in the way
    reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0)
    assert reader.execute("SELECT count(*) FROM numbers").fetchone()[0] >= 200
    writer.send_signal(number)
    lines += writer.stdout
    writer.wait()
    found = numbers(path)
    assert len(lines) <= len(found) <= len(lines) + 1
    assert found == [(i, "x" * 1000) for i in range(len(found))]


def test_processes_write_in_turn(tmp_path):
    path = tmp_path / "a.db"
    one, other = (open_database(path, SCHEMA, 1, "") for _ in range(2))
    for number in range(0, 100, 2):
        one.execute("INSERT INTO numbers VALUES (?, 'one')", (number,))
        other.execute("INSERT INTO numbers VALUES (?, 'other')", (number + 1,))
    assert len(numbers(path)) == 100
    one.close()
    other.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db"]


@contextlib.contextmanager
def changing(path):
    """A connection that is closed: one that is collected later writes to the file then."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        yield database


def of_another_version(path):
    open_database(path, SCHEMA, 1, "").close()
    with changing(path) as database:
        database.execute("PRAGMA user_version = 99")


def foreign(path):
    with changing(path) as database:
        database.execute("CREATE TABLE mine (a)")


def truncated(path):
    database = open_database(path, SCHEMA, 1, "")
    for number in range(1000):
        database.execute("INSERT INTO numbers VALUES (?, ?)", (number, "x" * 100))
    database.close()
    os.truncate(path, path.stat().st_size // 2 + 7)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_bytes(b"just words, " * 100), "file is not a database"),
        (lambda path: path.mkdir(), "unable to open database file"),
        (of_another_version, "not a database of this version of tuner"),
        (foreign, "not a database of this version of tuner"),
        (truncated, "malformed"),
        (lambda path: path.symlink_to("/no/such/folder/a.db"), "unable to open database file"),
    ],
)
def test_other_files_are_refused_in_one_line_and_stay_as_they_are(tmp_path, make, said):
    path = tmp_path / "a.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError) as problem, using(path, "choose another place"):
        database = open_database(path, SCHEMA, 1, "choose another place")
        database.execute("SELECT count(text) FROM numbers").fetchone()
    text = str(problem.value)
    assert text.startswith(f"{path}: ") and said in text and text.endswith("; choose another place")
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("begin", [Store, begin_folder])
def test_programs_that_read_a_store_leave_its_log_to_its_process(tmp_path, begin):
    read = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT * FROM records')"
    with begin(tmp_path) as store:
        store.append({"number": 1})
        assert is_ours(store.path) and is_run(tmp_path) and len(read_records(tmp_path)) == 1
        log = os.stat(tmp_path / "run.db-wal").st_ino
        subprocess.run([sys.executable, "-c", read, store.path], check=True)
        assert os.stat(tmp_path / "run.db-wal").st_ino == log
    assert not (tmp_path / "run.db-wal").exists()


def test_a_full_disk_is_one_line(tmp_path):
    """A limit of the size of files is as a full disk."""
    program = f"""
import resource, signal, sys
from pathlib import Path
from tuner.core.store import Store, open_database, read_records, using
from games.streams import InputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
database = open_database(path, {SCHEMA!r}, 1, "make room")
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
number = 0
try:
    while True:
        with using(path, "restore it"):
            database.execute("INSERT INTO numbers VALUES (?, ?)", (number, "x" * 1000))
        number += 1
except InputError as problem:
    print(number, problem)
"""
    path = tmp_path / "a.db"
    ran = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    number, _, said = ran.stdout.partition(" ")
    assert ran.stdout.count("\n") == 1 and said.startswith(f"{path}: cannot be used: "), ran
    assert said.endswith("; make room on this disk\n")
    assert len(numbers(path)) == int(number) > 10


def test_changed_texts_of_games_are_refused_and_those_of_an_earlier_version_are_read(tmp_path):
    with Store(tmp_path) as store:
        store.append({"number": 0}, ["1. e4 *", "1. d4 *"])
        assert store.texts(0) == ["1. e4 *", "1. d4 *"]
    with changing(tmp_path / "run.db") as database:
        database.execute("UPDATE games SET text = '1. c4 *' WHERE place = 1")
    with Store(tmp_path) as store, pytest.raises(InputError, match="a game of 0: damaged"):
        store.texts(0)
    with changing(tmp_path / "run.db") as database:
        database.execute("ALTER TABLE games DROP COLUMN crc")
        database.execute("PRAGMA user_version = 2")
    assert read_records(tmp_path) == [{"number": 0}]
    with Store(tmp_path) as store:
        assert store.texts(0) == ["1. e4 *", "1. c4 *"]
        store.append({"number": 1}, ["1. a4 *"])
        assert store.texts(1) == ["1. a4 *"]


FORGED = {
    "a blob that is text": "UPDATE blobs SET content = 'text'",
    "a record that is bytes": "UPDATE records SET json = x'7b7d'",
    "a record that is a number": "UPDATE records SET json = 5",
    "files that are a text": ("files", b"text"),
    "files that are a list": ("files", b'["a", 3]'),
    "files that are numbers": ("files", b'{"a": {}, "b": [1]}'),
}


@pytest.mark.parametrize("change", FORGED)
def test_a_forged_store_is_one_line(tmp_path, change):
    with Store(tmp_path) as store:
        store.append({"number": 1})
        store.put("files", b"{}")
        if isinstance(FORGED[change], tuple):
            store.put(*FORGED[change])
    if isinstance(FORGED[change], str):
        with changing(tmp_path / "run.db") as database:
            database.execute(FORGED[change])
    try:
        begin_folder(tmp_path).__exit__()
    except InputError as problem:
        assert "\n" not in str(problem) and str(tmp_path) in str(problem)
    else:
        assert change == "files that are numbers"  # none of them is a file


def test_files_that_a_store_names_are_removed_only_if_the_run_made_them(tmp_path):
    run, precious = tmp_path / "run", tmp_path / "precious"
    precious.write_text("mine")
    run.mkdir()
    (run / "own.txt").write_text("mine")
    marks = {name: mark_of(precious) for name in ("../precious", str(precious))}
    marks["own.txt"] = [(run / "own.txt").stat().st_ino, 1]  # the inode of a removed file again
    with Store(run) as store:
        store.put("files", json.dumps(marks).encode())
    assert "contains unrelated files (own.txt)" in refusal(begin_folder, run)
    assert precious.exists() and (run / "own.txt").exists()
    (run / "own.txt").unlink()
    (run / "unfinished").symlink_to(tmp_path)
    assert "contains unrelated files (unfinished)" in refusal(begin_folder, run)
    assert precious.exists()


def test_a_folder_that_cannot_be_written_is_not_called_damaged(tmp_path):
    """A folder in the way of a file of the log is as a folder without the right to write."""
    with Store(tmp_path) as store:
        store.append({"number": 1})
    (tmp_path / "run.db-wal").mkdir()
    (tmp_path / "run.db-shm").mkdir()
    said = refusal(Store, tmp_path)
    assert "restore it" not in said and "writable" in said


def test_a_run_of_an_earlier_version_is_refused_and_stays_as_it_is(tmp_path):
    (tmp_path / "history.jsonl").write_text('{"leg":0}\n')
    (tmp_path / "games.pgn").write_text("games")
    for use in (Store, read_records):
        assert "a run of an earlier version" in refusal(use, tmp_path)
    assert (tmp_path / "games.pgn").read_text() == "games"
    assert {path.name for path in tmp_path.iterdir()} <= {"history.jsonl", "games.pgn", "lock"}


def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path):
    with Store(tmp_path) as store:
        for number in range(60):
            store.append({"number": number, "text": "x" * number}, ["1. e4 *"])
        store.put("learner", bytes(range(256)) * 30)
    whole, records = (tmp_path / "run.db").read_bytes(), read_records(tmp_path)
    draws, refused = random.Random(6), 0
    for _ in range(300):
        place, bit = draws.randrange(len(whole)), 1 << draws.randrange(8)
        changed = bytearray(whole)
        changed[place] ^= bit
        (tmp_path / "run.db").write_bytes(changed)
        try:
            with Store(tmp_path) as store:
                assert store.blob("learner") in (None, bytes(range(256)) * 30)
            assert read_records(tmp_path) in (records, [])
        except InputError as problem:
            assert str(problem).startswith(str(tmp_path)) and str(problem).count("\n") == 0
            refused += 1
    assert refused > 100
