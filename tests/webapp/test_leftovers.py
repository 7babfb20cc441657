"""What an earlier stack left behind is found by its mark; what belongs to a training job is left to it."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator

import pytest

from tests.waiting import wait_until
from webapp.stack.leftovers import BUNDLE_MARK, MARK, ROOM, find_marked

STACK = uuid.uuid4().hex


@pytest.fixture
def started() -> Iterator[dict[str, int]]:
    """Pids of three processes of one stack."""
    marks = {"service": {}, "warm": {BUNDLE_MARK: ROOM * 300}, "worker": {BUNDLE_MARK: "j1-a1-00/node-1"}}
    processes = {
        name: subprocess.Popen(["/bin/sleep", "60"], env={MARK: STACK, **mark})
        for name, mark in marks.items()
    }
    yield {name: process.pid for name, process in processes.items()}
    for process in processes.values():
        process.kill()
        process.wait()


def test_a_warm_process_is_ended_with_the_services_and_a_worker_is_not(started: dict[str, int]) -> None:
    wait_until(lambda: len(find_marked(STACK)) == 3, what="the three to be found")
    assert {process.pid for process in find_marked(STACK, with_jobs=False)} == {
        started["service"],
        started["warm"],
    }
