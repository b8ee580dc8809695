"""TL707: the synchronisation debugger left on."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Applicability, Confidence, Impact
from torchlint.rules._conditions import unconditional
from torchlint.rules._repairs import statement_fix
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.semantics import sites
from torchlint.semantics.model import Model

_SETTER = "torch.cuda.set_sync_debug_mode"
_OFF = ("default", 0)


class SyncDebugLeftOn(Rule):
    code = "TL707"
    name = "sync-debug-left-on"
    bottleneck = "measurement"
    impact = Impact.LOW
    summary = "The synchronisation debugger is turned on and stays on"
    fix_availability = FixAvailability.SOMETIMES
    calls = (_SETTER,)
    words = ("set_sync_debug_mode",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        mode = site.argument(0, "debug_mode")
        if mode is None or not isinstance(mode.value.const, (str, int)) or mode.value.const in _OFF:
            return
        if self._turned_off_again(site, model) or not unconditional(site.context, model):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} stays on: every operation that waits is checked, and warns or fails, in every run",
            'turn it back to "default" after the part that is looked at, or set it behind a debugging option',
            Confidence.SURE,
            fix=statement_fix("Remove the call", site, model, Applicability.DISPLAY),
        )

    def _turned_off_again(self, site: sites.Call, model: Model) -> bool:
        """Whether a later call in the same function sets another mode: off, or what it was before."""
        calls = [call for call in model.sites.calls if call.callee == _SETTER]
        for call in sites.around(calls, site)[1]:
            mode = call.argument(0, "debug_mode")
            if call.context.owner is site.context.owner and mode is not None:
                if mode.value.const in _OFF or not isinstance(mode.value.const, (str, int)):
                    return True
        return False
