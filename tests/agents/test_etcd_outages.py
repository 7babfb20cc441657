"""An etcd that is away, silent or loses a member in the middle of training hurts nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.etcd_runs import attempt_over, start
from tests.agents.runner_harness import Runner
from tests.etcd import FEWER, Etcd, run_cluster, run_etcd
from tests.waiting import wait_until


@pytest.fixture(params=FEWER, ids=lambda path: path.parent.parent.name)
def etcd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Etcd]:
    with run_etcd(tmp_path, request.param) as server:
        yield server


def train(runners: list[Runner], round_number: int) -> None:
    """Wait until the round is a good way beyond where it is now."""
    for runner in runners:
        runner.wait_for_step(round_number)
    for runner in runners:
        runner.wait_for_step(round_number, beyond=last_step(runner) + 20)


def last_step(runner: Runner) -> int:
    newest = runner.records("progress")[-1]["ranks"]
    return max(int(rank["step"]) for rank in newest)


def outlast(seconds: float) -> None:
    """Let that much of an outage pass."""
    deadline = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > deadline, seconds + 20)


def expect_one_round_more(runners: list[Runner]) -> None:
    """Nobody has restarted so far, and a kill now costs one failure restart."""
    for runner in runners:
        assert runner.records("restart_begun") == []
    runners[0].kill(1, 0)
    for runner in runners:
        completed = runner.wait_for("rendezvous_completed", round=2, timeout_s=60)
        assert (completed["cause"], completed["charged"]) == ("failure", "node-a")
        runner.wait_for_step(2)


def test_a_restart_of_etcd_restarts_no_worker(etcd: Etcd, tmp_path: Path) -> None:
    with attempt_over(etcd.endpoint, tmp_path) as attempt:
        runners = start(attempt, "node-a", "node-b")
        train(runners, 1)
        etcd.kill()
        train(runners, 1)
        etcd.restart()
        train(runners, 1)
        expect_one_round_more(runners)


@pytest.mark.parametrize("seconds", [2.3, 10.0])
def test_an_etcd_that_stands_still_restarts_no_worker(etcd: Etcd, tmp_path: Path, seconds: float) -> None:
    with attempt_over(etcd.endpoint, tmp_path) as attempt:
        runners = start(attempt, "node-a", "node-b")
        train(runners, 1)
        etcd.freeze()
        outlast(seconds)
        etcd.thaw()
        train(runners, 1)
        expect_one_round_more(runners)


def test_a_worker_killed_while_etcd_is_away_costs_one_failure_restart(etcd: Etcd, tmp_path: Path) -> None:
    with attempt_over(etcd.endpoint, tmp_path) as attempt:
        runners = start(attempt, "node-a", "node-b")
        train(runners, 1)
        etcd.kill()
        runners[0].kill(1, 0)
        runners[0].wait_for("restart_begun")
        outlast(4)
        etcd.restart()
        for runner in runners:
            completed = runner.wait_for("rendezvous_completed", round=2, timeout_s=60)
            assert (completed["cause"], completed["charged"]) == ("failure", "node-a")


def test_an_etcd_that_is_full_restarts_no_worker(etcd: Etcd, tmp_path: Path) -> None:
    etcd.kill()
    etcd.flags = {"quota-backend-bytes": str(4 * 1024 * 1024)}
    etcd.restart()
    with attempt_over(etcd.endpoint, tmp_path) as attempt:
        runners = start(attempt, "node-a", "node-b")
        train(runners, 1)
        fill(etcd)
        outlast(6)
        train(runners, 1)
        empty(etcd)
        train(runners, 1)
        expect_one_round_more(runners)


def fill(etcd: Etcd) -> None:
    wait_until(lambda: etcd.run_ctl("put", "fill", "x" * 100_000).returncode != 0, 60, "etcd to be full")
    assert "NOSPACE" in etcd.say("alarm", "list")


def empty(etcd: Etcd) -> None:
    (status,) = json.loads(etcd.say("endpoint", "status", "-w", "json"))
    etcd.say("compact", str(status["Status"]["header"]["revision"]))
    etcd.say("defrag")
    etcd.say("alarm", "disarm")


@pytest.mark.parametrize("binary", FEWER, ids=lambda path: path.parent.parent.name)
def test_the_loss_of_any_member_of_a_cluster_restarts_no_worker(binary: Path, tmp_path: Path) -> None:
    with run_cluster(tmp_path, binary) as members:
        endpoint = ",".join(member.endpoint for member in members)
        with attempt_over(endpoint, tmp_path) as attempt:
            runners = start(attempt, "node-a", "node-b")
            for member in members:
                train(runners, 1)
                member.kill()
                train(runners, 1)
                member.restart()
            expect_one_round_more(runners)
