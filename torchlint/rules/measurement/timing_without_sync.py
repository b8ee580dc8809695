"""TL701: a host clock read while the device still works."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._devices import runtime
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.measurement import _repairs
from torchlint.rules.measurement._intervals import functions_with, reads_both, sets_up, unwaited, unwaited_run
from torchlint.rules.measurement._samples import TIMEIT, timed_by_timeit
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind


class TimingWithoutSync(Rule):
    code = "TL701"
    name = "timing-without-sync"
    bottleneck = "measurement"
    summary = "A clock is read before the device has done the work that is measured"
    fix_availability = FixAvailability.SOMETIMES
    calls = TIMEIT
    words = ("time", "timer", "perf_counter", "monotonic", "timeit")
    words_travel = True

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator != "-" or site.left.kind is not Kind.CLOCK or site.right.kind is not Kind.CLOCK:
            return
        if surroundings.in_test(site.context) or surroundings.on_host_alone(site.context):
            return
        worst: tuple[Confidence, cst.CSTNode] | None = None
        for end in site.left.origins:
            for start in _beginnings(site, model):
                found = self._interval(start, end, site, model)
                if found is not None and (worst is None or found > worst[0]):
                    worst = (found, start)
        if worst is None:
            return
        confidence, start = worst
        if isinstance(model.parent(site.node), (cst.Comparison, cst.ComparisonTarget)):
            confidence = Confidence.POSSIBLE  # whether time is up, not what something took
        if sets_up(model.function_of(site.context)):
            confidence = Confidence.POSSIBLE  # reading and writing files, mostly
        yield Report(
            site.node,
            f"{quote(site.node)} times device work that nothing has waited for: the clock is read when the work is "
            "launched, not when it is done",
            f"call `{runtime(model)}.synchronize()` before each reading of the clock, or use events of the device or "
            "`torch.utils.benchmark.Timer`",
            confidence,
            (("the interval begins here", start),),
            _repairs.waited(model, site.left.origin),
        )

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        """`timeit.timeit(work)`: it reads the clock around all runs of the work, which must wait itself."""
        work = timed_by_timeit(site)
        confidence = unwaited_run(work, model) if work is not None and not surroundings.in_test(site.context) else None
        if confidence is not None:
            yield Report(
                site.node,
                f"{quote(site.node)} reads the clock when all runs are launched: nothing in what it times waits for "
                "the device",
                f"call `{runtime(model)}.synchronize()` at the end of what is timed, or use "
                "`torch.utils.benchmark.Timer`",
                confidence,
            )

    def _interval(self, start: cst.CSTNode, end: cst.CSTNode, site: sites.Binary, model: Model) -> Confidence | None:
        """Whether the interval is unwaited in the nearest function that sees both readings, or in a caller of it."""
        home = model.function_of(site.context)
        candidates = functions_with(home)
        if model.root not in candidates:
            candidates.append(model.root)
        worst: Confidence | None = None
        for function in candidates:
            found = unwaited(start, end, function, model)
            if found is not None and (worst is None or found > worst):
                worst = found
            if reads_both(start, end, function):
                break  # its callers see the same interval, without its loops
        return worst


def _beginnings(site: sites.Binary, model: Model) -> tuple[cst.CSTNode, ...]:
    """Where the interval may begin: in the loop, where a round begins the next one's; the first is one of many."""
    loop = next(iter(site.context.enclosing_loops()), None)
    calls = ((node, model.call(node)) for node in site.right.origins)
    again = tuple(node for node, call in calls if loop is not None and call is not None and call.context.inside(loop))
    return again or site.right.origins
