"""Keeps the lease of an attempt's keys alive, as each of its runners does: they stay while one is left."""

from __future__ import annotations

import threading
from collections.abc import Callable

from .errors import EtcdError
from .folder import LEASE_S, Folder

KEEP_S = LEASE_S / 6
AGAIN_S = 1.0
"""Until the next try when etcd did not answer."""


class Lease:
    """``say`` is told when the lease had lapsed. It is made anew; the keys are the business of others."""

    def __init__(self, folder: Folder, say: Callable[[str], None]) -> None:
        self._folder, self._say = folder, say
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="etcd-lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._is_closed.set()

    def _run(self) -> None:
        pause_s = KEEP_S
        while not self._is_closed.wait(pause_s):
            try:
                self.keep()
                pause_s = KEEP_S
            except EtcdError:
                pause_s = AGAIN_S

    def keep(self) -> None:
        """Raises ``EtcdError``."""
        # A lease that has lapsed is no error to etcd: its time left is 0.
        if not self._folder.keep_lease() and not self._is_closed.is_set():
            self._folder.grant()
            self._say(f"the lease of {self._folder.path} in etcd had lapsed; it is registered anew")
