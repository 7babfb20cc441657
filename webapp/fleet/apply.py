"""Turns what node agents report into rows. Called by ingest, inside its transaction, once for each record."""

from __future__ import annotations

import dataclasses

from django.utils import timezone

from agents.wire.events import (
    AnyNodeEvent,
    CommandEnded,
    CommandReceived,
    EvidenceKept,
    FaultBegun,
    HookEnded,
    JournalRepaired,
    NodeStarted,
    NodeStopping,
    RunnerAdopted,
    RunnerSettled,
)

from .models import Node, NodeState
from .outbox import close_command, mark_received


def apply_node_event(event: AnyNodeEvent) -> None:
    match event:
        case NodeStarted():
            _register(event)
        case CommandReceived():
            mark_received(event.command, event.at)
        case CommandEnded():
            close_command(event.command, event.outcome, event.reason, dict(event.evidence), event.at)
        case (
            FaultBegun()
            | NodeStopping()
            | RunnerAdopted()
            | RunnerSettled()
            | EvidenceKept()
            | HookEnded()
            | JournalRepaired()
        ):
            # What follows from these is for the jobs to say; as records they are kept like all others.
            pass


def _register(event: NodeStarted) -> None:
    """A node is known from its first start on; each later start brings its facts up to date."""
    facts = dataclasses.asdict(event.facts)
    now = timezone.now()
    Node.objects.update_or_create(
        name=event.node,
        defaults={"slots": event.facts.slots, "facts": facts, "agent_started_at": event.at},
        create_defaults={
            "slots": event.facts.slots,
            "facts": facts,
            "agent_started_at": event.at,
            "registered_at": now,
            "last_heard_at": now,
            "state": NodeState.ONLINE,
        },
    )
