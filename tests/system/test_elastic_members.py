"""A runner, or a whole node, is lost: the attempt gets back the nodes that it should have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from agents import procs
from tests.system.jobs import Json, job, launch_counting, stop, wait_job
from tests.system.stack import Stack, line_of, run_stack
from tests.waiting import wait_until
from webapp.stack.leftovers import bundle_in


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack of our own, as nodes of it are lost for good."""
    with run_stack(tmp_path_factory.mktemp("members"), REGROUP_WARM="on") as stack:
        yield stack


@pytest.fixture(scope="module")
def api(own: Stack) -> Iterator[httpx.Client]:
    with own.client("olga", "operator") as client:
        yield client


def train(api: httpx.Client, job_id: int, **expected: Any) -> Json:
    """Until it trains like that, and its steps go on."""
    begun = wait_job(api, job_id, f"training {expected}", 90, state="training", **expected)

    def goes_on() -> Json | None:
        seen = job(api, job_id)
        return seen if (seen["step"] or 0) > (begun["step"] or 0) else None

    return wait_until(goes_on, 60, "the steps to go on")


def runner_of(stack: Stack, seen: Json, node: str) -> psutil.Process | None:
    folder = f"{node}/bundles/{seen['attempt_id']}"
    found = [p for p in stack.processes() if "runner/boot.py" in line_of(p) and folder in line_of(p)]
    return found[0] if found else None


def kill_runner(stack: Stack, seen: Json, node: str) -> int:
    """SIGKILL to the runner that the node has now; gives its pid."""
    runner = wait_until(lambda: runner_of(stack, seen, node), 60, f"a runner on {node}")
    runner.kill()
    return runner.pid


def counts(seen: Json) -> tuple[int, int]:
    return seen["restarts"]["failure"], seen["restarts"]["membership"]


def member(seen: Json, node: str) -> Json:
    found: Json = next(m for m in seen["members"] if m["node"] == node)
    return found


@pytest.mark.parametrize("whose", ["the one that hosts the store", "the other one"])
def test_a_killed_runner_comes_back_on_its_node_and_nobody_pays(
    own: Stack, api: httpx.Client, tmp_path: Path, whose: str
) -> None:
    job_id = launch_counting(api, tmp_path, collective=True)
    first = train(api, job_id, world_size=2)
    host = first["store_host"]
    node = host if "hosts" in whose else next(m["node"] for m in first["members"] if m["node"] != host)
    killed = kill_runner(own, first, node)

    def is_back() -> Json | None:
        seen = job(api, job_id)
        back = seen["state"] == "training" and seen["world_size"] == 2 and seen["round"] > 1
        return seen if back and member(seen, node)["incarnation"] == 2 else None

    back = wait_until(is_back, 90, f"the runner on {node} to be back")
    assert counts(back) == (0, back["round"] - 1)
    assert back["round"] <= 3
    assert back["attempt"] == 1
    again = runner_of(own, back, node)
    assert again is not None
    assert again.pid != killed
    train(api, job_id, world_size=2)
    stop(api, job_id)
    wait_until(lambda: procs.find_marked(f"{back['attempt_id']}~2/{node}") == [], 20, "nothing to be left")


def test_the_only_runner_of_a_job_comes_back_too(own: Stack, api: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(api, tmp_path, nnodes="1", nodes=1, nproc_per_node=2, collective=True)
    first = train(api, job_id, world_size=2)
    kill_runner(own, first, first["store_host"])
    back = train(api, job_id, round=2, world_size=2)
    assert counts(back) == (0, 1)
    assert "has been started again; all 2 ranks are back" in back["state_reason"]
    stop(api, job_id)


def test_a_runner_that_dies_three_times_in_a_minute_fails_the_attempt(
    own: Stack, api: httpx.Client, tmp_path: Path
) -> None:
    job_id = launch_counting(api, tmp_path, collective=True)
    seen = train(api, job_id, world_size=2)
    node = next(m["node"] for m in seen["members"] if m["node"] != seen["store_host"])
    for number in (1, 2, 3):
        kill_runner(own, seen, node)

        def has_gone_on(number: int = number) -> bool:
            now = job(api, job_id)
            return now["state"] in ("stopping", "failed") or member(now, node)["incarnation"] > number

        wait_until(has_gone_on, 60, f"what follows from death {number}")
    ended = wait_job(api, job_id, "the job to fail", 90, state="failed")
    told = f"The runner on {node} died three times within a minute, so that it is not started again."
    assert ended["state_reason"].startswith(told)
    assert "SIGKILL" in ended["state_reason"]
    others = [m["outcome"] for m in ended["members"] if m["node"] != node]
    assert others == ["stopped"]


def test_a_node_that_is_lost_is_replaced_by_a_free_one(own: Stack, api: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(api, tmp_path, collective=True)
    first = train(api, job_id, world_size=2)
    taken = {m["node"] for m in first["members"]}
    lost = next(node for node in sorted(taken) if node != first["store_host"])
    (free,) = {"node-1", "node-2", "node-3"} - taken
    halt(own, first, lost)
    try:
        seen = wait_until(lambda: trains_on(api, job_id, {first["store_host"], free}), 90, "the other node")
        assert counts(seen)[0] == 0
        assert member(seen, lost)["leaves_why"] == f"{free} takes its place"
        assert seen["attempt"] == 1
    finally:
        go_on(own)
    # What is left of it there ends before anything else, and the job trains on with the other.
    wait_until(lambda: member(job(api, job_id), lost)["settled_at"], 60, f"{lost} to have left")
    after = train(api, job_id, world_size=2)
    assert counts(after)[0] == 0
    assert {m["node"] for m in after["members"] if m["phase"] == "up"} == {first["store_host"], free}
    stop(api, job_id)


def trains_on(api: httpx.Client, job_id: int, nodes: set[str]) -> Json | None:
    seen = job(api, job_id)
    up = {m["node"] for m in seen["members"] if m["phase"] == "up" and m["round"] == seen["round"]}
    return seen if seen["state"] == "training" and up == nodes else None


def halt(stack: Stack, seen: Json, node: str) -> None:
    """The machine stands still, with its node agent, runner and workers."""
    for process in of_node(stack, node):
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    assert runner_of(stack, seen, node) is not None


def go_on(stack: Stack) -> None:
    for process in stack.processes():
        with suppress(psutil.NoSuchProcess):
            process.resume()


def of_node(stack: Stack, node: str) -> list[psutil.Process]:
    """Its agent first, which would start others."""
    agent = stack.process_of(node)
    assert agent is not None
    marked = [p for p in stack.processes() if is_of(p, node)]
    return [agent, *agent.children(recursive=True), *marked]


def is_of(process: psutil.Process, node: str) -> bool:
    with suppress(psutil.Error):
        return bundle_in(process.environ()).split("/")[1:2] == [node]
    return False
