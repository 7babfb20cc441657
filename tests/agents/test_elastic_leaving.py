"""A node leaves politely: the others go on at once, and nobody is charged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.elastic_scripts import COLLECTIVE, DEAF_RANK_0, MUTE_FAILURE, SILENT
from tests.agents.runner_harness import Attempt, Runner, write_script

NEVER = {"last_call_timeout": "600"}


def test_the_others_go_on_before_the_workers_of_the_leaving_node_have_ended(tmp_path: Path) -> None:
    """Also when it is the node of rank 0, whose runner keeps the round's store."""
    script = write_script(tmp_path, DEAF_RANK_0)
    spec = {"nnodes": "1:3", "nproc_per_node": 1, "shutdown_timeout": 4.0, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        first, *others = attempt.start("node-a", "node-b", "node-c")
        for runner in (first, *others):
            runner.wait_for_step(1)
        first.leave()
        last = first.finish()
        assert (last["outcome"], last["has_left"], last["is_infrastructure"]) == ("stopped", True, False)
        (ended,) = first.records("worker_exited")
        assert ended["said"] == "stopped by the runner (SIGKILL)"
        for runner in others:
            begun = runner.wait_for("restart_begun")
            assert (begun["cause"], begun["at"] < ended["at"]) == ("membership", True)
            formed = runner.wait_for("rendezvous_completed", round=2)
            assert (formed["nodes"], formed["cause"], formed["charged"]) == (
                ["node-b", "node-c"],
                "membership",
                None,
            )
            assert formed["absent"] == {"node-a": "it left"}


@pytest.mark.parametrize("script", [COLLECTIVE, MUTE_FAILURE])
def test_workers_that_fail_because_a_node_leaves_cost_nobody_a_restart(tmp_path: Path, script: str) -> None:
    spec = {"nnodes": "1:2", "nproc_per_node": 1, "max_restarts": 0, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=write_script(tmp_path, script), **spec) as attempt:
        leaving, staying = attempt.start("node-a", "node-b")
        staying.wait_for_step(1, beyond=3)
        # Without the file of the node agent, as when somebody sends it a signal.
        leaving.process.terminate()
        assert leaving.finish()["has_left"]
        formed = staying.wait_for("rendezvous_completed", round=2)
        assert (formed["nodes"], formed["cause"], formed["charged"]) == (["node-b"], "membership", None)
        staying.wait_for_step(2, beyond=3)
        assert [begun["cause"] for begun in staying.records("restart_begun")] == ["membership"]


def test_two_nodes_leave_at_once_and_the_last_one_ends_the_attempt(tmp_path: Path) -> None:
    script = write_script(tmp_path, SILENT)
    spec = {"nnodes": "1:3", "nproc_per_node": 1, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        first, *leaving = attempt.start("node-a", "node-b", "node-c")
        first.wait_for_step(1)
        for runner in leaving:
            runner.leave()
        for runner in leaving:
            assert runner.finish()["has_left"]
        alone = first.wait_for("rendezvous_completed", nodes=["node-a"])
        assert (alone["cause"], alone["charged"]) == ("membership", None)
        first.wait_for_step(alone["round"])
        first.leave()
        last = first.finish()
        assert (last["outcome"], last["has_left"]) == ("stopped", True)
        assert attempt.keeper is not None
        assert "every runner has left" in attempt.keeper.finish()["reason"]


def test_below_min_nodes_the_others_wait_and_go_on_when_a_node_comes(tmp_path: Path) -> None:
    script = write_script(tmp_path, COLLECTIVE)
    spec = {"nnodes": "2:3", "nproc_per_node": 1, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        staying, leaving = attempt.start("node-a", "node-b")
        staying.wait_for_step(1, beyond=3)
        leaving.leave()
        waits = staying.wait_for("rendezvous_joined", joined=["node-a"], expected=["node-a"])
        assert (waits["min_nodes"], waits["is_spare"]) == (2, False)
        assert leaving.finish()["has_left"]
        attempt.start_on("node-c")
        formed = staying.wait_for("rendezvous_completed", round=2)
        assert (formed["nodes"], formed["cause"]) == (["node-a", "node-c"], "membership")
        staying.wait_for_step(2, beyond=3)


def test_a_node_that_leaves_while_a_round_forms_is_not_waited_for(tmp_path: Path) -> None:
    script = write_script(tmp_path, SILENT)
    names = ("node-a", "node-b", "node-c")
    spec = {"nnodes": "2:3", "nproc_per_node": 1, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        first, leaving = attempt.start("node-a", "node-b", nodes=names)
        first.wait_for("rendezvous_joined", joined=["node-a", "node-b"])
        leaving.leave()
        assert leaving.finish()["has_left"]
        attempt.start_on("node-c")
        formed = first.wait_for("rendezvous_completed")
        assert (formed["round"], formed["nodes"]) == (1, ["node-a", "node-c"])
        assert formed["absent"] == {"node-b": "it left"}


def test_a_stop_ends_the_attempt_for_all_before_the_workers_of_one_have_ended(tmp_path: Path) -> None:
    script = write_script(tmp_path, DEAF_RANK_0)
    spec = {"nnodes": "1:2", "nproc_per_node": 1, "shutdown_timeout": 2.0}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        stopped, other = attempt.start("node-a", "node-b")
        for runner in (stopped, other):
            runner.wait_for_step(1)
        stopped.stop()
        assert _ending(stopped) == ("stopped", False, "stopped on request (SIGTERM)")
        why = "node-a was stopped on request (SIGTERM); the rendezvous was closed by another node."
        assert _ending(other) == ("stopped", False, why)
        assert other.records("restart_begun") == []


def _ending(runner: Runner) -> tuple[str, bool, str]:
    last = runner.finish()
    return last["outcome"], last["has_left"], last["reason"]


def test_who_is_killed_on_its_way_out_holds_up_nobody(tmp_path: Path) -> None:
    script = write_script(tmp_path, DEAF_RANK_0)
    spec = {"nnodes": "1:2", "nproc_per_node": 1, "shutdown_timeout": 600.0, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        leaving, staying = attempt.start("node-a", "node-b")
        for runner in (leaving, staying):
            runner.wait_for_step(1)
        leaving.leave()
        staying.wait_for("restart_begun")
        leaving.lose()
        assert staying.wait_for("rendezvous_completed", round=2)["nodes"] == ["node-b"]
        staying.wait_for_step(2)
