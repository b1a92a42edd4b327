"""Loaded by a worker that pretends to be of another version."""

from tuner.cluster import worker

TRUE = worker.program()


def dask_setup(found: object) -> None:
    """Change what the worker says of itself; Dask calls this."""
    worker.fingerprint = lambda: "another"
    worker.program = lambda: {**TRUE, "evaltune": "0.0.1"}
