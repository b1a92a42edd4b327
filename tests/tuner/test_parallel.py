"""Work by threads: results in order, few of them ahead, and problems told."""

from __future__ import annotations

import threading
import time

import pytest

from tuner.parallel import in_order


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
def test_what_goes_wrong_in_a_thread_is_raised(workers):
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda number: 1 // (number - 3), range(9), workers))
