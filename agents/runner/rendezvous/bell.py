"""Being woken by other nodes: who leaves a round rings, and the others look at once, not at their next look.

Nothing depends on it. Whoever misses the bell sees the same in the state a moment later.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from datetime import timedelta

from torch.distributed import DistError, DistStoreError

from ..torch_hooks import Store
from .store import connect_store

LONG = timedelta(hours=1)


class News:
    """Can be read as soon as somebody has announced something, until it is cleared."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)

    def fileno(self) -> int:
        return self._read

    def announce(self) -> None:
        """From any thread."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._write, b"!")

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._read, 4096):
                pass


def watch_key(host: str, port: int, timeout_s: float, key: str, announce: Callable[[], None]) -> None:
    """Announce it once that key of a TCPStore is set. A thread waits for it, over a connection of its own."""

    def wait() -> None:
        with contextlib.suppress(DistError, RuntimeError):
            store = connect_store(host, port, timeout_s)
            while not _is_set(store, key):
                pass
            announce()

    threading.Thread(target=wait, name="bell", daemon=True).start()


def _is_set(store: Store, key: str) -> bool:
    """After a long wait at most. Raises ``DistError`` when the store is lost."""
    try:
        store.wait([key], LONG)
    except DistStoreError:
        return False
    return True
