"""The gate on the way to Redis: an operator may shut it for a while, to see what a node does that is cut off.

A process has one. While it is shut there is no connection and none is opened. Until when it is shut stands on
the disk, so that a node agent that is started meanwhile keeps to it.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import ConnectionError as NoConnection

from ..bundle import read_json, write_aside


@dataclass(frozen=True)
class Cut:
    """Times are seconds since the epoch, by this machine's clock."""

    command: str
    cut_at: float
    until: float


class Gate:
    def __init__(self) -> None:
        self._pools: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._path: Path | None = None
        self._opens_at = 0.0
        """By the monotonic clock, which nobody sets back."""
        self.newest: Cut | None = None
        """The cut that is, or was last."""

    def load(self, data: Path) -> None:
        """Call before the first connection: what an earlier node agent had shut stays so."""
        self._path = data / "cut.json"
        told = read_json(self._path)
        if told is not None:
            self.newest = Cut(str(told["command"]), float(told["cut_at"]), float(told["until"]))
            longest_s = self.newest.until - self.newest.cut_at
            self._opens_at = time.monotonic() + min(longest_s, self.newest.until - time.time())

    def guard(self, client: Redis) -> Redis:
        """The same client; it gets no connection while the gate is shut."""
        pool: Any = client.connection_pool
        give = pool.get_connection

        def get_connection(*args: Any, **options: Any) -> Any:
            self._require_open()
            return give(*args, **options)

        pool.get_connection = get_connection
        with self._lock:
            self._pools.add(pool)
        return client

    def shut(self, command: str, seconds: float) -> Cut:
        """Note it, then close what is open.

        Raises:
            OSError: it cannot be noted; nothing was closed.
        """
        assert self._path is not None, "load() comes first"
        now = time.time()
        cut = Cut(command, now, now + seconds)
        write_aside(self._path, json.dumps(dataclasses.asdict(cut)))
        self.newest, self._opens_at = cut, time.monotonic() + seconds
        with self._lock:
            pools = list(self._pools)
        for pool in pools:
            pool.disconnect()
        return cut

    def open(self) -> None:
        self._opens_at = 0.0

    @property
    def left_s(self) -> float:
        """Seconds until it opens by itself; 0 while it is open."""
        return max(0.0, self._opens_at - time.monotonic())

    def _require_open(self) -> None:
        if self.left_s > 0:
            raise NoConnection(f"this node is cut off by hand for {self.left_s:.0f} s more")


gate = Gate()
