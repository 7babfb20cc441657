"""An attempt gets the nodes that it should have, and lets go of those that it should not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.wire.codec import read_command
from agents.wire.commands import LeaveRunner, StartRunner
from agents.wire.lifecycle import Phase, RunnerState
from tests.webapp.factories import make_job, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command, Node
from webapp.jobs.apply import restand
from webapp.jobs.folded import runner_of, state_to_dict
from webapp.jobs.models import Attempt, Job, Member, Round
from webapp.jobs.tasks import place_queued, reconcile

pytestmark = pytest.mark.django_db


def running(anna: Account, *nodes: str, wanted: int | None = 2, **spec: Any) -> Job:
    for name in nodes:
        make_node(name)
    job = make_running_job(anna, nodes, **{"nnodes": "1:3", **spec})
    job.spec["nodes"] = wanted
    job.save()
    return job


def member(node: str) -> Member:
    return Member.objects.get(node=node)


def members() -> dict[str, bool]:
    """Nodes of the attempt, and whether each is to stay."""
    return {row.node: row.leaves_at is None for row in Member.objects.order_by("node")}


def commands(kind: str, node: str | None = None) -> list[Any]:
    rows = Command.objects.filter(kind=kind).exclude(body={}).order_by("created_at")
    return [read_command(json.dumps(row.body)) for row in rows if node in (None, row.node)]


def know(node: str, **more: Any) -> None:
    """Let the node's runner have said something else."""
    row = member(node)
    state: RunnerState = replace(runner_of(row), **more)
    row.folded, row.phase = state_to_dict(state), state.phase.value
    row.save()


def fall_silent(node: str, seconds: float = 10.0) -> None:
    heard_at = timezone.now() - timedelta(seconds=seconds)
    Node.objects.filter(name=node).update(last_heard_at=heard_at, state="unheard")


def form_without(*, lost: str) -> None:
    """The others have formed a round without it."""
    attempt = Attempt.objects.get()
    nodes = [m.node for m in attempt.members.exclude(node=lost)]
    number = attempt.rounds.count() + 1
    Round.objects.create(
        attempt=attempt,
        number=number,
        world_size=2 * len(nodes),
        nodes=nodes,
        cause="membership",
        formed_at=timezone.now(),
    )
    for node in nodes:
        know(node, round=number, nodes=tuple(nodes), workers=())


def end(node: str, outcome: str, settled: bool = True, **more: Any) -> None:
    know(node, phase=Phase.ENDED, outcome=outcome, since=timezone.now(), **more)
    if settled:
        Member.objects.filter(node=node).update(settled_at=timezone.now())


# -- more nodes --


def test_a_job_that_wants_more_nodes_gets_a_free_one_that_is_started_at_the_store(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    make_node("node-3")
    Job.objects.update(nodes_wanted=3)
    restand(job.id)
    (start,) = commands("start_runner", "node-3")
    assert isinstance(start, StartRunner)
    assert (start.message.endpoint, start.message.hosts_store) == ("127.0.0.1:29400", False)
    assert start.message.nodes == ("node-1", "node-2", "node-3")
    assert (start.message.nproc, start.message.incarnation) == (2, 1)
    restand(job.id)
    reconcile()
    assert len(commands("start_runner", "node-3")) == 1
    job.refresh_from_db()
    assert job.state_reason.endswith("node-3 is being started, to join.")


def test_without_room_it_waits_and_takes_the_room_once_it_is_there(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    make_node("node-3", slots=1)
    Job.objects.update(nodes_wanted=3)
    restand(job.id)
    assert set(members()) == {"node-1", "node-2"}
    Node.objects.filter(name="node-3").update(slots=2)
    reconcile()
    assert set(members()) == {"node-1", "node-2", "node-3"}


@pytest.mark.parametrize("field", ["draining_since", "set_aside_at"])
def test_a_node_that_takes_no_jobs_is_not_added(anna: Account, field: str) -> None:
    job = running(anna, "node-1", wanted=1)
    make_node("node-2")
    Node.objects.filter(name="node-2").update(**{field: timezone.now()})
    Job.objects.update(nodes_wanted=2)
    restand(job.id)
    assert set(members()) == {"node-1"}
    queued = make_job(anna, nnodes="1")
    place_queued()
    queued.refresh_from_db()
    why = "is being drained" if field == "draining_since" else "is set aside, as it came and went too often"
    assert f"node-2 {why}" in queued.state_reason


def test_a_job_that_takes_what_is_free_leaves_it_to_those_that_wait(anna: Account) -> None:
    job = running(anna, "node-1", wanted=None)
    waiting = make_job(anna, "waiting", nnodes="2")
    make_node("node-2")
    restand(job.id)
    assert set(members()) == {"node-1"}
    waiting.state = "stopped"
    waiting.save()
    restand(job.id)
    assert set(members()) == {"node-1", "node-2"}


def test_nothing_is_written_while_nothing_changes(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    restand(job.id)
    job.refresh_from_db()
    before = job.version
    reconcile()
    job.refresh_from_db()
    assert job.version == before


# -- fewer nodes --


def test_a_job_that_wants_fewer_nodes_lets_one_go_politely_and_says_so(anna: Account) -> None:
    job = running(anna, "node-1", "node-2", shutdown_timeout=7.0)
    Job.objects.update(nodes_wanted=1, nodes_wanted_why="scaled down from 2 to 1 node by anna")
    restand(job.id)
    assert members() == {"node-1": True, "node-2": False}
    (leave,) = commands("leave_runner")
    assert isinstance(leave, LeaveRunner)
    assert (leave.attempt, leave.grace_s, leave.why) == (
        Attempt.objects.get().id,
        7.0,
        "scaled down from 2 to 1 node by anna",
    )
    assert not Command.objects.filter(kind="stop_runner").exists()
    job.refresh_from_db()
    assert job.state_reason.endswith("node-2 is leaving: scaled down from 2 to 1 node by anna.")
    reconcile()
    assert len(commands("leave_runner")) == 1


def test_one_who_did_not_hear_it_is_told_again_once_it_is_heard(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    Job.objects.update(nodes_wanted=1)
    restand(job.id)
    Command.objects.filter(kind="leave_runner").update(state="undelivered")
    fall_silent("node-2", 5.0)
    restand(job.id)
    assert len(commands("leave_runner")) == 1
    Node.objects.update(last_heard_at=timezone.now() + timedelta(minutes=5), state="online")
    restand(job.id)
    assert len(commands("leave_runner")) == 2


def test_one_who_was_never_told_to_start_is_just_let_go(anna: Account) -> None:
    job = running(anna, "node-1", wanted=1)
    make_node("node-2")
    attempt = Attempt.objects.get()
    Member.objects.create(attempt=attempt, node="node-2", slots=2, leaves_at=timezone.now())
    restand(job.id)
    assert member("node-2").settled_at is not None
    assert commands("leave_runner") == []


def test_who_left_on_request_comes_back_when_more_are_wanted_as_another_runner(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    Job.objects.update(nodes_wanted=1)
    restand(job.id)
    form_without(lost="node-2")
    end("node-2", "stopped", has_left=True, charged=1)
    restand(job.id)
    Job.objects.update(nodes_wanted=2)
    restand(job.id)
    (start,) = commands("start_runner", "node-2")
    assert (start.message.incarnation, start.message.spent) == (2, 1)
    assert members() == {"node-1": True, "node-2": True}


# -- lost nodes --


def test_a_node_that_is_gone_is_replaced_by_a_free_one_and_leaves_when_it_returns(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    make_node("node-3")
    fall_silent("node-2")
    restand(job.id)
    assert set(members()) == {"node-1", "node-2"}
    form_without(lost="node-2")
    reconcile()
    assert members() == {"node-1": True, "node-2": False, "node-3": True}
    assert member("node-2").leaves_why == "node-3 takes its place"
    (leave,) = commands("leave_runner", "node-2")
    assert leave.deadline_s > 3600
    (start,) = commands("start_runner", "node-3")
    assert start.message.nodes == ("node-1", "node-3")


def test_a_node_that_is_gone_keeps_its_place_while_no_other_is_free(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    fall_silent("node-2")
    form_without(lost="node-2")
    restand(job.id)
    assert members() == {"node-1": True, "node-2": True}


def test_below_the_minimum_it_is_said_who_is_gone_and_that_there_is_no_other(anna: Account) -> None:
    job = running(anna, "node-1", "node-2", nnodes="2", wanted=None)
    fall_silent("node-2")
    know("node-1", phase=Phase.RENDEZVOUS, joined=("node-1",))
    restand(job.id)
    job.refresh_from_db()
    assert job.state == "waiting"
    assert job.state_reason.startswith("Round 2 waits for 1 more node: node-2 is gone since ")
    assert "; no other node has 2 free slots." in job.state_reason
    make_node("node-3")
    reconcile()
    job.refresh_from_db()
    assert (job.state, members()["node-3"]) == ("restarting", True)


def test_a_spare_is_kept_and_another_follows_when_it_has_taken_a_place(anna: Account) -> None:
    for name in ("node-1", "node-2", "node-3", "node-4"):
        make_node(name)
    job = make_job(anna, nnodes="2", nproc_per_node=2, spares=1)
    assert place_queued() == 1
    assert set(members()) == {"node-1", "node-2", "node-3"}
    Attempt.objects.update(endpoint="127.0.0.1:29400")
    end("node-2", "stopped", has_left=True)
    restand(job.id)
    assert set(members()) == {"node-1", "node-2", "node-3", "node-4"}


# -- moving away --


def test_a_node_stays_until_the_one_that_takes_its_place_has_met_the_others(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    make_node("node-3")
    Node.objects.filter(name="node-2").update(draining_since=timezone.now())
    Member.objects.filter(node="node-2").update(leaves_at=timezone.now(), leaves_why="drained by anna")
    restand(job.id)
    assert len(commands("start_runner", "node-3")) == 1
    assert commands("leave_runner") == []
    know("node-3", phase=Phase.UP, round=2)
    restand(job.id)
    assert [leave.why for leave in commands("leave_runner")] == ["drained by anna"]


def test_without_another_node_it_leaves_at_once(anna: Account) -> None:
    job = running(anna, "node-1", "node-2")
    Node.objects.filter(name="node-2").update(draining_since=timezone.now())
    Member.objects.filter(node="node-2").update(leaves_at=timezone.now(), leaves_why="drained by anna")
    restand(job.id)
    assert len(commands("leave_runner", "node-2")) == 1
