"""The compilation unit of the tuner: an edit to any of its sources compiles all of it again."""

from __future__ import annotations

from games import jit

SOURCES = [
    *jit.modules("games", "addresses"),
    *jit.modules("tuner", "unit"),
    *jit.modules("tuner.datasets", "array_types column_use"),
    *jit.modules("tuner.device.cpu", "kernels linearised_kernels products temporal_kernels"),
    *jit.modules("tuner.rows", "json_parser numbers svmlight_parser"),
    *sorted((jit.ROOT / "tuner" / "objectives").glob("*.py")),  # each loss is a module
]
TUNER = jit.Unit("tuner", lambda: SOURCES)
inner = TUNER.inner
entry = TUNER.entry
