"""Nodes on machines of their own: a job trains across them, and what the network does to them is borne."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.system.hosts import Host, Hosts, make_hosts
from tests.system.jobs import is_called_silent, job, launch_counting, stop, wait_job
from tests.system.stack import Stack, free_port, keep_running
from tests.waiting import wait_until

AGENT = str(Path(sys.executable).parent / "regroup-agent")
CUTS_S = [float(text) for text in os.environ.get("REGROUP_TEST_CUTS", "5,12").split(",")]
"""How long a node is cut off from the hub; REGROUP_TEST_CUTS=5,30,120 takes its time."""

UNHEARD_S, LOST_S = 3.0, 15.0
RDZV = {"last_call_timeout": "3", "read_timeout": "8"}
"""A node that has no answer from the store for 8 s takes it for out of reach."""

Json = dict[str, Any]


@dataclass
class Machines:
    """A hub, and two nodes that reach it over one network and each other over a second one."""

    stack: Stack
    api: httpx.Client
    hosts: Hosts
    folder: Path

    def host(self, name: str) -> Host:
        return next(host for host in self.hosts.hosts if host.name == name)

    def node(self, name: str) -> Json:
        items = self.api.get("/api/nodes").json()["items"]
        return next((item for item in items if item["name"] == name), {})

    def journal(self, name: str, attempt: str) -> list[Json]:
        """What the runner there has written on its own disk."""
        text = (self.folder / name / "bundles" / attempt / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def steps_on_disk(self, name: str, attempt: str) -> int:
        progress = [record for record in self.journal(name, attempt) if record["kind"] == "progress"]
        return max((rank["step"] for record in progress for rank in record["ranks"]), default=0)

    def events(self, job_id: int) -> list[Json]:
        """All that the hub has of the job."""
        found: list[Json] = []
        after = ""
        while True:
            page = self.api.get(f"/api/jobs/{job_id}/events", params={"after": after} if after else {}).json()
            found += page["items"]
            if not page["items"] or not page["next"]:
                return found
            after = page["next"]


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("machines")
    with make_hosts("node-a", "node-b") as hosts:
        stack = Stack(folder / "hub", free_port(), nodes=0, slots=1, host=hosts.hub_address)
        with keep_running(stack), stack.client("olga", "operator") as api:
            machines = Machines(stack, api, hosts, folder)
            for host in hosts.hosts:
                join(machines, host)
            yield machines


def join(machines: Machines, host: Host) -> None:
    """As the terminal of the hub says it."""
    environment = {"REGROUP_REDIS_URL_FILE": str(machines.stack.data / "redis_url_for_nodes")}
    command = [AGENT, "--name", host.name, "--data", str(machines.folder / host.name), "--slots", "1"]
    log = machines.folder / f"{host.name}.log"
    host.run(*command, "--address", host.address, log=log, env=environment)
    wait_until(lambda: machines.node(host.name), 30, f"{host.name} to join")


@pytest.fixture
def training(machines: Machines, tmp_path: Path) -> Iterator[Json]:
    with train(machines, tmp_path) as seen:
        yield seen


@contextmanager
def train(machines: Machines, checkpoints: Path, **rdzv_conf: str) -> Iterator[Json]:
    """A job of one worker on each of the two machines, which can do without one of them."""
    wanted: Json = {"nnodes": "1:2", "nproc_per_node": 1, "rdzv_conf": RDZV | rdzv_conf}
    job_id = launch_counting(machines.api, checkpoints, steps=1_000_000, collective=True, **wanted)
    yield wait_trains(machines, job_id, world_size=2)
    stop(machines.api, job_id)


def wait_trains(machines: Machines, job_id: int, timeout_s: float = 60.0, **expected: Any) -> Json:
    wait_job(machines.api, job_id, f"the job to train: {expected}", timeout_s, state="training", **expected)
    return wait_steps(machines, job_id)


def wait_steps(machines: Machines, job_id: int, more: int = 5) -> Json:
    """Until the hub has heard of that many further steps; the job as it is then."""
    before = step_of(job(machines.api, job_id))

    def has_gone_on() -> Json | None:
        seen = job(machines.api, job_id)
        return seen if step_of(seen) >= before + more else None

    return wait_until(has_gone_on, 30, f"the job to go on from step {before}")


def step_of(seen: Json, node: str = "") -> int:
    """The furthest step that the hub has heard of, on that node or on any."""
    return max((w["step"] or 0 for w in seen["workers"] if node in ("", w["node"])), default=0)


def measured(machines: Machines, name: str) -> Json | None:
    node = machines.node(name)
    return node if node.get("clock_offset_s") is not None else None


def test_each_machine_is_listed_with_its_own_address_and_a_clock_that_is_right(machines: Machines) -> None:
    for host in machines.hosts.hosts:
        what = f"the clock of {host.name} to be measured"
        node = wait_until(partial(measured, machines, host.name), 10, what)
        assert node["state"] == "online"
        assert node["facts"]["addresses"] == [host.address, host.addresses["hub"]]
        # It is one machine after all, with one clock.
        assert abs(node["clock_offset_s"]) <= node["clock_error_s"] < 1.0


def test_a_job_trains_across_two_machines(machines: Machines, training: Json) -> None:
    places = [(worker["rank"], worker["node"]) for worker in training["workers"]]
    assert places == [(0, "node-a"), (1, "node-b")]
    assert training["restarts"]["failure"] == 0


@pytest.mark.parametrize(("cut_s", "name"), list(zip(CUTS_S, cycle(["node-a", "node-b"]), strict=False)))
def test_a_node_that_only_the_hub_cannot_reach_trains_on_and_is_caught_up_with(
    machines: Machines, training: Json, cut_s: float, name: str
) -> None:
    job_id, attempt = training["id"], training["attempt_id"]
    before = machines.steps_on_disk(name, attempt)
    machines.host(name).cut("hub")
    try:
        states = watch_cut(machines, training, name, time.monotonic() + cut_s)
        trained, silent_s = machines.steps_on_disk(name, attempt), machines.node(name)["silent_s"]
    finally:
        machines.host(name).mend("hub")
    assert trained > before + cut_s, "training stood still"
    assert silent_s > cut_s - 2
    assert "lost" in states or silent_s < LOST_S + 2

    wait_until(lambda: machines.node(name)["state"] == "online", 30, f"{name} to be heard again")
    wait_until(lambda: step_of(job(machines.api, job_id), name) >= trained, 60, "the hub to catch up")
    seen = wait_steps(machines, job_id)
    assert (seen["state"], seen["round"], seen["world_size"]) == ("training", training["round"], 2)
    assert "not heard" not in seen["state_reason"]
    assert counts_of(seen) == counts_of(training)
    assert_arrived_once_and_in_order(machines, job_id, name, attempt)


def counts_of(seen: Json) -> tuple[int, int]:
    """Failure restarts and membership restarts."""
    return seen["restarts"]["failure"], seen["restarts"]["membership"]


def watch_cut(machines: Machines, training: Json, name: str, until: float) -> set[str]:
    """Until then the page says that it is silent and for how long, and nothing is done to the job.

    The words that the node had meanwhile.
    """
    wait_until(lambda: machines.node(name)["state"] == "unheard", 10, f"{name} to be unheard")
    states: set[str] = set()

    def is_over() -> bool:
        seen, node = job(machines.api, training["id"]), machines.node(name)
        states.add(node["state"])
        # The age is rounded to tenths.
        assert node["state"] == "unheard" or node["silent_s"] >= LOST_S
        assert node["state"] == "lost" or node["silent_s"] <= LOST_S
        assert node["silent_s"] >= UNHEARD_S
        assert (seen["state"], seen["round"]) == ("training", training["round"])
        return time.monotonic() > until

    wait_until(is_over, until - time.monotonic() + 10, "the cut to last")
    seen = job(machines.api, training["id"])
    assert is_called_silent(seen, name), seen["state_reason"]
    return states


def assert_arrived_once_and_in_order(machines: Machines, job_id: int, name: str, attempt: str) -> None:
    """The hub has the node's records from the first on, each as it stands on the disk."""
    events = [e for e in machines.events(job_id) if e["node"] == name and e["source"].startswith("run/")]
    written = machines.journal(name, attempt)[: len(events)]
    assert [(e["seq"], e["kind"]) for e in events] == [(r["seq"], r["kind"]) for r in written]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("until", ["the others have gone on", "it has given up the round"])
def test_a_node_that_nobody_can_reach_is_left_behind_and_comes_back(
    machines: Machines, training: Json, until: str
) -> None:
    job_id, attempt, host = training["id"], training["attempt_id"], machines.host("node-b")
    host.cut()
    try:
        alone = wait_trains(machines, job_id, world_size=1)
        if until == "it has given up the round":
            wait_until(lambda: kinds_of(machines, attempt).count("restart_begun"), 60, until)
    finally:
        host.mend()
    failures, memberships = counts_of(training)
    assert alone["round"] == training["round"] + 1
    assert counts_of(alone) == (failures, memberships + 1)
    assert "node-b is gone: its keep-alive lapsed; all 1 rank is back" in alone["state_reason"]
    assert is_called_silent(alone, "node-b"), alone["state_reason"]

    again = wait_trains(machines, job_id, 120, world_size=2)
    assert again["attempt_id"] == attempt
    assert "node-b joined; all 2 ranks are back" in again["state_reason"]
    assert counts_of(again) == (failures, memberships + 2)
    assert kinds_of(machines, attempt).count("runner_started") == 1


def kinds_of(machines: Machines, attempt: str, name: str = "node-b") -> list[str]:
    return [record["kind"] for record in machines.journal(name, attempt)]


def test_a_node_that_stays_away_from_the_others_is_told_of_and_takes_nobody_along(
    machines: Machines, tmp_path: Path
) -> None:
    told = "node-b was left behind and is over: The store host node-a was lost from sight"
    with train(machines, tmp_path, join_timeout="20") as training:
        machines.host("node-b").cut("train")
        try:
            wait_until(lambda: told in job(machines.api, training["id"])["state_reason"], 120, told)
        finally:
            machines.host("node-b").mend("train")
        seen = wait_trains(machines, training["id"], world_size=1)
        assert told in seen["state_reason"]
        assert counts_of(seen) == (training["restarts"]["failure"], training["restarts"]["membership"] + 1)
