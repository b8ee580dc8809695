"""`torchlint server`."""

from __future__ import annotations

from pathlib import Path

import click

from torchlint.lsp.language_server import Server

__all__ = ["server"]


@click.command("server")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The configuration of all files.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--stdio", is_flag=True, hidden=True, help="What it does anyway; some editors say it.")
def server(config: Path | None, isolated: bool, stdio: bool) -> None:
    """Run the language server on the standard streams, for an editor that starts it."""
    Server(config_file=config, isolated=isolated).start_io()
