"""The runners and store keepers on this node: started, adopted from an earlier daemon, and settled."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..bundle import Bundle, bundle_of, find_bundle, list_bundles
from ..wire.events import RunnerAdopted
from ..wire.spec import StartMessage, slots_needed
from ..wire.store import keeps_store
from .config import Config
from .journal import NodeJournal
from .keepers import Keepers
from .outcome import Failed, Refused
from .runs import Run, Runs
from .settle import last_words
from .spawn import find_unrecorded, start
from .warm import Warm


class Supervisor:
    def __init__(
        self,
        config: Config,
        slots: int,
        journal: NodeJournal,
        on_bundle: Callable[[Bundle], None],
        warm: Warm | None = None,
    ) -> None:
        self._config = config
        self._slots = slots
        self._journal = journal
        self._runs = Runs(config.name, journal, on_bundle, self._note_settled)
        self._warm = warm
        self.keepers = Keepers(config, self._runs, warm)
        self._lock = threading.RLock()

    def load(self) -> tuple[int, list[str]]:
        """Free slots, and the attempts that occupy the others."""
        runners = [run for run in self._runs.all() if type(run.bundle) is Bundle]
        return self._slots - sum(run.slots for run in runners), sorted(run.bundle.attempt for run in runners)

    def run_of(self, attempt: str) -> Run | None:
        """The unsettled runner of that attempt."""
        return self._runs.of(bundle_of(Bundle, self._config.data, attempt))

    # -- after a restart of the daemon --

    def adopt_all(self) -> None:
        """Take over what an earlier daemon left: running, or gone and to be settled.

        A bundle for which nothing was started is left for ``settle_unstarted``.
        """
        for bundle in list_bundles(self._config.data):
            if not bundle.is_settled():
                self._adopt(bundle)

    def _adopt(self, bundle: Bundle) -> None:
        ref = bundle.process()
        if ref is None:
            ref = find_unrecorded(bundle)
            if ref is None:
                return
            bundle.write_process(ref)
        message, is_runner = bundle.message(), type(bundle) is Bundle
        run = self._runs.watch(Run(bundle, slots_needed(message.spec) if message and is_runner else 0, ref))
        if is_runner and run.is_running():
            self._journal.record(RunnerAdopted, attempt=bundle.attempt, pid=ref.pid)

    def settle_unstarted(self) -> None:
        """For bundles whose daemon was killed before it started a process, and whose command is closed."""
        for bundle in list_bundles(self._config.data):
            if not bundle.is_settled() and self._runs.of(bundle) is None:
                self._runs.watch(Run(bundle, 0))
        self.keepers.end_needless()

    # -- starting --

    def start(self, message: StartMessage, python: str) -> Run:
        """Start the runner of an attempt, or give the one that is there already.

        Where this node keeps the attempt's store, its keeper is started first.

        Raises:
            Refused: it has ended before, or there is no room, or no such address.
            Failed: a process could not be started; the attempt is settled.
        """
        with self._lock:
            run = self.run_of(message.attempt)
            if run is not None:
                return run
            self._require_room(message)
            if keeps_store(message):
                message = self.keepers.open(message, python)
            try:
                run = self._spawn(message, python)
            finally:
                self.keepers.end_needless()
        if run.ref is None:
            why = last_words(run.bundle.own_log)
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
        bundle = bundle_of(Bundle, self._config.data, message.attempt)
        bundle.create(message)
        run = Run(bundle, slots_needed(message.spec))
        run.take(start(bundle, message, python, self._config.runner_boot, self._warm))
        return self._runs.watch(run)

    # -- watching --

    def _note_settled(self, bundle: Bundle) -> None:
        """A keeper that waits for runners to come back need not, where its only one never will."""
        message = bundle.message()
        if type(bundle) is Bundle and message is not None and message.nodes == (message.node,):
            self.keepers.note_stop(bundle.attempt, by="regroup", why="its only runner has ended")

    def step(self) -> None:
        self._runs.step()
