"""The workflow of the forge runs on the Pythons that setup.cfg allows, and builds what it says."""

import re

import yaml

from tests.games.support import REPOSITORY


def test_the_workflow_runs_on_the_oldest_and_the_newest_python():
    """Of python_requires; YAML reads the key `on` as true."""
    workflow = yaml.safe_load(
        (REPOSITORY / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    )
    requires = re.search(
        r"^python_requires = >=3\.(\d+),<3\.(\d+)$",
        (REPOSITORY / "setup.cfg").read_text(),
        re.MULTILINE,
    )
    oldest, newest = f"3.{requires[1]}", f"3.{int(requires[2]) - 1}"
    included = workflow["jobs"]["tests"]["strategy"]["matrix"]["include"]
    assert {(one["python"], one["dependencies"]) for one in included} == {
        (oldest, "lowest"),
        (newest, "newest"),
    }
    assert set(workflow["jobs"]) == {"check", "tests", "wheel"} and True in workflow
    targets = set(re.findall(r"\bmake ([\w.-]+)", str(workflow))) - {"check"}
    makefile = (REPOSITORY / "Makefile").read_text()
    assert [
        target
        for target in targets
        if not re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)
    ] == []


def test_the_fast_tests_of_the_makefile_are_there():
    """Pytest runs nothing at all where one of many files is missing."""
    fast = re.search(r"^FAST := (.*?)\n\n", (REPOSITORY / "Makefile").read_text(), re.M | re.S)
    assert fast is not None
    text = "tests/ " + fast[1].replace("\\\n", " ")
    for prefix, names in re.findall(r"\$\(addprefix ([\w/]+), ([^()]*)\)", text):
        for name in names.split():
            assert (REPOSITORY / "tests" / prefix / name).exists(), f"{prefix}{name}"
    for name in re.sub(
        r"\$\(addprefix [\w/]+, [^()]*\)|\$\(addprefix tests/,|\)|^tests/ ", "", text
    ).split():
        assert (REPOSITORY / "tests" / name).exists(), name
