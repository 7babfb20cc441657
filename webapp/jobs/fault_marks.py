"""Marks of the timeline for what was done by hand: who did it, to whom, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from django.db.models import QuerySet

from webapp.fleet.models import Command

from .fault_schemas import FaultKind
from .models import Attempt
from .timeline_schemas import MarkOut

FAULT_KINDS: tuple[str, ...] = get_args(FaultKind)
NOT_DONE = ("refused", "undelivered")


def fault_marks(attempts: QuerySet[Attempt]) -> list[MarkOut]:
    asked = Command.objects.filter(kind__in=FAULT_KINDS, attempt__in=attempts.values("id"))
    return [_mark(command) for command in asked.exclude(state__in=NOT_DONE).select_related("by")]


def _mark(command: Command) -> MarkOut:
    who = command.by.username if command.by else "Regroup"
    why = f": {command.why.rstrip('.')}" if command.why else ""
    return MarkOut(
        kind="kill" if command.kind.startswith("kill_") else "fault",
        at=command.created_at,
        node=command.node,
        rank=command.body.get("rank"),
        round=command.body.get("round"),
        says=f"{who} {_did(command.kind, command.node, command.body)}{why}.",
        by=who,
    )


def _did(kind: str, node: str, asked: Mapping[str, Any]) -> str:
    whom = f"rank {asked['rank']} (pid {asked['pid']})" if "rank" in asked else ""
    match kind:
        case "kill_worker":
            return f"sent {asked['signal']} to {whom}"
        case "freeze_worker":
            return f"froze {whom} for {asked['seconds']:g} s"
        case "slow_worker":
            return f"slowed {whom} to {asked['share']:.0%} for {asked['seconds']:g} s"
        case "kill_runner":
            return f"killed the runner on {node}"
        case "kill_agent":
            return f"killed the node agent on {node}"
        case _:
            return f"cut {node} off from the hub for {asked['seconds']:g} s"
