"""Where a worker runs while it is timed. What the system would be asked is looked at, and not asked."""

from __future__ import annotations

import os

import pytest

from torchlint.verify.cores import Cores

SLOW, FAST = 2e-5, 1e-5


class System:
    """Processors of known speeds, and which of them each thread may use; thread 0 is the caller."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, speeds: dict[int, float]) -> None:
        self.speeds = speeds
        self.allowed: dict[int, set[int]] = {0: set(speeds)}
        self.at = min(speeds)
        self.looked: list[int] = []
        monkeypatch.setattr(os, "sched_setaffinity", self.set_affinity, raising=False)
        monkeypatch.setattr(Cores, "pulse", self.pulse)

    def set_affinity(self, thread: int, cores: set[int]) -> None:
        self.allowed[thread] = set(cores)
        if thread == 0 and self.at not in cores:
            self.at = min(cores)

    def pulse(self) -> float:
        self.looked.append(self.at)
        return self.speeds[self.at]


def test_a_sample_is_taken_on_a_calm_processor_and_backward_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System(monkeypatch, {0: SLOW, 1: SLOW, 2: FAST, 3: SLOW, 4: FAST})
    cores = Cores(list(system.speeds), [77])
    assert cores.settle() == FAST
    assert system.at == 2
    assert system.allowed[77] == {4}
    assert system.allowed[0] == {0, 1, 2, 3}  # what the code starts is not crowded on one processor
    cores.release()
    assert system.allowed == {0: {0, 1, 2, 3, 4}, 77: {0, 1, 2, 3, 4}}


def test_code_that_starts_nothing_waits_for_backward_on_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System(monkeypatch, {0: SLOW, 1: SLOW, 2: FAST, 3: SLOW})
    cores = Cores(list(system.speeds), [77])
    for _ in range(2):
        assert cores.settle(alone=True) == FAST
        assert system.allowed == {0: {2}, 77: {2}}


def test_threads_that_share_operations_of_the_host_stay_off_the_callers_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = System(monkeypatch, {0: SLOW, 1: FAST, 2: FAST})
    cores = Cores(list(system.speeds), [], [5, 6])
    cores.settle()
    assert system.allowed[5] == system.allowed[6] == {0, 1, 2} - {system.at}
    system.speeds[system.at] = SLOW
    cores.settle(alone=True)
    assert system.allowed[5] == {0, 1, 2} - {system.at}


def test_one_stays_while_it_is_calm_and_moves_on_when_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System(monkeypatch, dict.fromkeys(range(8), FAST))
    cores = Cores(list(system.speeds), [77])
    cores.settle()
    stayed = system.at
    system.looked.clear()
    system.speeds[7] = 0.95 * FAST  # a little faster is no reason to move
    cores.settle()
    assert system.at == stayed
    assert len(system.looked) == 2
    system.speeds[stayed] = SLOW
    assert cores.settle() < SLOW
    assert system.at != stayed


def test_with_none_calm_the_fastest_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System(monkeypatch, dict.fromkeys(range(4), FAST))
    cores = Cores(list(system.speeds), [77])
    cores.settle()
    system.speeds.update({0: 3 * FAST, 1: 2.5 * FAST, 2: 2 * FAST, 3: 4 * FAST})
    assert cores.settle() == 2 * FAST
    assert system.at == 2


def test_with_no_processors_to_choose_from_nothing_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System(monkeypatch, {0: FAST, 1: SLOW})
    assert Cores().settle() == FAST
    assert system.allowed == {0: {0, 1}}
