"""torchrun's command line over HTTP, both ways, and what a launch means. Nothing is launched here."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from agents.wire.spec import LISTS, JobSpec
from webapp.accounts.auth import account_of
from webapp.errors import ERRORS, not_found
from webapp.masking import MASK, mask
from webapp.torchrun.reader import Reading, parse
from webapp.torchrun.words import Remark
from webapp.torchrun.writer import to_torchrun

from .explain import explain, explain_job
from .models import Job
from .schemas import JobIn, SpecIn
from .torchrun_schemas import CheckedOut, CommandIn, ParsedOut, RemarkOut, TorchrunOut

router = Router(tags=["jobs"])

IS_MASKED = "env has {name}, whose value is masked here. Put it in before you use the line."


@router.post("/torchrun/parse", response={200: ParsedOut, **ERRORS})
def read_command(request: HttpRequest, data: CommandIn) -> ParsedOut:
    """What a torchrun line would be as a job. Nothing of it is run, and no variable of the hub is put in."""
    return _parsed(parse(data.command, data.workdir))


@router.post("/torchrun/write", response={200: TorchrunOut, **ERRORS})
def write_command(request: HttpRequest, data: JobIn) -> TorchrunOut:
    """The torchrun line that a job would be."""
    return _written(data.dict(include=set(SpecIn.model_fields)), _others(data))


@router.post("/jobs/check", response={200: CheckedOut, **ERRORS})
def look_over(request: HttpRequest, data: JobIn) -> CheckedOut:
    """What a job would mean: a sentence, faults, warnings from practice, and the settings that would hold."""
    return explain(account_of(request), data)


@router.get("/jobs/{int:id}/torchrun", response={200: TorchrunOut, **ERRORS})
def as_command(request: HttpRequest, id: int) -> TorchrunOut:
    """The torchrun line that the job is. Values that look secret are masked."""
    job = _job(id)
    return _written(SpecIn(**mask(job.spec)).dict(), {"labels": job.labels} if job.labels else {})


@router.get("/jobs/{int:id}/check", response={200: CheckedOut, **ERRORS})
def look_over_job(request: HttpRequest, id: int) -> CheckedOut:
    """What the job means, and the settings that hold for it."""
    return explain_job(_job(id))


def _job(number: int) -> Job:
    job = Job.objects.filter(pk=number).first() if number < 1 << 63 else None
    if job is None:
        raise not_found(f"There is no job {number}.")
    return job


def _parsed(reading: Reading) -> ParsedOut:
    fields = vars(reading.spec) | {name: list(getattr(reading.spec, name)) for name in LISTS}
    return ParsedOut(
        spec=SpecIn(**fields),
        name=reading.name,
        problems=[_remark(one) for one in reading.problems],
        stripped=[_remark(one) for one in reading.stripped],
    )


def _remark(remark: Remark) -> RemarkOut:
    return RemarkOut(flag=remark.flag, position=remark.position, length=remark.length, message=remark.message)


def _others(data: JobIn) -> dict[str, Any]:
    usual = JobIn()
    named = set(JobIn.model_fields) - set(SpecIn.model_fields) - {"name", "notes", "copy_of"}
    differs = [name for name in sorted(named) if getattr(data, name) != getattr(usual, name)]
    return {name: getattr(data, name) for name in differs}


def _written(fields: dict[str, Any], others: dict[str, Any]) -> TorchrunOut:
    spec = JobSpec(**{**fields, **{name: tuple(fields[name]) for name in LISTS}})
    written = to_torchrun(spec, others)
    masked = [IS_MASKED.format(name=name) for name, value in spec.env.items() if MASK in value]
    return TorchrunOut(command=written.command, notes=[*masked, *written.notes])
