"""A job's spec as it is stored, back in its own type."""

from __future__ import annotations

from agents.wire.spec import LISTS, JobSpec

from .models import Job


def spec_of(job: Job) -> JobSpec:
    """The stored spec; fields that this version does not know are left out."""
    known = {key: value for key, value in job.spec.items() if key in JobSpec.__dataclass_fields__}
    lists = {key: tuple(known[key]) for key in LISTS if key in known}
    return JobSpec(**{**known, **lists})
