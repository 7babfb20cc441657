"""A runner from its first record to its last: in order, stopped, killed, signalled, seen by a worker."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from agents.procs import wait_gone
from tests.agents.runner_harness import MINIMAL, Attempt, write_script
from tests.waiting import wait_until

SLEEPER = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"

WITNESS = """
import json, os, sys
import regroup_report
names = ("RANK", "MASTER_ADDR", "REGROUP_ROUND", "TORCHELASTIC_RESTART_COUNT", "OMP_NUM_THREADS", "GREETING")
print(json.dumps({
    "path": sys.path, "modules": sorted(sys.modules), "cwd": os.getcwd(), "argv": sys.argv[1:],
    "stdin": os.readlink("/proc/self/fd/0"), "env": {name: os.environ.get(name) for name in names},
}))
"""


@pytest.mark.usefixtures("cold")
def test_a_job_that_ends_well_is_recorded_in_order(tmp_path: Path) -> None:
    with Attempt(tmp_path, script=MINIMAL, args=("--steps", "8", "--pace", "0.02")) as attempt:
        (runner,) = attempt.start("node-a")
        last = runner.finish()
    assert (last["outcome"], last["reason"]) == ("succeeded", "all ranks ended with 0")
    # These come as often as workers have something to tell.
    often = ("activity", "progress", "torch_metrics", "workers_reached")
    kinds = [record["kind"] for record in runner.records() if record["kind"] not in often]
    assert kinds == [
        "runner_started",
        "rendezvous_begun",
        "rendezvous_joined",
        "rendezvous_completed",
        "workers_starting",
        "workers_started",
        "worker_exited",
        "worker_exited",
        "workers_finished",
        "runner_finished",
    ]
    assert [record["seq"] for record in runner.records()] == list(range(1, len(runner.records()) + 1))
    newest = {rank["rank"]: rank["step"] for rank in runner.records("progress")[-1]["ranks"]}
    assert newest == {0: 8, 1: 8}
    reached = [each for record in runner.records("workers_reached") for each in record["reached"]]
    for rank in (0, 1):
        way = [each for each in reached if each["rank"] == rank]
        assert [each["what"] for each in way] == ["group_begun", "group_up", "first_step"]
        assert [each["at"] for each in way] == sorted(each["at"] for each in way)


@pytest.mark.usefixtures("cold")
def test_workers_see_nothing_of_ours_but_the_report_module(tmp_path: Path) -> None:
    script = write_script(tmp_path, WITNESS)
    spec = {"script": script, "args": ("--lr", "0.1"), "env": {"GREETING": "hello"}, "workdir": str(tmp_path)}
    with Attempt(tmp_path, **spec) as attempt:
        (runner,) = attempt.start("node-a")
        assert runner.finish()["outcome"] == "succeeded"
    seen = json.loads(runner.bundle.log(1, 0, "stdout").read_text())
    assert seen["path"][0] == str(tmp_path)
    ours = Path(__file__).parents[2]
    assert not [entry for entry in seen["path"] if entry in ("", str(ours)) or Path(entry) == ours / "agents"]
    assert not {"agents", "regroup_agent", "webapp", "tests"} & set(seen["modules"])
    # Python may keep what it has compiled beside it.
    assert {path.name for path in runner.bundle.lib.iterdir()} - {"__pycache__"} == {"regroup_report.py"}
    assert (seen["cwd"], seen["argv"], seen["stdin"]) == (str(tmp_path), ["--lr", "0.1"], "/dev/null")
    assert seen["env"]["GREETING"] == "hello"
    assert (seen["env"]["RANK"], seen["env"]["REGROUP_ROUND"]) == ("0", "1")
    assert (seen["env"]["TORCHELASTIC_RESTART_COUNT"], seen["env"]["OMP_NUM_THREADS"]) == ("0", "1")


@pytest.mark.usefixtures("cold")
def test_a_runner_that_is_asked_to_stop_ends_its_workers_and_says_so(tmp_path: Path) -> None:
    with Attempt(tmp_path, preload=(), script=write_script(tmp_path, SLEEPER)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for("workers_started")
        runner.process.terminate()
        last = runner.finish()
        assert (last["outcome"], last["reason"]) == ("stopped", "stopped on request (SIGTERM)")
        assert runner.process.returncode == 0
        assert {record["role"] for record in runner.records("worker_exited")} == {"stopped"}
        assert runner.marked() == []


def test_a_worker_that_ignores_sigterm_is_killed_after_the_grace(tmp_path: Path) -> None:
    stubborn = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEPER
    with Attempt(
        tmp_path, nproc_per_node=1, preload=(), shutdown_timeout=0.5, script=write_script(tmp_path, stubborn)
    ) as attempt:
        (runner,) = attempt.start("node-a")
        wait_until(lambda: "up" in read(runner.bundle.log(1, 0, "stdout")), 60, "the worker")
        # A worker may speak before the runner has heard that it lives; until then there is no grace for it.
        runner.wait_for("workers_started")
        runner.process.terminate()
        assert runner.finish()["outcome"] == "stopped"
        (ended,) = runner.records("worker_exited")
        assert ended["said"] == "stopped by the runner (SIGKILL)"


DEAF_KERNEL = """
import os, sys
if sys.orig_argv[1].endswith("boot.py"):
    os.killpg = lambda pid, signum: None
"""


def test_no_worker_is_started_beside_one_that_cannot_be_ended(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(DEAF_KERNEL)
    script = write_script(tmp_path, SLEEPER)
    with Attempt(tmp_path, shutdown_timeout=0.5, script=script, preload=()) as attempt:
        (runner,) = attempt.start("node-a", env={"PYTHONPATH": str(tmp_path)})
        stays = runner.workers(1)[1].pid
        runner.kill(1, rank=0)
        last = runner.finish(timeout_s=60)
        assert last["outcome"] == "failed"
        assert f"Rank 1 on node-a did not end, even after SIGKILL: pid {stays} is in state" in last["reason"]
        assert len(runner.records("workers_started")) == 1


def test_a_runner_can_be_stopped_before_it_has_met_anybody(tmp_path: Path) -> None:
    with Attempt(tmp_path, nnodes="2") as attempt:
        (runner,) = attempt.start("node-a", nodes=("node-a", "node-b"))
        runner.wait_for("rendezvous_joined", joined=["node-a"])
        runner.process.terminate()
        assert runner.finish()["reason"] == "stopped on request (SIGTERM)"


def test_a_runner_can_be_stopped_while_it_looks_for_the_store(tmp_path: Path) -> None:
    with Attempt(tmp_path, nnodes="2") as attempt:
        (runner,) = attempt.start("node-b", hosts_store=False, endpoint="127.0.0.1:9")
        runner.wait_for("runner_started")
        runner.process.terminate()
        assert runner.finish()["outcome"] == "stopped"


@pytest.mark.usefixtures("cold")
def test_workers_die_with_a_runner_that_is_killed(tmp_path: Path) -> None:
    with Attempt(tmp_path, preload=(), script=write_script(tmp_path, SLEEPER)) as attempt:
        (runner,) = attempt.start("node-a")
        workers = list(runner.workers(1).values())
        runner.process.kill()
        runner.process.wait(10)
        assert wait_gone(workers, 10) == []


def test_user_signals_reach_the_workers_and_a_hang_up_changes_nothing(tmp_path: Path) -> None:
    catcher = (
        "import signal, sys\n"
        "signal.signal(signal.SIGUSR1, lambda *_: (print('preempted', flush=True), sys.exit(0)))\n" + SLEEPER
    )
    with Attempt(tmp_path, preload=(), script=write_script(tmp_path, catcher)) as attempt:
        (runner,) = attempt.start("node-a")
        logs = [runner.bundle.log(1, rank, "stdout") for rank in (0, 1)]
        wait_until(lambda: all("up" in read(log) for log in logs), 60, "both workers")
        os.kill(runner.process.pid, signal.SIGHUP)
        os.kill(runner.process.pid, signal.SIGUSR1)
        assert runner.finish()["outcome"] == "succeeded"
        assert all("preempted" in read(log) for log in logs)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
