"""What is killed comes back; what is ended leaves nothing behind; what is started again goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import psutil
import pytest

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


@pytest.mark.parametrize("program", ["web", "ingest", "worker", "node-1", "valkey"])
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
