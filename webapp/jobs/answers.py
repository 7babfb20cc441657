"""Jobs as answers: what the rows say now, put together with few queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from django.db.models import Max
from django.utils import timezone

from agents.wire.lifecycle import JobState, Phase, RunnerState, WorkerState, slowest_step
from webapp.events.models import Record
from webapp.fleet.answers import silence_of
from webapp.fleet.leases import state_after
from webapp.fleet.models import Node, NodeState

from .budget import budget_out
from .failures import newest_failure
from .folded import runner_of
from .goodput import goodput_out
from .models import Attempt, Job, Member, Round
from .past_attempts import relaunches_out
from .placing_schemas import PlacingOut
from .scale import why_fixed
from .schemas import (
    HeadlineOut,
    JobOut,
    JobSummary,
    MemberOut,
    NodeBudget,
    NodesOut,
    NodeWord,
    RestartsOut,
    ScalingOut,
    StartWord,
    StateWord,
    WorkerOut,
    WorkerStateWord,
)
from .stop import deadline_of, is_forced
from .story import Process, Story, read_story
from .time_left import time_left_s
from .time_limit import time_limit_out
from .troubles_facts import troubles_out


@dataclass
class _Newest:
    """The newest attempt of a job with all that an answer needs of it."""

    attempt: Attempt | None = None
    members: list[tuple[Member, RunnerState]] = field(default_factory=list)
    rounds: Sequence[Round] = ()

    @property
    def newest_round(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def in_round(self) -> list[tuple[Member, RunnerState]]:
        """Members that take part in the newest formed round."""
        newest = self.newest_round
        return [pair for pair in self.members if newest and pair[1].round == newest.number]


def _read(jobs: Sequence[Job]) -> dict[int, _Newest]:
    found: dict[int, _Newest] = defaultdict(_Newest)
    for attempt in Attempt.objects.filter(job__in=jobs).order_by("number"):
        found[attempt.job_id].attempt = attempt
    job_of = {newest.attempt.id: job for job, newest in found.items() if newest.attempt}
    for member in Member.objects.filter(attempt__in=job_of).order_by("node"):
        found[job_of[member.attempt_id]].members.append((member, runner_of(member)))
    rounds: dict[int, list[Round]] = defaultdict(list)
    for row in Round.objects.filter(attempt__in=job_of).order_by("number"):
        rounds[job_of[row.attempt_id]].append(row)
    for job_id, rows in rounds.items():
        found[job_id].rounds = rows
    return found


def _newest(story: Story) -> _Newest:
    attempt = story.attempt
    rows = Member.objects.filter(attempt=attempt.id).order_by("node") if attempt else ()
    return _Newest(attempt, [(row, runner_of(row)) for row in rows], story.rounds)


def _nodes(found: dict[int, _Newest]) -> dict[str, Node]:
    names = {member.node for newest in found.values() for member, _ in newest.members}
    return {node.name: node for node in Node.objects.filter(name__in=names)}


def job_summary(job: Job) -> JobSummary:
    return job_summaries([job])[0]


def job_summaries(jobs: Sequence[Job]) -> list[JobSummary]:
    found = _read(jobs)
    nodes, now = _nodes(found), timezone.now()
    return [_summary(job, found[job.id], nodes, now) for job in jobs]


def job_out(job: Job, story: Story | None = None) -> JobOut:
    """Give a row with ``created_by`` and ``stopped_by`` selected. Without its ``story`` that is read too."""
    story = story or read_story(job)
    newest, now = _newest(story), timezone.now()
    nodes = _nodes({job.id: newest})
    runners = [runner for _, runner in newest.in_round]
    attempt = newest.attempt
    summary = _summary(job, newest, nodes, now)
    is_over = JobState(job.state).is_terminal
    total = max((w.total for r in runners for w in r.workers if w.total is not None), default=None)
    left_s = None if is_over else time_left_s(summary.step, total, runners)
    return JobOut(
        **dict(summary),
        headline=HeadlineOut(sentence=job.state_reason, since=job.state_since),
        budget=budget_out(summary.restarts, newest.rounds, is_over),
        goodput=goodput_out(job, story.past, now, summary.step, nodes.values()),
        troubles=troubles_out(
            job, attempt, newest.members, newest.rounds, nodes, summary.step, story.ends, now
        ),
        attempt_id=attempt.id if attempt else None,
        spec=story.spec,
        store_host=attempt.store_host or None if attempt else None,
        store_endpoint=attempt.endpoint or None if attempt else None,
        total=total,
        time_left_s=left_s,
        time_limit=time_limit_out(job, left_s, now),
        metrics=_metrics(runners),
        steps_per_s=_pace(runners),
        last_output_at=max((r.last_output_at for r in runners if r.last_output_at), default=None),
        checkpoint_step=max(
            (r.checkpoint_step for _, r in newest.members if r.checkpoint_step is not None), default=None
        ),
        resumed_step=min((r.resumed_step for r in runners if r.resumed_step is not None), default=None),
        members=[_member(member, runner, attempt, nodes, now) for member, runner in newest.members],
        workers=_workers(newest, story.kills),
        failure=newest_failure(
            story.failure, [pair[1] for pair in newest.members], [m.node for m, _ in newest.members]
        ),
        past=list(story.sentences),
        stall=story.stall,
        notes=job.notes,
        scaling=_scaling(job, newest, nodes, now),
        placing=PlacingOut(**{**job.placing, "priority": job.priority}),
        relaunches=relaunches_out(job, sum(one.is_infrastructure for one in story.attempts)),
        attempts=list(story.attempts),
        stopped_by=job.stopped_by.username if job.stopped_by else None,
        stop_reason=job.stop_reason,
        stop_deadline=deadline_of(job, attempt),
        stop_forced=is_forced(job),
        last_event=_last_event(attempt),
        timeline_version=job.story,
    )


def _summary(job: Job, newest: _Newest, nodes: dict[str, Node], now: datetime) -> JobSummary:
    top = newest.newest_round
    runners = [runner for _, runner in newest.in_round]
    steps = [step for r in runners if (step := slowest_step(r.workers)) is not None]
    return JobSummary(
        id=job.id,
        name=job.name,
        state=cast(StateWord, job.state),
        state_reason=job.state_reason,
        state_since=job.state_since,
        attempt=newest.attempt.number if newest.attempt else None,
        round=top.number if top else None,
        world_size=top.world_size if top else 0,
        workers_alive=_workers_alive(newest, nodes, now),
        nodes=_nodes_out(job, newest, nodes, now),
        restarts=_restarts(job, newest),
        step=min(steps, default=None),
        created_by=job.created_by.username,
        created_at=job.created_at,
        ended_at=job.ended_at,
        labels=job.labels,
        archived_at=job.archived_at,
        version=job.version,
    )


def _node_state(name: str, nodes: dict[str, Node], now: datetime) -> NodeState:
    node = nodes.get(name)
    return state_after(None if node is None else silence_of(node, now))


def _is_alive(member: Member, runner: RunnerState, nodes: dict[str, Node], now: datetime) -> bool:
    return runner.phase is not Phase.ENDED and _node_state(member.node, nodes, now) is NodeState.ONLINE


def _workers_alive(newest: _Newest, nodes: dict[str, Node], now: datetime) -> int:
    alive = [runner for member, runner in newest.in_round if _is_alive(member, runner, nodes, now)]
    return sum(worker.state == "running" for runner in alive for worker in runner.workers)


def _nodes_out(job: Job, newest: _Newest, nodes: dict[str, Node], now: datetime) -> NodesOut:
    top = newest.newest_round
    return NodesOut(
        min=job.min_nodes,
        max=job.max_nodes,
        wanted=job.wanted_nodes,
        formed=len(top.nodes) if top else 0,
        alive=sum(_is_alive(member, runner, nodes, now) for member, runner in newest.in_round),
    )


def _scaling(job: Job, newest: _Newest, nodes: dict[str, Node], now: datetime) -> ScalingOut:
    standing_by = [pair for pair in newest.members if pair[1].is_spare and _is_alive(*pair, nodes, now)]
    return ScalingOut(
        spares=int(job.spec.get("spares", 0)),
        standing_by=len(standing_by),
        why=job.nodes_wanted_why,
        fixed=why_fixed(job),
    )


def _restarts(job: Job, newest: _Newest) -> RestartsOut:
    budget = int(job.spec.get("max_restarts", 0))
    by_node = {}
    for member, runner in newest.members:
        charged = sum(row.charged == member.node for row in newest.rounds)
        by_node[member.node] = NodeBudget(
            charged=charged, remaining=max(0, budget - charged), torch_counter=runner.torch_counter
        )
    return RestartsOut(
        failure=sum(row.cause == "failure" for row in newest.rounds),
        membership=sum(row.cause == "membership" for row in newest.rounds),
        max_restarts=budget,
        remaining=min((node.remaining for node in by_node.values()), default=budget),
        by_node=by_node,
    )


def _last_event(attempt: Attempt | None) -> int:
    if attempt is None:
        return 0
    return Record.objects.filter(attempt=attempt.id).aggregate(last=Max("id"))["last"] or 0


def _metrics(runners: Sequence[RunnerState]) -> dict[str, float]:
    """What the lowest rank that reports anything reported."""
    workers = sorted((w for r in runners for w in r.workers if w.metrics), key=lambda w: w.ref.rank)
    return dict(workers[0].metrics) if workers else {}


def _pace(runners: Sequence[RunnerState]) -> float | None:
    paces = [runner.pace for runner in runners if runner.pace is not None]
    return round(min(paces), 3) if paces else None


def _member(
    member: Member, runner: RunnerState, attempt: Attempt | None, nodes: dict[str, Node], now: datetime
) -> MemberOut:
    node = nodes.get(member.node)
    silence_s = None if node is None else silence_of(node, now)
    return MemberOut(
        node=member.node,
        phase=runner.phase.value,
        since=runner.since,
        round=runner.round,
        group_rank=runner.group_rank,
        hosts_store=attempt is not None and attempt.store_host == member.node,
        start=cast(StartWord, runner.start),
        outcome=runner.outcome,
        reason=runner.reason,
        state=cast(NodeWord, state_after(silence_s).value),
        silent_s=None if silence_s is None else round(silence_s, 1),
        slots=member.slots,
        incarnation=member.incarnation,
        deaths=member.deaths,
        is_spare=runner.is_spare,
        leaves_at=member.leaves_at,
        leaves_why=member.leaves_why,
        has_left=runner.has_left,
        settled_at=member.settled_at,
    )


def _workers(newest: _Newest, kills: Mapping[Process, str]) -> list[WorkerOut]:
    workers = [
        _worker(worker, member.node, runner.round or 0, kills)
        for member, runner in newest.in_round
        for worker in runner.workers
    ]
    return sorted(workers, key=lambda worker: worker.rank)


def _worker(worker: WorkerState, node: str, round_number: int, kills: Mapping[Process, str]) -> WorkerOut:
    ref = worker.ref
    return WorkerOut(
        rank=ref.rank,
        local_rank=ref.local_rank,
        node=node,
        pid=ref.pid,
        start_time=ref.start_time,
        round=round_number,
        state=cast(WorkerStateWord, worker.state),
        said=worker.said,
        step=worker.step,
        total=worker.total,
        metrics=dict(worker.metrics),
        progress_at=worker.progress_at,
        kill=kills.get((ref.pid, ref.start_time)),
    )
