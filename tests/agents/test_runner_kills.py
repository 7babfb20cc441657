"""A killed worker: the next round comes, exactly one failure restart is charged, nothing hangs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.agents.runner_harness import MINIMAL, ROOT, Attempt, Runner, write_script
from tests.waiting import wait_until

KILLS = 5
LONG_S = 300.0
"""A grace that no test waits for."""
DEAF = """
import signal, time
import regroup_report
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for step in range(1, 100_000):
    regroup_report.step(step)
    time.sleep(0.05)
"""


def all_have_stepped(runner: Runner) -> bool:
    return any(len(record["ranks"]) == 2 for record in runner.records("progress"))


def charged(runner: Runner) -> list[str | None]:
    return [record["charged"] for record in runner.records("rendezvous_completed")]


def test_a_killed_worker_comes_back_in_the_next_round_and_costs_one_restart(tmp_path: Path) -> None:
    with Attempt(tmp_path, script=MINIMAL, args=("--steps", "30", "--pace", "0.05")) as attempt:
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
    spec = {"script": MINIMAL, "args": ("--steps", "5000", "--pace", "0.02")}
    with Attempt(tmp_path, nnodes="1:3", max_restarts=20, **spec) as attempt:
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


def test_the_step_goes_on_from_the_newest_checkpoint(tmp_path: Path) -> None:
    arguments = (
        "--steps",
        "40",
        "--checkpoint-every",
        "5",
        "--pace",
        "0.02",
        "--checkpoint-dir",
        str(tmp_path),
    )
    with Attempt(tmp_path, script=str(ROOT / "examples" / "char_lm.py"), args=arguments) as attempt:
        (runner,) = attempt.start("node-a")
        saved = runner.wait_for("checkpoint_saved")
        assert Path(saved["path"], "complete").exists()
        runner.kill(1, rank=0)
        resumed = runner.wait_for("resumed", round=2)
        assert resumed["step"] >= saved["step"]
        assert runner.wait_for_step(2, beyond=resumed["step"])
        assert runner.finish()["outcome"] == "succeeded"
        first = runner.records("progress")
        steps = [rank["step"] for record in first if record["round"] == 2 for rank in record["ranks"]]
        assert (min(steps) > resumed["step"], max(steps)) == (True, 40)
        assert runner.records("checkpoint_saved")[-1]["step"] == 40


def test_without_a_restart_left_the_job_ends_everywhere_however_long_its_grace(tmp_path: Path) -> None:
    spec = {"script": write_script(tmp_path, DEAF), "max_restarts": 0, "shutdown_timeout": LONG_S}
    with Attempt(tmp_path, nnodes="2", preload=(), **spec) as attempt:
        a, b = attempt.start("node-a", "node-b")
        for runner in (a, b):
            # A rank that has not come so far does not ignore SIGTERM yet.
            wait_until(partial(all_have_stepped, runner), 60, "all ranks to be deaf")
        b.kill(1, rank=3)
        failed, stopped = b.finish(), a.finish()
        why = "Rank 3 on node-b was killed by SIGKILL, and the job allows no failure restarts"
        assert (failed["outcome"], failed["reason"]) == ("failed", f"{why} (max_restarts 0).")
        assert (stopped["outcome"], stopped["charged"]) == ("stopped", 0)
        assert why in stopped["reason"]
        assert {one["said"] for one in a.records("worker_exited")} == {"stopped by the runner (SIGKILL)"}
        assert a.marked() == b.marked() == []
