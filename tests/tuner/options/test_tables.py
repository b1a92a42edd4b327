"""The tables of options of all commands: what their help says is what they do."""

import importlib
import re

import pytest

from tuner.cli import COMMANDS
from tuner.core.records import convert
from tuner.options.option import all_in

MODULES = {name: importlib.import_module(f"tuner.commands.{name}") for name in COMMANDS}
TABLES = {name: module.TABLE for name, module in MODULES.items() if hasattr(module, "TABLE")}


@pytest.mark.parametrize("command", TABLES)
def test_help_names_the_default(command):
    """Where one is written, it is the one that the table has; commands compute those of the
    others."""
    for each in all_in(TABLES[command]):
        named = re.search(r"\(default: ([^ ;)]*)", each.help)
        if named and named[1][:1].isdigit() and each.default not in (None, ()):
            value = each.default if isinstance(each.default, tuple) else (each.default,)
            assert named[1].rstrip(",") in (
                ":".join(f"{part:g}" if isinstance(part, float) else str(part) for part in value),
                f"{value[0]:,}" if isinstance(value[0], int) else None,
            ), each.names


@pytest.mark.parametrize("command", TABLES)
def test_defaults_are_values_that_the_options_can_have(command):
    for each in all_in(TABLES[command]):
        if each.default not in (None, (), []) and "store" not in (each.action or ""):
            assert convert(each.default, each.kind, "") == each.default
    names = [each.name for each in all_in(TABLES[command])]
    assert len(set(names)) == len(names)
