"""A new attempt after one that ended for no fault of the job's, and never after one that did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.wire.lifecycle import Phase, RunnerState, WorkerState
from agents.wire.runner_events import WorkerRef
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node, make_running_job, wanting
from webapp.accounts.models import Account
from webapp.fleet.models import Command, Node
from webapp.jobs.apply import restand, start_did_not_happen
from webapp.jobs.folded import runner_of, state_to_dict
from webapp.jobs.models import Attempt, Job, Member
from webapp.jobs.relaunch import decide
from webapp.jobs.situation import JobFacts, MemberFacts, RoundFacts
from webapp.jobs.tasks import place_queued, reconcile

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LOST = "The store host node-1 is lost: its address refuses connections."


def member(node: str, *, unheard: bool = False, worker: str = "peer_lost", **state: Any) -> MemberFacts:
    ref = WorkerRef(rank=0, local_rank=0, pid=8001, start_time=77)
    whole: dict[str, Any] = {
        "phase": Phase.UP,
        "since": NOON,
        "round": 1,
        "workers": (WorkerState(ref, state=worker),),
    }
    runner, silence_s = RunnerState(**whole | state), 5.0 if unheard else 0.0
    return MemberFacts(node=node, runner=runner, is_unheard=unheard, silence_s=silence_s, is_settled=True)


def ended(node: str, reason: str = LOST, **state: Any) -> MemberFacts:
    lost: dict[str, Any] = {"phase": Phase.ENDED, "outcome": "failed", "is_infrastructure": True}
    return member(node, **lost | {"reason": reason} | state)


def facts(*members: MemberFacts, **more: Any) -> JobFacts:
    nodes = tuple(m.node for m in members)
    formed = RoundFacts(number=1, world_size=len(nodes), nodes=nodes, cause="start", why="", formed_at=NOON)
    return JobFacts(members=members, rounds=(formed,), max_nodes=3, **more)


def test_when_all_have_lost_the_store_another_attempt_follows_after_a_second() -> None:
    again = decide(facts(ended("node-1"), ended("node-2")), used=0, limit=3)
    assert again is not None
    assert (again.why, again.delay_s, again.number) == (LOST, 1.0, 1)


@pytest.mark.parametrize(("used", "delay_s"), [(0, 1.0), (1, 4.0), (2, 16.0), (3, 60.0), (9, 60.0)])
def test_each_pause_is_four_times_the_last(used: int, delay_s: float) -> None:
    again = decide(facts(ended("node-1")), used, limit=10)
    assert again is not None
    assert again.delay_s == delay_s


def test_nobody_waits_for_a_node_that_is_not_heard() -> None:
    assert decide(facts(member("node-1", unheard=True), ended("node-2")), 0, 3)


def test_nobody_waits_for_a_node_that_came_too_late_to_meet_anybody() -> None:
    fresh = member("node-3", phase=Phase.RENDEZVOUS, round=None, workers=())
    assert decide(facts(ended("node-1"), ended("node-2"), fresh), 0, 3)


NOT_FOLLOWED: dict[str, JobFacts] = {
    "one still runs": facts(ended("node-1"), member("node-2", worker="running")),
    "one has not ended yet": facts(ended("node-1"), member("node-2", phase=Phase.RESTARTING)),
    "a worker failed by itself": facts(
        ended("node-1", "Rank 0 ended with exit status 1.", is_infrastructure=False, worker="cause"),
        ended("node-2"),
    ),
    "nobody speaks of infrastructure": facts(
        ended("node-1", "The budget is spent.", is_infrastructure=False),
        ended("node-2", "The rendezvous was closed.", is_infrastructure=False),
    ),
    "it is to be stopped": facts(ended("node-1"), wants_stop=True),
    "all ranks have ended well": facts(ended("node-1", worker="finished")),
    "nothing is known of silent nodes": facts(member("node-1", unheard=True)),
}


def test_who_was_left_behind_tells_nothing() -> None:
    behind = JobFacts(
        members=(ended("node-1"), member("node-2", unheard=True, round=2)),
        rounds=(
            RoundFacts(number=2, world_size=1, nodes=("node-2",), cause="membership", why="", formed_at=NOON),
        ),
    )
    assert decide(behind, 0, 3) is None


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_no_attempt_follows_when(name: str) -> None:
    assert decide(NOT_FOLLOWED[name], 0, 3) is None


def test_a_store_elsewhere_that_was_never_reached_is_a_mistake_and_one_of_our_own_is_lost() -> None:
    never_met = replace(ended("node-1"), runner=replace(ended("node-1").runner, round=None))
    assert decide(JobFacts(members=(never_met,)), 0, 3) is None
    assert decide(JobFacts(members=(replace(never_met, hosts_store=True),)), 0, 3)


def test_no_more_than_the_limit_follow() -> None:
    lost = facts(ended("node-1"))
    assert decide(lost, 2, 3) is not None
    assert decide(lost, 3, 3) is None
    assert decide(lost, 0, 0) is None


# -- the rows -----------------------------------------------------------------------------


@pytest.fixture
def job(anna: Account) -> Job:
    for name in ("node-1", "node-2", "node-3"):
        make_node(name)
    return wanting(make_running_job(anna, ["node-1", "node-2"], nnodes="1:3", max_restarts=2), 2)


def lose_store(job: Job, nodes: Sequence[str], settled: bool = True, **state: Any) -> None:
    """The runners on those nodes say that the store is lost."""
    attempt = job.attempts.order_by("-number")[0]
    for row in attempt.members.filter(node__in=nodes):
        whole = {**state_to_dict(runner_of(row)), "phase": "ended", "outcome": "failed", "reason": LOST}
        row.folded = {**whole, "is_infrastructure": True, "since": timezone.now().isoformat(), **state}
        row.phase, row.settled_at = Phase.ENDED.value, timezone.now() if settled else None
        row.save()
    restand(job.id)


def fall_silent(*nodes: str) -> None:
    long_ago = timezone.now() - timedelta(seconds=20)
    Node.objects.filter(name__in=nodes).update(last_heard_at=long_ago, state="lost")


def seen(who: Api, job: Job) -> dict[str, Any]:
    body: dict[str, Any] = who.get(f"/api/jobs/{job.id}").body
    return body


def come_due(job: Job) -> None:
    Job.objects.filter(pk=job.id).update(not_before=timezone.now() - timedelta(seconds=1))


def test_the_job_goes_to_the_queue_with_a_sentence_and_never_looks_ended(operator: Api, job: Job) -> None:
    lose_store(job, ["node-1", "node-2"])
    body = seen(operator, job)
    at = datetime.fromisoformat(body["relaunches"]["next_at"])
    assert (body["state"], body["ended_at"]) == ("queued", None)
    assert body["state_reason"] == (
        "Attempt 1 ended: the store host node-1 is lost: its address refuses connections. "
        f"Attempt 2 follows at {at:%H:%M:%S} UTC: 1 of 3 relaunches."
    )
    assert (body["relaunches"]["used"], body["relaunches"]["max"]) == (1, 3)
    assert {s.state for s in job.sentences.all()} <= {"queued", "running", "restarting", "stopping"}


def test_the_next_attempt_waits_its_time_and_then_begins_anew(operator: Api, job: Job) -> None:
    lose_store(job, ["node-1", "node-2"])
    assert place_queued() == 0
    come_due(job)
    assert place_queued() == 1
    body = seen(operator, job)
    assert (body["attempt"], body["round"], body["restarts"]["failure"]) == (2, None, 0)
    assert [(a["number"], a["why"], a["is_infrastructure"], a["rounds"]) for a in body["attempts"]] == [
        (2, "", False, 0),
        (1, LOST, True, 1),
    ]
    assert body["relaunches"]["next_at"] is None


def test_it_waits_a_moment_for_what_is_still_ending_on_nodes_that_are_heard(job: Job) -> None:
    lose_store(job, ["node-1", "node-2"], settled=False)
    come_due(job)
    assert place_queued() == 0
    Member.objects.filter(attempt__job=job).update(settled_at=timezone.now())
    assert place_queued() == 1


def test_a_lost_store_host_holds_up_nobody_and_is_stopped_when_it_returns(operator: Api, job: Job) -> None:
    fall_silent("node-1")
    lose_store(job, ["node-2"])
    come_due(job)
    assert place_queued() == 1
    assert sorted(m["node"] for m in seen(operator, job)["members"]) == ["node-2", "node-3"]
    stop = Command.objects.get(kind="stop_runner", node="node-1")
    Command.objects.filter(pk=stop.pk).update(state="undelivered")
    reconcile()
    assert Command.objects.filter(kind="stop_runner", node="node-1").count() == 1
    Node.objects.filter(name="node-1").update(last_heard_at=timezone.now(), state="online")
    reconcile()
    assert Command.objects.filter(kind="stop_runner", node="node-1").count() == 2


def test_a_later_attempt_goes_on_with_the_nodes_that_are_left(operator: Api, job: Job) -> None:
    lose_store(job, ["node-1", "node-2"])
    fall_silent("node-1", "node-3")
    come_due(job)
    assert place_queued() == 1
    assert [m["node"] for m in seen(operator, job)["members"]] == ["node-2"]


def test_when_all_relaunches_are_used_up_the_job_has_failed(operator: Api, anna: Account) -> None:
    make_node("node-1")
    job = make_running_job(anna, ["node-1"], max_relaunches=1)
    lose_store(job, ["node-1"])
    come_due(job)
    place_queued()
    second = job.attempts.get(number=2)
    second.members.update(folded=state_to_dict(RunnerState(phase=Phase.UP, round=1)), phase=Phase.UP.value)
    lose_store(job, ["node-1"])
    body = seen(operator, job)
    assert (body["state"], body["state_reason"]) == ("failed", f"{LOST} The 1 relaunch is used up.")
    assert body["attempts"][0]["why"] == body["state_reason"]


def test_without_relaunches_it_has_failed_though_the_host_be_silent(operator: Api, anna: Account) -> None:
    for name in ("node-1", "node-2"):
        make_node(name)
    job = make_running_job(anna, ["node-1", "node-2"], max_relaunches=0)
    fall_silent("node-1")
    lose_store(job, ["node-2"])
    assert (seen(operator, job)["state"], seen(operator, job)["state_reason"]) == ("failed", LOST)


def let_start_go_unanswered(job: Job, node: str) -> None:
    """The attempt has only just been placed, and that node's agent has died since."""
    attempt = job.attempts.get()
    attempt.rounds.all().delete()
    attempt.workers.all().delete()
    attempt.members.update(folded={}, phase=Phase.LAUNCHING.value)
    attempt.members.filter(node=node).update(settled_at=None)
    start_did_not_happen(Command.objects.get(kind="start_runner", node=node))


@pytest.mark.parametrize("node", ["node-1", "node-2"])
def test_a_start_that_no_node_took_is_no_fault_of_the_jobs(operator: Api, job: Job, node: str) -> None:
    Command.objects.filter(node=node).update(reason=f"{node} has not said that it has it.")
    let_start_go_unanswered(job, node)
    if node == "node-2":
        # The store host has begun, and is stopped first.
        assert seen(operator, job)["state"] == "stopping"
        lose_store(job, ["node-1"], outcome="stopped", reason="stopped on request", is_infrastructure=False)
    body = seen(operator, job)
    assert body["state"] == "queued"
    assert f"Attempt 1 ended: {node} has not said that it has it. Attempt 2 follows" in body["state_reason"]


def test_a_python_error_is_followed_by_no_attempt(operator: Api, job: Job) -> None:
    lose_store(job, ["node-1", "node-2"], is_infrastructure=False, reason="Rank 0 ended with exit status 1.")
    assert seen(operator, job)["state"] == "failed"
    assert Attempt.objects.count() == 1


def test_a_stop_while_the_next_attempt_is_awaited_is_the_end(operator: Api, job: Job) -> None:
    lose_store(job, ["node-1", "node-2"])
    body = operator.post(f"/api/jobs/{job.id}/stop", {"reason": "enough"}).body
    assert (body["state"], body["state_reason"]) == (
        "stopped",
        "Stopped by anna: enough. Attempt 2 had not been started.",
    )
    come_due(job)
    assert place_queued() == 0


def test_late_records_of_the_last_attempt_change_nothing(operator: Api, job: Job) -> None:
    lose_store(job, ["node-1", "node-2"])
    before = seen(operator, job)["state_reason"]
    restand(job.id)
    reconcile()
    assert seen(operator, job)["state_reason"] == before
