"""A node of the local stack is lost, or stands still, with everything that runs on it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import psutil

from tests.system.stack import Stack
from tests.waiting import wait_until
from webapp.stack.leftovers import bundle_in


def of_node(stack: Stack, node: str) -> list[psutil.Process]:
    """The agent first, which would end and start others; then its children, and all that belongs to jobs."""
    kept: list[psutil.Process] = []
    agent = stack.process_of(f"--name {node} ")
    if agent is not None:
        with suppress(psutil.NoSuchProcess):
            kept = [agent, *agent.children(recursive=True)]
    return [*kept, *(p for p in stack.processes() if p not in kept and _is_of_job_on(p, node))]


def _is_of_job_on(process: psutil.Process, node: str) -> bool:
    with suppress(psutil.Error):
        return bundle_in(process.environ()).split("/")[1:2] == [node]
    return False


def kill_all_of(stack: Stack, node: str) -> float:
    """SIGKILL to all of it at once, and again to what was on its way. Gives when, by the monotonic clock."""
    found = of_node(stack, node)
    killed_at = time.monotonic()
    _kill(found)

    def is_gone() -> bool:
        left = of_node(stack, node)
        _kill(left)
        return not left

    wait_until(is_gone, 30, f"nothing of {node} to be left")
    return killed_at


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@contextmanager
def hold(processes: Sequence[psutil.Process]) -> Iterator[None]:
    """They stand still meanwhile (SIGSTOP) and go on afterwards."""
    try:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


@contextmanager
def without_supervisor(stack: Stack) -> Iterator[None]:
    """Nothing that dies meanwhile is started again."""
    supervisor = stack.process_of("supervisor")
    assert supervisor is not None
    with hold([supervisor]):
        yield


@contextmanager
def lost(stack: Stack, node: str) -> Iterator[None]:
    """The node is gone with all its processes; afterwards its agent is started again, as after a reboot."""
    with without_supervisor(stack):
        kill_all_of(stack, node)
        yield
