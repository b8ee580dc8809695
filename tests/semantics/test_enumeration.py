from __future__ import annotations

import copy
import pickle

import pytest

from torchlint.semantics.enumeration import Enumeration


class Colour(Enumeration):
    RED = "red"
    GREEN = "green"


def test_members_are_found_by_name_and_by_value() -> None:
    assert Colour("green") is Colour.GREEN
    assert [(colour.name, colour.value) for colour in Colour] == [("RED", "red"), ("GREEN", "green")]
    with pytest.raises(ValueError, match="'blue' is not a valid Colour"):
        Colour("blue")


def test_a_copy_is_the_member_itself() -> None:
    assert copy.deepcopy(Colour.RED) is Colour.RED
    assert pickle.loads(pickle.dumps([Colour.GREEN])) == [Colour.GREEN]
