"""Celery's tasks: each looks at rows, decides and writes rows. All may run twice, and none waits."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from agents.wire.commands import StartRunner
from agents.wire.lifecycle import JobState
from webapp.celery import app
from webapp.fleet.models import Command
from webapp.fleet.outbox import expire_commands as end_late_commands

from .apply import restand, start_did_not_happen
from .launch import TERMINAL, place, stop_others
from .models import Attempt, Job, Member, Wanted


@app.task(name="regroup.place_queued")
def place_queued() -> int:
    """Look at every queued job once, oldest first; gives how many were placed."""
    queued = Job.objects.filter(state=JobState.QUEUED.value, wanted=Wanted.RUN).order_by("id")
    return sum(_place_one(job) for job in queued)


def _place_one(job: Job) -> bool:
    with transaction.atomic():
        placed = place(job)
        if placed:
            restand(job.id)
    return placed


@app.task(name="regroup.reconcile")
def reconcile() -> int:
    """Ask nodes to end what should not run any more; gives how many were asked."""
    return sum(_end_attempt(attempt) for attempt in _unwanted())


def _unwanted() -> QuerySet[Attempt]:
    """Attempts that may still run although their job is stopped or over, or one of their nodes has failed."""
    members = Member.objects.filter(attempt=OuterRef("pk"))
    is_over = (
        Q(job__wanted=Wanted.STOP)
        | Q(job__state__in=TERMINAL)
        | Exists(members.filter(folded__outcome="failed"))
    )
    running = Attempt.objects.filter(Exists(members.filter(settled_at=None)))
    return running.filter(is_over).select_related("job__stopped_by").order_by("created_at")


@transaction.atomic
def _end_attempt(attempt: Attempt) -> int:
    job = attempt.job
    if job.wanted == Wanted.STOP:
        return stop_others(attempt, job.stop_reason or f"job {job.id} is stopped", by=job.stopped_by)
    return stop_others(attempt, "another node of the attempt is over")


@app.task(name="regroup.expire_commands")
def expire_commands() -> int:
    """End what no node took in time; a start that never happened fails its job."""
    with transaction.atomic():
        late = end_late_commands()
        for command in late:
            _tell_job(command)
    return len(late)


def _tell_job(command: Command) -> None:
    if command.kind == StartRunner.kind:
        start_did_not_happen(command)
    elif command.job is not None:
        restand(command.job)
