"""The c10d backend: a TCPStore that lives as long as the attempt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend

from ...wire.rdzv import RdzvConf
from ..endpoint import is_gone, join_endpoint, wait_reachable
from .bell import watch_key
from .meeting import Meeting, Pause
from .store import connect_store


@dataclass(frozen=True)
class C10dVenue:
    host: str
    port: int
    conf: RdzvConf

    @property
    def where(self) -> str:
        return f"the rendezvous store at {join_endpoint(self.host, self.port)}"

    def open(self, attempt: str, pause: Pause, timeout_s: float | None = None) -> Meeting:
        wait_reachable(self.host, self.port, timeout_s or self.conf.join_timeout, pause)
        store = connect_store(self.host, self.port, self.conf.read_timeout)
        watch = partial(watch_key, self.host, self.port, self.conf.read_timeout)
        return Meeting(C10dRendezvousBackend(store, attempt), store, watch=watch)

    def is_gone(self) -> bool:
        return is_gone(self.host, self.port)
