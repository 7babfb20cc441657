"""Jobs and nodes for people: tables on any width, and one job on a screenful."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .voice import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Json = dict[str, Any]

WIDE = 10_000
"""Nothing is cut where nobody looks at it on a screen."""

_STYLES = {
    "training": "green",
    "running": "green",
    "succeeded": "green",
    "failed": "red",
    "lost": "red",
    "stalled": "yellow",
    "restarting": "yellow",
    "stopping": "yellow",
    "unknown": "yellow",
    "unheard": "yellow",
    "online": "green",
}


def make_console() -> Console:
    from rich.console import Console

    is_cut = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, emoji=False, width=None if is_cut else WIDE)


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(
            name.removesuffix(">"), justify="right" if name.endswith(">") else "left", overflow="fold"
        )
    return table


def _add(table: Table, cells: Sequence[object], state: str) -> None:
    """The cell that says the state is coloured like it."""
    from rich.text import Text

    table.add_row(
        *(Text(clean(cell), style=_STYLES.get(state, "") if cell == state else "") for cell in cells)
    )


def print_jobs(jobs: Iterable[Json]) -> None:
    table = _table("id>", "name", "state", "nodes>", "ranks>", "step>", "restarts>", "by", "age>")
    now = datetime.now(UTC)
    for job in jobs:
        nodes = f"{job['nodes']['alive']}/{job['nodes']['wanted']}"
        ranks = f"{job['workers_alive']}/{job['world_size']}"
        step = "–" if job["step"] is None else job["step"]
        age = say_span((now - datetime.fromisoformat(job["created_at"])).total_seconds())
        row = (
            job["id"],
            job["name"],
            job["state"],
            nodes,
            ranks,
            step,
            restarts(job),
            job["created_by"],
            age,
        )
        _add(table, row, job["state"])
    make_console().print(table)


def restarts(job: Json) -> str:
    """Never one bare number: those that spend the budget, and those that do not."""
    counted = job["restarts"]
    return f"{counted['failure']} failure, {counted['membership']} membership"


def print_nodes(nodes: Sequence[Json]) -> None:
    """What nodes offer by name has a column where one does."""
    offered = {node["name"]: _environments(node) for node in nodes}
    has_some = any(offered.values())
    table = _table("node", "state", "slots>", "jobs", *(["environments"] if has_some else []), "troubles")
    for node in nodes:
        used = f"{node['slots'] - node['slots_free']}/{node['slots']}"
        jobs = ", ".join(f"{one['job']} {one['name']}" for one in node["jobs"]) or "–"
        troubles = " ".join(filter(None, (node["takes_no_jobs"], *node["troubles"]))) or "–"
        silent = (
            f" for {say_span(node['silent_s'])}" if node["state"] != "online" and node["silent_s"] else ""
        )
        python = [offered[node["name"]] or "–"] if has_some else []
        _add(table, (node["name"], node["state"] + silent, used, jobs, *python, troubles), node["state"])
    make_console().print(table)


def _environments(node: Json) -> str:
    """As a job's ``python`` asks for them; those that work. Older node agents tell of none."""
    told = node["facts"].get("environments", [])
    return ", ".join(f"env:{one['name']}" for one in told if not one.get("trouble"))


def print_uploads(uploads: Iterable[Json]) -> None:
    table = _table("digest", "name", "files>", "MiB>", "by", "at", "used by")
    for one in uploads:
        used = ", ".join(f"job {number}" for number in one["used_by"]) or "–"
        size = f"{one['size_bytes'] / (1 << 20):.2f}"
        at = one["uploaded_at"][:16].replace("T", " ")
        _add(table, (one["digest"], one["name"], one["file_count"], size, one["uploaded_by"], at, used), "")
    make_console().print(table)


def print_job(job: Json, url: str) -> None:
    console = make_console()
    from rich.text import Text

    title = Text(clean(f"job {job['id']} {job['name']} · "), style="bold")
    console.print(title.append(job["state"], style=_STYLES.get(job["state"], "")))
    for line in lines_of(job, url):
        console.print(Text(clean(line)))
    if job["workers"]:
        console.print()
        console.print(_workers(job["workers"]))


def lines_of(job: Json, url: str) -> Iterator[str]:
    """All that is worth a line, and nothing that is not known."""
    nodes, counted = job["nodes"], job["restarts"]
    yield job["headline"]["sentence"]
    yield ""
    yield f"nodes      {nodes['alive']} alive of {nodes['wanted']} wanted ({nodes['min']} to {nodes['max']})"
    yield f"ranks      {job['workers_alive']} of {job['world_size']} alive"
    if job["round"] is not None:
        yield f"round      {job['round']} of attempt {job['attempt']}"
    yield f"restarts   {restarts(job)}; {counted['remaining']} of {counted['max_restarts']} left"
    if limit := job.get("time_limit"):
        is_left = f"{say_span(limit['left_s'])} left of {say_span(limit['limit_s'])}"
        yield f"time limit {is_left}" + ("; it has more than that to train" if limit["is_too_short"] else "")
    if job["step"] is not None:
        yield f"step       {job['step']}" + (f" of {job['total']}" if job["total"] else "")
    if job["metrics"]:
        yield "metrics    " + ", ".join(f"{name} {value:.6g}" for name, value in job["metrics"].items())
    if job["checkpoint_step"] is not None:
        yield f"checkpoint step {job['checkpoint_step']}"
    yield f"launched   {job['created_at']} by {job['created_by']}"
    if job["ended_at"]:
        yield f"ended      {job['ended_at']}"
    yield f"page       {url}"
    for trouble in job["troubles"]:
        yield f"trouble    {trouble['sentence']}"
    if job["failure"]:
        yield from _failure(job["failure"])


def _failure(failure: Json) -> Iterator[str]:
    yield ""
    rank = "" if failure["rank"] is None else f"rank {failure['rank']} on {failure['node']}: "
    yield f"failure    {rank}{failure['said']}"
    for line in failure["traceback"].splitlines():
        yield f"  {line}"


def _workers(workers: Iterable[Json]) -> Table:
    table = _table("rank>", "node", "pid>", "state", "step>", "said")
    for one in sorted(workers, key=lambda worker: int(worker["rank"])):
        step = "–" if one["step"] is None else one["step"]
        _add(table, (one["rank"], one["node"], one["pid"], one["state"], step, one["said"]), one["state"])
    return table


def say_span(seconds: float) -> str:
    """``7 s``, ``12 min``, ``3 h``, ``5 d``: as much as a glance needs."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(max(0, seconds))} s"
