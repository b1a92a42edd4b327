"""Where CI=true, a test that is skipped for a reason not listed here fails the run: nothing is left out unnoticed.

A pytest plugin, loaded by tests/conftest.py. Patterns match the whole reason of a skip.
"""

from __future__ import annotations

import os
import re

import pytest

ALLOWED = {
    r"\.\./shared/data/nasty_pgn is not here": "a collection of others that no checkout has; our own bad files are always read",
    r"\.\./shared/data is not here": "games of a tournament that no checkout has; games that tests make are always read",
    r"no gnubg": "a program of one distribution; its boards are checked without it",
    r"no fairymax; .*": "a program of one distribution; a fake engine without `setboard` is always played",
    r"no fairy-stockfish": "a program of one distribution; our own engine plays through the protocol, too",
    r"no nvcc; .*": "gigabytes for a second opinion: NVRTC, which CuPy uses, compiles the kernels too",
}


def in_ci() -> bool:
    """Whether the environment says that this is continuous integration."""
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why it was skipped."""
    where = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return where.removeprefix("Skipped: ")


def unexpected(config: pytest.Config) -> list[tuple[str, str]]:
    """Tests and reasons of the skips of this run that are not allowed."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = [] if reporter is None or not in_ci() else reporter.stats.get("skipped", [])
    found = ((report.nodeid, reason_of(report)) for report in skipped)
    return [(test, reason) for test, reason in found if not any(re.fullmatch(pattern, reason) for pattern in ALLOWED)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that should have run."""
    found = unexpected(terminalreporter.config)
    if found:
        terminalreporter.section("skipped, but CI must run them; what may be skipped stands in tests/skips.py", red=True)
        for test, reason in found:
            terminalreporter.line(f"{test}: {reason}")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run that would otherwise pass. Processes of xdist report to the one that prints."""
    if exitstatus == pytest.ExitCode.OK and not hasattr(session.config, "workerinput") and unexpected(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
