"""A killed worker: the next round comes, exactly one failure restart is charged, nothing hangs."""

from __future__ import annotations

from pathlib import Path

from tests.agents.runner_harness import Attempt, Runner

KILLS = 5


def charged(runner: Runner) -> list[str | None]:
    return [record["charged"] for record in runner.records("rendezvous_completed")]


def test_a_killed_worker_comes_back_in_the_next_round_and_costs_one_restart(tmp_path: Path) -> None:
    with Attempt(tmp_path, args=("--steps", "30", "--pace", "0.05")) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        runner.kill(1, rank=1)
        formed = runner.wait_for("rendezvous_completed", round=2)
        assert (formed["cause"], formed["charged"], formed["world_size"]) == ("failure", "node-a", 2)
        assert runner.finish()["outcome"] == "succeeded"
        assert runner.records()[-1]["charged"] == 1
        killed = next(record for record in runner.records("worker_exited") if record["worker"]["rank"] == 1)
        assert (killed["signal"], killed["role"], killed["said"]) == ("SIGKILL", "cause", "killed by SIGKILL")
        other = next(record for record in runner.records("worker_exited") if record["worker"]["rank"] == 0)
        assert other["role"] in ("peer_lost", "stopped")


def test_several_kills_in_a_row_on_two_nodes_are_charged_once_each(tmp_path: Path) -> None:
    with Attempt(
        tmp_path, nnodes="1:3", max_restarts=20, args=("--steps", "5000", "--pace", "0.02")
    ) as attempt:
        a, b = attempt.start("node-a", "node-b")
        for number in range(1, KILLS + 1):
            a.wait_for_step(number)
            b.wait_for_step(number)
            victim, rank = (a, 1) if number % 2 else (b, 3)
            victim.kill(number, rank)
            for runner in (a, b):
                formed = runner.wait_for("rendezvous_completed", round=number + 1)
                assert (formed["cause"], formed["world_size"]) == ("failure", 4)
                assert formed["charged"] == ("node-a" if number % 2 else "node-b")
        assert charged(a) == charged(b) == [None, "node-a", "node-b", "node-a", "node-b", "node-a"]
        assert [record["nodes"] for record in a.records("rendezvous_completed")] == [["node-a", "node-b"]] * 6
