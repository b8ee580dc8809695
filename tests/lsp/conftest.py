"""An editor that speaks the protocol with a real server process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient

PATIENCE = 60.0  # seconds; a busy machine is no failure

# `total` grows by a graph on every step: TL601, with a safe repair, on the last row.
LOOP = """\
import torch

model = torch.nn.Linear(4, 1).cuda()
loader = [torch.ones(4, 4)] * 8
total = 0.0
for x in loader:
    loss = model(x).mean()
    loss.backward()
    total += loss
"""
ROW = 8  # where it pays, from 0


class Editor:
    """What a test does in an editor whose workspace is `folder`."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.times: dict[str, int] = {}  # how often diagnostics were published for a document
        self.messages: list[str] = []
        self.registered: list[str] = []
        self.refreshed = 0
        self._news = asyncio.Condition()
        self.texts: dict[str, tuple[int, str]] = {}

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def on_published(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = params
            self.times[params.uri] = self.times.get(params.uri, 0) + 1
            await self._tell()

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        async def on_message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            await self._tell()

        @client.feature(types.WINDOW_LOG_MESSAGE)
        async def on_log(params: types.LogMessageParams) -> None:
            self.messages.append(params.message)
            await self._tell()

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        async def on_registered(params: types.RegistrationParams) -> None:
            self.registered += (registration.method for registration in params.registrations)
            await self._tell()

        @client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        async def on_refresh(_params: None) -> None:
            self.refreshed += 1
            await self._tell()

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def until(self, happened: Callable[[], Any]) -> None:
        """Wait until something is so."""
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(lambda: bool(happened())), PATIENCE)

    async def start(
        self,
        capabilities: types.ClientCapabilities | None = None,
        options: Any = None,
        folders: Sequence[Path] | None = None,
        process: int | None = None,
    ) -> types.InitializeResult:
        return await self.client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities or types.ClientCapabilities(),
                root_uri=self.folder.as_uri(),
                process_id=process,
                initialization_options=options,
                workspace_folders=[
                    types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name) for folder in folders or (self.folder,)
                ],
            )
        )

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> str:
        return self.show(self.uri(name), text)

    def show(self, uri: str, text: str) -> str:
        self.texts[uri] = (1, text)
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri=uri, language_id="python", version=1, text=text))
        )
        return uri

    def type(self, uri: str, text: str) -> None:
        """The whole text as it is after a change."""
        version = self.texts[uri][0] + 1
        self.texts[uri] = (version, text)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(uri=uri, version=version),
                [types.TextDocumentContentChangeWholeDocument(text=text)],
            )
        )

    async def shown(self, uri: str) -> list[types.Diagnostic]:
        """The diagnostics of the newest version."""
        await self.until(lambda: uri in self.published and self.published[uri].version == self.texts[uri][0])
        return list(self.published[uri].diagnostics)

    async def actions(self, uri: str, row: int, only: Sequence[str] | None = None) -> list[types.CodeAction]:
        at = types.Position(row, 0)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri), types.Range(at, at), types.CodeActionContext([], only=only)
            )
        )
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    async def hover(self, uri: str, row: int, column: int) -> str:
        found = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(row, column))
        )
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def applied(self, action: types.CodeAction, uri: str) -> str:
        """The text of a document after an action; positions are UTF-16."""
        assert action.edit is not None
        edits = (action.edit.changes or {}).get(uri, [])
        for change in action.edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            if change.text_document.uri == uri:
                assert change.text_document.version == self.texts[uri][0]
                edits = [*edits, *(edit for edit in change.edits if isinstance(edit, types.TextEdit))]
        text = self.texts[uri][1]
        lines = text.split("\n")
        starts = [sum(len(line) + 1 for line in lines[:row]) for row in range(len(lines))]

        def offset(position: types.Position) -> int:
            assert position.line < len(lines)
            units = lines[position.line].encode("utf-16-le")
            assert position.character * 2 <= len(units)
            return starts[position.line] + len(units[: position.character * 2].decode("utf-16-le"))

        for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
            text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
        return text


@pytest_asyncio.fixture
async def editor(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Editor]:
    """An editor; a parameter gives further arguments of the server's command."""
    client = LanguageClient(converter_factory=default_converter)
    editor = Editor(client, tmp_path)
    await client.start_io(sys.executable, "-m", "torchlint", "server", *getattr(request, "param", ()))
    yield editor
    if client._server is not None and client._server.returncode is None:
        await client.shutdown_session()
    await client.stop()


def codes(diagnostics: Sequence[types.Diagnostic]) -> list[tuple[str, int]]:
    """Codes and rows, from 0."""
    return [(str(diagnostic.code), diagnostic.range.start.line) for diagnostic in diagnostics]
