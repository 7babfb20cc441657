"""The attempt's fork server, where it has one: begun beside its first workers, for the restarts to come."""

from __future__ import annotations

from .preload.server import ForkServer

READY_S = 120.0
"""How long a newcomer waits for its fork server before it joins."""


class Forking:
    def __init__(self, server: ForkServer | None) -> None:
        self._server = server

    def begin(self) -> None:
        """It imports while the first workers, which did not wait for it, do so."""
        if self._server is None or self._server.has_begun:
            return
        try:
            self._server.begin()
        except OSError as error:
            print(f"the fork server cannot be started, it is tried at the next start: {error}", flush=True)

    def begun(self) -> ForkServer | None:
        """None: workers are executed. A fork server that begins only now would keep them waiting."""
        return self._server if self._server is not None and self._server.has_begun else None

    def wait(self) -> None:
        """A newcomer joins when it can start its workers at once: until then the others train on."""
        self.begin()
        server = self.begun()
        if server is not None and not server.wait_ready(READY_S):
            print(f"the fork server is not ready after {READY_S:.0f} s; the node joins without", flush=True)
