"""The store keepers on this node: one for each attempt whose store is kept here, never two."""

from __future__ import annotations

import contextlib
import signal
from dataclasses import replace
from typing import Any

from ..bundle import KeeperBundle, bundle_of, find_bundle, find_keeper
from ..wire.spec import StartMessage
from .config import Config
from .outcome import Failed, Refused
from .runs import Run, Runs
from .settle import last_words
from .spawn import start
from .store_socket import bind_store
from .warm import Warm


class Keepers:
    """Called by the supervisor, one start at a time."""

    def __init__(self, config: Config, runs: Runs, warm: Warm | None = None) -> None:
        self._config = config
        self._runs = runs
        self._warm = warm

    def open(self, message: StartMessage, python: str) -> StartMessage:
        """Start the attempt's keeper unless it runs already; the message with the store's real endpoint.

        Raises:
            Refused: it has gone before, or this node has no such address, or the port is taken.
            Failed: the process could not be started.
        """
        bundle = bundle_of(KeeperBundle, self._config.data, message.attempt)
        run = self._runs.of(bundle)
        if bundle.is_settled() or (run is not None and not run.is_running()):
            raise Refused(
                f"The store of attempt {message.attempt} was kept on {self._config.name} and is gone; "
                "only a new attempt gets a new one."
            )
        if run is None:
            return self._start(bundle, message, python)
        kept = bundle.message()
        return replace(message, endpoint=kept.endpoint) if kept else message

    def _start(self, bundle: KeeperBundle, message: StartMessage, python: str) -> StartMessage:
        message, store = bind_store(message)
        with store:
            bundle.create(message)
            run = Run(bundle, slots=0)
            run.take(start(bundle, message, python, self._config.keeper_boot, self._warm, store))
        self._runs.watch(run)
        if run.ref is None:
            why = last_words(bundle.own_log)
            raise Failed(f"The store keeper could not be started on {self._config.name}. {why}")
        return message

    def note_stop(self, attempt: str, **facts: Any) -> bool:
        """The attempt is being stopped here, so its keeper need not wait for nodes that may come back.

        Whether there is one. A note that a full disk does not take only lets it wait longer.
        """
        bundle = find_keeper(self._config.data, attempt)
        if bundle is None or bundle.is_settled():
            return False
        with contextlib.suppress(OSError):
            bundle.write_stopping(**facts)
        return True

    def end_needless(self) -> None:
        """Those whose attempt never had a runner here: nobody was told of their store.

        Not to be called between the start of a keeper and that of its runner.
        """
        for run in self._runs.all():
            if isinstance(run.bundle, KeeperBundle) and not self._has_runner(run.bundle.attempt):
                run.signal(signal.SIGTERM)

    def _has_runner(self, attempt: str) -> bool:
        bundle = find_bundle(self._config.data, attempt)
        return bundle is not None and bundle.process() is not None
