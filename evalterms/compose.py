"""Compose terms into one evaluation: write a glue module (`evalterms.glue`), import it, compile it on first use.

The module is in a cache folder named by a hash of all its dependencies: the core of the game, the terms and their sources, the
compiler. An edit to a term therefore recompiles the evaluation, but not the core.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from evalterms.check import verify
from evalterms.form import Form, form_of
from evalterms.glue import glue_text, plain_function
from evalterms.kept import require_known
from evalterms.term import Term
from evalterms.userfile import terms_of_file
from games import jit

_units: dict[str, jit.Unit] = {}
_composing = threading.Lock()


def unit(key: str) -> jit.Unit:
    """Return the compile unit of a glue module."""
    return _units[key]


@dataclass(frozen=True)
class Composition:
    """Terms composed into one evaluation: their layout and the compiled functions (in `glue`)."""

    game: str
    terms: tuple[Term, ...]
    glue: ModuleType
    name: str  # a hash of all dependencies of the counts

    @property
    def size(self) -> int:
        """Number of parameters (per stage)."""
        return sum(term.size for term in self.terms)

    @property
    def curved(self) -> list[str]:
        """Names of the terms that are not linear in their parameters: their counts are not coefficients."""
        return [term.name for term in self.terms if not term.linear]

    @cached_property
    def form(self) -> Form:
        """How the evaluation depends on the counts."""
        return form_of(self.terms)

    @property
    def combine(self) -> Any:
        """The function `combine` of the glue as compiled code calls it: its address (in plain Python itself)."""
        return self.glue.combine if jit.PLAIN else self.glue.combine.address()


def load_terms(game: str, extra: Sequence[Path] = ()) -> tuple[Term, ...]:
    """Return the terms of a game, then those of the user's files (every `Term` at top level), which are checked."""
    terms = list(importlib.import_module(f"evalterms.{game}").TERMS)
    for path in map(Path, extra):
        own = terms_of_file(path)
        names = [term.name for term in terms + own]
        for term in own:
            if names.count(term.name) > 1:
                raise ValueError(f"{path}: two terms are named {term.name!r}; rename this one")
            try:
                require_known(term, importlib.import_module(f"evalterms.{game}.view"))
            except ValueError as problem:
                raise ValueError(f"{path}: {problem}") from None
        verify(game, path, own)
        terms += own
    return tuple(terms)


def compose(game: str, terms: Sequence[Term]) -> Composition:
    """Compile these terms into one evaluation."""
    view = importlib.import_module(f"evalterms.{game}.view")
    sources = {Path(__file__), *Path(__file__).parent.glob("*.py"), *(Path(__file__).parent / game).glob("*.py")}
    sources |= {Path(inspect.getfile(plain_function(each.function))) for term in terms for each in term.counting}
    for term in terms:
        require_known(term, view)
    layout = " ".join(f"{term.name}:{parameter.name}{parameter.shape}" for term in terms for parameter in term.parameters)
    layout += "".join(f" {parameter.name} in part 1" for term in terms for parameter in term.parameters if parameter.part)
    layout += "".join(f" {term.name} through {plain_function(term.curve).__name__}" for term in terms if term.curve is not None)
    layout += "".join(f" {term.name} scales" for term in terms if term.scales)
    composed = jit.Unit(f"terms-{game}", lambda: sources, salt=view.CORE.name + layout)
    key = composed.name
    module_name = f"evaltune_glue_{key}"
    with _composing:  # threads of a match may compose the same evaluation at the same time
        if module_name not in sys.modules:
            _units[key] = composed
            path = composed.folder / f"{module_name}.py"
            text = glue_text(game, terms, key).encode()
            if not path.exists() or path.read_bytes() != text:
                temporary = path.with_suffix(f".{os.getpid()}.tmp")
                temporary.write_bytes(text)
                os.replace(temporary, path)
            spec = importlib.util.spec_from_file_location(module_name, path)
            assert spec is not None and spec.loader is not None, "there is a loader for .py"
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module
            spec.loader.exec_module(module)
    return Composition(game, tuple(terms), sys.modules[module_name], key)
