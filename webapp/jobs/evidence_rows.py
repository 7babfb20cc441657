"""Turns what nodes say of kept evidence, and of a job's own commands, into rows. Called by ingest.

A node may say the same again after a restart of its agent: the row is then as it was.
"""

from __future__ import annotations

from agents.wire.events import EvidenceKept, HookEnded

from .models import Attempt, EvidencePart, HookRun


def note_evidence(event: EvidenceKept) -> int | None:
    """Gives the job that it is about; None for an attempt that this hub does not know."""
    attempt = Attempt.objects.filter(pk=event.attempt).first()
    if attempt is None:
        return None
    EvidencePart.objects.update_or_create(
        attempt=attempt,
        node=event.node,
        round=event.round,
        defaults={
            "size_bytes": event.size_bytes,
            "cause": event.cause,
            "ranks": list(event.ranks),
            "stacks": list(event.stacks),
            "missing": list(event.missing),
            "kept_at": event.at,
            "is_dropped": False,
        },
    )
    dropped = EvidencePart.objects.filter(attempt=attempt, node=event.node, round__in=event.dropped)
    dropped.update(is_dropped=True)
    return attempt.job_id


def note_hook(event: HookEnded) -> int | None:
    """The same of a command that is over."""
    attempt = Attempt.objects.filter(pk=event.attempt).first()
    if attempt is None:
        return None
    HookRun.objects.update_or_create(
        attempt=attempt,
        node=event.node,
        incarnation=event.incarnation,
        hook=event.hook,
        round=event.round,
        index=event.index,
        defaults={
            "outcome": event.outcome,
            "exit_code": event.exit_code,
            "took_s": event.took_s,
            "said": event.said,
            "output": event.output,
            "output_bytes": event.output_bytes,
            "ended_at": event.at,
        },
    )
    return attempt.job_id
