"""From a keystroke to the diagnostics, over the protocol, against a bare parse of the same text in the same run.

    python benchmarks/keystroke.py               a file of 1,000 lines, made of the example's training script
    python benchmarks/keystroke.py train.py      another file
    python benchmarks/keystroke.py --json        one JSON object instead of a sentence

A keystroke is a didChange with the text as it is then; the time ends when the diagnostics of that version have arrived.
Keystrokes alternate with parses, so that both see the same machine. The exit status is 1 where the median is more than
3 times, or the 95th percentile more than 6 times, a parse. `keystroke.jsonl` holds what this printed on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import libcst

LINES = 1000
EXAMPLE = Path(__file__).parents[1] / "examples" / "train.py"
MEDIAN, PERCENTILE_95 = 3.0, 6.0  # times a parse


def main() -> int:
    """Measure and say what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--keystrokes", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    text = arguments.file.read_text(encoding="utf-8") if arguments.file else long_file(LINES)
    keystrokes, parses, found = measure(text, arguments.keystrokes)
    parse = statistics.median(parses)
    ratios = sorted(keystroke / parse for keystroke in keystrokes)
    result = {
        "lines": text.count("\n"),
        "findings": found,
        "keystrokes": len(ratios),
        "parse_ms": round(parse * 1e3, 1),
        "median_ms": round(statistics.median(keystrokes) * 1e3, 1),
        "median_ratio": round(statistics.median(ratios), 2),
        "p95_ratio": round(ratios[int(len(ratios) * 0.95)], 2),
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
    }
    if arguments.json:
        print(json.dumps(result))
    else:
        print(
            f"{result['lines']} lines with {found} findings, {len(ratios)} keystrokes: "
            f"median {result['median_ms']} ms, {result['median_ratio']} times a parse of {result['parse_ms']} ms; "
            f"95th percentile {result['p95_ratio']} times (Python {result['python']}, {result['cores']} cores)"
        )
    return int(result["median_ratio"] > MEDIAN or result["p95_ratio"] > PERCENTILE_95)


def long_file(lines: int) -> str:
    """The definitions of the example over and over, under other names, cut to that many lines, in whole statements."""
    example = EXAMPLE.read_text(encoding="utf-8")
    names = [
        line.split()[1].split("(")[0].rstrip(":")
        for line in example.splitlines()
        if line.startswith(("def ", "class "))
    ]
    text, round_ = "", 0
    while text.count("\n") < lines:
        copy = example
        for name in names:
            copy = copy.replace(name, f"{name}{round_}")
        text, round_ = text + copy.replace("from __future__ import annotations\n", ""), round_ + 1
    rows = text.splitlines(keepends=True)[:lines]
    while True:
        try:
            compile("".join(rows), "long", "exec")
        except SyntaxError:
            rows.pop()
        else:
            return "".join(rows) + "# end\n" * (lines - len(rows))


def measure(text: str, count: int) -> tuple[list[float], list[float], int]:
    """Seconds for each keystroke and each parse, and the number of findings."""
    editor = Editor()
    editor.open(text)
    keystrokes, parses = [], []
    for number in range(count + 3):
        typed = f"{text}value = {'1' * (number + 1)}\n"
        begun = time.perf_counter()
        found = editor.type(typed)
        taken = time.perf_counter() - begun
        begun = time.perf_counter()
        libcst.parse_module(typed)
        if number >= 3:  # the first ones warm up
            keystrokes.append(taken)
            parses.append(time.perf_counter() - begun)
    editor.close()
    return keystrokes, parses, found


class Editor:
    """As much of an editor as it takes."""

    URI = "file:///untitled/long.py"

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-m", "torchlint", "server", "--isolated"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.to: BinaryIO = self.server.stdin
        self.back: BinaryIO = self.server.stdout
        self.version = 1
        self.send("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": {}}, 1)
        while self.receive().get("id") != 1:
            pass
        self.send("initialized", {})

    def open(self, text: str) -> int:
        """Open a text; returns how many diagnostics it has."""
        document = {"uri": self.URI, "languageId": "python", "version": self.version, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics()

    def type(self, text: str) -> int:
        """Change the text; returns how many diagnostics it has then."""
        self.version += 1
        document = {"uri": self.URI, "version": self.version}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        return self.diagnostics()

    def diagnostics(self) -> int:
        """Wait for the diagnostics of this version; returns how many there are."""
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                if message["params"].get("version") == self.version:
                    return len(message["params"]["diagnostics"])

    def close(self) -> None:
        """End the server."""
        self.send("shutdown", None, 2)
        self.send("exit", None)
        self.server.wait(timeout=60)

    def send(self, method: str, params: Any, number: int | None = None) -> None:
        """Send a request, or a notification where it has no number."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if number is None else {**message, "id": number}).encode()
        self.to.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.to.flush()

    def receive(self) -> dict[str, Any]:
        """The next message of the server."""
        length = 0
        while line := self.back.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise SystemExit("the server has gone")
        message: dict[str, Any] = json.loads(self.back.read(length))
        return message


if __name__ == "__main__":
    sys.exit(main())
