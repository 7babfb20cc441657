"""What can be typed after ``regroup``. Options are declared here; what is done with them is elsewhere.

What is heavy is imported by the command that needs it, so that help and completion come at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import completion
from .config import find_door
from .options import AsJson, Job, Node, Reason, Sure, Timeout, Token, Url
from .refusals import ExitCode, Refusal
from .voice import Voice

if TYPE_CHECKING:
    from .hub import Hub

app = typer.Typer(
    name="regroup",
    help="The control room for PyTorch Elastic jobs, in a shell.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong words, 3 not allowed, 4 not found, 5 hub unreachable, "
    "6 refused. run ends as the job does.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Action = Callable[["Hub"], ExitCode]


def _do(url: str | None, token: str | None, action: Action) -> None:
    """With a hub that is known, and with the exit code of what was done."""
    door = find_door(url, token, os.environ)
    from .hub import Hub

    with Hub(door) as hub:
        code = action(hub)
    raise typer.Exit(int(code))


def _ranks(text: str) -> frozenset[int] | None:
    from .console import read_choice

    try:
        return read_choice(text)
    except ValueError:
        raise Refusal(
            f"{text!r} names no ranks. Write numbers and ranges, such as 0,4-7.", ExitCode.USAGE
        ) from None


@app.command(
    options_metavar="[OPTIONS] [TORCHRUN FLAGS]",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def run(
    words: Annotated[
        list[str], typer.Argument(metavar="SCRIPT", help="And its arguments, as after torchrun.")
    ],
    detach: Annotated[
        bool, typer.Option("--detach", help="Print the job's id, and do not follow it.")
    ] = False,
    ranks: Annotated[
        str, typer.Option("--ranks", help="Show output of these only, such as 0 or 0,4-7. Default: all.")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="What the job is called. Default: the script.")] = "",
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="NAME[=VALUE]", help="A variable for the workers.")
    ] = None,
    python: Annotated[
        str | None,
        typer.Option("--python", help="The interpreter on the nodes, or env:NAME. Default: their own."),
    ] = None,
    workdir: Annotated[
        Path | None, typer.Option("--workdir", help="The workers' folder on the nodes. Default: this one.")
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Of the job's spec, such as spares=1."),
    ] = None,
    upload: Annotated[
        Path | None,
        typer.Option("--upload", help="A script, a zip or a folder that goes along as the job's code."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but what the workers write.")] = False,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Launch a job as torchrun would, show what its workers write, and end as it does.

    Flags of torchrun and those below may be mixed before the script. Ctrl-C asks whether to stop the job
    or to leave it running; without a terminal it stops it.
    """
    chosen, voice = _ranks(ranks), Voice(as_json, quiet)

    def action(hub: Hub) -> ExitCode:
        from . import launching, running

        wishes = launching.Wishes(name, env or (), python, workdir, fields or (), upload)
        job = launching.launch(hub, words, wishes, voice.say)
        if detach:
            running.print_launched(hub, job, voice)
            return ExitCode.OK
        return running.run(hub, job, chosen, voice)

    _do(url, token, action)


@app.command("ls")
def list_jobs(
    state: Annotated[
        list[str] | None, typer.Option("--state", help="Only jobs in this state; may be given again.")
    ] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only those that this token launched.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="How many, the newest first.")] = 50,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """List jobs, the newest first."""

    def action(hub: Hub) -> ExitCode:
        page = hub.get("/jobs", state=state or [], mine=mine, limit=limit)
        if as_json:
            Voice(as_json).document(page)
            return ExitCode.OK
        from .tables import print_jobs

        print_jobs(page["items"])
        return ExitCode.OK

    _do(url, token, action)


@app.command()
def show(job: Job, as_json: AsJson = False, url: Url = None, token: Token = None) -> None:
    """Tell how a job is doing, and why."""

    def action(hub: Hub) -> ExitCode:
        found = hub.get(f"/jobs/{job}")
        if as_json:
            Voice(as_json).document(found)
            return ExitCode.OK
        from .tables import print_job

        print_job(found, hub.page_of(job))
        return ExitCode.OK

    _do(url, token, action)


@app.command()
def logs(
    job: Job,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job is over.")] = False,
    rank: Annotated[str, typer.Option("--rank", help="Only these, such as 0 or 0,4-7. Default: all.")] = "",
    attempt: Annotated[int | None, typer.Option("--attempt", min=1, help="Default: the newest.")] = None,
    round_number: Annotated[int | None, typer.Option("--round", min=1, help="Default: the newest.")] = None,
    stream: Annotated[str | None, typer.Option("--stream", help="stdout or stderr. Default: both.")] = None,
    tail: Annotated[
        int | None, typer.Option("--tail", "-n", min=1, max=500, help="Only so many last lines of each.")
    ] = None,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Print what workers wrote, each stream where it belongs. Of several ranks each line says whose."""
    if stream not in (None, "stdout", "stderr"):
        raise Refusal(
            f"--stream is {stream!r}. Write stdout or stderr, or leave it out for both.", ExitCode.USAGE
        )
    chosen, voice = _ranks(rank), Voice(as_json)

    def action(hub: Hub) -> ExitCode:
        from .logs import Choice, follow_logs, show_logs

        choice = Choice(chosen, attempt, round_number, stream, tail)
        return (follow_logs if follow else show_logs)(hub, job, choice, voice)

    _do(url, token, action)


@app.command()
def kill(
    job: Job,
    rank: Annotated[int, typer.Argument(metavar="RANK", help="The global rank.", min=0)],
    signal: Annotated[str, typer.Option("--signal", help="Such as SIGKILL or SIGTERM.")] = "SIGKILL",
    reason: Reason = "",
    yes: Sure = False,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Kill the worker that runs as that rank now, and wait until its node says that it is gone."""
    from . import acts

    _do(url, token, lambda hub: acts.kill(hub, job, rank, signal, reason, yes, Voice(as_json)))


@app.command()
def scale(
    job: Job,
    nodes: Annotated[int, typer.Argument(metavar="NODES", help="How many it shall have.", min=1)],
    reason: Reason = "",
    timeout: Timeout = 600,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Give a job another number of nodes, and wait until it runs on so many."""
    from . import acts

    _do(url, token, lambda hub: acts.scale(hub, job, nodes, reason, timeout, Voice(as_json)))


@app.command()
def drain(
    node: Node,
    undo: Annotated[bool, typer.Option("--undo", help="Let it get jobs again.")] = False,
    reason: Reason = "",
    yes: Sure = False,
    timeout: Timeout = 600,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Give a node no more jobs, move those on it away, and wait until nothing of them is left there."""
    from . import acts

    voice = Voice(as_json)
    if undo:
        _do(url, token, lambda hub: acts.undrain(hub, node, voice))
    _do(url, token, lambda hub: acts.drain(hub, node, reason, yes, timeout, voice))


@app.command()
def stop(
    job: Job,
    force: Annotated[bool, typer.Option("--force", help="SIGKILL at once, without the grace.")] = False,
    reason: Reason = "",
    yes: Sure = False,
    timeout: Timeout = 600,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Stop a job on all its nodes, and wait until nothing of it runs."""
    from . import acts

    _do(url, token, lambda hub: acts.stop(hub, job, reason, force, yes, timeout, Voice(as_json)))


@app.command()
def nodes(as_json: AsJson = False, url: Url = None, token: Token = None) -> None:
    """List the nodes with their slots and what runs on them."""

    def action(hub: Hub) -> ExitCode:
        from .acts import all_nodes

        found = all_nodes(hub)
        if as_json:
            Voice(as_json).document({"items": found, "next": None})
            return ExitCode.OK
        from .tables import print_nodes

        print_nodes(found)
        return ExitCode.OK

    _do(url, token, action)


@app.command()
def uploads(
    mine: Annotated[bool, typer.Option("--mine", help="Only those of this token's account.")] = False,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """List uploaded code, the newest first, with the digest that --set code=DIGEST takes."""

    def action(hub: Hub) -> ExitCode:
        page = hub.get("/uploads", mine=mine)
        if as_json:
            Voice(as_json).document(page)
            return ExitCode.OK
        from .tables import print_uploads

        print_uploads(page["items"])
        return ExitCode.OK

    _do(url, token, action)


@app.command("open")
def open_page(
    job: Annotated[
        int | None, typer.Argument(metavar="[JOB]", min=1, autocompletion=completion.jobs, help="Its id.")
    ] = None,
    as_json: AsJson = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Print the address of a job's page, and on a terminal show it in a browser. Without JOB: the list."""

    def action(hub: Hub) -> ExitCode:
        from .browser import open_address

        if job is not None:
            hub.get(f"/jobs/{job}")
        return open_address(hub.page_of(job) if job is not None else f"{hub.url}/jobs", Voice(as_json))

    _do(url, token, action)


@app.command()
def login(
    address: Annotated[str, typer.Argument(metavar="URL", help="The hub's address.")],
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Ask for a token, try it, and keep it in ~/.config/regroup/config.toml for the next commands."""
    from .login import log_in

    raise typer.Exit(int(log_in(address, token, Voice(as_json))))
