"""What is left when an editor, or the server, ends without a word: nothing."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys

import pytest

from tests.lsp.conftest import PATIENCE, Editor
from torchlint.lsp.worker import _LENGTH

# A worker whose task has no end.
BUSY = """
import threading
from torchlint.lsp import tasks, worker
tasks.lint = threading.Event().wait
worker.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="elsewhere only the closed streams tell")
@pytest.mark.asyncio
async def test_the_server_ends_with_its_editor_though_the_streams_stay_open(editor: Editor) -> None:
    idle = [sys.executable, "-c", "input()"]
    with subprocess.Popen(idle, stdin=subprocess.PIPE) as other:
        await editor.start(process=other.pid)
        server = editor.client._server
        assert server is not None
        assert server.returncode is None
        other.kill()
    assert await asyncio.wait_for(server.wait(), PATIENCE) == 1


@pytest.mark.skipif(os.name != "posix", reason="a closed pipe is not told elsewhere")
def test_the_worker_ends_with_its_server_in_the_middle_of_a_task() -> None:
    worker = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert worker.stdin is not None
    body = pickle.dumps(("lint", ()))
    worker.stdin.write(_LENGTH.pack(len(body)) + body)
    worker.stdin.close()
    assert worker.wait(PATIENCE) == 0
