"""Checks before a launch: nodes that answer, a table of what they found, and what a launch makes of it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from agents.node.requests import answer_to
from agents.wire import streams
from agents.wire.checks import CheckNode, CheckNodeAnswer, Finding
from agents.wire.codec import read_request
from agents.wire.plain import to_json
from tests.waiting import wait_until
from tests.webapp.api_client import Answer, Api
from tests.webapp.factories import make_node
from webapp.jobs import check_run
from webapp.jobs.check_run import CheckRun
from webapp.jobs.check_table import table
from webapp.jobs.models import Attempt, Job
from webapp.jobs.placing import place
from webapp.redis import get_blocking_redis

Node = Callable[[str], None]


@pytest.fixture
def node_answers(bus: redis.Redis, tmp_path: Path) -> Iterator[Node]:
    """What a node agent would answer, from this machine as it is."""
    stopping = threading.Event()
    threads: list[threading.Thread] = []

    def serve(name: str) -> None:
        connection = get_blocking_redis()
        while not stopping.is_set():
            found: Any = connection.blpop([streams.requests(name)], timeout=1)
            if found is None:
                continue
            request = read_request(found[1])
            connection.rpush(streams.answer(request.id), to_json(answer_to(request, tmp_path, name)))

    def start(name: str) -> None:
        make_node(name, clock_offset_s=None)
        threads.append(threading.Thread(target=serve, args=(name,), daemon=True))
        threads[-1].start()

    yield start
    stopping.set()
    for thread in threads:
        thread.join(10)


def checked(who: Api, job: dict[str, Any]) -> dict[str, Any]:
    begun = who.post("/api/jobs/checks", job)
    assert begun.status == 202, begun.body
    return followed(who, begun.body["id"])


def followed(who: Api, run: str) -> dict[str, Any]:
    return wait_until(lambda: _over(who, run), what="the checks to be over", timeout_s=30)


def _over(who: Api, run: str) -> dict[str, Any] | None:
    told = who.get(f"/api/checks/{run}").body
    return told if told["is_over"] else None


def cells(told: dict[str, Any], check: str) -> dict[str, tuple[str, str]]:
    """By node, the verdict and the sentence."""
    found = {row["node"]: cell for row in told["rows"] for cell in row["cells"] if cell["check"] == check}
    return {node: (cell["verdict"], cell["says"]) for node, cell in found.items()}


def verdicts(told: dict[str, Any], check: str) -> set[str]:
    return {verdict for verdict, _ in cells(told, check).values()}


def test_two_nodes_that_are_well_are_checked_and_leave_nothing_behind(
    operator: Api, viewer: Api, node_answers: Node, script: str, tmp_path: Path
) -> None:
    node_answers("node-1")
    node_answers("node-2")
    shared = tmp_path / "shared"
    job = {"script": script, "nnodes": "2", "checkpoint_dir": str(shared), "workdir": str(tmp_path)}
    told = checked(operator, job)
    assert [row["node"] for row in told["rows"]] == ["node-1", "node-2"]
    for check in ("python", "script", "workdir", "checkpoints", "endpoint", "address", "interface"):
        assert verdicts(told, check) == {"ok"}, cells(told, check)
    assert "is the same on all nodes" in cells(told, "checkpoints")["node-1"][1]
    assert told["failing"] == 0
    wait_until(lambda: not list(shared.glob(".regroup-check-*")), what="what was left to be removed")
    assert viewer.get(f"/api/checks/{told['id']}").body == told


def test_each_failing_cell_names_the_node_and_says_what_to_do(
    operator: Api, node_answers: Node, tmp_path: Path
) -> None:
    node_answers("node-1")
    job = {"script": "/nowhere/train.py", "python": "/nowhere/python", "workdir": str(tmp_path / "none")}
    told = checked(operator, job)
    failing = [cell for row in told["rows"] for cell in row["cells"] if cell["verdict"] == "fail"]
    assert {cell["check"] for cell in failing} == {"python", "script", "workdir"}
    assert all("node-1" in cell["says"] and cell["what_to_do"] for cell in failing)
    assert told["failing"] == 3
    assert told["says"].startswith("3 checks of 1 node fail.")


def test_a_launch_that_requires_checks_is_refused_with_all_that_fails_and_launches_nothing(
    operator: Api, node_answers: Node, script: str
) -> None:
    node_answers("node-1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        endpoint = f"127.0.0.1:{taken.getsockname()[1]}"
        answer = launch(operator, script=script, rdzv_endpoint=endpoint, checks="require")
    assert (answer.status, answer.body["reason"]) == (409, "checks_failed")
    assert [fault["where"] for fault in answer.body["faults"]] == ["checks.node-1.endpoint"]
    assert answer.body["faults"][0]["what_to_do"]
    assert not Job.objects.exists()


def launch(who: Api, **job: Any) -> Answer:
    return who.post("/api/jobs", job)


def test_a_launch_that_is_well_or_only_warned_goes_ahead(
    operator: Api, node_answers: Node, script: str
) -> None:
    node_answers("node-1")
    well = launch(operator, script=script, checks="require")
    assert (well.status, well.body["placing"]["checks_said"]) == (201, [])
    warned = launch(operator, script="/nowhere/x.py", checks="warn")
    assert warned.status == 201
    assert warned.body["placing"]["checks_said"] == [
        "node-1: The script /nowhere/x.py does not exist on node-1."
    ]
    before = operator.get(f"/api/jobs/{warned.body['id']}/checks").body
    assert (before["asked"], before["says"]) == ("warn", "The launch went ahead whatever they would find.")
    assert cells(before["told"], "script")["node-1"][0] == "fail"
    skipped = launch(operator, script=script).body["id"]
    none = operator.get(f"/api/jobs/{skipped}/checks").body
    assert (none["told"], none["says"]) == (None, "The launch asked for none.")


def test_a_job_that_was_launched_has_its_own_nodes_checked_again(
    operator: Api, node_answers: Node, script: str
) -> None:
    node_answers("node-1")
    node_answers("node-2")
    job = launch(operator, script=script, node_names=["node-2"]).body["id"]
    early = operator.post(f"/api/jobs/{job}/checks")
    assert (early.status, early.body["reason"]) == (409, "no_nodes")
    assert "has no nodes yet" in early.body["what"]
    assert place(job)
    with socket.socket() as store:
        store.bind(("127.0.0.1", 0))
        store.listen()
        endpoint = f"127.0.0.1:{store.getsockname()[1]}"
        Attempt.objects.filter(job_id=job).update(endpoint=endpoint)
        told = followed(operator, operator.post(f"/api/jobs/{job}/checks").body["id"])
    assert [row["node"] for row in told["rows"]] == ["node-2"]
    assert (told["failing"], cells(told, "endpoint")["node-2"][0]) == (0, "ok")


def test_a_node_that_does_not_answer_is_said_so_and_counts_as_failing(
    operator: Api, bus: redis.Redis, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_run, "LOOK_S", 0.2)
    make_node("node-1")
    told = checked(operator, {"script": script})
    assert told["failing"] == 1
    assert cells(told, "script")["node-1"][0] == "unknown"
    assert "node-1 has not answered within" in cells(told, "script")["node-1"][1]


def test_without_redis_or_without_a_node_it_is_said_why(operator: Api, no_redis: None, script: str) -> None:
    answer = operator.post("/api/jobs/checks", {"script": script})
    assert (answer.status, answer.body["reason"]) == (409, "no_nodes")
    make_node("node-1")
    answer = operator.post("/api/jobs/checks", {"script": script})
    assert (answer.status, answer.body["reason"]) == (503, "redis_unavailable")
    warned = launch(operator, script=script, checks="warn")
    assert warned.body["placing"]["checks_said"][0].startswith("Not checked: Redis does not answer")


def test_named_nodes_are_checked_and_unknown_ones_refused(
    operator: Api, node_answers: Node, script: str
) -> None:
    node_answers("node-1")
    make_node("node-2", slots=8)
    told = checked(operator, {"script": script, "nodes_to_check": ["node-1"]})
    assert [row["node"] for row in told["rows"]] == ["node-1"]
    answer = operator.post("/api/jobs/checks", {"script": script, "nodes_to_check": ["node-9"]})
    assert (answer.status, answer.body["where"]) == (422, "nodes_to_check")
    assert operator.get("/api/checks/none").status == 404


# -- the table --


def a_run(**values: Any) -> CheckRun:
    usual: dict[str, Any] = {
        "id": "r",
        "began_at": "2026-03-01T12:00:00Z",
        "asked_at": time.time(),
        "nodes": ["a", "b", "c"],
        "addresses": {},
        "clocks": {"a": 0.001, "b": -0.8, "c": None},
        "step": "clear",
        "looked": {name: CheckNodeAnswer(python="3.11.9", torch="2.13.0") for name in "abc"},
    }
    return CheckRun(**(usual | values))


def told_of(run: CheckRun) -> dict[str, Any]:
    return table(run).dict()


def test_another_version_than_most_have_is_a_failure_of_whoever_has_it() -> None:
    looked = {
        "a": CheckNodeAnswer(python="3.11.9", torch="2.13.0"),
        "b": CheckNodeAnswer(python="3.11.2", torch="2.12.1"),
        "c": CheckNodeAnswer(python="3.11.9", torch="2.13.0"),
    }
    found = cells(told_of(a_run(looked=looked)), "python")
    assert found["b"] == ("fail", "It has torch 2.12.1 and not 2.13.0 as other nodes.")
    assert found["a"][0] != "fail"


def test_a_clock_that_is_off_is_told_from_the_lease() -> None:
    found = cells(told_of(a_run()), "clock")
    assert found["a"][0] == "ok"
    assert found["b"] == ("warn", "The clock of b is 0.8 s behind the hub's.")
    assert found["c"][0] == "unknown"
    assert cells(told_of(a_run(clocks={"a": 60.0})), "clock")["a"][0] == "fail"


def test_what_is_not_answered_yet_is_not_called_well() -> None:
    run = a_run(
        step="meet", looked={"a": CheckNodeAnswer(findings=(Finding(check="shm", verdict="ok", says="."),))}
    )
    told = told_of(run)
    assert cells(told, "endpoint")["a"][0] == "running"
    assert cells(told, "shm") == {
        "a": ("ok", "."),
        "b": ("unknown", "b has not answered within 17 s."),
        "c": ("unknown", "c has not answered within 17 s."),
    }
    assert told["says"] == "3 nodes are being checked."


def test_who_could_not_write_is_not_waited_for_by_the_others() -> None:
    failed = Finding(check="checkpoints", verdict="fail", says=".")
    run = a_run(step="look", looked={"a": CheckNodeAnswer(), "b": CheckNodeAnswer(findings=(failed,))})
    run.addresses = {"a": "10.0.0.1", "b": "10.0.0.2"}
    run.go_on(time.time())
    request = run.later_request("a")
    assert (request.step, request.nodes) == ("meet", ("a",))
    assert isinstance(request, CheckNode)
