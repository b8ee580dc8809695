"""What flows from one file to another: heat, facts about values, and what holds around a call."""

from __future__ import annotations

import textwrap
from pathlib import Path

import libcst as cst
import pytest

from torchlint.semantics import surroundings
from torchlint.semantics.build import build_models
from torchlint.semantics.model import Model
from torchlint.semantics.sites import Call
from torchlint.semantics.values import DEVICE, HOST, Kind, Value
from torchlint.source.modules import Modules

HEAD = "import torch\nfrom torch import nn\n"
LOG = "def log(x):\n    mark('here', x)\n"
LOOP = "for batch in loader:\n    loss = net(batch.cuda()).sum()\n    loss.backward()\n    "


class Program:
    """Files by name, `__` for a slash; an `init` is the `__init__` of its folder."""

    def __init__(self, files: dict[str, str]) -> None:
        paths, trees = {}, {}
        for number, (name, source) in enumerate(files.items()):
            *folders, last = name.split("__")
            path = Path("/project", *folders, ("__init__" if last == "init" else last) + ".py")
            paths[number] = path
            trees[number] = (str(path), cst.parse_module(HEAD + textwrap.dedent(source)))
        self.models = build_models(trees, Modules.of(paths.items()))

    def mark(self, name: str = "here") -> tuple[Model, Call]:
        """The call `mark("name", ...)`, and its file: a function no one knows, so it tells the model nothing."""
        (found,) = (
            (model, call)
            for model in self.models.values()
            for call in model.sites.calls
            if call.callee is None
            and isinstance(call.node.func, cst.Name)
            and call.node.func.value == "mark"
            and call.arguments[0].value.const == name
        )
        return found

    def is_hot(self) -> bool:
        model, call = self.mark()
        return model.hot(call.context) is not None

    def value(self) -> Value:
        return self.mark()[1].arguments[1].value


WAYS = {
    "a function": {"helpers": LOG, "train": f"from helpers import log\n{LOOP}log(loss)"},
    "of a module": {"helpers": LOG, "train": f"import helpers\n{LOOP}helpers.log(loss)"},
    "of a renamed module": {"helpers": LOG, "train": f"import helpers as h\n{LOOP}h.log(loss)"},
    "a relative import": {"pkg__helpers": LOG, "pkg__train": f"from .helpers import log as note\n{LOOP}note(loss)"},
    "two folders up, without an __init__": {
        "pkg__utils__helpers": LOG,
        "pkg__loops__train": f"from ..utils.helpers import log\n{LOOP}log(loss)",
    },
    "a module of a folder without an __init__": {
        "pkg__helpers": LOG,
        "pkg__train": f"from . import helpers\n{LOOP}helpers.log(loss)",
    },
    "a re-export": {
        "pkg__helpers": LOG,
        "pkg__init": "from .helpers import log",
        "train": f"from pkg import log\n{LOOP}log(loss)",
    },
    "a re-export under the name of its module": {
        "pkg__log": LOG,
        "pkg__init": "from .log import log",
        "train": f"from pkg import log\n{LOOP}log(loss)",
    },
    "a star": {
        "pkg__helpers": LOG,
        "pkg__init": "from .helpers import *",
        "train": f"import pkg\n{LOOP}pkg.log(loss)",
    },
    "a module that its package imports": {
        "pkg__helpers": LOG,
        "pkg__init": "from . import helpers",
        "train": f"import pkg\n{LOOP}pkg.helpers.log(loss)",
    },
    "a module by its whole name": {
        "pkg__helpers": LOG,
        "pkg__init": "",
        "train": f"import pkg.helpers\n{LOOP}pkg.helpers.log(loss)",
    },
    "a package below src": {
        "src__pkg__init": "from .helpers import log",
        "src__pkg__helpers": LOG,
        "scripts__train": f"from pkg import log\n{LOOP}log(loss)",
    },
    "an import within a function": {
        "helpers": LOG,
        "train": "def main(loader):\n    from helpers import log\n    for batch in loader:\n"
        "        loss = net(batch.cuda()).sum()\n        loss.backward()\n        log(loss)",
    },
    "a method": {
        "helpers": "class Meter:\n    def update(self, x):\n        mark('here', x)\n",
        "train": f"from helpers import Meter\nmeter = Meter()\n{LOOP}meter.update(loss)",
    },
    "a method of what a third file makes": {
        "helpers": "class Meter:\n    def update(self, x):\n        self._note(x)\n"
        "    def _note(self, x):\n        mark('here', x)\n",
        "middle": "from helpers import Meter\ndef make():\n    return Meter()\n",
        "train": f"from middle import make\nmeter = make()\n{LOOP}meter.update(loss)",
    },
    "three files": {
        "helpers": LOG,
        "middle": "from helpers import log\ndef step(net, batch):\n    loss = net(batch.cuda()).sum()\n"
        "    loss.backward()\n"
        "    log(loss)\n",
        "train": "from middle import step\nfor batch in loader:\n    step(net, batch)\n",
    },
    "a circle of imports and calls": {
        "a": "from b import g\ndef f(x):\n    mark('here', x)\n    return g(x)\n",
        "b": "import a\ndef g(x):\n    return a.f(x)\n",
        "train": f"from a import f\n{LOOP}f(loss)",
    },
}
_NAMED = (
    "from hooks import Log\nclass Trainer:\n    def __init__(self, net):\n        self.net = net\n"
    "        self.hooks = [Log()]\n    def tell(self, name, *args):\n        for hook in self.hooks:\n"
    "            getattr(hook, name)(*args)\n    def fit(self, loader):\n        for epoch in range(9):\n"
    "            for batch in loader:\n                loss = self.net(batch.cuda()).sum()\n"
    "                loss.backward()\n                self.tell('after_step', loss)\n"
    "            self.tell('after_epoch', epoch)\nTrainer(net).fit(loader)\n"
)


@pytest.mark.parametrize(("method", "hot"), [("after_step", True), ("after_epoch", False), ("before_fit", False)])
def test_a_hook_called_by_its_name_runs_as_often_as_the_name_is_passed(method: str, hot: bool) -> None:
    hooks = "class Log:\n" + "".join(
        f"    def {name}(self, x):\n        {'mark' if name == method else 'log'}('here', x)\n"
        for name in ("after_step", "after_epoch", "before_fit")
    )
    assert Program({"hooks": hooks, "train": _NAMED}).is_hot() is hot


_TRAINER = "class Trainer:\n    def fit(self, loader):\n        for batch in loader:\n            self.step(batch)\n"
_STEP = "    def step(self, batch):\n        loss = self.net(batch.cuda()).sum()\n        loss.backward()\n"
_CALLBACK = "class Callback:\n    def after(self, loss):\n        pass\n"
_LOGS = "from hooks import Callback\nclass Log(Callback):\n    def after(self, loss):\n        mark('here', loss)\n"
_RUNS_CALLBACKS = (
    "class Trainer:\n    def __init__(self, net, callbacks{}):\n        self.net, self.callbacks = net, callbacks\n"
    "    def fit(self, loader):\n        for batch in loader:\n            loss = self.net(batch.cuda()).sum()\n"
    "            loss.backward()\n            for callback in self.callbacks:\n                callback.after(loss)\n"
)
CLASSES = {
    "a step that a base class calls": {
        "base": _TRAINER + "    def step(self, batch):\n        raise NotImplementedError\n",
        "mine": f"from base import Trainer\nclass Mine(Trainer):\n{_STEP}        mark('here', loss)\n",
    },
    "a step that a base class calls and does not declare": {
        "base": _TRAINER,
        "mine": f"from base import Trainer\nclass Mine(Trainer):\n{_STEP}        mark('here', loss)\n",
    },
    "callbacks that are passed": {
        "hooks": _CALLBACK,
        "logs": _LOGS,
        "others": "from hooks import Callback\nclass Nothing(Callback):\n    def after(self, loss):\n        pass\n",
        "trainer": _RUNS_CALLBACKS.format(""),
        "train": "from trainer import Trainer\nfrom logs import Log\nfrom others import Nothing\n"
        "Trainer(net, [Log(), Nothing()]).fit(loader)\n",
    },
    "callbacks that are declared": {
        "hooks": _CALLBACK,
        "logs": _LOGS,
        "trainer": "from hooks import Callback\n" + _RUNS_CALLBACKS.format(": list[Callback]"),
    },
}


class TestHeat:
    @pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in {**WAYS, **CLASSES}.items()])
    def test_a_loop_in_one_file_heats_a_helper_in_another(self, files: dict[str, str]) -> None:
        program = Program(files)
        assert program.is_hot()
        assert program.value().may_be_device

    @pytest.mark.parametrize(
        "call",
        [
            pytest.param("log(loss)", id="after the loop"),
            pytest.param("    if step % 100 == 0:\n        log(loss)", id="now and then"),
            pytest.param("    if args.debug:\n        log(loss)", id="for debugging"),
        ],
    )
    def test_a_helper_that_is_not_called_on_every_step_is_not_hot(self, call: str) -> None:
        loop = "for step, batch in enumerate(loader):\n    loss = net(batch).sum()\n    loss.backward()\n"
        assert not Program({"helpers": LOG, "train": f"from helpers import log\n{loop}{call}\n"}).is_hot()

    def test_a_helper_on_a_cold_and_on_a_hot_way_names_the_hot_one(self) -> None:
        program = Program(
            {
                "helpers": LOG,
                "cold": "from helpers import log\nlog(torch.ones(3))\n",
                "train": f"from helpers import log\n{LOOP}log(loss)",
            }
        )
        model, call = program.mark()
        hot = model.hot(call.context)
        assert hot is not None
        assert [model.home[node].path for _, node in hot.reasons] == ["/project/train.py", "/project/train.py"]

    def test_an_override_of_a_class_that_is_made_here_does_not_run(self) -> None:
        """`Callback()` itself is called: no subclass of it."""
        program = Program(
            {
                "hooks": _CALLBACK,
                "logs": _LOGS,
                "train": f"from hooks import Callback\ncallback = Callback()\n{LOOP}callback.after(loss)",
            }
        )
        assert not program.is_hot()

    def test_super_means_the_base_and_no_other_of_its_subclasses(self) -> None:
        program = Program(
            {
                "hooks": _CALLBACK,
                "logs": _LOGS,
                "mine": "from hooks import Callback\nclass Mine(Callback):\n    def after(self, loss):\n"
                "        super().after(loss)\n",
                "train": f"from mine import Mine\nmine = Mine()\n{LOOP}mine.after(loss)",
            }
        )
        assert not program.is_hot()

    def test_what_is_called_by_a_name_in_a_string_stays_unknown(self) -> None:
        program = Program(
            {
                "logs": "class Log:\n    def after(self, loss):\n        mark('here', loss)\n",
                "trainer": "def call(hooks, name, loss):\n    for hook in hooks:\n        getattr(hook, name)(loss)\n"
                f"{LOOP}call(hooks, 'after', loss)",
            }
        )
        assert not program.is_hot()

    def test_a_callback_that_evaluates_now_and_then_leaves_steps_steps(self) -> None:
        program = Program(
            {
                "hooks": "def evaluate(net, held_out):\n    for batch in held_out:\n        net(batch.cuda())\n"
                "def after(step, net, held_out):\n    if step % 1000 == 0:\n        evaluate(net, held_out)\n",
                "decode": "from hooks import after\nnet = nn.Linear(2, 2).cuda()\nx = torch.zeros(2).cuda()\n"
                "for step in range(n):\n    x = net(x)\n    after(step, net, held_out)\n    mark('here', x)\n",
            }
        )
        assert program.is_hot()


class TestFacts:
    def test_where_what_another_file_returns_is(self) -> None:
        files = {"data": "def load(path):\n    return torch.ones(3).cuda()\n"}
        assert Program({**files, "use": "from data import load\nmark('here', load(1))"}).value().device == DEVICE

    def test_what_comes_back_lives_where_what_went_in_does(self) -> None:
        files = {"maths": "def double(x):\n    return x * 2\n"}
        use = "from maths import double\nkept = double(torch.ones(3).cuda())\nmark('here', double(torch.ones(3)))"
        assert Program({**files, "use": use}).value().device == HOST

    @pytest.mark.parametrize(
        ("use", "there"),
        [
            ("from state import State\ns = State()\nmark('here', s.total)", "torch.zeros(3).cuda()"),
            ("from state import State\nState().total = torch.zeros(3).cuda()", "None"),
        ],
    )
    def test_attributes_of_classes_defined_elsewhere(self, use: str, there: str) -> None:
        body = "" if "mark" in use else "    def use(self):\n        mark('here', self.total)\n"
        state = f"class State:\n    def __init__(self):\n        self.total = {there}\n{body}"
        assert Program({"state": state, "use": use}).value().device == DEVICE

    @pytest.mark.parametrize("use", ["from config import device", "import config\ndevice = config.device"])
    def test_objects_of_another_module(self, use: str) -> None:
        files = {"config": "device = torch.device('cuda')\n"}
        assert Program({**files, "use": f"{use}\nmark('here', torch.zeros(3, device=device))"}).value().device == DEVICE

    def test_a_graph_comes_from_a_model_and_a_loss_of_other_files(self) -> None:
        program = Program(
            {
                "losses": "def criterion(a, b):\n    return ((a - b) ** 2).mean()\n",
                "models": "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.w = nn.Parameter(torch.ones(3))\n    def forward(self, x):\n        return self.w * x\n",
                "use": "from losses import criterion\nfrom models import Net\nx = torch.ones(3)\n"
                "mark('here', criterion(Net()(x), x))",
            }
        )
        assert program.value().attached

    def test_what_is_passed_to_a_function_that_runs_backward_has_a_graph(self) -> None:
        program = Program(
            {
                "update": "def update(opt, loss):\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
                "train": "from update import update\nfor x in rows:\n    loss = criterion(x)\n    update(opt, loss)\n"
                "    mark('here', loss)\n",
            }
        )
        assert program.is_hot()
        assert program.value().attached

    @pytest.mark.parametrize(
        "files",
        [
            {
                "stage": "def stage(n):\n    return torch.empty(n, pin_memory=True)\n",
                "use": "from stage import stage\nmark('here', stage(3))",
            },
            {"stage": LOG, "use": "from stage import log\nx = torch.empty(3, pin_memory=True)\nlog(x)"},
            {
                "build": "from torch.utils.data import DataLoader\ndef build(data, pin=True):\n"
                "    return DataLoader(data, 8, num_workers=4, pin_memory=True)\n",
                "use": "from build import build\nfor batch in build(data):\n    mark('here', batch)",
            },
            {
                "data": "from torch.utils.data import DataLoader\nclass Data:\n    def __init__(self, data):\n"
                "        self.train = DataLoader(data, 8, num_workers=4, pin_memory=True)\n",
                "use": "from data import Data\nfor batch in Data(scenes).train:\n    mark('here', batch)",
            },
        ],
    )
    def test_pinned_memory_is_pinned_in_other_files(self, files: dict[str, str]) -> None:
        assert Program(files).value().pinned is True

    def test_a_model_whose_class_and_base_are_elsewhere(self) -> None:
        program = Program(
            {
                "base": "class Base(nn.Module):\n    pass\n",
                "models": "from base import Base\nclass Net(Base):\n    def forward(self, x):\n"
                "        mark('here', x)\n"
                "        return x\n",
                "train": "from models import Net\nnet = Net().cuda()\nfor batch in loader:\n"
                "    net(batch.cuda()).sum().backward()\n",
            }
        )
        assert program.is_hot()
        assert program.value().device == DEVICE

    def test_a_role_comes_from_a_base_in_another_file(self) -> None:
        program = Program(
            {
                "base": "import lightning as L\nclass Base(L.LightningModule):\n    pass\n",
                "module": "from base import Base\nclass Mine(Base):\n    def training_step(self, batch, index):\n"
                "        mark('here', batch)\n",
            }
        )
        assert program.is_hot()

    def test_what_a_registry_gives_is_unknown(self) -> None:
        program = Program(
            {
                "registry": "LOSSES = {}\ndef register(name):\n    def keep(f):\n"
                "        LOSSES[name] = f\n        return f\n"
                "    return keep\ndef build(config):\n    return LOSSES[config.name](**config.options)\n",
                "losses": "from registry import register\n@register('l1')\nclass L1(nn.Module):\n"
                "    def forward(self, a, b):\n"
                "        return (a - b).abs().mean().cpu()\n",
                "use": "from registry import build\nmark('here', build(config))",
            }
        )
        assert program.value().kind is Kind.UNKNOWN
        assert program.value().cls is None

    def test_one_of_several_models_that_a_factory_makes_is_no_one_of_them(self) -> None:
        one = "class {}(nn.Module):\n    def forward(self, x):\n        return x{}\n"
        program = Program(
            {
                "a": one.format("A", ".cpu()"),
                "b": one.format("B", ""),
                "factory": "from a import A\nfrom b import B\ndef build(name):\n    if name == 'a':\n"
                "        return A()\n"
                "    return B()\n",
                "use": "from factory import build\nmark('here', build(name))",
            }
        )
        assert program.value().kind is Kind.MODULE
        assert program.value().cls is None

    def test_a_name_that_is_not_bound_there_is_unknown(self) -> None:
        program = Program({"helpers": "x = 1\n", "use": "from helpers import missing\nmark('here', missing)"})
        assert program.value().kind is Kind.UNKNOWN


class TestAround:
    RUN = "def run(net, batch):\n    out = net(batch)\n    mark('here', out)\n    return out\n"
    EVALUATE = (
        "from helpers import run\n@torch.inference_mode()\ndef evaluate(net, loader):\n    for batch in loader:\n"
        "        run(net, batch)\n"
    )

    @pytest.mark.parametrize(
        ("files", "off"),
        [
            (
                {
                    "a": "from helpers import run\nwith torch.no_grad():\n    for batch in loader:\n"
                    "        run(net, batch)"
                },
                True,
            ),
            ({"a": EVALUATE, "b": "from a import evaluate\nevaluate(net, loader)"}, True),
            ({"a": EVALUATE, "b": "from helpers import run\nfor x in loader:\n    run(net, x).backward()"}, False),
            ({"a": "from helpers import run\nfor batch in loader:\n    run(net, batch)"}, False),
        ],
    )
    def test_autograd_is_off_where_all_callers_turn_it_off(self, files: dict[str, str], off: bool) -> None:
        model, call = Program({"helpers": self.RUN, **files}).mark()
        assert model.autograd_off(call.context) is off

    @pytest.mark.parametrize(
        ("helpers", "use"),
        [
            (LOG, "from helpers import log\n@torch.compile\ndef step(x):\n    log(x)\n"),
            (LOG, "from helpers import log\nfast = torch.compile(log, fullgraph=True)\n"),
            (
                "class Net(nn.Module):\n    def forward(self, x):\n        mark('here', x)\n        return x\n",
                "from helpers import Net\nnet = torch.compile(Net())\n",
            ),
        ],
    )
    def test_compiled_code_is_compiled_in_other_files(self, helpers: str, use: str) -> None:
        model, call = Program({"helpers": helpers, "use": use}).mark()
        assert model.compiled(call.context) is not None
        model, call = Program({"helpers": helpers, "use": use.replace("torch.compile", "str")}).mark()
        assert model.compiled(call.context) is None

    @pytest.mark.parametrize(
        ("use", "inside"),
        [
            ("class Scenes(Dataset):\n    def __getitem__(self, index):\n        return log(self.rows[index])\n", True),
            ("DataLoader(scenes, 8, collate_fn=log)\n", True),
            ("class Scenes(Dataset):\n    def __getitem__(self, i):\n        return log(i)\nlog(1)\n", False),
        ],
    )
    def test_what_only_loader_workers_call_runs_in_them(self, use: str, inside: bool) -> None:
        head = "from helpers import log\nfrom torch.utils.data import DataLoader, Dataset\n"
        _, call = Program({"helpers": LOG, "data": head + use}).mark()
        assert surroundings.in_worker(call.context) is inside

    def test_a_clock_is_a_clock_through_another_file(self) -> None:
        program = Program(
            {
                "clock": "import time\ndef now():\n    torch.cuda.synchronize()\n    return time.perf_counter()\n",
                "use": "from clock import now\nstart = now()\nmark('here', start)",
            }
        )
        assert program.value().kind is Kind.CLOCK

    def test_what_a_function_of_another_file_stores_is_known(self) -> None:
        program = Program(
            {
                "history": "kept = []\ndef keep(x):\n    kept.append(x)\n",
                "train": "from history import keep\nfor batch in loader:\n    keep(batch)\nmark('here', batch)",
            }
        )
        model, _ = program.mark()
        (stored,) = (call.target for call in model.sites.calls if call.target is not None)
        assert stored.stored == 1
