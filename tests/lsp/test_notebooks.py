"""Notebooks in an editor: each cell is a document, all are one module."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.conftest import LOOP, Editor, codes
from torchlint.engine.notebooks import lint_notebook
from torchlint.engine.run import check
from torchlint.engine.settings import Configuration, Settings
from torchlint.source import notebook as source

pytestmark = pytest.mark.asyncio

CAPABILITIES = types.ClientCapabilities(
    notebook_document=types.NotebookDocumentClientCapabilities(
        synchronization=types.NotebookDocumentSyncClientCapabilities()
    )
)
SETUP, STEPS = LOOP.split("total", 1)
STEPS = f"total{STEPS}".rstrip("\n")
ROW = 4  # where STEPS pays, from 0


class Notebook:
    """A notebook that is open in an editor."""

    def __init__(self, editor: Editor, *cells: tuple[str, str], name: str = "a.ipynb") -> None:
        """`cells` are languages and texts."""
        self.editor = editor
        self.uri = editor.uri(name)
        self.cells = [f"vscode-notebook-cell:{self.uri.removeprefix('file:')}#{number}" for number in range(len(cells))]
        kinds = {"markdown": types.NotebookCellKind.Markup}
        documents = [
            types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
            for uri, (language, text) in zip(self.cells, cells, strict=True)
        ]
        editor.texts.update({document.uri: (1, document.text) for document in documents})
        editor.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(
                    uri=self.uri,
                    notebook_type="jupyter-notebook",
                    version=1,
                    cells=[
                        types.NotebookCell(
                            kinds.get(language, types.NotebookCellKind.Code), uri, metadata={"id": f"id-{number}"}
                        )
                        for number, (uri, (language, _)) in enumerate(zip(self.cells, cells, strict=True))
                    ],
                ),
                documents,
            )
        )

    def type(self, number: int, text: str) -> None:
        uri = self.cells[number]
        version = self.editor.texts[uri][0] + 1
        self.editor.texts[uri] = (version, text)
        self.change(
            text_content=[
                types.NotebookDocumentCellContentChanges(
                    types.VersionedTextDocumentIdentifier(uri=uri, version=version),
                    [types.TextDocumentContentChangeWholeDocument(text=text)],
                )
            ]
        )

    def change(self, **cells: object) -> None:
        self.editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(uri=self.uri, version=2),
                types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(**cells)),  # type: ignore[arg-type]
            )
        )


def fingerprint(cells: Mapping[str, str]) -> str:
    """Of what is found in a file with these cells, texts with their ids."""
    written = json.dumps({"cells": [{"cell_type": "code", "source": text, "id": id} for text, id in cells.items()]})
    settings = Settings(root=Path(), rules=frozenset({"TL601"}))
    (finding,) = lint_notebook(source.Notebook.from_bytes(written.encode(), "a.ipynb"), settings).findings
    return finding.fingerprint


async def test_cells_are_read_with_the_project_around(editor: Editor) -> None:
    helpers = "import torch\n\n\ndef kept(loss):\n    return loss.detach().cpu()\n\n\ndef log(loss):\n    loss.item()\n"
    steps = "for x in loader:\n    loss = model(x).mean()\n    loss.backward()\n    kept(loss).item()\n    "
    steps += "'𝕏'; log(loss)"
    (editor.folder / "torchlint.toml").write_text('select = ["TL101"]\n')
    (editor.folder / "helpers.py").write_text(helpers)
    cells = [{"cell_type": "code", "source": text} for text in (f"from helpers import *\n{SETUP}", steps)]
    (editor.folder / "a.ipynb").write_text(json.dumps({"cells": cells}))
    await editor.start(CAPABILITIES)
    setup = ("python", f"from helpers import kept, log\n{SETUP}")
    _, alone = Notebook(editor, setup, ("python", steps), name="alone.ipynb").cells
    assert codes(await editor.shown(alone)) == [("TL101", 3)]

    check([editor.folder], Configuration(cwd=editor.folder))
    _, together = Notebook(editor, setup, ("python", steps), name="a.ipynb").cells
    assert codes(await editor.shown(together)) == []
    uri = editor.open("helpers.py", helpers)
    (found,) = await editor.shown(uri)
    place, _ = found.related_information or ()
    assert (place.location.uri, place.location.range.start) == (together, types.Position(4, 10))

    (editor.folder / "a.ipynb").write_text(json.dumps({"cells": cells[:1]}))  # what was open is told of it
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    await editor.until(lambda: not editor.published[uri].diagnostics)


async def test_findings_stand_in_the_cell_that_pays(editor: Editor) -> None:
    await editor.start(CAPABILITIES)
    notebook = Notebook(
        editor,
        ("python", SETUP),
        ("markdown", STEPS),
        ("python", "%%time\n!ls it's\n" + STEPS),
        ("sql", "SELECT ("),
        ("python", "%%bash\necho it's"),
    )
    setup, _, steps, sql, bash = notebook.cells
    (found,) = await editor.shown(steps)
    assert codes([found]) == [("TL601", ROW + 2)]
    assert isinstance(found.data, dict)
    assert found.data["fingerprint"] == fingerprint({SETUP: "id-0", "%%time\n!ls it's\n" + STEPS: "id-2"})
    (why,) = found.related_information or ()
    assert (why.location.uri, why.location.range.start.line) == (steps, 3)
    assert await editor.shown(setup) == []
    assert await editor.shown(bash) == []
    assert sql not in editor.published


async def test_a_cell_that_does_not_parse_keeps_its_findings_and_hides_no_other(editor: Editor) -> None:
    await editor.start(CAPABILITIES)
    notebook = Notebook(editor, ("python", SETUP), ("python", STEPS), ("python", STEPS))
    _, one, other = notebook.cells
    await editor.shown(one)
    notebook.type(1, "def f(\n" + STEPS)
    assert codes(await editor.shown(one)) == [("TL601", ROW + 1)]
    assert codes(await editor.shown(other)) == [("TL601", ROW)]
    notebook.type(2, STEPS.replace("+= loss", "+= 1"))
    assert codes(await editor.shown(other)) == []
    assert codes(await editor.shown(one)) == [("TL601", ROW + 1)]


async def test_cells_come_and_go(editor: Editor) -> None:
    await editor.start(CAPABILITIES)
    notebook = Notebook(editor, ("python", SETUP), ("python", STEPS))
    setup, steps = notebook.cells
    assert codes(await editor.shown(steps)) == [("TL601", ROW)]
    new = f"{setup}-new"
    editor.texts[new] = (1, STEPS)
    notebook.change(
        structure=types.NotebookDocumentCellChangeStructure(
            array=types.NotebookCellArrayChange(
                start=1, delete_count=1, cells=[types.NotebookCell(types.NotebookCellKind.Code, new)]
            ),
            did_open=[types.TextDocumentItem(uri=new, language_id="python", version=1, text=STEPS)],
            did_close=[types.TextDocumentIdentifier(steps)],
        )
    )
    assert codes(await editor.shown(new)) == [("TL601", ROW)]
    await editor.until(lambda: not editor.published[steps].diagnostics)
    editor.client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(notebook.uri), [types.TextDocumentIdentifier(uri) for uri in (setup, new)]
        )
    )
    await editor.until(lambda: not editor.published[new].diagnostics)


async def test_cells_change_places(editor: Editor) -> None:
    await editor.start(CAPABILITIES)
    notebook = Notebook(editor, ("python", SETUP), ("python", "x = 1"), ("python", STEPS))
    setup, other, steps = notebook.cells
    (found,) = await editor.shown(steps)
    for order in ((setup, steps, other), (other, setup, steps)):
        times = editor.times[steps]
        cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in order]
        array = types.NotebookCellArrayChange(start=0, delete_count=3, cells=cells)
        notebook.change(structure=types.NotebookDocumentCellChangeStructure(array=array))
        await editor.until(lambda before=times: editor.times[steps] > before)
        assert [one.range for one in editor.published[steps].diagnostics] == [found.range]
    (fix, *_) = await editor.actions(steps, ROW, ["quickfix"])
    assert editor.applied(fix, steps) == STEPS.replace("+= loss", "+= loss.detach()")


async def test_repairs_suppressions_and_explanations_work_in_a_cell(editor: Editor) -> None:
    await editor.start(CAPABILITIES)
    notebook = Notebook(editor, ("python", SETUP), ("python", "!ls it's\n" + STEPS), ("python", STEPS))
    _, one, other = notebook.cells
    await editor.shown(one)
    fixed = editor.texts[one][1].replace("+= loss", "+= loss.detach()")
    actions = await editor.actions(one, ROW + 1)
    (fix,) = [action for action in actions if action.is_preferred]
    assert editor.applied(fix, one) == fixed
    (suppress,) = [action for action in actions if action.title.startswith("Suppress")]
    assert editor.applied(suppress, one) == editor.texts[one][1] + "  # torchlint: ignore[TL601]"
    (everything,) = [action for action in actions if action.kind == "source.fixAll.torchlint"]
    assert editor.applied(everything, one) == fixed
    assert editor.applied(everything, other) == STEPS.replace("+= loss", "+= loss.detach()")
    assert "retained-graph-sum (TL601)" in await editor.hover(one, ROW + 1, 6)
