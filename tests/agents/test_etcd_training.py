"""Runners that meet in etcd: they train, recover, and leave nothing behind."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.etcd_runs import SHORT, attempt_over, path_of, start
from tests.agents.runner_harness import Runner
from tests.etcd import BINARIES, Etcd, run_etcd
from tests.waiting import wait_until


@pytest.fixture(scope="module", params=BINARIES, ids=lambda path: path.parent.parent.name)
def etcd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    with run_etcd(tmp_path_factory.mktemp("etcd"), request.param) as server:
        yield server


def test_two_nodes_train_and_leave_nothing_in_etcd(etcd: Etcd, tmp_path: Path) -> None:
    with attempt_over(etcd.endpoint, tmp_path, args=SHORT, nproc_per_node=2) as attempt:
        runners = start(attempt, "node-a", "node-b")
        for runner in runners:
            assert runner.finish()["outcome"] == "succeeded"
            assert runner.wait_for("rendezvous_completed", round=1)["nodes"] == ["node-a", "node-b"]
    assert etcd.keys(path_of(tmp_path)) == {}


def test_an_operator_reads_in_etcd_who_trains(etcd: Etcd, tmp_path: Path) -> None:
    with attempt_over(etcd.endpoint, tmp_path) as attempt:
        runners = start(attempt, "node-a", "node-b")
        for runner in runners:
            runner.wait_for_step(1)
        summary = etcd.keys()[f"{path_of(tmp_path)}summary"]
        assert summary.startswith("round 1, complete, since 20")
        assert summary.endswith(", members node-a=0 node-b=1")
        for runner in runners:
            runner.process.terminate()
        assert {runner.finish()["outcome"] for runner in runners} == {"stopped"}
    assert etcd.keys(path_of(tmp_path)) == {}


def test_a_killed_worker_costs_one_failure_restart(etcd: Etcd, tmp_path: Path) -> None:
    with attempt_over(etcd.endpoint, tmp_path) as attempt:
        runners = start(attempt, "node-a", "node-b")
        for number in (1, 2, 3):
            runners[0].wait_for_step(number, beyond=2)
            runners[0].kill(number, 0)
            for runner in runners:
                completed = runner.wait_for("rendezvous_completed", round=number + 1)
                assert (completed["cause"], completed["charged"]) == ("failure", "node-a")


def test_the_loss_of_either_node_is_survived(etcd: Etcd, tmp_path: Path) -> None:
    with attempt_over(etcd.endpoint, tmp_path, nnodes="1:2") as attempt:
        first, second = start(attempt, "node-a", "node-b")
        second.wait_for_step(1)
        first.process.send_signal(signal.SIGKILL)
        assert second.wait_for("rendezvous_completed", round=2)["nodes"] == ["node-b"]
        second.wait_for_step(2)
        again = attempt.start_on("node-a")
        assert second.wait_for("rendezvous_completed", round=3)["nodes"] == ["node-a", "node-b"]
        again.wait_for_step(3)
        second.process.send_signal(signal.SIGKILL)
        assert again.wait_for("rendezvous_completed", round=4)["nodes"] == ["node-a"]
        again.wait_for_step(4)


def test_keys_whose_lease_was_revoked_cost_no_restart(etcd: Etcd, tmp_path: Path) -> None:
    with attempt_over(etcd.endpoint, tmp_path) as attempt:
        runners = start(attempt, "node-a", "node-b")
        for runner in runners:
            runner.wait_for_step(1)
        etcd.say("lease", "revoke", etcd.lease_of(f"{path_of(tmp_path)}state"))
        for runner in runners:
            wait_for_word(runner, "are written again")
            runner.wait_for_step(1, beyond=20)
        runners[0].kill(1, 0)
        for runner in runners:
            assert runner.wait_for("rendezvous_completed", round=2)["cause"] == "failure"


def wait_for_word(runner: Runner, word: str) -> None:
    log = runner.bundle.own_log
    wait_until(lambda: word in log.read_text(), 30, f"{word!r} in {log}")
