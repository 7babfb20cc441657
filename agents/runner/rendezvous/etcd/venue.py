"""The way of a runner to its meeting in etcd."""

from __future__ import annotations

from functools import partial

from ..meeting import Meeting, Pause
from ..plain_state import decode
from .client import TRY_S, Client
from .folder import Folder
from .session import OPEN_S, Session, claim_folder, enter
from .settings import read_settings

POLL_S = 0.01


def _print(text: str) -> None:
    print(text, flush=True)


class EtcdVenue:
    """``conf``: ``rdzv_conf`` as the operator wrote it. Nothing is read or connected before ``open``."""

    def __init__(self, endpoint: str, conf: dict[str, str], join_timeout_s: int) -> None:
        self._endpoint, self._conf, self._join_timeout_s = endpoint, conf, join_timeout_s

    @property
    def where(self) -> str:
        return f"etcd at {self._endpoint}"

    def open(self, attempt: str, pause: Pause, timeout_s: float | None = None) -> Meeting:
        settings = read_settings(self._endpoint, self._conf)
        client = Client(settings)
        folder = Folder(client, settings.conf.etcd_prefix, attempt)
        try:
            claim, wait_s = partial(claim_folder, folder), min(OPEN_S, timeout_s or self._join_timeout_s)
            enter(settings, client, claim, wait_s, pause, _print)
        except BaseException:
            client.close()
            raise
        session = Session("etcd", client, folder, decode, _print, settings.conf.read_timeout, patience_s=0)
        return Meeting(
            session.backend,
            session.store,
            POLL_S,
            outlives_outages=True,
            settle_s=len(settings.endpoints.members) * TRY_S + 1.0,
            watch=lambda key, announce: session.backend.tell_changes(announce),
            close=session.close,
            clear=session.clear,
        )

    def is_gone(self) -> bool:
        """Never for certain: etcd keeps on disk what it is told."""
        return False
