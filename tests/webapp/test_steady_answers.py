"""What is told of a job is of one moment, also while it changes."""

from __future__ import annotations

import pytest
from django.db.models import F

from tests.webapp.factories import make_job
from webapp.accounts.models import Account
from webapp.jobs.answers import TRIES, steady_job_out
from webapp.jobs.models import Job

pytestmark = pytest.mark.django_db


class Changing:
    """A job that changes right after its row was read, so many times."""

    def __init__(self, job: Job, times: int) -> None:
        self.job, self.left, self.asked = job, times, 0

    def find(self) -> Job:
        self.asked += 1
        found = Job.objects.select_related("created_by", "stopped_by").get(pk=self.job.pk)
        if self.left:
            self.left -= 1
            said = f"change {self.asked}"
            Job.objects.filter(pk=self.job.pk).update(version=F("version") + 1, state_reason=said)
        return found


def test_a_change_in_the_middle_of_an_answer_is_answered_anew(anna: Account) -> None:
    changing = Changing(make_job(anna), times=1)
    answer = steady_job_out(changing.find)
    assert (answer.headline.sentence, changing.asked) == ("change 1", 2)


def test_a_job_that_never_stands_still_is_answered_all_the_same(anna: Account) -> None:
    changing = Changing(make_job(anna), times=100)
    answer = steady_job_out(changing.find)
    assert (answer.headline.sentence, changing.asked) == (f"change {TRIES - 1}", TRIES)
