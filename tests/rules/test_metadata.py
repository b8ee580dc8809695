"""What is read of the rules without importing them."""

from __future__ import annotations

import re

from torchlint.engine import selection
from torchlint.rules.base import RuleSet
from torchlint.rules.registry import all_rules


def test_what_is_read_of_the_rules_is_what_their_classes_hold() -> None:
    read = {info.code: info for info in selection.catalogue() if info not in selection.META_RULES}
    assert sorted(read) == [rule.code for rule in all_rules()]
    for rule in all_rules():
        info = read[rule.code]
        assert (info.name, info.bottleneck, info.summary) == (rule.name, rule.bottleneck, rule.summary)
        assert (info.default, info.fix) == (rule.ruleset is RuleSet.DEFAULT, rule.fix_availability.value)
        assert (info.since, info.torch) == (rule.since, rule.torch)


def test_words_are_single_tokens() -> None:
    """Between two tokens white space may stand, so that a text that holds both need not hold them together."""
    assert [
        (rule.code, word) for rule in all_rules() for word in rule.words if not re.fullmatch(r"\w+|\W{1,3}", word)
    ] == []
