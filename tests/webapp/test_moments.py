"""The phases of a recovery as the records of its nodes and ranks tell them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.wire.runner_events import (
    Milestone,
    Reached,
    RendezvousBegun,
    RendezvousCompleted,
    RendezvousJoined,
    RestartBegun,
    WorkersReached,
    WorkersStarted,
    WorkersStarting,
)
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import BEGAN, NodeJournal, RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.fleet.models import Command, Node
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Job, Member

pytestmark = pytest.mark.django_db

ATTEMPT, NODES = "j1-a1-moments", ("node-1", "node-2")
FALL = BEGAN + timedelta(minutes=1)


@pytest.fixture
def job(anna: Account) -> Job:
    for name in NODES:
        make_node(name)
    job = make_job(anna, state="training", nnodes="2", nproc_per_node=2, max_restarts=3)
    attempt = Attempt.objects.create(
        id=ATTEMPT, job=job, number=1, store_host="node-1", endpoint="h:1", created_at=job.created_at
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    return job


def at(seconds: float) -> datetime:
    return FALL + timedelta(seconds=seconds)


def reach(journal: RunnerJournal, what: Milestone, *seconds: float) -> None:
    """Each of the node's ranks in turn, so long after the fall."""
    refs = journal.workers()
    reached = tuple(Reached(rank=ref.rank, what=what, at=at(s)) for ref, s in zip(refs, seconds, strict=True))
    journal.add(WorkersReached, round=journal.round, reached=reached)


def recovery(node: str, late: float = 0.0) -> RunnerJournal:
    """A round, its fall, and the way into the next; ``late``: how much later this node is at each moment."""
    journal = RunnerJournal(ATTEMPT, node, NODES).start().form().come_up().progress(5)
    journal.add(
        RestartBegun,
        round=1,
        cause="failure",
        torch_counter=1,
        noticed_at=at(0.10 + late),
        at=at(0.15 + late),
    )
    journal.add(RendezvousBegun, cause="failure", previous_round=1, at=at(0.16 + late))
    seen = {"expected": NODES, "min_nodes": 2, "max_nodes": 2}
    journal.add(RendezvousJoined, joined=(node,), at=at(0.17 + late), **seen)
    journal.add(RendezvousJoined, joined=NODES, at=at(0.30 + late), **seen)
    rank = NODES.index(node)
    journal.add(
        RendezvousCompleted,
        round=2,
        world_size=4,
        group_rank=rank,
        nodes=NODES,
        cause="failure",
        at=at(0.34 + late),
    )
    journal.round = 2
    refs = journal.workers()
    journal.add(WorkersStarting, round=2, ranks=tuple(ref.rank for ref in refs), at=at(0.35 + late))
    journal.add(WorkersStarted, round=2, workers=refs, at=at(0.40 + late))
    reach(journal, "group_begun", 0.50 + late, 0.52 + late)
    reach(journal, "group_up", 0.60 + late, 0.61 + late)
    reach(journal, "checkpoint_loaded", 0.70 + late, 0.70 + late)
    reach(journal, "first_step", 0.95 + late, 0.90 + late)
    return journal


def take(*journals: RunnerJournal | NodeJournal) -> None:
    for journal in journals:
        take_batch(entries(journal.events))


def second_round(who: Api, job: Job) -> dict[str, Any]:
    found: dict[str, Any] = who.get(f"/api/jobs/{job.id}/timeline").body["rounds"][1]
    return found


def seconds(phases: list[dict[str, Any]]) -> dict[str, float | None]:
    return {phase["name"]: phase["seconds"] for phase in phases}


OF_THE_LAST = {
    "detect": None,
    "stop": 0.05,
    "joining": 0.14,
    "last_call": 0.04,
    "start": 0.05,
    "script": 0.12,
    "process_group": 0.09,
    "checkpoint": 0.09,
    "first_step": 0.25,
    "pace": None,
}


def test_a_round_is_as_late_as_its_last_node_and_rank_at_each_moment(operator: Api, job: Job) -> None:
    take(recovery("node-1"), recovery("node-2", late=0.2))
    told = second_round(operator, job)
    assert seconds(told["phases"]) == OF_THE_LAST
    by_name = {phase["name"]: phase for phase in told["phases"]}
    first_step = by_name["first_step"]
    assert (first_step["critical_node"], first_step["critical_rank"]) == ("node-2", 2)
    assert (by_name["stop"]["critical_node"], by_name["stop"]["critical_rank"]) == ("node-2", None)
    assert told["recovery_s"] == 0.85
    assert told["unaccounted_s"] == 0.02


def test_records_that_come_in_another_order_tell_the_same(operator: Api, job: Job) -> None:
    first, second = recovery("node-1"), recovery("node-2", late=0.2)
    for of_first, of_second in zip(first.events, second.events, strict=True):
        take_batch(entries([of_second, of_first]))
    assert seconds(second_round(operator, job)["phases"]) == OF_THE_LAST


def kill_command(job: Job, anna: Account, round_number: int) -> str:
    body = {"rank": 3, "signal": "SIGKILL", "round": round_number, "pid": 1003, "start_time": 1}
    row = Command.objects.create(
        node="node-2",
        kind="kill_worker",
        body=body,
        job=job.id,
        attempt=ATTEMPT,
        by=anna,
        state="sent",
        created_at=timezone.now(),
    )
    return str(row.id)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_fault_by_hand_tells_how_long_it_took_to_be_detected(
    operator: Api, job: Job, anna: Account, is_first: bool
) -> None:
    told = NodeJournal("node-2").started()
    told.command_ended(kill_command(job, anna, 1), "done", "", sent_at=at(0.02).timestamp())
    journals = [recovery("node-1"), recovery("node-2")]
    fell = [isinstance(event, RestartBegun) for event in journals[0].events].index(True)
    trained = [event for journal in journals for event in journal.events[:fell]]
    came_back = [event for journal in journals for event in journal.events[fell:]]
    after_that = (told.events, came_back) if is_first else (came_back, told.events)
    for events in (trained, *after_that):
        take_batch(entries(events))
    found = second_round(operator, job)
    assert seconds(found["phases"])["detect"] == 0.08
    assert found["recovery_s"] == 0.93


def test_moments_are_told_by_the_clock_of_the_hub(operator: Api, job: Job) -> None:
    Node.objects.filter(name="node-2").update(clock_offset_s=0.2, clock_error_s=0.001)
    Node.objects.filter(name="node-1").update(clock_offset_s=0.004, clock_error_s=0.005)
    take(recovery("node-1"), recovery("node-2", late=0.2))
    told = second_round(operator, job)
    assert told["recovery_s"] == 0.85
    assert {phase["critical_node"] for phase in told["phases"]} <= {None, "node-1"}
    clocks = operator.get(f"/api/jobs/{job.id}/attempts/1/rounds/2/waterfall").body["clocks"]
    assert [(each["node"], each["offset_s"], each["taken_s"]) for each in clocks] == [
        ("node-1", 0.004, 0.0),
        ("node-2", 0.2, 0.2),
    ]


def test_each_node_and_each_rank_has_its_own_way(operator: Api, job: Job) -> None:
    take(recovery("node-1"), recovery("node-2", late=0.2))
    rows = operator.get(f"/api/jobs/{job.id}/attempts/1/rounds/2/waterfall").body["rows"]
    assert [(row["node"], row["rank"]) for row in rows] == [
        ("node-1", None),
        ("node-1", 0),
        ("node-1", 1),
        ("node-2", None),
        ("node-2", 2),
        ("node-2", 3),
    ]
    assert seconds(rows[0]["phases"]) == {
        "detect": None,
        "stop": 0.05,
        "joining": 0.14,
        "last_call": 0.04,
        "start": 0.05,
    }
    assert seconds(rows[5]["phases"]) == {
        "script": 0.12,
        "process_group": 0.09,
        "checkpoint": 0.09,
        "first_step": 0.2,
        "pace": None,
    }


def test_a_round_that_is_not_there_is_named(operator: Api, job: Job) -> None:
    take(recovery("node-1"))
    answer = operator.get(f"/api/jobs/{job.id}/attempts/1/rounds/9/waterfall")
    assert answer.status == 404
    assert "Attempt 1" in str(answer.body)
    assert "no round 9" in str(answer.body)


def test_what_no_worker_reports_is_told_as_not_reported(operator: Api, job: Job) -> None:
    journals = [recovery(node) for node in NODES]
    for journal in journals:
        journal.events = [event for event in journal.events if not isinstance(event, WorkersReached)]
        for seq, event in enumerate(journal.events, start=1):
            object.__setattr__(event, "seq", seq)
    take(*journals)
    told = second_round(operator, job)
    assert [name for name, s in seconds(told["phases"]).items() if s is not None] == [
        "stop",
        "joining",
        "last_call",
        "start",
    ]
    assert (told["recovery_s"], told["unaccounted_s"]) == (None, None)


def test_a_node_that_comes_later_keeps_the_first_round_joining(operator: Api, job: Job) -> None:
    """Nobody comes out of a round then: the first to come waits for the last."""
    early = RunnerJournal(ATTEMPT, "node-1", NODES).start()
    late = RunnerJournal(ATTEMPT, "node-2", NODES, began=BEGAN + timedelta(seconds=10)).start()
    take(early.form(), late.form())
    (first,) = operator.get(f"/api/jobs/{job.id}/timeline").body["rounds"]
    assert seconds(first["phases"])["joining"] == 11.0


def test_typical_is_the_median_of_the_restarts(operator: Api, job: Job) -> None:
    take(recovery("node-1"), recovery("node-2"))
    typical = operator.get(f"/api/jobs/{job.id}/timeline").body["typical"]
    assert typical["process_group"] == 0.09
    assert "pace" not in typical


def test_a_round_that_is_formed_once_more_is_told_anew(operator: Api, job: Job) -> None:
    """Its runner died while it was formed; the next one of that node is in a round of the same number."""
    first = RunnerJournal(ATTEMPT, "node-1", NODES).start().form()
    again = RunnerJournal(ATTEMPT, "node-1", NODES, began=FALL, incarnation=2).start().form()
    take(first)
    take(again)
    rows = operator.get(f"/api/jobs/{job.id}/attempts/1/rounds/1/waterfall").body["rows"]
    (joining,) = (phase for phase in rows[0]["phases"] if phase["name"] == "joining")
    assert datetime.fromisoformat(joining["start"]) == FALL + timedelta(seconds=2)
