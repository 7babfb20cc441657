"""How long a kill takes while ingest catches up: ``python -m tests.benchmarks.catching_up``.

On SQLite, or with ``python -m tests.postgres`` in front of it on PostgreSQL.
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import redis

from agents.wire import streams
from agents.wire.events import AnyEvent
from agents.wire.plain import to_json
from agents.wire.runner_events import Claim
from tests.valkey import run_valkey

if TYPE_CHECKING:
    from tests.webapp.journals import RunnerJournal
    from webapp.accounts.models import Account
    from webapp.jobs.models import Job

NODES = ("node-1", "node-2", "node-3", "node-4")
STEPS = 40
"""Progress records of each round."""


def long_journal(attempt: str, node: str, nodes: Sequence[str], length: int) -> list[AnyEvent]:
    """A runner whose last node's worker is killed again and again, with training in between."""
    from tests.webapp.journals import RunnerJournal

    claims = (Claim(node=nodes[-1], role="cause", ranks=(2 * len(nodes) - 1,)),)
    journal = RunnerJournal(attempt, node, nodes).start().form().come_up()
    while len(journal.events) < length:
        for step in range(STEPS):
            journal.progress(journal.round * STEPS + step)
        _fail(journal, node == nodes[-1])
        journal.restart().form("failure", nodes[-1], claims).come_up()
    return list(islice(journal.events, length))


def _fail(journal: RunnerJournal, is_victim: bool) -> None:
    if is_victim:
        journal.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL")
        journal.exit(0, "stopped", "stopped by the runner (SIGTERM)", signal="SIGTERM")
        return
    for local_rank in range(2):
        journal.exit(local_rank, "peer_lost", "lost its connection to another worker", exit_code=1)


def fill(bus: redis.Redis, journals: Sequence[Sequence[AnyEvent]]) -> None:
    for events in journals:
        for start in range(0, len(events), 1000):
            pipeline = bus.pipeline(transaction=False)
            for event in events[start : start + 1000]:
                fields: dict[Any, Any] = {
                    streams.FIELD_SOURCE: event.source,
                    streams.FIELD_SEQ: event.seq,
                    streams.FIELD_BODY: to_json(event),
                }
                pipeline.xadd(streams.events(event.node), fields)
            pipeline.execute()
    for name in NODES:
        bus.sadd(streams.NODES, name)


@dataclass
class Seen:
    """What somebody at the API saw meanwhile. Times in seconds."""

    kills_s: list[float] = field(default_factory=list)
    """Until the answer, which comes after the command was sent."""
    sent_s: list[float] = field(default_factory=list)
    """Until the command lay in the node's stream."""
    looks_s: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    lasted_s: float = 0.0


def prepare(by: Account, entries: int) -> tuple[Job, list[list[AnyEvent]]]:
    """A job whose workers may be killed, and two others whose nodes have a lot to tell."""
    from tests.webapp.factories import make_node, make_running_job
    from webapp.jobs.models import Member, Worker

    for name in NODES:
        make_node(name, slots=8)
    target = make_running_job(by, NODES[:2], name="target")
    journals = []
    for nodes in (NODES[:2], NODES[2:]):
        attempt = make_running_job(by, nodes, name="busy", max_restarts=1000).attempts.get()
        attempt.rounds.all().delete()
        Worker.objects.filter(attempt=attempt).delete()
        Member.objects.filter(attempt=attempt).update(folded={}, phase="launching")
        journals += [long_journal(attempt.id, node, nodes, entries // len(NODES)) for node in nodes]
    return target, journals


def watch(
    bus: redis.Redis, url: str, token: str, job_id: int, journals: Sequence[Sequence[AnyEvent]]
) -> Seen:
    """Kill and look, again and again, until everything is acknowledged."""
    seen, begun = Seen(), time.monotonic()
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as api:
        for turn in count():
            _kill(bus, api, job_id, turn % 4, seen)
            for path in ("/api/jobs", f"/api/jobs/{job_id}", "/api/nodes"):
                _look(api, path, seen)
            if all(_acked(bus, events) == len(events) for events in journals):
                break
            time.sleep(0.1)
    seen.lasted_s = time.monotonic() - begun
    return seen


def _acked(bus: redis.Redis, events: Sequence[AnyEvent]) -> int:
    return int(bus.hget(streams.acks(events[0].node), events[0].source) or 0)


def _kill(bus: redis.Redis, api: httpx.Client, job_id: int, rank: int, seen: Seen) -> None:
    before = time.time()
    answer = api.post(f"/api/jobs/{job_id}/faults", json={"kind": "kill_worker", "rank": rank})
    seen.kills_s.append(time.time() - before)
    if answer.status_code != 202:
        seen.failed.append(f"kill: {answer.status_code} {answer.text}")
        return
    entries: Any = bus.xrevrange(streams.commands(answer.json()["node"]), count=5)
    found = [entry_id for entry_id, fields in entries if answer.json()["id"].encode() in fields[b"b"]]
    if not found:
        seen.failed.append(f"kill: the command {answer.json()['id']} is not in the stream")
        return
    # An entry's id begins with the server's time in milliseconds.
    seen.sent_s.append(int(found[0].split(b"-")[0]) / 1000 - before)


def _look(api: httpx.Client, path: str, seen: Seen) -> None:
    before = time.time()
    answer = api.get(path)
    seen.looks_s.append(time.time() - before)
    if answer.status_code != 200:
        seen.failed.append(f"{path}: {answer.status_code} {answer.text}")


def _row(name: str, times: list[float]) -> str:
    ordered = sorted(times)
    at = [ordered[min(len(ordered) - 1, math.ceil(len(ordered) * part) - 1)] for part in (0.5, 0.95, 1.0)]
    p50, p95, most = (f"{1000 * value:7.0f}" for value in at)
    return f"{name:<14}{len(ordered):>6}{p50}{p95}{most}"


def _report(entries: int, seen: Seen) -> Iterator[str]:
    yield f"{entries} entries in {seen.lasted_s:.1f} s, {entries / seen.lasted_s:.0f} a second"
    yield f"{'ms':<14}{'count':>6}{'p50':>7}{'p95':>7}{'max':>7}"
    yield _row("kill answered", seen.kills_s)
    yield _row("kill sent", seen.sent_s)
    yield _row("looks", seen.looks_s)
    yield f"failed: {len(seen.failed)} {seen.failed[:3]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    entries = parser.parse_args().entries
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(run_valkey(folder))
        os.environ |= {"REGROUP_DATA": str(folder / "own"), "REGROUP_REDIS_URL": url}
        _measure(stack, folder, redis.Redis.from_url(url), entries)


def _measure(stack: ExitStack, folder: Path, bus: redis.Redis, entries: int) -> None:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.settings"
    django.setup()
    logging.getLogger("httpx").setLevel(logging.WARNING)
    from django.core.management import call_command

    from tests.webapp.processes import Hub
    from webapp.accounts.models import Account, Role
    from webapp.accounts.tokens import make_token

    call_command("migrate", verbosity=0)
    anna = Account.objects.create_user("anna", role=Role.OPERATOR)
    job, journals = prepare(anna, entries)
    fill(bus, journals)
    hub = Hub(folder)
    base = stack.enter_context(hub.web())
    stack.enter_context(hub.ingest())
    for line in _report(entries, watch(bus, base, make_token(anna), job.id, journals)):
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
