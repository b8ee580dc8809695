"""`torchlint config`: the keys of the configuration."""

from __future__ import annotations

from collections.abc import Iterable

import click

from torchlint.cli import console
from torchlint.cli.options import completed

__all__ = ["config"]


def _keys() -> Iterable[str]:
    from torchlint.engine.settings import OPTIONS

    return OPTIONS


@click.command("config")
@click.argument("key", required=False, shell_complete=completed(_keys))
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--schema", is_flag=True, help="Print the JSON schema of the configuration.")
def config(key: str | None, output_format: str, schema: bool) -> None:
    """List the keys of the configuration, or explain one."""
    from torchlint.engine.selection import nearest
    from torchlint.engine.settings import OPTIONS, json_schema
    from torchlint.report.json import dumps

    if schema:
        console.write([dumps(json_schema(), indent=2), "\n"])
        return
    if key is not None and key not in OPTIONS:
        raise click.ClickException(f"no key is called {key!r}{nearest(key, OPTIONS)}")
    chosen = [OPTIONS[key]] if key is not None else list(OPTIONS.values())
    if output_format == "json":
        data = {
            option.key: {
                "doc": option.help,
                "default": option.default,
                "value_type": option.kind.name,
                "example": option.example,
            }
            for option in chosen
        }
        console.write([dumps(data, indent=2), "\n"])
    elif key is None:
        console.write(f"{option.key}\n" for option in chosen)
    else:
        option = chosen[0]
        default = "none" if option.default is None else dumps(option.default)
        console.write(
            [
                f"{option.help}\n\n",
                f"Default value: {default}\n",
                f"Type: {option.kind.name}\n",
                f"Example usage:\n\n    # pyproject.toml: below [tool.torchlint]\n    {option.example}\n",
            ]
        )
