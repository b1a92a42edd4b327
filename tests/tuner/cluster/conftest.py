"""Two worker processes of this machine, for all tests of a folder."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.tuner.cluster.support import wait_for_workers

if TYPE_CHECKING:
    from distributed import LocalCluster

    from tuner.cluster.cluster import Cluster


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Processes of workers take long to start, and to start again where tests kill them."""
    for item in items:
        if "local" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def local() -> Iterator[LocalCluster]:
    pytest.importorskip("distributed")
    from tuner.cluster.cluster import local_cluster, replace_lost

    ended = threading.Event()

    def keep() -> None:
        while not ended.wait(0.5):
            replace_lost(found, 2)

    with local_cluster("local:2") as found:
        keeper = threading.Thread(target=keep, daemon=True)
        keeper.start()
        yield found
        ended.set()
        keeper.join()


@pytest.fixture
def workers(local) -> LocalCluster:
    """Two workers, both alive."""
    wait_for_workers(local, 2)
    return local


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def cluster(workers, notes) -> Iterator[Cluster]:
    """A connection to them, whose notes are collected."""
    from tuner.cluster.cluster import connect

    with connect(workers.scheduler_address, notes.append) as found:
        yield found
