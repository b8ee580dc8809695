"""The language server under load: a thousand edits in ten seconds, documents that come and go, requests that are
cancelled, and an editor that dies.

    python benchmarks/server_load.py                       ten rounds, and what they found
    python benchmarks/server_load.py --rounds 3 --json     one JSON object instead of a table

In each round a text of 300 lines is changed a hundred times a second for ten seconds; a hundred documents are opened,
changed and closed at once; and three hundred requests are sent and cancelled. It fails where diagnostics are shown that
are not those of the version that they name, where a version comes after a newer one, where a closed document keeps
diagnostics, where a request is not answered exactly once, or where memory grows: that of the last round may be a tenth
more than that of the second. Memory is what the server and its worker hold together (PSS), read between rounds.

Then editors are killed: while nothing is done, in the middle of a long task, and one whose pipes another process keeps
open. It fails where a process of the server is left after half a minute.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.keystroke import Editor, long_file

EDITS, SECONDS = 1000, 10.0
DOCUMENTS = 100
REQUESTS = 300
GONE_AFTER = 30.0
PATIENCE = 60.0


class Session(Editor):
    """An editor that reads what comes while it types; `wrong` says what should not have come."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.shown: dict[str, tuple[int, list[int]]] = {}  # version and rows of the last diagnostics, by URI
        self.published = 0
        self.shifts: dict[tuple[str, int], int] = {}  # by how many rows a version of a document was moved down
        self.rows: list[int] = []  # where the text has findings
        self.answers: Counter[int] = Counter()
        self.number = 10
        self.news = threading.Condition()
        self.writing = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, method: str, params: Any, number: int | None = None) -> None:
        """Send a request, or a notification where it has no number."""
        with self.writing if hasattr(self, "writing") else contextlib.nullcontext():
            super().send(method, params, number)

    def _listen(self) -> None:
        with contextlib.suppress(SystemExit, OSError, ValueError):
            while True:
                message = self.receive()
                with self.news:
                    self._take(message)
                    self.news.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self.answers[message["id"]] += 1
        elif message["method"] == "textDocument/publishDiagnostics":
            self.published += 1
            uri, version = message["params"]["uri"], message["params"].get("version")
            rows = [diagnostic["range"]["start"]["line"] for diagnostic in message["params"]["diagnostics"]]
            if version is None:  # the document was closed
                if rows:
                    self.wrong.append(f"{uri}: diagnostics without a version")
                self.shown.pop(uri, None)
                return
            if version < self.shown.get(uri, (0,))[0]:
                self.wrong.append(f"{uri}: version {version} came after {self.shown[uri][0]}")
            self.shown[uri] = version, rows
            if self.rows and rows != [row + self.shifts[uri, version] for row in self.rows]:
                self.wrong.append(f"{uri}: diagnostics of another version than {version}")
        elif message["method"] in ("window/showMessage", "window/logMessage"):
            self.wrong.append(message["params"]["message"])

    def put(self, uri: str, text: str, version: int, shift: int) -> None:
        """Open a document, or change it; its rows are moved down by `shift`."""
        with self.news:
            self.shifts[uri, version] = shift
        moved = "\n" * shift + text
        if version == 1:
            document = {"uri": uri, "languageId": "python", "version": 1, "text": moved}
            self.send("textDocument/didOpen", {"textDocument": document})
        else:
            document = {"uri": uri, "version": version}
            self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": moved}]})

    def shut(self, uri: str) -> None:
        """Close a document."""
        self.send("textDocument/didClose", {"textDocument": {"uri": uri}})

    def until(self, happened: Any, what: str) -> None:
        """Wait until something is so; `what` is wrong where it never is."""
        with self.news:
            if not self.news.wait_for(happened, PATIENCE):
                self.wrong.append(f"never: {what}")

    def held(self) -> float:
        """What the server and its worker hold, in megabytes."""
        return sum(map(_pss, [self.server.pid, *_children(self.server.pid)])) / 1e6


def _pss(process: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _children(process: int) -> list[int]:
    found = []
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, tasks.read_text().split())
    return found


def load(rounds: int) -> dict[str, Any]:
    """Rounds of edits, documents and requests; what was measured, and what went wrong."""
    session = Session()
    text, uri = long_file(300), "file:///untitled/edited.py"
    session.put(uri, text, 1, 0)
    session.until(lambda: uri in session.shown, "first diagnostics")
    session.rows = session.shown[uri][1]
    version = 1
    lags, memory = [], []
    for turn in range(rounds):
        begun = time.monotonic()
        for number in range(EDITS):
            version += 1
            session.put(uri, text, version, number % 40)
            time.sleep(max(0.0, begun + (number + 1) * SECONDS / EDITS - time.monotonic()))
        ended, last = time.monotonic(), version
        session.until(lambda: session.shown[uri][0] == last, f"diagnostics of version {last}")  # noqa: B023
        lags.append(time.monotonic() - ended)
        for number in range(DOCUMENTS):
            other = f"file:///untitled/{turn}_{number}.py"
            session.put(other, text, 1, 0)
            session.put(other, text, 2, 1)
            session.shut(other)
        numbers = range(session.number, session.number + REQUESTS)
        session.number += REQUESTS
        place = {"line": 3, "character": 1}
        for number in numbers:
            asked = {"textDocument": {"uri": uri}}
            method, more = (
                ("textDocument/hover", {"position": place}),
                ("textDocument/codeAction", {"range": {"start": place, "end": place}, "context": {"diagnostics": []}}),
                ("textDocument/diagnostic", {}),
            )[number % 3]
            version += 1
            session.put(uri, text, version, number % 40)
            session.send(method, {**asked, **more}, number)
            session.send("$/cancelRequest", {"id": number})
        last = version
        session.until(lambda: all(session.answers[n] for n in numbers), "an answer to each request")  # noqa: B023
        session.until(lambda: session.shown[uri][0] == last, f"diagnostics of version {last}")  # noqa: B023
        time.sleep(1)  # an answer too many would come now
        if open_ := session.shown.keys() - {uri}:
            session.wrong.append(f"{len(open_)} closed documents keep their diagnostics")
        if any(count > 1 for count in session.answers.values()):
            session.wrong.append("a request was answered twice")
        memory.append(session.held())
    session.close()
    if rounds > 2 and memory[-1] > memory[1] * 1.1:
        session.wrong.append(f"memory grows: {memory[1]:.0f} MB after two rounds, {memory[-1]:.0f} MB at the end")
    return {
        "rounds": rounds,
        "edits_per_round": EDITS,
        "published": session.published,
        "lag_after_last_edit_s": [round(lag, 2) for lag in lags],
        "memory_mb": [round(held) for held in memory],
        "wrong": session.wrong,
    }


# An editor that starts the server, opens a text, and says who the processes are. It runs in a session of its own.
DOOMED = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from benchmarks.server_load import Session, _children
import os
from benchmarks import keystroke
text = keystroke.long_file(int(sys.argv[2]))
session = Session()
session.put("file:///untitled/doomed.py", text, 1, 0)
while not _children(session.server.pid):
    time.sleep(0.05)
if len(text) < 100_000:
    session.until(lambda: session.shown, "diagnostics")
else:
    time.sleep(3)  # in the middle of it
print(json.dumps([session.server.pid, *_children(session.server.pid)]), flush=True)
if sys.argv[3] == "kept":
    import subprocess
    subprocess.Popen(["sleep", "120"], pass_fds=[session.to.fileno(), session.back.fileno()], stdout=subprocess.DEVNULL)
    print("kept", flush=True)
time.sleep(600)
"""


def death(lines: int, *, kept: bool) -> float | None:
    """Seconds from the death of an editor to that of the last process of its server; None where one is left."""
    command = [sys.executable, "-c", DOOMED, str(Path(__file__).parents[1]), str(lines), "kept" if kept else "closed"]
    editor = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert editor.stdout is not None
    processes = json.loads(editor.stdout.readline())
    if kept:
        editor.stdout.readline()
    others = set(_children(editor.pid)) - set(processes)
    editor.kill()
    editor.wait()
    begun = time.monotonic()
    try:
        while any(map(_lives, processes)):
            if time.monotonic() - begun > GONE_AFTER:
                return None
            time.sleep(0.05)
        return time.monotonic() - begun
    finally:
        for process in {*processes, *others}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def main() -> int:
    """Measure and say what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = load(options.rounds)
    deaths = {
        "idle": death(100, kept=False),
        "in the middle of a task": death(30_000, kept=False),
        "with its pipes kept open": death(100, kept=True),
    }
    result["gone_after_s"] = {
        when: seconds if seconds is None else round(seconds, 2) for when, seconds in deaths.items()
    }
    result["wrong"] += [f"{when}, it outlives its editor" for when, seconds in deaths.items() if seconds is None]
    result["python"], result["cores"] = sys.version.split()[0], os.cpu_count()
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:24} {value}")
    return int(bool(result["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
