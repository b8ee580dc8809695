"""The worker: who is served next, and what becomes of work that nobody waits for any more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.workspace import Workspace

from tests.lsp.conftest import LOOP, PATIENCE
from torchlint.engine.job import Job
from torchlint.engine.run import check
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence, Finding, Impact, Position
from torchlint.lsp import language_server, tasks
from torchlint.lsp.documents import Unit, followed
from torchlint.lsp.language_server import Server
from torchlint.lsp.worker import Linted, Worker

SETTINGS = Settings(root=Path(), rules=frozenset({"TL601"}))


@pytest.mark.asyncio
async def test_who_asked_last_is_served_next() -> None:
    worker = Worker()
    served: list[int] = []

    async def ask(number: int) -> None:
        async with worker.turn():
            served.append(number)
            await asyncio.sleep(0)

    first = [asyncio.ensure_future(ask(number)) for number in range(4)]
    await asyncio.sleep(0)
    first[2].cancel()
    await asyncio.wait(first)
    assert served == [0, 3, 1]
    await ask(5)
    assert served[-1] == 5


@pytest.mark.asyncio
async def test_work_that_is_cancelled_ends_and_the_next_is_done() -> None:
    worker = Worker()
    job = Job(Path("a.py"), "a.py", SETTINGS, LOOP.encode())
    try:
        call = asyncio.ensure_future(worker.call("lint", job))
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        linted = await asyncio.wait_for(worker.call("lint", job), PATIENCE)
        assert [finding.code for finding in linted.findings] == ["TL601"]
        with pytest.raises(RuntimeError, match="UnreadableError"):
            await worker.call("fix", Job(Path("a.ipynb"), "a.ipynb", SETTINGS, b"{"))
    finally:
        await worker.stop()


class Endless(Worker):
    """A worker whose tasks never end."""

    ended = 0

    async def call_now(self, *_: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1


@pytest.mark.asyncio
async def test_a_long_task_ends_when_the_text_has_changed_or_patience_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_server, "_STALE_AFTER", 0.01)
    server = Server(isolated=True)
    server.worker = worker = Endless()
    workspace = Workspace(None)
    server.protocol._workspace = workspace
    uri = "file:///nowhere/a.py"
    document = types.TextDocumentItem(uri=uri, language_id="python", version=1, text=LOOP)
    workspace.put_text_document(document)
    unit = Unit(uri, is_notebook=False)
    parts = unit.current(workspace)
    assert parts[uri].lines is parts[uri].lines  # split once, however many findings ask for their rows
    stamp = server._stamp(parts, SETTINGS)

    run = asyncio.ensure_future(server._lint(unit, parts, SETTINGS, stamp))
    await asyncio.sleep(0.1)
    assert not run.done()
    document.text = "x"
    workspace.put_text_document(document)
    assert await run is None
    assert worker.ended == 1

    monkeypatch.setattr(language_server, "_PATIENCE", 0.0)
    settings = Settings(root=Path(), rules=frozenset({"TL003"}))
    linted = await server._lint(unit, parts, settings, server._stamp(unit.current(workspace), settings))
    assert isinstance(linted, Linted)
    assert [finding.code for finding in linted.findings] == ["TL003"]
    assert worker.ended == 2


def finding(row: int) -> Finding:
    return Finding(
        code="TL101",
        name="fake",
        message="m",
        filename="a.py",
        start=Position(row, 1),
        end=Position(row, 2),
        bottleneck="sync",
        confidence=Confidence.SURE,
        impact=Impact.LOW,
        fingerprint="",
    )


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("abcd", [1, 2, 3, 4]),
        ("xabcd", [2, 3, 4, 5]),
        ("abcdx", [1, 2, 3, 4]),
        ("axbcd", [1, 3, 4, 5]),
        ("axcd", [1, 3, 4]),
        ("acd", [1, 2, 3]),
        ("ad", [1, 2]),
        ("xy", []),
        ("", []),
        ("aabcd", [1, 3, 4, 5]),
    ],
)
def test_findings_follow_their_rows(after: str, expected: list[int]) -> None:
    moved = followed([finding(row) for row in (1, 2, 3, 4)], "abcd", after)
    assert [one.start.row for one in moved] == expected


def test_a_document_is_linted_with_its_project_once_that_was_linted_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helpers.py").write_text("import torch\n\n\ndef log(loss):\n    print(loss.item())\n")
    (tmp_path / "train.py").write_text(
        "import torch\nfrom helpers import log\n\n\ndef train(net, loader):\n    for batch in loader:\n"
        "        loss = net(batch.cuda()).mean()\n        loss.backward()\n        log(loss)\n"
    )
    settings = Settings(root=tmp_path, rules=frozenset({"TL101"}), cache_dir=tmp_path / ".cache")
    job = Job(tmp_path / "helpers.py", "helpers.py", settings, (tmp_path / "helpers.py").read_bytes())
    assert tasks.lint(job).findings == ()
    check([tmp_path], settings)
    assert [finding.start.row for finding in tasks.lint(job).findings] == [5]
