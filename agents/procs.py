"""Processes by identity: pid + start time + boot id. Linux, read from /proc, standard library only."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MARK = "REGROUP_BUNDLE"
"""Environment variable that every process of a bundle is started with: the bundle's name and the node's."""


_TICKS_A_SECOND, _PAGE_BYTES = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class ProcessRef:
    pid: int
    start_time: int
    boot_id: str


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text[text.rindex(")") + 2 :].split()


def start_time(pid: int) -> int | None:
    """Clock ticks since boot at which the process started. None: no such process, or a zombie."""
    fields = _stat(pid)
    if fields is None or fields[0] in "ZX":
        return None
    return int(fields[19])


def ref_of(pid: int) -> ProcessRef | None:
    """Who has that pid now. None: nobody, or a zombie."""
    started = start_time(pid)
    return None if started is None else ProcessRef(pid, started, boot_id())


def ref_of_child(pid: int) -> ProcessRef:
    """Who a child is that its caller has not waited for yet, even if it has ended already."""
    fields = _stat(pid)
    if fields is None:
        raise ProcessLookupError(f"there is no process {pid}")
    return ProcessRef(pid, int(fields[19]), boot_id())


def is_alive(ref: ProcessRef) -> bool:
    """Whether that very process runs. A zombie counts as gone."""
    return start_time(ref.pid) == ref.start_time and boot_id() == ref.boot_id


def state_of(pid: int) -> str | None:
    """The kernel's state letter (R, S, D, T, Z …), or None when there is no such process."""
    fields = _stat(pid)
    return fields[0] if fields else None


@dataclass(frozen=True)
class Figures:
    """Of one process now. ``cpu_s`` is what all its threads have used since it began."""

    state: str
    cpu_s: float
    rss_bytes: int
    start_time: int


def figures_of(pid: int) -> Figures | None:
    """None: no such process."""
    fields = _stat(pid)
    if fields is None:
        return None
    cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND
    return Figures(fields[0], cpu_s, int(fields[21]) * _PAGE_BYTES, int(fields[19]))


def children_of(pid: int) -> list[int]:
    """Those that its main thread has started, as loaders of data are; none where the kernel does not tell."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def send_signal(ref: ProcessRef, signum: int) -> bool:
    """Signal that very process, never a successor with the same pid. False: it was already gone."""
    try:
        handle = os.pidfd_open(ref.pid)
    except ProcessLookupError:
        return False
    except OSError as error:
        if error.errno == errno.EINVAL:  # the number is now a thread's, so the process is gone
            return False
        raise
    try:
        if not is_alive(ref):
            return False
        signal.pidfd_send_signal(handle, signum)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)


def ask_to_end(ref: ProcessRef, signum: int = signal.SIGTERM) -> bool:
    """The same for a signal that ends it, also when it stands still: only SIGCONT lets it take notice."""
    is_sent = send_signal(ref, signum)
    send_signal(ref, signal.SIGCONT)
    return is_sent


def carries_mark(pid: int, mark: str) -> bool:
    """Whether that process was started with that mark. A zombie carries none.

    A process that writes its title over its environment hides the mark.

    Raises:
        OSError: it cannot be found out, as with too many open files.
    """
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return f"{MARK}={mark}".encode() in environ.split(b"\0")


def session_of(pid: int) -> int | None:
    """The pid of the session's leader, alive or not. None: no such process, or a zombie."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else int(fields[3])


def all_pids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def find_marked(mark: str) -> list[ProcessRef]:
    """All live processes started with that mark, children in other sessions included."""
    refs = [ref_of(pid) for pid in all_pids() if carries_mark(pid, mark)]
    return [ref for ref in refs if ref is not None]


def end_marked(mark: str, timeout_s: float = 10.0) -> tuple[list[int], list[int]]:
    """SIGKILL every process with that mark, as ``end_found`` does."""
    return end_found(lambda: find_marked(mark), timeout_s)


def end_found(find: Callable[[], list[ProcessRef]], timeout_s: float = 10.0) -> tuple[list[int], list[int]]:
    """SIGKILL whatever is found until nothing is; safe to repeat.

    Returns the pids that were signalled, and those that still run when the time is up.
    It looks again after each pass, because a process may fork while it is being ended.
    """
    deadline = time.monotonic() + timeout_s
    ended: dict[int, None] = {}
    while left := find():
        for ref in left:
            if send_signal(ref, signal.SIGKILL):
                ended[ref.pid] = None
        still = wait_gone(left, min(0.5, deadline - time.monotonic()))
        if still and time.monotonic() >= deadline:
            return list(ended), [ref.pid for ref in still]
    return list(ended), []


def wait_gone(refs: list[ProcessRef], timeout_s: float, poll_s: float = 0.02) -> list[ProcessRef]:
    """Wait until none of them runs; gives those that still do when the time is up."""
    deadline = time.monotonic() + timeout_s
    left = [ref for ref in refs if is_alive(ref)]
    while left and time.monotonic() < deadline:
        time.sleep(poll_s)
        left = [ref for ref in left if is_alive(ref)]
    return left
