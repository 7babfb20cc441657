"""Processes in bundles: watched, and settled once they have gone. The same for runners and store keepers."""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .. import procs
from ..bundle import Bundle
from ..procs import ProcessRef
from .journal import NodeJournal
from .settle import Ending, last_words, settle
from .spawn import Started
from .warm import Child

log = logging.getLogger("regroup.agent")

POLL_S, IDLE_S, RETRY_S = 0.1, 2.0, 1.0

KILLED_S = 15.0
"""What the kernel and settling may take after SIGKILL."""


@dataclass
class Run:
    """One process with a bundle of its own that is not settled yet."""

    bundle: Bundle
    slots: int = 0
    gpus: tuple[str, ...] = ()
    """UUIDs of those that nobody else is given meanwhile."""
    ref: ProcessRef | None = None
    process: subprocess.Popen[bytes] | Child | None = None
    """Only of one that this very daemon started: the kernel tells its exit status to nobody else."""
    is_settling: bool = False
    problem: str = ""
    """Why settling it has failed last."""
    ended_pids: list[int] = field(default_factory=list)
    """Processes that had to be ended after it had gone."""
    was_killed: bool = False
    """Whether this daemon sent it SIGKILL."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when nothing of it is left."""

    def take(self, started: Started) -> None:
        self.ref, self.process = started.ref, started.process

    def is_running(self) -> bool:
        if isinstance(self.process, subprocess.Popen):
            # Its main thread is a zombie before the others have gone, and only then is its status told.
            return self.process.poll() is None
        if self.process is not None and self.process.poll() is not None:
            return False
        return self.ref is not None and procs.is_alive(self.ref)

    def ask_to_end(self) -> None:
        if self.ref is not None:
            procs.ask_to_end(self.ref)

    def kill(self) -> None:
        if self.ref is not None and procs.send_signal(self.ref, signal.SIGKILL):
            self.was_killed = True


class Runs:
    """``on_bundle`` hears of each bundle that is watched from now on, ``on_settled`` of each that is over."""

    def __init__(
        self,
        node: str,
        journal: NodeJournal,
        on_bundle: Callable[[Bundle], None],
        on_settled: Callable[[Bundle], None],
    ) -> None:
        self._node = node
        self._journal = journal
        self._on_bundle, self._on_settled = on_bundle, on_settled
        self._runs: dict[Path, Run] = {}
        self._lock = threading.RLock()
        self._wake = threading.Event()

    def all(self) -> list[Run]:
        with self._lock:
            return list(self._runs.values())

    def of(self, bundle: Bundle) -> Run | None:
        """The unsettled run of that bundle."""
        with self._lock:
            return self._runs.get(bundle.folder)

    def runners(self, attempt: str | None = None) -> list[Run]:
        """Those of runners, the newest of an attempt first; of that attempt alone where one is named."""
        runs = [run for run in self.all() if type(run.bundle) is Bundle]
        found = [run for run in runs if attempt in (None, run.bundle.attempt)]
        return sorted(found, key=lambda run: run.bundle.incarnation, reverse=True)

    def watch(self, run: Run) -> Run:
        with self._lock:
            self._runs[run.bundle.folder] = run
        self._on_bundle(run.bundle)
        self._wake.set()
        return run

    def step(self) -> None:
        self._wake.clear()
        runs = self.all()
        for run in runs:
            if not run.is_settling and not run.is_running():
                run.is_settling = True
                name = f"settle-{run.bundle.folder.name}"
                threading.Thread(target=self._settle, args=(run,), name=name, daemon=True).start()
        self._wake.wait(POLL_S if runs else IDLE_S)

    def _settle(self, run: Run) -> None:
        try:
            run.ended_pids = settle(run.bundle, self._ending(run), self._journal)
            self._on_settled(run.bundle)
        except Exception as error:
            if run.problem != repr(error):
                run.problem = repr(error)
                log.exception("settling failed, it is tried again bundle=%s", run.bundle.folder)
            run.over.wait(RETRY_S)
            run.is_settling = False
            return
        with self._lock:
            del self._runs[run.bundle.folder]
        run.over.set()

    def _ending(self, run: Run) -> Ending:
        return Ending(
            node=self._node,
            what=run.bundle.PROCESS,
            exit_code=run.process.poll() if run.process else None,
            was_started=run.ref is not None,
            stop_asked=run.bundle.stopping() is not None,
            leave_asked=run.bundle.is_leaving(),
            last_words=last_words(run.bundle.own_log),
        )
