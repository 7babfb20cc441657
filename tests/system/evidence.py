"""What must hold however bad the night was, read from the nodes' disks, the database and the kernel."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.system.stack import Stack
from tests.waiting import wait_until
from webapp.stack.leftovers import bundle_in, find_marked, mark_of

Records = dict[str, list[tuple[int, Any]]]
"""source -> (seq, record) in the order in which they were written, or taken."""


def on_disk(stack: Stack) -> Records:
    """Every line of every journal of the stack's nodes."""
    found: Records = defaultdict(list)
    for node in (stack.data / "nodes").glob("*"):
        for path in [node / "node.jsonl", *node.glob("bundles/*/journal.jsonl")]:
            for line in _lines(path):
                record = json.loads(line)
                found[record["source"]].append((record["seq"], record))
    return found


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def in_database(stack: Stack) -> Records:
    """Every record that the hub keeps, in the order in which it was taken."""
    database = sqlite3.connect(f"file:{stack.data / 'regroup.sqlite3'}?mode=ro", uri=True, timeout=20)
    try:
        rows = database.execute("SELECT source, seq, body FROM events_record ORDER BY id").fetchall()
    finally:
        database.close()
    found: Records = defaultdict(list)
    for source, seq, body in rows:
        found[source].append((seq, json.loads(body)))
    return found


def wait_all_taken(stack: Stack, timeout_s: float = 40.0) -> None:
    """Wait until the database has whatever the journals hold."""

    def is_taken() -> bool:
        kept = in_database(stack)
        missing.clear()
        missing.update(
            {
                source: (lines[-1][0], kept[source][-1][0] if kept[source] else 0)
                for source, lines in on_disk(stack).items()
                if not kept[source] or kept[source][-1][0] < lines[-1][0]
            }
        )
        return not missing

    missing: dict[str, tuple[int, int]] = {}
    try:
        wait_until(is_taken, timeout_s, "the database to have all records")
    except AssertionError as error:
        raise AssertionError(f"{error}; source: (on the disk, in the database): {missing}") from None


def assert_each_record_once(stack: Stack) -> None:
    """What the journals hold is in the database: each record once, in order, unchanged."""
    wait_all_taken(stack)
    # The disk first: what a node writes after this look is nobody's concern here, and need not be taken yet.
    written = on_disk(stack)
    wait_all_taken(stack)
    kept = in_database(stack)
    assert kept
    for source, records in kept.items():
        numbers = [seq for seq, _ in records]
        assert numbers == list(range(1, len(numbers) + 1)), f"{source} was taken as {numbers}"
    for source, lines in written.items():
        taken = dict(kept[source])
        assert {seq: record for seq, record in lines if taken.get(seq) != record} == {}, source


def assert_commands_closed(stack: Stack, timeout_s: float = 45.0) -> None:
    """Each was carried out, refused, failed, or is said not to have been delivered."""
    final = ("done", "refused", "failed", "undelivered")

    def left_open() -> list[tuple[str, ...]]:
        database = sqlite3.connect(f"file:{stack.data / 'regroup.sqlite3'}?mode=ro", uri=True, timeout=20)
        try:
            rows = database.execute("SELECT id, node, kind, state FROM fleet_command").fetchall()
        finally:
            database.close()
        return [row for row in rows if row[3] not in final]

    wait_until(lambda: not left_open(), timeout_s, "all commands to be closed")


def processes_of_jobs(stack: Stack) -> list[str]:
    """Runners, store keepers and workers that are alive, in words."""
    found = []
    for process in find_marked(mark_of(stack.data)):
        try:
            bundle = bundle_in(process.environ())
            if bundle:
                found.append(f"{process.pid} {bundle} {' '.join(process.cmdline())[:120]}")
        except psutil.Error:
            continue
    return found


def ports_of(stack: Stack) -> set[int]:
    """TCP ports on which processes of the stack listen."""
    pids = {process.pid for process in stack.processes()}
    listening = [c for c in psutil.net_connections("tcp") if c.status == psutil.CONN_LISTEN and c.laddr]
    return {int(getattr(c.laddr, "port", 0)) for c in listening if c.pid in pids}


def assert_nothing_left_of_jobs(stack: Stack, api: httpx.Client, ports_before: set[int]) -> None:
    """No process, no slot and no port is held by a job that has ended."""
    left: list[str] = []

    def none_left() -> bool:
        left[:] = processes_of_jobs(stack)
        return not left

    try:
        wait_until(none_left, 20, "no process of a job to be left")
    except AssertionError as error:
        raise AssertionError(f"{error}: {left}") from None

    def all_free() -> bool:
        nodes = api.get("/api/nodes").json()["items"]
        return all(node["slots_free"] == node["slots"] and node["jobs"] == [] for node in nodes)

    wait_until(all_free, 20, "all slots to be free")
    assert ports_of(stack) - ports_before == set()
