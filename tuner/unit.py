"""The compilation unit of the tuner: an edit to any of its sources compiles all of it again."""

from games.compile import jit

SOURCES = [
    *jit.modules("tuner", "unit"),
    *jit.modules("tuner.datasets", "files summary"),
    *jit.modules("tuner.fit.device.cpu", "kernels sums"),
    *sorted((jit.ROOT / "tuner" / "objectives").glob("*.py")),  # each loss is a module
]
TUNER = jit.Unit("tuner", lambda: SOURCES)
inner = TUNER.inner
entry = TUNER.entry
