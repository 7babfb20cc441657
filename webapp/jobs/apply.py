"""Turns what runners report into rows. Called by ingest, inside its transaction, once for each record.

A ``Batch`` reads each member once and writes it once, however many records of it there are.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from agents.wire.commands import KillWorker, StartRunner
from agents.wire.events import (
    AnyKeeperEvent,
    CommandEnded,
    CommandReceived,
    EvidenceKept,
    FaultBegun,
    HookEnded,
    RunnerSettled,
)
from agents.wire.lifecycle import JobState, Phase, RunnerState, fold
from agents.wire.runner_events import (
    Activity,
    AnyRunnerEvent,
    CheckpointBegun,
    CheckpointSaved,
    Progress,
    RendezvousCompleted,
    RestartBegun,
    Resumed,
    RunnerFinished,
    RunnerStarted,
    TorchMetrics,
    WorkerExited,
    WorkersReached,
    WorkersStarted,
)
from webapp.database import is_trouble, update_rows
from webapp.fleet.models import Command
from webapp.fleet.outbox import find_command

from . import rows
from .curves import CurveBook
from .evidence_rows import note_evidence, note_hook
from .facts import facts_of
from .folded import incarnation_of, runner_of, state_to_dict
from .launch import incarnation_in, start_members, stop_others
from .locks import lock_jobs
from .metric_fold import MetricsBook
from .models import Attempt, Fault, Job, Member, Sentence
from .moments import MomentsBook
from .news import job_changed, trains_on
from .relaunch import begin_anew, fail_if_spent
from .repair import keep_at_strength
from .samples import Samples
from .situation import JobFacts, why_end_the_rest
from .stall_watch import end_with_round, watch
from .standing import Standing, stand
from .time_limit import stop_if_over

log = logging.getLogger("regroup.jobs")


@dataclass
class _Open:
    member: Member
    runner: RunnerState

    def begin(self, incarnation: int) -> None:
        """Another runner of the node, which goes on with what the node has spent."""
        self.runner = RunnerState(charged=self.runner.charged)
        self.member.incarnation, self.member.settled_at = incarnation, None


_OF_TRAINING = (Progress, TorchMetrics, Activity, CheckpointBegun, CheckpointSaved, WorkersReached)
_TOLD = (CheckpointSaved, WorkersReached)
"""Those of them that the timeline tells."""


@dataclass
class Batch:
    """The records of one transaction. ``finish`` writes the members and says where their jobs stand."""

    jobs: set[int] = field(default_factory=set)
    """Those whose standing may be another now."""
    _moved_on: set[int] = field(default_factory=set)
    """Those that train on: their pages hear of it."""
    _told: set[int] = field(default_factory=set)
    """Those of whose story there is more, although they stand where they stood."""
    _ended: list[Member] = field(default_factory=list)
    _open: dict[tuple[str, str], _Open | None] = field(default_factory=dict)
    _moments: MomentsBook = field(default_factory=MomentsBook)
    _metrics: MetricsBook = field(default_factory=MetricsBook)
    _curves: CurveBook = field(default_factory=CurveBook)

    def runner_event(self, event: AnyRunnerEvent) -> None:
        """A record of an attempt that this hub does not know is kept as a record, and changes nothing."""
        found = self._of_runner(event.attempt, event.node, incarnation_of(event.source))
        if found is None:
            return
        before, found.runner = found.runner, fold(found.runner, event, event.node)
        if found.runner.out_of_order > before.out_of_order:
            self._told.add(found.member.attempt.job_id)
            return
        # Most records by far are reports of progress, and no sentence about the job speaks of a step.
        is_training = (
            isinstance(event, _OF_TRAINING) and found.runner.reports_progress == before.reports_progress
        )
        (self._moved_on if is_training else self.jobs).add(found.member.attempt.job_id)
        if isinstance(event, _TOLD):
            self._told.add(found.member.attempt.job_id)
        self._write_rows(found, event)
        self._moments.take(event)
        if found.runner.phase is not before.phase:
            rows.move_lane(found.member, found.runner.phase, found.runner.round, event.at)

    def keeper_event(self, event: AnyKeeperEvent) -> None:
        """What becomes of a job its runners say; this stands beside theirs, and the page hears of it."""
        self.jobs.update(Attempt.objects.filter(pk=event.attempt).values_list("job", flat=True))

    def settled(self, event: RunnerSettled) -> None:
        """Nothing of the runner is left on its node: only now are the slots free."""
        found = self._of_runner(event.attempt, event.node, event.incarnation)
        if found is None:
            return
        found.member.settled_at = found.member.settled_at or event.at
        rows.close_workers(found.member, event.at)
        self.jobs.add(found.member.attempt.job_id)

    def command_received(self, event: CommandReceived) -> None:
        command = find_command(event.command).first()
        if command is not None and command.job is not None:
            self.jobs.add(command.job)

    def evidence(self, event: EvidenceKept | HookEnded) -> None:
        """Where the job stands does not depend on it, and its page hears of it."""
        job_id = note_evidence(event) if isinstance(event, EvidenceKept) else note_hook(event)
        if job_id is not None:
            self._told.add(job_id)

    def fault_begun(self, event: FaultBegun) -> None:
        command = find_command(event.command).first()
        if command is None or command.job is None:
            return
        self.jobs.add(command.job)
        Fault.objects.filter(command=command, begun_at=None).update(begun_at=event.at, begun_says=event.says)

    def command_ended(self, event: CommandEnded) -> None:
        command = find_command(event.command).first()
        if command is None or command.job is None:
            return
        self.jobs.add(command.job)
        if command.kind == StartRunner.kind:
            self._start_ended(command, event)
        elif command.kind == KillWorker.kind and command.by_id is not None:
            # What Regroup itself kills, as for a stall, is no fault by hand.
            self._moments.take_kill(command, event)

    def finish(self) -> None:
        """Call once, at the end of the transaction."""
        opened = [found for found in self._open.values() if found is not None]
        for found in opened:
            found.member.phase = found.runner.phase.value
            found.member.folded = state_to_dict(found.runner)
        fields = ["phase", "folded", "source", "started_at", "settled_at", "incarnation"]
        update_rows([found.member for found in opened], fields)
        self._moments.write()
        self._metrics.write()
        self._curves.write()
        for member in self._ended:
            rows.explain_newest(member)
        for job_id in sorted(self.jobs):
            restand_or_log(job_id)
        for job_id in sorted(self._told - self.jobs):
            _bump(job_id)
        for job_id in sorted(self._moved_on - self._told - self.jobs):
            trains_on(job_id)

    def _of_runner(self, attempt: str, node: str, incarnation: int) -> _Open | None:
        """The member, while that runner is its node's newest. What an earlier one says is only told."""
        found = self._member(attempt, node)
        if found is None:
            return None
        if incarnation < found.member.incarnation:
            self._told.add(found.member.attempt.job_id)
            return None
        if incarnation > found.member.incarnation:
            found.begin(incarnation)
        return found

    def _member(self, attempt: str, node: str) -> _Open | None:
        key = (attempt, node)
        if key not in self._open:
            member = Member.objects.filter(attempt=attempt, node=node).select_related("attempt").first()
            self._open[key] = None if member is None else _Open(member, runner_of(member))
        return self._open[key]

    def _write_rows(self, found: _Open, event: AnyRunnerEvent) -> None:
        member = found.member
        match event:
            case RunnerStarted():
                member.source, member.started_at = event.source, event.at
            case RendezvousCompleted():
                rows.form_round(member, event)
            case WorkersStarted():
                rows.start_workers(member, event)
            case WorkerExited():
                rows.end_worker(member, event)
            case Progress():
                self._curves.take(member, event)
                self._metrics.take(member, event)
            case TorchMetrics():
                self._metrics.take_torch(member, found.runner.round, event)
            case Resumed():
                rows.note_resumed(member, event)
            case RestartBegun():
                rows.note_last_step(member, found.runner)
            case RunnerFinished():
                rows.note_last_step(member, found.runner)
                rows.close_workers(member, event.at)
                self._ended.append(member)
            case _:
                pass

    def of_start(self, command: Command) -> _Open | None:
        """The member whose runner that command is to start."""
        return self._of_runner(command.attempt, command.node, incarnation_in(command.body))

    def _start_ended(self, command: Command, event: CommandEnded) -> None:
        if event.outcome == "done":
            _note_endpoint(command.attempt, event)
            return
        found = self.of_start(command)
        if found is not None:
            # What the first runner could begin with, a later one finds gone.
            _never_started(found, event.reason, event.at, is_infrastructure=found.member.incarnation > 1)


def _note_endpoint(attempt_id: str, event: CommandEnded) -> None:
    """The store's host has bound its port: now the other nodes can start."""
    endpoint = str(event.evidence.get("endpoint", ""))
    attempt = Attempt.objects.select_related("job").filter(id=attempt_id, endpoint="").first()
    if not endpoint or attempt is None:
        return
    attempt.endpoint = endpoint
    attempt.save(update_fields=["endpoint"])
    start_members(attempt)


def _never_started(found: _Open, reason: str, at: datetime, is_infrastructure: bool) -> None:
    if found.runner.phase is not Phase.LAUNCHING:
        return
    found.runner = replace(
        found.runner,
        phase=Phase.ENDED,
        since=at,
        outcome="failed",
        reason=reason,
        is_infrastructure=is_infrastructure,
    )
    found.member.settled_at = at
    rows.move_lane(found.member, Phase.ENDED, None, at)


def start_did_not_happen(command: Command) -> None:
    """A start command that no node took: its member is over, and another node may do better."""
    batch = Batch()
    found = batch.of_start(command)
    if found is not None:
        at = command.ended_at or timezone.now()
        _never_started(found, command.reason, at, is_infrastructure=True)
        batch.jobs.add(found.member.attempt.job_id)
    batch.finish()


def restand_or_log(job_id: int, *, is_news: bool = True, samples: Samples | None = None) -> None:
    """What happened is kept even when the sentence about it cannot be made."""
    try:
        with transaction.atomic():
            restand(job_id, is_news=is_news, samples=samples)
    except Exception as error:
        if is_trouble(error):
            raise
        log.exception("standing not computed job=%s", job_id)
        if is_news:
            _bump(job_id)


def restand(job_id: int, *, is_news: bool = True, samples: Samples | None = None) -> None:
    """Give the job's attempt what it needs, and say anew where it stands; end it where it has come to that.

    Without news nothing is written while all is as it was. With samples it is looked for stalls.
    """
    lock_jobs([job_id])
    job = Job.objects.select_related("stopped_by").filter(pk=job_id).first()
    if job is None or JobState(job.state).is_terminal:
        _bump(job_id)
        return
    facts = facts_of(job)
    if stop_if_over(job, facts):
        facts = facts_of(job)
    if begin_anew(job, facts):
        return
    facts, has_acted = keep_at_strength(job, facts)
    facts = end_with_round(job, facts) if samples is None else watch(job, facts, samples)
    standing = fail_if_spent(job, facts, stand(facts))
    if is_news or has_acted or (standing.state.value, standing.reason) != (job.state, job.state_reason):
        _write_standing(job, standing)
        _end_the_rest(job, facts)


def _write_standing(job: Job, standing: Standing) -> None:
    now = timezone.now()
    changes: dict[str, object] = {"version": F("version") + 1}
    if (standing.state.value, standing.reason) != (job.state, job.state_reason):
        changes |= {"state": standing.state.value, "state_reason": standing.reason}
        Sentence.objects.create(job=job, at=now, state=standing.state.value, says=standing.reason)
    if standing.state.value != job.state:
        changes["state_since"] = now
    if standing.state.is_terminal:
        changes["ended_at"] = now
        Attempt.objects.filter(job=job, ended_at=None).update(ended_at=now)
    Job.objects.filter(pk=job.pk, state=job.state).update(**changes)
    job_changed(job.pk)


def _end_the_rest(job: Job, facts: JobFacts) -> None:
    """When a node has given up, or all is done, those that are left have nobody to train with."""
    attempt, why = job.attempts.order_by("-number").first(), why_end_the_rest(facts)
    if attempt is not None and why is not None:
        stop_others(attempt, why)


def _bump(job_id: int) -> None:
    if Job.objects.filter(pk=job_id).update(version=F("version") + 1):
        job_changed(job_id)
