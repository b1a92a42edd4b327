"""Loaded by the workers of `--cluster local:N` as they start: Ctrl-C reaches every process of a
terminal, but it is the client that ends its workers."""

import signal


def dask_setup(worker: object) -> None:
    """Ignore Ctrl-C; Dask calls this in each worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
