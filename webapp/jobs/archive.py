"""Jobs out of sight: an ended job leaves the lists, keeps all that is known of it, and can be put back."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from agents.wire.lifecycle import JobState
from webapp.errors import Problem

from .models import Job
from .news import job_changed

ENDED = [state.value for state in JobState if state.is_terminal]


@transaction.atomic
def archive(job: Job) -> None:
    """A second call changes nothing.

    Raises:
        Problem: 409 when the job has not ended.
    """
    changed = Job.objects.filter(pk=job.pk, state__in=ENDED, archived_at=None)
    if changed.update(archived_at=timezone.now(), version=F("version") + 1):
        job_changed(job.pk)
    elif not Job.objects.filter(pk=job.pk, state__in=ENDED).exists():
        raise Problem(
            409,
            "job_not_ended",
            f"Job {job.pk} {job.name} is {job.state}, and only a job that has ended can be archived.",
            where="job",
            what_to_do="Stop it first, or wait for its end.",
        )


@transaction.atomic
def put_back(job: Job) -> None:
    """A second call changes nothing."""
    archived = Job.objects.filter(pk=job.pk).exclude(archived_at=None)
    if archived.update(archived_at=None, version=F("version") + 1):
        job_changed(job.pk)
