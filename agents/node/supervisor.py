"""The runners and store keepers on this node: started, adopted from an earlier daemon, and settled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ..bundle import Bundle, bundle_of, find_bundle, list_bundles
from ..wire.events import RunnerAdopted
from ..wire.spec import StartMessage, workers_on
from ..wire.store import keeps_store
from .config import Config
from .devices import Devices, NodeGpus, devices_of
from .evidence import link_py_spy
from .journal import NodeJournal
from .keepers import Keepers
from .kin import find_kin
from .outcome import Failed, Refused
from .runs import KILLED_S, Run, Runs
from .settle import has_ended_for_good, last_words
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
        self._gpus = NodeGpus(config.name, slots)
        self.keepers = Keepers(config, self._runs, warm)
        self._lock = threading.RLock()

    def load(self) -> tuple[int, list[str]]:
        """Free slots, and the attempts that occupy the others."""
        runners = self._runs.runners()
        free = self._slots - sum(run.slots for run in runners)
        return free, sorted({run.bundle.attempt for run in runners})

    def bundles(self) -> list[Bundle]:
        """Those of runners of which something may be left."""
        return [run.bundle for run in self._runs.runners()]

    def run_of(self, attempt: str) -> Run | None:
        """The newest unsettled runner of that attempt."""
        return next(iter(self._runs.runners(attempt)), None)

    def run_for(self, message: StartMessage) -> Run | None:
        """The unsettled runner that was started with that message."""
        return self._runs.of(self._bundle(message))

    def _bundle(self, message: StartMessage) -> Bundle:
        return bundle_of(Bundle, self._config.data, message.attempt, message.incarnation)

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
        slots = workers_on(message) if message and is_runner else 0
        run = self._runs.watch(Run(bundle, slots, devices_of(bundle).gpus, ref))
        if is_runner and run.is_running():
            self._journal.record(
                RunnerAdopted, attempt=bundle.attempt, incarnation=bundle.incarnation, pid=ref.pid
            )

    def settle_unstarted(self) -> None:
        """For bundles whose daemon was killed before it started a process, and whose command is closed."""
        for bundle in list_bundles(self._config.data):
            if not bundle.is_settled() and self._runs.of(bundle) is None:
                self._runs.watch(Run(bundle))
        self.keepers.end_needless()

    # -- starting --

    def start(self, message: StartMessage, python: str) -> Run:
        """Start the runner of an attempt, or give the one that is there already.

        What is left of an earlier runner of the attempt is ended first. Where this node keeps the attempt's
        store, its keeper is started before the runner.

        Raises:
            Refused: it has ended before, or there is no room, or no such address.
            Failed: a process could not be started; the attempt is settled.
        """
        with self._lock:
            run = self.run_for(message)
            if run is not None:
                return run
            self._require_newest(message)
            devices = self._require_room(message)
            self._end_earlier(message)
            if keeps_store(message):
                message = self.keepers.open(message, python)
            try:
                run = self._spawn(message, python, devices)
            finally:
                self.keepers.end_needless()
        if run.ref is None:
            why = last_words(run.bundle.own_log)
            raise Failed(f"The runner could not be started on {self._config.name}. {why}")
        return run

    def _require_newest(self, message: StartMessage) -> None:
        node, newest = self._config.name, find_bundle(self._config.data, message.attempt)
        if newest is None or newest.incarnation < message.incarnation:
            return
        if newest.incarnation > message.incarnation:
            raise Refused(
                f"{node} has been given a later runner of attempt {message.attempt}; this one is not started."
            )
        if newest.is_settled():
            which = "Attempt" if newest.incarnation == 1 else f"Runner {newest.incarnation} of attempt"
            raise Refused(f"{which} {message.attempt} has already ended on {node}.")

    def _require_room(self, message: StartMessage) -> Devices:
        """The devices that it is to have. What an earlier runner of the attempt occupies is free by then."""
        others = [run for run in self._runs.runners() if run.bundle.attempt != message.attempt]
        free, wanted = self._slots - sum(run.slots for run in others), workers_on(message)
        if wanted > free:
            raise Refused(
                f"{self._config.name} has {free} of {self._slots} slots free, and the job needs {wanted} "
                "on each node."
            )
        return self._gpus.choose(message, {gpu for run in others for gpu in run.gpus})

    def _end_earlier(self, message: StartMessage) -> None:
        """A node has one place in an attempt, so nothing may be left of who had it before."""
        earlier, deadline = self._runs.runners(message.attempt), time.monotonic() + KILLED_S
        for run in earlier:
            run.kill()
        for run in earlier:
            if not run.over.wait(deadline - time.monotonic()):
                pids = ", ".join(str(ref.pid) for ref in find_kin(run.bundle))
                raise Refused(
                    f"An earlier runner of attempt {message.attempt} is still there on {self._config.name}: "
                    f"SIGKILL does not end {pids or 'it, as its end cannot be noted'}."
                )

    def _spawn(self, message: StartMessage, python: str, devices: Devices) -> Run:
        bundle = self._bundle(message)
        bundle.create(message)
        link_py_spy(bundle, message)
        devices.note(bundle)
        run = Run(bundle, workers_on(message), devices.gpus)
        run.take(start(bundle, message, python, self._config.runner_boot, self._warm))
        return self._runs.watch(run)

    # -- watching --

    def _note_settled(self, bundle: Bundle) -> None:
        """A keeper that waits for runners to come back need not, where its only one never will."""
        message = bundle.message()
        if type(bundle) is not Bundle or message is None or message.nodes != (message.node,):
            return
        if has_ended_for_good(bundle):
            self.keepers.note_stop(bundle.attempt, by="regroup", why="its only runner has ended")

    def step(self) -> None:
        self._runs.step()
