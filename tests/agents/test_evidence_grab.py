"""What a runner notes of its workers before it ends them, with real ones; and that nothing waits for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from agents.bundle import Bundle
from agents.node.evidence import link_py_spy
from agents.procs import ref_of_child, state_of
from agents.runner.grab import Grab, Standing
from agents.wire.masking import MASK
from agents.wire.runner_events import WorkerRef
from tests.agents.node_harness import start_command
from tests.agents.runner_harness import Attempt, Runner, write_script
from tests.waiting import wait_until

SECRET = "hunter2-hunter2"
WAITING = """
import os, signal, time
import regroup_report
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def wait_for_the_others():
    while True:
        time.sleep(0.05)
regroup_report.step(1)
print("up", flush=True)
wait_for_the_others()
"""


def before(runner: Runner, round_number: int = 1, name: str = "before.json") -> dict[str, Any]:
    path = runner.bundle.evidence_folder(round_number) / name
    wait_until(path.exists, what=f"{path.name} of round {round_number}")
    noted: dict[str, Any] = json.loads(path.read_text())
    return noted


def stack_of(runner: Runner, rank: int, noted: dict[str, Any]) -> str:
    stack = noted["ranks"][str(rank)]["stack"]
    assert stack["how"] == "faulthandler", stack
    return (runner.bundle.rank_folder(1, rank) / "stacks.txt").read_text()[stack["from"] : stack["to"]]


def wait_until_up(runner: Runner, rank: int) -> None:
    log = runner.bundle.log(1, rank, "stdout")
    wait_until(lambda: log.exists() and "up" in log.read_text(), what=f"rank {rank} to be up")


def test_survivors_are_looked_at_before_their_end_and_a_frozen_one_delays_nothing(tmp_path: Path) -> None:
    with Attempt(
        tmp_path,
        nproc_per_node=3,
        script=write_script(tmp_path, WAITING),
        env={"API_TOKEN": SECRET, "COLOUR": "blue"},
        shutdown_timeout=1.0,
    ) as attempt:
        (runner,) = attempt.start("node-a")
        for rank in range(3):
            wait_until_up(runner, rank)
        os.kill(runner.workers(1)[1].pid, signal.SIGSTOP)
        runner.kill(1, rank=2)
        assert runner.wait_for("restart_begun", round=1)["evidence_s"] <= 2
        runner.wait_for("workers_started", round=2)
        noted = before(runner)
        assert sorted(noted["ranks"]) == ["0", "1"]
        assert "wait_for_the_others" in stack_of(runner, 0, noted)
        assert "stood still (T)" in noted["ranks"]["1"]["stack"]["why"]
        assert noted["ranks"]["1"]["process"]["State"].startswith("T")
        assert noted["ranks"]["0"]["log_bytes"]["stdout"] == len("up\n")
        assert noted["machine"]["memory"]["MemTotal"].endswith("kB")
        assert (noted["environment"]["API_TOKEN"], noted["environment"]["COLOUR"]) == (MASK, "blue")
        assert SECRET not in json.dumps(noted)
        # SIGTERM did not end it, so that it was looked at once more before SIGKILL did.
        assert "wait_for_the_others" in stack_of(runner, 0, before(runner, name="forced.json"))


def test_a_restart_goes_on_where_nothing_can_be_kept(tmp_path: Path) -> None:
    script = write_script(tmp_path, WAITING.replace("signal.SIG_IGN", "signal.SIG_DFL"))
    with Attempt(tmp_path, script=script) as attempt:
        (runner,) = attempt.start("node-a")
        runner.workers(1)
        (runner.bundle.folder / "evidence").write_text("no folder")
        runner.kill(1, rank=1)
        assert runner.wait_for("restart_begun", round=1)["evidence_s"] <= 2
        runner.wait_for("workers_started", round=2)
        said = runner.bundle.own_log.read_text()
        assert "evidence of round 1 cannot be taken: NotADirectoryError" in said


def test_a_job_that_wants_none_has_none(tmp_path: Path) -> None:
    grab = Grab(Bundle(tmp_path), "off")
    grab.take_once(1, [])
    assert (grab.seconds, list(tmp_path.iterdir())) == ({}, [])


def test_full_evidence_has_the_stack_of_one_that_stands_still(tmp_path: Path) -> None:
    bundle, message = Bundle(tmp_path), start_command("node-a", evidence="full").message
    link_py_spy(bundle, message)
    code = "import time\ndef wait_for_ever():\n print('up', flush=True)\n time.sleep(600)\nwait_for_ever()"
    frozen = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert frozen.stdout is not None
        frozen.stdout.readline()
        frozen.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(frozen.pid) == "T", what="it to stand still")
        ref = WorkerRef(rank=0, local_rank=0, pid=frozen.pid, start_time=ref_of_child(frozen.pid).start_time)
        took_s = Grab(bundle, "full").take(1, [Standing(ref, tmp_path)])
        assert took_s is not None
        assert took_s < 3
        folder = bundle.evidence_folder(1)
        wait_until((folder / "before.json").exists, what="what was noted")
        assert json.loads((folder / "before.json").read_text())["ranks"]["0"]["stack"]["how"] == "py-spy"
        assert "wait_for_ever" in (folder / "py-spy-0.txt").read_text()
    finally:
        frozen.kill()
        frozen.wait()
