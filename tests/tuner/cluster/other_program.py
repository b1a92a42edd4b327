"""Loaded by a worker that pretends to be of another version."""

from __future__ import annotations

from tuner.cluster import program as own
from tuner.cluster import worker

TRUE = own.program()


def dask_setup(found: object) -> None:
    """Change what the worker says of itself; Dask calls this."""
    worker.fingerprint = lambda: "another"
    own.program = worker.program = lambda: {**TRUE, "evaltune": "0.0.1"}
