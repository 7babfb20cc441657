"""The store keepers on this node: one for each attempt whose store is kept here, never two."""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import replace
from typing import Any

from ..bundle import Bundle, KeeperBundle, bundle_of, find_bundles, find_keeper
from ..wire.endpoint import C10D_PORT, parse_endpoint
from ..wire.spec import StartMessage
from .config import Config
from .outcome import Failed, Refused
from .runs import Run, Runs
from .settle import last_words
from .spawn import start
from .store_socket import bind_store
from .warm import Warm

GO_S = 5.0
"""How long a process whose attempt is over may take to go."""


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
        # A later runner finds the store there, or it has gone, and with it all that the nodes knew.
        is_expected = run is not None or message.incarnation > 1
        if bundle.is_settled() or (is_expected and not (run and run.is_running())):
            raise Refused(
                f"The store of attempt {message.attempt} was kept on {self._config.name} and is gone; "
                "only a new attempt gets a new one."
            )
        if run is None:
            return self._start(bundle, message, python)
        kept = bundle.message()
        return replace(message, endpoint=kept.endpoint) if kept else message

    def _start(self, bundle: KeeperBundle, message: StartMessage, python: str) -> StartMessage:
        message, store = self._bind(message)
        with store:
            bundle.create(message)
            run = Run(bundle)
            run.take(start(bundle, message, python, self._config.keeper_boot, self._warm, store))
        self._runs.watch(run)
        if run.ref is None:
            why = last_words(bundle.own_log)
            raise Failed(f"The store keeper could not be started on {self._config.name}. {why}")
        return message

    def _bind(self, message: StartMessage) -> tuple[StartMessage, socket.socket]:
        try:
            return bind_store(message)
        except Refused:
            if not self._make_way(message):
                raise
        return bind_store(message)

    def _make_way(self, message: StartMessage) -> bool:
        """End what keeps the store of an attempt that is over at the same port; whether there was one.

        The hub gives an endpoint to one live attempt alone. The keeper may still wait for nodes to come back.
        """
        port = _port_of(message)
        held = [run for run in self._runs.all() if _keeps_at(run.bundle, port)]
        ended = [self._end_over(run) for run in held]
        return any(ended)

    def _end_over(self, keeper: Run) -> bool:
        deadline = time.monotonic() + GO_S
        for runner in self._runs.runners(keeper.bundle.attempt):
            if not runner.over.wait(deadline - time.monotonic()):
                return False
        _end(keeper, why="another attempt was given its endpoint")
        return keeper.over.wait(GO_S)

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
                _end(run, why="its attempt has no runner on this node")

    def _has_runner(self, attempt: str) -> bool:
        return any(bundle.process() is not None for bundle in find_bundles(self._config.data, attempt))


def _end(keeper: Run, why: str) -> None:
    """The note is for one that cannot say it itself yet."""
    with contextlib.suppress(OSError):
        keeper.bundle.write_stopping(by="regroup", why=why)
    keeper.ask_to_end()


def _keeps_at(bundle: Bundle, port: int) -> bool:
    message = bundle.message() if isinstance(bundle, KeeperBundle) else None
    return message is not None and _port_of(message) == port


def _port_of(message: StartMessage) -> int:
    """0 where the endpoint cannot be read, or any port will do."""
    try:
        return parse_endpoint(message.endpoint, C10D_PORT).port
    except ValueError:
        return 0
