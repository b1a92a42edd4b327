"""Work on threads: results in order, few of them ahead, and exceptions raised."""

import threading
import time

import pytest

from tuner.parallel import Threads, in_order


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_order_and_few_pieces_are_taken_ahead(workers):
    taken, lock = [], threading.Lock()

    def pieces():
        for number in range(20):
            taken.append(number)
            yield number

    def work(number: int) -> int:
        with lock:
            time.sleep(0.002 if number % 3 else 0)
        return number * number

    for done, result in enumerate(in_order(work, pieces(), workers)):
        assert result == done * done and len(taken) <= done + workers + 2


@pytest.mark.parametrize("workers", [1, 3])
def test_exceptions_in_a_thread_are_raised(workers):
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda number: 1 // (number - 3), range(9), workers))


def test_each_state_is_used_by_one_thread_and_what_is_submitted_meanwhile_is_done():
    used: dict[str, set[int]] = {"a": set(), "b": set()}

    def work(state: str, task: int) -> int:
        used[state].add(threading.get_ident())
        time.sleep(0.001)
        return task

    found = []
    with Threads(work, list(used)) as threads:
        for task in range(4):
            threads.submit(task)
        for result in threads.completed():
            found.append(result)
            if result < 40:
                threads.submit(result + 10)
    assert sorted(found) == sorted(start + 10 * step for start in range(4) for step in range(5))
    assert all(len(idents) == 1 for idents in used.values())


def test_an_interrupt_aborts_what_is_running_and_closes_every_state():
    interrupted, release = threading.Event(), [threading.Event(), threading.Event()]
    aborted, closed, ended = set(), set(), set()

    def work(state: int, task: int) -> int | None:
        if task == 0:
            return 7
        interrupted.set()
        release[state].wait()
        ended.add(state)
        return None

    def abort(state: int) -> None:
        aborted.add(state)
        release[state].set()

    with Threads(work, range(2), abort, closed.add) as threads:
        for task in range(9):
            threads.submit(task)
        assert list(threads.completed(interrupted)) == [7]
    assert ended <= aborted and closed == {0, 1}


def test_work_that_is_done_is_not_aborted():
    aborted, closed = [], []
    with Threads(lambda state, task: task, range(2), aborted.append, closed.append) as threads:
        for task in range(9):
            threads.submit(task)
        assert sorted(threads.completed()) == list(range(9))
    assert (aborted, closed) == ([], [0, 1])


def test_leaving_early_drops_tasks_that_have_not_begun():
    begun, go_on = [], threading.Event()

    def work(state: None, task: int) -> int:
        begun.append(task)
        if task:
            go_on.wait()
        return task

    with Threads(work, [None], lambda state: go_on.set()) as threads:
        for task in range(1000):
            threads.submit(task)
        assert next(threads.completed()) == 0
    assert len(begun) <= 2
