"""A program counts as present if it works."""

import sys

import pytest

from tests.support import file_with
from tests.tools import tool


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A function that puts a program on the path, which is otherwise empty."""
    tool.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(name: str, script: str) -> str:
        path = file_with(tmp_path / name, script)
        path.chmod(0o755)
        return str(path)

    yield put
    tool.cache_clear()


def test_a_shim_with_nothing_behind_it_is_no_tool(program):
    program("rustc", "#!/bin/sh\necho 'no default toolchain is configured' >&2\nexit 1\n")
    program("broken", "no program at all")
    program("interpreted", "#!/nowhere/at/all\n")
    assert (
        tool("rustc") is None
        and tool("broken") is None
        and tool("interpreted") is None
        and tool("absent") is None
    )


def test_a_program_behind_a_shim_of_its_name_is_found(program, tmp_path, monkeypatch):
    program("rustc", "#!/bin/sh\nexit 1\n")
    (tmp_path / "usr").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'usr'}")
    assert tool("rustc") is None
    tool.cache_clear()
    wanted = program("usr/rustc", "#!/bin/sh\nexit 0\n")
    assert tool("rustc") == wanted


def test_the_first_tool_that_works_is_taken(program):
    program("first", "#!/bin/sh\nexit 3\n")
    second = program(
        "second", f"#!{sys.executable}\nimport sys\nsys.exit(sys.argv[1:] != ['--version'])\n"
    )
    assert tool("absent", "first", "second") == second
