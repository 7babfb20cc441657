"""Jobs that ask for an interpreter by name: only nodes that offer it get them, and the others are told of."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.wire.spec import JobSpec
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node
from webapp.fleet.models import Command
from webapp.jobs.launch import need_of
from webapp.jobs.models import Job, Member
from webapp.jobs.placement import NotPlaced, Placed, Room, choose
from webapp.jobs.tasks import place_queued

JOB = {"script": "/data/train.py", "python": "env:vision"}
NAMES = st.dictionaries(st.sampled_from(["vision", "audio", "vis"]), st.sampled_from(["", "has no torch"]))


def offering(*names: str, trouble: str = "") -> dict[str, Any]:
    """Facts of a node."""
    return {"environments": [{"name": name, "path": "/x", "trouble": trouble} for name in names]}


def room(node: str, environments: dict[str, str]) -> Room:
    return Room(node=node, slots=2, free=2, is_online=True, machine=node, environments=environments)


@settings(max_examples=50, deadline=None)
@given(st.lists(NAMES, max_size=6), st.integers(1, 3), st.integers(0, 3))
def test_never_a_node_without_it(offers: list[dict[str, str]], low: int, more: int) -> None:
    rooms = [room(f"n{i}", offered) for i, offered in enumerate(offers)]
    able = {one.node for one in rooms if one.environments.get("vision") == ""}
    spec = JobSpec(script="/x.py", python="env:vision", nnodes=f"{low}:{low + more}")
    answer = choose(rooms, need_of(spec))
    assert isinstance(answer, Placed) == (len(able) >= low)
    if isinstance(answer, Placed):
        assert set(answer.nodes) <= able
        assert len(answer.nodes) == min(len(able), low + more)


def test_each_node_that_does_not_do_is_named_with_the_reason() -> None:
    rooms = [room("a", {"audio": ""}), room("b", {"vision": "has no torch"}), room("c", {"vision": ""})]
    answer = choose(rooms, need_of(JobSpec(script="/x.py", python="env:vision", nnodes="2")))
    assert answer == NotPlaced(
        "Queued: needs 2 nodes with 1 free slot each; 1 is ready: a offers no environment vision, "
        "b has an environment vision that has no torch."
    )


def test_a_job_starts_on_a_node_that_offers_it_and_the_node_is_told_the_name(operator: Api) -> None:
    make_node("node-1", slots=8)
    make_node("node-2", **offering("vision"))
    assert operator.post("/api/jobs", JOB).status == 201
    place_queued()
    assert [member.node for member in Member.objects.all()] == ["node-2"]
    start = Command.objects.get(kind="start_runner")
    assert start.body["message"]["spec"]["python"] == "env:vision"


def test_a_job_waits_for_enough_nodes_that_offer_it_and_a_preview_says_so(operator: Api) -> None:
    make_node("node-1")
    make_node("node-2", **offering("vision"))
    told = operator.post("/api/jobs/preview", {**JOB, "nnodes": "2"}).body
    assert told["in_the_way"] == ["node-1 offers no environment vision."]
    job = operator.post("/api/jobs", {**JOB, "nnodes": "2"}).body["id"]
    assert place_queued() == 0
    assert "node-1 offers no environment vision" in Job.objects.get(pk=job).state_reason


def test_a_name_that_no_node_knows_is_refused(operator: Api) -> None:
    assert operator.post("/api/jobs", JOB).status == 201, "nodes may still join a hub that has none"
    make_node("node-1", **offering("audio", "speech"))
    answer = operator.post("/api/jobs", JOB)
    (fault,) = answer.body["faults"]
    assert (answer.status, fault["where"]) == (422, "python")
    assert answer.body["what"] == "No node offers an environment vision."
    assert answer.body["what_to_do"] == "Name one of audio, speech, or write a path."
    wrong = operator.post("/api/jobs", {**JOB, "python": "conda:vision"})
    assert (wrong.status, wrong.body["faults"][0]["where"]) == (422, "python")
