"""Rules that judge a whole file see what the files that are read with it say: where that is set, used or run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlint.engine.run import check
from torchlint.engine.settings import Settings

STEP = """\
net = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters())


def train(loader):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
"""
SCALED = """\
def train(net, loader, optimizer):
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = net(x.cuda()).sum()
        {scale}
        optimizer.step()
"""

CONVOLUTIONS = "net = torch.nn.Sequential(torch.nn.Conv2d(8, 8, 3), torch.nn.ReLU())\n"
CAST = """\
def run(feed):
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        return [net(x) for x in feed]
"""

CASES = {
    "a scaler of another file than its autocast": {
        "scale.py": "scaler = torch.amp.GradScaler('cuda')  # TL403\n",
        "train.py": "from scale import scaler\n\n\n" + SCALED.format(scale="scaler.scale(loss).backward()"),
    },
    "a scaler that the file with the autocast does not use": {
        "scale.py": "scaler = torch.amp.GradScaler('cuda')\n",
        "train.py": "import scale\n\n\n" + SCALED.format(scale="loss.backward()"),
    },
    "a loader that another file runs through once per epoch": {
        "data.py": "def make(rows):\n    return torch.utils.data.DataLoader(rows, 8, num_workers=4)  # TL507\n",
        "train.py": "from data import make\n" + STEP + "\n\nloader = make(range(9))\n"
        "for epoch in range(9):\n    for x, y in loader:\n        net(x.cuda()).sum().backward()\n"
        "        optimizer.step()\n",
    },
    "algorithms that a helper forces on what another file trains": {
        "seeds.py": "def seed():\n    torch.use_deterministic_algorithms(True)  # TL406\n",
        "train.py": "from seeds import seed\n" + STEP + "\n\nseed()\n",
    },
    "algorithms that a helper forces when nobody calls it": {
        "seeds.py": "def seed():\n    torch.use_deterministic_algorithms(True)\n",
        "train.py": "import seeds\n" + STEP,
    },
    "a network of halves that another file runs": {
        "net.py": CONVOLUTIONS + "net.cuda()  # TL310\n",
        "run.py": "from net import net\n" + CAST,
    },
    "a layout that another file speaks of": {
        "net.py": CONVOLUTIONS + "net.cuda()\n",
        "run.py": "from net import net\n" + CAST.replace("(x)", "(x.to(memory_format=torch.channels_last))"),
    },
    "halves of another network": {
        "net.py": CONVOLUTIONS + "net.cuda()\n",
        "run.py": "import net\n" + CAST.replace("net(", "judge(").replace("feed", "judge, feed"),
    },
    "a precision that no file sets": {
        "setup.py": "rate = 0.1\n",
        "train.py": "import setup\n" + STEP.replace("8, 8)\n", "8, 8)\nnet.cuda()  # TL401\n", 1),
    },
    "a precision that another file sets": {
        "setup.py": "torch.set_float32_matmul_precision('high')\n",
        "train.py": "import setup\n" + STEP.replace("8, 8)\n", "8, 8)\nnet.cuda()\n", 1),
    },
}


@pytest.mark.parametrize("name", CASES)
def test_what_another_file_tells_counts(tmp_path: Path, name: str) -> None:
    files = {file: "import torch\n" + text for file, text in CASES[name].items()}
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    rules = frozenset({"TL310", "TL401", "TL403", "TL406", "TL507"})
    result = check([tmp_path], Settings(root=tmp_path, rules=rules, jobs=1))
    assert result.errors == []
    marked = {
        (file, row, mark[1])
        for file, text in files.items()
        for row, line in enumerate(text.splitlines(), 1)
        if (mark := re.search(r"# (TL\d+)$", line))
    }
    assert {(Path(f.filename).name, f.start.row, f.code) for f in result.findings} == marked
