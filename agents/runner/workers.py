"""The worker processes of one round on this node: looking at them, ending them, and how they ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..procs import ref_of_child
from ..wire.events import ExitRole, WorkerError, WorkerRef
from ..wire.plain import now
from .exits import Ending, role_of
from .tracebacks import TAIL_BYTES, from_error_file, last_exception, last_line

LOOK_S = 0.02
KILL_S = 10.0
"""How long SIGKILL may take before a process is called unkillable."""


@dataclass(frozen=True)
class Ended:
    """A worker that has ended. ``ending`` is None when it could not be ended at all."""

    worker: WorkerRef
    ending: Ending | None
    at: datetime

    @property
    def role(self) -> ExitRole:
        return role_of(self.ending) if self.ending else "unknown"


def _read_tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _read_error_file(path: Path) -> WorkerError | None:
    """What ``@record`` wrote. A torn file is set aside, since torch's agent would fall over it."""
    try:
        error = from_error_file(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        error = None
    if error is None:
        with contextlib.suppress(OSError):
            path.rename(path.with_name("error.unreadable"))
    return error


def name_processes(
    processes: dict[int, subprocess.Popen[bytes]], ranks: dict[int, int]
) -> dict[int, WorkerRef]:
    """Who they are, before anybody waits for them. Both by local rank; ``ranks`` are global."""
    return {
        local_rank: WorkerRef(
            rank=ranks[local_rank],
            local_rank=local_rank,
            pid=process.pid,
            start_time=ref_of_child(process.pid).start_time,
        )
        for local_rank, process in processes.items()
    }


def _sweep(pid: int) -> None:
    """End what a worker left in its process group, such as loaders of data.

    Only right after it was waited for: later its pid may be somebody else's.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class Workers:
    """The processes torch has started for a round, with their names and their folders."""

    def __init__(
        self,
        processes: dict[int, subprocess.Popen[bytes]],
        refs: dict[int, WorkerRef],
        folders: dict[int, Path],
    ) -> None:
        self._processes = processes
        self.refs = refs
        self._folders = folders
        self._sent: dict[int, str] = {}
        self.ended: dict[int, Ended] = {}

    @property
    def ranks(self) -> list[int]:
        return [ref.rank for ref in self.refs.values()]

    def is_running(self) -> bool:
        return len(self.ended) < len(self._processes)

    def has_failed(self) -> bool:
        return any(ended.role != "finished" for ended in self.ended.values())

    def pass_on(self, signum: int) -> None:
        """Hand a signal to each worker that runs."""
        for process in self._processes.values():
            process.send_signal(signum)

    def look(self) -> list[Ended]:
        """Those that have ended since the last look."""
        fresh = []
        for local_rank, process in self._processes.items():
            if local_rank not in self.ended and process.poll() is not None:
                ended = Ended(self.refs[local_rank], self._ending(local_rank, process.returncode), now())
                if ended.role != "finished":
                    _sweep(process.pid)
                self.ended[local_rank] = ended
                fresh.append(ended)
        return fresh

    def _ending(self, local_rank: int, code: int) -> Ending:
        folder = self._folders[local_rank]
        stderr = _read_tail(folder / "stderr.log") if code else ""
        error = _read_error_file(folder / "error.json") if code else None
        return Ending(
            code=code,
            stopped_by=self._sent.get(local_rank),
            error=error or last_exception(stderr),
            last_line=last_line(stderr),
        )

    def stop(self, grace_s: float) -> list[Ended]:
        """SIGTERM, ``grace_s`` later SIGKILL; gives those that ended, the unkillable included."""
        fresh = self.look()
        for signum, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_S)):
            self._send(signum)
            deadline = time.monotonic() + wait_s
            while self.is_running() and time.monotonic() < deadline:
                time.sleep(LOOK_S)
                fresh += self.look()
        return fresh + self._give_up_on_the_rest()

    def _send(self, signum: signal.Signals) -> None:
        for local_rank, process in self._processes.items():
            if local_rank not in self.ended and process.poll() is None:
                self._sent[local_rank] = signum.name
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signum)

    def _give_up_on_the_rest(self) -> list[Ended]:
        left = [Ended(ref, None, now()) for local, ref in self.refs.items() if local not in self.ended]
        for ended in left:
            self.ended[ended.worker.local_rank] = ended
            print(f"worker pid={ended.worker.pid} did not end after SIGKILL", file=sys.stderr, flush=True)
        return left
