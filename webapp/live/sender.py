"""One thread of a process sends its hints: whoever has one to send never waits for Redis.

Of several hints for one group only one is kept, so that a Redis that hangs costs no memory.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from functools import cache

from channels.layers import get_channel_layer

log = logging.getLogger("regroup.live")

LIMIT_S = 2.0
"""How long one hint may take."""


class Sender:
    def __init__(self) -> None:
        self._groups: dict[str, None] = {}
        self._lock = threading.Lock()
        self._some = threading.Event()
        self._is_lost = False
        threading.Thread(target=self._work, name="live hints", daemon=True).start()

    def offer(self, group: str) -> None:
        """Say to that group's pages that they should look again, as soon as it can be said."""
        with self._lock:
            self._groups[group] = None
        self._some.set()

    def _take(self) -> list[str]:
        with self._lock:
            groups, self._groups = list(self._groups), {}
        return groups

    def _work(self) -> None:
        # One loop for the life of the thread: the layer keeps its connection with the loop.
        loop = asyncio.new_event_loop()
        while True:
            self._some.wait()
            self._some.clear()
            for group in self._take():
                self._send(loop, group)

    def _send(self, loop: asyncio.AbstractEventLoop, group: str) -> None:
        layer = get_channel_layer()
        if layer is None:
            return
        message = {"type": "changed", "group": group}
        try:
            loop.run_until_complete(asyncio.wait_for(layer.group_send(group, message), LIMIT_S))
        except Exception as error:  # noqa: BLE001  # whatever is wrong, pages only learn of it later
            if not self._is_lost:
                log.warning("live hints are not sent: %s", error)
            self._is_lost = True
        else:
            self._is_lost = False


@cache
def sender() -> Sender:
    """This process's own."""
    return Sender()
