"""The c10d backend: a TCPStore that lives as long as the attempt."""

from __future__ import annotations

from dataclasses import dataclass

from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend

from ...wire.rdzv import RdzvConf
from ..endpoint import is_gone, join_endpoint, wait_reachable
from ..torch_hooks import TCPStore
from .meeting import Meeting, Pause
from .store import connect_store, host_store


@dataclass(frozen=True)
class C10dVenue:
    """``listen_fd`` only where this runner hosts the store itself."""

    host: str
    port: int
    conf: RdzvConf
    listen_fd: int | None = None

    @property
    def where(self) -> str:
        return f"the rendezvous store at {join_endpoint(self.host, self.port)}"

    def open(self, attempt: str, pause: Pause) -> Meeting:
        store = self._store(pause)
        return Meeting(C10dRendezvousBackend(store, attempt), store)

    def _store(self, pause: Pause) -> TCPStore:
        if self.listen_fd is not None:
            return host_store(self.host, self.listen_fd, self.conf.read_timeout)
        wait_reachable(self.host, self.port, self.conf.join_timeout, pause)
        return connect_store(self.host, self.port, self.conf.read_timeout)

    def is_gone(self) -> bool:
        return is_gone(self.host, self.port)
