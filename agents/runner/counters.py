"""What the machine and its kernel count, as far as a few short files of the kernel tell it.

Each of them is answered by the kernel at once, whatever the workers do. What cannot be read is left out.
Standard library only.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from ..procs import state_of
from .oom import CGROUPS

_MEMORY = ("MemTotal", "MemAvailable", "SwapTotal", "SwapFree", "Shmem")
_OF_PROCESS = ("State", "Threads", "VmRSS", "VmSwap", "RssShmem", "voluntary_ctxt_switches")
_CGROUP = ("memory.current", "memory.max", "memory.events", "memory.swap.current", "pids.current", "pids.max")


def of_machine(folder: Path) -> dict[str, Any]:
    """Load, memory, the control group, shared memory, and the disk that ``folder`` is on."""
    return {
        "load": _read("/proc/loadavg").split()[:3],
        "cpus": len(os.sched_getaffinity(0)),
        "memory": {name: value for name, value in _fields("/proc/meminfo").items() if name in _MEMORY},
        "cgroup": _of_cgroup(),
        "shared memory": _room("/dev/shm"),
        "disk": _room(folder),
    }


def of_process(pid: int) -> dict[str, Any]:
    """Its state, where in the kernel it waits, and what it holds; nothing that takes its memory's lock."""
    fields = _fields(f"/proc/{pid}/status")
    told: dict[str, Any] = {name: fields[name] for name in _OF_PROCESS if name in fields}
    told["wchan"] = _read(f"/proc/{pid}/wchan").strip("0 \n")
    with contextlib.suppress(OSError):
        told["open files"] = len(os.listdir(f"/proc/{pid}/fd"))
    return told


def count_stuck(pid: int) -> int:
    """Threads in uninterruptible sleep. A look at hundreds of them takes a while: not for each worker."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0
    return sum(state_of(int(thread)) == "D" for thread in threads)


def _of_cgroup() -> dict[str, str]:
    """Of version 2 alone. In a container its own group may be mounted where the machine's root would be."""
    path = _read("/proc/self/cgroup").rpartition("::")[2].strip().lstrip("/")
    folder = next((each for each in (CGROUPS / path, CGROUPS) if (each / "memory.events").exists()), None)
    if folder is None:
        return {}
    return {name: text.strip() for name in _CGROUP if (text := _read(folder / name))}


def _room(folder: str | Path) -> dict[str, int]:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return {}
    return {"free_bytes": disk.f_bavail * disk.f_frsize, "size_bytes": disk.f_blocks * disk.f_frsize}


def _fields(path: str) -> dict[str, str]:
    """A file of ``Name: value`` lines."""
    pairs = (line.partition(":") for line in _read(path).splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
