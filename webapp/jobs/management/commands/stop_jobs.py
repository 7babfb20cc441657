"""``manage.py stop_jobs``: stop every job, and wait until the nodes say that nothing of them is left."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webapp.errors import Problem
from webapp.jobs.launch import TERMINAL
from webapp.jobs.models import Job, Member
from webapp.jobs.services import stop_job
from webapp.jobs.specs import spec_of

POLL_S = 0.1


class Command(BaseCommand):
    help = "Stop all jobs that have not ended. Exit status 1 when some have not ended in time."
    requires_system_checks: list[str] = []  # they read the whole API, and have passed before it was shipped

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--reason", default="all jobs are stopped")
        parser.add_argument("--timeout", type=float, default=60.0, help="seconds to wait for them")

    def handle(self, *args: Any, reason: str, timeout: float, **options: Any) -> None:
        deadline = time.monotonic() + timeout
        jobs = list(Job.objects.exclude(state__in=TERMINAL).order_by("id"))
        for job in jobs:
            self._stop(job, reason, timeout)
        left = _wait(jobs, deadline)
        for job in jobs:
            job.refresh_from_db()
            self.stdout.write(f"job {job.id} {job.name}: {job.state}. {job.state_reason}")
        if left:
            raise SystemExit(1)

    def _stop(self, job: Job, reason: str, timeout: float) -> None:
        try:
            stop_job(job, None, reason, grace_s=min(spec_of(job).shutdown_timeout, timeout / 2))
        except Problem as problem:
            # It has ended in the meantime, which is what was wanted.
            self.stdout.write(problem.what)


def _wait(jobs: list[Job], deadline: float) -> int:
    """Poll until all are over and nothing of them is left on any node; gives how many are not."""
    ids = [job.id for job in jobs]
    while True:
        running = set(Job.objects.filter(id__in=ids).exclude(state__in=TERMINAL).values_list("id", flat=True))
        unsettled = Member.objects.filter(attempt__job__in=ids, settled_at=None)
        running |= set(unsettled.values_list("attempt__job", flat=True))
        if not running or time.monotonic() > deadline:
            return len(running)
        time.sleep(POLL_S)
