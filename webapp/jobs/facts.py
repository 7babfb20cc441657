"""Reads the rows of a job into what its standing and its needs are decided from."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from agents.wire.lifecycle import Phase, RunnerState
from agents.wire.rdzv import read_rdzv_conf
from agents.wire.streams import NOT_HEARD_S
from webapp.fleet.answers import silence_of
from webapp.fleet.models import Node

from .folded import runner_of
from .models import Attempt, Job, Member, NodeMoments, Round, Wanted
from .moments import COMING
from .round_why import coming_words, failure_words
from .situation import JobFacts, MemberFacts, RoundFacts, StallFacts
from .specs import spec_of
from .stop import grace_over_at


def facts_of(job: Job) -> JobFacts:
    """Of the newest attempt. One that is over and is to be followed by another has no members any more."""
    attempt = current_attempt(job)
    members = _members(attempt) if attempt else ()
    newest = attempt.rounds.order_by("-number").first() if attempt else None
    return JobFacts(
        queue_reason=job.state_reason if job.state == "queued" else "",
        wants_stop=job.wanted == Wanted.STOP,
        stopped_by=job.stopped_by.username if job.stopped_by else "",
        stop_reason=job.stop_reason,
        **_asked_for(job),
        grace_over_at=grace_over_at(attempt) if attempt and job.wanted == Wanted.STOP else None,
        attempts=0 if members else job.attempts.count(),
        members=members,
        rounds=(_round(newest),) if newest else (),
        next_why=_next_why(newest, members) if newest else "",
        last_call_at=_last_call_at(attempt, members) if attempt else None,
        stall=_stall(attempt) if attempt else None,
    )


def current_attempt(job: Job) -> Attempt | None:
    """The newest one, unless it is over and the job is not."""
    return job.attempts.filter(ended_at=None).order_by("-number").first()


def _asked_for(job: Job) -> dict[str, Any]:
    """What the spec says, and where the operator has changed it since."""
    spec = job.spec
    grace_s = float(spec.get("shutdown_timeout", 30.0)) if job.stop_grace_s is None else job.stop_grace_s
    return {
        "grace_s": grace_s,
        "max_restarts": int(spec.get("max_restarts", 0)),
        "min_nodes": job.min_nodes,
        "max_nodes": job.max_nodes,
        "nodes_wanted": job.nodes_wanted or spec.get("nodes") or job.max_nodes,
        "scaled_why": job.nodes_wanted_why,
        "takes_what_is_free": not (job.nodes_wanted or spec.get("nodes") or job.min_nodes == job.max_nodes),
        "spares": int(spec.get("spares", 0)),
        "is_fixed": spec.get("rdzv_backend") == "static",
        "is_standalone": bool(spec.get("standalone")),
    }


def _next_why(newest: Round, members: tuple[MemberFacts, ...]) -> str:
    """A failed worker, or else whoever comes or goes."""
    if not any(_leaves_its_round(member.runner) for member in members):
        return ""
    return failure_words(newest.attempt_id, newest.number) or coming_words(newest)


def _last_call_at(attempt: Attempt, members: tuple[MemberFacts, ...]) -> datetime | None:
    """The last call runs from when there were enough of them: at the latest since the last one joined."""
    meeting = [m.runner for m in members if m.runner.phase is Phase.RENDEZVOUS and not m.is_unheard]
    inside = {node for runner in meeting for node in runner.joined}
    if not inside or len(inside) < attempt.job.min_nodes:
        return None
    rows = NodeMoments.objects.filter(attempt=attempt, round=COMING, node__in=inside).only("of_node")
    seen = [datetime.fromisoformat(row.of_node["joined"]) for row in rows if "joined" in row.of_node]
    spec = spec_of(attempt.job)
    last_call_s = read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend).last_call_timeout
    return max(seen) + timedelta(seconds=last_call_s) if seen else None


def _leaves_its_round(runner: RunnerState) -> bool:
    has_failed = any(worker.state in ("cause", "peer_lost") for worker in runner.workers)
    return has_failed or runner.phase in (Phase.RESTARTING, Phase.RENDEZVOUS)


def _members(attempt: Attempt) -> tuple[MemberFacts, ...]:
    rows, now = list(attempt.members.order_by("node")), timezone.now()
    nodes = {node.name: node for node in Node.objects.filter(name__in=[row.node for row in rows])}
    return tuple(_member(row, attempt, nodes.get(row.node), now) for row in rows)


def _member(row: Member, attempt: Attempt, node: Node | None, now: datetime) -> MemberFacts:
    silence_s = None if node is None else silence_of(node, now)
    return MemberFacts(
        node=row.node,
        runner=runner_of(row),
        silence_s=silence_s,
        is_unheard=silence_s is None or silence_s >= NOT_HEARD_S,
        heard_at=node.last_heard_at if node else None,
        is_out=node is not None and bool(node.draining_since or node.set_aside_at),
        order=row.pk,
        slots=row.slots,
        incarnation=row.incarnation,
        is_settled=row.settled_at is not None,
        hosts_store=row.node == attempt.store_host,
        leaves_at=row.leaves_at,
        leaves_why=row.leaves_why,
        deaths=tuple(datetime.fromisoformat(at) for at in row.deaths),
    )


def _stall(attempt: Attempt) -> StallFacts | None:
    row = attempt.stalls.filter(ended_at=None).only("round", "began_at", "why", "acted").first()
    if row is None:
        return None
    return StallFacts(round=row.round, began_at=row.began_at, why=row.why, acted=row.acted)


def _round(row: Round) -> RoundFacts:
    return RoundFacts(
        number=row.number,
        world_size=row.world_size,
        nodes=tuple(row.nodes),
        cause=row.cause,
        why=row.why,
        formed_at=row.formed_at,
    )
