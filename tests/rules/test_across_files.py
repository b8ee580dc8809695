"""What makes a line cost stands in another file: the rules find it there as they do in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.engine.run import check
from torchlint.engine.selection import catalogue
from torchlint.engine.settings import Settings

_CODES = frozenset(info.code for info in catalogue())
_STEPS = "        loss.backward()\n        optimizer.step()\n"
_FEED = (
    "from torch.utils.data import DataLoader\nfrom here import Rows\n\n\n"
    "def feed(rows):\n    return DataLoader(Rows(rows), num_workers=4, pin_memory=True, persistent_workers=True)\n"
)
_ROWS = (
    "import json\nimport torch\nfrom torch.utils.data import Dataset\nfrom work import ready\n\n\n"
    "class Rows(Dataset):\n    def __init__(self, name):\n"
    "        with open(name) as lines:\n            self.kept = [json.loads(line) for line in lines]  # TL510\n\n"
    "    def __getitem__(self, at):\n        return torch.tensor(self.kept[at]).cuda(), ready(self.kept[at])  # TL506\n"
)
_COMPILED = (
    "import torch\nfrom here import block\n\n\ndef train(optimizer, batches):\n    fast = torch.compile(block)\n"
    f"    for x in batches:\n        loss = fast(x.cuda()).mean()\n{_STEPS}"
)

# What is written in a file of each program; the lines that are reported say so.
_PROGRAMS = {
    "a loader's workers": {
        "feed.py": _FEED,
        "here.py": _ROWS,
        "work.py": "import torch\n\n\ndef ready(row):\n    return torch.as_tensor(row).to('cuda')  # TL506\n",
    },
    "the work of a sample": {
        "main.py": "from torch.utils.data import DataLoader\nfrom here import Rows\n\n\ndef feed(rows):\n"
        "    return DataLoader(Rows(rows), batch_size=8)  # TL501\n",
        "here.py": "from PIL import Image\nfrom torch.utils.data import Dataset\n\n\nclass Rows(Dataset):\n"
        "    def __init__(self, names):\n        self.names = names\n\n    def __getitem__(self, at):\n"
        "        return Image.open(self.names[at]).resize((64, 64))\n",
    },
    "what is compiled": {
        "main.py": _COMPILED,
        "here.py": 'import torch\n\n\ndef block(x):\n    y = x @ x.T\n    print("in block", y.shape)  # TL803\n'
        "    if y.sum() > 0:  # TL802\n        y = y * 2\n    scale = float(y.sum())  # TL801\n    return y * scale\n",
    },
    "a hook": {
        "main.py": "import torch\nfrom here import keep\n\n\ndef train(model, optimizer, batches):\n"
        "    model.layer.register_forward_hook(keep)\n"
        f"    for x in batches:\n        loss = model(x.cuda()).mean()\n{_STEPS}",
        "here.py": "import torch\nPEAKS = []\n\n\ndef keep(module, args, output):\n"
        "    PEAKS.append(output.abs().amax())  # TL605\n",
    },
    "a clock": {
        "ticks.py": "import time\n\n\ndef now():\n    return time.perf_counter()\n",
        "here.py": "import torch\nfrom ticks import now\n\n\ndef measure(model, x):\n    model(x.cuda())\n"
        "    torch.cuda.synchronize()\n    start = now()\n    for _ in range(9):\n        y = model(x.cuda())\n"
        "    print(now() - start)  # TL701\n    return y\n",
    },
    "a mixin beside the base": {
        "base.py": "class Base:\n    def fit(self, loader):\n        for x in loader:\n"
        "            loss = self.net(x.cuda()).mean()\n            loss.backward()\n            self.after(loss)\n",
        "here.py": "import torch\n\n\nclass Logs:\n    def after(self, loss):\n        print(loss.item())  # TL101\n",
        "main.py": "from base import Base\nfrom here import Logs\n\n\nclass Trainer(Logs, Base):\n    pass\n",
    },
    "arguments given beforehand": {
        "here.py": "import torch\n\n\ndef report(tag, loss, digits):\n"
        "    print(tag, round(loss.item(), digits))  # TL101\n",
        "half.py": "from functools import partial\nfrom here import report\n\n"
        "say = partial(report, 'loss', digits=3)\n",
        "main.py": "import torch\nfrom half import say\n\n\ndef train(net, optimizer, batches):\n"
        f"    for x in batches:\n        loss = net(x.cuda()).mean()\n{_STEPS}        say(loss)\n",
    },
    "a criterion": {
        "made.py": "import torch\n\nBCE = torch.nn.BCELoss()\n",
        "here.py": "import torch\nfrom made import BCE\n\n\ndef train(body, optimizer, batches):\n"
        f"    for x, y in batches:\n        loss = BCE(torch.sigmoid(body(x.cuda())), y)  # TL308\n{_STEPS}",
    },
    "arrays": {
        "made.py": "import numpy as np\n\n\ndef frame(at):\n    return np.asarray([at, 2])\n",
        "here.py": "import torch\nfrom made import frame\n\n\ndef sample(picks):\n"
        "    return torch.tensor([frame(at) for at in picks])  # TL208\n",
    },
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_rule_sees_what_another_file_tells(tmp_path: Path, name: str) -> None:
    marked = set()
    for path, text in _PROGRAMS[name].items():
        (tmp_path / path).write_text(text)
        rows = enumerate(text.splitlines(), start=1)
        marked |= {(path, row, line.rpartition("# ")[2]) for row, line in rows if "# TL" in line}
    codes = {code for _, _, code in marked}
    found = check([tmp_path], Settings(root=tmp_path, rules=_CODES, jobs=1)).findings
    assert {(Path(f.filename).name, f.start.row, f.code) for f in found if f.code in codes | {"TL104"}} == marked


def test_a_local_name_of_another_function_is_another(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\nfrom torch.nn.parallel import DistributedDataParallel\n\n\n"
        "def wrapped(net, rank):\n    net = DistributedDataParallel(net, device_ids=[rank])\n    return net\n\n\n"
        "def single(net, opt, feed, every):\n    net = net.cuda()\n    for k, x in enumerate(feed):\n"
        "        (net(x).mean() / every).backward()\n        if (k + 1) % every == 0:\n"
        "            opt.step()\n            opt.zero_grad()\n"
    )
    assert not check([tmp_path], Settings(root=tmp_path, rules=frozenset({"TL901"}), jobs=1)).findings
