"""Rows that follow from a runner's records: rounds, workers, and the lanes of the timeline."""

from __future__ import annotations

import dataclasses
from datetime import datetime

from django.db.models import Q

from agents.wire.lifecycle import Phase, RunnerState
from agents.wire.runner_events import RendezvousCompleted, Resumed, WorkerExited, WorkersStarted

from .comings import note_comings
from .models import Member, PhaseSpan, Round, Worker
from .round_why import explain_round

RUNNING = "running"


def form_round(member: Member, event: RendezvousCompleted) -> None:
    """Every member reports the round; the first report makes the row."""
    row, is_new = Round.objects.get_or_create(
        attempt_id=member.attempt_id,
        number=event.round,
        defaults={
            "world_size": event.world_size,
            "nodes": list(event.nodes),
            "cause": event.cause,
            "charged": event.charged or "",
            "claims": [_plain_claim(claim) for claim in event.claims],
            "absent": dict(event.absent),
            "formed_at": event.at,
        },
    )
    if is_new:
        _compare_with_before(row)
        # Nodes ship their journals apart: the round that follows may be known already.
        if (following := _following(row.attempt_id, row.number)) is not None:
            _compare_with_before(following)


def _compare_with_before(row: Round) -> None:
    explain_round(row)
    note_comings(row)


def _following(attempt_id: str, number: int) -> Round | None:
    return Round.objects.filter(attempt_id=attempt_id, number=number + 1).first()


def explain_newest(member: Member) -> None:
    """How a runner ended may be what the newest round without its node began for."""
    newest = Round.objects.filter(attempt_id=member.attempt_id).order_by("-number").first()
    if newest is not None and member.node not in newest.nodes:
        explain_round(newest)


def _plain_claim(claim: object) -> dict[str, object]:
    plain = dataclasses.asdict(claim)  # type: ignore[call-overload]  # always a Claim
    return {**plain, "at": plain["at"].isoformat() if plain["at"] else None}


def start_workers(member: Member, event: WorkersStarted) -> None:
    """The workers of this round; whoever of an older round has no known end is not running any more."""
    close_workers(member, event.at, before_round=event.round)
    Worker.objects.bulk_create(
        (
            Worker(
                attempt_id=member.attempt_id,
                round=event.round,
                rank=ref.rank,
                local_rank=ref.local_rank,
                node=member.node,
                pid=ref.pid,
                start_time=ref.start_time,
                started_at=event.at,
            )
            for ref in event.workers
        ),
        ignore_conflicts=True,
    )


def note_resumed(member: Member, event: Resumed) -> None:
    """All go on from the same step; where they do not, what is redone begins with the lowest."""
    row = Round.objects.filter(attempt_id=member.attempt_id, number=event.round)
    row.filter(Q(resumed_step=None) | Q(resumed_step__gt=event.step)).update(resumed_step=event.step)


def note_last_step(member: Member, runner: RunnerState) -> None:
    """Call when a round is over for that node."""
    steps = [worker.step for worker in runner.workers if worker.step is not None]
    if steps and runner.round is not None:
        row, last = Round.objects.filter(attempt_id=member.attempt_id, number=runner.round), max(steps)
        row.filter(Q(last_step=None) | Q(last_step__lt=last)).update(last_step=last)


def end_worker(member: Member, event: WorkerExited) -> None:
    Worker.objects.filter(
        attempt_id=member.attempt_id, round=event.round, rank=event.worker.rank, pid=event.worker.pid
    ).update(
        ended_at=event.at,
        exit_code=event.exit_code,
        signal=event.signal or "",
        role=event.role,
        ended_by=event.ended_by,
        known_from=event.known_from,
        said=event.said,
        error=dataclasses.asdict(event.error) if event.error else None,
    )
    following = _following(member.attempt_id, event.round) if event.role in ("cause", "peer_lost") else None
    if following is not None:
        explain_round(following)


def close_workers(member: Member, at: datetime, before_round: int | None = None) -> None:
    """Rows of this node that still say running, although nothing of them can run."""
    left = Worker.objects.filter(attempt_id=member.attempt_id, node=member.node, role=RUNNING)
    if before_round is not None:
        left = left.filter(round__lt=before_round)
    left.update(role="unknown", ended_at=at, said="ended; how is not known")


def move_lane(member: Member, phase: Phase, round_number: int | None, at: datetime) -> None:
    """Close the open stretch of the node's lane, and open the next unless the runner has ended."""
    spans = PhaseSpan.objects.filter(attempt_id=member.attempt_id, node=member.node, ended_at=None)
    spans.update(ended_at=at)
    if phase is not Phase.ENDED:
        PhaseSpan.objects.create(
            attempt_id=member.attempt_id, node=member.node, phase=phase.value, round=round_number, began_at=at
        )
