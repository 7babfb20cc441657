"""What is told of a job is of one moment, also while it changes."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from tests.webapp.api_client import Api
from tests.webapp.factories import make_job
from webapp.accounts.models import Account
from webapp.jobs import answers, api
from webapp.jobs.models import Attempt, Job
from webapp.jobs.news import job_changed
from webapp.jobs.story import Story

pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(act: Callable[[], object]) -> None:
    """In another connection, which commits."""

    def run() -> None:
        act()
        connection.close()

    thread = Thread(target=run)
    thread.start()
    thread.join()


def test_a_change_in_the_middle_of_an_answer_is_in_all_of_it_or_in_none(
    operator: Api, anna: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job(anna)

    def change() -> None:
        Attempt.objects.create(id=f"j{job.id}-a1-x", job=job, number=1, created_at=timezone.now())
        Job.objects.filter(pk=job.pk).update(version=F("version") + 1, state_reason="changed")
        job_changed(job.pk)

    def answer_after_a_change(found: Job, story: Story) -> object:
        if not Attempt.objects.exists():
            elsewhere(change)
        return answers.job_out(found, story)

    monkeypatch.setattr(api, "job_out", answer_after_a_change)
    before, after = (operator.get(f"/api/jobs/{job.id}").body for _ in range(2))
    assert before["headline"]["sentence"] != "changed"
    assert (before["attempt"], before["version"]) == (None, job.version)
    assert after["headline"]["sentence"] == "changed"
    assert (after["attempt"], after["version"]) == (1, job.version + 1)


def test_nobody_waits_for_an_answer(operator: Api, anna: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(anna)

    def answer_while_it_is_deleted(found: Job, story: Story) -> object:
        elsewhere(lambda: Job.objects.filter(pk=job.pk).delete())
        return answers.job_out(found, story)

    monkeypatch.setattr(api, "job_out", answer_while_it_is_deleted)
    assert operator.get(f"/api/jobs/{job.id}").body["id"] == job.id
    assert operator.get(f"/api/jobs/{job.id}").status == 404
