"""CI fails where a test is skipped for a reason that is not listed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.games.support import REPOSITORY
from tests.skips import ALLOWED

TESTS = """
import pytest

def test_that_runs():
    pass

@pytest.mark.skipif(True, reason="{0}")
def test_that_is_marked():
    pass

def test_that_skips_itself():
    pytest.skip("{1}")
"""
LISTED, OTHER = "no nvcc; install it", "no compiler here"


def ran(
    folder: Path, content: str, *options: str, ci: str = "true", passed: str = ""
) -> subprocess.CompletedProcess:
    """Run pytest with the plugin on a file with this content."""
    (folder / "test_some.py").write_text(content)
    environment = os.environ | {"CI": ci, "EVALTUNE_PASSED": passed}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.skips", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_a_skip_that_is_not_listed_fails_the_run_and_is_named(tmp_path, options):
    found = ran(tmp_path, TESTS.format(LISTED, OTHER), *options)
    assert found.returncode == 1 and "1 passed, 2 skipped" in found.stdout
    assert (
        f"test_some.py::test_that_skips_itself: {OTHER}" in found.stdout
        and "test_that_is_marked: " not in found.stdout
    )


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_a_failure_is_printed_before_the_run_has_ended(tmp_path, options):
    content = "def test_that_fails():\n    assert 1 == 2\n\ndef test_that_runs():\n    pass\n"
    found = ran(tmp_path, content, *options)
    before, _ = found.stdout.split("= FAILURES =")
    assert found.returncode == 1 and before.count("test_some.py::test_that_fails failed: ") == 1
    assert "assert 1 == 2" in before


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_what_passed_for_a_newcomer_is_not_run_again_and_the_rest_is(tmp_path, options):
    content, passed = TESTS.format(LISTED, "no gcc; install the Debian package gcc"), "passed"
    first = ran(tmp_path, content, *options, ci="newcomer", passed=passed)
    assert first.returncode == 0 and "1 passed, 2 skipped" in first.stdout
    assert (tmp_path / passed).read_text() == "test_some.py::test_that_runs\n"
    second = ran(tmp_path, content, passed=passed)
    assert second.returncode == 1 and "2 skipped, 1 deselected" in second.stdout


def test_listed_skips_pass_and_so_does_everything_outside_ci(tmp_path):
    assert ran(tmp_path, TESTS.format(LISTED, LISTED)).returncode == 0
    for ci in ("", "false"):
        assert ran(tmp_path, TESTS.format(OTHER, OTHER), ci=ci).returncode == 0


def test_every_reason_that_is_listed_is_one_of_a_test_and_says_why():
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in (REPOSITORY / "tests").rglob("test_*.py")
        if path != Path(__file__)
    )
    for pattern, why in ALLOWED.items():
        assert pattern.removesuffix(".*").replace("\\", "") in sources and len(why.split()) > 3
