"""TL705: launches that block, by the program itself."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "at the top": """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL705
import torch
""",
    "setdefault": """
from os import environ
environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")  # TL705
""",
    "a table": """
import os
os.environ.update({"CUDA_VISIBLE_DEVICES": "0", "CUDA_LAUNCH_BLOCKING": "1"})  # TL705
""",
    "putenv": """
import os as system
system.putenv("CUDA_LAUNCH_BLOCKING", "1")  # TL705
""",
    "by a name, through str": """
import os
KEY = "CUDA_LAUNCH_BLOCKING"
os.environ[KEY] = str(1)  # TL705
""",
    "in a helper": """
import os
def setup(gpu):
    os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL705
""",
    "a table by a name": """
import os
VARS = dict(CUDA_LAUNCH_BLOCKING="1")
os.environ.update(VARS)  # TL705
""",
}

SILENT = {
    "switched off": """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "0"
""",
    "an option decides": """
import os, argparse
def main(args):
    if args.debug:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
""",
    "it is only read": """
import os
print(os.environ.get("CUDA_LAUNCH_BLOCKING", "1"))
""",
    "another process's environment": """
import os
def spawn(args):
    env = dict(os.environ, CUDA_LAUNCH_BLOCKING="1")
    return env
""",
    "depends on the environment": """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "1" if os.environ.get("DEBUG") else "0"
""",
    "another variable decides": """
import os
blocking = os.getenv("BLOCK", "0")
os.environ["CUDA_LAUNCH_BLOCKING"] = blocking
""",
    "a recovery": """
import os
def run():
    try:
        step()
    except RuntimeError:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
        step()
""",
    "taken back": """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
del os.environ["CUDA_LAUNCH_BLOCKING"]
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL705")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL705")
