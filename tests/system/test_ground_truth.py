"""Faults of known kinds, put into one real job one after the other: each round tells its true cause."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.system.jobs import Json, job, kill, launch, stop, wait_command, worker
from tests.system.stack import Stack, line_of
from tests.waiting import wait_until

SCRIPT = '''
import ctypes, json, os, pathlib, signal, sys, time
import torch, torch.distributed as dist
import regroup_report
from torch.distributed.elastic.multiprocessing.errors import record

ORDERS = pathlib.Path(sys.argv[1])
dist.init_process_group("gloo")
rank = dist.get_rank()

@record
def recorded():
    raise LookupError("no such shard")

FAULTS = {
    "exception": lambda: {}["missing"],
    "recorded exception": recorded,
    "exit code": lambda: sys.exit(93),
    "silent exit": lambda: os._exit(1),
    "shell code": lambda: sys.exit(137),
    "segmentation fault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "bus error": lambda: os.kill(os.getpid(), signal.SIGBUS),
    "memory error": lambda: bytearray(1 << 62),
    "assertion": lambda: exec("assert rank < 0, 'rank is too high'"),
}

def obey():
    """The fault that is ordered for this very process, by its pid."""
    try:
        order = json.loads(ORDERS.read_text())
    except (OSError, ValueError):
        return
    if order["pid"] == os.getpid():
        FAULTS[order["fault"]]()

step = 0
while True:
    total = torch.ones(1)
    dist.all_reduce(total)
    step += 1
    regroup_report.step(step)
    obey()
    time.sleep(0.02)
'''


@dataclass(frozen=True)
class Truth:
    """What must be told. ``words`` are in the sentence, ``source`` says from where it is known."""

    kind: str
    words: str
    source: str = "exit status"
    planned: bool = False


ORDERED = {
    "exception": Truth("exception", "KeyError", "stderr"),
    "recorded exception": Truth("exception", "LookupError: no such shard", "error file"),
    "exit code": Truth("exit_code", "exited with code 93"),
    "silent exit": Truth("exit_code", "exited with code 1 and wrote nothing to stderr"),
    "shell code": Truth("signal", "what a shell says for SIGKILL"),
    "segmentation fault": Truth("signal", "SIGSEGV, a segmentation fault"),
    "abort": Truth("signal", "SIGABRT, the process aborted itself"),
    "bus error": Truth("signal", "SIGBUS, a memory access that cannot be served"),
    "memory error": Truth("exception", "MemoryError", "stderr"),
    "assertion": Truth("exception", "AssertionError: rank is too high", "stderr"),
}
SENT = {
    signal.SIGKILL: Truth("signal", "killed by SIGKILL"),
    signal.SIGTERM: Truth("signal", "killed by SIGTERM: somebody other than its runner sent it"),
    signal.SIGUSR1: Truth("signal", "killed by SIGUSR1: it did not handle the preemption notice"),
}


class Experiment:
    def __init__(self, api: httpx.Client, stack: Stack, folder: Path) -> None:
        self.api, self.stack, self.orders = api, stack, folder / "orders.json"
        script = folder / "obeys.py"
        script.write_text(SCRIPT)
        self.id = launch(
            api,
            name="ground truth",
            nnodes="1:2",
            nodes=2,
            nproc_per_node=2,
            max_restarts=50,
            script=str(script),
            args=[str(self.orders)],
        )

    def trains(self, round_number: int | None = None) -> Json:
        """Once all four ranks are past some steps of that round, or of the newest."""

        def have_come() -> Json | None:
            seen = job(self.api, self.id)
            is_it = seen["round"] == round_number if round_number else seen["world_size"] == 4
            steps = [w["step"] or 0 for w in seen["workers"]]
            return seen if is_it and seen["state"] == "training" and steps and min(steps) > 3 else None

        return wait_until(have_come, 60, f"round {round_number or 'of four ranks'} to train")

    def restarted(self) -> Json:
        """The same in a round whose workers are forked; those of the first may be executed."""
        seen = self.trains()
        if seen["round"] > 1:
            return seen
        os.kill(worker(seen, 0)["pid"], signal.SIGKILL)
        return self.trains(2)

    def order(self, seen: Json, rank: int, fault: str) -> None:
        aside = self.orders.with_suffix(".new")
        aside.write_text(json.dumps({"pid": worker(seen, rank)["pid"], "fault": fault}))
        aside.rename(self.orders)

    def told(self, before: Json) -> Json:
        """The round that followed, once it trains."""
        after = self.trains(before["round"] + 1)
        rounds = self.api.get(f"/api/jobs/{self.id}/timeline").json()["rounds"]
        found: Json = next(row for row in rounds if row["number"] == after["round"])
        return found


@pytest.fixture(scope="module")
def experiment(
    stack: Stack, operator: httpx.Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Experiment]:
    found = Experiment(operator, stack, tmp_path_factory.mktemp("truth"))
    yield found
    stop(operator, found.id)


def check(told: Json, before: Json, rank: int, truth: Truth) -> None:
    cause = told["cause"]
    assert (cause["kind"], cause["rank"], cause["node"], cause["source"], cause["planned"]) == (
        truth.kind,
        rank,
        worker(before, rank)["node"],
        truth.source,
        truth.planned,
    )
    assert truth.words in cause["sentence"]
    assert cause["sentence"].startswith(f"Rank {rank} on {cause['node']} ")
    assert (told["restart"], told["charged"]) == ("failure", cause["node"])
    others = {c["rank"]: c["kind"] for c in told["consequences"]}
    assert set(others) == {w["rank"] for w in before["workers"]} - {rank}
    assert set(others.values()) <= {"peer_lost", "stopped"}


@pytest.mark.parametrize("fault", ORDERED)
def test_a_fault_of_the_script(experiment: Experiment, fault: str) -> None:
    before = experiment.trains()
    rank = list(ORDERED).index(fault) % 4
    experiment.order(before, rank, fault)
    check(experiment.told(before), before, rank, ORDERED[fault])


@pytest.mark.parametrize("number", SENT)
def test_a_signal_from_outside(experiment: Experiment, number: signal.Signals) -> None:
    before = experiment.trains()
    os.kill(worker(before, 2)["pid"], number)
    check(experiment.told(before), before, 2, SENT[number])


def test_a_kill_by_the_button(experiment: Experiment) -> None:
    before = experiment.trains()
    wait_command(experiment.api, kill(experiment.api, before, 1, "a drill").json()["id"])
    truth = Truth("signal", "was killed by SIGKILL by olga (a drill)", planned=True)
    check(experiment.told(before), before, 1, truth)


def child_of_runner(stack: Stack, seen: Json, node: str, word: str) -> psutil.Process:
    """The node's runner, or a child of it with that word on its command line."""
    folder = f"{node}/bundles/{seen['attempt_id']}"
    runner = next(p for p in stack.processes() if "runner/boot.py" in line_of(p) and folder in line_of(p))
    return runner if not word else next(p for p in runner.children() if word in line_of(p))


def test_the_end_of_a_fork_server(experiment: Experiment) -> None:
    before = experiment.restarted()
    node = worker(before, 0)["node"]
    child_of_runner(experiment.stack, before, node, "fork server").kill()
    told = experiment.told(before)
    cause = told["cause"]
    assert (cause["kind"], cause["node"], told["charged"]) == ("fork_server", node, node)
    assert "the fork server, which was killed by SIGKILL" in cause["sentence"]


def wait_rounds(experiment: Experiment, is_there: Callable[[Json], bool], what: str) -> Json:
    """The newest round, once it trains and is such a one."""

    def found() -> Json | None:
        seen = experiment.trains() if is_there is has_all else job(experiment.api, experiment.id)
        rounds = experiment.api.get(f"/api/jobs/{experiment.id}/timeline").json()["rounds"]
        newest: Json = rounds[-1]
        is_it = seen["state"] == "training" and newest["number"] == seen["round"] and is_there(newest)
        return newest if is_it else None

    return wait_until(found, 90, what)


def has_one(row: Json) -> bool:
    return len(row["nodes"]) == 1


def has_all(row: Json) -> bool:
    return len(row["nodes"]) == 2


def scale(experiment: Experiment, nodes: int) -> None:
    asked: dict[str, Any] = {"nodes": nodes, "reason": "a look"}
    answer = experiment.api.post(f"/api/jobs/{experiment.id}/scale", json=asked)
    assert answer.status_code == 202, answer.text


def test_nodes_that_leave_and_join_on_request(experiment: Experiment) -> None:
    before = experiment.trains()
    scale(experiment, 1)
    alone = wait_rounds(experiment, has_one, "one node to train on")
    left = next(
        node
        for node in ("node-1", "node-2", "node-3")
        if node not in alone["nodes"] and node in {w["node"] for w in before["workers"]}
    )
    cause = alone["cause"]
    assert (alone["restart"], cause["kind"], cause["node"], cause["rank"], cause["planned"]) == (
        "membership",
        "node_left",
        left,
        None,
        True,
    )
    assert "scaled down from 2 to 1 node by olga: a look" in cause["sentence"]
    scale(experiment, 2)
    both = wait_rounds(experiment, has_all, "both nodes to train")
    cause = both["cause"]
    assert (both["restart"], cause["kind"], cause["planned"]) == ("membership", "node_joined", True)
    assert cause["node"] in both["nodes"]
    assert both["charged"] is None


def test_the_end_of_a_runner_is_unplanned_and_no_fault_of_a_worker(experiment: Experiment) -> None:
    before = experiment.trains()
    host = before["store_host"]
    node = next(w["node"] for w in before["workers"] if w["node"] != host)
    child_of_runner(experiment.stack, before, node, "").kill()

    def are_back() -> bool:
        seen = job(experiment.api, experiment.id)
        is_it: bool = seen["round"] > before["round"] and seen["world_size"] == 4
        return is_it and seen["state"] == "training"

    wait_until(are_back, 90, "all to be back")
    rounds = experiment.api.get(f"/api/jobs/{experiment.id}/timeline").json()["rounds"]
    since = [row for row in rounds if row["number"] > before["round"]]
    assert {row["restart"] for row in since} <= {"membership"}
    assert since[0]["cause"]["planned"] is False
    assert since[0]["cause"]["rank"] is None
    told = " ".join(row["cause"]["sentence"] for row in since)
    assert "died" in told or "was killed (SIGKILL)" in told, told
