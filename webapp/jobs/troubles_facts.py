"""Puts together what the troubles of a job are told from, and gives them as the API does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from agents.wire.lifecycle import JobState, RunnerState
from agents.wire.rdzv import read_rdzv_conf
from agents.wire.streams import NOT_HEARD_S
from webapp.fleet.answers import silence_of
from webapp.fleet.models import Node

from .models import Attempt, Job, Member, Round, Worker
from .specs import spec_of
from .troubles import NodeSeen, RoundSeen, Trouble, TroubleFacts, WorkerEnd, troubles_of_job
from .troubles_of_workers import troubles_of_workers
from .troubles_schemas import TroubleOut

MOST_ENDS = 20
"""So many ranks of one round are looked at, the first to end in front: they all say much the same."""
Members = Sequence[tuple[Member, RunnerState]]


def troubles_out(
    job: Job,
    attempt: Attempt | None,
    members: Members,
    rounds: Sequence[Round],
    nodes: Mapping[str, Node],
    step: int | None,
    ends: Sequence[WorkerEnd],
    now: datetime,
) -> list[TroubleOut]:
    """Of the newest attempt, whose members and rounds are given. ``step``: how far its newest round is."""
    if attempt is None or job.state in (JobState.SUCCEEDED, JobState.STOPPED):
        return []
    facts = _facts(job, members, rounds, nodes, step, ends, now)
    told = _all_troubles(facts)
    return [
        TroubleOut(kind=t.kind, sentence=t.sentence, source=t.source, what_to_do=t.what_to_do) for t in told
    ]


def _all_troubles(facts: TroubleFacts) -> list[Trouble]:
    """What a worker suffers from comes first: it would fail in the same way with more restarts, too."""
    of_workers = troubles_of_workers(facts)
    of_job = [t for t in troubles_of_job(facts) if not (of_workers and t.kind == "did_not_shrink")]
    return of_workers + of_job


def _facts(
    job: Job,
    members: Members,
    rounds: Sequence[Round],
    nodes: Mapping[str, Node],
    step: int | None,
    ends: Sequence[WorkerEnd],
    now: datetime,
) -> TroubleFacts:
    spec = spec_of(job)
    saved = [runner.checkpoint_step for _, runner in members if runner.checkpoint_step is not None]
    return TroubleFacts(
        state=JobState(job.state),
        min_nodes=job.min_nodes,
        max_nodes=job.max_nodes,
        max_restarts=spec.max_restarts,
        backend=spec.rdzv_backend,
        endpoint=spec.rdzv_endpoint,
        join_timeout_s=read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend).join_timeout,
        env=spec.env,
        members=tuple(_node(member, runner, nodes.get(member.node), now) for member, runner in members),
        rounds=tuple(_round(row, step if row is rounds[-1] else None) for row in rounds[-2:]),
        step=step,
        checkpoint_step=max(saved, default=None),
        ends=tuple(ends),
    )


def _node(member: Member, runner: RunnerState, node: Node | None, now: datetime) -> NodeSeen:
    silence_s = None if node is None else silence_of(node, now)
    facts = {} if node is None else node.facts
    return NodeSeen(
        node=member.node,
        phase=runner.phase,
        since=runner.since,
        waits_s=(now - runner.since).total_seconds() if runner.since else 0.0,
        joined=runner.joined,
        is_heard=silence_s is not None and silence_s < NOT_HEARD_S,
        is_spare=runner.is_spare,
        died=runner.died,
        reason=runner.reason,
        machine=str(facts.get("boot_id") or facts.get("host") or member.node),
    )


def _round(row: Round, step: int | None) -> RoundSeen:
    return RoundSeen(
        number=row.number,
        world_size=row.world_size,
        nodes=tuple(row.nodes),
        resumed_step=row.resumed_step,
        last_step=row.last_step,
        reports_steps=step is not None or "first_step" in row.moments,
    )


def worker_ends(attempt: Attempt, rounds: Sequence[Round]) -> tuple[WorkerEnd, ...]:
    """Of the newest round, or of the one before, which the newest began for."""
    if not rounds:
        return ()
    failed = attempt.workers.filter(role__in=("cause", "peer_lost"), round__gte=rounds[-1].number - 1)
    found = list(failed.order_by("-round", "ended_at", "rank")[:MOST_ENDS])
    return tuple(_end(worker) for worker in found if worker.round == found[0].round)


def _end(worker: Worker) -> WorkerEnd:
    error = worker.error or {}
    lived = worker.ended_at - worker.started_at if worker.ended_at else None
    return WorkerEnd(
        rank=worker.rank,
        node=worker.node,
        said=worker.said,
        text="\n".join([error.get("message", ""), error.get("traceback", ""), worker.said]),
        source=worker.known_from,
        exit_code=worker.exit_code,
        lived_s=lived.total_seconds() if lived is not None else None,
        is_cause=worker.role == "cause",
    )
