"""The language server: what the editor asks and is told."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from torchlint import __version__
from torchlint.engine.errors import UserError
from torchlint.engine.lint import unreadable
from torchlint.engine.settings import CONFIG_FILES, Configuration, Settings
from torchlint.findings import Applicability, Edit, Finding, Position
from torchlint.fixes.diff import rows
from torchlint.lsp import hovers
from torchlint.lsp.documents import Part, Unit, lines_of
from torchlint.lsp.worker import Linted, Texts, Worker, WorkerDiedError
from torchlint.report.lsp import diagnostic, document_uri, text_range
from torchlint.report.text import utf16_length
from torchlint.source.discovery import is_excluded
from torchlint.source.text import UnreadableError

__all__ = ["Server"]

_FIX_ALL = "source.fixAll.torchlint"

# How text is measured in the encodings that may be negotiated.
_UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": utf16_length,
    "utf-32": len,
}

# A task that runs this long for a text that has changed since is ended; what it would still take is not known.
_STALE_AFTER = 10.0
# What is read beside a document.
_FILES = ("*.py", "*.ipynb")
# The longest that a task may run at all: the last resort, where no limit on size or shape spoke.
_PATIENCE = 120.0
# The findings of a selection that a menu has something for: each takes a look at the whole text.
_MOST_OFFERED = 50
# How often the server looks whether the editor still lives, seconds.
_LOOKS_EVERY = 1.0


class Server(LanguageServer):
    """The language server of one editor.

    `config_file` and `isolated` are as on the command line; they hold over what the editor says.
    """

    def __init__(self, *, config_file: Path | None = None, isolated: bool = False) -> None:
        super().__init__(
            "torchlint",
            __version__,
            # Whole texts: what pygls takes for the end of a row is not what editors and Python take for it.
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                notebook_selector=[
                    types.NotebookDocumentFilterWithNotebook(
                        notebook=types.NotebookDocumentFilterNotebookType(notebook_type=kind)
                    )
                    for kind in ("jupyter-notebook", "interactive")
                ],
                save=True,
            ),
        )
        self.worker = Worker()
        self.units: dict[str, Unit] = {}
        self.runs: dict[str, asyncio.Task[None]] = {}  # what lints a unit, by the unit's URI
        self.tasks: set[asyncio.Task[Any]] = set()
        self.config_file = config_file
        self.isolated = isolated
        self.preferences: dict[str, Any] = {}  # the editor's own settings
        self.configurations: dict[Path, Configuration] = {}  # by workspace folder
        self.complaints: dict[Path, str] = {}  # what was said of a configuration, by folder
        self.written = 0  # how often files were written, of which documents know only by being read again
        for method, handler, options in self._handlers():
            self.feature(method, options)(partial(handler))  # pygls writes on it, as on no method

    def _handlers(self) -> Iterator[tuple[str, Callable[..., Any], Any]]:
        yield types.INITIALIZE, self.on_initialize, None
        yield types.INITIALIZED, self.on_initialized, None
        yield types.SHUTDOWN, self.on_shutdown, None
        yield types.TEXT_DOCUMENT_DID_OPEN, self.on_open, None
        yield types.TEXT_DOCUMENT_DID_CHANGE, self.on_change, None
        yield types.TEXT_DOCUMENT_DID_SAVE, self.on_save, types.SaveOptions(include_text=False)
        yield types.TEXT_DOCUMENT_DID_CLOSE, self.on_close, None
        yield types.NOTEBOOK_DOCUMENT_DID_OPEN, self.on_notebook_open, None
        yield types.NOTEBOOK_DOCUMENT_DID_CHANGE, self.on_notebook_change, None
        yield types.NOTEBOOK_DOCUMENT_DID_SAVE, self.on_notebook_save, None
        yield types.NOTEBOOK_DOCUMENT_DID_CLOSE, self.on_notebook_close, None
        yield types.WORKSPACE_DID_CHANGE_CONFIGURATION, self.on_preferences, None
        yield types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self.on_files, None
        yield types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self.on_folders, None
        yield (
            types.TEXT_DOCUMENT_DIAGNOSTIC,
            self.on_pull,
            types.DiagnosticOptions(identifier="torchlint", inter_file_dependencies=True, workspace_diagnostics=False),
        )
        yield (
            types.TEXT_DOCUMENT_CODE_ACTION,
            self.on_code_action,
            types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, _FIX_ALL], resolve_provider=True),
        )
        yield types.CODE_ACTION_RESOLVE, self.on_resolve, None
        yield types.TEXT_DOCUMENT_HOVER, self.on_hover, None

    # The session

    def on_initialize(self, params: types.InitializeParams) -> None:
        self._prefer(params.initialization_options)
        if params.process_id is not None and _lives(params.process_id):  # from another container it is not seen
            self._later(self._end_with(params.process_id))

    async def on_initialized(self, _params: types.InitializedParams) -> None:
        await self.worker.start()
        if self._can("workspace.did_change_watched_files.dynamic_registration"):
            watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in (*CONFIG_FILES, *_FILES)]
            registration = types.Registration(
                id="files",
                method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
            )
            await self.client_register_capability_async(types.RegistrationParams(registrations=[registration]))

    async def on_shutdown(self, _params: None) -> None:
        for run in (*self.runs.values(), *self.tasks):
            run.cancel()
        await self.worker.stop()  # and not only ask it to end: what it leaves must be closed before the loop is

    async def _end_with(self, editor: int) -> None:
        """End when the editor has ended without a word, though another process still holds its end of the streams."""
        while _lives(editor):
            await asyncio.sleep(_LOOKS_EVERY)
        self.worker.kill()
        os._exit(1)  # a thread waits for the editor's next word, which nobody will say

    def _can(self, capability: str) -> bool:
        return bool(get_capability(self.client_capabilities, capability))

    def _later(self, work: Any) -> None:
        """Do `work`, a coroutine, without waiting for it."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # Configuration

    def on_preferences(self, params: types.DidChangeConfigurationParams) -> None:
        self._prefer(params.settings)
        self._reload()

    def on_files(self, _params: types.DidChangeWatchedFilesParams) -> None:
        self._reload()

    def on_folders(self, _params: types.DidChangeWorkspaceFoldersParams) -> None:
        self._reload()

    def _prefer(self, given: Any) -> None:
        """Take the editor's settings: the keys of the configuration, and `config`, the path of a file."""
        own = given.get("torchlint", given) if isinstance(given, dict) else {}
        own = own.get("settings", own) if isinstance(own, dict) else {}
        self.preferences = own if isinstance(own, dict) else {}

    def _reload(self) -> None:
        """Lint everything again: the configuration has changed, or files that documents are read together with."""
        self.configurations.clear()
        self.written += 1
        for unit in self.units.values():
            self.touch(unit)
        if self._can("workspace.diagnostics.refresh_support"):
            self._later(self.workspace_diagnostic_refresh_async(None))

    def settings_for(self, path: Path) -> Settings | None:
        """What holds for a file; none, which is said, where the configuration cannot be used."""
        folder = self._folder_of(path)
        try:
            if folder not in self.configurations:
                overrides = dict(self.preferences)
                file = overrides.pop("config", None)
                self.configurations[folder] = Configuration(
                    {} if self.isolated else overrides,
                    config_file=self.config_file or (Path(file) if isinstance(file, str) and file else None),
                    isolated=self.isolated,
                    cwd=folder,
                )
            settings = self.configurations[folder].for_file(folder / path)
        except UserError as error:
            if self.complaints.get(folder) != str(error):
                self.complaints[folder] = str(error)
                self._say(types.MessageType.Error, str(error))
            return None
        self.complaints.pop(folder, None)
        return settings

    def _folder_of(self, path: Path) -> Path:
        """The workspace folder that holds a file, the innermost; the current one where none does."""
        uris = [*self.workspace.folders, *filter(None, [self.workspace.root_uri])]
        folders = [Path(folder) for uri in uris if (folder := to_fs_path(uri))]
        around = [folder for folder in folders if folder in path.parents]
        return max(around, key=lambda folder: len(folder.parts), default=folders[0] if folders else Path.cwd())

    def _say(self, kind: types.MessageType, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(type=kind, message=f"torchlint: {message}"))

    # Documents

    def on_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        if document.language_id == "python" or document.uri.endswith((".py", ".pyi")):
            self._opened(Unit(document.uri, is_notebook=False))

    def on_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._changed(params.text_document.uri)

    def on_save(self, _params: types.DidSaveTextDocumentParams) -> None:
        self._reload()

    def on_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._closed(params.text_document.uri)

    def on_notebook_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._opened(Unit(params.notebook_document.uri, is_notebook=True))

    def on_notebook_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        self._changed(params.notebook_document.uri)

    def on_notebook_save(self, _params: types.DidSaveNotebookDocumentParams) -> None:
        self._reload()

    def on_notebook_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        self._closed(params.notebook_document.uri)

    def _opened(self, unit: Unit) -> None:
        self.configurations.clear()  # not every editor says when a configuration changes
        self.units[unit.uri] = unit
        self.touch(unit)

    def _changed(self, uri: str) -> None:
        if uri in self.units:
            self.touch(self.units[uri])

    def _closed(self, uri: str) -> None:
        unit = self.units.pop(uri, None)
        if unit is None:
            return
        if (run := self.runs.pop(uri, None)) is not None:
            run.cancel()
        for part in unit.findings:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=part, diagnostics=[]))

    def unit_of(self, uri: str) -> Unit | None:
        """What the text or the cell `uri` is linted with."""
        if uri in self.units:
            return self.units[uri]
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        return None if notebook is None else self.units.get(notebook.uri)

    # Linting

    def touch(self, unit: Unit) -> asyncio.Task[None]:
        """See to it that the unit is linted as it is now; returns what does it."""
        run = self.runs.get(unit.uri)
        if run is None or run.done():
            run = self.runs[unit.uri] = asyncio.ensure_future(self._run(unit))
        return run

    async def _run(self, unit: Unit) -> None:
        """Lint until the unit is as it was when that began."""
        while self.units.get(unit.uri) is unit:
            async with self.worker.turn():
                parts, settings = unit.current(self.workspace), self.settings_for(unit.path)
                stamp = self._stamp(parts, settings)
                if stamp == unit.stamp:
                    return
                linted = await self._lint(unit, parts, settings, stamp)
            if linted is not None and self.units.get(unit.uri) is unit:
                self._show(unit, stamp, parts, linted)

    def _stamp(self, parts: dict[str, Part], settings: Settings | None) -> object:
        return [(part.uri, part.cell, part.text) for part in parts.values()], settings, self.written

    async def _lint(
        self, unit: Unit, parts: dict[str, Part], settings: Settings | None, stamp: object
    ) -> Linted | None:
        """What is found in the parts; nothing where they were left behind while that took long."""
        if settings is None or is_excluded(unit.path, settings):
            return Linted()
        job = unit.job(parts, settings)
        call = asyncio.ensure_future(self.worker.call_now("lint", job))
        begun = time.monotonic()
        try:
            while not (await asyncio.wait({call}, timeout=_STALE_AFTER))[0]:
                if time.monotonic() - begun > _PATIENCE:
                    raise WorkerDiedError(f"it took more than {_PATIENCE:.0f} s")
                if self._stamp(unit.current(self.workspace), settings) != stamp:
                    return None
            linted: Linted = call.result()
        except WorkerDiedError as death:
            error = UnreadableError(f"the parser died of it ({death})")
            result = unreadable(job.name, error, settings, job.path)
            return Linted(result.findings, unread=result.unread)
        except RuntimeError as failure:
            return Linted(errors=(f"{job.name}: internal error: {failure}",))
        finally:
            if not call.done():
                call.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await call
        return linted

    def _show(self, unit: Unit, stamp: object, parts: dict[str, Part], linted: Linted) -> None:
        """Take what was found, and tell the editor unless it asks."""
        gone = unit.findings.keys() - parts.keys()
        unit.take(stamp, parts, linted.findings, linted.unread)
        for message in linted.errors:
            self.window_log_message(types.LogMessageParams(type=types.MessageType.Error, message=message))
        for uri in gone:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))
        if not unit.is_notebook and self._can("text_document.diagnostic"):
            return
        for part in parts.values():
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri=part.uri, version=part.version, diagnostics=self._diagnostics(unit, part)
                )
            )

    def _units(self) -> Callable[[str], int]:
        return _UNITS[str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))]

    def _diagnostics(self, unit: Unit, part: Part) -> list[types.Diagnostic]:
        return [self._diagnostic(unit, part, finding) for finding in unit.findings[part.uri]]

    def _diagnostic(self, unit: Unit, part: Part, finding: Finding) -> types.Diagnostic:
        def part_of(filename: str, cell: int | None) -> Part | None:
            names = (filename, os.path.abspath(filename))
            return next((one.part(cell) for one in (unit, *self.units.values()) if one.name() in names), None)

        def lines(filename: str, cell: int | None) -> Sequence[str]:
            other = part_of(filename, cell)
            return lines_of(filename, cell) if other is None else other.lines

        def uri(filename: str, cell: int | None) -> str:
            other = part_of(filename, cell)
            return document_uri(filename, cell) if other is None else other.uri

        return self.protocol._converter.structure(
            diagnostic(finding, part.lines, lines, self._units(), uri), types.Diagnostic
        )

    async def on_pull(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        unit = self.units.get(params.text_document.uri)
        if unit is None:  # a cell's are pushed, as clients ask for documents alone
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        await asyncio.shield(self.touch(unit))
        items = self._diagnostics(unit, unit.parts[unit.uri]) if unit.uri in unit.parts else []
        identity = str(hash(repr(items)))
        if identity == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=identity)
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=identity)

    # Repairs

    async def on_code_action(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        unit = self.unit_of(params.text_document.uri)
        if unit is None:
            return []
        await asyncio.shield(self.touch(unit))
        part, settings = unit.parts.get(params.text_document.uri), self.settings_for(unit.path)
        if part is None or settings is None or part.uri in unit.unreadable:
            return []
        only = params.context.only
        actions: list[types.CodeAction] = []
        if _is_wanted(types.CodeActionKind.QuickFix, only):
            first, last = params.range.start.line + 1, params.range.end.line + 1
            here = [
                finding for finding in unit.findings[part.uri] if first <= finding.end.row and finding.start.row <= last
            ][:_MOST_OFFERED]
            actions += self._repairs(unit, part, here, settings)
            actions += await self._suppressions(unit, part, here, settings)
        if _is_wanted(_FIX_ALL, only) and any(
            _is_offered(finding, settings, Applicability.SAFE) for own in unit.findings.values() for finding in own
        ):
            action = types.CodeAction(
                title="torchlint: Fix all that keep every result", kind=_FIX_ALL, data={"uri": unit.uri}
            )
            lazily = "edit" in (get_capability(self.client_capabilities, _RESOLVABLE) or ())
            actions.append(action if lazily else await self.on_resolve(action))
        return actions

    def _repairs(
        self, unit: Unit, part: Part, findings: Iterable[Finding], settings: Settings
    ) -> Iterator[types.CodeAction]:
        for finding in findings:
            if finding.fix is None or not _is_offered(finding, settings, Applicability.UNSAFE):
                continue
            safe = finding.fix.applicability is Applicability.SAFE
            yield types.CodeAction(
                title=f"{finding.fix.message} ({finding.code}{'' if safe else ', unsafe'})",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[self._diagnostic(unit, part, finding)],
                is_preferred=safe,
                edit=self._edit(unit, finding.fix.edits),
            )

    async def _suppressions(
        self, unit: Unit, part: Part, findings: Sequence[Finding], settings: Settings
    ) -> list[types.CodeAction]:
        silenced = [finding for finding in findings if not finding.code.startswith("TL0")]
        if not silenced:
            return []
        edits = await self.worker.call("silence", unit.job(unit.parts, settings), silenced)
        return [
            types.CodeAction(
                title=f"Suppress {finding.code} on this line",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[self._diagnostic(unit, part, finding)],
                edit=self._edit(unit, own),
            )
            for finding, own in zip(silenced, edits, strict=True)
            if own
        ]

    async def on_resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Say what an action changes that does not say it yet: that which repairs everything."""
        uri = action.data.get("uri") if isinstance(action.data, dict) else None
        unit = self.units.get(str(uri))
        if action.edit is not None or unit is None:
            return action
        await asyncio.shield(self.touch(unit))
        settings = self.settings_for(unit.path)
        if settings is None or unit.uri in unit.unreadable:  # it could be read when the action was offered
            return action
        texts: Texts = await self.worker.call("fix", unit.job(unit.parts, settings))
        edits: list[Edit] = []
        for cell, text in texts.items():
            part = unit.part(cell)
            assert part is not None
            edits += _differences(part, text)
        action.edit = self._edit(unit, edits)
        return action

    def _edit(self, unit: Unit, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Edits as the protocol has them, for the versions that they were made for where the editor looks at that."""
        by_part: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            part = unit.part(edit.cell)
            assert part is not None
            edit = _inside(edit, part.lines)
            place = text_range(edit.start, edit.end, part.lines, self._units())
            by_part.setdefault(part.uri, []).append(types.TextEdit(range=_range(place), new_text=edit.content))
        if not self._can("workspace.workspace_edit.document_changes"):
            return types.WorkspaceEdit(changes=by_part)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    text_document=types.OptionalVersionedTextDocumentIdentifier(
                        uri=uri, version=unit.parts[uri].version
                    ),
                    edits=own,
                )
                for uri, own in by_part.items()
            ]
        )

    # Explanations

    async def on_hover(self, params: types.HoverParams) -> types.Hover | None:
        unit = self.unit_of(params.text_document.uri)
        if unit is None:
            return None
        await asyncio.shield(self.touch(unit))
        part = unit.parts.get(params.text_document.uri)
        if part is None or params.position.line >= len(part.lines):
            return None
        row, column = params.position.line + 1, self._column(part, params.position)
        text = "\n".join(part.lines)
        before = sum(len(line) + 1 for line in part.lines[: row - 1])
        if (named := hovers.selector_at(text, before + column - 1)) is not None:
            name, start, end = named
            return self._hover(
                hovers.of_selector(name), part, Position(row, start - before + 1), Position(row, end - before + 1)
            )
        at = Position(row, column)
        here = [finding for finding in unit.findings[part.uri] if finding.start <= at <= finding.end]
        if not here:
            return None
        return self._hover(hovers.of_findings(here), part, here[0].start, here[0].end)

    def _column(self, part: Part, position: types.Position) -> int:
        """The column, from 1 in code points, of a position in the units that were negotiated."""
        units, line = self._units(), part.lines[position.line]
        low, high = 0, len(line)
        while low < high:
            middle = (low + high) // 2
            if units(line[: middle + 1]) <= position.character:
                low = middle + 1
            else:
                high = middle
        return low + 1

    def _hover(self, text: str, part: Part, start: Position, end: Position) -> types.Hover | None:
        if not text:
            return None
        return types.Hover(
            contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=text),
            range=_range(text_range(start, end, part.lines, self._units())),
        )


def _lives(process: int) -> bool:
    """Whether a process is there; yes where that cannot be asked without harm."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


_RESOLVABLE = "text_document.code_action.resolve_support.properties"


def _range(place: dict[str, dict[str, int]]) -> types.Range:
    return types.Range(start=types.Position(**place["start"]), end=types.Position(**place["end"]))


def _is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether an editor that asked for the kinds `only`, and those below them, asked for `kind`."""
    return not only or any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in map(_kind, only))


def _kind(kind: str | types.CodeActionKind) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind


def _is_offered(finding: Finding, settings: Settings, least: Applicability) -> bool:
    fix = finding.fix
    return fix is not None and bool(fix.edits) and fix.applicability >= least and finding.code in settings.fixable


def _differences(part: Part, text: str) -> Iterator[Edit]:
    """The edits, by rows, that make a part read `text`."""
    before, after = rows(part.text), rows(text)
    for tag, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Edit(Position(start + 1, 1), Position(end + 1, 1), "".join(after[first:last]), part.cell)


def _inside(edit: Edit, lines: Sequence[str]) -> Edit:
    """The edit, where it reaches for the row behind the last one, of which editors know nothing."""
    end = Position(len(lines), len(lines[-1]) + 1)
    if edit.start > end:
        return replace(edit, start=end, end=end, content="\n" + edit.content.removesuffix("\n"))
    if edit.end > end:
        return replace(edit, end=end, content=edit.content.removesuffix("\n"))
    return edit
