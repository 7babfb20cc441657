"""What is ended leaves nothing behind, and what is started again goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.jobs import job, launch_counting, wait_job
from tests.system.stack import Stack, run_stack
from tests.system.test_stack_life import answers
from tests.waiting import wait_until

# The stack gives itself 15 s for its end, and kills what a busy machine has not ended by then.
pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that these tests may ruin. Its path is an odd one."""
    with run_stack(tmp_path_factory.mktemp("a stack %x")) as running:
        yield running


def test_ending_it_stops_a_running_job_and_leaves_no_process(own: Stack, tmp_path: Path) -> None:
    with own.client("olga", "operator") as api:
        wait_until(lambda: answers(own), 30, "the page to answer")
        job_id = launch_counting(api, tmp_path)
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
        job_id = launch_counting(api, tmp_path)
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
