"""What the tests of `tuner export` share: a learned file, its numbers, and the arrays of C and Rust
texts."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.tools import tool
from tuner.evaluation.loading import load_parameters
from tuner.parameters.writer import write_parameters

STAGES = ("mg", "eg")
Numbers = dict[str, list[list[float]]]  # of each parameter, stage by stage


def write_learned(path: Path) -> Path:
    """Write `classic` with numbers of two decimals, errors for some of them, and a command that
    would end a comment."""
    start, random = load_parameters("classic"), np.random.default_rng(1)
    weights = np.round(start.weights + random.normal(0, 20, start.weights.shape), 2)
    errors = np.round(random.uniform(0.1, 20, weights.shape), 2)
    errors = np.where(
        random.random(weights.shape) < 0.3, random.choice([0, np.nan], weights.shape), errors
    )
    said = {"command": "tuner tune 'a */ b.pgn' -o c:\\", "version": "0.1.0"}
    bounds = (("mobility.knight", (-25.5, 40.2)), ("material.pawn", (200.0, 300.0)))
    write_parameters(
        path, start.with_weights(weights, standard_errors=errors, learned=said, bounds=bounds)
    )
    return path


def numbers_of(path: Path | str, flipped: bool = False) -> Numbers:
    """The numbers of a parameter file as YAML has them, tables from the row at the bottom."""
    text = Path(path).read_text(encoding="utf-8")
    found: Numbers = {}
    for term, entries in yaml.safe_load(text)["weights"].items():
        for name, stages in entries.items():
            found[f"{term}.{name}"] = [
                (
                    sum(value if flipped else value[::-1], [])
                    if isinstance(value, list) and isinstance(value[0], list)
                    else value
                    if isinstance(value, list)
                    else [value]
                )
                for value in (stages[stage] for stage in STAGES)
            ]
    return found


def rounded(numbers: Numbers) -> Numbers:
    return {
        name: [[round(value) for value in stage] for stage in stages]
        for name, stages in numbers.items()
    }


def by_compiler(command: list[str], folder: Path, program: str) -> list[str]:
    """What a program prints, compiled and run."""
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    return subprocess.run(
        [folder / program], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def arrays_of_c(text: str, folder: Path, number: str = "%d") -> Numbers:
    """The arrays of a header, printed by a program that includes it after the library's own."""
    compiler = tool("cc", "gcc")
    if compiler is None:
        pytest.skip("no C compiler; install the Debian package gcc")
    (folder / "weights.h").write_text(text)
    lines = []
    for name, stages, size in re.findall(
        r"^static const \w+ (\w+)\[(\d+)\](?:\[(\d+)\])? = ", text, re.MULTILINE
    ):
        for s in range(int(stages)):
            items = [f"{name}[{s}][{i}]" for i in range(int(size))] if size else [f"{name}[{s}]"]
            lines.append(
                f'printf("{name}' + f" {number}" * len(items) + f'\\n", {", ".join(items)});'
            )
    includes = "".join(
        f"#include <{name}.h>\n"
        for name in ("stdio", "stdlib", "stdint", "string", "math", "time", "threads")
    )
    (folder / "main.c").write_text(
        includes + '#include "weights.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0; }\n"
    )
    return _grouped(
        by_compiler(
            [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "main", "main.c"],
            folder,
            "main",
        )
    )


def declared_in_rust(text: str) -> list[tuple[str, str]]:
    """Names and types of the constants."""
    return re.findall(r"^pub const (\w+): (\[.+\]) = ", text, re.MULTILINE)


def printed_by_rust(text: str, folder: Path) -> Numbers:
    """The constants of a Rust file, printed by a program."""
    compiler = tool("rustc")
    if compiler is None:
        pytest.skip("no Rust compiler; install the Debian package rustc")
    declared = declared_in_rust(text)
    prints = [
        f'for s in {name}.iter() {{ println!("{name} {{:?}}",'
        f" {'s' if kind.startswith('[[') else '[s]'}); }}"
        for name, kind in declared
    ]
    (folder / "main.rs").write_text(text + "fn main() {\n" + "\n".join(prints) + "\n}\n")
    lines = by_compiler([compiler, "--deny", "warnings", "-o", "rust", "main.rs"], folder, "rust")
    return _grouped(re.sub(r"[\[\],]", "", line) for line in lines)


def arrays_of_rust(text: str) -> Numbers:
    """The constants of a Rust file, parsed."""
    declared = declared_in_rust(text)
    found, code = {}, re.sub(r"//.*", "", text)
    statements = [statement.strip() for statement in code.split(";\n") if statement.strip()]
    assert len(statements) == len(declared)
    for statement, (name, kind) in zip(statements, declared, strict=True):
        start = f"pub const {name}: {kind} = "
        assert statement.startswith(start)
        values = json.loads(re.sub(r",\s*\]", "]", statement[len(start) :]))
        stages = values if isinstance(values[0], list) else [[value] for value in values]
        inner, count = re.fullmatch(r"\[(.+); (\d+)\]", kind).groups()
        assert len(stages) == int(count)
        assert inner in ("i32", "f64") or inner.endswith(f"; {len(stages[0])}]")
        found[name] = stages
    return found


def _grouped(lines) -> Numbers:
    found: Numbers = {}
    for line in lines:
        name, *values = line.split()
        found.setdefault(name, []).append([float(value) for value in values])
    return found
