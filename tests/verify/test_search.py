"""Finding inputs by how far the code comes with them."""

from __future__ import annotations

from typing import Any

from torchlint.verify.search import Outcome, search

CHOICES = {"x.form": ["BD", "BTD", "B"], "y.form": ["BD", "B"], "*labels": ["int64", "float"]}


def accepting(**wanted: Any) -> Any:
    """An attempt that comes one line further for each choice that is right, in the order they are given."""

    def attempt(trial: dict[str, Any]) -> Outcome:
        for reached, (name, value) in enumerate(wanted.items()):
            key = name.replace("__", ".")
            if trial.get(key, CHOICES[key][0]) != value:
                return Outcome(ValueError(key), reached, frozenset([key.split(".")[0]]), dict(CHOICES))
        return Outcome(None, len(wanted), frozenset(), dict(CHOICES))

    return attempt


def test_what_every_trial_has_is_enough_where_the_code_accepts_it() -> None:
    trial, outcome = search(accepting(), {"dtype": "float32"}, lambda: True)
    assert outcome.error is None
    assert trial == {"dtype": "float32"}


def test_choices_are_found_one_after_the_other() -> None:
    trial, outcome = search(accepting(x__form="B", y__form="B"), {}, lambda: True)
    assert outcome.error is None
    assert (trial["x.form"], trial["y.form"]) == ("B", "B")


def test_two_things_that_one_line_needs_are_told_apart_by_what_is_said() -> None:
    def attempt(trial: dict[str, Any]) -> Outcome:
        wrong = [key for key, value in (("x.form", "B"), ("y.form", "B")) if trial.get(key, "BD") != value]
        return Outcome(ValueError(" and ".join(wrong)) if wrong else None, 3, frozenset("xy"), dict(CHOICES))

    assert search(attempt, {}, lambda: True)[1].error is None


def test_the_trial_that_came_furthest_is_told_where_none_is_accepted() -> None:
    trial, outcome = search(accepting(x__form="BTD", y__form="never"), {}, lambda: True)
    assert trial["x.form"] == "BTD"
    assert str(outcome.error) == "y.form"


def test_code_that_runs_past_the_line_is_not_tried_for_ever() -> None:
    tries = []

    def attempt(trial: dict[str, Any]) -> Outcome:
        tries.append(trial)
        return Outcome(ValueError(str(len(tries))), len(tries), frozenset(), {"a": list(range(1000))}, ended=True)

    search(attempt, {}, lambda: True)
    assert len(tries) < 100


def test_changes_of_which_none_fails_otherwise_come_to_an_end() -> None:
    tries = []

    def attempt(trial: dict[str, Any]) -> Outcome:
        tries.append(trial)
        return Outcome(ValueError("no"), 1, frozenset(), {"a": list(range(1000))})

    search(attempt, {}, lambda: True)
    assert 100 < len(tries) < 300


def test_a_width_that_came_far_for_all_is_tried_for_one_alone() -> None:
    widths = {"*width": ["D", 65], "x.width": [None, "D", 65]}

    def attempt(trial: dict[str, Any]) -> Outcome:
        x = trial.get("x.width") or trial.get("*width", "D")
        fits = x == 65
        error = None if fits and trial.get("*width", "D") == "D" else ValueError("others" if fits else "x")
        return Outcome(error, 2 if fits else 1, frozenset("x"), dict(widths))

    trial, outcome = search(attempt, {}, lambda: True)
    assert outcome.error is None
    assert trial == {"x.width": 65}


def test_many_combinations_leave_room_for_changes_of_one_choice() -> None:
    choices = {"*pattern": list("abcdefghijkl"), "*width": list(range(30)), "x.form": ["BD", "B"]}
    tries = []

    def attempt(trial: dict[str, Any]) -> Outcome:
        tries.append(trial)
        right = trial.get("x.form") == "B"
        return Outcome(None if right else ValueError("x"), 1, frozenset("x"), dict(choices))

    assert search(attempt, {}, lambda: len(tries) < 100)[1].error is None


def test_a_shared_choice_that_comes_further_is_taken_for_one_argument_before_the_others_are_tried() -> None:
    """As for a layer's width, which its input has and nothing else: with it for all, the code fails further on."""
    asked = {"*width": ["D", 65, *range(100, 160)], "x.width": [None, 65], "y.width": [None, 65]}
    tries = []

    def attempt(trial: dict[str, Any]) -> Outcome:
        tries.append(trial)
        if trial.get("x.width") == 65:
            return Outcome(None, 9, frozenset(), asked)
        further = trial.get("*width") == 65
        return Outcome(ValueError("later" if further else "at once"), 5 if further else 1, frozenset(), asked)

    assert search(attempt, {}, lambda: True)[1].error is None
    assert len(tries) < 10
