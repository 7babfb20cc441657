"""What is killed comes back; what is ended leaves nothing behind; what is started again goes on."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.system.jobs import job, launch_char_lm, wait_job
from tests.system.stack import Stack, run_stack
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that these tests may ruin: not the one that the others share. Its path is an odd one."""
    with run_stack(tmp_path_factory.mktemp("a stack %x")) as running:
        yield running


def answers(stack: Stack) -> bool:
    try:
        return httpx.get(f"{stack.url}/healthz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def wait_process(stack: Stack, program: str, other_than: int = 0) -> psutil.Process:
    def runs() -> psutil.Process | None:
        found = stack.process_of(program)
        return found if found is not None and found.pid != other_than else None

    return wait_until(runs, 40, f"{program} to run")


@pytest.mark.parametrize("program", ["web", "ingest", "worker", "beat", "node-1", "valkey"])
def test_a_killed_program_is_started_again_within_five_seconds(own: Stack, program: str) -> None:
    victim = wait_process(own, program)
    killed_at = time.time()
    victim.kill()
    successor = wait_process(own, program, other_than=victim.pid)
    # By the kernel's own note of the start, which does not depend on how soon this test looked.
    assert successor.create_time() - killed_at < 5
    wait_until(lambda: answers(own), 20, "the page to answer again")


def test_a_killed_supervisor_comes_back_with_all_its_programs(own: Stack) -> None:
    victim = wait_process(own, "supervisor")
    before = wait_process(own, "web")
    victim.kill()
    wait_process(own, "supervisor", other_than=victim.pid)
    wait_process(own, "web", other_than=before.pid)
    wait_until(lambda: answers(own), 30, "the page to answer again")


def test_ending_it_stops_a_running_job_and_leaves_no_process(own: Stack, tmp_path: Path) -> None:
    with own.client("olga", "operator") as api:
        wait_until(lambda: answers(own), 30, "the page to answer")
        job_id = launch_char_lm(api, tmp_path)
        wait_job(api, job_id, "the job to train", state="training", world_size=2)
        assert own.process is not None
        assert own.end() == 0
        assert own.processes() == []
        assert "no process is left" in own.output
        assert "Had to kill" not in own.output

        own.start()
        stopped = job(api, job_id)
    assert stopped["state"] == "stopped"
    assert "make run was ended" in stopped["state_reason"]


def test_a_killed_make_run_is_cleared_away_and_the_job_goes_on(own: Stack, tmp_path: Path) -> None:
    with own.client("olga", "operator") as api:
        wait_until(lambda: answers(own), 30, "the page to answer")
        job_id = launch_char_lm(api, tmp_path)
        seen = wait_job(api, job_id, "the job to train", state="training", world_size=2)
        assert own.process is not None
        own.process.send_signal(signal.SIGKILL)
        own.process.wait()

        own.start()
        again = wait_job(api, job_id, "the job to train still", state="training", world_size=2)
    assert "processes that an earlier run on this data folder had left behind" in own.output
    assert "Training goes on in 2 runners of an earlier run" in own.output
    assert [w["pid"] for w in again["workers"]] == [w["pid"] for w in seen["workers"]]
    assert again["restarts"]["failure"] == 0
