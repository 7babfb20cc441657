"""Options that several commands have, each with its one meaning."""

from __future__ import annotations

from typing import Annotated

import typer

from . import completion

Url = Annotated[
    str | None,
    typer.Option(
        "--url", metavar="URL", help="The hub's address. Otherwise REGROUP_URL, or what login saved."
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        help="Who asks. It can be seen in the process list: better REGROUP_TOKEN, or login.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer with JSON for programs.")]
Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept with what was done.")]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout", metavar="SECONDS", min=0, help="How long to wait for it to be so; 0: not at all."
    ),
]
Job = Annotated[int, typer.Argument(metavar="JOB", help="Its id.", min=1, autocompletion=completion.jobs)]
Node = Annotated[str, typer.Argument(metavar="NODE", help="Its name.", autocompletion=completion.nodes)]
