"""Begins an attempt on nodes, and takes what is left of one off them: rows and commands, nothing else.

Two placers at once make one attempt: the job's row is locked, and (job, number) is unique.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.db.models import F
from django.utils import timezone

from agents.wire.commands import StartRunner, StopRunner
from agents.wire.environments import environment_of
from agents.wire.lifecycle import JobState, Phase, RunnerState
from agents.wire.spec import JobSpec, StartMessage, parse_nnodes
from webapp.accounts.models import Account
from webapp.fleet.models import Command, Node, NodeState
from webapp.fleet.outbox import OPEN, write_command
from webapp.masking import holds_secrets
from webapp.uploads.asked import source_for

from .folded import runner_of, state_to_dict
from .meeting import endpoint_of, given_endpoint, is_hosted, local_address, wanted_endpoint
from .models import Attempt, Job, Member, Wanted
from .news import job_changed
from .placement import Need
from .specs import spec_of, wish_of
from .wishes import Wish

START_DEADLINE_S = 30.0
TERMINAL = [state.value for state in JobState if state.is_terminal]


def need_of(spec: JobSpec, wish: Wish | None = None) -> Need:
    low, high = parse_nnodes(spec.nnodes)
    wanted = wanted_endpoint(spec)
    host = wanted.host if wanted else ""
    most = spec.nodes or high
    # Only beyond what a round takes in does a node stand by.
    spares = spec.spares if most == high and not is_fixed(spec) else 0
    wish = replace(wish or Wish(), environment=environment_of(spec.python))
    wish = replace(wish, hands_secrets=holds_secrets(vars(spec)))
    return Need(low=spec.nodes or low, high=most + spares, host=host, spec=spec, wish=wish)


def need_now(job: Job) -> Need:
    """What it was launched with, and what an operator has asked for since."""
    spec = spec_of(job)
    return need_of(replace(spec, nodes=job.nodes_wanted or spec.nodes), wish_of(job.placing))


def need_again(job: Job) -> Need:
    """As the survivors of a loss would, a later attempt goes on with what is there."""
    return replace(need_now(job), low=job.min_nodes)


def is_fixed(spec: JobSpec) -> bool:
    """The nodes of an attempt are those that it began with."""
    return spec.standalone or spec.rdzv_backend == "static"


def begin_attempt(job: Job, nodes: Sequence[str], slots: Mapping[str, int]) -> None:
    """Make the next attempt of a job, whose row is locked, on those nodes; the first hosts the store.

    The first start command goes to the store's host alone, where there is one.
    """
    spec = spec_of(job)
    attempt = _make_attempt(job, spec, nodes, slots)
    if attempt.store_host:
        _start(attempt, spec, attempt.members.get(node=attempt.store_host))
    else:
        start_members(attempt)


def say_why_queued(job_id: int, why: str) -> None:
    changed = Job.objects.filter(pk=job_id, state=JobState.QUEUED.value).exclude(state_reason=why)
    if changed.update(state_reason=why, version=F("version") + 1):
        job_changed(job_id)


def _make_attempt(job: Job, spec: JobSpec, nodes: Sequence[str], slots: Mapping[str, int]) -> Attempt:
    number = job.attempts.count() + 1
    attempt = Attempt.objects.create(
        id=f"j{job.id}-a{number}-{secrets.token_hex(4)}",
        job=job,
        number=number,
        store_host=nodes[0] if is_hosted(spec) else "",
        endpoint="" if is_hosted(spec) else given_endpoint(spec),
        created_at=timezone.now(),
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=node, slots=slots[node]) for node in nodes)
    return attempt


def start_members(attempt: Attempt) -> int:
    """Write the start commands of all runners that are due, once the store's endpoint is known.

    Called in the transaction that made them due. Gives how many were written; the second time none.
    """
    if not attempt.endpoint or attempt.ended_at or attempt.job.wanted != Wanted.RUN:
        return 0
    started = find_started(attempt)
    due = attempt.members.filter(settled_at=None, leaves_at=None, phase=Phase.LAUNCHING.value)
    missing = [member for member in due if (member.node, member.incarnation) not in started]
    for member in missing:
        _start(attempt, spec_of(attempt.job), member)
    return len(missing)


def find_started(attempt: Attempt) -> set[tuple[str, int]]:
    """The runners that were told to start: node and incarnation of each."""
    commands = Command.objects.filter(attempt=attempt.id, kind=StartRunner.kind)
    return {(node, incarnation_in(body)) for node, body in commands.values_list("node", "body")}


def incarnation_in(start: Mapping[str, Any]) -> int:
    """Which runner of its node a start command is about."""
    return int(start.get("message", {}).get("incarnation", 1))


def _start(attempt: Attempt, spec: JobSpec, member: Member) -> None:
    again = "" if member.incarnation == 1 else f", runner {member.incarnation} of {member.node}"
    command = StartRunner(
        id=str(uuid4()),
        deadline_s=START_DEADLINE_S,
        by="regroup",
        why=f"attempt {attempt.number} of job {attempt.job_id} {attempt.job.name}{again}",
        message=_message(attempt, spec, member),
    )
    sealed = attempt.job.sealed
    write_command(member.node, command, job=attempt.job_id, attempt=attempt.id, sealed=sealed)


def _message(attempt: Attempt, spec: JobSpec, member: Member) -> StartMessage:
    low, high = parse_nnodes(spec.nnodes)
    node, hosts_store = member.node, member.node == attempt.store_host
    return StartMessage(
        attempt=attempt.id,
        job=attempt.job_id,
        job_name=attempt.job.name,
        number=attempt.number,
        node=node,
        nodes=_assigned(attempt),
        min_nodes=low,
        max_nodes=high,
        endpoint=endpoint_of(spec, node) if hosts_store else attempt.endpoint,
        hosts_store=hosts_store,
        local_addr=local_address(spec, node),
        spent=runner_of(member).charged,
        nproc=member.slots,
        code=source_for(spec, node),
        incarnation=member.incarnation,
        spec=spec,
    )


def _assigned(attempt: Attempt) -> tuple[str, ...]:
    """The nodes that take part. The store's host comes first: it is the one that everybody meets at."""
    taking_part = attempt.members.filter(leaves_at=None).exclude(phase=Phase.ENDED.value)
    nodes = taking_part.values_list("node", flat=True)
    return tuple(sorted(nodes, key=lambda name: (name != attempt.store_host, name)))


def stop_others(attempt: Attempt, why: str, by: Account | None = None, grace_s: float | None = None) -> int:
    """Ask every node on which something of the attempt may still run to end it; gives how many were asked.

    A node with an open request is not asked again, and one that does not answer is asked once it is heard.
    """
    _settle_never_started(attempt)
    grace_s = grace_of(attempt.job) if grace_s is None else grace_s
    nodes = _to_be_asked(attempt)
    for node in nodes:
        _stop(attempt, node, why, by, grace_s)
    return len(nodes)


def grace_of(job: Job) -> float:
    """What workers have between SIGTERM and SIGKILL."""
    return spec_of(job).shutdown_timeout if job.stop_grace_s is None else job.stop_grace_s


def _settle_never_started(attempt: Attempt) -> None:
    """Nodes that were never told to start hold nothing, so that there is nobody to ask."""
    started = find_started(attempt)
    for member in attempt.members.filter(settled_at=None):
        if (member.node, member.incarnation) not in started:
            settle_unstarted(member)


def settle_unstarted(member: Member) -> None:
    now = timezone.now()
    never = RunnerState(
        phase=Phase.ENDED,
        since=now,
        outcome="stopped",
        reason="It had not been told to start.",
        charged=runner_of(member).charged,
    )
    row = Member.objects.filter(pk=member.pk, settled_at=None)
    row.update(settled_at=now, phase=Phase.ENDED.value, folded=state_to_dict(never))


def _to_be_asked(attempt: Attempt) -> list[str]:
    live = attempt.members.filter(settled_at=None).exclude(phase=Phase.ENDED.value)
    asked = _nodes_told(attempt, StopRunner.kind)
    pending = _nodes_told(attempt, StopRunner.kind, state__in=OPEN)
    online = set(Node.objects.filter(state=NodeState.ONLINE).values_list("name", flat=True))
    nodes = [member.node for member in live if member.node not in pending]
    return [node for node in nodes if node not in asked or node in online]


def _stop(attempt: Attempt, node: str, why: str, by: Account | None, grace_s: float) -> None:
    command = StopRunner(
        id=str(uuid4()),
        by=by.username if by else "regroup",
        why=why,
        attempt=attempt.id,
        grace_s=grace_s,
    )
    write_command(node, command, job=attempt.job_id, attempt=attempt.id, by=by)


def _nodes_told(attempt: Attempt, kind: str, **which: Any) -> set[str]:
    commands = Command.objects.filter(attempt=attempt.id, kind=kind, **which)
    return set(commands.values_list("node", flat=True))
