"""A worker that is made to stand still, and that goes on whatever becomes of the node agent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import procs
from ..procs import ProcessRef
from .outcome import Failed

RELEASE = Path(__file__).with_name("release.py")
LATE_S = 5.0
"""So much later than the node agent should have, the guard lets the worker go on."""
SEEN_S = 10.0
"""How long the kernel may take to stop a process, or to let it go on: one that waits for a disk is slow."""
POLL_S = 0.005


@contextmanager
def guarded(worker: ProcessRef, seconds: float, who: str) -> Iterator[None]:
    """Within, the worker may be stopped; afterwards it goes on, also when this process is killed.

    Raises:
        Failed: there can be no guard, so that nothing may be stopped; or the worker does not go on.
    """
    command = [sys.executable, "-I", "-S", str(RELEASE)]
    command += [str(worker.pid), str(worker.start_time), str(seconds + LATE_S)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    ) as guard:
        assert guard.stdin is not None
        assert guard.stdout is not None
        try:
            if not guard.stdout.read(1):
                raise Failed(f"{who} was not stopped: nobody could be set to watch that it goes on again.")
            yield
        finally:
            release(worker)
            guard.stdin.close()
    if not wait_running(worker):
        raise Failed(f"{who} was sent SIGCONT and still stands still {SEEN_S:.0f} s later.")


def stop(worker: ProcessRef) -> bool:
    """Whether it is seen to stand still; not while it cannot be, or is gone."""
    if not procs.send_signal(worker, signal.SIGSTOP):
        return False
    deadline = time.monotonic() + SEEN_S
    while time.monotonic() < deadline and procs.is_alive(worker):
        if procs.state_of(worker.pid) == "T":
            return True
        time.sleep(POLL_S)
    return False


def release(worker: ProcessRef) -> bool:
    """Whether it was still there to be told."""
    return procs.send_signal(worker, signal.SIGCONT)


def wait_running(worker: ProcessRef) -> bool:
    """Whether it is seen not to stand still any more, or is gone."""
    deadline = time.monotonic() + SEEN_S
    while procs.is_alive(worker) and procs.state_of(worker.pid) == "T":
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True
