"""Encrypted connections: the certificates of Dask's settings are used, and a connection without
them is refused."""

import shutil
import subprocess

import pytest

from games.streams import InputError
from tests.tuner.cluster.support import Task, job
from tuner.parallel import run

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> dict[str, object]:
    """Settings of Dask with a certificate that has signed itself."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl; install the Debian package openssl")
    folder = tmp_path_factory.mktemp("certificates")
    key, certificate = str(folder / "key.pem"), str(folder / "certificate.pem")
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=evaltune",
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
    tls = "distributed.comm.tls"
    return {
        "distributed.comm.require-encryption": True,
        f"{tls}.ca-file": certificate,
        **{
            f"{tls}.{role}.{part}": path
            for role in ("scheduler", "worker", "client")
            for part, path in (("key", key), ("cert", certificate))
        },
    }


@pytest.fixture
def address(settings):
    """The address of a scheduler with a worker that speak by TLS alone."""
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tls://",
            dashboard_address="127.0.0.1:0",
            security=distributed.Security(),
        ) as cluster,
    ):
        yield cluster.scheduler_address


def test_tasks_run_over_encrypted_connections(address, settings):
    from tuner.cluster.cluster import connect

    assert address.startswith("tls://")
    with (
        dask.config.set(settings),
        connect(address, lambda text: None) as cluster,
        cluster.start(job(factor=3)) as running,
    ):
        assert sorted(run(running, map(Task, range(5)))) == [
            (number, 3 * number) for number in range(5)
        ]


def test_a_connection_without_certificates_is_refused_in_one_line(address):
    from tuner.cluster.cluster import connect

    plain = {
        f"distributed.comm.{key}": value
        for key, value in (
            ("require-encryption", False),
            ("tls.ca-file", None),
            ("tls.client.cert", None),
            ("tls.client.key", None),
        )
    }
    for where, said in (
        (address, "Dask's settings name no certificates for TLS; set distributed.comm.tls.ca-file"),
        (
            address.replace("tls:", "tcp:"),
            r"no scheduler answers .*\(tls:// where connections are encrypted\)",
        ),
    ):
        with (
            dask.config.set(plain),
            pytest.raises(InputError, match=f"^--cluster {where}: {said}") as problem,
            connect(where, print),
        ):
            pass
        assert "\n" not in str(problem.value)
