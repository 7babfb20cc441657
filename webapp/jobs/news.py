"""Says that a job's answer is not what it was: to open pages, and to whoever holds parts of the answer."""

from __future__ import annotations

from django.db.models import F

from webapp.live import notify

from .models import Job


def job_changed(job_id: int) -> None:
    """Call in the transaction of the change. What was read of its story before is not used any more."""
    Job.objects.filter(pk=job_id).update(story=F("story") + 1)
    notify.job_changed(job_id)


def trains_on(job_id: int) -> None:
    """The same where nothing but its members' folded state is another: steps, metrics, signs of life."""
    if Job.objects.filter(pk=job_id).update(version=F("version") + 1):
        notify.job_changed(job_id)
