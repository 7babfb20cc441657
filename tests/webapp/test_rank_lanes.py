"""A node's lane opens to its ranks: for each of them its worker of every round, and how that ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.webapp.api_client import Api
from tests.webapp.factories import add_round, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.jobs.models import Attempt, Job, Worker
from webapp.jobs.rank_lanes import Life, lanes_of, rank_lanes_out

BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def job(anna: Account) -> Job:
    """Two nodes with two ranks each; rank 3 failed in round 1, and round 2 runs."""
    for name in ("node-1", "node-2"):
        make_node(name)
    job = make_running_job(anna, ["node-1", "node-2"])
    attempt = job.attempts.get()
    attempt.workers.filter(rank=3).update(role="cause", ended_at=timezone.now())
    add_round(attempt, ["node-1", "node-2"])
    return job


def lanes(who: Api, job: Job, asked: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = who.get(f"/api/jobs/{job.id}/timeline/ranks?{asked}").body["items"]
    return found


def told(lane: dict[str, Any]) -> list[tuple[int, int, str, bool]]:
    return [(s["attempt"], s["round"], s["state"], s["ended_at"] is None) for s in lane["spans"]]


def life(node: str, rank: int, number: int, role: str = "stopped") -> Life:
    return Life(node, rank, 1, number, BEGAN + number * MINUTE, BEGAN + (number + 1) * MINUTE, role)


def test_each_rank_of_each_node_has_one_lane_with_its_rounds_in_order() -> None:
    lives = [life("a", 0, 1), life("a", 0, 2, "cause"), life("a", 1, 1), life("b", 0, 3)]
    found = lanes_of(lives)
    assert [(lane.node, lane.rank, [s.round for s in lane.spans]) for lane in found] == [
        ("a", 0, [1, 2]),
        ("a", 1, [1]),
        ("b", 0, [3]),
    ]
    assert found[0].spans[1].state == "cause"
    assert found[0].spans[1].began_at == BEGAN + 2 * MINUTE


def test_no_worker_is_no_lane() -> None:
    assert lanes_of([]) == []


def test_a_node_is_asked_for_its_ranks_and_tells_how_each_worker_ended(operator: Api, job: Job) -> None:
    found = lanes(operator, job, "node=node-2")
    assert [(lane["node"], lane["rank"]) for lane in found] == [("node-2", 2), ("node-2", 3)]
    assert told(found[0]) == [(1, 1, "stopped", False), (1, 2, "running", True)]
    assert told(found[1]) == [(1, 1, "cause", False), (1, 2, "running", True)]


def test_several_nodes_are_asked_for_at_once_and_one_without_workers_has_no_lane(
    operator: Api, job: Job
) -> None:
    found = lanes(operator, job, "node=node-2&node=node-1&node=node-9")
    assert [lane["rank"] for lane in found] == [0, 1, 2, 3]


def test_one_attempt_alone_can_be_asked_for(operator: Api, job: Job) -> None:
    second = Attempt.objects.create(
        id=f"j{job.id}-a2-00000000", job=job, number=2, store_host="node-1", created_at=timezone.now()
    )
    Worker.objects.create(
        attempt=second,
        round=1,
        rank=0,
        local_rank=0,
        node="node-1",
        pid=9001,
        start_time=78,
        started_at=timezone.now(),
    )
    assert [told(lane) for lane in lanes(operator, job, "node=node-1&attempt=2")] == [
        [(2, 1, "running", True)]
    ]
    assert [s[:2] for s in told(lanes(operator, job, "node=node-1")[0])] == [(1, 1), (1, 2), (2, 1)]


def test_which_nodes_must_be_said(operator: Api, job: Job) -> None:
    answer = operator.get(f"/api/jobs/{job.id}/timeline/ranks")
    assert (answer.status, answer.body["where"]) == (422, "node")


def test_a_job_that_is_not_there_is_said(operator: Api) -> None:
    assert operator.get("/api/jobs/12345/timeline/ranks?node=node-1").status == 404


def test_many_rounds_take_one_query(job: Job) -> None:
    for _ in range(20):
        add_round(job.attempts.get(), ["node-1", "node-2"])
    with CaptureQueriesContext(connection) as asked:
        found = rank_lanes_out(job, ["node-1", "node-2"]).items
    assert [len(lane.spans) for lane in found] == [22] * 4
    assert len(asked) == 1
