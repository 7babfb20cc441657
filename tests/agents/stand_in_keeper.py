"""Stands in for a store keeper: listens, and ends once the stand-in for the runner has come and gone."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agents import procs
from agents.bundle import KeeperBundle
from agents.journal import Journal
from agents.wire.events import KeeperFinished, KeeperStarted


def serve(store: socket.socket, bundle: KeeperBundle) -> None:
    """Until the runner has come and gone, or the attempt is stopped before it comes."""
    store.listen()
    store.settimeout(0.1)
    while bundle.stopping() is None:
        with contextlib.suppress(TimeoutError):
            store.accept()[0].recv(1)
            return


def main() -> None:
    bundle = KeeperBundle(Path(sys.argv[1]))
    message = bundle.message()
    assert message is not None
    journal = Journal(bundle.journal, bundle.source(), attempt=message.attempt, node=message.node)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    me = procs.ref_of_child(os.getpid())
    journal.record(
        KeeperStarted,
        pid=me.pid,
        start_time=me.start_time,
        boot_id=me.boot_id,
        python=sys.executable,
        torch_version="none",
        endpoint=message.endpoint,
    )
    outcome, reason = "stopped", "The stand-in was asked to stop."
    try:
        with socket.socket(fileno=int(sys.argv[3])) as store:
            serve(store, bundle)
        outcome, reason = "ended", "The runner has gone."
    finally:
        journal.record(KeeperFinished, outcome=outcome, reason=reason)


main()
