"""The repaired forms of flagged code: the finding's fix, and forms made for measuring alone.

Some repairs need a decision, such as where a loss is read instead; yet what the code costs can be measured against a
form that does not pay it: the value left on the device, what was read replayed from a recording, a loop over rows as
one batched call. `helpers.py` holds the functions that these forms call. What a form is stands in the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from torchlint.findings import Finding
from torchlint.verify.repairs import loops, values, waits
from torchlint.verify.repairs.flagged import Flagged, Repair
from torchlint.verify.trees import Uncut, parse

__all__ = ["Repair", "ways"]


def ways(finding: Finding, lines: Sequence[str]) -> Iterator[Repair]:
    """The repairs to measure the finding against, the nearest to what a person would write first."""
    if finding.fix is not None and finding.fix.edits:
        yield Repair(finding.fix.edits, finding.fix.message, probe=False)
    makers = _MAKERS.get(finding.code, ())
    if not makers:
        return
    try:
        tree = parse("\n".join(line.rstrip("\r\n") for line in lines))
    except Uncut:
        return
    flagged = Flagged(finding, tree, lines)
    for make in makers:
        repair = make(flagged)
        if repair is not None:
            yield repair


_MAKERS: Mapping[str, Sequence[Callable[[Flagged], Repair | None]]] = {
    "TL101": (waits.left_on_device, waits.replayed),
    "TL102": (waits.truth_replayed,),
    "TL103": (waits.left_on_device, waits.replayed),
    "TL104": (waits.statement_left_out, waits.replayed),
    "TL105": (waits.positions_replayed,),
    "TL106": (waits.numbers_replayed,),
    "TL107": (waits.stacked,),
    "TL108": (waits.scalars_replayed,),
    "TL109": (waits.index_kept,),
    "TL110": (waits.statement_left_out,),
    "TL111": (waits.unvalidated,),
    "TL201": (loops.batched,),
    "TL203": (loops.grown,),
    "TL204": (loops.listed,),
    "TL207": (values.made_once,),
    "TL209": (waits.statement_left_out,),
    "TL303": (values.log_of_softmax,),
    "TL309": (values.unbiased,),
    "TL504": (values.pinned,),
    "TL508": (values.made_there,),
    "TL509": (values.moved_once,),
    "TL602": (values.detached, values.detached_inside),
    "TL605": (values.detached,),
    "TL606": (waits.statement_left_out,),
    "TL704": (values.switched_off,),
    "TL801": (waits.left_on_device,),
    "TL803": (waits.statement_left_out,),
    "TL903": (values.unwrapped,),
}
