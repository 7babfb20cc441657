"""Serves the store of an attempt until nobody needs it. Imports torch; ``launch`` imports this last."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from torch.distributed.elastic.rendezvous import RendezvousStateError
from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend

from ..bundle import KeeperBundle
from ..runner.rendezvous.handler import ENDED
from ..runner.rendezvous.liveness import Liveness
from ..runner.rendezvous.plain_state import decode
from ..runner.rendezvous.store import host_store
from ..wire.rdzv import RdzvConf
from .patience import Look, Patience

LOOK_S = 0.2
AWAY_S = 100.0
"""How long runners that were there may be away beyond ``read_timeout``, after which they know that they are.

They look for their way back for a minute.
"""


def keep(
    bundle: KeeperBundle, conf: RdzvConf, host: str, store_fd: int, pause: Callable[[float], None]
) -> str:
    """Serve on that socket; why it is over. ``pause`` sleeps, and raises when it is asked to stop."""
    keeping = Keeping(bundle, conf, host, store_fd)
    patience = Patience(conf.join_timeout, AWAY_S + conf.read_timeout, time.monotonic())
    while (why := patience.why_over(keeping.look(), time.monotonic())) is None:
        pause(LOOK_S)
    return why


class Keeping:
    """The store, and what it tells of those who use it: it is where they meet, so nobody need be asked."""

    def __init__(self, bundle: KeeperBundle, conf: RdzvConf, host: str, store_fd: int) -> None:
        self._bundle = bundle
        _let_go_soon(store_fd)
        self._store = host_store(host, store_fd, conf.read_timeout)
        self._backend = C10dRendezvousBackend(self._store, bundle.attempt)
        interval = conf.keep_alive_interval
        self._liveness = Liveness(interval * conf.keep_alive_max_attempt, gap_s=2 * interval)

    def look(self) -> Look:
        return Look(
            someone_is_there=self._someone_is_there(),
            has_ended=bool(self._store.check([ENDED])),
            is_stopping=self._bundle.stopping() is not None,
        )

    def _someone_is_there(self) -> bool:
        """Whether any node has a place in the rendezvous and keeps it alive."""
        keep_alives = self._keep_alives()
        return len(self._liveness.lapsed(keep_alives, time.monotonic())) < len(keep_alives)

    def _keep_alives(self) -> Mapping[Any, object]:
        """Of each node the last one that it wrote."""
        answer = self._backend.get_state()
        try:
            return decode(answer[0]).last_heartbeats if answer else {}
        except RendezvousStateError:
            # The runners say what is wrong with it, and end.
            return {}


def _let_go_soon(store_fd: int) -> None:
    """Connections that fade away later must not keep the next store from this port.

    Not before it is served: until then nobody else may bind it.
    """
    with socket.socket(fileno=os.dup(store_fd)) as store:
        store.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
