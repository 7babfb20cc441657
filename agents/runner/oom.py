"""Whether the kernel's out-of-memory killer ended a worker: on evidence alone, never from its exit status.

Two witnesses. The kernel log names each process that was killed, and is readable for few. The counter of this
process's memory cgroup is readable for all, and names nobody. Standard library only.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

KERNEL_LOG = Path("/dev/kmsg")
RECORD_BYTES = 8192
FIRST_PIDS = 0xEFFFFFFC
"""Inode of the machine's own namespace of process ids. In any other the kernel log has other numbers."""
_KILLED = re.compile(rb"Killed process (\d+)")
CGROUPS = Path("/sys/fs/cgroup")
COUNTERS = {"": "memory.events", "memory": "memory.oom_control"}
"""The file with ``oom_kill N``, by what a line of ``/proc/self/cgroup`` says: version 2, version 1."""


class OomKiller:
    """Told by the kernel from here on: what it killed before is nobody of ours."""

    def __init__(self, log: Path = KERNEL_LOG, cgroup: str | None = None) -> None:
        """``cgroup``: what ``/proc/self/cgroup`` says, unless told otherwise."""
        self._log, self._named = _open_at_its_end(log), set[int]()
        self._counter = _find_counter(_read("/proc/self/cgroup") if cgroup is None else cgroup)
        self._counted = _count(self._counter)

    def evidence(self, pid: int) -> str:
        """That it killed this process, in words; empty without evidence. Ask once, when it has ended."""
        if self._log >= 0:
            self._named |= _read_killed(self._log)
            return "the kernel log" if pid in self._named else ""
        before, self._counted = self._counted, _count(self._counter)
        if before is None or self._counted is None or self._counted <= before:
            return ""
        return f"its memory cgroup, whose oom_kill rose from {before} to {self._counted}"


def _open_at_its_end(log: Path) -> int:
    """-1 where the log may not be read, or speaks of other process ids."""
    try:
        if Path("/proc/self/ns/pid").stat().st_ino != FIRST_PIDS:
            return -1
        opened = os.open(log, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.lseek(opened, 0, os.SEEK_END)
    except OSError:
        return -1
    return opened


def _read_killed(log: int) -> set[int]:
    """The processes that records since the last look say were killed. Each read gives one record."""
    found: set[int] = set()
    while True:
        try:
            record = os.read(log, RECORD_BYTES)
        except BrokenPipeError:  # newer records have taken the place of the next one
            continue
        except OSError:  # there is no other one yet
            return found
        if not record:
            return found
        found |= {int(pid) for pid in _KILLED.findall(record)}


def _find_counter(cgroup: str) -> Path | None:
    for line in cgroup.splitlines():
        _, controllers, path = line.split(":", 2)
        name = COUNTERS.get(controllers)
        # In a container the path may be that of the machine, while its own cgroup is what is mounted.
        for folder in (CGROUPS / controllers / path.lstrip("/"), CGROUPS / controllers) if name else ():
            if _count(folder / str(name)) is not None:
                return folder / str(name)
    return None


def _count(counter: Path | None) -> int | None:
    found = re.search(r"^oom_kill (\d+)$", _read(counter) if counter else "", flags=re.MULTILINE)
    return int(found[1]) if found else None


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
