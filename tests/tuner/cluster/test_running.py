"""Jobs on workers that are killed, that kill, that are of another version, or that are not
there."""

import re
import socket
import subprocess
import sys
import threading
import time

import pytest

from games.streams import InputError
from tests.games.support import REPOSITORY
from tests.support import refusal
from tests.tuner.cluster.support import (
    PATIENCE,
    Killer,
    Multiplier,
    Spec,
    Task,
    job,
    lose,
    named,
)
from tuner.cluster import cluster as cluster_module
from tuner.cluster.worker import difference, fingerprint, perform, prepare, program
from tuner.parallel import Job, OnThreads, run

GONE = "is gone; what it had begun is repeated"
MANY = [(number, 3 * number) for number in range(300)]


def results(executor, count: int, **options) -> list[tuple[int, int]]:
    with executor.start(job(**options)) as running:
        return sorted(run(running, map(Task, range(count))))


def test_results_are_those_of_threads_and_short_tasks_travel_together(cluster, notes):
    assert results(cluster, 300, factor=3) == results(OnThreads(2), 300, factor=3) == MANY
    assert cluster.at_once == 2 and cluster.state() == "2 workers, 0 tasks under way"
    assert notes[0].startswith(
        f"cluster {cluster.address}: 2 workers with 2 threads on 1 machine; dashboard http://"
    )
    with cluster.start(job(factor=3)) as running:
        list(run(running, map(Task, range(50))))
        assert running.room > 50  # many to a call, once it is known how short they are


def test_tasks_use_what_they_share(cluster):
    with cluster.start(job(factor=3)) as running:
        five, seven = running.share(5), running.share(7)
        for number in range(8):
            running.submit(Task(number), seven if number % 2 else five)
        assert sorted(running.completed()) == [
            (number, 3 * number * (7 if number % 2 else 5)) for number in range(8)
        ]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_result_comes_though_workers_are_killed(cluster, workers, notes, seed):
    killer = Killer(workers, seed)
    killer.start()
    assert results(cluster, 60, factor=3, seconds=0.05) == MANY[:60]
    gone = [note for note in notes if GONE in note]
    assert len(killer.stop()) == 3 and len(set(gone)) == len(gone)  # each is said once


def test_the_task_that_kills_workers_is_named_and_no_other(cluster, notes):
    assert re.search(
        r"^game 7: every worker that began it died, the last one at tcp://.*; see the logs of"
        r" the workers$",
        refusal(results, cluster, 40, deadly=(7,), seconds=0.02),
    )
    assert sum(GONE in note for note in notes) >= 2


def test_a_preparation_is_repeated_where_workers_die(cluster, tmp_path):
    assert results(cluster, 5, factor=3, folder=tmp_path, unlucky=3) == MANY[:5]
    said = "workers died as they prepared the work, the last one at tcp://.*; see its log$"
    assert re.search(said, refusal(results, cluster, 5, folder=tmp_path, unlucky=99))


def test_a_result_that_is_lost_and_cannot_be_made_again_ends_the_work(cluster, tmp_path):
    losing = Job(Multiplier, lose, Spec(folder=tmp_path), named)
    with cluster.start(losing) as running, pytest.raises(InputError, match="^game 7: every worker"):
        list(run(running, [Task(7)]))


@pytest.mark.parametrize("call", [prepare, perform])
def test_a_call_whose_result_was_on_the_way_as_the_connection_was_lost_is_repeated(
    cluster, monkeypatch, call
):
    class OnTheWay:
        status = "finished"

        def __await__(self):
            raise ConnectionError("closed")

    lost, submit = [], cluster._client.submit

    def submitted(function, *values, **options):
        if function is call and not lost:
            lost.append(OnTheWay())
            return lost[0]
        return submit(function, *values, **options)

    monkeypatch.setattr(cluster._client, "submit", submitted)
    assert results(cluster, 5, factor=3) == MANY[:5] and lost


def test_a_job_that_cannot_begin_and_a_task_that_fails_are_reported(cluster):
    assert re.search("^no such engine$", refusal(results, cluster, 5, unready="no such engine"))
    with cluster.start(job()) as running, pytest.raises(ZeroDivisionError):
        running.submit(Task(-1))
        list(running.completed())


def test_an_interrupt_stops_tasks_at_once(cluster):
    interrupted, begun = threading.Event(), time.monotonic()
    with cluster.start(job(seconds=PATIENCE)) as running:
        threading.Timer(0.5, interrupted.set).start()
        assert list(run(running, map(Task, range(9)), interrupted)) == []
    # the threads of the workers are free again
    assert results(cluster, 4) == [(number, number) for number in range(4)]
    assert time.monotonic() - begun < PATIENCE / 4


def test_the_difference_of_programs_is_named():
    assert (
        difference({**program(), "numpy": "0.1"}, program())
        == f"numpy 0.1 there, {program()['numpy']} here"
    )
    assert difference({**program(), "sources": "abc"}, program()).startswith(
        "different sources of evaltune"
    )
    assert difference(program(), program()) is None


def test_a_worker_of_another_version_is_refused_and_sent_away_if_it_comes_later(
    cluster, workers, notes
):
    command = [
        sys.executable,
        "-m",
        "dask",
        "worker",
        workers.scheduler_address,
        "--no-nanny",
        "--nthreads",
        "1",
        "--preload",
        "tests.tuner.cluster.other_program",
    ]
    other = subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while len(workers.scheduler.workers) < 3:
            assert time.monotonic() < deadline and other.poll() is None
            time.sleep(0.05)
        with (
            pytest.raises(
                InputError,
                match=r"^worker tcp://.*: evaltune 0.0.1 there, .* here; install the same version",
            ),
            cluster_module.connect(workers.scheduler_address, print),
        ):
            pass
        assert results(cluster, 60, factor=3, seconds=0.02) == MANY[:60]
        assert any(
            "evaltune 0.0.1 there" in note and "it was sent away" in note for note in notes
        ), notes
        other.wait(PATIENCE)
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize(
    "address",
    ["tcp://127.0.0.1:1", "tls://127.0.0.1:1", "nonsense", "local:0", "local:x", "babble"],
)
def test_an_address_without_a_scheduler_is_one_line_soon(address):
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        if address == "babble":
            address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            threading.Thread(target=babble, args=(server,), daemon=True).start()
        begun = time.monotonic()
        with pytest.raises(InputError) as found, cluster_module.connect(address, print):
            pass
    assert str(found.value).startswith(f"--cluster {address}: ") and "\n" not in str(found.value)
    said = (
        "no scheduler answers",
        "expected a number of processes",
        "Dask's settings name no certificates for TLS",
    )
    assert any(words in str(found.value) for words in said)
    assert time.monotonic() - begun < 5 or PATIENCE < 5


def babble(server: socket.socket) -> None:
    try:
        while True:
            connection, _ = server.accept()
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4)
    except OSError:
        pass  # closed


def test_a_scheduler_without_workers_says_how_to_start_some():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
        ) as empty,
        pytest.raises(InputError, match="has no workers; start some with dask worker tcp://"),
        cluster_module.connect(empty.scheduler_address, print),
    ):
        pass


def test_without_dask_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(
            InputError,
            match=r"^--cluster local:2: Dask is not installed; pip install 'evaltune\[cluster\]'$",
        ),
        cluster_module.connect("local:2", print),
    ):
        pass


def test_nothing_imports_dask_without_the_option(tmp_path):
    code = (
        "import sys; from tuner.cli import main; main(['match', 'tictactoe/random',"
        " 'tictactoe/random', '--games', '2']); import tuner.play.selfplay.weights,"
        " tuner.play.own_games.run, tuner.learn.run, tuner.commands.dataset_actions;"
        " print([name for name in sys.modules"
        " if name.split('.')[0] in ('dask', 'distributed', 'tornado')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_scheduler_that_does_not_come_back_is_one_line(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster_module, "RECONNECT_SECONDS", 1.0)
    scheduler = distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address="127.0.0.1:0",
    )
    with (
        scheduler,
        pytest.raises(InputError, match="the scheduler was lost and did not answer within 1 s"),
        cluster_module.connect(scheduler.scheduler_address, print) as cluster,
        cluster.start(job(seconds=0.01)) as running,
    ):
        for number, _ in enumerate(run(running, map(Task, range(10**6)))):
            if number == 5:
                scheduler.close()


def test_the_program_has_a_fingerprint_of_its_sources():
    assert len(fingerprint()) == 16 and len(program()["sources"]) == 64
    assert cluster_module.fingerprint() == fingerprint()
