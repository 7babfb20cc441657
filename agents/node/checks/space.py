"""Room on the disks that a job writes to, and in shared memory."""

from __future__ import annotations

import shutil
from pathlib import Path

from ...wire.checks import CheckNode, Finding, Verdict

FULL_BYTES, LOW_BYTES = 256 << 20, 2 << 30
SHM = Path("/dev/shm")
SHM_FULL_BYTES, SHM_LOW_BYTES = 32 << 20, 1 << 30
"""Loaders with several processes pass batches through it, and NCCL's ranks of one node their data."""


def check(request: CheckNode, data: Path, node: str) -> list[Finding]:
    return [_disks(request, data, node), _shm(node)]


def _disks(request: CheckNode, data: Path, node: str) -> Finding:
    folders = {"logs": data}
    if request.checkpoint_dir is not None:
        folders["checkpoints"] = Path(request.workdir or "/", request.checkpoint_dir)
    free = {what: (folder, _free(folder)) for what, folder in folders.items()}
    least = min(room for _, room in free.values())
    verdict: Verdict = "fail" if least < FULL_BYTES else "warn" if least < LOW_BYTES else "ok"
    told = ", ".join(f"{_size(room)} for {what} ({folder})" for what, (folder, room) in free.items())
    what_to_do = "" if verdict == "ok" else "Make room there, or name another folder."
    return Finding(check="disk", verdict=verdict, says=f"{node} has {told} free.", what_to_do=what_to_do)


def _free(folder: Path) -> int:
    """Of the disk it is on; of one that is not there yet, where it would be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _shm(node: str) -> Finding:
    try:
        usage = shutil.disk_usage(SHM)
    except OSError as error:
        says = f"{node} has no {SHM}: {error.strerror}."
        return Finding(check="shm", verdict="fail", says=says, what_to_do="Mount a tmpfs there.")
    is_full, is_low = usage.free < SHM_FULL_BYTES, usage.total < SHM_LOW_BYTES
    verdict: Verdict = "fail" if is_full else "warn" if is_low else "ok"
    what_to_do = {
        "fail": "Remove what fills it, or make it larger.",
        "warn": "Give the container a larger one (--shm-size, or --ipc=host): NCCL and data loaders use it.",
        "ok": "",
    }[verdict]
    says = f"{SHM} has {_size(usage.free)} of {_size(usage.total)} free."
    return Finding(check="shm", verdict=verdict, says=says, what_to_do=what_to_do)


def _size(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 30 else f"{size >> 20} MiB"
