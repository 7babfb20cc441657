"""Creating jobs and stopping them. What is decided here is a row; nodes hear of it after the commit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import PurePosixPath

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerDown

from agents.wire.lifecycle import JobState
from agents.wire.spec import LISTS, JobSpec, SpecError, check_spec, parse_nnodes, slots_needed
from webapp.accounts.models import Account
from webapp.errors import Problem, refuse_field
from webapp.fleet.models import Node
from webapp.uploads.asked import require_code

from .again import fill_masked
from .apply import restand
from .launch import stop_others
from .locks import lock_jobs
from .meeting import say_taken, wanted_endpoint
from .models import Attempt, Job, Wanted
from .news import job_changed
from .placeable import require_placeable
from .placement import can_host
from .placing_schemas import PlacingIn
from .rooms import read_rooms
from .schemas import JobIn, SpecIn
from .sealed import sealed
from .stop import force_end, is_forced
from .tasks import place_queued

log = logging.getLogger("regroup.jobs")

NAME_LENGTH = 100


@transaction.atomic
def create_job(account: Account, data: JobIn, checks_said: Sequence[str] = ()) -> Job:
    """Write the job as queued; placing follows at once in the background.

    ``checks_said``: what checks before the launch found, where it goes ahead all the same.

    Raises:
        Problem: 422 naming the field, for a spec that can never run here.
    """
    data = fill_masked(account, data)
    spec = read_spec(account, data)
    low, high = parse_nnodes(spec.nnodes)
    now = timezone.now()
    shown, secrets = sealed(data.dict(include=set(SpecIn.model_fields)))
    job = Job.objects.create(
        name=data.name.strip() or _default_name(spec),
        spec=shown,
        sealed=secrets,
        labels=data.labels,
        notes=data.notes,
        priority=data.priority,
        placing=data.dict(include=set(PlacingIn.model_fields) - {"priority"})
        | {"checks_said": list(checks_said)},
        min_nodes=low,
        max_nodes=high,
        state=JobState.QUEUED.value,
        state_reason="Queued: Regroup looks for nodes with free slots.",
        state_since=now,
        created_by=account,
        created_at=now,
    )
    transaction.on_commit(lambda: _ask_for_placing(job))
    job_changed(job.id)
    return job


def read_spec(account: Account, data: JobIn) -> JobSpec:
    """Raises:
    Problem: 422 naming the field, for a spec that can never run here.
    """
    if len(data.name.strip()) > NAME_LENGTH:
        raise refuse_field(
            "name", f"The name is longer than {NAME_LENGTH} characters.", "Write a shorter one."
        )
    fields = data.dict(include=set(SpecIn.model_fields))
    spec = JobSpec(**{**fields, **{name: tuple(fields[name]) for name in LISTS}})
    try:
        check_spec(spec)
    except SpecError as error:
        raise refuse_field(error.where, str(error)) from error
    require_code(spec)
    _require_owner(spec)
    _require_possible(spec)
    require_placeable(account, data, spec)
    return spec


def _require_owner(spec: JobSpec) -> None:
    """A store that no node could host would leave the job queued for ever."""
    wanted = wanted_endpoint(spec)
    rooms = read_rooms() if wanted else []
    if wanted is None or not rooms:
        return
    if not any(can_host(room, wanted.host) for room in rooms):
        names = ", ".join(room.node for room in rooms)
        raise refuse_field(
            "rdzv_endpoint",
            f"rdzv_endpoint names {wanted.host}, and no registered node has that name or address.",
            f"Name one of {names}, or leave it empty to let Regroup pick.",
        )
    if taken := say_taken(spec, rooms):
        raise refuse_field(
            "rdzv_endpoint", f"{taken}.", "Write another port, or leave it empty to let Regroup pick."
        )


def _require_possible(spec: JobSpec) -> None:
    """Nodes may still join, but none of those known will ever have that many slots."""
    largest = Node.objects.order_by("-slots", "name").first()
    if largest is not None and largest.slots < slots_needed(spec):
        raise refuse_field(
            "nproc_per_node",
            f"nproc_per_node is {spec.nproc_per_node}, and the largest node, {largest.name}, "
            f"has {largest.slots} slots.",
            f"Write {largest.slots} or less, or start a node agent with more slots.",
        )


def _default_name(spec: JobSpec) -> str:
    name = PurePosixPath(spec.script).stem if spec.script else (spec.module or "job")
    return name.strip()[:NAME_LENGTH] or "job"


def _ask_for_placing(job: Job) -> None:
    """Placing at once is a courtesy: without a broker the next sweep does it."""
    try:
        place_queued.apply_async(retry=False, expires=10)
    except (BrokerDown, OSError) as error:
        log.warning("placing left for the sweep job=%s error=%s", job.id, error)


@transaction.atomic
def stop_job(
    job: Job, account: Account | None, reason: str, grace_s: float | None = None, force: bool = False
) -> Job:
    """Want the job stopped, and ask its nodes to end it. A second call changes nothing.

    ``account`` None: Regroup itself stops it. ``force`` skips the grace, also where it is being waited out.

    Raises:
        Problem: 409 when the job has already ended in another way.
    """
    lock_jobs([job.pk])
    locked = Job.objects.get(pk=job.pk)
    if locked.wanted == Wanted.STOP:
        return _force(locked, account, reason) if force and not is_forced(locked) else locked
    if JobState(locked.state).is_terminal:
        raise Problem(
            409,
            "job_ended",
            f"Job {locked.id} {locked.name} has already ended: it is {locked.state}.",
            where="job",
            what_to_do="Nothing is left to stop.",
        )
    grace_s = 0.0 if force else grace_s
    Job.objects.filter(pk=locked.pk).update(
        wanted=Wanted.STOP,
        stopped_by=account,
        stop_reason=reason,
        stop_grace_s=grace_s,
        version=F("version") + 1,
    )
    for attempt in _live_attempts(locked):
        stop_others(attempt, reason or f"job {locked.id} is stopped", by=account, grace_s=grace_s)
    return _restood(locked)


def _force(job: Job, account: Account | None, reason: str) -> Job:
    """It is being stopped already: every node kills what is left of it at once."""
    if JobState(job.state).is_terminal:
        return job
    Job.objects.filter(pk=job.pk).update(stop_grace_s=0.0, version=F("version") + 1)
    for attempt in _live_attempts(job):
        force_end(attempt, reason or f"job {job.id} is killed", account)
    return _restood(job)


def _live_attempts(job: Job) -> QuerySet[Attempt]:
    return Attempt.objects.filter(job=job, members__settled_at=None).distinct()


def _restood(job: Job) -> Job:
    restand(job.pk)
    job_changed(job.pk)
    job.refresh_from_db()
    return job
