"""What is free on the nodes, and who holds the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from webapp.fleet.answers import seconds_since
from webapp.fleet.leases import state_after
from webapp.fleet.models import Node, NodeState
from webapp.fleet.schemas import NodeJob

from .models import Member
from .placement import Room


class _Row(NamedTuple):
    """What is read of each node. Making models of a thousand would take longer than all that is decided."""

    name: str
    slots: int
    facts: dict[str, Any]
    last_heard_at: datetime | None
    draining_since: datetime | None
    set_aside_at: datetime | None


def jobs_on(nodes: Iterable[str] | None = None) -> dict[str, list[NodeJob]]:
    """What holds slots on each node: members that the node has not settled yet. None asks for all nodes."""
    members = Member.objects.filter(settled_at=None).order_by("attempt__job_id")
    if nodes is not None:
        members = members.filter(node__in=list(nodes))
    found: dict[str, list[NodeJob]] = defaultdict(list)
    # Values, not rows: a job's spec may be large, and every node that it has would bring it along.
    wanted = ("node", "slots", "phase", "attempt_id", "attempt__job_id", "attempt__job__name")
    for node, slots, phase, attempt, job, name in members.values_list(*wanted):
        found[node].append(NodeJob(job=job, name=name, attempt=attempt, slots=slots, phase=phase))
    return found


def read_rooms() -> list[Room]:
    """Every registered node as a place for workers, in order of name."""
    jobs, now = jobs_on(), timezone.now()
    rows = [_Row(*values) for values in Node.objects.values_list(*_Row._fields)]
    return [
        _room(row, jobs.get(row.name, []), state_after(seconds_since(row.last_heard_at, now))) for row in rows
    ]


def _room(node: _Row, jobs: list[NodeJob], state: NodeState) -> Room:
    host = str(node.facts.get("host", ""))
    gpus = node.facts.get("gpus", ())
    return Room(
        node=node.name,
        slots=node.slots,
        free=max(0, node.slots - sum(job.slots for job in jobs)),
        is_online=state is NodeState.ONLINE,
        held_by=tuple(f"job {job.job} {job.name}" for job in jobs),
        names=frozenset({host, *node.facts.get("addresses", ())} - {""}),
        machine=str(node.facts.get("boot_id") or host or node.name),
        closed=_why_closed(node),
        cpus=int(node.facts.get("cpus", 0)),
        gpus=len(gpus),
        gpu_models=tuple(str(gpu.get("name", "")) for gpu in gpus),
        labels=node.facts.get("labels") or {},
        environments=offered_by(node.facts),
        opens_secrets=bool(node.facts.get("secrets_key")),
        is_lost=state is NodeState.LOST,
    )


def offered_by(facts: Mapping[str, Any]) -> dict[str, str]:
    """Its named interpreters: why no job can run with one, or nothing. An older node agent tells of none."""
    return {str(one["name"]): str(one.get("trouble", "")) for one in facts.get("environments", ())}


def _why_closed(node: _Row) -> str:
    if node.draining_since is not None:
        return "is being drained"
    return "is set aside, as it came and went too often" if node.set_aside_at is not None else ""
