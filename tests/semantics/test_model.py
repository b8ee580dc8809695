"""What the model takes the things of a program for, and how often it takes lines to run."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from torchlint.findings import Confidence
from torchlint.semantics.build import build_model
from torchlint.semantics.model import Model
from torchlint.semantics.values import ATTACHED, DETACHED, DEVICE, HOST, Kind, Value


def model_of(source: str) -> Model:
    return build_model(cst.parse_module(textwrap.dedent(source)))


def printed(model: Model) -> list[Value]:
    """What each argument of `show(...)` is, in order: a function no one knows, so it tells the model nothing."""
    return [
        argument.value
        for call in model.sites.calls
        if call.callee is None and isinstance(call.node.func, cst.Name) and call.node.func.value == "show"
        for argument in call.arguments
    ]


def shown(source: str) -> list[Value]:
    return printed(model_of("import torch\nfrom torch import nn\n" + textwrap.dedent(source)))


def heat(source: str) -> dict[str, bool]:
    """Whether the line that says `mark("name")` is hot."""
    model = model_of("import torch\nfrom torch import nn\n" + textwrap.dedent(source))
    return {
        call.arguments[0].value.const: model.hot(call.context) is not None
        for call in model.sites.calls
        if isinstance(call.node.func, cst.Name) and call.node.func.value == "mark"
    }


class TestNames:
    @pytest.mark.parametrize(
        ("imports", "expression", "name"),
        [
            ("import torch as th", "th.cat", "torch.cat"),
            ("import torch.nn.functional as fn", "fn.softmax", "torch.nn.functional.softmax"),
            ("from torch import nn as layers", "layers.Linear", "torch.nn.Linear"),
            ("from torch.nn.modules.linear import Linear as Dense", "Dense", "torch.nn.Linear"),
            ("import torch\ncat = torch.cat", "cat", "torch.cat"),
            ("import torch\nF = torch.nn.functional", "F.gelu", "torch.nn.functional.gelu"),
            ("try:\n    import torch\nexcept ImportError:\n    torch = None", "torch.stack", "torch.stack"),
            ("from torch import *", "cat", None),
            ("", "cat", None),
        ],
    )
    def test_a_name_resolves_through_what_was_imported(self, imports: str, expression: str, name: str | None) -> None:
        model = model_of(f"{imports}\n{expression}(rows)\n")
        assert model.sites.calls[-1].callee == name

    def test_a_module_kept_in_an_attribute_is_what_it_was_made_of(self) -> None:
        model = model_of(
            """
            from torch import nn

            class Head(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.act = nn.LogSoftmax(1)

                def forward(self, x):
                    return self.act(x)
            """
        )
        assert "torch.nn.LogSoftmax" in [call.function.qual for call in model.sites.calls]


class TestDevices:
    def test_a_later_assignment_wins(self) -> None:
        before, after = shown("x = torch.zeros(3, device='cuda')\nshow(x)\nx = x.cpu()\nshow(x)\n")
        assert (before.device, after.device) == (DEVICE, HOST)

    def test_branches_join(self) -> None:
        (x,) = shown("x = torch.zeros(3)\nif wanted:\n    x = x.cuda()\nshow(x)\n")
        assert x.device == HOST | DEVICE

    def test_a_name_bound_in_one_branch_keeps_its_value(self) -> None:
        (x,) = shown("if wanted:\n    x = torch.zeros(3, device='cuda')\nshow(x)\n")
        assert (x.kind, x.device) == (Kind.TENSOR, DEVICE)

    def test_a_branch_that_leaves_does_not_join(self) -> None:
        (x,) = shown(
            "def f(x):\n    x = x.cuda()\n    if not x.is_cuda:\n        x = x.cpu()\n        return x\n    show(x)\n"
        )
        assert x.device == DEVICE

    def test_where_a_tensor_is_not_on_the_device_it_is_on_the_host(self) -> None:
        (x,) = shown("def f(x):\n    if not x.is_cuda:\n        show(x)\n")
        assert x.device == HOST

    def test_a_factory_without_a_device_is_on_the_host(self) -> None:
        a, b, c = shown("show(torch.ones(2), torch.ones(2, device='cuda:1'), torch.ones(2, device=place))")
        assert a.device == HOST
        assert b.device == DEVICE
        assert not c.device & HOST

    def test_the_default_device_moves_the_factories(self) -> None:
        (x,) = shown("torch.set_default_device('cuda')\nshow(torch.ones(2))\n")
        assert x.device == DEVICE

    def test_device_strings_travel_through_variables_and_attributes(self) -> None:
        (x,) = shown(
            """
            class Runner:
                def __init__(self, where="cuda"):
                    self.where = torch.device(where)

                def load(self, rows):
                    show(rows.to(self.where))
            """
        )
        assert x.device & DEVICE

    def test_a_module_that_is_moved_in_place_computes_on_the_device(self) -> None:
        (y,) = shown("net = nn.Linear(2, 2)\nnet.cuda()\nshow(net(torch.ones(2, device='cuda')))\n")
        assert y.device == DEVICE

    def test_an_unknown_value_has_no_place(self) -> None:
        (x,) = shown("show(something())")
        assert x.kind is Kind.UNKNOWN
        assert x.device not in (HOST, DEVICE)


class TestGraphs:
    def test_modules_attach_and_detach_cuts(self) -> None:
        y, z = shown("net = nn.Linear(2, 2)\ny = net(torch.ones(2))\nshow(y, y.detach())\n")
        assert (y.graph, z.graph) == (ATTACHED, DETACHED)

    @pytest.mark.parametrize("manager", ["torch.no_grad()", "torch.inference_mode()", "torch.set_grad_enabled(False)"])
    def test_autograd_is_off_in_a_with(self, manager: str) -> None:
        (y,) = shown(f"net = nn.Linear(2, 2)\nwith {manager}:\n    show(net(torch.ones(2)))\n")
        assert y.graph == DETACHED

    def test_what_backward_runs_on_has_a_graph(self) -> None:
        (loss,) = shown(
            "def step(criterion, out, y):\n    loss = criterion(out, y)\n    show(loss)\n    loss.backward()\n"
        )
        assert loss.graph == ATTACHED

    def test_a_value_carried_over_the_rounds_of_a_loop_is_joined(self) -> None:
        (total,) = shown(
            "net = nn.Linear(2, 2)\ntotal = 0\nfor x in rows:\n    show(total)\n    total = total + net(x)\n"
        )
        assert total.kind is Kind.TENSOR
        assert total.attached

    def test_a_state_detached_at_the_end_of_each_round_carries_no_graph(self) -> None:
        (h,) = shown(
            "cell = nn.GRUCell(2, 2)\nh = torch.zeros(2)\n"
            "for x in rows:\n    show(h)\n    h = cell(x, h)\n    h = h.detach()\n"
        )
        assert h.graph == DETACHED

    def test_indices_have_no_graph(self) -> None:
        (best,) = shown("net = nn.Linear(2, 2)\nshow(net(torch.ones(2)).argmax(-1))\n")
        assert best.graph == DETACHED


class TestFunctions:
    def test_a_helper_that_reads_a_loss_gives_a_number(self) -> None:
        (read,) = shown(
            "def value_of(loss):\n    return loss.item()\n\ndef f(loss):\n    show(value_of(loss.cuda()))\n"
        )
        assert read.kind is Kind.NUMBER

    def test_a_helper_gives_back_what_it_was_given_where_it_was(self) -> None:
        a, b = shown(
            """
            def double(x):
                return x.mul(2)

            show(double(torch.ones(2)), double(torch.ones(2, device="cuda")))
            """
        )
        assert (a.device, b.device) == (HOST, DEVICE)

    def test_arguments_reach_the_parameters(self) -> None:
        (x,) = shown("def use(x):\n    show(x)\n\nuse(torch.ones(2, device='cuda'))\n")
        assert (x.kind, x.device) == (Kind.TENSOR, DEVICE)

    def test_who_takes_a_result_apart_expects_the_tuple(self) -> None:
        rows, count = shown(
            """
            def prepare(size, given=None):
                if given is not None:
                    return given.cuda()
                return torch.randn(size, device="cuda"), size // 2

            rows, count = prepare(8)
            show(rows, count)
            """
        )
        assert (rows.kind, rows.device, count.kind) == (Kind.TENSOR, DEVICE, Kind.NUMBER)

    def test_an_annotated_tuple_does_not_hide_a_batch(self) -> None:
        (batch,) = shown(
            """
            def step(net, batch: tuple[torch.Tensor, torch.Tensor]):
                show(batch)
                net(batch[0]).mean().backward()

            def fit(net, data):
                for batch in torch.utils.data.DataLoader(data):
                    step(net, batch)
            """
        )
        assert batch.kind is Kind.BATCH

    def test_a_number_that_all_callers_pass_outweighs_an_annotation_of_a_tensor(self) -> None:
        number, tensor = shown(
            """
            def rotary(length: int | torch.Tensor):
                show(length)

            def scaled(factor: float | torch.Tensor):
                show(factor)

            def run(x):
                rotary(x.shape[0])
                scaled(2.0)
                scaled(torch.ones(1, device="cuda"))
            """
        )
        assert (number.kind, tensor.kind) == (Kind.NUMBER, Kind.TENSOR)

    def test_an_annotated_container_outweighs_a_guess(self) -> None:
        (kept,) = shown(
            """
            class Up(nn.Module):
                def forward(self, x, kept: dict[str, torch.Tensor] | None = None):
                    show(kept)
                    return x

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.up = Up()

                def forward(self, x, kept: dict[str, torch.Tensor]):
                    return self.up(x, kept.get("up"))
            """
        )
        assert kept.kind is Kind.CONTAINER

    def test_arguments_reach_the_parameters_through_a_partial_and_a_method_of_a_base_class(self) -> None:
        a, b = shown(
            """
            import functools

            class Base:
                def use(self, x):
                    show(x)

            class Derived(Base):
                def run(self):
                    self.use(torch.ones(2, device="cuda"))

            def scaled(x, factor):
                show(factor)

            once = functools.partial(scaled, factor=torch.ones((), device="cuda"))
            once(3)
            """
        )
        assert a.device == b.device == DEVICE

    def test_a_closure_sees_the_names_around_it(self) -> None:
        (x,) = shown(
            "def make():\n    x = torch.ones(2, device='cuda')\n    def use():\n        show(x)\n    return use\n"
        )
        assert x.device == DEVICE

    def test_what_is_kept_in_an_attribute_is_seen_in_other_methods(self) -> None:
        (x,) = shown(
            """
            class Keeper:
                def put(self):
                    self.kept = torch.ones(2, device="cuda")

                def get(self):
                    show(self.kept)
            """
        )
        assert x.device == DEVICE

    def test_recursion_ends(self) -> None:
        (x,) = shown(
            "def down(x, n):\n    if n == 0:\n        return x.cuda()\n    return down(x, n - 1)\n\n"
            "show(down(torch.ones(2), 3))\n"
        )
        assert x.device & DEVICE


class TestContainers:
    def test_a_list_remembers_what_was_appended_through_an_alias(self) -> None:
        (x,) = shown("rows = []\nsame = rows\nsame.append(torch.ones(2, device='cuda'))\nshow(rows[0])\n")
        assert x.device == DEVICE

    def test_a_tuple_is_taken_apart_by_position(self) -> None:
        a, b = shown("a, b = torch.ones(2), torch.ones(2, device='cuda')\nshow(a, b)\n")
        assert (a.device, b.device) == (HOST, DEVICE)

    def test_sizes_beside_a_batch_and_pairs_are_numbers(self) -> None:
        assert [
            value.kind
            for value in shown(
                """
                from torch.nn.modules.utils import _pair

                def fit(net, data):
                    for sample in torch.utils.data.DataLoader(data):
                        height, width = sample.img_shape
                        net(sample.img).mean().backward()
                        show(height, sample.img, _pair(3)[1])
                """
            )
        ] == [Kind.NUMBER, Kind.BATCH, Kind.NUMBER]

    def test_an_iterator_gives_what_its_next_returns(self) -> None:
        of_loop, of_next = shown(
            """
            class Cycle:
                def __init__(self, rows):
                    self.rows, self.at = rows, 0

                def __iter__(self):
                    return self

                def __next__(self):
                    self.at += 1
                    return torch.zeros(3, device="cuda")

            class Feed:
                def __iter__(self):
                    return Cycle([1, 2])

            for row in Feed():
                show(row)
            show(next(Cycle([1, 2])))
            """
        )
        assert (of_loop.kind, of_loop.device) == (Kind.TENSOR, DEVICE)
        assert (of_next.kind, of_next.device) == (Kind.TENSOR, DEVICE)

    def test_a_dict_is_read_by_key(self) -> None:
        a, b = shown("d = {'a': torch.ones(2), 'b': torch.ones(2, device='cuda')}\nshow(d['a'], d['b'])\n")
        assert (a.device, b.device) == (HOST, DEVICE)

    def test_a_loader_tells_whether_its_batches_are_pinned(self) -> None:
        a, b, c = shown(
            """
            from torch.utils.data import DataLoader
            show(next(iter(DataLoader(rows, pin_memory=True))))
            show(next(iter(DataLoader(rows))))
            show(next(iter(DataLoader(rows, **options))))
            """
        )
        assert [a.pinned, b.pinned, c.pinned] == [True, False, None]

    @pytest.mark.parametrize(
        "loop",
        [
            "for x in tqdm(loader):",
            "for i, x in enumerate(loader):",
            "for x, other in zip(loader, rows):",
            "for x in accelerator.prepare(loader):",
        ],
    )
    def test_a_wrapped_loader_still_yields_batches(self, loop: str) -> None:
        (x,) = shown(
            f"""
            from accelerate import Accelerator
            from tqdm import tqdm
            from torch.utils.data import DataLoader
            accelerator = Accelerator()
            loader = DataLoader(rows)
            {loop}
                show(x)
            """
        )
        assert x.kind is Kind.BATCH

    @pytest.mark.parametrize(
        ("imports", "expression"),
        [
            ("import numpy as np", "np.ones(3).sum()"),
            ("import pandas as pd", "pd.read_csv(p)['a'].mean()"),
            ("", "{'a': 1}"),
        ],
    )
    def test_other_libraries_make_no_tensors(self, imports: str, expression: str) -> None:
        (x,) = shown(f"{imports}\nshow({expression})\n")
        assert not x.is_tensor


TRAIN = """
def train(net, opt, loader, every, rank, debug):
    mark("setup")
    for epoch in range(10):
        mark("epoch")
        for step, (x, y) in enumerate(loader):
            loss = net(x, y)
            loss.backward()
            opt.step()
            mark("step")
            if step % every == 0:
                mark("rare")
            if step % every:
                mark("mostly")
            else:
                mark("rare else")
            if rank == 0:
                mark("rank 0")
            if debug:
                mark("debug")
            if step == 0:
                mark("first")
            if step % every != 0:
                continue
            mark("after continue")
        mark("epoch end")
"""


class TestHotness:
    def test_gates_of_a_training_loop(self) -> None:
        assert heat(TRAIN) == {
            "setup": False,
            "epoch": False,
            "step": True,
            "rare": False,
            "mostly": True,
            "rare else": False,
            "rank 0": True,
            "debug": False,
            "first": False,
            "after continue": False,
            "epoch end": False,
        }

    def test_what_is_given_for_a_switch_and_what_counts_the_rounds(self) -> None:
        assert heat("""
            def report(loss, log):
                if log:
                    mark("given now and then")
                if not log:
                    mark("given mostly")

            def train(net, opt, loader, every, limit):
                seen = seen_at = 0
                size = 1
                for step, x in enumerate(loader):
                    loss = net(x).mean()
                    loss.backward()
                    opt.step()
                    report(loss, step % every == 0)
                    if (step % every == 0 or every < 1.0) and every > 0:
                        mark("interval")
                    if step % every == 0 or limit < 1.0:
                        mark("other")
                    if step - seen_at >= every:
                        mark("since")
                        seen_at = step
                    if size + 1 == limit:
                        mark("counted")
                    if seen == limit:
                        mark("counted, too")
                    if (step - 1) * size // every < step * size // every:
                        mark("crossed")
                    if abs(step % every) < size:
                        mark("crossed, too")
                    if limit == every:
                        mark("not counted")
                    size += 1
                    seen = seen + 1
        """) == {
            "given now and then": False,
            "given mostly": True,
            "interval": False,
            "other": True,
            "since": False,
            "counted": False,
            "counted, too": False,
            "crossed": False,
            "crossed, too": False,
            "not counted": True,
        }

    def test_a_method_that_is_called_by_name_on_something_unknown(self) -> None:
        assert heat("""
            class Hook:
                def on_batch_end(self, net):
                    pass

                def on_epoch_end(self, net):
                    pass

            class Spy(Hook):
                def on_batch_end(self, net):
                    mark("batch")

                def on_epoch_end(self, net):
                    mark("epoch")

                def other(self, net):
                    mark("other")

            class Net:
                def notify(self, name):
                    getattr(self, name)(self)
                    for hook in self.hooks:
                        getattr(hook, name)(self)

                def on_batch_end(self, net):
                    mark("own")

                def on_epoch_end(self, net):
                    pass

                def fit(self, loader):
                    for x in loader:
                        self.module(x).backward()
                        self.optimizer.step()
                        self.notify("on_batch_end")
                    self.notify("on_epoch_end")
        """) == {"batch": True, "epoch": False, "other": False, "own": True}

    def test_steps_of_frameworks_that_are_not_read(self) -> None:
        assert heat("""
            from mmengine.model import BaseModel
            from trainer import TrainerModel

            class Voice(TrainerModel):
                def train_step(self, batch, criterion):
                    mark("voice")

                def other(self, batch):
                    mark("other")

            class Detector(BaseModel):
                def train_step(self, data, optim_wrapper):
                    mark("detector")
        """) == {"voice": True, "other": False, "detector": True}

    def test_what_is_not_to_happen_is_rare(self) -> None:
        assert heat("""
            class Net(nn.Module):
                def forward(self, x):
                    if odd(x):
                        warnings.warn("odd")
                        mark("warned")
                    if odd(x):
                        logger.error("odd")
                        mark("logged")
                    elif even(x):
                        logger.info("even")
                        mark("told")
                    return x

            def unfinished(net, loader):
                for x in loader:
                    net(x)
                    mark("unfinished")
                raise NotImplementedError
        """) == {"warned": False, "logged": False, "told": True, "unfinished": False}

    def test_what_ends_its_own_condition_is_rare(self) -> None:
        assert heat(
            """
            class Layer(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.merged_parts, self.started, self.fresh, self.wide = [], False, True, True

                @property
                def merged(self):
                    return bool(self.merged_parts)

                def unmerge(self):
                    mark("unmerge")
                    while self.merged_parts:
                        self.merged_parts.pop()

                def start(self):
                    mark("start")

                def forward(self, x):
                    if self.merged:
                        self.unmerge()
                    if not self.started:
                        self.start()
                    if self.fresh:
                        mark("fresh")
                        self.fresh = False
                    if self.wide:
                        mark("wide")
                    self.started = True
                    return x
            """
        ) == {"unmerge": False, "start": False, "fresh": False, "wide": True}

    def test_a_switch_opens_what_callers_ask_for(self) -> None:
        assert heat(
            """
            class Shared:
                on = False

            class Kernel(nn.Module):
                def __call__(self, x, *args, **kwargs):
                    return self.forward(x, *args, **kwargs)

                def forward(self, x, diag=False):
                    raise NotImplementedError

            class Linear(Kernel):
                def forward(self, x, diag=False):
                    if diag:
                        mark("diag")
                    return x

            class Net(nn.Module):
                def forward(self, x, refit=False, scale=True, twice=False):
                    if refit:
                        mark("refit")
                    if scale:
                        mark("scale")
                    if twice:
                        mark("twice")
                    return self.helper(x)

                def helper(self, x, safe=False, also=False, given=False):
                    if safe:
                        mark("safe")
                    also = x.ndim > 2
                    if also:
                        mark("rebound")
                    return x

            def log(x, full=False, brief=True):
                if full and x is not None:
                    mark("full")
                if not brief:
                    return
                mark("brief")
                if Shared.on:
                    mark("shared")

            def train(net: Net, loader, **options):
                for x in loader:
                    loss = net(x, twice=True).mean()
                    loss.backward()
                    log(loss)
                    keep(x, **options)

            def keep(x, deep=False):
                if deep:
                    mark("deep")
            """
        ) == {
            "diag": True,
            "refit": False,
            "scale": True,
            "twice": True,
            "safe": False,
            "rebound": True,
            "full": False,
            "brief": True,
            "shared": False,
            "deep": True,
        }

    def test_what_prepares_a_loader_gives_it_back(self) -> None:
        assert heat(
            """
            class Trainer:
                def values(self, data):
                    loader = self.accelerator.prepare(torch.utils.data.DataLoader(data))
                    scores = self.accelerator.gather(data)
                    for batch in loader:
                        mark("batch")
            """
        ) == {"batch": True}

    def test_methods_of_test_cases_are_not_hot(self) -> None:
        assert heat(
            """
            from base import BaseTestCase

            class Mixin(BaseTestCase):
                def test_rounds(self, rounds=3):
                    for _ in range(rounds):
                        net(x).mean().backward()
                        mark("test")
            """
        ) == {"test": False}

    def test_heat_goes_from_the_loop_into_what_it_calls(self) -> None:
        assert heat(
            """
            class Trainer:
                def helper(self, loss):
                    mark("helper")

                def step(self, x):
                    loss = self.net(x).mean()
                    loss.backward()
                    self.helper(loss)

                def fit(self, loader):
                    mark("before")
                    for x in loader:
                        self.step(x)

                def unused(self):
                    mark("unused")
            """
        ) == {"helper": True, "before": False, "unused": False}

    def test_interfaces_are_hot_and_construction_is_not(self) -> None:
        assert heat(
            """
            import lightning

            class Net(nn.Module):
                def __init__(self):
                    mark("init")

                def forward(self, x):
                    mark("forward")
                    return self.part(x)

                def part(self, x):
                    mark("part")

                def load(self):
                    mark("load")

            class Lit(lightning.LightningModule):
                def training_step(self, batch, i):
                    mark("training_step")

                def configure_optimizers(self):
                    mark("configure")

            class Own(torch.optim.Optimizer):
                def step(self):
                    mark("optimizer")

            class Square(torch.autograd.Function):
                @staticmethod
                def backward(ctx, g):
                    mark("autograd")
            """
        ) == {
            "init": False,
            "forward": True,
            "part": True,
            "load": False,
            "training_step": True,
            "configure": False,
            "optimizer": True,
            "autograd": True,
        }

    def test_a_forward_beside_bases_that_say_nothing_is_no_interface(self) -> None:
        assert heat(
            """
            from abc import ABC
            from somewhere import Unknown

            class Transform(ABC):
                def forward(self, data):
                    mark("transform")

            class Block(Unknown):
                def forward(self, data):
                    mark("block")
            """
        ) == {"transform": False, "block": True}

    def test_a_value_computed_once_and_kept_is_not_hot(self) -> None:
        assert heat(
            """
            class Net(nn.Module):
                def forward(self, x):
                    if self.table is None:
                        mark("first call")
                        self.table = torch.arange(3)
                    mark("each call")
                    return x
            """
        ) == {"first call": False, "each call": True}

    def test_a_value_looked_up_and_stored_where_it_was_missing_is_not_hot(self) -> None:
        assert heat(
            """
            TABLES = {}

            class Net(nn.Module):
                def forward(self, x):
                    table = TABLES.get(x.device)
                    if table is None or table.shape[0] < x.shape[0]:
                        mark("first call")
                        table = x.new_tensor([1.0, 2.0])
                        TABLES[x.device] = table
                    elif table is None:
                        mark("not stored")
                    return x
            """
        ) == {"first call": False, "not stored": True}

    def test_an_evaluation_loop_is_hot_however_rarely_it_is_entered(self) -> None:
        assert heat(
            """
            def fit(net, opt, loader, val):
                for step, x in enumerate(loader):
                    net(x).mean().backward()
                    opt.step()
                    if step % 1000 == 0:
                        with torch.no_grad():
                            for v in val:
                                net(v)
                                mark("evaluation")
            """
        ) == {"evaluation": True}

    def test_layers_are_finer_than_steps(self) -> None:
        model = model_of(
            """
            import torch
            from torch import nn

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(9))

                def forward(self, x):
                    for layer in self.layers:
                        x = layer(x)
                    return x
            """
        )
        call = next(
            call
            for call in model.sites.calls
            if isinstance(call.node.func, cst.Name) and call.node.func.value == "layer"
        )
        found = model.hot(call.context)
        assert found is not None
        assert found.rate.value == "layers"

    def test_code_that_cycles_through_its_callers_is_not_hot_by_itself(self) -> None:
        assert heat("def a():\n    mark('a')\n    b()\n\ndef b():\n    a()\n") == {"a": False}


def test_compiled_code_is_known_through_the_modules_it_holds() -> None:
    model = model_of(
        """
        import torch
        from torch import nn

        class Inner(nn.Module):
            def forward(self, x):
                return x.relu()

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, x):
                return self.inner(x)

        class Apart(nn.Module):
            def forward(self, x):
                return x.tanh()

        net = torch.compile(Outer())
        """
    )
    compiled = {
        call.method: model.compiled(call.context) is not None
        for call in model.sites.calls
        if call.method in ("relu", "tanh")
    }
    assert compiled == {"relu": True, "tanh": False}


def test_deep_alternatives_do_not_cost_a_walk_for_every_path() -> None:
    functions = "\n".join(f"def f{n}(x):\n    f{n + 1}(x)\n    f{n + 1}(x)\n" for n in range(40))
    assert heat(
        f"{functions}\ndef f40(x):\n    mark('leaf')\n\n"
        "def main(net, rows):\n    for x in rows:\n        net(x).backward()\n        f0(x)\n"
    ) == {"leaf": True}


def test_the_places_where_a_condition_holds_are_integers() -> None:
    rows, chosen = shown("""
        def f(x):
            rows, columns = torch.where(x.relu() > 0)
            chosen = torch.where(x.relu() > 0, x.exp(), x.relu())
            show(rows, chosen)
    """)
    assert (rows.kind, rows.dtype, rows.rank) == (Kind.TENSOR, "int64", 1)
    assert (chosen.kind, chosen.dtype) == (Kind.TENSOR, None)


def test_making_another_of_a_kind_is_no_call_of_a_module() -> None:
    (made,) = shown("""
        def f(net, name, x):
            kind = type(net.parameters_by_name[name])
            show(kind(x.exp(), requires_grad=False))
    """)
    assert made.kind is Kind.UNKNOWN


def test_what_code_puts_into_an_optimizers_groups_stays_there() -> None:
    shown("""
        def keep(optimizer, x):
            optimizer = torch.optim.SGD([x], lr=1.0)
            for group in optimizer.param_groups:
                group["averages"] = x.exp()
                group["steps"] = x.exp()
    """)
    (option,) = shown("""
        def read(x):
            for group in torch.optim.SGD([x], lr=1.0).param_groups:
                show(group["steps"])
    """)
    assert option.kind is Kind.UNKNOWN


def test_a_default_is_that_of_its_key_alone() -> None:
    flag, other = shown("""
        def f(options):
            options = {}
            show(options.setdefault("verbose", False))
            options["x"] = torch.zeros(3)
            show(options["verbose"])
    """)
    assert flag.kind is Kind.NUMBER
    assert other.kind is Kind.NUMBER


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("torch.get_autocast_dtype(x.device.type)", Kind.DTYPE),
        ("torch.get_default_dtype()", Kind.DTYPE),
        ("torch.get_device_module('cuda').is_available()", Kind.UNKNOWN),
        ("torch.optim.optimizer._default_to_fused_or_foreach([x], False)[1]", Kind.UNKNOWN),
        ("chosen(x)", Kind.NUMBER),
    ],
)
def test_not_all_that_torch_gives_is_a_tensor(expression: str, kind: Kind) -> None:
    (value,) = shown(f"""
        def chosen(x) -> bool:
            return decide(x.exp())

        def f(x):
            show({expression})
    """)
    assert value.kind is kind


def test_the_first_argument_of_a_modules_hook_is_the_module() -> None:
    module, output, grad = shown("""
        def after(module, inputs, output):
            show(module, output)

        def through(grad):
            show(grad)

        def watch(net, weight):
            net.register_forward_hook(after)
            weight.register_hook(through)
    """)
    assert module.kind is Kind.MODULE
    assert output.kind is Kind.BATCH
    assert grad.kind is Kind.TENSOR


def test_a_factory_of_decorators_may_turn_autograd_off() -> None:
    model = model_of("""
        import torch

        def smart(mode=True):
            def decorate(fn):
                return (torch.inference_mode if NEW else torch.no_grad)()(fn)
            return decorate

        def plain(mode=True):
            def decorate(fn):
                return log(fn)(mode)
            return decorate

        @smart()
        def validate(net, x):
            mark(net(x))

        @plain()
        def train(net, x):
            mark(net(x))
    """)
    marks = [
        call for call in model.sites.calls if isinstance(call.node.func, cst.Name) and call.node.func.value == "mark"
    ]
    assert [model.autograd_off(call.context) for call in marks] == [True, False]


def test_a_backend_chosen_by_a_condition_is_waited_for_by_its_methods() -> None:
    either, unlike = shown("""
        def f(fast):
            backend = torch.cuda if fast else torch.xpu
            show(backend.synchronize)
            backend = torch.cuda if fast else torch.cpu
            show(backend)
    """)
    assert either.qual == "torch.cuda.synchronize"
    assert unlike.kind is Kind.UNKNOWN


def test_a_named_tuple_holds_what_it_is_given() -> None:
    (pair,) = shown("""
        import collections
        Pair = collections.namedtuple("Pair", ["left", "right"])

        def f(x):
            show(Pair(torch.zeros(3), 4))
    """)
    assert pair.kind is Kind.CONTAINER
    assert pair.items is not None
    assert [pair.items[key].kind for key in (0, 1, "left", "right")] == [Kind.TENSOR, Kind.NUMBER] * 2


def test_what_is_computed_with_a_tensor_on_the_host_is_on_the_host() -> None:
    mask, shifted, export = shown("""
        def f(x, n, limit):
            drawn = torch.randint(low=0, high=9, size=(n, 4))
            show(drawn >= limit.unsqueeze(-1))
            show(x.relu() + torch.tensor(1.0))
            show(torch._shape_as_tensor(x)[0])
    """)
    assert mask.on_host
    assert not shifted.on_host
    assert export.on_host


def test_what_follows_a_try_that_returns_is_a_recovery() -> None:
    assert heat("""
        class Net(nn.Module):
            def forward(self, x):
                try:
                    mark("tried")
                    return fast(x)
                except ImportError:
                    mark("handler")
                mark("recovery")
                return slow(x)

        class Plain(nn.Module):
            def forward(self, x):
                try:
                    y = fast(x)
                except ImportError:
                    y = slow(x)
                mark("after")
                return y
    """) == {"tried": True, "handler": False, "recovery": False, "after": True}


def test_a_sum_of_mappings_is_one() -> None:
    key, value = shown("""
        def f(rows):
            losses = torch.stack(rows).mean()
            for key, value in losses.items():
                show(key, value)
    """)
    assert key.kind is Kind.STRING
    assert value.kind is Kind.BATCH


def test_what_an_annotation_settles_and_what_callers_tell() -> None:
    flag, net, size, rate = shown("""
        class Net(nn.Module):
            def forward(self, x):
                return x

        def step(flag: bool, net: Net, size: torch.Size, rate: float):
            show(flag, net, size, rate)

        def run(x):
            step(x.exp(), load(x.exp()), load(x.exp()), x.exp())
    """)
    assert size.kind is Kind.SHAPE
    assert flag.kind is Kind.NUMBER
    assert net.kind is Kind.MODULE
    assert rate.kind is Kind.TENSOR  # numbers are annotated where tensors are passed


def test_what_a_value_is_known_to_be_stays_so_where_it_is_asked_whether_it_is_a_tensor() -> None:
    size, pair, other, unknown = shown("""
        def fold(x, shape, pair, feats, given):
            if isinstance(shape, torch.Tensor):
                show(shape)
            if torch.is_tensor(pair):
                show(pair)
            if not isinstance(feats, list):
                show(feats)
            if isinstance(given, torch.Tensor):
                show(given)

        def run(x):
            fold(x.exp(), x.shape, [3, 4], [x.exp()], load(x))
    """)
    assert size.kind is Kind.SHAPE
    assert pair.kind is Kind.CONTAINER
    assert other.on_host
    assert unknown.kind is Kind.TENSOR


def test_a_network_hangs_a_graph_on_what_it_makes_of_data() -> None:
    (made,) = shown("""
        class Down(nn.Module):
            def __init__(self, a, b):
                super().__init__()
                layers = [nn.Conv2d(a, b, 3), nn.LeakyReLU(0.2)]
                self.model = nn.Sequential(*layers)

            def forward(self, x):
                return self.model(x)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc, self.down = nn.Linear(3, 3), Down(3, 3)

            def forward(self, z):
                return self.down(self.fc(z))


        def run(rows):
            down = Down(3, 3)
            show(down(torch.randn(1, 3, 8, 8)))
    """)
    assert made.attached


def test_what_a_branch_is_told_of_an_entry_holds_there_alone() -> None:
    several, one, after, written = shown("""
        class Net(nn.Module):
            def forward(self, x: dict[str, torch.Tensor]):
                if isinstance(x["y"], (list, tuple)):
                    show(x["y"])
                else:
                    show(x["y"])
                show(x["y"])
                if isinstance(x["y"], list):
                    x["y"] = x["z"]
                    show(x["y"])
    """)
    assert several.kind is Kind.CONTAINER
    assert one.kind is Kind.TENSOR
    assert after.kind is Kind.TENSOR
    assert written.kind is Kind.TENSOR


def test_an_instance_of_one_of_several_classes_calls_each_of_them() -> None:
    assert heat("""
        class Sums:
            def update(self, x):
                mark("sums")

        class Means:
            def update(self, x):
                mark("means")

        class Unused:
            def update(self, x):
                mark("unused")

        class Trainer:
            def __init__(self, flag):
                if flag:
                    self.meter = Sums()
                else:
                    self.meter = Means()

            def train(self, net, feed, opt):
                for x in feed:
                    loss = net(x).mean()
                    loss.backward()
                    opt.step()
                    self.meter.update(loss)
    """) == {"sums": True, "means": True, "unused": False}


@pytest.mark.parametrize(
    ("loop", "place", "kind"),
    [
        ("for k in kept:\n        kept[k] = kept[k].cpu()", HOST, Kind.BATCH),
        ("for k, v in kept.items():\n        if torch.is_tensor(v):\n            kept[k] = v.cpu()", HOST, Kind.BATCH),
        ("for k in list(kept.keys()):\n        kept[k] = kept[k].cpu().numpy()", HOST, Kind.NDARRAY),
        (
            "for k in ('x', 'y'):\n        if k not in kept:\n            continue\n"
            "        if isinstance(kept[k], torch.Tensor):\n            kept[k] = kept[k].cpu().numpy()",
            HOST,
            Kind.NDARRAY,
        ),
        (
            "for k in ('x', 'y'):\n        if k == 'x':\n            kept[k] = kept[k].squeeze(1)\n"
            "        if isinstance(kept[k], torch.Tensor):\n            kept[k] = kept[k].cpu().numpy()",
            HOST,
            Kind.NDARRAY,
        ),
        ("for k in ('y', 'z'):\n        kept[k] = kept[k].cpu()", DEVICE, Kind.BATCH),
        ("for k, v in kept.items():\n        if v.ndim > 1:\n            kept[k] = v.cpu()", DEVICE | HOST, Kind.BATCH),
        ("for k in kept:\n        if not torch.is_tensor(kept[k]):\n            kept[k] = 1", DEVICE, Kind.BATCH),
        ("for k in kept:\n        other[k] = kept[k].cpu()", DEVICE, Kind.BATCH),
    ],
)
def test_a_loop_that_replaces_the_members_of_a_mapping(loop: str, place: int, kind: Kind) -> None:
    (member,) = shown(f"""
def run(net, x):
    kept = net.cuda()(x.cuda())
    other = {{}}
    {loop}
    show(kept["x"])
""")
    assert (member.device, member.kind) == (place, kind)


def test_parts_that_are_joined_lie_in_one_place() -> None:
    host, device, unknown = shown("""
        def f(x, rows):
            show(torch.cat([torch.tensor(rows), x.exp()]))
            show(torch.cat([x.cuda(), x.exp()]))
            show(torch.cat([x.exp(), x.log()]))
    """)
    assert host.on_host
    assert device.device == DEVICE
    assert not unknown.on_host


def test_an_array_is_annotated_by_its_class_or_by_what_makes_it() -> None:
    one, other = shown("""
        import numpy as np

        def f(a: np.ndarray, b: np.array):
            show(a, b)
    """)
    assert one.kind is Kind.NDARRAY
    assert other.kind is Kind.NDARRAY


def test_a_branch_for_tensors_on_the_host() -> None:
    host, device = shown("""
        class Net(nn.Module):
            def forward(self, x):
                if x.is_cpu:
                    show(x)
                else:
                    show(x)
    """)
    assert host.on_host
    assert device.device == DEVICE


def test_what_a_file_holds_under_a_key_is_unknown() -> None:
    whole, best, epoch, asked = shown("""
        def resume(path):
            kept = torch.load(path, map_location="cpu")
            show(kept)
            show(kept["best"], kept.get("epoch", -1) + 1)
            if not isinstance(kept, dict):
                kept = {"model": kept.model}
            show(kept.get("epoch", -1) + 1)
    """)
    assert asked.kind is Kind.UNKNOWN
    assert whole.kind is Kind.BATCH
    assert best.kind is Kind.UNKNOWN
    assert epoch.kind is Kind.UNKNOWN


def test_what_is_moved_without_waiting_is_no_module() -> None:
    batch, cast, module, asked = shown("""
        def f(x, y, place, kind):
            show(x.to(place, non_blocking=True))
            show(y.to(device=place, dtype=kind, non_blocking=True))
            show(x.to(place))
            show((x.to(place, non_blocking=True) > 0).sum())
    """)
    assert batch.kind is Kind.BATCH
    assert cast.kind is Kind.TENSOR
    assert module.kind is Kind.UNKNOWN
    assert asked.conf is Confidence.LIKELY


def test_tokenizers_work_on_the_host() -> None:
    tokens, moved = shown("""
        def f(tokenizer, texts, device):
            tokens = tokenizer(texts, return_tensors="pt")
            show(tokens)
            show(tokens.to("cuda"))
    """)
    assert tokens.on_host
    assert moved.device == DEVICE


def test_a_loop_over_levels_in_a_modules_method_is_no_loop_over_steps() -> None:
    assert heat("""
        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.criterion = nn.MSELoss()

            def loss_by_feature(self, scores, targets):
                total = 0.0
                for score, target in zip(scores, targets):
                    total += self.criterion(score, target)
                    mark("level")
                return total

            @torch.no_grad()
            def generate(self, x):
                for _ in range(100):
                    x = self.criterion(x, x)
                    mark("token")
    """) == {"level": False, "token": True}
