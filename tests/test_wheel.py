"""The built wheel, in a bare environment, an empty folder and an empty home: it works without the
sources beside it."""

import email
import importlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.games.support import REPOSITORY
from tuner.cli import COMMANDS, make_parser

PACKAGES = ("tuner", "evalterms", "games", "params")
DEPENDENCIES = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "yaml",
    "chess",
    "rich",
    "zstandard",
    "jinja2",
    "matplotlib",
    "shtab",
)
SETUPTOOLS = (70, 1)  # builds wheels by itself
GAMES = 40


def builds_wheels() -> bool:
    try:
        return tuple(map(int, version("setuptools").split(".")[:2])) >= SETUPTOOLS
    except PackageNotFoundError:
        return False


pytestmark = pytest.mark.skipif(
    not builds_wheels(), reason="setuptools is older than 70.1; pip install '.[test]'"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy of the sources, for building leaves folders behind."""
    sources, built = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("built")
    for name in PACKAGES:
        shutil.copytree(
            REPOSITORY / name, sources / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, sources)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--no-build-isolation",
            "--wheel-dir",
            built,
            sources,
        ],
        check=True,
    )
    (found,) = built.iterdir()
    return found


@dataclass(frozen=True)
class Installed:
    """A bare environment with the wheel, and an empty folder to work in."""

    programs: Path
    folder: Path

    def run(self, program: str, *arguments: object) -> subprocess.CompletedProcess:
        """Run one of its programs with nothing of ours in its surroundings; it has to succeed."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
        home = self.folder.with_name("home")
        home.mkdir(exist_ok=True)
        ran = subprocess.run(
            [self.programs / program, *map(str, arguments)],
            cwd=self.folder,
            env=kept | {"HOME": str(home)},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        return ran


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Installed:
    """Its packages are the wheel's; what they depend on is that of these tests."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            programs / "python",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            wheel,
        ],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        check=True,
    )
    asked = subprocess.run(
        [programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    places = {
        str(Path(importlib.import_module(name).__file__).resolve().parents[1])
        for name in DEPENDENCIES
    }
    (Path(asked.stdout.strip()) / "dependencies.pth").write_text("\n".join(sorted(places)) + "\n")
    (folder / "empty").mkdir()
    return Installed(programs, folder / "empty")


def test_every_file_that_is_no_source_is_in_the_wheel(wheel):
    wanted = {
        path.relative_to(REPOSITORY).as_posix()
        for name in PACKAGES
        for path in (REPOSITORY / name).rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".md")
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert wanted == packed
    assert {Path(name).suffix for name in wanted} >= {
        ".py",
        ".yaml",
        ".zst",
        ".cu",
        ".j2",
        ".css",
        ".js",
    }


@pytest.mark.long
def test_the_program_learns_compares_and_reports_from_an_empty_folder(installed, small_pgn):
    where = installed.run(
        "python", "-c", "import tuner, games; print(tuner.__file__, *games.__path__)"
    ).stdout
    assert str(REPOSITORY) not in where and where.count(str(installed.programs.parent)) == 2
    assert (
        "usage: tuner"
        in installed.run("tuner", "--help").stdout
        == installed.run("python", "-m", "tuner", "--help").stdout
    )
    text = small_pgn.read_bytes().split(b"[Event ")[1 : GAMES + 1]
    (installed.folder / "games.pgn").write_bytes(b"".join(b"[Event " + game for game in text))
    installed.run(
        "tuner",
        "tune",
        "classic",
        "games.pgn",
        "-o",
        "learned.yaml",
        "--run",
        "run",
        "--only",
        "material.*",
    )
    assert "material.pawn" in installed.run("tuner", "diff", "classic", "learned.yaml").stdout
    installed.run("tuner", "report", "run")
    (page,) = (installed.folder / "run").glob("*.html")
    assert "</html>" in page.read_text(encoding="utf-8") and "<style>" in page.read_text(
        encoding="utf-8"
    )


@pytest.mark.long
def test_what_an_index_shows_is_complete_and_leads_nowhere_that_it_cannot_follow(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        about = email.message_from_bytes(archive.read(name))
    assert (
        about["Author"]
        and "chess" in about["Keywords"]
        and about["License-Expression"]
        or about["License"]
    )
    versions = {f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)}
    assert (
        versions <= set(about.get_all("Classifier")) and about["Requires-Python"] == "<3.15,>=3.10"
    )
    text = about.get_payload()
    assert re.findall(r"\]\((?!https?://)|<img", text) == []
    for line in re.findall(r"^tuner (.*)", text, re.MULTILINE):
        make_parser(COMMANDS)[0].parse_args(line.split())
