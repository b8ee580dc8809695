"""What was measured to wait is reported by some rule, or is set aside for a reason."""

from __future__ import annotations

from torchlint.knowledge import waits
from torchlint.rules.registry import all_rules

SET_ASIDE = {
    "by TL101, TL102, TL104, TL105 and TL109, which listen to more than calls": """bool format logging operator.not_
        print repr sequence[...] str torch._assert truth in x[...] .index_put_ .__index__ torch.Size map filter""",
    "the reading of the mask is reported": ".backward",
    "where tensors are made or loaded, not read": ".new torch.cuda.FloatTensor torch.load torch.nested.nested_tensor "
    "torch.nn.Module.load_state_dict",
    "a list that happens to hold tensors": "list.count list.index list.sort",
    "nobody passes a tensor for a dimension": ".sum .unsqueeze torch.cumsum",
    "depends on what another call made": """.coalesce torch.sparse.mm torch.nn.utils.rnn.pad_packed_sequence
        torch.nn.TransformerEncoder""",
    "a rule of another bottleneck reports it": "torch.autograd.detect_anomaly torch.cuda.empty_cache .type .type_as",
    "the distribution, made on the same step, is reported": """torch.distributions.MixtureSameFamily.sample
        torch.distributions.Multinomial.sample torch.distributions.Normal.sample""",
    "cannot be avoided": "torch.nn.AdaptiveLogSoftmaxWithLoss pickle.dumps",
}


def test_what_waits_is_reported_or_set_aside() -> None:
    listened = {name for rule in all_rules() for name in rule.calls}
    aside = {subject for subjects in SET_ASIDE.values() for subject in subjects.split()} | {"x[...] ="}
    waiting = set(waits.waiting())
    reported = {
        subject
        for subject in waiting
        if {subject, f".{subject.rpartition('.')[2]}", f"torch.Tensor{subject}"} & listened
    }
    assert aside <= waiting
    assert waiting - reported - aside == set()
