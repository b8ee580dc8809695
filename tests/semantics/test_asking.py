"""Questions that follow calls give the same answers whatever is asked first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.semantics.asking import question


class Function:
    def __init__(self, name: int) -> None:
        self.name = name
        self.calls: list[Function] = []
        self.works = False
        self.answers: dict[object, Any] = {}


@question(False)
def reaches_work(function: Function) -> bool:
    return function.works or any(reaches_work(callee) for callee in function.calls)


@question(True)
def only_leads_to_work(function: Function) -> bool:
    return function.works or (bool(function.calls) and all(only_leads_to_work(callee) for callee in function.calls))


def program(count: int, calls: list[tuple[int, int]], works: set[int]) -> list[Function]:
    functions = [Function(number) for number in range(count)]
    for caller, callee in calls:
        functions[caller % count].calls.append(functions[callee % count])
    for number in works:
        functions[number % count].works = True
    return functions


programs = st.tuples(
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=24),
    st.sets(st.integers(0, 8), max_size=3),
)


def reachable(start: Function) -> set[Function]:
    found, todo = set[Function](), [start]
    while todo:
        function = todo.pop()
        if function not in found:
            found.add(function)
            todo += function.calls
    return found


@settings(deadline=None)
@given(programs, st.permutations(range(9)))
def test_what_is_reached_through_circles_does_not_depend_on_the_order(
    given_program: tuple[int, list[tuple[int, int]], set[int]], order: list[int]
) -> None:
    functions = program(*given_program)
    for number in order:
        function = functions[number % len(functions)]
        assert reaches_work(function) == any(other.works for other in reachable(function))


@settings(deadline=None)
@given(programs, st.permutations(range(9)))
def test_what_holds_for_all_ways_does_not_depend_on_the_order(
    given_program: tuple[int, list[tuple[int, int]], set[int]], order: list[int]
) -> None:
    functions = program(*given_program)
    # The largest solution: take all to lead to work, and take out what does not until nothing changes.
    leads = dict.fromkeys(functions, True)
    changed = True
    while changed:
        changed = False
        for function in functions:
            holds = function.works or (bool(function.calls) and all(leads[callee] for callee in function.calls))
            if leads[function] and not holds:
                leads[function] = False
                changed = True
    for number in order:
        function = functions[number % len(functions)]
        assert only_leads_to_work(function) == leads[function]


def test_a_question_is_answered_once_for_each_function() -> None:
    asked: list[int] = []

    @question(False)
    def deep(function: Function) -> bool:
        asked.append(function.name)
        answers = [deep(callee) for callee in function.calls]
        return True in answers

    functions = program(20, [(n, m) for n in range(19) for m in (n + 1, n + 1)], set())  # 2 ** 19 ways
    assert deep(functions[0]) is False
    assert sorted(asked) == list(range(20))


def test_a_question_that_fails_can_be_asked_again() -> None:
    fail = True

    @question(False)
    def shaky(function: Function) -> bool:
        if function.works and fail:
            raise ValueError("not now")
        return function.works or any(shaky(callee) for callee in function.calls)

    functions = program(2, [(0, 1), (1, 0)], {1})
    with pytest.raises(ValueError, match="not now"):
        shaky(functions[0])
    fail = False
    assert shaky(functions[0]) is True
