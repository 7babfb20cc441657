"""Reads the rows of a job into what its standing is decided from."""

from __future__ import annotations

from django.utils import timezone

from agents.wire.lifecycle import Phase, RunnerState
from agents.wire.streams import NOT_HEARD_S
from webapp.fleet.answers import silence_of
from webapp.fleet.models import Node

from .folded import runner_of
from .models import Job, Member, Round, Wanted
from .round_why import failure_words
from .standing import JobFacts, MemberFacts, RoundFacts


def facts_of(job: Job) -> JobFacts:
    attempt = job.attempts.order_by("-number").first()
    members = _members(list(attempt.members.all())) if attempt else ()
    newest = attempt.rounds.order_by("-number").first() if attempt else None
    leaves = newest is not None and any(_leaves_its_round(m.runner) for m in members)
    return JobFacts(
        queue_reason=job.state_reason if job.state == "queued" else "",
        wants_stop=job.wanted == Wanted.STOP,
        stopped_by=job.stopped_by.username if job.stopped_by else "",
        stop_reason=job.stop_reason,
        grace_s=float(job.spec.get("shutdown_timeout", 30.0)),
        min_nodes=job.min_nodes,
        max_restarts=int(job.spec.get("max_restarts", 0)),
        members=members,
        rounds=(_round(newest),) if newest else (),
        next_why=failure_words(newest.attempt_id, newest.number) if newest and leaves else "",
    )


def _leaves_its_round(runner: RunnerState) -> bool:
    has_failed = any(worker.state in ("cause", "peer_lost") for worker in runner.workers)
    return has_failed or runner.phase in (Phase.RESTARTING, Phase.RENDEZVOUS)


def _members(rows: list[Member]) -> tuple[MemberFacts, ...]:
    now = timezone.now()
    nodes = {node.name: node for node in Node.objects.filter(name__in=[row.node for row in rows])}
    facts = []
    for row in rows:
        node = nodes.get(row.node)
        silence_s = None if node is None else silence_of(node, now)
        facts.append(
            MemberFacts(
                node=row.node,
                runner=runner_of(row),
                silence_s=silence_s,
                is_unheard=silence_s is None or silence_s >= NOT_HEARD_S,
            )
        )
    return tuple(facts)


def _round(row: Round) -> RoundFacts:
    return RoundFacts(
        number=row.number,
        world_size=row.world_size,
        nodes=tuple(row.nodes),
        cause=row.cause,
        why=row.why,
        formed_at=row.formed_at,
    )
