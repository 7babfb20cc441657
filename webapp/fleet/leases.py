"""Is a node there, is its clock right, what troubles it? Read from its lease; noted on its row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from django.db import transaction
from django.utils import timezone

from agents.wire import streams
from agents.wire.clock import Offset, between
from webapp.database import update_rows
from webapp.redis import get_redis

from .models import Node, NodeState

LOST_S = 15.0
"""Silence after which a node is called lost."""

LONGEST_TROUBLE = 500
NOTED = ("last_heard_at", "state", "clock_offset_s", "clock_error_s", "troubles")
CLOCK_STEP_S = 0.005
"""A change of a clock's offset that is worth showing at once; below it is the measuring itself."""


@dataclass(frozen=True)
class Lease:
    silence_s: float | None
    """None: there is no lease (any more)."""
    clock: Offset | None = None
    """The node's clock from Redis's. None: the node has not said."""
    troubles: tuple[str, ...] = ()
    """What does not work there, a sentence each."""
    journal: str = ""
    """Source of the node's own journal. Empty: the node has not said."""
    seq: int = 0
    """How far that journal goes."""


@dataclass(frozen=True)
class Noted:
    """What a look at the leases has changed, by names of nodes."""

    states: set[str]
    others: set[str]
    """Whose clock or troubles are not what they were."""


def state_after(silence_s: float | None) -> NodeState:
    """None stands for a node that was never heard."""
    if silence_s is None or silence_s >= LOST_S:
        return NodeState.LOST
    return NodeState.ONLINE if silence_s < streams.NOT_HEARD_S else NodeState.UNHEARD


def silence_from(ttl_ms: int) -> float | None:
    """Seconds of silence from a lease's remaining time; None where there is no lease (any more)."""
    return None if ttl_ms < 0 else max(0.0, streams.LEASE_S - ttl_ms / 1000)


def clock_from(text: bytes | str | None) -> Offset | None:
    """The offset in a lease; None where it holds none that can be read, as from an older agent."""
    try:
        told = json.loads(text or "{}")["clock"]
        return Offset(float(told["offset_s"]), float(told["error_s"]))
    except (ValueError, KeyError, TypeError):
        return None


def troubles_from(text: bytes | str | None) -> tuple[str, ...]:
    try:
        told = json.loads(text or "{}").get("troubles", ())
        return tuple(str(trouble)[:LONGEST_TROUBLE] for trouble in told)
    except (ValueError, AttributeError, TypeError):
        return ()


def read_lease(ttl_ms: int, text: bytes | str | None) -> Lease:
    journal, seq = journal_from(text)
    return Lease(silence_from(ttl_ms), clock_from(text), troubles_from(text), journal, seq)


def journal_from(text: bytes | str | None) -> tuple[str, int]:
    try:
        told = json.loads(text or "{}")
        return str(told["journal"]), int(told["seq"])
    except (ValueError, KeyError, TypeError):
        return "", 0


def read_leases() -> dict[str, Lease]:
    """The leases of every registered node, in one round trip.

    Raises:
        redis.RedisError: Redis does not answer.
    """
    names = list(Node.objects.values_list("name", flat=True))
    pipeline = get_redis().pipeline(transaction=False)
    for name in names:
        pipeline.pttl(streams.lease(name))
        pipeline.get(streams.lease(name))
    answers = iter(pipeline.execute())
    return {name: read_lease(cast(int, next(answers)), next(answers)) for name in names}


def note_leases(
    leases: Mapping[str, Lease], hub_clock: Offset | None = None, now: datetime | None = None
) -> Noted:
    """Note on the rows who was heard when, and how far its clock is from the hub's.

    With an empty mapping, as when Redis does not answer, every node just grows older.
    """
    now = now or timezone.now()
    nodes = list(Node.objects.all())
    states = {node.name for node in nodes if _note_heard(node, leases.get(node.name), now)}
    clocks = {node.name for node in nodes if _note_clock(node, leases.get(node.name), hub_clock)}
    troubles = {node.name for node in nodes if _note_troubles(node, leases.get(node.name))}
    with transaction.atomic():
        update_rows(nodes, NOTED)
    return Noted(states, clocks | troubles)


def _note_heard(node: Node, lease: Lease | None, now: datetime) -> bool:
    if lease is not None and lease.silence_s is not None:
        heard_at = now - timedelta(seconds=lease.silence_s)
        node.last_heard_at = max(heard_at, node.last_heard_at or heard_at)
    age = None if node.last_heard_at is None else (now - node.last_heard_at).total_seconds()
    before, node.state = node.state, state_after(age)
    return before != node.state


def _note_clock(node: Node, lease: Lease | None, hub_clock: Offset | None) -> bool:
    """A node that is silent keeps what was measured last; one that measures nothing has nothing."""
    if lease is None or lease.silence_s is None or hub_clock is None:
        return False
    before = node.clock_offset_s
    apart = None if lease.clock is None else between(lease.clock, hub_clock)
    node.clock_offset_s = None if apart is None else round(apart.offset_s, 6)
    node.clock_error_s = None if apart is None else round(apart.error_s, 6)
    if before is None or node.clock_offset_s is None:
        return before is not node.clock_offset_s
    return abs(before - node.clock_offset_s) > CLOCK_STEP_S


def _note_troubles(node: Node, lease: Lease | None) -> bool:
    """A node that is silent keeps what it said last."""
    if lease is None or lease.silence_s is None:
        return False
    before, node.troubles = node.troubles, list(lease.troubles)
    return bool(before != node.troubles)
