"""Where CI is set, a test that is skipped for a reason not listed here fails the run: nothing is
left out unnoticed. With CI=newcomer programs of Debian may be missing, too, and $EVALTUNE_PASSED
names a file for the tests that passed; a later run that finds it there leaves these out. What fails
is printed at once.

A pytest plugin, loaded by tests/conftest.py. Patterns match the whole reason of a skip.
"""

import os
import re
from pathlib import Path

import pytest

ALLOWED = {
    r"\.\./shared/data/nasty_pgn is not here": (
        "a collection of others that no checkout has; our own bad files are always read"
    ),
    r"\.\./shared/data is not here": (
        "games of a tournament that no checkout has; games that tests make are always read"
    ),
    r"no nvcc; .*": (
        "gigabytes for a second opinion: NVRTC, which CuPy uses, compiles the kernels too"
    ),
}
NEWCOMER = "newcomer"
FOR_NEWCOMERS = {
    r"no .*; install the Debian package [\w+-]+": "a program that pip does not install",
    r"no .*; pip install '\.\[test-all\]'": "hundreds of megabytes for a few tests",
}


def in_ci() -> str:
    """What the environment says of continuous integration: nothing if this is none."""
    found = os.environ.get("CI", "").lower()
    return found if found in ("1", "true", "yes", NEWCOMER) else ""


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why it was skipped."""
    where = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return where.removeprefix("Skipped: ")


def unexpected(config: pytest.Config) -> list[tuple[str, str]]:
    """Tests and reasons of the skips of this run that are not allowed."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = [] if reporter is None or not in_ci() else reporter.stats.get("skipped", [])
    found = ((report.nodeid, reason_of(report)) for report in skipped)
    patterns = [*ALLOWED, *(FOR_NEWCOMERS if in_ci() == NEWCOMER else ())]
    return [
        (test, reason)
        for test, reason in found
        if not any(re.fullmatch(pattern, reason) for pattern in patterns)
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that should have run."""
    found = unexpected(terminalreporter.config)
    if found:
        terminalreporter.section(
            "skipped, but CI must run them; what may be skipped stands in tests/skips.py", red=True
        )
        for test, reason in found:
            terminalreporter.line(f"{test}: {reason}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed on this machine without the programs that some tests need."""
    place = os.environ.get("EVALTUNE_PASSED")
    if place and in_ci() != NEWCOMER and os.path.exists(place):
        passed = set(Path(place).read_text(encoding="utf-8").splitlines())
        again = [item for item in items if item.nodeid in passed]
        config.hook.pytest_deselected(items=again)
        items[:] = [item for item in items if item.nodeid not in passed]


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> None:
    """Name at once what failed: a run that is stopped from outside ends without a summary."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if in_ci() and report.failed and reporter is not None:
        reporter.write_line(f"\n{report.nodeid} failed: {report.longreprtext}")


def keep_passed(config: pytest.Config) -> None:
    """Write the names of the tests that passed, which are lines: their parameters hold none."""
    place = os.environ.get("EVALTUNE_PASSED")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if place and in_ci() == NEWCOMER and reporter is not None:
        names = [report.nodeid for report in reporter.stats.get("passed", [])]
        Path(place).write_text("\n".join(names) + "\n", encoding="utf-8")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run that would otherwise pass. Processes of xdist report to the one that prints."""
    if not hasattr(session.config, "workerinput"):
        keep_passed(session.config)
    if (
        exitstatus == pytest.ExitCode.OK
        and not hasattr(session.config, "workerinput")
        and unexpected(session.config)
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
