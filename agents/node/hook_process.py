"""One command of a job's own, from its start to the end of all that it has started, within its time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from .. import procs
from .hook_notes import Result

HEAD_BYTES = TAIL_BYTES = 32 << 10
"""What is kept of the beginning and of the end of its output."""
GRACE_S = 3.0
"""What it has between SIGTERM and SIGKILL once its time is up."""
DRAIN_S = 1.0


class Output:
    """The beginning and the end of what was written; what lies between is counted."""

    def __init__(self) -> None:
        self._head, self._tail, self.size = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[max(0, room) :])[-TAIL_BYTES:]

    def text(self) -> str:
        left_out = self.size - len(self._head) - len(self._tail)
        gap = f"\n--- {left_out} bytes are left out ---\n".encode() if left_out else b""
        return bytes(self._head + gap + self._tail).decode("utf-8", "replace")


def run(command: str, environment: Mapping[str, str], folder: Path, timeout_s: float) -> Result:
    """``environment`` holds a mark of its own, by which whatever it starts is found and ended with it."""
    began, output = time.monotonic(), Output()
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        return Result("not_started", f"could not be started: {error.strerror} ({error.filename})")
    reader = threading.Thread(target=_read, args=(process, output), name="hook output", daemon=True)
    reader.start()
    is_over = _wait(process, timeout_s)
    if not is_over:
        _ask_to_end(process, environment[procs.MARK])
    procs.end_marked(environment[procs.MARK])
    code = process.wait()
    reader.join(DRAIN_S)
    took_s = round(time.monotonic() - began, 3)
    if is_over:
        return Result("ended", _say(code), code, took_s, output.text(), output.size)
    said = f"was ended after its {timeout_s:g} s (hook_timeout_s)"
    return Result("timed_out", said, None, took_s, output.text(), output.size)


def _read(process: subprocess.Popen[bytes], output: Output) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        while data := os.read(process.stdout.fileno(), 1 << 16):
            output.add(data)


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _ask_to_end(process: subprocess.Popen[bytes], mark: str) -> None:
    """SIGTERM to all of it, and a little time to take notice."""
    for ref in procs.find_marked(mark):
        procs.ask_to_end(ref)
    _wait(process, GRACE_S)


def _say(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"
