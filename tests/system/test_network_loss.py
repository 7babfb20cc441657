"""Nodes on machines of their own are cut off: one that only the hub does not hear keeps its place, and the
others go on without one that nobody hears."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agents import procs
from tests.system.hosts import make_hosts, why_not
from tests.system.jobs import EXAMPLES, Json, is_called_silent, job, launch, stop
from tests.system.stack import Stack, free_port, keep_running
from tests.system.test_other_machines import (
    UNHEARD_S,
    Machines,
    counts_of,
    join,
    step_of,
    wait_steps,
    wait_trains,
)
from tests.waiting import wait_until

NAMES = ("node-a", "node-b", "node-c")
PATIENCE_S = 180.0
"""What is waited for takes seconds, and longer on a machine that does much else."""
REFORM_S = 3.0
"""How long it may take from when a node is known to be gone until the others have formed a round."""
SILENT = """
import os, time
import regroup_report
for step in range(1_000_000):
    regroup_report.step(step)
    time.sleep(0.1)
"""
"""Workers that say nothing to each other, as while they load data."""


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("hall")
    with make_hosts(*NAMES) as hosts:
        stack = Stack(folder / "hub", free_port(), nodes=0, slots=1, host=hosts.hub_address)
        with keep_running(stack), stack.client("olga", "operator") as api:
            machines = Machines(stack, api, hosts, folder)
            for host in hosts.hosts:
                join(machines, host)
            yield machines


@pytest.fixture
def machines(hall: Machines) -> Iterator[Machines]:
    """Afterwards every node can be reached, is used, and holds nothing."""
    yield hall
    for host in hall.hosts.hosts:
        host.mend()
        hall.api.post(f"/api/nodes/{host.name}/undrain")
    wait_until(lambda: all(_is_free(hall.node(name)) for name in NAMES), PATIENCE_S, "all to be free")


def _is_free(node: Json) -> bool:
    return bool(node["state"] == "online" and node["slots_free"] == node["slots"])


@contextmanager
def train(machines: Machines, job_id: int, world_size: int) -> Iterator[Json]:
    try:
        yield wait_trains(machines, job_id, PATIENCE_S, world_size=world_size)
    finally:
        for host in machines.hosts.hosts:
            host.mend()
        stop(machines.api, job_id, PATIENCE_S)


def silent_job(machines: Machines, folder: Path, **spec: Any) -> int:
    script = folder / "silent.py"
    script.write_text(SILENT)
    return launch(machines.api, script=str(script), nproc_per_node=1, **spec)


def talking_job(machines: Machines, folder: Path, **spec: Any) -> int:
    """``folder`` is not needed: it keeps no checkpoints."""
    script = {"script": str(EXAMPLES / "minimal.py"), "args": ["--steps", "1000000", "--pace", "0.2"]}
    return launch(machines.api, nproc_per_node=1, **script, **spec)


JOBS = {"silent": silent_job, "in collectives": talking_job}


def nodes_of(seen: Json) -> list[str]:
    return sorted(worker["node"] for worker in seen["workers"])


def guest_of(seen: Json) -> str:
    """A node of the job that does not keep its store."""
    return next(name for name in nodes_of(seen) if name != seen["store_host"])


def test_a_node_that_only_the_hub_does_not_hear_keeps_its_place_although_another_one_is_free(
    machines: Machines, tmp_path: Path
) -> None:
    job_id = talking_job(machines, tmp_path, nnodes="1:3", nodes=2)
    with train(machines, job_id, 2) as training:
        name, attempt = guest_of(training), training["attempt_id"]
        before = machines.steps_on_disk(name, attempt)
        machines.host(name).cut("hub")
        wait_until(lambda: machines.node(name)["state"] == "unheard", PATIENCE_S, f"{name} to be greyed")
        assert machines.node(name)["silent_s"] >= UNHEARD_S
        wait_until(
            lambda: machines.node(name)["state"] == "lost", PATIENCE_S, f"{name} to be lost from sight"
        )
        trained = wait_until(
            lambda: machines.steps_on_disk(name, attempt) > before + 10, PATIENCE_S, "its steps"
        )
        seen = job(machines.api, job_id)
        assert trained
        assert is_called_silent(seen, name), seen["state_reason"]
        machines.host(name).mend()
        wait_until(lambda: machines.node(name)["state"] == "online", PATIENCE_S, f"{name} to be heard again")
        seen = wait_steps(machines, job_id)
        assert (seen["round"], nodes_of(seen)) == (training["round"], nodes_of(training))
        assert counts_of(seen) == (0, 0)
        assert [member["node"] for member in seen["members"]] == nodes_of(training)


@pytest.mark.parametrize("kind", JOBS)
def test_the_others_go_on_without_a_node_that_nobody_hears_and_nobody_pays(
    machines: Machines, tmp_path: Path, kind: str
) -> None:
    job_id = JOBS[kind](machines, tmp_path, nnodes="1:3", nodes=3)
    with train(machines, job_id, 3) as training:
        name, host = guest_of(training), training["store_host"]
        machines.host(name).cut()
        without = wait_trains(machines, job_id, PATIENCE_S, world_size=2)
        assert without["round"] == training["round"] + 1
        assert counts_of(without) == (0, 1)
        assert f"{name} is gone: its keep-alive lapsed" in without["state_reason"]
        assert reform_s(machines, host, training) < REFORM_S

        machines.host(name).mend()
        again = wait_trains(machines, job_id, PATIENCE_S, world_size=3)
        assert counts_of(again) == (0, 2)
        assert again["attempt_id"] == training["attempt_id"]
        assert f"{name} joined" in again["state_reason"]


def reform_s(machines: Machines, name: str, training: Json) -> float:
    """From when the node there left that round until it was in the next one, by its own clock."""
    records = machines.journal(name, training["attempt_id"])
    left = next(r for r in records if r["kind"] == "restart_begun" and r["round"] == training["round"])
    formed = [r for r in records if r["kind"] == "rendezvous_completed"]
    back = next(r for r in formed if r["round"] == training["round"] + 1)
    assert left["cause"] == back["cause"] == "membership"
    return (datetime.fromisoformat(back["at"]) - datetime.fromisoformat(left["at"])).total_seconds()


def test_below_the_least_number_of_nodes_the_job_waits_says_for_whom_and_goes_on(
    machines: Machines, tmp_path: Path
) -> None:
    machines.api.post("/api/nodes/node-c/drain", json={"reason": "nobody is to take a place"})
    with train(machines, talking_job(machines, tmp_path, nnodes="2"), 2) as training:
        name = guest_of(training)
        machines.host(name).cut()
        told = f"waits for 1 more node: {name} is gone since"
        waiting = wait_until(lambda: _says(machines, training["id"], told), PATIENCE_S, told)
        assert waiting["state"] == "waiting"
        assert "no other node has 1 free slot" in waiting["state_reason"]
        machines.host(name).mend()
        again = wait_trains(machines, training["id"], PATIENCE_S, world_size=2)
        assert (again["attempt"], counts_of(again)[0]) == (1, 0)
        assert nodes_of(again) == nodes_of(training)


def _says(machines: Machines, job_id: int, text: str) -> Json | None:
    seen = job(machines.api, job_id)
    return seen if text in seen["state_reason"] else None


def test_a_node_whose_place_was_taken_ends_its_stale_runner_when_it_is_back(
    machines: Machines, tmp_path: Path
) -> None:
    with train(machines, talking_job(machines, tmp_path, nnodes="2"), 2) as training:
        job_id, attempt, name = training["id"], training["attempt_id"], guest_of(training)
        (free,) = set(NAMES) - set(nodes_of(training))
        machines.host(name).cut()
        replaced = wait_until(
            lambda: _trains_on(machines, job_id, {training["store_host"], free}), PATIENCE_S, free
        )
        assert procs.find_marked(f"{attempt}/{name}"), "nothing stale was left to be ended"

        machines.host(name).mend()
        wait_until(
            lambda: procs.find_marked(f"{attempt}/{name}") == [], PATIENCE_S, "the stale runner to end"
        )
        wait_until(lambda: _is_free(machines.node(name)), PATIENCE_S, f"{name} to be free")
        last = machines.journal(name, attempt)[-1]
        assert (last["kind"], last["has_left"]) == ("runner_finished", True)
        seen = wait_steps(machines, job_id)
        assert (seen["round"], counts_of(seen)) == (replaced["round"], counts_of(replaced))
        assert (seen["attempt"], counts_of(seen)[0]) == (1, 0)
        assert set(nodes_of(seen)) == {training["store_host"], free}


def _trains_on(machines: Machines, job_id: int, nodes: set[str]) -> Json | None:
    seen = job(machines.api, job_id)
    is_there = seen["state"] == "training" and set(nodes_of(seen)) == nodes
    return seen if is_there and step_of(seen) else None


def test_where_hosts_cannot_be_made_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert why_not().startswith(
        "There can be no hosts of their own here: bridge is not there; install iproute2."
    )
