"""TL704: anomaly detection always on."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.rules._conditions import unconditional
from torchlint.rules._repairs import statement_fix
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.semantics import sites
from torchlint.semantics.model import Model

_SETTER = "torch.autograd.set_detect_anomaly"
_TRAINERS = ("pytorch_lightning.Trainer", "lightning.Trainer", "lightning.pytorch.Trainer")


class AnomalyLeftOn(Rule):
    code = "TL704"
    name = "anomaly-left-on"
    bottleneck = "measurement"
    summary = "Anomaly detection is on whatever the options say"
    fix_availability = FixAvailability.SOMETIMES
    calls = (*_TRAINERS, _SETTER, "torch.autograd.anomaly_mode.set_detect_anomaly", "torch.autograd.detect_anomaly",
             "torch.autograd.anomaly_mode.detect_anomaly")  # fmt: skip
    words = ("detect_anomaly",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.callee in _TRAINERS:
            option = site.argument(None, "detect_anomaly")
            if option is None or option.value.const is not True:
                return
        elif site.callee is not None and site.callee.endswith("set_detect_anomaly"):
            mode = site.argument(0, "mode")
            if mode is None or mode.value.const is not True or self._turned_off_again(site, model):
                return
        elif not any(with_site.item is site.node for with_site in model.sites.withs):
            return
        if unconditional(site.context, model):
            yield Report(
                site.node,
                f"{quote(site.node)} is on in every run: each forward records where it was called, and each backward "
                "looks for NaN and waits for the answer",
                "turn it on only where a debugging option asks for it",
                Confidence.SURE,
                fix=statement_fix("Remove the call", site, model),
            )

    def _turned_off_again(self, site: sites.Call, model: Model) -> bool:
        """Whether the same function turns it off, or back to what it was: it covers what is looked at."""
        for call in sites.around(model.sites.calls, site)[1]:
            if call.callee == site.callee and call.context.owner is site.context.owner:
                mode = call.argument(0, "mode")
                if mode is not None and mode.value.const is not True:
                    return True
        return False
