"""Rows of the fleet as answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from django.db.models import Count
from django.utils import timezone

from webapp.events.models import SET_ASIDE, Record
from webapp.masking import mask

from .drained import say_set_aside, say_takes_no_jobs
from .leases import state_after
from .models import Command, CommandState, Node
from .schemas import CommandOut, CommandStateWord, NodeJob, NodeOut, NodeStateWord

NOT_ASKED = frozenset({"id", "kind", "deadline_s", "by", "why"})
"""Fields of a wire command that its answer has in places of their own."""


def silence_of(node: Node, now: datetime) -> float | None:
    """Seconds since the last sign of life; None when there was none yet."""
    return seconds_since(node.last_heard_at, now)


def seconds_since(heard_at: datetime | None, now: datetime) -> float | None:
    return None if heard_at is None else max(0.0, (now - heard_at).total_seconds())


def count_set_aside() -> dict[str, int]:
    """How many records of each node could not be used. Nodes without any are left out."""
    found = Record.objects.filter(kind=SET_ASIDE).order_by().values_list("node").annotate(count=Count("id"))
    return dict(found)


def node_out(
    node: Node,
    jobs: list[NodeJob],
    set_aside: int = 0,
    keeps: Sequence[int] = (),
    now: datetime | None = None,
) -> NodeOut:
    """Give rows with their ``drained_by`` selected. ``keeps``: jobs whose store is still kept there."""
    silent_s = silence_of(node, now or timezone.now())
    return NodeOut(
        name=node.name,
        state=cast(NodeStateWord, state_after(silent_s).value),
        silent_s=None if silent_s is None else round(silent_s, 1),
        last_heard_at=node.last_heard_at,
        clock_offset_s=node.clock_offset_s,
        clock_error_s=node.clock_error_s,
        troubles=node.troubles,
        registered_at=node.registered_at,
        agent_started_at=node.agent_started_at,
        slots=node.slots,
        slots_free=max(0, node.slots - sum(job.slots for job in jobs)),
        jobs=jobs,
        draining_since=node.draining_since,
        drained_by=node.drained_by.username if node.drained_by else None,
        drain_reason=node.drain_reason,
        set_aside_at=node.set_aside_at,
        set_aside_why=say_set_aside(node),
        takes_no_jobs=say_takes_no_jobs(node, [job.job for job in jobs], keeps),
        is_drained=node.draining_since is not None and not jobs and not keeps,
        set_aside=set_aside,
        facts=node.facts,
    )


def command_out(command: Command) -> CommandOut:
    """Give rows with their ``by`` selected."""
    return CommandOut(
        id=str(command.id),
        kind=command.kind,
        node=command.node,
        job=command.job,
        attempt=command.attempt,
        state=cast(CommandStateWord, command.state),
        is_final=CommandState(command.state).is_final,
        reason=command.reason,
        evidence=command.evidence,
        by=command.by.username if command.by else "regroup",
        why=command.why,
        asked={key: value for key, value in mask(command.body).items() if key not in NOT_ASKED},
        created_at=command.created_at,
        sent_at=command.sent_at,
        received_at=command.received_at,
        ended_at=command.ended_at,
    )
