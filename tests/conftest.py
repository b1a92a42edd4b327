"""What tests in several folders share: games from the samples, and the dataset that they make,
built once a session; and what keeps the processes that run tests small."""

import contextlib
import ctypes
import gc
import html
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

# Before NumPy is loaded, here and in programs that tests start: threads of BLAS
# wait busily, and several processes do so at once.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
# For the processes of xdist and these programs: blocks from 1 MB on go back to the system when they
# are freed, and threads share what is free.
os.environ.update(MALLOC_ARENA_MAX="2", MALLOC_MMAP_THRESHOLD_=str(1 << 20))
if os.environ.get("CI") != "newcomer":  # who lacks programs that some tests need
    # where Debian puts games, which is not on the PATH of root
    os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/games"

pytest_plugins = ["tests.skips"]
REPOSITORY = Path(__file__).resolve().parents[1]
# for programs that tests start; setup.cfg says the same for pytest. The fixtures hold a tiny game.
os.environ["PYTHONPATH"] = f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'tests' / 'fixtures'}"
SAMPLES = REPOSITORY / "games" / "samples" / "stockfish400.pgn.zst"
SMALL = 150  # games
# megabytes of a process: from where on, and after how much growth, memory is given back
CALM, GROWTH = 400, 60


def pytest_configure(config: pytest.Config) -> None:
    """Where several processes run tests, compile what they share before they start: each would
    compile it, and keep the hundreds of megabytes that this takes."""
    if getattr(config.option, "numprocesses", None) and not config.option.collectonly:
        command = [sys.executable, "-m", "tests.compiling"]
        shares = [subprocess.Popen([*command, share], cwd=REPOSITORY) for share in "01"]
        if any([share.wait() for share in shares]):  # all are waited for
            raise pytest.UsageError("python -m tests.compiling failed (see above)")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


least = CALM  # megabytes that this process had when it last gave memory back


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Give memory back after a test. The compiler exempts what lives from garbage collection,
    garbage included: in a process that compiles for one test after another, hash tables of engines
    and arrays of fits would never be freed."""
    global least
    if resident() > least + GROWTH:
        gc.unfreeze()
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        least = max(CALM, resident())


def resident() -> int:
    """Megabytes that this process has in memory; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20
    return 0


DRAWING = ("tests/tuner/report", "tests/test_docs", "tests/test_examples")  # with real charts


@pytest.fixture(scope="session", autouse=True)
def charts_drawn_once():
    """A chart depends on what it is given alone, and pages of many tests have the same ones. Tests
    of other folders have the words of a chart without its drawing, which takes long."""
    from tuner.report import charts

    drawn: dict[bytes, charts.Chart] = {}
    original = charts._chart

    def remembered(title, x_label, y_label, description, draw, *size, **more):
        if not os.environ.get("PYTEST_CURRENT_TEST", "").startswith(DRAWING):
            words = "".join(f"<text>{html.escape(word)}</text>" for word in (x_label, y_label))
            svg = f'<svg viewBox="0 0 9 9">{words}</svg>'
            return charts.Chart(title, charts.in_page(svg, title, description))
        cells = [cell.cell_contents for cell in draw.__closure__ or ()]
        words = title, x_label, y_label, description, size, more
        key = pickle.dumps((words, draw.__qualname__, cells))
        if key not in drawn:
            drawn[key] = original(title, x_label, y_label, description, draw, *size, **more)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "_chart", remembered)
        yield


@pytest.fixture(scope="session")
def small_pgn(tmp_path_factory) -> Path:
    """The first games of the samples, as a plain PGN file."""
    from games.streams import pieces

    text = b""
    for piece in pieces(SAMPLES):
        text += piece
        if text.count(b"[Event ") > SMALL:
            break
    games = text.split(b"[Event ")[1 : SMALL + 1]
    path = tmp_path_factory.mktemp("small") / "small.pgn"
    path.write_bytes(b"".join(b"[Event " + game for game in games))
    return path


@pytest.fixture(scope="session")
def small_dataset(small_pgn):
    """The quiet positions of those games, counted with all terms."""
    from games.record import ReadOptions
    from tuner.evaluation.evaluation import quiescence_of
    from tuner.evaluation.loading import load_engine
    from tuner.learn.build import build
    from tuner.learn.sources import sources_of

    engine, _ = load_engine("classic")
    options = ReadOptions(skip_start=8)
    return build(
        engine,
        sources_of([str(small_pgn)], engine.game),
        small_pgn.with_name("small.ds"),
        options,
        quiescence_of(engine.game, "classic"),
        print,
    )[0]


@pytest.fixture(scope="session")
def chess(small_dataset):
    """A function that gives engine, bundled parameters (tapered or not) and the small dataset."""
    from tuner.evaluation.loading import load_engine
    from tuner.parameters.parameters import untapered

    engine, parameters = load_engine("classic")

    def given(one_stage: bool = False):
        return engine, untapered(parameters) if one_stage else parameters, small_dataset

    return given
