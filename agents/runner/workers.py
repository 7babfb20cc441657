"""The worker processes of one round on this node: looking at them, ending them, and how they ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ..procs import ref_of_child, state_of
from ..wire.plain import now
from ..wire.runner_events import ExitRole, WorkerError, WorkerRef
from .exits import Ending, role_of, says_lost_peer
from .grab import Standing
from .oom import OomKiller
from .preload.forked import Forked
from .tracebacks import TAIL_BYTES, from_error_file, last_exception, last_line
from .waking import wait_readable

LOOK_S = 0.02
"""How often to look where nothing tells that a worker has ended."""
KILL_S = 10.0
"""How long SIGKILL may take before a process is called unkillable."""


class Process(Protocol):
    """What is asked of a worker's process: ``subprocess.Popen`` and ``Forked`` have it."""

    returncode: int | None

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def send_signal(self, sig: int, /) -> None: ...


@dataclass(frozen=True)
class Ended:
    """A worker that has ended. ``ending`` is None when it could not be ended at all.

    ``state``: the kernel's letter for what such a one was in then; empty when it could not be read.
    """

    worker: WorkerRef
    ending: Ending | None
    at: datetime
    state: str = ""

    @property
    def role(self) -> ExitRole:
        return role_of(self.ending) if self.ending else "unknown"

    @property
    def is_lost(self) -> bool:
        """The fork server ended and took it along."""
        return self.ending is not None and bool(self.ending.lost_with)


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


def name_processes(processes: Mapping[int, Process], ranks: dict[int, int]) -> dict[int, WorkerRef]:
    """Who they are, before anybody waits for them. Both by local rank; ``ranks`` are global."""
    return {
        local_rank: WorkerRef(
            rank=ranks[local_rank],
            local_rank=local_rank,
            pid=process.pid,
            start_time=_start_time(process),
        )
        for local_rank, process in processes.items()
    }


def _start_time(process: Process) -> int:
    # A forked worker is not this process's child: it may have ended and be gone by now.
    return process.start_time if isinstance(process, Forked) else ref_of_child(process.pid).start_time


class _Sentinel:
    """What can be read when a worker may have ended."""

    def __init__(self, process: Process) -> None:
        self._process, self._own = process, -1
        if not isinstance(process, Forked):
            # Older kernels, and Pythons built on them, have none.
            with contextlib.suppress(AttributeError, OSError):
                self._own = os.pidfd_open(process.pid)

    def fileno(self) -> int | None:
        """None when nothing tells."""
        if isinstance(self._process, Forked):
            return self._process.sentinel
        return self._own if self._own >= 0 else None

    def close(self) -> None:
        if self._own >= 0:
            os.close(self._own)


def _signal_group(pid: int, signum: signal.Signals) -> None:
    """A process that stands still keeps SIGTERM pending: only with SIGCONT behind it does it take notice.

    A frozen worker would otherwise cost every restart of its peers the whole grace.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signum)
        os.killpg(pid, signal.SIGCONT)


def _state_of_stuck(pid: int) -> str:
    """What the kernel says of it. Its first thread may be a zombie while another one cannot end."""
    try:
        states = {state_of(int(thread)) for thread in os.listdir(f"/proc/{pid}/task")}
    except OSError:
        return ""
    return "D" if "D" in states else state_of(pid) or ""


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
        processes: Mapping[int, Process],
        refs: dict[int, WorkerRef],
        folders: dict[int, Path],
        oom: OomKiller | None = None,
    ) -> None:
        self._processes, self._oom = processes, oom
        self._sentinels = {local_rank: _Sentinel(process) for local_rank, process in processes.items()}
        self.refs = refs
        self._folders = folders
        self._sent: dict[int, str] = {}
        self.ended: dict[int, Ended] = {}
        self.before_force: Callable[[], object] = lambda: None
        """Called when some run on after SIGTERM, just before SIGKILL."""

    @property
    def ranks(self) -> list[int]:
        return [ref.rank for ref in self.refs.values()]

    def is_running(self) -> bool:
        return len(self.ended) < len(self._processes)

    def has_failed(self) -> bool:
        return any(ended.role != "finished" for ended in self.ended.values())

    def have_finished(self) -> bool:
        """Whether all ended with 0."""
        return not self.is_running() and not self.has_failed()

    @property
    def unkillable(self) -> list[Ended]:
        return [ended for ended in self.ended.values() if ended.ending is None]

    def standing(self) -> list[Standing]:
        """Those that run, and where their output is."""
        running = [local_rank for local_rank in self.refs if local_rank not in self.ended]
        return [Standing(self.refs[local_rank], self._folders[local_rank]) for local_rank in running]

    def misses_peer(self) -> bool:
        """Whether one that runs has said that it lost a peer: it may take seconds to come to its end."""
        running = (folder for local, folder in self._folders.items() if local not in self.ended)
        return any(says_lost_peer(_read_tail(folder / "stderr.log")) for folder in running)

    def pass_on(self, signum: int) -> None:
        """Hand a signal to each worker that runs."""
        for process in self._processes.values():
            process.send_signal(signum)

    def look(self) -> list[Ended]:
        """Those that have ended since the last look."""
        fresh = []
        for local_rank, process in self._processes.items():
            if local_rank not in self.ended and process.poll() is not None:
                ended = Ended(self.refs[local_rank], self._ending(local_rank, process), now())
                if ended.role != "finished":
                    _sweep(process.pid)
                self.ended[local_rank] = ended
                self._sentinels.pop(local_rank).close()
                fresh.append(ended)
        return fresh

    def wait(self, timeout_s: float, *wake: int) -> None:
        """Until a worker may have ended, one of ``wake`` can be read, or the time is up."""
        fds = [sentinel.fileno() for sentinel in self._sentinels.values()]
        tells = {fd for fd in fds if fd is not None}
        wait_readable({*tells, *wake}, timeout_s if None not in fds else min(timeout_s, LOOK_S))

    def _ending(self, local_rank: int, process: Process) -> Ending:
        code = process.returncode
        assert code is not None
        if isinstance(process, Forked) and process.lost_with:
            return Ending(code=code, lost_with=process.lost_with)
        folder = self._folders[local_rank]
        stderr = _read_tail(folder / "stderr.log") if code else ""
        error = _read_error_file(folder / "error.json") if code else None
        stopped_by = self._sent.get(local_rank)
        return Ending(
            code=code,
            stopped_by=stopped_by,
            error=error or last_exception(stderr),
            last_line=last_line(stderr),
            oom=self._evidence(process) if code == -signal.SIGKILL and not stopped_by else "",
        )

    def _evidence(self, process: Process) -> str:
        return self._oom.evidence(process.pid) if self._oom else ""

    def stop(self, grace_s: float) -> list[Ended]:
        """SIGTERM and SIGCONT, ``grace_s`` later SIGKILL; gives those that ended, the unkillable included."""
        fresh = self.look()
        for signum, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_S)):
            if signum is signal.SIGKILL and self.is_running():
                self.before_force()
            self._send(signum)
            deadline = time.monotonic() + wait_s
            while self.is_running() and time.monotonic() < deadline:
                self.wait(deadline - time.monotonic())
                fresh += self.look()
        return fresh + self._give_up_on_the_rest()

    def _send(self, signum: signal.Signals) -> None:
        for local_rank, process in self._processes.items():
            if local_rank not in self.ended and process.poll() is None:
                self._sent[local_rank] = signum.name
                _signal_group(process.pid, signum)

    def _give_up_on_the_rest(self) -> list[Ended]:
        left = [local_rank for local_rank in self.refs if local_rank not in self.ended]
        return [self._give_up_on(local_rank) for local_rank in left]

    def _give_up_on(self, local_rank: int) -> Ended:
        ref = self.refs[local_rank]
        ended = Ended(ref, None, now(), _state_of_stuck(ref.pid))
        self.ended[local_rank] = ended
        # torch would wait for it for minutes more.
        self._processes[local_rank].returncode = -signal.SIGKILL
        print(f"worker pid={ref.pid} state={ended.state} does not end after SIGKILL", file=sys.stderr)
        return ended
