"""Stacks by py-spy, of all workers of a node at once: also of those that stand still, or listen to nothing.

py-spy is the node agent's; the bundle has a link to it. Standard library only.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import IO, Any

LIMIT_S = 1.5
"""What all of them together may take."""


def dump_all(program: Path, pids: dict[int, int], folder: Path) -> dict[int, dict[str, Any]]:
    """By rank, what came of it. Only those that py-spy could read: whatever else is known of a rank stays."""
    if not program.exists():
        return {}
    deadline = time.monotonic() + LIMIT_S
    started = {rank: _start(program, pid, folder / f"py-spy-{rank}.txt") for rank, pid in pids.items()}
    ended = {rank: _is_done(process, deadline) for rank, process in started.items()}
    return {
        rank: {"how": "py-spy", "file": f"py-spy-{rank}.txt"} for rank, is_done in ended.items() if is_done
    }


def _start(program: Path, pid: int, path: Path) -> subprocess.Popen[bytes] | None:
    try:
        with path.open("wb") as output:
            return _popen([str(program), "dump", "--nonblocking", "--pid", str(pid)], output)
    except OSError:
        return None


def _popen(command: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)


def _is_done(process: subprocess.Popen[bytes] | None, deadline: float) -> bool:
    """Whether it has read the stacks. One that takes too long is killed, and so is nobody else's worker."""
    if process is None:
        return False
    try:
        return process.wait(max(0.0, deadline - time.monotonic())) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        return False
