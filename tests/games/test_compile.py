"""Compiled code is fresh and shared: its cache on disk, and the notice of a long compilation."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher

from games.compile import cache, jit
from games.compile import cache as compile_notice
from games.compile.jit import Unit
from tests.games.support import REPOSITORY

PATIENCE = 900  # seconds, for a machine on which much else runs


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A cache home of the test's own, empty at first."""
    monkeypatch.setenv("EVALTUNE_CACHE", str(tmp_path / "cache"))
    # Python's own cache overlooks edits within a second
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path / "cache"


def doubled(unit: Unit):
    """A compiled function; every call of this gives it anew, as a new process would."""

    @unit.entry(types.int64(types.int64))
    def double(x):
        return 2 * x

    return double


def tiny() -> Unit:
    return Unit("tiny", lambda: [Path(__file__)])


def entries(home: Path, suffix: str) -> list[Path]:
    return sorted(home.glob(f"tiny-*/**/*.{suffix}"))


def test_an_entry_that_captures_compiled_functions_is_found_again(home):
    """Those differ in each process, and Numba's own names of code with them."""

    def made():
        called = tiny().inner(types.int64(types.int64))(lambda x: 2 * x)
        return tiny().entry(types.int64(types.int64))(lambda x: called(x))

    first, again = made(), made()
    assert first(21) == again(21) == 42
    assert sum(again.compile()._cache_hits.values()) == 1


def test_a_function_is_compiled_once_and_then_read_from_the_cache(home, capfd):
    assert doubled(tiny())(21) == 42
    (index,), (code,) = entries(home, "nbi"), entries(home, "nbc")
    written = index.stat().st_mtime_ns, code.stat().st_mtime_ns
    again = doubled(tiny())
    assert again(21) == 42
    assert sum(again.compile()._cache_hits.values()) == 1
    assert (index.stat().st_mtime_ns, code.stat().st_mtime_ns) == written


def test_threads_that_compile_at_once_all_write_into_the_cache_folder(home, tmp_path, monkeypatch):
    enable = Dispatcher.enable_caching

    def slowly(dispatcher) -> None:
        time.sleep(0.02)  # others come to this point meanwhile
        enable(dispatcher)

    monkeypatch.setattr(Dispatcher, "enable_caching", slowly)
    functions = [doubled(Unit(f"tiny{i}", lambda: [Path(__file__)])) for i in range(6)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(lambda function: function(21), functions * 2)) == [42] * 12
    assert len({path.parts[len(home.parts)] for path in home.glob("tiny*/**/*.nbc")}) == 6


def load(name: str, path: Path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_an_edit_to_a_helper_in_another_file_compiles_its_callers_anew(tmp_path, home):
    helper, caller = tmp_path / "tiny_helper.py", tmp_path / "tiny_caller.py"
    helper.write_text(
        textwrap.dedent("""
        from pathlib import Path
        from numba.core import types
        from games.compile.jit import Unit

        UNIT = Unit("tiny", lambda: Path(__file__).parent.glob("tiny_*.py"))

        @UNIT.inner(types.int64(types.int64))
        def helped(x):
            return x + 1
    """)
    )
    caller.write_text(
        textwrap.dedent("""
        from numba.core import types
        from tiny_helper import UNIT, helped

        @UNIT.entry(types.int64(types.int64))
        def called(x):
            return helped(x)
    """)
    )
    try:
        for constant in (1, 5):
            helper.write_text(helper.read_text().replace("x + 1", f"x + {constant}"))
            load("tiny_helper", helper)
            assert load("tiny_caller", caller).called(10) == 10 + constant
        assert len(list(home.glob("tiny-*"))) == 2
    finally:
        del sys.modules["tiny_helper"], sys.modules["tiny_caller"]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["empty", "cut", "noise"])
def test_a_damaged_cache_entry_is_compiled_again_and_replaced(suffix, damage, home, capfd):
    doubled(tiny())(21)
    (path,) = entries(home, suffix)
    content = path.read_bytes()
    path.write_bytes(
        {"empty": b"", "cut": content[: len(content) // 2], "noise": b"\x80\x04" + b"noise" * 100}[
            damage
        ]
    )
    capfd.readouterr()
    assert doubled(tiny())(21) == 42
    assert "unreadable cache entry" in capfd.readouterr().err
    mended = doubled(tiny())
    assert mended(21) == 42
    assert sum(mended.compile()._cache_hits.values()) == 1
    assert "unreadable" not in capfd.readouterr().err


def test_a_missing_file_of_the_cache_is_written_again(home):
    for suffix in ("nbi", "nbc"):
        doubled(tiny())(21)
        (path,) = entries(home, suffix)
        path.unlink()
        assert doubled(tiny())(21) == 42
        assert entries(home, suffix)


SCRIPT = """
import resource, sys
from pathlib import Path
from numba.core import types
from games.compile.jit import Unit

UNIT = Unit("tiny", lambda: [Path(__file__)])

@UNIT.inner(types.int64(types.int64))
def helped(x):
    return x + 1

@UNIT.entry(types.int64(types.int64))
def called(x):
    return 2 * helped(x)

@UNIT.entry(types.int64(types.int64))
def called_too(x):
    return 3 * helped(x)

if "full" in sys.argv:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(called(20), called_too(20), UNIT.folder)
"""


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    script = folder / "tiny_script.py"
    if not script.exists():
        script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(script), *arguments],
        text=True,
        cwd=REPOSITORY,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.long
def test_processes_that_start_at_once_on_an_empty_cache_all_succeed(tmp_path, home):
    running = [start(tmp_path) for _ in range(3)]
    finished = [process.communicate(timeout=PATIENCE) for process in running]
    assert [process.returncode for process in running] == [0] * 3, finished
    (folder,) = home.iterdir()
    assert {out for out, _ in finished} == {f"42 63 {folder}\n"}
    assert not list(folder.rglob("*.tmp*"))
    out, err = start(tmp_path).communicate(timeout=PATIENCE)
    assert (out, err) == (f"42 63 {folder}\n", "")


def test_a_cache_home_that_cannot_be_written_is_replaced_for_the_run(tmp_path):
    own, wrong = tmp_path / "temporary", tmp_path / "a_file"
    own.mkdir()
    wrong.write_text("not a folder")
    process = start(tmp_path, EVALTUNE_CACHE=str(wrong / "cache"), TMPDIR=str(own))
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert out.startswith(f"42 63 {own}")
    assert f"tuner: cannot write to {wrong}" in err
    assert "Not a directory): compiling for this run only" in err
    assert "later runs start at once" not in err
    assert list(own.iterdir()) == []  # removed when the process ends


def test_a_full_disk_means_compiling_at_every_start(tmp_path, home):
    process = start(tmp_path, "full")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert out.startswith("42 63")
    assert "cannot write the compile cache (File too large): the next start compiles again" in err
    assert not [path for path in home.rglob("*") if path.is_file() and path.stat().st_size]


def test_using_a_folder_keeps_it_from_being_removed(home):
    unit = tiny()
    os.makedirs(home / f"tiny-{unit.name}")
    os.utime(home / f"tiny-{unit.name}", times=(1, 1))
    doubled(unit)(1)
    assert cache.remove_unused(home) == []


def test_a_table_gives_its_numbers_to_compiled_code():
    unit, numbers = tiny(), np.arange(100, 110)
    number_at = jit.table("test_jit_numbers", numbers)

    @unit.entry(types.int64(types.int64))
    def looked_up(i):
        return number_at(i) + number_at(i + 1)

    assert [looked_up(i) for i in range(9)] == [201 + 2 * i for i in range(9)]


def test_compiled_code_calls_a_function_by_its_address():
    unit = tiny()
    call = jit.address_call(types.int64, (types.int64,))
    double = doubled(unit)

    @unit.entry(types.int64(types.int64, types.int64))
    def calls(address, x):
        return call(address, x) + 1

    assert calls(double.address(), 20) == 41


def test_the_name_of_a_unit_changes_with_every_source_and_the_salt(tmp_path):
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("x = 1\n")
    second.write_text("y = 1\n")
    names = [cache.digest([first, second])]
    assert cache.digest([second, first]) == names[0]
    names.append(cache.digest([first, second], salt="other"))
    names.append(cache.digest([first]))
    second.write_text("y = 2\n")
    names.append(cache.digest([first, second]))
    second.rename(tmp_path / "c.py")
    names.append(cache.digest([first, tmp_path / "c.py"]))
    assert len(set(names)) == len(names)


def test_folders_that_were_not_used_for_a_month_are_removed(tmp_path):
    for name, days in [("chess-old", 31), ("chess-new", 29), ("tiny-old", 300), ("unrelated", 300)]:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "code.nbc").write_text("x")
        os.utime(tmp_path / name, times=(time.time() - days * 86400,) * 2)
    assert sorted(path.name for path in cache.remove_unused(tmp_path)) == ["chess-old", "tiny-old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chess-new", "unrelated"]
    assert cache.remove_unused(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    ("platform", "variables", "wanted"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/evaltune"),
        ("linux", {"HOME": "/h"}, "/h/.cache/evaltune"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/evaltune"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/evaltune"),
        ("linux", {"EVALTUNE_CACHE": "/chosen", "XDG_CACHE_HOME": "/x"}, "/chosen"),
    ],
)
def test_the_cache_lies_where_the_system_keeps_caches(platform, variables, wanted, monkeypatch):
    for name in ("EVALTUNE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache.cache_home() == Path(wanted)


class Alarm:
    """A timer that goes off when the test says so, unless it was canceled."""

    def __init__(self, seconds: float, function, arguments: list[str]) -> None:
        self.seconds, self.cancelled = seconds, False
        self._function, self._arguments = function, arguments

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True

    def go_off(self) -> None:
        assert not self.cancelled
        self._function(*self._arguments)


def test_a_long_compilation_is_announced_once(capsys, monkeypatch):
    monkeypatch.setattr(compile_notice, "PATIENCE", 0.2)
    alarms = []
    monkeypatch.setattr(
        compile_notice.threading, "Timer", lambda *given: alarms.append(Alarm(*given)) or alarms[-1]
    )
    short, long = compile_notice.Compilation(), compile_notice.Compilation()
    for _ in range(2):
        short.begin("chess")
        short.end(0.05)
    assert [alarm.seconds for alarm in alarms] == pytest.approx([0.2, 0.15]) and all(
        alarm.cancelled for alarm in alarms
    )
    long.begin("chess")
    alarms[-1].go_off()
    long.end(0.5)
    long.begin("terms-chess")  # once is enough
    long.end(0.5)
    assert len(alarms) == 3
    for compilation in (short, long, long):
        compilation.finish()
    assert (
        capsys.readouterr().err == "tuner: compiling for this machine, once (about 10 s) ...\n"
        "tuner: compiled in 1.0 s; later runs start at once\n"
    )
