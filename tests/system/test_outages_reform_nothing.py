"""Redis emptied, the hub away, a node that stands still, a busy machine: no job forms a new round for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.system.evidence import assert_each_record_once, on_disk
from tests.system.jobs import EXAMPLES, Json, job, launch, stop, wait_job
from tests.system.node_faults import hold, of_node, without_supervisor
from tests.system.stack import Stack, run_stack
from tests.waiting import wait_until

HUB_AWAY_S = float(os.environ.get("REGROUP_TEST_HUB_AWAY", "20"))
"""Longer than the hub takes to call a node lost. REGROUP_TEST_HUB_AWAY=60 takes its time."""
STILL_S = 5.0
PATIENCE_S = 180.0
"""What is waited for takes seconds, and longer on a machine that does much else."""
HOGS = 4 * (os.cpu_count() or 1)
TURNS = ("runner_started", "rendezvous_begun", "restart_begun", "rendezvous_completed", "runner_finished")
"""Records of a runner that does anything but train."""
SILENT = """
import time
import regroup_report
for step in range(1_000_000):
    regroup_report.step(step)
    time.sleep(0.1)
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run_stack(tmp_path_factory.mktemp("outages"), nodes=2) as stack:
        yield stack


@pytest.fixture(scope="module")
def api(own: Stack) -> Iterator[httpx.Client]:
    with own.client("olga", "operator") as client:
        yield client


@pytest.fixture(scope="module")
def jobs(own: Stack, api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    """On both nodes one whose workers talk to each other all the time, and one whose workers never do."""
    folder = tmp_path_factory.mktemp("scripts")
    silent = folder / "silent.py"
    silent.write_text(SILENT)
    talking = {"script": str(EXAMPLES / "minimal.py"), "args": ["--steps", "1000000", "--pace", "0.2"]}
    ids = [
        launch(api, **script, nnodes="1:2", nodes=2, nproc_per_node=1)
        for script in (talking, {"script": str(silent)})
    ]
    for job_id in ids:
        wait_job(api, job_id, "the job to train", PATIENCE_S, state="training", world_size=2)
    yield ids
    for job_id in ids:
        stop(api, job_id, PATIENCE_S)


def stay(seconds: float) -> None:
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > until, seconds + 30, "the time to pass")


def empty_redis(stack: Stack) -> None:
    """Killed, its disk wiped, started again."""
    server = stack.process_of("valkey")
    assert server is not None
    found = re.search('^dir "(.+)"$', (stack.data / "run" / "valkey.conf").read_text(), re.MULTILINE)
    assert found is not None
    with without_supervisor(stack):
        server.kill()
        shutil.rmtree(found[1])
        Path(found[1]).mkdir(mode=0o700)


def take_hub_away(stack: Stack) -> None:
    hub = [stack.process_of(program) for program in ("web", "ingest", "worker")]
    with without_supervisor(stack):
        for process in hub:
            assert process is not None
            process.kill()
        stay(HUB_AWAY_S)


def hold_first_node(stack: Stack) -> None:
    """With the store of both jobs."""
    with hold(of_node(stack, "node-1")):
        stay(STILL_S)


def hold_other_node(stack: Stack) -> None:
    with hold(of_node(stack, "node-2")):
        stay(STILL_S)


def make_busy(stack: Stack) -> None:
    command = ["timeout", "60", sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(command) for _ in range(HOGS)]
    try:
        stay(STILL_S)
    finally:
        for hog in hogs:
            hog.terminate()
            hog.wait(10)


OUTAGES: dict[str, Callable[[Stack], None]] = {
    "redis is emptied": empty_redis,
    "the hub is away": take_hub_away,
    "the node with the store stands still": hold_first_node,
    "the other node stands still": hold_other_node,
    "the machine is busy": make_busy,
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_no_job_forms_a_new_round(own: Stack, api: httpx.Client, jobs: list[int], outage: str) -> None:
    before = turns_of_runners(own)
    OUTAGES[outage](own)
    wait_until(lambda: all_heard(own, api), PATIENCE_S, "both nodes to be heard again")
    for job_id in jobs:
        seen = goes_on(api, job_id)
        assert (seen["round"], seen["restarts"]["failure"], seen["restarts"]["membership"]) == (1, 0, 0)
    assert turns_of_runners(own) == before


def test_after_all_that_the_hub_has_each_record_once(own: Stack, jobs: list[int]) -> None:
    assert len(jobs) == 2
    assert_each_record_once(own)


def turns_of_runners(stack: Stack) -> dict[str, list[str]]:
    """What each runner has done besides training, from its own disk."""
    told = {
        source: [record["kind"] for _, record in records if record["kind"] in TURNS]
        for source, records in on_disk(stack).items()
    }
    return {source: kinds for source, kinds in told.items() if kinds}


def all_heard(stack: Stack, api: httpx.Client) -> bool:
    try:
        items = api.get("/api/nodes").raise_for_status().json()["items"]
    except httpx.HTTPError:
        return False
    return [item["state"] for item in items] == ["online"] * stack.nodes


def goes_on(api: httpx.Client, job_id: int) -> Json:
    """Newer steps of all ranks than those that are known now."""
    known = [worker["step"] or 0 for worker in job(api, job_id)["workers"]]

    def has_gone_on() -> Json | None:
        seen = job(api, job_id)
        steps = [worker["step"] or 0 for worker in seen["workers"]]
        is_newer = len(steps) == 2 and min(steps) > max(known)
        return seen if seen["state"] == "training" and is_newer else None

    return wait_until(has_gone_on, PATIENCE_S, f"job {job_id} to go on")
