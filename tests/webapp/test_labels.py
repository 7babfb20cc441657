"""What people find jobs by, jobs out of sight, several stopped at once, and a job launched once more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.jobs.models import Job
from webapp.jobs.sealed import opened
from webapp.live.topics import _jobs
from webapp.masking import MASK


def ids(api: Api, query: str = "") -> list[int]:
    return [job["id"] for job in api.get(f"/api/jobs{query}").body["items"]]


def launch(api: Api, **fields: Any) -> dict[str, Any]:
    answer = api.post("/api/jobs", {"script": "/srv/train.py", **fields})
    assert answer.status == 201, answer.body
    body: dict[str, Any] = answer.body
    return body


def test_labels_and_notes_are_kept_shown_and_searched(operator: Api) -> None:
    one = launch(operator, labels={"team": "vision", "sweep": "lr.1"}, notes="the first try")
    other = launch(operator, labels={"team": "speech"})
    shown = operator.get(f"/api/jobs/{one['id']}").body
    assert (shown["labels"], shown["notes"]) == ({"team": "vision", "sweep": "lr.1"}, "the first try")
    assert ids(operator, "?label=team:vision") == [one["id"]]
    assert ids(operator, "?label=team") == [other["id"], one["id"]]
    assert ids(operator, "?label=team:vision&label=sweep:lr.1") == [one["id"]]
    assert ids(operator, "?label=team:vision&label=sweep:2") == []


@pytest.mark.parametrize(
    "labels", [{"": "x"}, {"1a": "x"}, {"a b": "x"}, {"a": "x" * 101}, {f"a{n}": "" for n in range(31)}]
)
def test_labels_that_cannot_be_are_refused(operator: Api, labels: dict[str, str]) -> None:
    answer = operator.post("/api/jobs", {"script": "/srv/train.py", "labels": labels})
    assert (answer.status, answer.body["where"]) == (422, "labels")


def test_an_archived_job_leaves_the_lists_and_comes_back(operator: Api, anna: Account) -> None:
    job = make_job(anna, state="failed")
    for _ in range(2):
        assert operator.post(f"/api/jobs/{job.id}/archive").body["archived_at"] is not None
    assert (ids(operator), ids(operator, "?archived=true")) == ([], [job.id])
    assert _jobs()["items"] == []
    assert operator.get(f"/api/jobs/{job.id}").status == 200
    assert operator.post(f"/api/jobs/{job.id}/unarchive").body["archived_at"] is None
    assert (ids(operator), ids(operator, "?archived=true")) == ([job.id], [])


def test_a_job_that_runs_is_not_archived(operator: Api, anna: Account) -> None:
    job = make_job(anna, state="running")
    answer = operator.post(f"/api/jobs/{job.id}/archive")
    assert (answer.status, answer.body["reason"]) == (409, "job_not_ended")
    assert "Stop it first" in answer.body["what_to_do"]
    assert ids(operator) == [job.id]


def test_several_are_stopped_at_once_each_with_its_result(operator: Api, anna: Account) -> None:
    make_node("node-1")
    running, ended = make_running_job(anna, ["node-1"]), make_job(anna, state="failed")
    queued = make_job(anna)
    body = operator.post(
        "/api/jobs/stop", {"ids": [running.id, ended.id, queued.id, 999], "reason": "enough"}
    ).body
    told = {one["id"]: (one["state"], one["problem"]) for one in body["items"]}
    assert told[running.id] == ("stopping", "")
    assert told[queued.id] == ("stopped", "")
    assert "has already ended" in told[ended.id][1]
    assert told[999] == (None, "There is no job 999.")
    assert [c.node for c in Command.objects.filter(kind="stop_runner")] == ["node-1"]
    assert Job.objects.get(pk=running.id).stop_reason == "enough"


@pytest.mark.parametrize("asked", [{"ids": []}, {"ids": [0]}, {"ids": list(range(1, 202))}])
def test_none_and_too_many_are_refused(operator: Api, asked: dict[str, Any]) -> None:
    assert operator.post("/api/jobs/stop", asked).status == 422


def test_a_job_launched_again_keeps_the_secrets_that_were_shown_masked(operator: Api) -> None:
    env = {"API_KEY": "k-1", "URL": "http://u:pw@h/", "A": "1"}
    first = launch(operator, env=env)
    shown = first["spec"]["env"]
    assert shown["API_KEY"] == MASK
    again = launch(operator, env={**shown, "A": "2"}, copy_of=first["id"])
    kept = Job.objects.get(pk=again["id"])
    assert kept.spec["env"] == {**shown, "A": "2"}
    assert opened(kept) == {"env": {"API_KEY": "k-1", "URL": "http://u:pw@h/"}}
    assert "k-1" not in str(again)


def test_nobody_else_gets_a_secret_into_a_job_by_copying(operator: Api, vera: Account) -> None:
    secret = make_job(vera, env={"API_KEY": "k-1"})
    for copy_of in (secret.id, None, 999):
        form = {"script": "/srv/train.py", "env": {"API_KEY": MASK}, "copy_of": copy_of}
        answer = operator.post("/api/jobs", form)
        assert (answer.status, answer.body["where"]) == (422, "env")
        assert "Write the value of API_KEY" in answer.body["what_to_do"]
    assert Job.objects.count() == 1
