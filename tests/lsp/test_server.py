"""The language server end to end: what an editor sends, and what it sees."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.lsp.conftest import LOOP, ROW, Editor, codes
from torchlint.engine.regions import code_hash

pytestmark = pytest.mark.asyncio

PULLING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)
VERSIONED = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    )
)
RESOLVING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"])
        )
    )
)


def encoding(*names: str) -> types.ClientCapabilities:
    return types.ClientCapabilities(general=types.GeneralClientCapabilities(position_encodings=list(names)))


async def test_findings_are_shown_as_the_text_changes(editor: Editor) -> None:
    await editor.start()
    uri = editor.open("a.py", LOOP)
    (found,) = await editor.shown(uri)
    assert codes([found]) == [("TL601", ROW)]
    assert (found.source, found.severity) == ("torchlint", types.DiagnosticSeverity.Information)
    assert found.code_description is not None
    (why,) = found.related_information or ()
    assert (why.location.uri, why.location.range.start.line) == (uri, 5)

    editor.type(uri, LOOP.replace("+= loss", "+= loss.item()"))
    assert "TL601" not in dict(codes(await editor.shown(uri)))
    editor.type(uri, "\n" + LOOP)
    assert codes(await editor.shown(uri)) == [("TL601", ROW + 1)]
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await editor.until(lambda: not editor.published[uri].diagnostics)


async def test_many_keystrokes_end_with_the_findings_of_the_last(editor: Editor) -> None:
    await editor.start()
    uri = editor.open("a.py", LOOP)
    for count in range(60):
        editor.type(uri, "\n" * count + LOOP)
    assert codes(await editor.shown(uri)) == [("TL601", ROW + 59)]
    assert editor.times[uri] < 60  # most of them were out of date before their turn came


@pytest.mark.parametrize("select", [["TL0", "TL6"], ["TL6"]])  # with and without the rule that reports them
async def test_syntax_errors_leave_the_last_good_findings_where_they_moved(editor: Editor, select: list[str]) -> None:
    await editor.start(options={"settings": {"select": select}})
    uri = editor.open("a.py", LOOP)
    await editor.shown(uri)
    editor.type(uri, "def f(\n" + LOOP)
    assert codes(await editor.shown(uri)) == [("TL601", ROW + 1)]
    editor.type(uri, "def f(\n\n" + LOOP)
    assert codes(await editor.shown(uri)) == [("TL601", ROW + 2)]
    assert await editor.actions(uri, ROW + 2) == []  # nothing is edited that was not read
    editor.type(uri, "def f(): ...\n\n" + LOOP)
    assert codes(await editor.shown(uri)) == [("TL601", ROW + 2)]
    assert await editor.actions(uri, ROW + 2)

    broken = editor.open("b.py", "import torch\ndef f(:\n    x.item()\n")
    assert codes(await editor.shown(broken)) == ([("TL003", 1)] if "TL0" in select else [])


async def test_findings_are_pulled_where_the_editor_asks_for_them(editor: Editor) -> None:
    await editor.start(PULLING)
    uri = editor.open("a.py", LOOP)

    async def pull(previous: str | None = None) -> Any:
        return await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
        )

    first = await pull()
    assert codes(first.items) == [("TL601", ROW)]
    again = await pull(first.result_id)
    assert (again.kind, again.result_id) == ("unchanged", first.result_id)
    editor.type(uri, "\n" + LOOP)
    moved = await pull(first.result_id)
    assert codes(moved.items) == [("TL601", ROW + 1)]
    assert uri not in editor.published

    (editor.folder / "torchlint.toml").write_text('ignore = ["TL601"]\n')
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    await editor.until(lambda: editor.refreshed)
    assert codes((await pull()).items) == []


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [(("utf-8", "utf-16"), "utf-8"), (("utf-16",), "utf-16"), (("utf-32", "utf-8"), "utf-32"), ((), "utf-16")],
)
async def test_positions_are_in_the_encoding_that_was_agreed(
    editor: Editor, wanted: tuple[str, ...], chosen: str
) -> None:
    result = await editor.start(encoding(*wanted) if wanted else None)
    assert result.capabilities.position_encoding == chosen
    uri = editor.open("a.py", LOOP)
    text = LOOP.replace("    total += loss", "    '𝕏𝕏é'; total += loss")
    editor.type(uri, text)
    (found,) = await editor.shown(uri)
    line = text.split("\n")[ROW]
    before = line[: line.index("total")]
    size = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2, "utf-32": len(before)}[
        chosen
    ]
    assert found.range.start == types.Position(ROW, size)
    assert "retained-graph-sum" in await editor.hover(uri, ROW, size)
    assert await editor.hover(uri, ROW, size - 1) == ""


async def test_rows_end_where_python_and_editors_end_them(editor: Editor) -> None:
    await editor.start()
    uri = editor.open("a.py", LOOP)
    editor.type(uri, 's = "\u2028\x0b\x85"  # \x0c\n' + LOOP.replace("\n", "\r\n"))
    assert codes(await editor.shown(uri)) == [("TL601", ROW + 1)]


async def test_a_quick_fix_changes_what_is_found_and_nothing_else(editor: Editor) -> None:
    await editor.start(VERSIONED)
    text = LOOP.replace("\n    total", "\n    '𝕏'; total")
    uri = editor.open("a.py", text)
    await editor.shown(uri)
    fixes = [action for action in await editor.actions(uri, ROW, ["quickfix"]) if action.is_preferred]
    (fix,) = fixes
    assert fix.kind == "quickfix"
    assert codes(fix.diagnostics or []) == [("TL601", ROW)]
    fixed = editor.applied(fix, uri)
    assert fixed == text.replace("total += loss", "total += loss.detach()")
    editor.type(uri, fixed)
    assert codes(await editor.shown(uri)) == []
    assert await editor.actions(uri, 0, ["quickfix"]) == []


async def test_a_line_can_be_suppressed(editor: Editor) -> None:
    await editor.start()
    uri = editor.open("a.py", LOOP)
    (action,) = [action for action in await editor.actions(uri, ROW) if action.title.startswith("Suppress")]
    suppressed = editor.applied(action, uri)
    assert suppressed == LOOP.replace("total += loss", "total += loss  # torchlint: ignore[TL601]")
    editor.type(uri, suppressed)
    assert codes(await editor.shown(uri)) == []


@pytest.mark.parametrize("capabilities", [None, RESOLVING])
@pytest.mark.parametrize("end", ["\n", ""])
async def test_everything_is_fixed_at_once(
    editor: Editor, capabilities: types.ClientCapabilities | None, end: str
) -> None:
    await editor.start(capabilities)
    again = LOOP[LOOP.index("total") :].replace("total", "𝕏total")
    text = (LOOP + again).rstrip() + end
    uri = editor.open("a.py", text)
    assert len(await editor.shown(uri)) == 2
    (action,) = await editor.actions(uri, 0, ["source.fixAll"])
    assert action.kind == "source.fixAll.torchlint"
    assert (action.edit is None) == (capabilities is RESOLVING)
    if capabilities is RESOLVING:
        action = await editor.client.code_action_resolve_async(action)
    assert editor.applied(action, uri) == text.replace("total += loss", "total += loss.detach()")
    assert await editor.actions(uri, 0, ["refactor"]) == []
    assert await editor.actions(uri, 0, ["source.fixAll.ruff"]) == []


async def test_a_hover_shows_the_page_and_what_was_measured(editor: Editor) -> None:
    await editor.start()
    uri = editor.open("a.py", LOOP)
    (found,) = await editor.shown(uri)
    page = await editor.hover(uri, ROW, 6)
    assert "retained-graph-sum (TL601)" in page
    assert "## Why it costs" in page
    assert "```python inputs" not in page
    assert "Measured:" not in page
    assert await editor.hover(uri, 0, 3) == ""

    assert isinstance(found.data, dict)
    ratio = {"median": 1.21, "low": 1.18, "high": 1.24}
    entry = {"fingerprint": found.data["fingerprint"], "verdict": "confirmed", "rung": "in place", "ratio": ratio,
             "code_hash": code_hash(LOOP.splitlines(), ROW + 1)}  # fmt: skip
    evidence = {"version": 1, "environment": {"name": "NVIDIA H200", "torch": "2.13.0"}, "findings": [entry]}
    (editor.folder / "evidence.json").write_text(json.dumps(evidence))
    (editor.folder / "torchlint.toml").write_text('evidence = "evidence.json"\n')
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    page = await editor.hover(uri, ROW, 6)
    assert "confirmed" in page
    assert "1.21" in page
    assert "NVIDIA H200" in page


async def test_a_hover_on_a_suppression_shows_what_it_names(editor: Editor) -> None:
    await editor.start()
    comment = "x = 1  # torchlint: ignore[TL601, sync, nothing-such]  # noqa: E501, TL101"
    uri = editor.open("a.py", f"{LOOP}{comment}\n")
    row = LOOP.count("\n")
    assert "retained-graph-sum (TL601)" in await editor.hover(uri, row, comment.index("TL601") + 2)
    group = await editor.hover(uri, row, comment.index("sync") + 1)
    assert "**TL101** sync-scalar-read" in group
    assert "**TL601**" not in group
    assert "no rule is called" in await editor.hover(uri, row, comment.index("nothing") + 1)
    assert "sync-scalar-read (TL101)" in await editor.hover(uri, row, comment.index("TL101") + 1)


async def test_the_configuration_is_read_again_when_it_changes(editor: Editor) -> None:
    await editor.start(
        types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
            )
        )
    )
    await editor.until(lambda: "workspace/didChangeWatchedFiles" in editor.registered)
    uri = editor.open("a.py", LOOP)
    assert codes(await editor.shown(uri)) == [("TL601", ROW)]

    config = editor.folder / "torchlint.toml"
    config.write_text('ignore = ["TL601"]\n')
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    await editor.until(lambda: not editor.published[uri].diagnostics)

    config.write_text("ignor = []\n")
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    await editor.until(lambda: editor.messages)
    assert "torchlint.toml" in editor.messages[0]
    assert "ignor" in editor.messages[0]

    config.unlink()
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await editor.until(lambda: editor.published[uri].diagnostics)
    assert len(editor.messages) == 1


async def test_the_editor_has_settings_of_its_own(editor: Editor) -> None:
    await editor.start(options={"settings": {"ignore": ["TL601"]}})
    uri = editor.open("a.py", LOOP)
    assert codes(await editor.shown(uri)) == []
    editor.client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(settings={"torchlint": {"select": ["TL6"]}})
    )
    await editor.until(lambda: editor.published[uri].diagnostics)


async def test_each_workspace_folder_has_its_configuration(editor: Editor) -> None:
    one, two = editor.folder / "one", editor.folder / "two"
    for folder in (one, two):
        folder.mkdir()
    (two / "pyproject.toml").write_text('[tool.torchlint]\nignore = ["TL601"]\nexclude = ["gen"]\n')
    await editor.start(folders=[one, two])
    assert codes(await editor.shown(editor.open("one/a.py", LOOP))) == [("TL601", ROW)]
    assert codes(await editor.shown(editor.open("two/a.py", LOOP))) == []


async def test_documents_that_lie_nowhere_or_elsewhere_are_linted(editor: Editor) -> None:
    folder = editor.folder / "workspace"
    folder.mkdir()
    (folder / "torchlint.toml").write_text('exclude = ["a.py"]\n')
    (editor.folder / "torchlint.toml").write_text('ignore = ["TL101"]\n')
    await editor.start(folders=[folder])
    text = LOOP.replace("total += loss", "total += loss; loss.item()")
    outside = editor.open("a b#ü.py", text)
    assert codes(await editor.shown(outside)) == [("TL601", ROW)]
    assert codes(await editor.shown(editor.open("workspace/a.py", text))) == []
    for uri in ("untitled:Untitled-1", "untitled:/gone/a%20b.py", "inmemory://model/1", "git:/gone/a.py?~"):
        editor.show(uri, text)
        found = await editor.shown(uri)
        assert codes(found) == [("TL601", ROW), ("TL101", ROW)]
        assert {why.location.uri for one in found for why in one.related_information or ()} == {uri}
        assert {action.title for action in await editor.actions(uri, ROW)} >= {"Suppress TL101 on this line"}


async def test_what_is_opened_and_closed_in_haste_is_shown_once_it_stays(editor: Editor) -> None:
    await editor.start()
    for count in range(20):
        uri = editor.open("a.py", LOOP + f"# {count}\n")
        asked = asyncio.ensure_future(editor.actions(uri, ROW))
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        await asked
    editor.open("a.py", "\n" + LOOP)
    wanted = [("TL601", ROW + 1)]
    await editor.until(lambda: uri in editor.published and codes(editor.published[uri].diagnostics) == wanted)


async def test_what_is_excluded_or_in_the_baseline_is_not_shown(editor: Editor) -> None:
    (editor.folder / "torchlint.toml").write_text('exclude = ["gen"]\nbaseline = "known.json"\n')
    (editor.folder / "known.json").write_text(
        json.dumps({"version": 1, "files": {"a.py": [{"code": "TL601", "line": "total+=loss"}]}})
    )
    await editor.start()
    assert codes(await editor.shown(editor.open("gen/b.py", LOOP))) == []
    assert codes(await editor.shown(editor.open("a.py", LOOP))) == []
    assert codes(await editor.shown(editor.open("b.py", LOOP))) == [("TL601", ROW)]


async def test_a_text_that_would_kill_the_parser_costs_a_finding(editor: Editor) -> None:
    await editor.start()
    uri = editor.open("a.py", "import torch\nx = " + "[" * 3000 + "]" * 3000 + "\n")
    assert dict(codes(await editor.shown(uri))) == {"TL003": 1}
    assert codes(await editor.shown(editor.open("b.py", LOOP))) == [("TL601", ROW)]


async def test_a_worker_that_dies_is_started_again(editor: Editor) -> None:
    await editor.start()
    uri = editor.open("a.py", LOOP)
    await editor.shown(uri)
    assert sys.platform == "linux", "looks for the worker in /proc"
    server = editor.client._server
    assert server is not None
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    (worker,) = map(int, children)
    os.kill(worker, signal.SIGKILL)
    editor.type(uri, "\n" + LOOP)
    await editor.shown(uri)
    editor.type(uri, "\n\n" + LOOP)
    assert codes(await editor.shown(uri)) == [("TL601", ROW + 2)]


async def test_other_languages_are_left_alone(editor: Editor) -> None:
    await editor.start()
    toml = editor.uri("pyproject.toml")
    editor.client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri=toml, language_id="toml", version=1, text="x ="))
    )
    await editor.shown(editor.open("a.py", LOOP))
    assert toml not in editor.published
    assert await editor.actions(toml, 0) == []
    assert await editor.hover(toml, 0, 0) == ""


@pytest.mark.parametrize("editor", [["--isolated"]], indirect=True)
async def test_isolated_it_reads_no_configuration(editor: Editor) -> None:
    (editor.folder / "torchlint.toml").write_text('ignore = ["TL601"]\n')
    await editor.start()
    assert codes(await editor.shown(editor.open("a.py", LOOP))) == [("TL601", ROW)]
