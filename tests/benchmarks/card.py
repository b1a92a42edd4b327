"""The earlier name of `tests.benchmarks.gpu`: `python -m tests.benchmarks.card` still runs it."""

import runpy

if __name__ == "__main__":
    runpy.run_module("tests.benchmarks.gpu", run_name="__main__")
