"""Faults by hand over HTTP: what would happen, do it, what runs, stop all of it."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Status

from webapp.accounts.auth import account_of
from webapp.errors import ERRORS, not_found
from webapp.fleet.answers import command_out
from webapp.fleet.models import Command
from webapp.fleet.schemas import CommandOut

from .fault_answers import faults_of, running_faults
from .fault_schemas import FaultIn, FaultPage, FaultPreview, FaultsSent, FaultsStopped
from .faults import ask, preview, stop_all
from .models import Job

router = Router(tags=["faults"])


def _job(job_id: int) -> Job:
    jobs = Job.objects.select_related("created_by", "stopped_by")
    job = jobs.filter(pk=job_id).first() if job_id < 1 << 63 else None
    if job is None:
        raise not_found(f"There is no job {job_id}.")
    return job


def _outs(commands: list[Command]) -> list[CommandOut]:
    for command in commands:
        # It has been sent since, right after the commit.
        command.refresh_from_db()
    return [command_out(command) for command in commands]


@router.post("/jobs/{id}/faults", response={200: FaultPreview, 202: CommandOut | FaultsSent, **ERRORS})
def fault(request: HttpRequest, id: int, data: FaultIn) -> Status[FaultPreview | CommandOut | FaultsSent]:
    """Do something to workers or a node on purpose, or with ``dry_run`` tell what would happen.

    The answer is a command to follow, or one for each of ``ranks``. Only evidence from the node closes it.
    """
    job = _job(id)
    if data.dry_run:
        return Status(200, preview(job, data))
    commands = _outs(ask(job, account_of(request), data))
    return Status(202, FaultsSent(commands=commands) if data.ranks is not None else commands[0])


@router.get("/jobs/{id}/faults", response={200: FaultPage, **ERRORS})
def list_faults(request: HttpRequest, id: int) -> FaultPage:
    """The faults of a job, newest first, each with its forecast and what came of it."""
    return FaultPage(items=faults_of(_job(id)))


@router.get("/faults", response={200: FaultPage, **ERRORS})
def list_running(request: HttpRequest) -> FaultPage:
    """The faults that run now, of all jobs."""
    return FaultPage(items=running_faults())


@router.post("/faults/stop-all", response={202: FaultsStopped, **ERRORS})
def stop_faults(request: HttpRequest) -> Status[FaultsStopped]:
    """End every fault that lasts. The answer says which nodes were asked, and which cannot hear it."""
    commands, says = stop_all(account_of(request))
    return Status(202, FaultsStopped(commands=_outs(commands), says=says))
