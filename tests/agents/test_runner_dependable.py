"""What torch leaves to luck: the grace on restarts, spares, and a store that is silent for a while."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from agents.runner.endpoint import split_endpoint
from agents.runner.rendezvous.c10d import C10dVenue
from agents.wire.rdzv import RdzvConf
from tests.agents.runner_harness import Attempt, Runner, write_script
from tests.waiting import wait_until

DEAF = """
import os, signal, time
import regroup_report
if os.environ["RANK"] == "1":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for step in range(1, 100_000):
    regroup_report.step(step)
    time.sleep(0.05)
"""

UNTIL_TOLD = """
import os, time
while not os.path.exists(os.path.join(os.path.dirname(__file__), "done")):
    time.sleep(0.05)
"""

EARLY = """
import os, time
import regroup_report
step = 0
while os.environ["RANK"] == "1" and not os.path.exists(os.path.join(os.path.dirname(__file__), "done")):
    step += 1
    regroup_report.step(step)
    time.sleep(0.05)
"""


def test_a_node_that_is_done_waits_as_long_as_the_others_run(tmp_path: Path) -> None:
    spec = {"script": write_script(tmp_path, EARLY), "preload": ()}
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, **spec) as attempt:
        a, b = attempt.start("node-a", "node-b")
        a.wait_for("workers_finished")
        b.wait_for_step(1, beyond=b.wait_for_step(1)["ranks"][0]["step"] + 40)
        assert a.records("runner_finished", "restart_begun") == []
        (tmp_path / "done").touch()
        assert (a.finish()["outcome"], b.finish()["outcome"]) == ("succeeded", "succeeded")


def test_a_node_that_waits_no_longer_for_the_others_disturbs_nobody(tmp_path: Path) -> None:
    spec = {"script": write_script(tmp_path, EARLY), "preload": (), "exit_barrier_timeout": 0.5}
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, **spec) as attempt:
        a, b = attempt.start("node-a", "node-b")
        left = a.finish()
        assert (left["outcome"], "waited for for 0.5 s" in left["reason"]) == ("succeeded", True)
        b.wait_for_step(1, beyond=b.wait_for_step(1)["ranks"][0]["step"] + 40)
        assert b.records("runner_finished", "restart_begun") == []
        (tmp_path / "done").touch()
        assert b.finish()["outcome"] == "succeeded"


def test_the_grace_of_the_job_holds_on_restarts_too(tmp_path: Path) -> None:
    with Attempt(tmp_path, shutdown_timeout=1.0, script=write_script(tmp_path, DEAF)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1, beyond=5)
        runner.kill(1, rank=0)
        # torch waits for 30 s, whatever it was told.
        runner.wait_for("workers_started", round=2, timeout_s=25.0)
        ended = {record["worker"]["rank"]: record for record in runner.records("worker_exited")}
        assert (ended[1]["role"], ended[1]["signal"]) == ("stopped", "SIGKILL")
        assert runner.records("rendezvous_completed")[1]["charged"] == "node-a"


def spares(runner: Runner) -> list[str]:
    message = runner.bundle.message()
    assert message is not None
    venue = C10dVenue(*split_endpoint(message.endpoint), RdzvConf())
    found = venue.open(message.attempt, time.sleep).backend.get_state()
    return [] if found is None else [name for name, *_ in json.loads(found[0])["redundancy_list"]]


def test_a_spare_node_ends_well_with_the_others(tmp_path: Path) -> None:
    with Attempt(tmp_path, nproc_per_node=1, script=write_script(tmp_path, UNTIL_TOLD)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for("workers_started", round=1)
        spare = attempt.start_on("node-b")
        wait_until(lambda: spares(runner) == ["node-b"], 30, "the second node to stand by")
        (tmp_path / "done").touch()
        assert runner.finish()["outcome"] == "succeeded"
        assert spare.finish()["outcome"] == "succeeded"
        assert spare.records("workers_started") == []
        assert runner.records("restart_begun") == []


def test_a_store_that_is_silent_for_ten_seconds_is_no_event(tmp_path: Path) -> None:
    script = write_script(tmp_path, DEAF)
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, shutdown_timeout=1.0, script=script) as attempt:
        runners = attempt.start("node-a", "node-b")
        step = max(rank["step"] for rank in runners[0].wait_for_step(1)["ranks"])
        assert attempt.keeper is not None
        attempt.keeper.process.send_signal(signal.SIGSTOP)
        silent_since = time.monotonic()
        wait_until(lambda: time.monotonic() - silent_since > 10, 15, "ten seconds to pass")
        attempt.keeper.process.send_signal(signal.SIGCONT)
        for runner in runners:
            runner.wait_for_step(1, beyond=step + 150)
            assert runner.records("restart_begun") == []
        runners[1].kill(1, rank=1)
        for runner in runners:
            formed = runner.wait_for("rendezvous_completed", round=2)
            assert (formed["nodes"], formed["charged"]) == (["node-a", "node-b"], "node-b")
