"""The one file that measures where there is torch alone.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

MODULES = (  # of the one file, in the order in which they import one another
    "allowed helpers scopes policy forms standins guard taming namespace landmarks confinement search cores failures "
    "figures agreement variants flags watches traces machine hosting passes bench worker processes bundling"
    " supervise"
).split()


def bundle() -> str:
    """The source of one file that is policy, worker and supervisor, and needs torch and the standard library alone.

    Run as `python worker.py plan.json --out results.json`. Its code goes by names that are no files, lest a traceback
    or a warning open one of that name while measured code runs.
    """
    lines = [
        '"""torchlint\'s worker: measures a plan. `python worker.py plan.json --out results.json`."""',
        "import sys, types",
        "SOURCES = {",
        *(f"    {name!r}: {text!r}," for name, text in _sources()),
        "}",
        "for package in ('torchlint', 'torchlint.verify'):",
        "    sys.modules[package] = types.ModuleType(package)",
        "for name, text in SOURCES.items():",
        "    module = types.ModuleType('torchlint.verify.' + name)",
        "    sys.modules[module.__name__] = module",
        "    setattr(sys.modules['torchlint.verify'], name, module)",
        "    module.SOURCES = SOURCES",
        "    exec(compile(text, 'torchlint-worker/' + name + '.py', 'exec'), module.__dict__)",
        "if __name__ == '__main__':",
        "    if sys.argv[1:2] == ['--serve']:",
        "        sys.modules['torchlint.verify.worker'].serve()",
        "    else:",
        "        sys.exit(sys.modules['torchlint.verify.supervise'].main())",
    ]
    return "\n".join(lines) + "\n"


def _sources() -> Iterator[tuple[str, str]]:
    """The modules of the one file, from it or from the package."""
    bundled = globals().get("SOURCES")
    for name in MODULES:
        if bundled is not None:
            yield name, bundled[name]
        else:
            with open(os.path.join(os.path.dirname(__file__), f"{name}.py"), encoding="utf-8") as file:
                yield name, file.read()
