"""Draining a node: the forecast for each job, and that just this is done."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from agents.wire.lifecycle import Phase
from tests.webapp.api_client import Answer, Api
from tests.webapp.factories import make_job, make_node, make_running_job, wanting
from webapp.accounts.models import Account
from webapp.events.models import Record
from webapp.fleet.models import Command, Node
from webapp.jobs.drain import carry_on
from webapp.jobs.forecast import Case, Share, forecast
from webapp.jobs.models import Attempt, Job, Member
from webapp.jobs.tasks import place_queued

ON_THREE = tuple(Share(node=f"node-{number}") for number in (1, 2, 3))


def case(**more: Any) -> Case:
    whole: dict[str, Any] = {
        "job": 7,
        "name": "char-lm",
        "attempt": 1,
        "min_nodes": 2,
        "slots": 2,
        "shares": ON_THREE,
        "store_host": "node-1",
    }
    return Case(**whole | more)


ANEW = "Job 7 char-lm starts anew as attempt 2"
SPARE = (*ON_THREE[:2], Share(node="node-3", is_spare=True))
COSTS = "That is a membership restart; no failure restart is spent."

FORECASTS: dict[str, tuple[Case, str, str, int, str]] = {
    "a node is free": (
        case(free=("node-4", "node-5")), "node-3", "moves", 3,
        f"Job 7 char-lm moves from node-3 to node-4, which is free. {COSTS}",
    ),
    "one stands by": (
        case(shares=SPARE, free=("node-4",)), "node-2", "promotes", 2,
        f"Job 7 char-lm goes on with node-3, which stands by, in place of node-2. {COSTS}",
    ),
    "the others are enough": (
        case(), "node-3", "shrinks", 2,
        f"Job 7 char-lm shrinks from 3 to 2 nodes, as none is free. {COSTS}",
    ),
    "the others are too few": (
        case(shares=ON_THREE[:2]), "node-2", "waits", 1,
        "Job 7 char-lm stands still: 1 of at least 2 nodes would be left. It waits for 1 node with 2 free "
        "slots.",
    ),
    "it keeps the store": (
        case(anew=("node-2", "node-4"), free=("node-4",)), "node-1", "relaunches", 2,
        ANEW + " on node-2 and node-4, because node-1 keeps its store.",
    ),
    "it keeps the store, and the others are too few": (
        case(shares=ON_THREE[:2]), "node-1", "relaunches", 0,
        ANEW + ", because node-1 keeps its store, but waits for nodes with room for it. "
        "It is queued until then.",
    ),
    "the spec names it": (
        case(is_tied=True, free=("node-4",)), "node-1", "relaunches", 0,
        ANEW + " only once node-1 is used again, because its rdzv_endpoint names node-1. "
        "It is queued until then.",
    ),
    "its ranks are fixed": (
        case(is_fixed=True, anew=("node-1", "node-2", "node-4"), free=("node-4",)), "node-3", "relaunches", 3,
        ANEW + " on node-1, node-2 and node-4, because its nodes and their ranks are fixed from the start "
        "of an attempt.",
    ),
    "it is the last one": (
        case(shares=ON_THREE[:1], store_host="", min_nodes=1), "node-1", "relaunches", 0,
        ANEW + ", because it would be left without a node, but waits for nodes with room for it. "
        "It is queued until then.",
    ),
    "it stands by itself": (
        case(shares=SPARE), "node-3", "leaves", 2,
        "node-3 stands by for job 7 char-lm and leaves it; training goes on as it is.",
    ),
    "it is leaving": (
        case(shares=(*ON_THREE[:2], Share(node="node-3", is_leaving=True))), "node-3", "leaves", 2,
        "Job 7 char-lm is leaving node-3 already.",
    ),
    "the job is being stopped": (
        case(is_ending=True, free=("node-4",)), "node-3", "ends", 2,
        "Job 7 char-lm is ending on node-3 already.",
    ),
    "its runner there has ended": (
        case(shares=ON_THREE[:2], free=("node-4",)), "node-3", "ends", 2,
        "Job 7 char-lm is ending on node-3 already.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORECASTS)
def test_the_forecast_is_a_true_sentence(name: str) -> None:
    seen, node, effect, after, says = FORECASTS[name]
    told = forecast(seen, node)
    assert (told.effect, told.nodes_after, told.says) == (effect, after, says)


def test_new_nodes_are_named() -> None:
    assert forecast(case(free=("node-4",)), "node-3").to == ("node-4",)
    assert forecast(case(anew=("node-2", "node-4")), "node-1").to == ("node-4",)
    assert forecast(case(), "node-1").to == ()


@pytest.fixture
def nodes(db: None) -> None:
    for name in ("node-1", "node-2", "node-3"):
        make_node(name)


def ahead(who: Api, node: str) -> list[dict[str, Any]]:
    answer = who.get(f"/api/nodes/{node}/drain")
    assert answer.status == 200, answer.body
    jobs: list[dict[str, Any]] = answer.body["jobs"]
    return jobs


def drain(who: Api, node: str, reason: str = "") -> Answer:
    return who.post(f"/api/nodes/{node}/drain", {"reason": reason})


def node_of(who: Api, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(n for n in who.get("/api/nodes").body["items"] if n["name"] == name)
    return found


def told(kind: str) -> QuerySet[Command]:
    return Command.objects.filter(kind=kind, body__kind=kind)


def settle(node: str) -> None:
    """As when nothing of any job is left there."""
    Member.objects.filter(node=node).update(settled_at=timezone.now(), phase=Phase.ENDED.value)


def test_a_job_is_moved_to_the_free_node_before_it_leaves(operator: Api, anna: Account, nodes: None) -> None:
    job = wanting(make_running_job(anna, ["node-1", "node-2"], nnodes="1:3"), 2)
    assert [(f["job"], f["effect"], f["to"]) for f in ahead(operator, "node-2")] == [
        (job.id, "moves", ["node-3"])
    ]
    answer = drain(operator, "node-2", "a new disk")
    assert answer.status == 202
    assert [c.node for c in told("start_runner")] == ["node-3"]
    leaving = job.attempts.get().members.get(node="node-2")
    assert (leaving.leaves_why, told("leave_runner").count()) == ("drained by anna: a new disk", 0)
    assert answer.body["takes_no_jobs"] == f"Draining by anna: a new disk. Job {job.id} has not left it yet."


def test_without_a_free_node_the_others_go_on_and_it_leaves_at_once(
    operator: Api, anna: Account, nodes: None
) -> None:
    job = make_running_job(anna, ["node-1", "node-2", "node-3"], nnodes="1:3")
    drain(operator, "node-3", "a new disk")
    assert [(c.node, c.why) for c in told("leave_runner")] == [("node-3", "drained by anna: a new disk")]
    assert operator.get(f"/api/jobs/{job.id}").body["attempt"] == 1


def test_the_node_that_keeps_the_store_is_left_by_a_new_attempt(
    operator: Api, anna: Account, nodes: None
) -> None:
    job = wanting(make_running_job(anna, ["node-1", "node-2"], nnodes="1:3"), 2)
    assert ahead(operator, "node-1")[0]["effect"] == "relaunches"
    drain(operator, "node-1", "a new disk")
    body = operator.get(f"/api/jobs/{job.id}").body
    assert body["state"] == "queued"
    assert body["state_reason"] == (
        "Attempt 1 ended: node-1 was drained by anna: a new disk. Attempt 2 follows without it."
    )
    assert sorted(c.node for c in told("stop_runner")) == ["node-1", "node-2"]
    assert place_queued() == 0
    for node in ("node-1", "node-2"):
        settle(node)
    assert place_queued() == 1
    again = operator.get(f"/api/jobs/{job.id}").body
    assert (again["attempt"], sorted(m["node"] for m in again["members"])) == (2, ["node-2", "node-3"])
    assert again["relaunches"] == {"used": 0, "max": 3, "next_at": None}
    assert [(a["number"], a["why"], a["is_infrastructure"]) for a in again["attempts"]] == [
        (2, "", False),
        (1, "node-1 was drained by anna: a new disk.", False),
    ]


def test_two_jobs_are_not_promised_the_same_slots(operator: Api, anna: Account, nodes: None) -> None:
    make_running_job(anna, ["node-2", "node-1"], 1, name="one", nnodes="1:2")
    make_running_job(anna, ["node-2", "node-1"], 1, name="two", nnodes="1:2")
    Node.objects.filter(name="node-3").update(slots=1)
    assert [(f["name"], f["effect"]) for f in ahead(operator, "node-1")] == [
        ("one", "moves"),
        ("two", "shrinks"),
    ]


def test_a_drained_node_gets_no_job_and_says_so(operator: Api, anna: Account) -> None:
    make_node("node-1")
    answer = drain(operator, "node-1", "a new disk")
    assert (answer.body["is_drained"], answer.body["drained_by"]) == (True, "anna")
    assert answer.body["takes_no_jobs"] == "Drained by anna: a new disk. Nothing of any job is left."
    job = make_job(anna, nproc_per_node=1)
    assert place_queued() == 0
    assert "node-1 is being drained" in operator.get(f"/api/jobs/{job.id}").body["state_reason"]
    assert operator.post("/api/nodes/node-1/undrain").body["takes_no_jobs"] == ""
    assert place_queued() == 1


def test_it_is_drained_only_when_nothing_is_left(operator: Api, anna: Account, nodes: None) -> None:
    make_running_job(anna, ["node-1", "node-2"], nnodes="1:2")
    drain(operator, "node-2")
    assert not node_of(operator, "node-2")["is_drained"]
    settle("node-2")
    assert node_of(operator, "node-2")["is_drained"]


def test_a_store_that_is_still_kept_is_not_nothing(operator: Api, anna: Account, nodes: None) -> None:
    job = make_running_job(anna, ["node-1"])
    attempt = Attempt.objects.get()
    _keeper(attempt, 1, "keeper_started")
    drain(operator, "node-1")
    settle("node-1")
    seen = node_of(operator, "node-1")
    assert (seen["is_drained"], seen["takes_no_jobs"]) == (
        False,
        f"Draining by anna. The store of job {job.id} is still kept here.",
    )
    _keeper(attempt, 2, "keeper_finished")
    assert node_of(operator, "node-1")["is_drained"]


def _keeper(attempt: Attempt, seq: int, kind: str) -> None:
    now = timezone.now()
    Record.objects.create(
        source=f"keeper/{attempt.id}",
        seq=seq,
        kind=kind,
        at=now,
        received_at=now,
        node=attempt.store_host,
        attempt=attempt.id,
        body={},
    )


def test_draining_twice_changes_nothing(operator: Api, anna: Account, nodes: None) -> None:
    make_running_job(anna, ["node-1", "node-2", "node-3"], nnodes="1:3")
    first = drain(operator, "node-3", "a new disk").body
    again = drain(operator, "node-3", "a new fan").body
    assert (again["drain_reason"], again["draining_since"]) == ("a new disk", first["draining_since"])
    assert told("leave_runner").count() == 1


def test_what_was_not_done_when_the_hub_died_is_done_by_the_next_look(
    operator: Api, anna: Account, nodes: None
) -> None:
    make_running_job(anna, ["node-1", "node-2", "node-3"], nnodes="1:3")
    Node.objects.filter(name="node-2").update(draining_since=timezone.now(), drained_by=anna)
    assert carry_on() == 1
    assert [c.node for c in told("leave_runner")] == ["node-2"]
    assert carry_on() == 0


def test_who_waits_for_its_substitute_stays_when_the_node_is_used_again(
    operator: Api, anna: Account, nodes: None
) -> None:
    job = wanting(make_running_job(anna, ["node-1", "node-2"], nnodes="1:3"), 2)
    drain(operator, "node-2")
    answer = operator.post("/api/nodes/node-2/undrain")
    assert (answer.status, answer.body["draining_since"]) == (200, None)
    staying = job.attempts.get().members.get(node="node-2")
    assert (staying.leaves_at, staying.leaves_why) == (None, "")


def test_a_node_that_was_set_aside_is_used_again(operator: Api, nodes: None) -> None:
    now = timezone.now()
    Node.objects.filter(name="node-2").update(set_aside_at=now, comings=[now.isoformat()] * 3)
    assert "came back to a job 3 times" in node_of(operator, "node-2")["set_aside_why"]
    answer = operator.post("/api/nodes/node-2/undrain")
    assert (answer.body["set_aside_at"], answer.body["takes_no_jobs"]) == (None, "")
    assert Node.objects.get(name="node-2").comings == []


def test_the_events_of_each_job_tell_who_drained_its_node(operator: Api, anna: Account, nodes: None) -> None:
    job = make_running_job(anna, ["node-1", "node-2", "node-3"], nnodes="1:3")
    drain(operator, "node-3", "a new disk")
    assert [event["says"] for event in operator.get(f"/api/jobs/{job.id}/events").body["items"]] == [
        f"anna drains node-3: a new disk. Job {job.id} char-lm shrinks from 3 to 2 nodes, as none is free. "
        "That is a membership restart; no failure restart is spent."
    ]


def test_a_viewer_looks_ahead_and_drains_nothing(viewer: Api, nodes: None) -> None:
    assert viewer.get("/api/nodes/node-1/drain").status == 200
    assert drain(viewer, "node-1").status == 403
    assert viewer.post("/api/nodes/node-1/undrain").status == 403
    assert not Node.objects.exclude(draining_since=None).exists()


def test_a_node_that_never_was_cannot_be_drained(operator: Api) -> None:
    assert drain(operator, "node-9").body["what"] == "There is no node node-9."


def test_a_stopped_job_is_left_to_its_stop(operator: Api, anna: Account, nodes: None) -> None:
    job = wanting(make_running_job(anna, ["node-1", "node-2"], nnodes="1:3"), 2)
    operator.post(f"/api/jobs/{job.id}/stop", {})
    assert ahead(operator, "node-2")[0]["effect"] == "ends"
    drain(operator, "node-2")
    assert not told("leave_runner").exists()
    assert Job.objects.get().attempts.count() == 1
