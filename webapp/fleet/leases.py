"""Is a node there? Read from what is left of its lease; noted on its row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from django.db import transaction
from django.utils import timezone

from agents.wire import streams
from webapp.redis import get_redis

from .models import Node, NodeState

LOST_S = 15.0
"""Silence after which a node is called lost."""


def state_after(silence_s: float | None) -> NodeState:
    """None stands for a node that was never heard."""
    if silence_s is None or silence_s >= LOST_S:
        return NodeState.LOST
    return NodeState.ONLINE if silence_s < streams.NOT_HEARD_S else NodeState.UNHEARD


def silence_from(ttl_ms: int) -> float | None:
    """Seconds of silence from a lease's remaining time; None where there is no lease (any more)."""
    return None if ttl_ms < 0 else max(0.0, streams.LEASE_S - ttl_ms / 1000)


def read_leases() -> dict[str, float | None]:
    """Silence in seconds of every registered node, in one round trip.

    Raises:
        redis.RedisError: Redis does not answer.
    """
    names = list(Node.objects.values_list("name", flat=True))
    pipeline = get_redis().pipeline(transaction=False)
    for name in names:
        pipeline.pttl(streams.lease(name))
    return {name: silence_from(cast(int, ttl)) for name, ttl in zip(names, pipeline.execute(), strict=True)}


def note_heard(silences: Mapping[str, float | None], now: datetime | None = None) -> set[str]:
    """Note on the rows who was heard when; gives the names whose state word changed.

    With an empty mapping, as when Redis does not answer, every node just grows older.
    """
    now = now or timezone.now()
    nodes = list(Node.objects.all())
    changed = {node.name for node in nodes if _note(node, silences.get(node.name), now)}
    with transaction.atomic():
        Node.objects.bulk_update(nodes, ["last_heard_at", "state"])
    return changed


def _note(node: Node, silence_s: float | None, now: datetime) -> bool:
    if silence_s is not None:
        heard_at = now - timedelta(seconds=silence_s)
        node.last_heard_at = max(heard_at, node.last_heard_at or heard_at)
    age = None if node.last_heard_at is None else (now - node.last_heard_at).total_seconds()
    before, node.state = node.state, state_after(age)
    return before != node.state
