"""More nodes than a round may have: one stands by, and takes a place once it is free."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.elastic_scripts import SILENT, UNTIL_TOLD
from tests.agents.runner_harness import Attempt, write_script

NEVER = {"last_call_timeout": "600"}


@pytest.mark.parametrize("by", ["leave", "lose"])
def test_a_spare_takes_the_place_of_a_node_that_leaves_or_is_gone(tmp_path: Path, by: str) -> None:
    script = write_script(tmp_path, UNTIL_TOLD)
    spec = {"nnodes": "1:2", "nproc_per_node": 1, "max_restarts": 1, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        first, going = attempt.start("node-a", "node-b")
        first.wait_for_step(1)
        spare = attempt.start_on("node-c")
        stands_by = spare.wait_for("rendezvous_joined")
        assert (stands_by["joined"], stands_by["is_spare"]) == (["node-a", "node-b"], True)
        going.kill(1, rank=1)
        first.wait_for_step(2)
        going.wait_for_step(2)
        assert first.rounds()[1:] == [(2, ["node-a", "node-b"], "failure", "node-b")]
        assert spare.records("rendezvous_joined") == [stands_by]
        getattr(going, by)()
        spare.wait_for_step(3)
        assert spare.rounds() == [(3, ["node-a", "node-c"], "membership", None)]
        (tmp_path / "done").touch()
        assert (first.finish()["outcome"], spare.finish()["outcome"]) == ("succeeded", "succeeded")


def test_of_two_spares_one_is_promoted_and_the_attempt_outlives_its_only_node(tmp_path: Path) -> None:
    script = write_script(tmp_path, SILENT)
    with Attempt(tmp_path, nproc_per_node=1, script=script) as attempt:
        (first,) = attempt.start("node-a")
        first.wait_for_step(1)
        second, third = attempt.start_on("node-b"), attempt.start_on("node-c")
        for spare in (second, third):
            spare.wait_for("rendezvous_joined", is_spare=True)
        first.leave()
        second.wait_for_step(2)
        assert second.rounds() == [(2, ["node-b"], "membership", None)]
        assert first.finish()["has_left"]
        assert third.records("rendezvous_completed") == []
        second.lose()
        third.wait_for_step(3)
        assert third.rounds() == [(3, ["node-c"], "membership", None)]


def test_a_spare_is_stopped_when_the_job_fails_and_leaves_without_a_trace(tmp_path: Path) -> None:
    script = write_script(tmp_path, UNTIL_TOLD)
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=0, script=script) as attempt:
        (first,) = attempt.start("node-a")
        first.wait_for_step(1)
        leaving, staying = attempt.start_on("node-b"), attempt.start_on("node-c")
        for spare in (leaving, staying):
            spare.wait_for("rendezvous_joined", is_spare=True)
        leaving.leave()
        assert leaving.finish()["has_left"]
        (tmp_path / "done").write_text("3")
        assert first.finish()["outcome"] == "failed"
        last = staying.finish()
        assert (last["outcome"], last["has_left"], last["is_infrastructure"]) == ("stopped", False, False)
        assert "Rank 0 on node-a exited with code 3" in last["reason"]
        assert first.records("restart_begun") == []
