"""The runners on this node: started, adopted from an earlier daemon, and settled once they have gone."""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from .. import procs
from ..bundle import Bundle, find_bundle, list_bundles
from ..procs import ProcessRef
from ..wire.events import RunnerAdopted
from ..wire.spec import StartMessage, slots_needed
from .config import Config
from .journal import NodeJournal
from .outcome import Failed, Refused
from .settle import Ending, last_words, settle
from .spawn import find_unrecorded_runner, open_store, spawn_runner

log = logging.getLogger("regroup.agent")

POLL_S, IDLE_S, RETRY_S = 0.1, 2.0, 1.0


@dataclass
class Run:
    """One runner that is not settled yet."""

    bundle: Bundle
    slots: int
    ref: ProcessRef | None = None
    process: subprocess.Popen[bytes] | None = None
    """Only of a runner that this very daemon started: the kernel tells its exit status to nobody else."""
    is_settling: bool = False
    problem: str = ""
    """Why settling it has failed last."""
    ended_pids: list[int] = field(default_factory=list)
    """Processes that had to be ended after the runner had gone."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when nothing of it is left."""

    def is_running(self) -> bool:
        if self.process is not None:
            return self.process.poll() is None
        return self.ref is not None and procs.is_alive(self.ref)


class Supervisor:
    def __init__(
        self, config: Config, slots: int, journal: NodeJournal, on_bundle: Callable[[Bundle], None]
    ) -> None:
        self._config = config
        self._slots = slots
        self._journal = journal
        self._on_bundle = on_bundle
        self._runs: dict[str, Run] = {}
        self._lock = threading.RLock()
        self._wake = threading.Event()

    def load(self) -> tuple[int, list[str]]:
        """Free slots, and the attempts that occupy the others."""
        with self._lock:
            return self._slots - sum(run.slots for run in self._runs.values()), sorted(self._runs)

    def run_of(self, attempt: str) -> Run | None:
        """The unsettled run of that attempt."""
        with self._lock:
            return self._runs.get(attempt)

    # -- after a restart of the daemon --

    def adopt_all(self) -> None:
        """Take over what an earlier daemon left: running, or gone and to be settled.

        A bundle for which nothing was started is left for ``settle_unstarted``.
        """
        for bundle in list_bundles(self._config.data):
            if not bundle.is_settled():
                self._adopt(bundle)

    def _adopt(self, bundle: Bundle) -> None:
        ref = bundle.runner()
        if ref is None:
            ref = find_unrecorded_runner(bundle)
            if ref is None:
                return
            bundle.write_runner(ref)
        message = bundle.message()
        run = Run(bundle, slots_needed(message.spec) if message else 0, ref)
        self._watch(run)
        if run.is_running():
            self._journal.record(RunnerAdopted, attempt=bundle.attempt, pid=ref.pid)

    def settle_unstarted(self) -> None:
        """For bundles whose daemon was killed before it started a runner, and whose command is closed."""
        for bundle in list_bundles(self._config.data):
            if not bundle.is_settled() and self.run_of(bundle.attempt) is None:
                self._watch(Run(bundle, 0))

    def _watch(self, run: Run) -> None:
        with self._lock:
            self._runs[run.bundle.attempt] = run
        self._on_bundle(run.bundle)
        self._wake.set()

    # -- starting --

    def start(self, message: StartMessage, python: str) -> Run:
        """Start the runner of an attempt, or give the one that is there already.

        Raises:
            Refused: it has ended before, or there is no room, or no such address.
            Failed: the process could not be started; the attempt is settled.
        """
        with self._lock:
            run = self._runs.get(message.attempt)
            if run is not None:
                return run
            self._require_room(message)
            run = self._spawn(message, python)
        if run.ref is None:
            why = last_words(run.bundle.runner_log)
            raise Failed(f"The runner could not be started on {self._config.name}. {why}")
        return run

    def _require_room(self, message: StartMessage) -> None:
        node, bundle = self._config.name, find_bundle(self._config.data, message.attempt)
        if bundle is not None and bundle.is_settled():
            raise Refused(f"Attempt {message.attempt} has already ended on {node}.")
        free, wanted = self.load()[0], slots_needed(message.spec)
        if wanted > free:
            raise Refused(
                f"{node} has {free} of {self._slots} slots free, and the job needs {wanted} on each node."
            )

    def _spawn(self, message: StartMessage, python: str) -> Run:
        bundle = Bundle(self._config.data / "bundles" / message.attempt)
        message, store = open_store(message)
        bundle.create(message)
        run = Run(bundle, slots_needed(message.spec))
        try:
            run.process = spawn_runner(bundle, message, python, self._config.runner_boot, store)
            run.ref = bundle.runner()
        except OSError as error:
            # Without a runner the bundle is settled like one whose runner has gone.
            bundle.runner_log.write_text(f"{python} could not be executed: {error}\n")
        finally:
            if store is not None:
                store.close()
        self._watch(run)
        return run

    # -- watching --

    def step(self) -> None:
        self._wake.clear()
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            if not run.is_settling and not run.is_running():
                run.is_settling = True
                name = f"settle-{run.bundle.attempt}"
                threading.Thread(target=self._settle, args=(run,), name=name, daemon=True).start()
        self._wake.wait(POLL_S if runs else IDLE_S)

    def _settle(self, run: Run) -> None:
        try:
            run.ended_pids = settle(run.bundle, self._ending(run), self._journal)
        except Exception as error:
            if run.problem != repr(error):
                run.problem = repr(error)
                log.exception("settling failed, it is tried again attempt=%s", run.bundle.attempt)
            run.over.wait(RETRY_S)
            run.is_settling = False
            return
        with self._lock:
            del self._runs[run.bundle.attempt]
        run.over.set()

    def _ending(self, run: Run) -> Ending:
        return Ending(
            node=self._config.name,
            exit_code=run.process.returncode if run.process else None,
            was_started=run.ref is not None,
            stop_asked=run.bundle.stopping() is not None,
            last_words=last_words(run.bundle.runner_log),
        )
