"""The signal at which a worker writes the stacks of its threads into a file of its bundle.

A forked worker, and any that imports ``regroup_report``, listens to it through ``faulthandler``: its C code
writes even while Python is deadlocked, and system calls that it interrupts go on. The signal ends a process
that does not listen, so it is only sent to one that does. A worker that stands still answers once it goes on.
Standard library only.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

from .procs import ProcessRef, send_signal, state_of

NUMBER = signal.SIGRTMAX - 7
"""57, whichever libc. ``report.py`` and ``sitecustomize.py`` can import nothing of ours, and name it too."""
VARIABLE = "REGROUP_STACKS"
"""In a worker's environment: the file's path."""
FILE = "stacks.txt"
"""Its name, in the rank's folder. Each answer is appended."""

_LOOK_S = 0.005
_SILENT_S = 0.02
"""An answer that has not grown for so long is all of it: there is no mark at its end."""


def listens(pid: int) -> bool:
    """Whether that process has a handler for the signal."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (NUMBER - 1) & 1)


def ask(ref: ProcessRef) -> bool:
    """Have it write. False: it does not listen, or stands still, or is gone.

    Raises:
        PermissionError: it belongs to another user.
    """
    return listens(ref.pid) and state_of(ref.pid) not in (None, *"TtZX") and send_signal(ref, NUMBER)


def size_of(path: Path) -> int:
    """Bytes that are there before it is asked; the answer begins behind them."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def answer(path: Path, behind: int, timeout_s: float) -> str:
    """What has been written since ``size_of`` gave ``behind``; empty when nothing came in time."""
    deadline, seen, since = time.monotonic() + timeout_s, behind, time.monotonic()
    while time.monotonic() < deadline:
        size = size_of(path)
        if size != seen:
            seen, since = size, time.monotonic()
        elif size > behind and time.monotonic() - since >= _SILENT_S:
            break
        time.sleep(_LOOK_S)
    return _read(path, behind)


def _read(path: Path, behind: int) -> str:
    try:
        with path.open("rb") as file:
            file.seek(behind)
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
