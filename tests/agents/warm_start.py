"""Starts runners and store keepers as a node agent with a warm process does: forked, with torch imported.

Importing torch takes a core for a second or two, and hundreds of tests start several of them.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agents.bundle import Bundle
from agents.node.devices import devices_of
from agents.node.warm import MODULES, ROOM, Child, WarmProcess
from agents.procs import MARK
from tests.waiting import LENIENCE, wait_until

OF_EACH_TEST = "PYTEST_CURRENT_TEST"
COLD = "REGROUP_TEST_COLD"
"""What is not forked: ``runner``, ``keeper`` or both. Set by the fixtures ``cold`` and ``cold_runners``."""
PLAIN = {
    name: value
    for name, value in os.environ.items()
    if name != OF_EACH_TEST and not name.startswith("REGROUP_")
}
"""What the warm process is started with, before any test has changed it."""
READY_S = 90.0


class Forked:
    """With as much of the face of ``subprocess.Popen`` as tests look at."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self.pid, self.ref = child.pid, child.ref

    @property
    def returncode(self) -> int | None:
        return self._child.returncode

    def poll(self) -> int | None:
        return self._child.poll()

    def wait(self, timeout: float | None = None) -> int:
        code = wait_until(
            lambda: (self.poll(),) if self.poll() is not None else None, timeout or 60, "its end"
        )
        assert code[0] is not None
        return code[0]

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork_warm(
    bundle: Bundle, boot: Path, environment: dict[str, str], store: socket.socket | None
) -> Forked | None:
    """None where the test wants it started anew, or it would differ from that: its environment is another."""
    what = "runner" if store is None else "keeper"
    ours = (OF_EACH_TEST, COLD)
    if {name: value for name, value in environment.items() if name not in ours} != PLAIN:
        return None
    if what in environment.get(COLD, ""):
        return None
    request = {
        "module": MODULES[boot],
        "command": [sys.executable, str(boot), str(bundle.folder)],
        "folder": "/",
        "mark": bundle.mark,
        "variables": devices_of(bundle).variables,
    }
    with bundle.own_log.open("ab") as log:
        fds = [log.fileno()] if store is None else [log.fileno(), store.fileno()]
        child = _warm().fork(request, fds)
    return None if child is None else Forked(child)


@cache
def find_nest() -> str:
    """The socket of what the warm processes of node agents come from; it ends when this process does."""
    path = str(Path(tempfile.mkdtemp(prefix="nest-")) / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        command = [sys.executable, str(Path(__file__).with_name("warm_nest.py")), "--room", "_" * ROOM]
        environment = {**PLAIN, MARK: "_" * ROOM}
        with _on_one_core():
            subprocess.Popen(command, stdin=listener.fileno(), env=environment, start_new_session=True)
    return path


@cache
def _warm() -> WarmProcess:
    """One for all tests of this process; it ends when this one does."""
    with _on_one_core():
        warm = WarmProcess(sys.executable, PLAIN, Path(tempfile.mkdtemp(prefix="warm-")) / "log")
    wait_until(lambda: warm.is_ready or warm.death, READY_S * LENIENCE, "the warm process to be ready")
    return warm


@contextmanager
def _on_one_core() -> Iterator[None]:
    """What is started in here has one core: where workers outnumber the cores, the fork server imports torch
    for all of them, and otherwise each of the first ones does it once more. Test processes take turns."""
    usual = sorted(os.sched_getaffinity(0))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.sched_setaffinity(0, {usual[number % len(usual)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)
